"""grad, jvp, vjp and their kin: arguments, nesting, closures, Python control flow."""

from __future__ import annotations

import functools

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.core.dtypes import float0

A = numpy.asarray([[2.0, 1.0], [1.0, 3.0]], numpy.float32)


def close(found, expected, rtol=1e-5) -> None:
    numpy.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-6)


# ---- nesting -----------------------------------------------------------------------------------


def test_derivatives_of_every_order() -> None:
    f, expected = np.sin, [numpy.sin, numpy.cos, lambda x: -numpy.sin(x), lambda x: -numpy.cos(x)]
    for order in range(9):
        close(f(0.7), expected[order % 4](0.7))
        f = nl.grad(f)


TRANSFORMS = {
    "grad": nl.grad,
    "jit": nl.jit,
    "vmap": lambda f: lambda x: np.reshape(nl.vmap(f)(np.reshape(x, (1,))), ()),
    "jvp": lambda f: lambda x: nl.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: nl.vjp(f, x)[1](1.0)[0],
    "linearize": lambda f: lambda x: nl.linearize(f, x)[1](1.0),
    "jacfwd": nl.jacfwd,
    "jacrev": nl.jacrev,
}
ORDERS = {"jit": 0, "vmap": 0}


@pytest.mark.parametrize("third", ["grad", "jvp", "vmap", "jit"])
@pytest.mark.parametrize("second", TRANSFORMS)
@pytest.mark.parametrize("first", TRANSFORMS)
def test_transformations_compose(first: str, second: str, third: str) -> None:
    f = lambda x: np.exp(0.5 * x)
    order = 0
    for name in (first, second, third):
        f = TRANSFORMS[name](f)
        order += ORDERS.get(name, 1)
    close(f(0.3), 0.5**order * numpy.exp(0.15), rtol=1e-4)


def test_a_deep_tower() -> None:
    def f(x):
        inner = nl.grad(lambda y: nl.jit(lambda z: z**3 * x)(y) * y)
        return np.sum(nl.vmap(nl.jit(inner))(np.stack([x, 2 * x])))

    # d/dy y^4 x = 4 y^3 x at y = x and 2x: 4 x^4 + 32 x^4
    close(f(1.5), 36 * 1.5**4)
    close(nl.grad(f)(1.5), 144 * 1.5**3)
    close(nl.jit(nl.grad(nl.jit(f)))(1.5), 144 * 1.5**3)
    close(nl.vmap(nl.grad(f))(np.asarray([1.0, 2.0])), [144, 144 * 8])
    close(nl.grad(nl.grad(f))(1.0), 432)


def test_perturbation_confusion() -> None:
    assert float(nl.grad(lambda x: x * nl.grad(lambda y: x + y)(1.0))(1.0)) == 1.0
    assert float(nl.grad(lambda x: x * nl.grad(lambda y: x * y)(2.0))(3.0)) == 6.0
    d = lambda f, x: nl.jvp(f, (x,), (1.0,))[1]
    assert float(d(lambda x: x * d(lambda y: x + y, 1.0), 1.0)) == 1.0
    assert float(nl.grad(lambda x: x * d(lambda y: x * y * y, x))(2.0)) == 6 * 4.0


def test_the_same_variable_at_two_levels() -> None:
    def f(x):
        return nl.grad(lambda x: x**3)(x) * x

    close(nl.grad(f)(2.0), 9 * 4.0)


@pytest.mark.parametrize("outer", ["grad", "jit", "vmap"])
@pytest.mark.parametrize("inner", ["grad", "jit", "vmap", "jvp", "linearize"])
def test_closures_over_outer_tracers(outer: str, inner: str) -> None:
    def f(x):
        return TRANSFORMS[inner](lambda y: np.sin(x) * y * y)(2.0)

    slope = 4.0  # y * y and its derivative are both 4 at 2
    value = slope * numpy.sin(0.4)
    expected = slope * numpy.cos(0.4) if outer == "grad" else value
    close(TRANSFORMS[outer](f)(0.4), expected)


def test_closures_over_three_levels() -> None:
    def f(a):
        def g(b):
            def h(c):
                return a * b * c * np.sin(a)

            return nl.grad(h)(b) + nl.jit(h)(a)

        return np.sum(nl.vmap(g)(np.stack([a, a + 1.0])))

    a = 0.7
    total = sum(a * b * numpy.sin(a) * (1 + a) for b in (a, a + 1))
    close(f(a), total)
    step = 1e-3
    close(nl.grad(f)(a), (f(a + step) - f(a - step)) / (2 * step), rtol=1e-2)


# ---- Python control flow -----------------------------------------------------------------------


def test_if_while_and_recursion_under_grad() -> None:
    def collatz(x):
        if x <= 1.0:
            return x
        return collatz(x / 2) if int(x) % 2 == 0 else collatz(3 * x + 1)

    close(nl.grad(collatz)(6.0), 3**2 / 2**6)

    def power(x, n):
        result = 1.0
        while n:
            if n & 1:
                result = result * x
            x, n = x * x, n >> 1
        return result

    close(nl.grad(power)(2.0, 10), 10 * 2.0**9)


def test_values_can_be_looked_at_under_grad() -> None:
    seen = []

    def f(x):
        y = x * x
        seen.append((float(lax.stop_gradient(y)), int(y), bool(y > 3), f"{y:.1f}"))
        return y * y if y > 3 else y

    close(nl.grad(f)(2.0), 32)
    assert seen == [(4.0, 4, True, "4.0")]


def test_indexing_with_values_under_grad() -> None:
    table = [1.0, 10.0, 100.0]
    close(nl.grad(lambda x: table[int(x)] * x)(2.0), 100.0)


def test_numpy_of_a_value_under_grad() -> None:
    def f(x):
        assert numpy.asarray(lax.stop_gradient(x)).shape == (3,)
        return np.sum(x * x)

    close(nl.grad(f)(np.ones(3)), 2 * numpy.ones(3))


def test_jit_inside_grad_does_not_show_values() -> None:
    with pytest.raises(errors.TracerBoolConversionError, match="Try:"):
        nl.grad(nl.jit(lambda x: x if x > 0 else -x))(1.0)


# ---- arguments and results ---------------------------------------------------------------------


def test_gradients_have_the_structure_of_the_argument() -> None:
    params = {"w": np.ones((2, 2)), "b": [np.zeros(2), (1.0, None)]}

    def f(p, x):
        return np.sum(p["w"] @ x + p["b"][0]) * p["b"][1][0]

    found = nl.grad(f)(params, np.asarray([1.0, 2.0]))
    close(found["w"], [[1, 2], [1, 2]])
    close(found["b"][0], [1, 1])
    close(found["b"][1][0], 6.0)
    assert found["b"][1][1] is None


@pytest.mark.parametrize(
    "argnums, expected",
    [(0, 2.0), (1, 1.0), (-1, 1.0), ((0, 1), (2.0, 1.0)), ((1,), (1.0,)), ([1, 0], (1.0, 2.0))],
)
def test_argnums(argnums, expected) -> None:
    found = nl.grad(lambda x, y: x * y, argnums)(1.0, 2.0)
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    close(found, expected)


def test_argnums_out_of_range() -> None:
    with pytest.raises(errors.ArgumentError, match="argnums=2"):
        nl.grad(lambda x, y: x * y, 2)(1.0, 2.0)
    with pytest.raises(errors.ArgumentError, match="argnums"):
        nl.grad(lambda x: x, argnums="x")
    with pytest.raises(errors.ArgumentError, match="argnums=0"):
        nl.grad(lambda x: x)(x=1.0)


def test_keyword_arguments_are_not_differentiated() -> None:
    def f(x, *, scale=1.0, name="any"):
        assert name in ("any", "other")
        return x * scale

    close(nl.grad(f)(2.0, scale=3.0, name="other"), 3.0)
    close(nl.grad(f)(2.0), 1.0)


def test_auxiliary_data() -> None:
    def f(x):
        y = x * x
        return y, {"y": y, "text": "hello", "n": 3}

    slope, aux = nl.grad(f, has_aux=True)(3.0)
    close(slope, 6.0)
    close(aux["y"], 9.0)
    assert aux["text"] == "hello" and aux["n"] == 3
    (value, aux), slope = nl.value_and_grad(f, has_aux=True)(3.0)
    close([value, aux["y"], slope], [9, 9, 6])
    jac, aux = nl.jacrev(lambda x: (x * x, x), has_aux=True)(np.ones(2))
    close(jac, 2 * numpy.eye(2))
    close(aux, numpy.ones(2))
    jac, aux = nl.jacfwd(lambda x: (x * x, x), has_aux=True)(np.ones(2))
    close(jac, 2 * numpy.eye(2))
    close(aux, numpy.ones(2))
    y, dy, aux = nl.jvp(lambda x: (x * x, x + 1), (3.0,), (1.0,), has_aux=True)
    close([y, dy, aux], [9, 6, 4])
    y, pull, aux = nl.vjp(lambda x: (x * x, x + 1), 3.0, has_aux=True)
    close([y, pull(1.0)[0], aux], [9, 6, 4])


def test_auxiliary_data_can_be_used_afterwards_at_every_level() -> None:
    def f(x):
        _, aux = nl.grad(lambda y: (y * y, x * y), has_aux=True)(x)
        return aux * 1.0

    close(nl.grad(f)(3.0), 6.0)
    close(nl.jit(nl.grad(f))(3.0), 6.0)
    close(nl.vmap(nl.grad(f))(np.asarray([1.0, 3.0])), [2, 6])


def test_has_aux_needs_a_pair() -> None:
    with pytest.raises(errors.ArgumentError, match="pair"):
        nl.grad(lambda x: x, has_aux=True)(1.0)


@pytest.mark.parametrize(
    "f, x, match",
    [
        (lambda x: x, numpy.ones(3), "must return a scalar"),
        (lambda x: (x, x), 1.0, "must return a scalar"),
        (lambda x: 1 if x is None else 3, 1.0, "floating-point"),
        (lambda x: x, 3, "must be a float"),
        (lambda x: x, True, "must be a float"),
        (lambda x: np.sum(x), numpy.arange(3), "must be a float"),
        (lambda x: x, 1 + 1j, "complex"),
        (lambda x: x * 1j, 1.0, "real floating-point"),
    ],
)
def test_what_cannot_be_differentiated(f, x, match) -> None:
    with pytest.raises(TypeError, match=match):
        nl.grad(f)(x)


def test_arguments_that_are_no_arrays() -> None:
    with pytest.raises(TypeError, match="argument 0"):
        nl.grad(lambda x: 1.0)("text")
    with pytest.raises(TypeError, match="'a'"):
        nl.grad(lambda x: 1.0)({"a": object()})
    with pytest.raises(TypeError, match="expected a function"):
        nl.grad(3)


def test_integer_arguments() -> None:
    found = nl.grad(lambda x, n: x * n, argnums=(0, 1), allow_int=True)(2.0, 3)
    close(found[0], 3.0)
    assert found[1].dtype == float0 and found[1].shape == ()
    _, pull = nl.vjp(lambda x, n: x * n, np.ones(2), np.arange(2))
    cx, cn = pull(np.ones(2))
    close(cx, [0, 1])
    assert cn.dtype == float0 and cn.shape == (2,)


def test_integer_results_of_jvp_and_vjp() -> None:
    f = lambda x: (x * 2.0, np.asarray(x > 0).astype("int32"))
    _, (dy, dn) = nl.jvp(f, (1.0,), (1.0,))
    close(dy, 2.0)
    assert dn.dtype == float0
    _, pull = nl.vjp(f, 1.0)
    close(pull((1.0, numpy.zeros((), float0)))[0], 2.0)


def test_tangents_of_integers_must_be_float0() -> None:
    f = lambda x, n: x * n
    y, dy = nl.jvp(f, (2.0, 3), (1.0, numpy.zeros((), float0)))
    close([y, dy], [6, 3])
    with pytest.raises(TypeError, match="float0"):
        nl.jvp(f, (2.0, 3), (1.0, 1))
    with pytest.raises(TypeError, match="float0"):
        nl.jvp(f, (2.0, 3), (numpy.zeros((), float0), numpy.zeros((), float0)))


def test_complex_arguments() -> None:
    z = 1.5 + 0.5j
    close(nl.grad(lambda z: z**3, holomorphic=True)(z), 3 * z**2)
    # For a real function the gradient follows df = Re(g dz): g = conj of the usual direction.
    close(nl.grad(lambda x: np.real(np.exp(1j * x)))(0.3), -numpy.sin(0.3))
    _, pull = nl.vjp(lambda z: np.abs(z) ** 2, np.asarray(z))
    close(pull(np.asarray(1.0))[0], 2 * numpy.conj(z))
    with pytest.raises(TypeError, match="holomorphic"):
        nl.grad(lambda x: x, holomorphic=True)(1.0)
    with pytest.raises(TypeError, match="complex"):
        nl.grad(lambda z: np.real(z), holomorphic=True)(z)


def test_results_have_the_type_of_the_argument() -> None:
    for dtype in ("float16", "bfloat16", "float32"):
        found = nl.grad(lambda x: np.sum(np.sin(x)))(np.ones(2, dtype))
        assert found.dtype == dtype and found.shape == (2,)
    with nl.enable_x64():
        assert nl.grad(np.sin)(1.0).dtype == "float64"
    assert nl.grad(np.sin)(1.0).dtype == "float32"


def test_gradient_where_the_result_does_not_depend_on_the_argument() -> None:
    close(nl.grad(lambda x: 3.0)(1.0), 0)
    close(nl.grad(lambda x, y: y)(np.ones(()), 2.0), 0)
    close(nl.grad(lambda x: np.sum(np.ones(2)))(np.ones(3)), numpy.zeros(3))
    close(nl.jacrev(lambda x: np.ones(2))(np.ones(3)), numpy.zeros((2, 3)))
    close(nl.jacfwd(lambda x: np.ones(2))(np.ones(3)), numpy.zeros((2, 3)))
    close(nl.jit(nl.grad(lambda x: 3.0))(1.0), 0)


def test_empty_arrays_and_empty_trees() -> None:
    assert nl.grad(lambda x: np.sum(x))(np.zeros((0, 3))).shape == (0, 3)
    assert nl.grad(lambda p, x: x)((), 1.0) == ()
    assert nl.grad(lambda p: 1.0)({}) == {}


# ---- vjp, jvp ----------------------------------------------------------------------------------


def test_vjp_can_be_called_again() -> None:
    calls = []

    def f(x, y):
        calls.append(1)
        return np.sin(x) * y, x + y

    (_, _), pull = nl.vjp(f, 0.5, 2.0)
    first = pull((1.0, 0.0))
    close(first, [2 * numpy.cos(0.5), numpy.sin(0.5)])
    close(pull((0.0, 1.0)), [1, 1])
    close(pull((1.0, 0.0)), first)
    assert calls == [1]
    close(nl.vmap(lambda c: pull((c, 0.0))[1])(np.arange(3.0)), numpy.sin(0.5) * numpy.arange(3))
    close(nl.jit(pull)((1.0, 1.0))[0], 2 * numpy.cos(0.5) + 1)


def test_vjp_checks_cotangents() -> None:
    _, pull = nl.vjp(lambda x: (x, x), np.ones(3))
    with pytest.raises(TypeError, match="structure"):
        pull(np.ones(3))
    with pytest.raises(TypeError, match="shape and dtype"):
        pull((np.ones(2), np.ones(3)))


def test_jvp_checks_tangents() -> None:
    with pytest.raises(TypeError, match="structure"):
        nl.jvp(np.sin, (1.0,), (1.0, 2.0))
    with pytest.raises(TypeError, match="shape and dtype"):
        nl.jvp(np.sin, (np.ones(3),), (np.ones(2),))
    with pytest.raises(TypeError, match="tuples or lists"):
        nl.jvp(np.sin, 1.0, 1.0)


def test_vjp_of_vjp_and_jvp_of_vjp() -> None:
    f = lambda x: np.sum(np.sin(x) * x)
    x, v = np.asarray([0.3, 1.2]), np.asarray([1.0, -2.0])
    a, b = numpy.asarray(x), numpy.asarray(v)
    second = (2 * numpy.cos(a) - numpy.sin(a) * a) * b
    gradient = lambda x: nl.vjp(f, x)[1](1.0)[0]
    close(nl.jvp(gradient, (x,), (v,))[1], second)
    close(nl.vjp(gradient, x)[1](v)[0], second)
    close(nl.jit(lambda x, v: nl.jvp(nl.grad(f), (x,), (v,))[1])(x, v), second)
    close(nl.grad(lambda x: nl.jvp(f, (x,), (v,))[1])(x), second)


# ---- Jacobians ---------------------------------------------------------------------------------


def test_both_jacobians_and_their_structure() -> None:
    def f(p, s):
        return {"y": p["a"] * s, "z": np.outer(p["a"], p["b"])}

    p = {"a": np.asarray([1.0, 2.0]), "b": np.asarray([3.0, 4.0, 5.0])}
    forward = nl.jacfwd(f, argnums=(0, 1))(p, 2.0)
    reverse = nl.jacrev(f, argnums=(0, 1))(p, 2.0)
    assert nl.tree.structure(forward) == nl.tree.structure(reverse)
    for a, b in zip(nl.tree.leaves(forward), nl.tree.leaves(reverse), strict=True):
        close(a, b)
    assert forward["z"][0]["b"].shape == (2, 3, 3)
    close(forward["y"][0]["a"], 2 * numpy.eye(2))
    close(forward["y"][1], [1, 2])
    close(forward["y"][0]["b"], numpy.zeros((2, 3)))


def test_jacobians_of_arrays_of_any_rank() -> None:
    f = lambda x: np.sin(x).T @ np.ones((2, 1))
    x = np.asarray(numpy.arange(6.0).reshape(2, 3))
    assert nl.jacfwd(f)(x).shape == (3, 1, 2, 3)
    close(nl.jacfwd(f)(x), nl.jacrev(f)(x))
    close(nl.jit(nl.jacfwd(f))(x), nl.vmap(nl.jacrev(f))(x[None])[0])


def test_hessian() -> None:
    f = lambda x: 0.5 * x @ A @ x + np.sum(x**3)
    x = np.asarray([1.0, -2.0])
    expected = A + numpy.diag(6 * numpy.asarray(x))
    close(nl.hessian(f)(x), expected)
    close(nl.jit(nl.hessian(f))(x), expected)
    close(nl.jacrev(nl.jacrev(f))(x), expected)
    close(nl.jacfwd(nl.jacfwd(f))(x), expected)
    close(nl.jacrev(nl.jacfwd(f))(x), expected)
    close(nl.hessian(lambda x: x**3)(2.0), 12)


def test_hessian_of_a_tree() -> None:
    found = nl.hessian(lambda p: p["a"] * p["b"] ** 2)({"a": 2.0, "b": 3.0})
    close(found["a"]["b"], 6.0)
    close(found["b"]["a"], 6.0)
    close(found["b"]["b"], 4.0)
    close(found["a"]["a"], 0.0)


def test_holomorphic_jacobians() -> None:
    z = np.asarray([1 + 1j, 2 - 1j])
    expected = numpy.diag(2 * numpy.asarray(z))
    close(nl.jacfwd(lambda z: z * z, holomorphic=True)(z), expected)
    close(nl.jacrev(lambda z: z * z, holomorphic=True)(z), expected)


# ---- what functions may be ---------------------------------------------------------------------


def test_methods_partials_and_callables() -> None:
    class Model:
        scale = 3.0

        def loss(self, x):
            return x * x * self.scale

        def __call__(self, x):
            return self.loss(x)

        @classmethod
        def square(cls, x):
            return x * x

    model = Model()
    close(nl.grad(model.loss)(2.0), 12)
    close(nl.grad(model)(2.0), 12)
    close(nl.grad(Model.square)(2.0), 4)
    close(nl.grad(functools.partial(lambda a, x: a * x * x, 5.0))(1.0), 10)
    close(nl.grad(np.sin)(0.0), 1)


def test_names_are_kept() -> None:
    def loss(x):
        """Its text."""
        return x

    assert nl.grad(loss).__name__ == "loss"
    assert nl.value_and_grad(loss).__name__ == "loss"


def test_defaults_and_var_args() -> None:
    def f(x, *rest, power=2, **named):
        return x**power * sum(rest) * named["k"]

    close(nl.grad(f)(3.0, 1.0, 2.0, k=2.0), 36)
    close(nl.grad(f, argnums=2)(3.0, 1.0, 2.0, k=2.0), 18)


def test_an_exception_inside_leaves_no_trace_behind() -> None:
    def f(x):
        raise KeyError("mine")

    for transform in (nl.grad, nl.jit, nl.vmap, nl.jacfwd):
        with pytest.raises(KeyError, match="mine"):
            transform(f)(np.ones(1) if transform is nl.vmap else 1.0)
    assert float(np.sin(0.0)) == 0.0


def test_leaked_tracers_name_the_line() -> None:
    kept = []

    def f(x):
        kept.append(np.sin(x))  # kept here
        return x

    for transform, x in ((nl.jit, 1.0), (nl.vmap, np.ones(2))):
        kept.clear()
        transform(f)(x)
        with pytest.raises(errors.UnexpectedTracerError):
            np.cos(kept[0])
        with pytest.raises(errors.UnexpectedTracerError):
            nl.jit(lambda y: y + kept[0])(1.0)
    kept.clear()
    nl.jit(f)(2.0)
    with pytest.raises(errors.UnexpectedTracerError, match="kept here"):
        kept[0] + 1.0


def test_stop_gradient() -> None:
    close(nl.grad(lambda x: x * lax.stop_gradient(x))(3.0), 3)
    close(nl.grad(lambda x: lax.stop_gradient(x) ** 2)(3.0), 0)
    tree = lax.stop_gradient({"a": 1.0, "n": 3})
    assert float(tree["a"]) == 1.0


@pytest.mark.parametrize(
    "wrap",
    [lambda y: [y], lambda y: (y,), lambda y: {"a": y}, lambda y: [[y]]],
    ids=("list", "tuple", "dict", "nested"),
)
def test_a_scalar_in_a_container_is_not_a_scalar(wrap) -> None:
    for transform in (nl.grad, nl.value_and_grad):
        with pytest.raises(errors.GradError, match="return the scalar itself"):
            transform(lambda x: wrap(x**2))(1.0)
    close(nl.grad(lambda x: (x**2, [x]), has_aux=True)(3.0)[0], 6)
