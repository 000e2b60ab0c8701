"""The operations that programs are made of: Numlift code, the same in NumPy, and how to draw it.

Each NumPy function takes the reference first: it reports values that decide something (the order
of a sort, the sign under `abs`), so that derivatives are only compared where they exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from tests.random_programs import linalg
from tests.random_programs.elementwise import BINARY, KINKED, UNARY

Drawn = tuple[tuple[Any, ...], dict[str, Any]] | None


@dataclass(frozen=True)
class Operation:
    """One row: `code` is a format string of the operands' texts and the options' reprs."""

    name: str
    code: str
    numpy: Callable[..., Any]
    draw: Callable[[Any], Drawn]


OPERATIONS: dict[str, Operation] = {}


def row(name: str, code: str, function: Callable[..., Any], draw: Callable[[Any], Drawn]) -> None:
    """Add an operation."""
    OPERATIONS[name] = Operation(name, code, function, draw)


# ---- elementwise -----------------------------------------------------------------------------


def one(scope: Any) -> Drawn:
    """Any float."""
    return (scope.pick(),), {}


def two(scope: Any) -> Drawn:
    """Two floats that broadcast."""
    x = scope.pick()
    return (x, scope.pick(lambda t: broadcasts(t.shape, scope.type(x).shape))), {}


def broadcasts(*shapes: tuple[int, ...]) -> bool:
    """Whether shapes broadcast together."""
    try:
        numpy.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def kink(x: Any, r: Any) -> Any:
    """Report the signs of `x`: something has a kink at 0."""
    r.decide(x, x > 0)
    return x


for _name, (_code, _numpy) in UNARY.items():
    row(_name, _code, lambda r, x, f=_numpy: f(x), one)
for _name, (_code, _numpy) in KINKED.items():
    row(_name, _code, lambda r, x, f=_numpy: f(kink(x, r)), one)
for _name, (_code, _numpy) in BINARY.items():
    row(_name, _code, lambda r, x, y, f=_numpy: f(x, y), two)


def pick_extreme(r: Any, x: Any, y: Any, largest: bool) -> Any:
    """max or min of two arrays."""
    kink(x - y, r)
    return numpy.maximum(x, y) if largest else numpy.minimum(x, y)


row("maximum", "np.maximum({0}, {1})", lambda r, x, y: pick_extreme(r, x, y, True), two)
row("minimum", "np.minimum({0}, {1})", lambda r, x, y: pick_extreme(r, x, y, False), two)


def clip(r: Any, x: Any) -> Any:
    """Between -0.8 and 0.9."""
    kink(x + 0.8, r)
    kink(x - 0.9, r)
    return numpy.clip(x, -0.8, 0.9)


def modulo(r: Any, x: Any) -> Any:
    """Remainder by 0.75."""
    quotient = x / 0.75
    r.decide(quotient - numpy.round(quotient), numpy.floor(quotient))
    return numpy.mod(x, 0.75)


row("clip", "np.clip({0}, -0.8, 0.9)", clip, one)
row("mod", "{0} % 0.75", modulo, one)


def bool_and_two(scope: Any) -> Drawn:
    """A condition and two floats, all broadcasting."""
    drawn = two(scope)
    shapes = [scope.type(x).shape for x in drawn[0]]
    condition = scope.pick(lambda t: broadcasts(t.shape, *shapes), "bool")
    return None if condition is None else ((condition, *drawn[0]), {})


row("where", "np.where({0}, {1}, {2})", lambda r, c, x, y: numpy.where(c, x, y), bool_and_two)
row(
    "select_n",
    "lax.select_n({0} > 0.1, {0}, np.sin({0}))",
    lambda r, x: numpy.where(kink(x - 0.1, r) > 0, numpy.sin(x), x),
    one,
)
row("greater", "{0} > {1}", lambda r, x, y: kink(x - y, r) > 0, two)
row("less", "{0} < 0.3", lambda r, x: kink(x - 0.3, r) < 0, one)
row("isfinite", "np.isfinite({0})", lambda r, x: numpy.isfinite(x), one)


def one_bool(scope: Any) -> Drawn:
    """A bool."""
    x = scope.pick(kind="bool")
    return None if x is None else ((x,), {})


def one_int(scope: Any) -> Drawn:
    """An int."""
    x = scope.pick(kind="int")
    return None if x is None else ((x,), {})


def int_and_float(scope: Any) -> Drawn:
    """An int and a float that broadcast."""
    x = scope.pick(kind="int")
    if x is None:
        return None
    return (x, scope.pick(lambda t: broadcasts(t.shape, scope.type(x).shape))), {}


row("count", "np.sum({0})", lambda r, x: numpy.sum(x), one_bool)
row("invert", "~{0}", lambda r, x: ~x, one_bool)
row("int_mix", "({0} * 3 - 1) // 2", lambda r, x: (x * 3 - 1) // 2, one_int)
row("int_times", "{0} * {1}", lambda r, x, y: x * y, int_and_float)
row("int_power", "(1.2 + np.sin({1})) ** ({0} % 3)",
    lambda r, x, y: (1.2 + numpy.sin(y)) ** (x % 3), int_and_float)  # fmt: skip

# ---- reductions ------------------------------------------------------------------------------


def some_axes(scope: Any) -> Drawn:
    """A float of rank >= 1, with `axis` None, an int or a tuple, and `keepdims`."""
    x = scope.pick(lambda t: len(t.shape) > 0)
    if x is None:
        return None
    rank = len(scope.type(x).shape)
    kind = scope.integer(0, 2)
    axis: Any = None
    if kind == 1:
        axis = scope.integer(-rank, rank - 1)
    elif kind == 2:
        axis = tuple(i for i in range(rank) if scope.boolean()) or (rank - 1,)
    return (x,), {"axis": axis, "keepdims": scope.boolean()}


def one_axis(scope: Any) -> Drawn:
    """A float of rank >= 1 and one axis."""
    x = scope.pick(lambda t: len(t.shape) > 0)
    if x is None:
        return None
    rank = len(scope.type(x).shape)
    return (x,), {"axis": scope.integer(-rank, rank - 1)}


def ranked(scope: Any) -> Drawn:
    """A float of rank >= 1."""
    x = scope.pick(lambda t: len(t.shape) > 0)
    return None if x is None else ((x,), {})


def lone_extreme(r: Any, x: Any, axis: Any) -> None:
    """Report which element is the largest along axes, and by how much."""
    axes = tuple(range(x.ndim)) if axis is None else numpy.atleast_1d(axis)
    axes = tuple(int(a) % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in axes]
    flat = numpy.transpose(x, (*kept, *axes)).reshape(*(x.shape[a] for a in kept), -1)
    if flat.shape[-1] > 1:
        ordered = numpy.sort(flat, axis=-1)
        r.decide(ordered[..., -1] - ordered[..., -2], numpy.argmax(flat, axis=-1))


def largest(r: Any, x: Any, axis: Any, keepdims: bool, sign: int = 1) -> Any:
    """max, or min for sign -1."""
    lone_extreme(r, sign * x, axis)
    return sign * numpy.max(sign * x, axis=axis, keepdims=keepdims)


def logsumexp(r: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """log of the sum of exponentials."""
    return numpy.log(numpy.sum(numpy.exp(x), axis=axis, keepdims=keepdims))


def smooth_reduction(name: str) -> Callable[..., Any]:
    """NumPy's function of this name."""
    function = getattr(numpy, name)
    return lambda r, x, axis, keepdims: function(x, axis=axis, keepdims=keepdims)


AXES = "axis={axis}, keepdims={keepdims}"
for _name in ("sum", "mean", "prod", "var"):
    row(f"reduce_{_name}", f"np.{_name}({{0}}, {AXES})", smooth_reduction(_name), some_axes)
row("reduce_max", f"np.max({{0}}, {AXES})", largest, some_axes)
row("reduce_min", f"np.min({{0}}, {AXES})",
    lambda r, x, axis, keepdims: largest(r, x, axis, keepdims, -1), some_axes)  # fmt: skip
row("logsumexp", f"nl.nn.logsumexp({{0}}, {AXES})", logsumexp, some_axes)


def softmax(r: Any, x: Any, axis: int) -> Any:
    """Normalised exponentials."""
    e = numpy.exp(x)
    return e / numpy.sum(e, axis=axis, keepdims=True)


def arg_extreme(r: Any, x: Any, axis: int) -> Any:
    """Index of the largest."""
    lone_extreme(r, x, axis)
    return numpy.argmax(x, axis=axis)


def order(r: Any, x: Any, axis: int) -> Any:
    """argsort, reporting gaps between neighbours."""
    indices = numpy.argsort(x, axis=axis, kind="stable")
    ordered = numpy.take_along_axis(x, indices, axis)
    r.decide(numpy.diff(ordered, axis=axis), indices)
    return indices


def running_max(r: Any, x: Any, axis: int) -> Any:
    """Cumulative maximum."""
    out = numpy.maximum.accumulate(x, axis=axis)
    order(r, x, axis)
    return out


row("softmax", "nl.nn.softmax({0}, axis={axis})", softmax, one_axis)
row("argmax", "np.argmax({0}, axis={axis})", arg_extreme, one_axis)
row("argsort", "np.argsort({0}, axis={axis})", order, one_axis)
row("sort", "np.sort({0}, axis={axis})",
    lambda r, x, axis: numpy.take_along_axis(x, order(r, x, axis), axis), one_axis)  # fmt: skip
row("cumsum", "np.cumsum({0}, axis={axis})", lambda r, x, axis: numpy.cumsum(x, axis), one_axis)
row("cumprod", "np.cumprod({0}, axis={axis})", lambda r, x, axis: numpy.cumprod(x, axis), one_axis)
row("cummax", "lax.cummax({0}, axis={axis} % {0}.ndim)", running_max, one_axis)
row("cumlogsumexp", "lax.cumlogsumexp({0}, axis={axis} % {0}.ndim, reverse=True)",
    lambda r, x, axis: numpy.flip(numpy.logaddexp.accumulate(numpy.flip(x, axis), axis), axis),
    one_axis)  # fmt: skip
row("diff", "np.diff({0}, axis={axis}, append=0.5)",
    lambda r, x, axis: numpy.diff(x, axis=axis, append=numpy.asarray(0.5, x.dtype)),
    one_axis)  # fmt: skip
row("associative_scan", "lax.associative_scan(np.add, {0}, axis={axis} % {0}.ndim)",
    lambda r, x, axis: numpy.cumsum(x, axis), one_axis)  # fmt: skip


def top(r: Any, x: Any) -> Any:
    """The two largest, descending."""
    order(r, x, -1)
    return -numpy.sort(-x, axis=-1)[..., :2]


def wide_rows(scope: Any) -> Drawn:
    """A float with at least two elements along its last axis."""
    x = scope.pick(lambda t: len(t.shape) > 0 and t.shape[-1] >= 2)
    return None if x is None else ((x,), {})


row("top_k", "lax.top_k({0}, 2)[0]", top, wide_rows)


def window_sum(r: Any, x: Any) -> Any:
    """Sums of neighbouring pairs along the last axis, padded with 0 at the end."""
    return x + numpy.concatenate([x[..., 1:], numpy.zeros_like(x[..., :1])], axis=-1)


row(
    "reduce_window",
    "lax.reduce_window({0}, 0.0, lax.add, (1,) * ({0}.ndim - 1) + (2,), (1,) * {0}.ndim, 'SAME')",
    window_sum,
    wide_rows,
)

# ---- products and linear algebra -------------------------------------------------------------


def matmul_pair(scope: Any) -> Drawn:
    """Two floats that np.matmul accepts."""
    x = scope.pick(lambda t: len(t.shape) > 0)
    if x is None:
        return None
    a = scope.type(x).shape

    def fits(t: Any) -> bool:
        b = t.shape
        if not b or b[-2 if len(b) > 1 else 0] != a[-1]:
            return False
        return broadcasts(a[:-2], b[:-2])

    y = scope.pick(fits)
    return None if y is None else ((x, y), {})


def square(scope: Any) -> Drawn:
    """A float whose last two axes are equal."""
    x = scope.pick(lambda t: len(t.shape) >= 2 and t.shape[-1] == t.shape[-2] <= 4)
    return None if x is None else ((x,), {})


def matrix(scope: Any) -> Drawn:
    """A float of rank >= 2."""
    x = scope.pick(lambda t: len(t.shape) >= 2)
    return None if x is None else ((x,), {})


def vectors(scope: Any) -> Drawn:
    """Two vectors."""
    x = scope.pick(lambda t: len(t.shape) == 1)
    return None if x is None else ((x, scope.pick(lambda t: len(t.shape) == 1)), {})


DOMINANT = "(4 * np.eye({0}.shape[-1], dtype={0}.dtype) + np.tanh({0}))"


def dominant(x: Any) -> Any:
    """A well-conditioned matrix made of `x`."""
    return 4 * numpy.eye(x.shape[-1], dtype=x.dtype) + numpy.tanh(x)


row("matmul", "{0} @ {1}", lambda r, x, y: numpy.matmul(x, y), matmul_pair)
row("outer", "np.outer({0}, {1})", lambda r, x, y: numpy.outer(x, y), vectors)
row("convolve", "np.convolve({0}, {1})", lambda r, x, y: numpy.convolve(x, y), vectors)
row("gram", "np.einsum('...ij,...kj->...ik', {0}, {0})",
    lambda r, x: numpy.einsum("...ij,...kj->...ik", x, x), matrix)  # fmt: skip
row("trace", "np.trace({0}, axis1=-2, axis2=-1)",
    lambda r, x: numpy.trace(x, axis1=-2, axis2=-1), matrix)  # fmt: skip
row("tril", "np.tril({0})", lambda r, x: numpy.tril(x), matrix)
row("inv", f"np.linalg.inv({DOMINANT})", lambda r, x: linalg.inverse(dominant(x)), square)
row("det", f"np.linalg.det({DOMINANT})", lambda r, x: linalg.determinant(dominant(x)), square)
row("cholesky", f"np.linalg.cholesky({DOMINANT} @ np.swapaxes({DOMINANT}, -1, -2))",
    lambda r, x: linalg.cholesky(dominant(x) @ numpy.swapaxes(dominant(x), -1, -2)),
    square)  # fmt: skip
row("solve_triangular",
    f"lax.linalg.triangular_solve({DOMINANT}, {{0}}, left_side=True, lower=True)",
    lambda r, x: linalg.solve(numpy.tril(dominant(x)), x), square)  # fmt: skip
row("fft_real", "np.real(np.fft.fft({0}) * np.exp(-1j))",
    lambda r, x: numpy.real(numpy.fft.fft(x) * numpy.exp(-1j * x.dtype.type(1))),
    wide_rows)  # fmt: skip
row("rfft_parts", "np.imag(np.fft.rfft({0})) + np.real(np.fft.rfft({0}))",
    lambda r, x: numpy.imag(numpy.fft.rfft(x)) + numpy.real(numpy.fft.rfft(x)),
    wide_rows)  # fmt: skip


# ---- moving elements -------------------------------------------------------------------------


def reshaped(scope: Any) -> Drawn:
    """A float and a new shape of the same size."""
    x = scope.pick()
    size = scope.type(x).size
    shapes: list[tuple[int, ...]] = [(-1,), (size, 1), (1, size)]
    shapes += [(k, size // k) for k in (2, 3) if size % k == 0]
    if size == 1:
        shapes.append(())
    return (x,), {"shape": scope.choice(shapes)}


def permuted(scope: Any) -> Drawn:
    """A float and an order of its axes."""
    x = scope.pick(lambda t: len(t.shape) >= 2)
    if x is None:
        return None
    return (x,), {"axes": tuple(scope.permutation(len(scope.type(x).shape)))}


def static_index(scope: Any) -> Any:
    """A float of rank >= 1 and a tuple of ints, slices and None that selects something."""
    x = scope.pick(lambda t: len(t.shape) > 0)
    if x is None:
        return None
    index: list[Any] = []
    for n in scope.type(x).shape:
        kind = scope.integer(0, 4)
        if kind == 0:
            index.append(scope.integer(-n, n - 1))
        elif kind == 1:
            index.append(slice(None, None, -1))
        elif kind == 2:
            index.append(slice(scope.integer(0, n - 1), None))
        elif kind == 3 and n > 1:
            index.append(slice(None, -1))
        else:
            index.append(slice(None))
    if scope.integer(0, 3) == 0:
        index.insert(scope.integer(0, len(index)), None)
    return (x,), {"index": tuple(index)}


def at_update(scope: Any) -> Drawn:
    """A static index and a float that broadcasts to what it selects."""
    drawn = static_index(scope)
    if drawn is None:
        return None
    (x,), options = drawn
    selected = numpy.zeros(scope.type(x).shape)[options["index"]].shape
    y = scope.pick(lambda t: broadcasts(t.shape, selected) and fits_in(t.shape, selected))
    return None if y is None else ((x, y), options)


def fits_in(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether broadcasting with `shape` leaves `into` as it is."""
    return numpy.broadcast_shapes(shape, into) == into


def indexed(scope: Any) -> Drawn:
    """A float of rank >= 1, and an int array to index its first axis with (wrapped into range)."""
    x = scope.pick(lambda t: len(t.shape) > 0)
    i = scope.pick(lambda t: len(t.shape) <= 1, kind="int")
    return None if x is None or i is None else ((x, i), {})


def started(scope: Any) -> Drawn:
    """A float of rank >= 1 and an int scalar as start of a slice."""
    x = scope.pick(lambda t: len(t.shape) > 0 and t.shape[0] >= 2)
    i = scope.pick(lambda t: t.shape == (), kind="int")
    return None if x is None or i is None else ((x, i), {})


def updated(name: str) -> Callable[..., Any]:
    """The NumPy form of `x.at[index].<name>(y)`."""

    def update(r: Any, x: Any, y: Any, index: Any) -> Any:
        out = x.copy()
        if name == "max":
            kink(x[index] - y, r)
            out[index] = numpy.maximum(x[index], y)
        elif name == "set":
            out[index] = y
        elif name == "add":
            out[index] += y
        else:
            out[index] *= y
        return out

    return update


def scatter_add(r: Any, x: Any, i: Any, *, spread: float) -> Any:
    """`x` with `spread` * its first row added at the rows `i` (repeated indices add up)."""
    out = x.copy()
    for k in numpy.ravel(i % x.shape[0]):
        out[k] += spread * x[0]
    return out


def wrapped(i: Any, n: int, last: int) -> int:
    """A start index as dynamic slices take it: negative ones count from the end, then clamped."""
    return min(max(int(i) + n if i < 0 else int(i), 0), last)


def sliced_at(r: Any, x: Any, i: Any) -> Any:
    """One row less than all, from row `i`."""
    start = wrapped(i, len(x), 1)
    return x[start : start + len(x) - 1]


def put_at(r: Any, x: Any, i: Any) -> Any:
    """The sine of the first row written to row `i`."""
    out = x.copy()
    out[wrapped(i, len(x), len(x) - 1)] = numpy.sin(x[0])
    return out


def rank_one(scope: Any) -> Drawn:
    """A vector or matrix."""
    x = scope.pick(lambda t: len(t.shape) in (1, 2))
    return None if x is None else ((x,), {})


def padded_inside(x: Any) -> Any:
    """lax.pad with (1, -1, 1) along each axis: one before, one gap, one less after."""
    for axis in range(x.ndim):
        moved = numpy.moveaxis(x, axis, 0)
        out = numpy.full((2 * moved.shape[0], *moved.shape[1:]), 0.5, x.dtype)
        out[1::2] = moved
        x = numpy.moveaxis(out[:-1], 0, axis)
    return x


row("reshape", "np.reshape({0}, {shape})", lambda r, x, shape: numpy.reshape(x, shape), reshaped)
row("transpose", "np.transpose({0}, {axes})",
    lambda r, x, axes: numpy.transpose(x, axes), permuted)  # fmt: skip
row("index", "{0}[{index}]", lambda r, x, index: x[index], static_index)
for _name in ("set", "add", "multiply", "max"):
    row(f"at_{_name}", f"{{0}}.at[{{index}}].{_name}({{1}})", updated(_name), at_update)
row("gather", "{0}[{1} % {0}.shape[0]]", lambda r, x, i: x[i % x.shape[0]], indexed)
row("take", "np.take({0}, {1}, axis=0, mode='clip')",
    lambda r, x, i: numpy.take(x, i, axis=0, mode="clip"), indexed)  # fmt: skip
row("scatter_add", "{0}.at[{1} % {0}.shape[0]].add(0.5 * {0}[0])",
    lambda r, x, i: scatter_add(r, x, i, spread=0.5), indexed)  # fmt: skip
row("dynamic_slice", "lax.dynamic_slice_in_dim({0}, {1}, {0}.shape[0] - 1, axis=0)",
    sliced_at, started)  # fmt: skip
row("dynamic_update", "lax.dynamic_update_index_in_dim({0}, np.sin({0}[0]), {1}, axis=0)",
    put_at, started)  # fmt: skip
row("flip", "np.flip({0}, axis={axis})", lambda r, x, axis: numpy.flip(x, axis), one_axis)
row("roll", "np.roll({0}, 1, axis={axis})", lambda r, x, axis: numpy.roll(x, 1, axis), one_axis)
row("repeat", "np.repeat({0}, 2, axis={axis})",
    lambda r, x, axis: numpy.repeat(x, 2, axis), one_axis)  # fmt: skip
row("expand_dims", "np.expand_dims({0}, {axis})",
    lambda r, x, axis: numpy.expand_dims(x, axis), one_axis)  # fmt: skip
row("append", "np.concatenate([{0}, np.sin({0})], axis={axis})",
    lambda r, x, axis: numpy.concatenate([x, numpy.sin(x)], axis), one_axis)  # fmt: skip
row("stack", "np.stack([{0}, {0} * 2], axis={axis})",
    lambda r, x, axis: numpy.stack([x, x * 2], axis), one_axis)  # fmt: skip
row("pad", "np.pad({0}, 1, mode='edge')", lambda r, x: numpy.pad(x, 1, mode="edge"), one)
row("pad_inside", "lax.pad({0}, np.array(0.5, {0}.dtype), [(1, -1, 1)] * {0}.ndim)",
    lambda r, x: padded_inside(x), one)  # fmt: skip
row("tile", "np.tile({0}, 2)", lambda r, x: numpy.tile(x, 2), one)
row("broadcast", "np.broadcast_to({0}, (2, *{0}.shape))",
    lambda r, x: numpy.broadcast_to(x, (2, *x.shape)), one)  # fmt: skip
row("diag", "np.diag({0})", lambda r, x: numpy.diag(x), rank_one)
row("arange_mix",
    "{0} * np.reshape(np.arange({0}.shape[0]) * 0.5, (-1,) + (1,) * ({0}.ndim - 1))",
    lambda r, x: x * (numpy.arange(x.shape[0]) * 0.5).reshape(-1, *[1] * (x.ndim - 1)),
    ranked)  # fmt: skip
row("join", "np.concatenate([np.ravel({0}), np.ravel({1})])",
    lambda r, x, y: numpy.concatenate([numpy.ravel(x), numpy.ravel(y)]),
    lambda scope: ((scope.pick(), scope.pick()), {}))  # fmt: skip


# ---- made by the generator where a value of a given type is needed -----------------------------


def never(scope: Any) -> Drawn:
    """Not drawn at random."""
    return None


row("mix", "0.5 * {0} + np.sin({1})", lambda r, x, y: 0.5 * x + numpy.sin(y), never)
row("spread", "np.broadcast_to(np.sum(np.sin({0})), {shape})",
    lambda r, x, shape: numpy.broadcast_to(numpy.sum(numpy.sin(x)), shape), never)  # fmt: skip
row("full_int", "np.full({shape}, 1)", lambda r, shape: numpy.full(shape, 1), never)
row("full_bool", "np.full({shape}, True)", lambda r, shape: numpy.full(shape, True), never)
row("int_step", "{0} + 1", lambda r, x: x + 1, never)
row("bool_step", "~{0}", lambda r, x: ~x, never)
row("int_scale", "(1 + {0} % 2) * {1}", lambda r, i, x: (1 + i % 2) * x, never)
DRAWN = tuple(name for name, operation in OPERATIONS.items() if operation.draw is not never)
