"""Reductions, cumulative functions, statistics, products."""

from __future__ import annotations

from typing import Any

import numpy

from tests.numpy.properties.drawing import Call, Draw, call
from tests.numpy.properties.rows import Table, but, rows


def reduction(kinds: str = "fiubc", special: bool = True, rank: int = 0, **choices: Any) -> Any:
    """Rows draw an operand, axes, keepdims and the options given."""

    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.shape(rank=rank), special=special)
        words = d.options(axis=[d.axes(x)], keepdims=[True], **choices)
        if d.smooth:
            words.pop("dtype", None)
        if "where" in words:
            words["where"] = d.array("b", x.shape)
        return call(x, **words)

    return draw


def along(kinds: str = "fiubc", special: bool = True, **choices: Any) -> Any:
    """Rows draw an operand, perhaps one axis, and the options given."""

    def draw(d: Draw) -> Call:
        x = d.array(kinds, special=special)
        return call(x, **d.options(axis=[None, d.axis(x)], **choices))

    return draw


DTYPE = {"dtype": ["float32", "int32"]}
EASY: Any = {"smooth": True, "scaled": True, "zeros": False}
TABLE: Table = {}
TABLE |= rows("sum", reduction(initial=[2], where=[0], **DTYPE), **EASY)
TABLE |= rows("prod nansum nanprod", reduction(initial=[2], where=[0]), **EASY)
TABLE |= rows("mean nanmean", reduction(where=[0], **DTYPE), **EASY)
TABLE |= rows(
    "max min nanmax nanmin", reduction("fiub", initial=[2], where=[0]), smooth=True, zeros=False
)
TABLE |= rows("amax amin ptp", reduction("fiu"), smooth=True, zeros=False)
TABLE |= rows("all any", reduction(where=[0]))
TABLE |= rows("count_nonzero", reduction())
TABLE |= rows(
    "var std nanvar nanstd",
    reduction("fiubc", special=False, ddof=[1, 0, 0.5]),
    tolerance=4,
    **EASY,
)
but(TABLE, "std nanstd", steep=True)
TABLE |= rows("median nanmedian", reduction("fiu", special=False), **EASY)
TABLE |= rows("cumsum cumprod nancumsum nancumprod", along(), **EASY)


def draw_cumulative(d: Draw) -> Call:
    x = d.array("fiubc")
    return call(x, **d.options(axis=[d.axis(x)], include_initial=[True]))


TABLE |= rows("cumulative_sum cumulative_prod", draw_cumulative, **EASY)
METHODS = ["linear", "lower", "higher", "nearest", "midpoint"]


def draw_quantile(scale: float) -> Any:
    """Rows draw an operand, one or more places, axes and a method."""

    def draw(d: Draw) -> Call:
        x = d.array("fi", special=False)
        q = d.pick([0.5, 0.25, numpy.array([0.1, 0.75]), numpy.array([[1.0, 0.0]])]) * scale
        if d.wrong():
            q = 1.5 * scale
        if d.smooth:
            q = float(numpy.ravel(q)[0] * 0.97 + 0.011 * scale)
        return call(x, q, **d.options(axis=[d.axes(x)], keepdims=[True], method=METHODS))

    return draw


OWN = "always a float"
TABLE |= rows("quantile nanquantile", draw_quantile(1.0), narrow=False, own_dtype=OWN, **EASY)
TABLE |= rows("percentile nanpercentile", draw_quantile(100.0), narrow=False, own_dtype=OWN, **EASY)


def draw_arg(d: Draw) -> Call:
    x = d.array("fiub")
    return call(x, **d.options(axis=[None, d.axis(x)], keepdims=[True]))


TABLE |= rows("argmax argmin nanargmax nanargmin", draw_arg)


def draw_average(d: Draw) -> Call:
    x = d.array("fi", special=False)
    words = d.options(axis=[None, d.axis(x)], keepdims=[True])
    if d.flag():
        words["weights"] = d.array("fi", x.shape, low=1, special=False)
    return call(x, **words)


def draw_cov(d: Draw) -> Call:
    x = d.array("fic", d.pick([(2, 3), (3,), (1, 3)]), special=False)
    words = d.options(rowvar=[False], bias=[True], ddof=[0])
    if d.chance(3):
        words["y"] = d.array("f", x.shape, special=False)
    return call(x, **words)


def draw_corrcoef(d: Draw) -> Call:
    rng = numpy.random.default_rng(d.integer(0, 99))
    return call(rng.standard_normal((2, 3)).astype(d.dtype("f")), **d.options(rowvar=[False]))


TABLE |= rows("average", draw_average, **EASY)
TABLE |= rows("cov", draw_cov, narrow=False, **EASY)
TABLE |= rows("corrcoef", draw_corrcoef, narrow=False, tolerance=5, **EASY)


def draw_diff(d: Draw) -> Call:
    x = d.array("fiuc", special=False)
    words = d.options(n=[1, 2, 0, -1 if not d.smooth else 1], axis=[d.axis(x)])
    if x.ndim == 1 and d.flag():
        words |= d.options(prepend=[d.array("f", (3,), special=False)], append=[0])
    return call(x, **words)


def draw_gradient(d: Draw) -> Call:
    x = d.array("f", d.pick([(3,), (4, 3), (2, 3)]), special=False)
    step = d.pick([[], [2.0], [numpy.array([0.0, 1.0, 3.0])]]) if x.shape == (3,) else []
    return call(x, *step, **d.options(edge_order=[2], axis=[d.axis(x)]))


def draw_trapezoid(d: Draw) -> Call:
    y = d.array("fic", d.shape(rank=1), special=False)
    words = d.options(dx=[0.5], axis=[d.axis(y)])
    if d.flag() and "axis" not in words:
        words["x"] = d.array("f", y.shape, special=False)
    return call(y, **words)


TABLE |= rows("diff", draw_diff, **EASY)
TABLE |= rows("gradient", draw_gradient, narrow=False, **EASY)
TABLE |= rows("trapezoid", draw_trapezoid, **EASY)
TABLE |= rows("ediff1d", lambda d: call(d.array("fi", special=False)), **EASY)
VECTORS = [((3,), (3,)), ((3,), (2,)), ((2,), (3,)), ((0,), (3,))]
MATRICES = [
    ((2, 3), (3, 2)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((3,), (3,)),
    ((4, 2, 3), (3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((2, 3), (2, 3)),
    ((), (3,)),
    ((2, 1, 3), (1, 3, 2)),
]


def product(kinds: str, shapes: Any, **choices: Any) -> Any:
    """Rows draw two operands with one of these pairs of shapes."""

    def draw(d: Draw) -> Call:
        first, second = d.pick(shapes)
        x = d.array(kinds, first, special=False)
        same = x.dtype.name if not d.chance(4) else None
        y = d.array(kinds, second, dtype=same, special=False)
        return call(x, y, **d.options(**choices))

    return draw


TABLE |= rows("matmul dot inner outer kron", product("fiubc", MATRICES), **EASY)
TABLE |= rows("vdot", product("fic", [((3,), (3,)), ((2, 3), (3, 2)), ((2, 3), (3,))]), **EASY)
TABLE |= rows("vecdot", product("fic", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (2, 2))]), **EASY)
TABLE |= rows("matvec", product("fic", [((2, 3), (3,)), ((4, 2, 3), (4, 3)), ((3,), (3,))]), **EASY)
TABLE |= rows("vecmat", product("fic", [((2,), (2, 3)), ((4, 2), (4, 2, 3)), ((3,), (3,))]), **EASY)
TABLE |= rows(
    "cross", product("fi", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (2, 3)), ((4,), (4,))]), **EASY
)
TABLE |= rows(
    "convolve correlate", product("fic", VECTORS, mode=["full", "same", "valid", "odd"]), **EASY
)
TABLE |= rows(
    "tensordot",
    product(
        "fic",
        [((2, 3), (3, 2)), ((4, 2, 3), (2, 3))],
        axes=[1, 0, 2, ([1], [0]), ([0, -1], [1, 0])],
    ),
    **EASY,
)
TABLE |= rows("polyadd polysub polymul", product("fic", VECTORS[:3]), narrow=False, **EASY)


def draw_einsum(d: Draw) -> Call:
    spec, shapes = d.pick(
        [
            ("ij,jk->ik", ((2, 3), (3, 2))),
            ("ii->i", ((3, 3),)),
            ("ij->", ((2, 3),)),
            ("ij,jk", ((2, 3), (2, 3))),
            ("...i,...i->...", ((2, 3), (3,))),
            ("ij->ji", ((2, 3),)),
            ("i,j,k->ijk", ((2,), (3,), (2,))),
            ("ii", ((2, 3),)),
            ("ij->k", ((2, 3),)),
        ]
    )
    return call(spec, *[d.array("fic", s, special=False) for s in shapes])


TABLE |= rows("einsum", draw_einsum, **EASY)


def draw_trace(d: Draw) -> Call:
    x = d.array("fiuc", d.shape(rank=0 if d.wrong() else 2), special=False)
    words = d.options(offset=[1, -1, 5, 0])
    if x.ndim == 3 and d.flag():
        words |= {"axis1": d.axis(x), "axis2": d.axis(x)}
    return call(x, **words)


TABLE |= rows("trace", draw_trace, **EASY)
TABLE |= rows("diagonal", draw_trace, smooth=True)


def draw_interp(d: Draw) -> Call:
    places = numpy.array([-1.0, 0.5, 2.0], d.dtype("f"))
    words = d.options(left=[-9.0], right=[9.0], period=[4.0])
    return call(d.array("f", special=False), places, d.array("f", (3,), special=False), **words)


TABLE |= rows("interp", draw_interp, narrow=False, own_dtype="NumPy always gives float64", **EASY)


def draw_bins(d: Draw) -> dict[str, Any]:
    words = d.options(density=[True], range=[(-2.0, 2.0), (0, 1)])
    if d.flag():
        words["bins"] = d.pick([3, numpy.array([-2.0, 0.0, 1.0, 3.0], "float32")])
    return words


def spread(d: Draw, shape: Any) -> Any:
    """Numbers that are no edges of bins."""
    rng = numpy.random.default_rng(d.integer(0, 99))
    return rng.standard_normal(shape).astype(d.dtype("f"))


def draw_histogram(d: Draw) -> Call:
    x = spread(d, d.shape()) if d.flag() else d.array("i", special=False)
    words = draw_bins(d)
    if d.chance(3):
        words["weights"] = d.array("f", x.shape, low=0, special=False)
    return call(x, **words)


def draw_edges(d: Draw) -> Call:
    words = draw_bins(d)
    words.pop("density", None)
    return call(d.array("fi", special=False), **words)


def draw_histogram2d(d: Draw) -> Call:
    x, y = (spread(d, (3,)) for _ in range(2))
    return call(x, y, **d.options(bins=[3, (2, 3)], density=[True]))


def draw_histogramdd(d: Draw) -> Call:
    return call(spread(d, (4, 2)), **d.options(bins=[3, (2, 3)], density=[True]))


HISTOGRAM: Any = {"own_dtype": "floats here, counts in NumPy", "narrow": False, "scaled": True}
TABLE |= rows("histogram", draw_histogram, zeros=False, **HISTOGRAM)
TABLE |= rows("histogram2d", draw_histogram2d, zeros=False, **HISTOGRAM)
TABLE |= rows("histogramdd", draw_histogramdd, zeros=False, **HISTOGRAM)
TABLE |= rows("histogram_bin_edges", draw_edges, zeros=False, **HISTOGRAM)


def draw_bincount(d: Draw) -> Call:
    x = d.array("iu", (3,), low=-1 if d.wrong() else 0, special=False)
    words = d.options(minlength=[5, 0])
    if d.flag():
        words["weights"] = d.array("f", (3,), special=False)
    return call(x, **words)


def draw_digitize(d: Draw) -> Call:
    bins = numpy.array([-1.0, 0.0, 2.0], d.dtype("f"))
    return call(d.array("fi"), bins[:: d.pick([1, -1])], **d.options(right=[True]))


TABLE |= rows("bincount", draw_bincount, jit=False, **EASY | {"smooth": False})
TABLE |= rows("digitize", draw_digitize, narrow=False)

but(TABLE, "convolve correlate polymul", own_dtype="integers are convolved as floats")
