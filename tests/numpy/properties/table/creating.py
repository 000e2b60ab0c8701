"""Functions that make arrays, windows, polynomials, and questions about dtypes."""

from __future__ import annotations

from typing import Any

import numpy

from tests.numpy.properties.drawing import Call, Draw, call
from tests.numpy.properties.rows import Table, rows

TABLE: Table = {}
SHAPES: tuple[Any, ...] = ((2, 3), 3, (), (0,), [2, 1], -1, (2, -3))
DTYPES = ["float32", "int32", "bool", "complex64", "uint8", "float16"]
STATIC: Any = {"jit": False}


def made(*choices: Any, **words: Any) -> Any:
    """Rows draw one value of each of the choices."""
    return lambda d: call(*[d.pick(c) for c in choices], **d.options(**words))


TABLE |= rows("zeros ones", made(SHAPES, dtype=DTYPES), **STATIC)
TABLE |= rows(
    "empty",
    made(SHAPES, dtype=DTYPES),
    reference=lambda s, dtype=float: numpy.zeros(s, dtype),
    **STATIC,
)
TABLE |= rows(
    "empty_like",
    lambda d: call(d.array(), **d.options(dtype=["int32"])),
    reference=numpy.zeros_like,
)
TABLE |= rows(
    "full", made(SHAPES, [1, 2.5, True, -1, 1j], dtype=["float32", "complex64"]), **STATIC
)
TABLE |= rows("eye", made([3, 0, 2], [None, 2, 4], [0, 1, -1, 7], dtype=DTYPES), **STATIC)
TABLE |= rows(
    "tri", made([3, 0, 2], [None, 2, 4], [0, 1, -1, 7], dtype=DTYPES), own_dtype="", **STATIC
)
TABLE |= rows("identity", made([3, 0, 1], dtype=DTYPES), **STATIC)
TABLE |= rows(
    "arange", made([0, 1, 2.5, -3], [5, -4, 2.5, 0], [1, -1, 2, 0.5, 0]), scaled=True, **STATIC
)
NUMBERS = [0, 1, -2.5, 3.0, 2 + 1j]
ARRAYS = [numpy.array([1.0, 2.0], "float32"), numpy.array([[1.0], [3.0]], "float32")]
SPACED: Any = {"num": [4, 1, 0, -1], "endpoint": [False], "axis": [0, -1]}
TABLE |= rows(
    "linspace",
    made(NUMBERS + ARRAYS, NUMBERS + ARRAYS, retstep=[True], **SPACED),
    scaled=True,
    zeros=False,
)
TABLE |= rows(
    "logspace",
    made([0, 1, -1.5, *ARRAYS], [2, 0.5, *ARRAYS], base=[2.0, 3.0], **SPACED),
    scaled=True,
)
TABLE |= rows("geomspace", made([1, 8.0, 0.5, *ARRAYS], [2, 100.0, *ARRAYS], **SPACED), scaled=True)
TABLE |= rows(
    "bartlett blackman hamming hanning",
    made([5, 4, 1, 0, -2]),
    scaled=True,
    zeros=False,
    tolerance=3,
    **STATIC,
)
TABLE |= rows("kaiser", made([5, 4, 1, 0, -2], [0.0, 5.0, 14]), scaled=True, **STATIC)
TABLE |= rows("tril_indices triu_indices", made([3, 0, 2], [0, 1, -1], [None, 2, 4]), **STATIC)
TABLE |= rows("diag_indices", made([3, 0, 1], [2, 1, 3]), **STATIC)
TABLE |= rows(
    "mask_indices", lambda d: call(d.pick([3, 2]), numpy.triu, **d.options(k=[1, -1])), **STATIC
)
TABLE |= rows(
    "indices", made([(2, 3), (), (0, 2), (3,)], sparse=[True], dtype=["int32", "float32"]), **STATIC
)
TABLE |= rows("fft.fftfreq fft.rfftfreq", made([5, 4, 1], d=[0.5, 2.0]), scaled=True, **STATIC)
KINDS = ["float32", "int8", "uint8", "complex64", "bool", "float16", "int32", "float64", "int64"]
TABLE |= rows(
    "can_cast",
    made(KINDS, KINDS, casting=["safe", "same_kind", "unsafe", "equiv", "no", "odd"]),
    **STATIC,
)
TABLE |= rows(
    "issubdtype", made(KINDS, [numpy.floating, numpy.integer, numpy.number, "float32"]), **STATIC
)
TABLE |= rows(
    "isdtype",
    made(
        [numpy.dtype(k) for k in KINDS],
        ["integral", "real floating", "bool", ("numeric", "bool"), "odd"],
    ),
    **STATIC,
)
TABLE |= rows(
    "fromfunction",
    lambda d: call(
        lambda i, j: i * 10 + j,
        d.pick([(2, 3), (0, 3), (1, 1)]),
        dtype=d.pick(["int32", "float32"]),
    ),
    **STATIC,
)
TABLE |= rows(
    "fromiter",
    lambda d: call(
        d.pick([[1, 2, 3], [], [1.5]]), d.pick(["float32", "int32"]), **d.options(count=[1, -1, 9])
    ),
    own_dtype="an argument by position",
    **STATIC,
)
TABLE |= rows(
    "frombuffer",
    lambda d: call(
        bytes(range(d.pick([8, 7, 0]))),
        **d.options(dtype=["uint8", "int32"], count=[1, 9], offset=[4, 1, 9]),
    ),
    **STATIC,
)
TABLE |= rows(
    "fromstring",
    lambda d: call(
        d.pick(["1 2 3", "1.5 2", ""]), sep=" ", **d.options(dtype=["float32"], count=[1])
    ),
    **STATIC,
)


# Polynomials.


def coefficients(d: Draw, n: int | None = None) -> Any:
    return d.array("fi", (d.pick([3, 2, 1]) if n is None else n,), special=False)


def draw_polydiv(d: Draw) -> Call:
    u = d.array("f", (4,), special=False)
    v = d.array("f", (d.pick([2, 3]),), low=1, dtype=u.dtype.name, special=False)
    return call(u, v)


def whole_remainder(pair: Any) -> Any:
    """NumPy cuts leading zeros off the remainder."""
    quotient, rest = map(numpy.asarray, pair)
    return quotient, numpy.pad(rest, (4 - len(rest), 0))


def draw_polyfit(d: Draw) -> Call:
    x = numpy.array([-1.0, 0.0, 0.5, 2.0], d.dtype("f"))
    y = d.array("f", d.pick([(4,), (4, 2)]), special=False)
    return call(x, y, d.pick([1, 2, 0, -1]), **d.options(w=[numpy.array([1, 2, 1, 3], "float32")]))


def draw_polyint(d: Draw) -> Call:
    return call(coefficients(d), **d.options(m=[1, 2, 0, -1], k=[3]))


def draw_roots(d: Draw) -> Call:
    values = d.pick([[1, -3, 2], [2.0, 1.0], [1.0], [0, 1, -3, 2], [1, -3, 2, 0, 0], [1, 0, 1]])
    return call(numpy.array(values, d.dtype("f")))


def in_order(roots: Any) -> Any:
    return numpy.sort_complex(numpy.round(numpy.asarray(roots), 4))


EASY: Any = {"scaled": True, "zeros": False, "narrow": False, "tolerance": 10}
TABLE |= rows(
    "polyder",
    lambda d: call(coefficients(d), **d.options(m=[1, 2, 0, 4, -1])),
    smooth=True,
    own_dtype="always a float",
    **EASY,
)
TABLE |= rows(
    "polyint", draw_polyint, smooth=True, own_dtype="float operands keep their type", **EASY
)
TABLE |= rows("poly", lambda d: call(coefficients(d)), smooth=True, **EASY)
TABLE |= rows("polydiv", draw_polydiv, jit=False, normal=whole_remainder, **EASY)
TABLE |= rows("polyfit", draw_polyfit, own_dtype="float operands keep their type", **EASY)
TABLE |= rows("roots", draw_roots, jit=False, own_dtype="always complex", normal=in_order, **EASY)


# Functions of functions.


def draw_along(d: Draw) -> Call:
    x = d.array("f", d.shape([(3,), (2, 3), (4, 1, 2)]), special=False)
    return call(d.pick([total, flipped]), d.axis(x), x)


def total(x: Any) -> Any:
    """Works on arrays of both."""
    return x.sum()


def flipped(x: Any) -> Any:
    return x[::-1] * 2


def summed(x: Any, axis: int) -> Any:
    return x.sum(axis, keepdims=True)


def draw_over(d: Draw) -> Call:
    x = d.array("f", d.shape([(2, 3), (4, 1, 2)]), special=False)
    return call(summed, x, d.pick([0, (0, 1), [-1], 5]))


TABLE |= rows("apply_along_axis", draw_along, smooth=True, scaled=True, zeros=False)
TABLE |= rows("apply_over_axes", draw_over, smooth=True, scaled=True, zeros=False)


# numlift.numpy.fft


def transform(kinds: str, many: bool) -> Any:
    """Rows draw an operand, lengths, axes and a normalisation."""

    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.pick([(4,), (2, 3), (3,), (0,), ()]), special=False)
        if many:
            words = d.options(axes=[(0,), (-1,), (0, 1)[: max(x.ndim, 1)], (5,)])
            if "axes" in words and d.flag():
                words["s"] = (4, 3)[: len(words["axes"])]
        else:
            words = d.options(n=[2, 5, 0, 4], axis=[d.axis(x)])
        return call(x, **words, **d.options(norm=["ortho", "forward", "backward", "odd"]))

    return draw


def transform2(kinds: str) -> Any:
    """Rows draw a matrix."""
    return lambda d: call(
        d.array(kinds, d.pick([(2, 3), (4, 1, 2), (3,)]), special=False),
        **d.options(s=[(4, 2)], norm=["ortho"]),
    )


FFT: Any = {"smooth": True, "scaled": True, "zeros": False, "tolerance": 4, "narrow": False}
TABLE |= rows("fft.fft fft.ifft fft.irfft fft.hfft", transform("fic", False), **FFT)
TABLE |= rows("fft.rfft fft.ihfft", transform("fi", False), **FFT)
TABLE |= rows("fft.fftn fft.ifftn fft.irfftn", transform("fic", True), **FFT)
TABLE |= rows("fft.rfftn", transform("fi", True), **FFT)
TABLE |= rows("fft.fft2 fft.ifft2 fft.irfft2", transform2("fic"), **FFT)
TABLE |= rows("fft.rfft2", transform2("fi"), **FFT)
TABLE |= rows(
    "fft.fftshift fft.ifftshift",
    lambda d: (lambda x: call(x, **d.options(axes=[d.axes(x)])))(d.array()),
    smooth=True,
)
