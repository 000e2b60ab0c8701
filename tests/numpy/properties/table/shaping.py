"""Functions that move elements: shapes, joining, splitting, padding, indices, sorting, sets."""

from __future__ import annotations

from typing import Any

import numpy

from tests.numpy.properties.drawing import Call, Draw, call
from tests.numpy.properties.rows import Table, rows

TABLE: Table = {}
MOVES: Any = {"smooth": True}


def one(*others: Any, kinds: str = "fiubc", rank: int = 0, shapes: Any = None) -> Any:
    """Rows draw an operand and others by functions of (d, x)."""

    def draw(d: Draw) -> Call:
        shape = d.pick(shapes) if shapes else d.shape(rank=rank)
        x = d.array(kinds, shape)
        return call(x, *[other(d, x) for other in others])

    return draw


def axis(d: Draw, x: Any) -> int:
    return d.axis(x)


def some(*values: Any) -> Any:
    """One of these."""
    return lambda d, x: d.pick(values)


def draw_reshape(d: Draw) -> Call:
    x = d.array()
    shape: Any = d.pick([(-1,), x.shape[::-1], (1, x.size), x.size, (x.size, 1, -1), (2, -1)])
    if d.wrong():
        shape = d.pick([(-1, -1), (7,), (-2, 3), 1.5])
    return call(x, shape, **d.options(order=["F", "C"]))


def draw_transpose(d: Draw) -> Call:
    x = d.array()
    order = list(numpy.random.default_rng(d.integer(0, 9)).permutation(x.ndim))
    order = [int(a) - x.ndim * d.flag() for a in order] + [0] * d.wrong()
    return call(x, order) if d.flag() else call(x)


def draw_permute_dims(d: Draw) -> Call:
    c = draw_transpose(d)
    return c if len(c.args) == 2 else call(*c.args, tuple(range(c.args[0].ndim)))


def draw_expand_dims(d: Draw) -> Call:
    x = d.array()
    return call(
        x, d.pick([0, -1, (0, -1), (1, 0), x.ndim, x.ndim + d.wrong(), (0, 0)[: 1 + d.wrong()]])
    )


def draw_squeeze(d: Draw) -> Call:
    x = d.array(shape=d.pick([(1, 3), (4, 1, 2), (3,), (), (1,)]))
    return call(x, **d.options(axis=[d.axes(x), 0, -2]))


def draw_moveaxis(d: Draw) -> Call:
    x = d.array()
    if x.ndim == 3 and d.flag():
        return call(x, (0, d.pick([1, -1, 0])), (-1, 0))
    return call(x, d.axis(x), d.axis(x))


def draw_roll(d: Draw) -> Call:
    x = d.array()
    how = d.integer(0, 2)
    if how == 0 or not x.ndim:
        return call(x, d.pick([1, -2, 0, 7]))
    if how == 1:
        return call(x, d.pick([1, -2, 5]), d.axis(x))
    return call(x, (1, -1), (0, d.axis(x)))


def draw_flip(d: Draw) -> Call:
    x = d.array()
    return call(x, d.axes(x)) if d.flag() else call(x)


def draw_repeat(d: Draw) -> Call:
    x = d.array()
    repeats = d.pick([2, 0, 1, -1 if d.wrong() else 3])
    if x.shape == (3,) and d.flag():
        return call(x, [1, 0, 2], 0)
    return call(x, repeats, **d.options(axis=[d.axis(x)]))


def draw_pad(d: Draw) -> Call:
    x = d.array("fic", d.shape(rank=1), special=False)
    modes = "constant edge reflect symmetric wrap maximum mean minimum linear_ramp empty"
    mode = d.pick([m for m in modes.split() if m != "empty"])
    width = d.pick([1, (1, 2), 0, ((1, 0),) * x.ndim])
    words = d.options(constant_values=[2]) if mode == "constant" else {}
    return call(x, -1 if d.wrong() else width, mode, **words)


def parts(d: Draw, shapes: Any) -> list[Any]:
    dtype = d.dtype("fiubc")
    return [d.array(shape=s, dtype=dtype if not d.chance(5) else None) for s in d.pick(shapes)]


JOINED = [
    ((3,), (3,)),
    ((2, 3), (1, 3)),
    ((0,), (3,)),
    ((2, 3), (2, 3)),
    ((3,),),
    ((2, 0, 3), (2, 0, 3)),
    ((3,), (2, 3)),
    ((), ()),
    (),
]


def draw_concatenate(d: Draw) -> Call:
    xs = parts(d, JOINED)
    return call(xs, **d.options(axis=[None, 0, d.axis(xs[0]) if xs else 0]))


def draw_stack(d: Draw) -> Call:
    xs = parts(d, JOINED)
    rank = xs[0].ndim if xs else 0
    return call(xs, **d.options(axis=[0, -1, rank, -rank - 1, rank + d.wrong()]))


def draw_append(d: Draw) -> Call:
    x, y = (parts(d, [s for s in JOINED if len(s) == 2]))[:2]
    return call(x, y, **d.options(axis=[0, -1]))


def draw_block(d: Draw) -> Call:
    x, y = (d.array("f", (2, 3)) for _ in range(2))
    return call(d.pick([[x, y], [[x], [y]], [[x, y], [y, x]], x, [[x], y]]))


def draw_split(d: Draw) -> Call:
    x = d.array(shape=d.pick([(3,), (4, 1, 2), (2, 3), (4,), ()]))
    sections = d.pick([2, 3, 1, [1], [1, 2], [5, 2], 0 if d.wrong() else 4])
    return call(x, sections, **d.options(axis=[d.axis(x)]))


def split_one(d: Draw) -> Call:
    c = draw_split(d)
    return call(*c.args)


TABLE |= rows("reshape", draw_reshape, **MOVES)
TABLE |= rows("ravel", lambda d: call(d.array(), **d.options(order=["F", "C"])), **MOVES)
TABLE |= rows("transpose", draw_transpose, **MOVES)
TABLE |= rows("permute_dims", draw_permute_dims, **MOVES)
TABLE |= rows("matrix_transpose fliplr flipud sort_complex", one(kinds="fic"), **MOVES)
TABLE |= rows("expand_dims", draw_expand_dims, **MOVES)
TABLE |= rows("squeeze", draw_squeeze, **MOVES)
TABLE |= rows("moveaxis", draw_moveaxis, **MOVES)
TABLE |= rows("swapaxes", one(axis, axis), **MOVES)
TABLE |= rows("rollaxis", one(axis, some(0, 1, -1)), **MOVES)
TABLE |= rows("roll", draw_roll, **MOVES)
TABLE |= rows("flip", draw_flip, **MOVES)
TABLE |= rows("rot90", one(some(1, 2, -1, 0, 5)), **MOVES)
TABLE |= rows("repeat", draw_repeat, **MOVES)
TABLE |= rows("tile", one(some(2, (2, 1), (1, 2, 2), 0, (), -1)), **MOVES)
TABLE |= rows("pad", draw_pad, zeros=False, scaled=True, **MOVES)
TABLE |= rows("resize", one(some((2, 3), 5, (0,), (), -1)), **MOVES)
TABLE |= rows("atleast_1d atleast_2d atleast_3d", one(), **MOVES)
TABLE |= rows("broadcast_to", one(some((2, 3), (4, 2, 3), (3,), 3, (2, 0, 3), (-1, 3))), **MOVES)
TABLE |= rows("broadcast_arrays", lambda d: call(*d.operands()), **MOVES)
TABLE |= rows("broadcast_shapes", lambda d: call(*d.pair()), jit=False)
TABLE |= rows("concatenate concat", draw_concatenate, **MOVES)
TABLE |= rows("stack", draw_stack, **MOVES)
TABLE |= rows("vstack hstack dstack column_stack", lambda d: call(parts(d, JOINED)), **MOVES)
TABLE |= rows("append", draw_append, **MOVES)
TABLE |= rows("block", draw_block, **MOVES)
TABLE |= rows("split array_split", draw_split, **MOVES)
TABLE |= rows("hsplit vsplit dsplit", split_one, **MOVES)
TABLE |= rows(
    "unstack", lambda d: (lambda x: call(x, **d.options(axis=[d.axis(x)])))(d.array()), **MOVES
)
TABLE |= rows(
    "diag diagflat", one(some(0, 1, -1, 4), shapes=[(3,), (2, 3), (), (0,), (4, 1, 2)]), **MOVES
)
TABLE |= rows("tril triu", one(some(0, 1, -1, 4)), **MOVES)
TABLE |= rows(
    "tril_indices_from triu_indices_from", one(some(0, 1, -1), shapes=[(2, 3), (3, 3), (3,)])
)
TABLE |= rows("diag_indices_from", one(shapes=[(3, 3), (2, 3), (3,), (2, 2, 2)]))


def draw_vander(d: Draw) -> Call:
    return call(
        d.array("fic", d.pick([(3,), (2, 3)]), special=False),
        **d.options(N=[2, 0], increasing=[True]),
    )


def draw_meshgrid(d: Draw) -> Call:
    xs = [d.array("fi", s) for s in d.pick([((3,), (2,)), ((3,),), ((), (3,)), ((2,), (3,), (2,))])]
    return call(*xs, **d.options(sparse=[True], indexing=["ij", "xy", "no"]))


TABLE |= rows("vander", draw_vander, scaled=True, zeros=False, narrow=False, **MOVES)
TABLE |= rows("meshgrid", draw_meshgrid, own_dtype="each operand keeps its own", **MOVES)
TABLE |= rows("ix_", lambda d: call(d.array("ib", (3,)), d.array("i", (2,))), jit=False)


# Indices.


def index_array(d: Draw, shape: Any, size: int, wrong: bool = True) -> Any:
    """Indices below `size` of any integer dtype, also narrow ones, rarely out of bounds."""
    dtype = d.pick(["int32", "uint8", "int8", "int64"])
    low = 0 if dtype[0] == "u" else -size
    rng = numpy.random.default_rng(d.integer(0, 99))
    past = 1 if wrong and d.wrong() else 0
    return numpy.asarray(rng.integers(low - past * (low < 0), size + past or 1, shape)).astype(
        dtype
    )


def draw_take(d: Draw) -> Call:
    x = d.array(shape=d.pick([(3,), (2, 3), (4, 1, 2), (), (300,)]))
    where = d.axis(x) if x.ndim and d.flag() else None
    if where is not None and not -x.ndim <= where < x.ndim:
        return call(x, 0, where)
    size = x.size if where is None else x.shape[where]
    kwargs = {} if where is None else {"axis": where}
    modes = d.options(mode=["clip", "wrap"])
    index = index_array(d, d.pick([(), (2,), (2, 2), (0,)]), min(size, 127))
    return call(x, index, **kwargs, **modes)


def draw_take_along_axis(d: Draw) -> Call:
    x = d.array(shape=d.pick([(3,), (2, 3), (4, 1, 2)]))
    where = d.axis(x)
    if not -x.ndim <= where < x.ndim:
        return call(x, numpy.zeros(x.shape, "int32"), where)
    shape = list(x.shape)
    shape[where] = d.pick([1, 2])
    return call(x, index_array(d, tuple(shape), x.shape[where]), where)


def draw_compress(d: Draw) -> Call:
    x = d.array(shape=d.pick([(3,), (2, 3)]))
    return call(d.array("b", (d.pick([3, 2]),)), x, **d.options(axis=[d.axis(x)]))


def draw_delete(d: Draw) -> Call:
    x = d.array(shape=d.pick([(3,), (2, 3)]))
    which = d.pick([0, -1, [0, 1], slice(0, 2), slice(None, None, 2), 9 if d.wrong() else 1])
    return call(x, which, **d.options(axis=[d.axis(x)]))


def draw_insert(d: Draw) -> Call:
    x = d.array(shape=d.pick([(3,), (2, 3)]))
    return call(
        x, d.pick([0, -1, 1, [0, 1], 9 if d.wrong() else 2]), 5, **d.options(axis=[d.axis(x)])
    )


def draw_searchsorted(d: Draw) -> Call:
    x = numpy.sort(d.array("fi", (3,)))
    y = d.array("fi", dtype=x.dtype.name if not d.chance(4) else None)
    return call(x, y, **d.options(side=["right", "left", "up" if d.wrong() else "right"]))


def draw_unravel_index(d: Draw) -> Call:
    return call(index_array(d, d.pick([(), (2,)]), 6), d.pick([(2, 3), (6,), (2, 1, 3)]))


def draw_ravel_multi_index(d: Draw) -> Call:
    rows_, columns = (
        numpy.abs(index_array(d, (3,), n, wrong=False)).astype("int32") % n for n in (2, 3)
    )
    if d.wrong():
        rows_ = rows_ + 5
    return call((rows_, columns), (2, 3), **d.options(mode=["clip", "wrap"], order=["F"]))


TABLE |= rows("take", draw_take, jit=False, **MOVES)
TABLE |= rows("take_along_axis", draw_take_along_axis, jit=False, **MOVES)
TABLE |= rows("compress", draw_compress, jit=False, **MOVES)
TABLE |= rows("extract", lambda d: call(d.array("b", (3,)), d.array(shape=(3,))), jit=False)
TABLE |= rows("delete", draw_delete, **MOVES)
TABLE |= rows("insert", draw_insert, **MOVES)
TABLE |= rows("searchsorted", draw_searchsorted, narrow=False)
OWN = "the dtype of the indices"
TABLE |= rows("unravel_index", draw_unravel_index, jit=False, own_dtype=OWN)
TABLE |= rows("ravel_multi_index", draw_ravel_multi_index, jit=False, own_dtype=OWN)
TABLE |= rows("nonzero flatnonzero argwhere", one(), jit=False)


# Sorting and sets.


def sorted_along(**choices: Any) -> Any:
    """Rows draw an operand and perhaps an axis."""

    def draw(d: Draw) -> Call:
        x = d.array("fiubc")
        return call(x, **d.options(axis=[None, d.axis(x)], **choices))

    return draw


def draw_partition(d: Draw) -> Call:
    x = d.array("fiu", d.shape(rank=1))
    return call(x, d.pick([0, -1, 2, 9 if d.wrong() else 0]), **d.options(axis=[d.axis(x)]))


def draw_lexsort(d: Draw) -> Call:
    shape = d.pick([(3,), (2, 3)])
    return call(
        tuple(d.array("fi", shape, special=False) for _ in range(2)), **d.options(axis=[0, -1, 5])
    )


def draw_unique(d: Draw) -> Call:
    x = d.array("fiub")
    return call(
        x,
        **d.options(
            return_index=[True],
            return_inverse=[True],
            return_counts=[True],
            axis=[None, d.axis(x)],
            equal_nan=[False],
        ),
    )


def draw_sets(d: Draw) -> Call:
    dtype = d.dtype("fiu")
    return call(*(d.array(shape=d.pick([(3,), (2, 3), (0,)]), dtype=dtype) for _ in range(2)))


def draw_isin(d: Draw) -> Call:
    return call(
        d.array("fiu"), d.array("fiu", d.pick([(3,), (0,), ()])), **d.options(invert=[True])
    )


def draw_trim_zeros(d: Draw) -> Call:
    return call(
        d.array("fi", d.pick([(3,), (0,), (4,)]), special=False), **d.options(trim=["f", "b", "fb"])
    )


def check_partition(x: Any, kth: Any, axis: Any = -1) -> Any:
    """NumPy's order inside the parts is not specified: sort gives one of the allowed orders."""
    numpy.partition(x, kth, axis=axis)
    return numpy.sort(x, axis=axis)


TABLE |= rows("partition", draw_partition, reference=check_partition, zeros=False, **MOVES)
KINDS = ["quicksort", "stable", "heapsort", "mergesort"]
TABLE |= rows("sort", sorted_along(kind=KINDS), zeros=False, **MOVES)
TABLE |= rows(
    "argsort",
    sorted_along(kind=["stable"]),
    as_numpy=lambda c: call(*c.args, **(c.kwargs | {"kind": "stable"})),
)
TABLE |= rows("lexsort", draw_lexsort)
TABLE |= rows("unique", draw_unique, jit=False, zeros=False)
TABLE |= rows(
    "unique_values",
    lambda d: call(d.array("fiub")),
    jit=False,
    zeros=False,
    reference=lambda x: numpy.sort(numpy.unique_values(x)),
)
TABLE |= rows(
    "unique_all unique_counts unique_inverse",
    lambda d: call(d.array("fiub")),
    jit=False,
    zeros=False,
)
TABLE |= rows("union1d intersect1d setdiff1d setxor1d", draw_sets, jit=False, zeros=False)
TABLE |= rows("isin", draw_isin, narrow=False)
TABLE |= rows("trim_zeros", draw_trim_zeros, jit=False)
TABLE |= rows(
    "packbits",
    lambda d: (lambda x: call(x, **d.options(axis=[d.axis(x)], bitorder=["little"])))(
        d.array("bu", special=False, dtype=d.pick(["uint8", "bool"]))
    ),
)
TABLE |= rows(
    "unpackbits",
    lambda d: (
        lambda x: call(x, **d.options(axis=[d.axis(x)], bitorder=["little"], count=[5, -2]))
    )(d.array("u", dtype="uint8")),
)
