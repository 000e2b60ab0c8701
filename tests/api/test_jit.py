"""jit: when it traces and compiles, static arguments, donation, captured arrays, caches."""

from __future__ import annotations

import copy
import functools
import gc
import weakref

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax


class Counter:
    """Counts how often a function ran as Python."""

    def __init__(self, f):
        self.f, self.count = f, 0
        self.__name__ = "counted"

    def __call__(self, *args, **kwargs):
        self.count += 1
        return self.f(*args, **kwargs)


# ---- when a function is traced -----------------------------------------------------------------


def test_one_trace_for_equal_types() -> None:
    f = Counter(lambda x: x * 2)
    g = nl.jit(f)
    for x in (np.ones(3), np.zeros(3), numpy.ones(3, numpy.float32), numpy.ones(3, numpy.float64)):
        numpy.testing.assert_array_equal(g(x), 2 * numpy.asarray(x))
    assert f.count == 1
    g(np.ones(4))
    g(np.ones(3, "int32"))
    assert f.count == 3


def test_python_numbers_are_weak_and_do_not_retrace() -> None:
    f = Counter(lambda x: x * np.ones(2, "float16"))
    g = nl.jit(f)
    assert g(1.0).dtype == "float16"
    assert g(2.5).dtype == "float16"
    assert f.count == 1
    assert g(np.float32(1.0)).dtype == "float32"
    assert g(numpy.float32(1.0)).dtype == "float32"
    assert f.count == 2
    assert nl.jit(lambda x: x)(3).weak_type
    assert not nl.jit(lambda x: x)(numpy.int32(3)).weak_type


def test_the_structure_of_the_arguments_matters() -> None:
    f = Counter(lambda x: nl.tree.leaves(x)[0] + 1)
    g = nl.jit(f)
    g((1.0, 2.0))
    g([1.0, 2.0])
    g({"a": 1.0, "b": 2.0})
    g((3.0, 4.0))
    assert f.count == 3


def test_none_is_structure() -> None:
    f = Counter(lambda x, y=None: x if y is None else x + y)
    g = nl.jit(f)
    assert float(g(1.0)) == 1.0
    assert float(g(1.0, None)) == 1.0
    assert float(g(1.0, 2.0)) == 3.0
    assert f.count == 3
    assert nl.jit(lambda: None)() is None
    assert nl.jit(lambda x: {"a": None, "b": x})(1.0)["a"] is None


def test_keywords_and_positions() -> None:
    f = Counter(lambda x, y: x - y)
    g = nl.jit(f)
    assert float(g(3.0, 1.0)) == float(g(3.0, y=1.0)) == float(g(y=1.0, x=3.0)) == 2.0
    assert float(g(x=3.0, y=1.0)) == 2.0


def test_flags_are_part_of_the_key() -> None:
    f = Counter(lambda x: x + np.ones(2))
    g = nl.jit(f)
    assert g(1.0).dtype == "float32"
    with nl.enable_x64():
        assert g(1.0).dtype == "float64"
        g(1.0)
    assert g(1.0).dtype == "float32"
    assert f.count == 2
    with nl.default_matmul_precision("highest"):
        g(1.0)
    assert f.count == 3


def test_an_error_while_tracing_is_not_remembered() -> None:
    bad = [True]

    @nl.jit
    def f(x):
        if bad:
            raise KeyError("mine")
        return x

    with pytest.raises(KeyError):
        f(1.0)
    bad.clear()
    assert float(f(1.0)) == 1.0


def test_disable_jit_runs_python() -> None:
    f = Counter(lambda x: x if x > 0 else -x)
    g = nl.jit(f)
    with nl.disable_jit():
        assert float(g(-2.0)) == 2.0
        assert float(g(-2.0)) == 2.0
    assert f.count == 2


# ---- nesting -----------------------------------------------------------------------------------


def test_nested_functions_are_traced_once() -> None:
    f = Counter(lambda x: np.sin(x) * x)
    g = nl.jit(f)
    h = nl.jit(lambda x: g(x) + g(2 * x) + g(3 * x))
    h(np.ones(3))
    assert f.count == 1
    nl.jit(lambda x: g(x) * 2)(np.ones(3))
    assert f.count == 1
    nl.grad(lambda x: g(x)[0])(np.ones(3))
    assert f.count == 1
    nl.vmap(g)(np.ones((2, 3)))
    assert f.count == 1


def test_nested_derivatives_are_made_once() -> None:
    f = Counter(lambda x: np.sin(x) * x * np.exp(x) * np.tanh(x) * np.log(x) * np.arctan(x))
    g = nl.jit(f)
    loss = nl.jit(nl.grad(lambda x: g(x) + g(2.0 * x) + g(3.0 * x)))
    loss(1.0)
    text = loss.lower(1.0).as_text()
    assert f.count == 1
    assert text.count("stablehlo.cosine") <= 1


def test_closing_over_a_tracer_is_not_remembered() -> None:
    @nl.jit
    def outer(x):
        inner = nl.jit(lambda y: x + y)
        return inner(1.0) + inner(2.0)

    assert float(outer(10.0)) == 23.0
    assert float(outer(20.0)) == 43.0
    g = nl.jit(lambda y: y * state[0])

    def use(x):
        state[:] = [x]
        return g(x)

    state: list = []
    assert float(nl.grad(use)(3.0)) == 6.0
    assert float(nl.grad(use)(5.0)) == 10.0


def test_methods_partials_and_callables() -> None:
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @functools.partial(nl.jit, static_argnums=0)
        def f(self, x):
            return x * self.scale

        @nl.jit
        @staticmethod
        def g(x):
            return x + 1

    assert float(Model(2.0).f(3.0)) == 6.0
    assert float(Model(5.0).f(3.0)) == 15.0
    assert float(nl.jit(Model(4.0).f)(3.0)) == 12.0
    assert float(nl.jit(functools.partial(lambda a, x: a - x, 10.0))(1.0)) == 9.0
    assert float(nl.jit(functools.partial(lambda a, *, k: a - k, k=1.0))(3.0)) == 2.0


def test_decorator_with_options() -> None:
    @nl.jit(static_argnames="n")
    def power(x, n):
        """Its text."""
        return x**n

    assert float(power(2.0, n=3)) == 8.0
    assert power.__name__ == "power" and power.__doc__ == "Its text."
    assert power.__wrapped__(2.0, 3) == 8.0


def test_what_cannot_be_compiled() -> None:
    with pytest.raises(TypeError, match="expected a function"):
        nl.jit(3)

    def generator(x):
        yield x

    async def coroutine(x):
        return x

    for f in (generator, coroutine):
        with pytest.raises(TypeError, match="generator"):
            nl.jit(f)


@pytest.mark.parametrize("bad", ["text", object(), {1, 2}, numpy.asarray(["a"])])
def test_arguments_that_are_no_arrays(bad) -> None:
    with pytest.raises(TypeError, match=r"argument 0\['w'\]"):
        nl.jit(lambda x: 1.0)({"w": bad})


def test_results_that_are_no_arrays() -> None:
    with pytest.raises(TypeError, match=r"output\['a'\]"):
        nl.jit(lambda x: {"a": "text"})(1.0)


# ---- static arguments --------------------------------------------------------------------------


def test_static_arguments_by_position_and_name() -> None:
    f = Counter(lambda x, n, *, mode="a": x * n if mode == "a" else x + n)
    g = nl.jit(f, static_argnums=1, static_argnames=("mode",))
    assert float(g(2.0, 3)) == 6.0
    assert float(g(2.0, 3, mode="b")) == 5.0
    assert float(g(5.0, 3)) == 15.0
    assert f.count == 2
    g(2.0, 4)
    assert f.count == 3


def test_static_position_given_by_keyword() -> None:
    def f(x, n):
        assert isinstance(n, int)
        return x * n

    assert float(nl.jit(f, static_argnums=1)(2.0, n=3)) == 6.0
    assert float(nl.jit(f, static_argnames="n")(2.0, 3)) == 6.0
    assert float(nl.jit(f, static_argnums=-1)(2.0, 3)) == 6.0


def test_static_values_of_different_type_differ() -> None:
    f = Counter(lambda n: np.asarray(n))
    g = nl.jit(f, static_argnums=0)
    assert [str(g(v).dtype) for v in (1, 1.0, True)] == ["int32", "float32", "bool"]
    assert f.count == 3


def test_static_values_must_be_hashable() -> None:
    g = nl.jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(ValueError, match=r"(?s)static argument 1 must be hashable.*list.*Try:"):
        g(1.0, [1])


def test_static_arguments_must_exist() -> None:
    with pytest.raises(ValueError, match="static_argnums=3"):
        nl.jit(lambda x: x, static_argnums=3)
    with pytest.raises(ValueError, match="static_argnames='y'"):
        nl.jit(lambda x: x, static_argnames="y")


def test_static_values_with_their_own_equality() -> None:
    class Config:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return hash(self.n)

        def __eq__(self, other):
            return self.n == other.n

    f = Counter(lambda x, c: x * c.n)
    g = nl.jit(f, static_argnums=1)
    g(1.0, Config(2))
    g(1.0, Config(2))
    assert f.count == 1


# ---- captured arrays ---------------------------------------------------------------------------


def test_captured_arrays_are_arguments_of_the_program() -> None:
    w = np.arange(1000.0)
    g = nl.jit(lambda x: x + w)
    text = g.lower(1.0).as_text()
    assert "%arg0: tensor<1000xf32>" in text
    assert len(text) < 2000
    numpy.testing.assert_array_equal(g(1.0), 1 + numpy.arange(1000))


def test_captured_arrays_are_those_of_the_first_trace() -> None:
    box = [np.asarray(1.0)]
    g = nl.jit(lambda x: x + box[0])
    assert float(g(1.0)) == 2.0
    box[0] = np.asarray(5.0)
    assert float(g(1.0)) == 2.0
    assert float(g(np.ones(1))[0]) == 6.0


def test_a_deleted_captured_array_is_an_error() -> None:
    w = np.arange(3.0)
    g = nl.jit(lambda x: x + w)
    g(1.0)
    w.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        g(1.0)


# ---- donation and deletion ---------------------------------------------------------------------


def test_donated_arguments_are_gone() -> None:
    g = nl.jit(lambda x, y: x + y, donate_argnums=0)
    x, y = np.ones(1000), np.ones(1000)
    numpy.testing.assert_array_equal(g(x, y), 2 * numpy.ones(1000))
    assert x.is_deleted() and not y.is_deleted()
    with pytest.raises(RuntimeError, match=r"deleted|donated"):
        g(x, y)
    with pytest.raises(RuntimeError, match=r"deleted|donated"):
        x + 1


def test_donation_by_name_and_of_trees() -> None:
    g = nl.jit(lambda state, dx: {k: v + dx for k, v in state.items()}, donate_argnames="state")
    state = {"a": np.ones(10), "b": np.zeros(10)}
    new = g(state, np.ones(10))
    assert all(x.is_deleted() for x in state.values())
    new = g(dx=np.ones(10), state=new)
    numpy.testing.assert_array_equal(new["a"], 3 * numpy.ones(10))


def test_numpy_arguments_survive_donation() -> None:
    x = numpy.ones(1000, numpy.float32)
    g = nl.jit(lambda x: x * 2, donate_argnums=0)
    g(x)
    numpy.testing.assert_array_equal(x, numpy.ones(1000))


def test_a_donation_that_cannot_be_used_warns() -> None:
    g = nl.jit(lambda x: x[:3] * 2.0, donate_argnums=0)
    with pytest.warns(UserWarning, match=r"float32\[7\]") as caught:
        g(np.ones(7)).block_until_ready()
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "g",
    [
        nl.jit(lambda x, y: x + y),
        nl.jit(lambda x, y: x),
        lax.add,
        np.add,
        nl.grad(lambda x, y: x[0] * y[0]),
    ],
)
def test_deleted_arguments_are_an_error(g) -> None:
    x, y = np.ones(3), np.ones(3)
    g(x, y)
    x.delete()
    for _ in range(2):
        with pytest.raises(errors.DeletedBufferError, match=r"(?s)float32\[3\].*Try:"):
            g(x, y)


# ---- caches ------------------------------------------------------------------------------------


def test_what_is_compiled_dies_with_the_function() -> None:
    class Weights:
        pass

    def use(weights):
        g = nl.jit(lambda x: x + (weights is not None))
        g(1.0)
        nl.vmap(g)(np.ones(2))
        nl.grad(g)(1.0)
        return weakref.ref(weights)

    alive = use(Weights())
    gc.collect()
    assert alive() is None


def test_captured_arrays_die_with_the_function() -> None:
    def use(w):
        nl.jit(lambda x: x + w)(1.0)
        return weakref.ref(w)

    alive = use(np.ones(10))
    gc.collect()
    assert alive() is None


def test_the_cache_is_bounded() -> None:
    g = nl.jit(lambda x, n: x, static_argnums=1)
    g._info.traces.limit = 8
    for n in range(30):
        g(1.0, n)
    assert g._cache_size() <= 8
    assert len(g._info.traces.items) <= 8


def test_clear_cache() -> None:
    f = Counter(lambda x: x)
    g = nl.jit(f)
    g(1.0)
    assert g._cache_size() == 1
    g.clear_cache()
    assert g._cache_size() == 0
    g(1.0)
    assert f.count == 2


def test_clear_caches_of_everything() -> None:
    g = nl.jit(lambda x: np.sin(x) + 1)
    assert float(g(0.0)) == 1.0
    nl.clear_caches()
    assert float(g(0.0)) == 1.0
    assert float(np.cos(0.0)) == 1.0


# ---- results -----------------------------------------------------------------------------------


def test_results_in_any_structure() -> None:
    x = np.ones(3)
    assert nl.jit(lambda x: ())(x) == ()
    assert nl.jit(lambda x: {})(x) == {}
    out = nl.jit(lambda x: (x, [x, {"a": x}], None, 1, 2.5, True))(x)
    assert [type(v) for v in out[:3]] == [type(x), list, type(None)]
    assert (int(out[3]), float(out[4]), bool(out[5])) == (1, 2.5, True)
    one, two = nl.jit(lambda x: (x, x))(x)
    numpy.testing.assert_array_equal(one, two)
    numpy.testing.assert_array_equal(nl.jit(lambda x: x)(x), x)


def test_empty_arrays() -> None:
    assert nl.jit(lambda x: x + 1)(np.zeros((0, 3))).shape == (0, 3)
    assert nl.jit(lambda x: np.concatenate([x, x]))(np.zeros((0,))).shape == (0,)


def test_an_input_returned_is_a_new_array() -> None:
    x = np.ones(3)
    y = nl.jit(lambda x: x)(x)
    y.delete()
    numpy.testing.assert_array_equal(x, numpy.ones(3))


def test_python_effects_run_once() -> None:
    seen = []

    @nl.jit
    def f(x):
        seen.append(x)
        return x

    f(1.0)
    f(2.0)
    assert len(seen) == 1


@pytest.mark.parametrize("transform", [nl.jit, nl.grad, nl.vmap, nl.make_jaxpr])
def test_traced_values_are_arrays_too(transform) -> None:
    def f(x):
        assert isinstance(x, nl.Array)
        return x

    transform(f)(np.ones(3) if transform is nl.vmap else 1.0)
    assert isinstance(np.ones(3), nl.Array)
    assert not isinstance(numpy.ones(3), nl.Array)


def test_branches_on_values_are_an_error() -> None:
    with pytest.raises(errors.TracerBoolConversionError, match=r"(?s)lax\.cond|where"):
        nl.jit(lambda x: 1 if x > 0 else 2)(1.0)
    with pytest.raises(errors.ConcretizationTypeError):
        nl.jit(lambda x: float(x))(1.0)
    with pytest.raises(errors.TracerArrayConversionError):
        nl.jit(lambda x: numpy.asarray(x))(1.0)
    with pytest.raises(errors.TracerIntegerConversionError):
        nl.jit(lambda i: [1, 2, 3][i])(1)
    with pytest.raises(errors.TracerIntegerConversionError):
        nl.jit(lambda n: sum(range(n)))(3)


# ---- devices -----------------------------------------------------------------------------------


def test_out_shardings_over_all_devices() -> None:
    n = len(nl.devices())
    mesh = nl.make_mesh((n,), ("i",))
    rows, everywhere = nl.NamedSharding(mesh, nl.P("i")), nl.NamedSharding(mesh, nl.P())
    x = numpy.arange(2.0 * n, dtype=numpy.float32)
    y, z = nl.jit(lambda x: (x * 2, x + 1), out_shardings=(rows, everywhere))(x)
    assert y.sharding == rows and z.sharding == everywhere
    numpy.testing.assert_array_equal(y, 2 * x)
    numpy.testing.assert_array_equal(z, x + 1)
    total = nl.jit(np.sin, in_shardings=rows, out_shardings=everywhere)(x)
    assert total.sharding == everywhere
    numpy.testing.assert_allclose(total, numpy.sin(x), rtol=1e-5, atol=1e-6)


def test_results_follow_the_sharding_of_the_arguments() -> None:
    n = len(nl.devices())
    mesh = nl.make_mesh((n,), ("i",))
    rows = nl.NamedSharding(mesh, nl.P("i"))
    x = nl.device_put(np.arange(4.0 * n), rows)
    g = nl.jit(lambda x: x * 2.0)
    assert g(x).sharding == rows
    assert g(np.arange(4.0 * n)).sharding != rows or n == 1


def test_a_device_may_be_chosen() -> None:
    device = nl.devices()[-1]
    out = nl.jit(lambda x: x + 1, device=device)(1.0)
    assert out.devices() == {device}
    x = nl.device_put(np.ones(3), device)
    assert nl.jit(lambda x: x + 1)(x).devices() == {device}


def test_arguments_on_different_devices_are_an_error() -> None:
    devices = nl.devices()
    if len(devices) < 2:
        pytest.skip("needs two devices")
    x, y = nl.device_put(np.ones(3), devices[0]), nl.device_put(np.ones(3), devices[1])
    with pytest.raises((ValueError, RuntimeError), match="devices"):
        nl.jit(lambda x, y: x + y)(x, y)


def test_rank_of_operands_is_kept_under_transformations() -> None:
    g = nl.jit(lambda x, y: lax.dot(x, y))
    x, y = np.ones((2, 3)), np.ones((3,))
    assert g(x, y).shape == (2,)
    assert nl.vmap(g, in_axes=(0, None))(np.ones((5, 2, 3)), y).shape == (5, 2)


def test_traced_values_are_copied_as_themselves():
    assert nl.jit(lambda x: copy.deepcopy([x])[0] + copy.copy(x))(1) == 2


@pytest.mark.parametrize("static", [None, 1])
def test_an_error_inside_a_container_of_the_user_reaches_him(static: int | None) -> None:
    class Broken:
        pass

    nl.tree_util.register_pytree_node(Broken, lambda x: ((x.missing,), None), lambda _, c: Broken())
    f = nl.jit(lambda x, n: 1.0, static_argnums=static)
    with pytest.raises(AttributeError, match="missing"):
        f(Broken(), 1)
