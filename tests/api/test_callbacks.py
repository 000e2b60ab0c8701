"""pure_callback, io_callback: values, transformations, order, errors."""

from __future__ import annotations

import threading
import traceback

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.experimental import io_callback


def sine(x, **options):
    return nl.pure_callback(numpy.sin, nl.ShapeDtypeStruct(x.shape, x.dtype), x, **options)


# ---- pure_callback ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int32", "uint16", "float16", "bfloat16", "float32", "complex64", "int4"],
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
@pytest.mark.parametrize("jitted", [False, True])
def test_every_dtype_goes_through(dtype, shape, jitted):
    x = np.ones(shape, dtype)
    seen = []

    def host(y):
        seen.append((y.shape, y.dtype))
        return y

    f = lambda y: nl.pure_callback(host, y, y)
    out = (nl.jit(f) if jitted else f)(x)
    assert out.dtype == x.dtype
    assert out.shape == shape
    assert (numpy.asarray(out) == numpy.asarray(x)).all()
    if x.size:  # XLA does not compute empty results
        assert seen == [(shape, numpy.asarray(x).dtype)]


def test_layouts_are_row_major():
    x = numpy.arange(6, dtype="float32").reshape(2, 3)
    f = nl.jit(lambda y: nl.pure_callback(lambda z: z * 2, nl.ShapeDtypeStruct((3, 2), "f4"), y.T))
    numpy.testing.assert_array_equal(f(x), 2 * x.T)


def test_pytrees_and_keywords():
    def host(a, *, b):
        return {"sum": a[0] + b, "pair": (a[1], numpy.float32(3))}

    shape = nl.ShapeDtypeStruct((), "float32")
    out = nl.jit(
        lambda x: nl.pure_callback(host, {"sum": shape, "pair": (shape, shape)}, (x, x + 1), b=x)
    )(1.0)
    assert out["sum"] == 2
    assert [float(v) for v in out["pair"]] == [2, 3]


def test_python_and_64_bit_numbers_are_narrowed():
    shape = nl.ShapeDtypeStruct((), "float32")
    assert nl.jit(lambda: nl.pure_callback(lambda: 3, shape))() == 3
    assert nl.jit(lambda: nl.pure_callback(lambda: numpy.float64(2.5), shape))() == 2.5


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (numpy.ones(3, "float32"), errors.ShapeError),
        (numpy.int32(1), errors.DTypeError),
        (1.5j, errors.DTypeError),
        ("text", errors.DTypeError),
        ((1.0, 2.0), errors.TreeError),
        (None, errors.TreeError),
    ],
)
@pytest.mark.parametrize("jitted", [False, True])
def test_wrong_results_are_refused(result, error, jitted):
    f = lambda x: nl.pure_callback(lambda y: result, x, x)
    with pytest.raises(error, match="pure_callback"):
        (nl.jit(f) if jitted else f)(np.float32(1))


def test_64_bit_results_need_x64():
    with pytest.raises(ValueError, match="64-bit"):
        nl.pure_callback(lambda: 1.0, nl.ShapeDtypeStruct((), "float64"))
    with nl.enable_x64():
        out = nl.jit(lambda: nl.pure_callback(lambda: 1.0, nl.ShapeDtypeStruct((), "float64")))()
        assert out.dtype == "float64"


def test_unused_calls_are_dropped_and_equal_ones_merged():
    calls = []

    def host(x):
        calls.append(1)
        return x

    @nl.jit
    def f(x):
        nl.pure_callback(host, x, x)
        return x

    f(1.0)
    assert calls == []


def test_arguments_are_read_only():
    def host(x):
        x[0] = 1
        return x

    with pytest.raises(ValueError, match="read-only"):
        nl.jit(lambda x: nl.pure_callback(host, x, x))(np.zeros(3))


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [((2,), (2,))] * 3),
        ("sequential_unrolled", [((2,), (2,))] * 3),
        ("expand_dims", [((3, 2), (1, 2))]),
        ("broadcast_all", [((3, 2), (3, 2))]),
        ("legacy_vectorized", [((3, 2), (2,))]),
    ],
)
@pytest.mark.parametrize("jitted", [False, True])
def test_vmap_methods(method, shapes, jitted):
    seen = []

    def host(x, y):
        seen.append((x.shape, y.shape))
        return x + y

    def f(x, y):
        return nl.pure_callback(host, nl.ShapeDtypeStruct((2,), "f4"), x, y, vmap_method=method)

    batched = nl.vmap(f, (1, None), 1)
    x, y = numpy.ones((2, 3), "f4"), numpy.arange(2, dtype="f4")
    out = (nl.jit(batched) if jitted else batched)(x, y)
    numpy.testing.assert_array_equal(out, x + y[:, None])
    assert seen == shapes


def test_nested_vmap_and_empty_batches():
    f = nl.vmap(nl.vmap(lambda x: sine(x, vmap_method="sequential")))
    x = numpy.arange(6, dtype="f4").reshape(2, 3)
    numpy.testing.assert_allclose(f(x), numpy.sin(x), rtol=1e-6)
    assert nl.vmap(lambda x: sine(x, vmap_method="sequential"))(np.zeros((0, 3))).shape == (0, 3)


def test_vmap_needs_a_method_that_exists():
    with pytest.raises(errors.VmapError, match="vmap_method"):
        nl.vmap(sine)(np.arange(3.0))
    with pytest.raises(ValueError, match="no vmap_method 'fast'"):
        sine(np.ones(2), vmap_method="fast")


def test_vectorized_is_the_older_spelling():
    assert nl.vmap(lambda x: sine(x, vectorized=True))(np.zeros(3)).shape == (3,)
    assert nl.vmap(lambda x: sine(x, vectorized=False))(np.zeros(3)).shape == (3,)
    with pytest.raises(ValueError, match="not both"):
        sine(np.zeros(2), vectorized=True, vmap_method="sequential")


def test_derivatives_by_custom_jvp():
    with pytest.raises(errors.GradError, match="custom_jvp"):
        nl.grad(lambda x: sine(x))(np.float32(1))

    @nl.custom_jvp
    def f(x):
        return sine(x, vmap_method="expand_dims")

    @f.defjvp
    def rule(primals, tangents):
        return f(*primals), np.cos(primals[0]) * tangents[0]

    assert float(nl.jit(nl.grad(f))(np.float32(0.5))) == pytest.approx(numpy.cos(0.5))
    found = nl.vmap(nl.grad(f))(np.arange(3.0))
    numpy.testing.assert_allclose(found, numpy.cos(numpy.arange(3)), rtol=1e-6)


def test_inside_loops_and_branches():
    def body(c, x):
        c = c + lax.cond(x > 1, lambda: sine(x), lambda: x)
        return c, c

    last, ys = nl.jit(lambda xs: lax.scan(body, np.float32(0), xs))(np.arange(4.0))
    wanted = numpy.cumsum([0, 1, numpy.sin(2), numpy.sin(3)])
    numpy.testing.assert_allclose(ys, wanted, rtol=1e-6)


def test_traced_once_and_called_each_time():
    calls = {"trace": 0, "host": 0}

    def host(x):
        calls["host"] += 1
        return x

    @nl.jit
    def f(x):
        calls["trace"] += 1
        return nl.pure_callback(host, x, x)

    for i in range(5):
        f(np.float32(i))
    assert calls == {"trace": 1, "host": 5}


# ---- exceptions ------------------------------------------------------------------------------


class MyError(Exception):
    """Raised by callbacks of these tests."""


def _fail(x):
    try:
        raise KeyError("cause")
    except KeyError as cause:
        raise MyError("from the callback") from cause


@pytest.mark.parametrize("where", ["eager", "jit", "scan", "cond", "vmap"])
def test_exceptions_reach_the_caller_with_their_traceback(where):
    def call(x):
        return nl.pure_callback(_fail, x, x, vmap_method="sequential")

    functions = {
        "eager": lambda: call(np.float32(1)),
        "jit": lambda: nl.jit(call)(np.float32(1)),
        "scan": lambda: lax.scan(lambda c, _: (call(c), None), np.float32(1), None, length=3),
        "cond": lambda: nl.jit(lambda x: lax.cond(x > 0, call, lambda y: y, x))(np.float32(1)),
        "vmap": lambda: nl.jit(nl.vmap(call))(np.arange(3.0)),
    }
    with pytest.raises(MyError, match="from the callback") as caught:
        functions[where]()
    assert isinstance(caught.value.__cause__, KeyError)
    names = [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
    assert "_fail" in names
    assert names[0] == "test_exceptions_reach_the_caller_with_their_traceback"


def test_a_failed_program_can_be_called_again():
    fail = [True]

    def host(x):
        if fail[0]:
            raise MyError
        return x

    f = nl.jit(lambda x: nl.pure_callback(host, x, x))
    with pytest.raises(MyError):
        f(np.float32(1))
    fail[0] = False
    assert f(np.float32(2)) == 2


def test_keyboard_interrupt_passes():
    def host(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nl.jit(lambda x: io_callback(host, None, x))(1.0)


def test_a_callback_may_run_compiled_functions():
    product = nl.jit(lambda x: x @ x)
    x = np.full((400, 400), 1 / 400, "float32")

    def host(y):
        return numpy.asarray(product(product(np.asarray(y))))

    f = nl.jit(lambda y: nl.pure_callback(host, y, y @ y) @ y)
    assert f(product(x)).shape == (400, 400)


# ---- io_callback -----------------------------------------------------------------------------


def test_io_callbacks_are_not_dropped_or_merged():
    seen = []

    @nl.jit
    def f(x):
        io_callback(lambda y: seen.append(float(y)), None, x)
        io_callback(lambda y: seen.append(float(y)), None, x)

    f(1.0)
    assert seen == [1, 1]


def test_ordered_through_loops_branches_and_calls():
    seen = []

    def note(text, x):
        io_callback(lambda y: seen.append(f"{text}{int(y)}"), None, x, ordered=True)

    @nl.jit
    def inner(x):
        y = x + 1 - 1
        note("call", y * 1)
        return y

    @nl.jit
    def f(x):
        note("start", x)

        def body(c, i):
            note("step", i)
            c = lax.cond(i == 1, lambda: (note("yes", i), c)[1], lambda: (note("no", i), c)[1])
            return inner(c), None

        x, _ = lax.scan(body, x, np.arange(2))
        x = lax.while_loop(lambda v: v < 3, lambda v: (note("while", v), v + 1)[1], x)
        note("end", x)
        return x

    assert f(1) == 3
    assert seen == [
        "start1", "step0", "no0", "call1", "step1", "yes1", "call1", "while1", "while2", "end3",
    ]  # fmt: skip


def test_ordered_results_and_state():
    counter = [0]

    def take():
        counter[0] += 1
        return numpy.int32(counter[0])

    shape = nl.ShapeDtypeStruct((), "int32")
    f = nl.jit(lambda: [io_callback(take, shape, ordered=True) for _ in range(4)])
    assert [int(x) for x in f()] == [1, 2, 3, 4]
    loop = nl.jit(
        lambda: lax.scan(
            lambda c, _: (c, io_callback(take, shape, ordered=True)), 0, None, length=3
        )[1]
    )
    assert loop().tolist() == [5, 6, 7]


def test_io_under_vmap():
    seen = []
    f = nl.vmap(lambda x: io_callback(lambda y: (seen.append(int(y)), y * 2)[1], x, x))
    assert f(np.arange(3)).tolist() == [0, 2, 4]
    assert seen == [0, 1, 2]
    with pytest.raises(errors.VmapError, match="ordered"):
        nl.vmap(lambda x: io_callback(lambda y: y, x, x, ordered=True))(np.arange(3))

    def branch(x):
        return lax.cond(x > 0, lambda: io_callback(lambda y: y, x, x), lambda: x)

    with pytest.raises(errors.VmapError, match="branches"):
        nl.vmap(branch)(np.arange(3))

    def loop(n):
        return lax.while_loop(lambda i: i < n, lambda i: io_callback(lambda y: y, i, i) + 1, 0)

    with pytest.raises(errors.VmapError, match="different steps"):
        nl.vmap(loop)(np.arange(3))


def test_io_has_no_derivative():
    with pytest.raises(errors.GradError, match="io_callback"):
        nl.grad(lambda x: io_callback(lambda y: y, x, x))(np.float32(1))


def test_io_runs_once_in_a_checkpointed_gradient():
    calls = []
    shape = nl.ShapeDtypeStruct((), "float32")

    @nl.checkpoint
    def f(x):
        k = io_callback(lambda: (calls.append(1), numpy.float32(2))[1], shape)
        return np.sin(k * x)

    assert float(nl.jit(nl.grad(f))(1.0)) == pytest.approx(2 * numpy.cos(2))
    assert len(calls) == 1


def test_effects_have_happened_when_the_call_returns():
    seen = []
    f = nl.jit(lambda x: (io_callback(lambda y: seen.append(y.shape), None, x @ x), None)[1])
    assert f(np.ones((300, 300))) is None
    assert seen == [(300, 300)]
    nl.effects_barrier()


def test_threads_get_their_own_results():
    f = nl.jit(lambda x: sine(x) * 2)
    found = {}

    def work(i):
        found[i] = float(f(np.float32(i)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {i: pytest.approx(2 * numpy.sin(i), rel=1e-5) for i in range(6)}


def test_wrong_arguments():
    with pytest.raises(TypeError, match="must be a function"):
        nl.pure_callback(3, nl.ShapeDtypeStruct((), "f4"))
    with pytest.raises(TypeError, match="no shape"):
        nl.pure_callback(lambda: 1, "f4")
    with pytest.raises(TypeError, match="not an array"):
        nl.pure_callback(lambda x: 1, nl.ShapeDtypeStruct((), "f4"), "text")
    with pytest.raises(ValueError, match="SingleDeviceSharding"):
        nl.pure_callback(lambda: 1, nl.ShapeDtypeStruct((), "f4"), sharding="cpu")


def test_the_graph_shows_the_callback():
    text = str(nl.make_jaxpr(lambda x: sine(x))(np.ones(2)))
    assert "pure_callback" in text
    assert "sin" in text


# ---- several devices -------------------------------------------------------------------------


@pytest.fixture
def sharded():
    mesh = nl.make_mesh((4,), ("x",), axis_types=(nl.AxisType.Auto,))
    x = numpy.arange(8, dtype="float32")
    return nl.device_put(x, nl.NamedSharding(mesh, nl.P("x")))


@pytest.mark.parametrize("jitted", [False, True])
def test_sharded_arguments_arrive_whole_and_once(sharded, jitted):
    seen = []

    def host(x):
        seen.append(x.tolist())
        return x * 2

    f = lambda x: nl.pure_callback(host, nl.ShapeDtypeStruct((8,), "float32"), x) + x
    out = (nl.jit(f) if jitted else f)(sharded)
    numpy.testing.assert_array_equal(out, 3 * numpy.arange(8))
    assert seen == [list(range(8))]


def test_effects_of_sharded_programs(sharded, capsys):
    seen = []

    @nl.jit
    def f(x):
        y = io_callback(lambda v: (seen.append(v.sum()), v)[1], x, x, ordered=True)
        nl.debug.print("{}", x.sum(), ordered=True)

        def body(c, i):
            nl.debug.print("{} {}", i, c.sum(), ordered=True)
            return c + 1, None

        return lax.scan(body, y, np.arange(2))[0]

    numpy.testing.assert_array_equal(f(sharded), numpy.arange(8) + 2)
    assert seen == [28]
    assert capsys.readouterr().out == "28.0\n0 28.0\n1 36.0\n"


def test_partitioned_callbacks_see_their_part(sharded, capsys):
    nl.jit(lambda x: nl.debug.print("{}", x, partitioned=True))(sharded)
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == ["[0. 1.]", "[2. 3.]", "[4. 5.]", "[6. 7.]"]


def test_sharding_chooses_the_device(sharded):
    def call(x, device):
        where = nl.sharding.SingleDeviceSharding(device)
        return nl.pure_callback(lambda v: v, nl.ShapeDtypeStruct((8,), "f4"), x, sharding=where)

    out = nl.jit(lambda x: call(x, nl.devices()[2]))(sharded)
    numpy.testing.assert_array_equal(out, numpy.arange(8))
    with pytest.raises(errors.ShardingError, match="not one of the program's devices"):
        nl.jit(lambda x: call(x, nl.devices()[7]))(sharded)


def test_exceptions_in_sharded_programs(sharded):
    fail = [True]

    def host(x):
        if fail[0]:
            raise MyError("sharded")
        return x

    @nl.jit
    def f(x):
        y = nl.pure_callback(host, nl.ShapeDtypeStruct((8,), "f4"), x)
        return (x * y).sum()

    with pytest.raises(MyError, match="sharded"):
        f(sharded)
    fail[0] = False
    assert f(sharded) == (numpy.arange(8) ** 2).sum()


def test_committed_results_stay_on_their_device():
    device = nl.devices()[3]
    out = sine(nl.device_put(numpy.float32(1), device))
    assert out.sharding.device_set == {device}


@pytest.mark.parametrize("where", ["condition", "body", "cond", "scan", "fori", "io"])
def test_loops_of_sharded_programs_end_after_an_exception(sharded, where):
    calls = []

    def host(x):
        calls.append(1)
        if len(calls) == 3:
            raise MyError("in the loop")
        return numpy.float32(1)

    def ask(c):
        if where == "io":
            return io_callback(host, nl.ShapeDtypeStruct((), "f4"), c[0], ordered=True)
        return nl.pure_callback(host, nl.ShapeDtypeStruct((), "f4"), c[0])

    def f(x):
        if where == "condition":
            return lax.while_loop(lambda c: ask(c) > 0, lambda c: c + 1, x)
        if where == "cond":
            g = lambda c: lax.cond(c[0] >= 0, lambda c: c + ask(c), lambda c: c, c)
            return lax.while_loop(lambda c: np.sum(c) < 1e6, g, x)
        if where == "scan":
            return lax.scan(lambda c, _: (c + ask(c), None), x, None, length=5)[0]
        if where == "fori":
            return lax.fori_loop(0, 5, lambda i, c: c + ask(c), x)
        return lax.while_loop(lambda c: np.sum(c) < 1e6, lambda c: c + ask(c), x)

    with pytest.raises(MyError, match="in the loop") as caught:
        nl.jit(f)(sharded)
    assert caught.traceback[-1].name == "host"
    assert len(calls) == 3


# ---- typed random keys ---------------------------------------------------------------------------


@pytest.mark.parametrize("jitted", [False, True])
def test_keys_arrive_as_words_and_return_as_keys_or_words(jitted):
    key = nl.random.key(7)
    wanted = nl.ShapeDtypeStruct((), key.dtype)
    seen = []

    def words(w):
        seen.append((w.dtype, w.shape))
        return w + numpy.uint32(1)

    for host, data in (
        (words, numpy.asarray(nl.random.key_data(key)) + 1),
        (lambda w: nl.random.key(3), nl.random.key_data(nl.random.key(3))),
    ):
        f = lambda k: nl.random.clone(nl.pure_callback(host, wanted, k))  # noqa: B023
        out = (nl.jit(f) if jitted else f)(key)
        assert out.dtype == key.dtype
        numpy.testing.assert_array_equal(nl.random.key_data(out), data)
    assert seen == [(numpy.dtype("uint32"), (2,))]


@pytest.mark.parametrize(
    "method",
    ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"],
)
def test_batches_of_keys(method):
    keys = nl.random.split(nl.random.key(0), 3)
    wanted = nl.ShapeDtypeStruct((), keys.dtype)
    f = nl.vmap(lambda k: nl.pure_callback(lambda w: w, wanted, k, vmap_method=method))
    for g in (f, nl.jit(f)):
        numpy.testing.assert_array_equal(nl.random.key_data(g(keys)), nl.random.key_data(keys))
    if method == "sequential":
        assert f(keys[:0]).shape == (0,)


def test_keys_through_loops_and_io():
    keys = nl.random.split(nl.random.key(0), 3)
    wanted = nl.ShapeDtypeStruct((), keys.dtype)

    def body(c, k):
        return io_callback(lambda a, b: a ^ b, wanted, c, k, ordered=True), None

    out = nl.jit(lambda ks: lax.scan(body, nl.random.key(0), ks)[0])(keys)
    data = numpy.bitwise_xor.reduce(numpy.asarray(nl.random.key_data(keys)), 0)
    numpy.testing.assert_array_equal(nl.random.key_data(out), data)


def test_wrong_keys_are_refused():
    key = nl.random.key(0)
    wanted = nl.ShapeDtypeStruct((), key.dtype)
    for host, error in (
        (lambda w: w[:1], errors.ShapeError),
        (lambda w: w.astype("f4"), errors.DTypeError),
        (lambda w: nl.random.key(0, impl="rbg"), errors.DTypeError),
    ):
        with pytest.raises(error):
            nl.jit(lambda k: nl.pure_callback(host, wanted, k))(key)  # noqa: B023
