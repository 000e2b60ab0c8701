"""Cases timed in a running process. The same code runs on both libraries: the names are equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from benchmarks.registry import Lib, case

Timed = Callable[[], object]


# --- tracing. Each call traces a function never seen before, since both libraries remember traces.


def _chain(lib: Lib, length: int) -> Callable[[], Callable]:
    """A maker of new functions with `length` operations that end in a scalar."""
    sin, total = lib.np.sin, lib.np.sum

    def make() -> Callable:
        def chain(x):
            for _ in range(length // 3):
                x = sin(x) * 2.0 + x
            return total(x)

        return chain

    return make


@case("trace/sin chain 900", goal=0.3)
def _trace_sin(lib: Lib) -> Timed:
    x, sin = lib.np.ones(8), lib.np.sin

    def run() -> object:
        def chain(x):
            for _ in range(900):
                x = sin(x)
            return x

        return lib.top.make_jaxpr(chain)(x)

    return run


@case("trace/mixed chain 900", goal=0.3)
def _trace_mixed(lib: Lib) -> Timed:
    x, make = lib.np.ones(8), _chain(lib, 900)
    return lambda: lib.top.make_jaxpr(make())(x)


@case("trace/gradient of a mixed chain 900", goal=0.3)
def _trace_grad(lib: Lib) -> Timed:
    x, make = lib.np.ones(8), _chain(lib, 900)
    return lambda: lib.top.make_jaxpr(lib.top.grad(make()))(x)


@case("trace/vmap of a mixed chain 900", goal=0.3)
def _trace_vmap(lib: Lib) -> Timed:
    x, make = lib.np.ones((4, 8)), _chain(lib, 900)
    return lambda: lib.top.make_jaxpr(lib.top.vmap(make()))(x)


@case("trace/vmap of a gradient, mixed chain 300", goal=0.3)
def _trace_vmap_grad(lib: Lib) -> Timed:
    x, make = lib.np.ones((4, 8)), _chain(lib, 300)
    return lambda: lib.top.make_jaxpr(lib.top.vmap(lib.top.grad(make())))(x)


@case("trace/hessian of a mixed chain 300", goal=0.3)
def _trace_hessian(lib: Lib) -> Timed:
    x, make = lib.np.ones(8), _chain(lib, 300)
    return lambda: lib.top.make_jaxpr(lib.top.hessian(make()))(x)


@case("trace/jacfwd of a mixed chain 300", goal=0.3)
def _trace_jacfwd(lib: Lib) -> Timed:
    x, make = lib.np.ones(8), _chain(lib, 300)
    return lambda: lib.top.make_jaxpr(lib.top.jacfwd(make()))(x)


@case("trace/jit of the gradient of scan", goal=0.3)
def _trace_scan(lib: Lib) -> Timed:
    np, xs = lib.np, lib.np.ones((50, 4))

    def run() -> object:
        def total(xs):
            carry, ys = lib.lax.scan(lambda c, x: (c + np.sin(x), c * x), np.zeros(4), xs)
            return np.sum(carry) + np.sum(ys)

        return lib.top.jit(lib.top.grad(total)).trace(xs)

    return run


@case("trace/NumPy-level network 20 layers", goal=0.4)
def _trace_network(lib: Lib) -> Timed:
    np = lib.np
    layers = [(np.ones((16, 16)), np.ones(16)) for _ in range(20)]
    x = np.ones((4, 16))

    def run() -> object:
        def loss(layers, x):
            for w, b in layers:
                x = np.tanh(np.dot(x, w) + b)
                x = (x - x.mean(axis=-1, keepdims=True)) / (1e-3 + x.std(axis=-1, keepdims=True))
            return np.mean(x**2)

        return lib.top.make_jaxpr(lib.top.grad(loss))(layers, x)

    return run


def _trace_growth(
    length: int, transform: Callable[[Lib, Callable], Callable] = lambda lib, f: f, rank: int = 1
) -> Callable[[Lib], Timed]:
    def prepare(lib: Lib) -> Timed:
        x, make = lib.np.ones((4, 8)[-rank:]), _chain(lib, length)
        return lambda: lib.top.make_jaxpr(transform(lib, make()))(x)

    return prepare


for _length in (1_000, 10_000, 50_000):
    _ops = f"{_length // 1000}k ops"
    case(f"growth/trace {_ops}", goal=0.3)(_trace_growth(_length))
    case(f"growth/trace a gradient, {_ops}", goal=0.3)(
        _trace_growth(_length, lambda lib, f: lib.top.grad(f))
    )
    case(f"growth/trace vmap, {_ops}", goal=0.3)(
        _trace_growth(_length, lambda lib, f: lib.top.vmap(f), rank=2)
    )


# --- lowering: trace and write the module, no compilation


def _lower_growth(length: int) -> Callable[[Lib], Timed]:
    def prepare(lib: Lib) -> Timed:
        x, make = lib.np.ones(8), _chain(lib, length)
        return lambda: lib.top.jit(make()).lower(x)

    return prepare


case("lower/mixed chain 300", goal=0.3)(_lower_growth(300))
for _length in (1_000, 10_000, 50_000):
    case(f"growth/lower {_length // 1000}k ops", goal=0.3)(_lower_growth(_length))


@case("lower/gradient of a mixed chain 300", goal=0.3)
def _lower_grad(lib: Lib) -> Timed:
    x, make = lib.np.ones(8), _chain(lib, 300)
    return lambda: lib.top.jit(lib.top.grad(make())).lower(x)


# --- calling a compiled function


@case("dispatch/jit, 1 array", goal=1.15)
def _dispatch_one(lib: Lib) -> Timed:
    f, x = lib.top.jit(lambda x: x + 1.0), lib.np.ones(3)
    return lambda: f(x).block_until_ready()


@case("dispatch/jit, 1 NumPy array", goal=1.2)
def _dispatch_numpy(lib: Lib) -> Timed:
    f, x = lib.top.jit(lambda x: x + 1.0), numpy.ones(3, numpy.float32)
    return lambda: f(x).block_until_ready()


@case("dispatch/jit, Python scalar and static argument", goal=1.2)
def _dispatch_static(lib: Lib) -> Timed:
    f = lib.top.jit(lambda x, s, mode: x * s, static_argnames="mode")
    x = lib.np.ones(3)
    return lambda: f(x, 2.0, mode="fast").block_until_ready()


@case("dispatch/jit, 10 arrays", goal=1.2)
def _dispatch_ten(lib: Lib) -> Timed:
    f = lib.top.jit(lambda *xs: sum(xs[1:], xs[0]))
    xs = [lib.np.ones(3) * i for i in range(10)]
    return lambda: f(*xs).block_until_ready()


@case("dispatch/jit, dict of 100 leaves in and out", goal=0.95)
def _dispatch_dict(lib: Lib) -> Timed:
    f = lib.top.jit(lambda tree: {key: leaf + 1.0 for key, leaf in tree.items()})
    tree = {f"p{i}": lib.np.ones(3) * i for i in range(100)}
    return lambda: lib.ready(f(tree))


# --- eager calls


def _eager(name: str, goal: float) -> Callable[[Callable], Callable]:
    """A case from a function (np, x, y) -> value, with x and y of shape (4, 5)."""

    def register(body: Callable) -> Callable:
        def prepare(lib: Lib) -> Timed:
            np = lib.np
            x = np.arange(20.0).reshape(4, 5) / 20.0
            y = x + 1.0
            return lambda: lib.ready(body(np, x, y))

        case(f"eager/{name}", goal=goal)(prepare)
        return body

    return register


_eager("x + y", 1.0)(lambda np, x, y: x + y)
_eager("x * 2.0", 1.0)(lambda np, x, y: x * 2.0)
_eager("np.sin(x)", 1.0)(lambda np, x, y: np.sin(x))
_eager("np.sum(x, axis=0)", 1.0)(lambda np, x, y: np.sum(x, axis=0))
_eager("x @ y.T", 1.0)(lambda np, x, y: x @ y.T)
_eager("x[0]", 0.6)(lambda np, x, y: x[0])
_eager("x[1:3, ::2]", 0.6)(lambda np, x, y: x[1:3, ::2])
_eager("x.at[0].set(1.)", 0.5)(lambda np, x, y: x.at[0].set(1.0))
_eager("np.concatenate", 0.8)(lambda np, x, y: np.concatenate([x, y]))
_eager("np.where", 0.8)(lambda np, x, y: np.where(x > 0.5, x, y))
_eager("np.std", 0.8)(lambda np, x, y: np.std(x, axis=1))
_eager("np.linalg.norm", 0.8)(lambda np, x, y: np.linalg.norm(x))


@case("eager/40 functions", goal=0.7)
def _forty(lib: Lib) -> Timed:
    np = lib.np
    x = np.arange(1.0, 21.0).reshape(4, 5) / 21.0
    y = x + 1.0
    unary = (
        np.sin, np.cos, np.tan, np.arcsin, np.arctan, np.sinh, np.tanh, np.exp, np.log, np.log1p,
        np.sqrt, np.square, np.abs, np.sign, np.floor, np.ceil, np.isnan, np.negative, np.ravel,
        np.transpose, np.sum, np.mean, np.max, np.argmax, np.std, np.cumsum, np.sort, np.argsort,
        np.squeeze, np.atleast_2d,
    )  # fmt: skip
    binary = (
        np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power, np.hypot,
        np.greater, np.arctan2,
    )  # fmt: skip

    def run() -> object:
        results = [f(x) for f in unary]
        results += [f(x, y) for f in binary]
        return lib.ready(results)

    return run


@case("eager/np.asarray(list)", goal=1.0)
def _asarray(lib: Lib) -> Timed:
    values = [[1.0, 2.0], [3.0, 4.0]]
    return lambda: lib.ready(lib.np.asarray(values))


@case("eager/random.normal", goal=0.8)
def _normal(lib: Lib) -> Timed:
    key = lib.random.key(0)
    return lambda: lib.ready(lib.random.normal(key, (4, 5)))


@case("eager/random.split", goal=0.8)
def _split(lib: Lib) -> Timed:
    key = lib.random.key(0)
    return lambda: lib.ready(lib.random.split(key))


# --- transformations, called without jit


@case("transform/grad, eager call", goal=0.4)
def _grad(lib: Lib) -> Timed:
    np = lib.np
    df = lib.top.grad(lambda x: np.sum(np.tanh(x) ** 2))
    x = np.ones(5)
    return lambda: lib.ready(df(x))


@case("transform/value_and_grad of a network, eager call", goal=0.4)
def _grad_network(lib: Lib) -> Timed:
    np = lib.np

    def loss(params, x):
        for w, b in params:
            x = np.tanh(x @ w + b)
        return np.mean(x**2)

    f = lib.top.value_and_grad(loss)
    params = [(np.ones((8, 8)) * 0.1, np.zeros(8)) for _ in range(3)]
    x = np.ones((4, 8))
    return lambda: lib.ready(f(params, x))


@case("transform/vmap, eager call", goal=0.5)
def _vmap(lib: Lib) -> Timed:
    np = lib.np
    f = lib.top.vmap(lambda x, y: np.dot(np.sin(x), y), in_axes=(0, None))
    x, y = np.ones((4, 5)), np.ones(5)
    return lambda: lib.ready(f(x, y))


@case("transform/jvp, eager call", goal=0.5)
def _jvp(lib: Lib) -> Timed:
    np = lib.np
    x = np.ones(5)
    return lambda: lib.ready(lib.top.jvp(lambda x: np.sin(x) * x, (x,), (x,)))


@case("transform/hessian, jitted call", goal=1.2)
def _hessian(lib: Lib) -> Timed:
    np = lib.np
    f = lib.top.jit(lib.top.hessian(lambda x: np.sum(np.sin(x) * x)))
    x = np.ones(5)
    return lambda: f(x).block_until_ready()


# --- loops


@case("control/trace and lower scan", goal=0.4)
def _scan(lib: Lib) -> Timed:
    np, xs = lib.np, lib.np.ones((50, 4))

    def run() -> object:
        def total(xs):
            carry, ys = lib.lax.scan(lambda c, x: (c + np.sin(x), c * x), np.zeros(4), xs)
            return np.sum(carry) + np.sum(ys)

        return lib.top.jit(lib.top.grad(total)).lower(xs)

    return run


_LOOP_STEPS = 2000


def _recurrent(lib: Lib) -> tuple[Callable, object]:
    """A step of a recurrent network, and its first state."""
    w = numpy.random.default_rng(0).normal(size=(128, 128)).astype(numpy.float32) / 12
    weights = lib.np.asarray(w)
    return lambda s: lib.np.tanh(weights @ s), lib.np.ones(128, "float32")


def _scan_loss(lib: Lib, step: Callable) -> Callable:
    return lambda x: lib.np.sum(
        lib.lax.scan(lambda s, _: (step(s), None), x, None, length=_LOOP_STEPS)[0]
    )


@case("control/gradient of a long scan, jitted call", goal=1.0)
def _scan_gradient(lib: Lib) -> Timed:
    step, x = _recurrent(lib)
    f = lib.top.jit(lib.top.grad(_scan_loss(lib, step)))
    return lambda: lib.ready(f(x))


@case("control/gradient of a bounded while loop (peer: scan), jitted call", goal=1.5)
def _while_gradient(lib: Lib) -> Timed:
    """The peer has no gradient of such a loop; its scan keeps the states of every step."""
    step, x = _recurrent(lib)

    def loss(x):
        found = lib.lax.while_loop(
            lambda s: s[1] < _LOOP_STEPS,
            lambda s: (step(s[0]), s[1] + 1),
            (x, 0),
            max_steps=_LOOP_STEPS,
        )
        return lib.np.sum(found[0])

    f = lib.top.jit(lib.top.grad(loss if lib.name == "numlift" else _scan_loss(lib, step)))
    return lambda: lib.ready(f(x))


# --- work on large arrays


def _large(name: str, goal: float, shape: tuple[int, ...], body: Callable) -> None:
    def prepare(lib: Lib) -> Timed:
        x = lib.np.asarray(numpy.random.default_rng(0).normal(size=shape).astype(numpy.float32))
        return lambda: lib.ready(body(lib.np, x))

    case(f"large/{name}", goal=goal, against="numpy")(prepare)


_large("tanh 1e6", 1.0, (1_000_000,), lambda np, x: np.tanh(x))
_large("sin 1e6", 1.0, (1_000_000,), lambda np, x: np.sin(x))
_large("exp 1e6", 1.0, (1_000_000,), lambda np, x: np.exp(x))
_large("sum 1e6", 1.5, (1_000_000,), lambda np, x: np.sum(x))
_large("argmax 1e6", 2.0, (1_000_000,), lambda np, x: np.argmax(x))
_large("sort 1e6", 2.0, (1_000_000,), lambda np, x: np.sort(x))
_large("cumsum 1e6", 1.5, (1_000_000,), lambda np, x: np.cumsum(x))
_large("matmul 500", 1.3, (500, 500), lambda np, x: np.matmul(x, x))
_large("softmax 1000x1000", 1.0, (1000, 1000), lambda np, x: _softmax(np, x))


def _softmax(np, x):
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    return shifted / np.sum(shifted, axis=1, keepdims=True)
