"""NumPy's functions on arrays that can be differentiated, compiled, batched and sharded."""

# ruff: noqa: I001
# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .. import errors as _errors
from . import (
    arithmetic,
    choosing,
    complex_parts,
    conversions,
    covariances,
    creation,
    cumulative,
    diagonal_indices,
    diagonals,
    differences,
    dtype_names,
    dtypes_api,
    elementwise,
    emath,
    fft,
    files,
    filling,
    fitting,
    floats,
    functional,
    grids,
    histograms,
    index_tricks,
    inserting,
    interpolation,
    iteration,
    joining,
    left_out as _left_out,
    linalg,
    logic,
    manipulation,
    means,
    nan_reductions,
    outer_products,
    padding,
    polynomials,
    powers,
    products,
    putting,
    quantiles,
    ranges,
    rearranging,
    reductions,
    rounding,
    selection,
    sets,
    sorting,
    splitting,
    taking,
    text,
    ufuncs,
    universal,
)
from . import methods as _methods
from .array_api import API_VERSION as __array_api_version__
from .array_api import array_namespace_info as __array_namespace_info__
from .choosing import (
    choose, packbits, place, unpackbits,
)
from .complex_parts import (
    angle, imag, iscomplex, iscomplexobj, isreal, isrealobj, real, real_if_close,
)
from .conversions import (
    asanyarray, asarray_chkfinite, ascontiguousarray, asfortranarray, isfortran, may_share_memory,
    require, shares_memory,
)
from .covariances import (
    corrcoef, cov,
)
from .creation import (
    array, asarray, astype, copy,
)
from .cumulative import (
    cumprod, cumsum, cumulative_prod, cumulative_sum,
)
from .diagonal_indices import (
    diag_indices, diag_indices_from, mask_indices, tril_indices, tril_indices_from, triu_indices,
    triu_indices_from,
)
from .diagonals import (
    diag, diagflat, diagonal, eye, fill_diagonal, identity, trace, tri, tril, triu, vander,
)
from .differences import (
    convolve, correlate, diff, ediff1d, gradient, trapezoid,
)
from .dtype_names import (
    False_, ScalarType, True_, byte, common_type, exceptions, half, intc, intp, little_endian,
    long, longlong, min_scalar_type, mintypecode, short, typecodes, ubyte, uintc, uintp, ulong,
    ulonglong, ushort,
)
from .dtypes_api import (
    ComplexWarning, bfloat16, bool, bool_, can_cast, cdouble, character,
    complex128, complex64, complex_, complexfloating, csingle, double, dtype, e, euler_gamma,
    finfo, flexible, float16, float32, float4_e2m1fn, float64, float8_e3m4, float8_e4m3,
    float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz,
    float8_e8m0fnu, float_, floating, generic, iinfo, index_exp, inexact, inf,
    int16, int2, int32, int4, int64, int8, int_, integer, isdtype, isscalar, issubdtype,
    iterable, nan, ndarray, ndim, newaxis, number, object_, pi, promote_types,
    result_type, s_, shape, signedinteger, single, size, uint, uint16, uint2,
    uint32, uint4, uint64, uint8, unsignedinteger,
)
from .einsum import (
    einsum, einsum_path,
)
from .files import (
    from_dlpack, frombuffer, fromfile, fromiter, fromregex, fromstring, genfromtxt, load, loadtxt,
    save, savetxt, savez, savez_compressed,
)
from .filling import (
    empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like,
)
from .fitting import (
    polyfit, roots,
)
from .floats import (
    i0, isneginf, isposinf, sinc,
)
from .functional import (
    apply_along_axis, apply_over_axes, vectorize,
)
from .grids import (
    fromfunction, indices, meshgrid, mgrid, ogrid,
)
from .histograms import (
    bincount, histogram, histogram2d, histogram_bin_edges, histogramdd,
)
from .index_tricks import (
    c_, r_,
)
from .inserting import (
    append, delete, insert,
)
from .interpolation import (
    interp, unwrap,
)
from .iteration import (
    broadcast, ndenumerate, ndindex,
)
from .joining import (
    block, column_stack, concat, concatenate, dstack, hstack, row_stack, stack, unstack, vstack,
)
from .manipulation import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, broadcast_to,
    expand_dims, matrix_transpose, moveaxis, permute_dims, ravel, reshape, rollaxis, squeeze,
    swapaxes, transpose,
)
from .means import (
    average, mean, std, var,
)
from .nan_reductions import (
    nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nanstd,
    nansum, nanvar,
)
from .nonzero import (
    argwhere, compress, extract, flatnonzero, nonzero,
)
from .outer_products import (
    cross, kron, outer,
)
from .padding import (
    pad,
)
from .polynomials import (
    poly, polyadd, polyder, polydiv, polyint, polymul, polysub, polyval,
)
from .products import (
    dot, inner, tensordot, vdot,
)
from .putting import (
    put,
)
from .quantiles import (
    median, nanmedian, nanpercentile, nanquantile, percentile, quantile,
)
from .ranges import (
    arange, geomspace, linspace, logspace,
)
from .rearranging import (
    flip, fliplr, flipud, repeat, resize, roll, rot90, tile, trim_zeros,
)
from .reductions import (
    all, amax, amin, any, argmax, argmin, count_nonzero, max, min, prod, ptp, sum,
)
from .rounding import (
    around, fix, round,
)
from .selection import (
    allclose, array_equal, array_equiv, clip, isclose, nan_to_num, piecewise, select, where,
)
from .sets import (
    intersect1d, isin, setdiff1d, setxor1d, union1d, unique, unique_all, unique_counts,
    unique_inverse, unique_values,
)
from .sorting import (
    argpartition, argsort, digitize, lexsort, partition, searchsorted, sort, sort_complex,
)
from .splitting import (
    array_split, dsplit, hsplit, split, vsplit,
)
from .taking import (
    ix_, put_along_axis, ravel_multi_index, take, take_along_axis, unravel_index,
)
from .tapers import (
    bartlett, blackman, hamming, hanning,
    kaiser,
)
from .text import (
    array2string, array_repr, array_str, base_repr, binary_repr, format_float_positional,
    format_float_scientific, get_printoptions, printoptions, set_printoptions, typename,
)
from .ufuncs import (
    frompyfunc, ufunc,
)
from .universal import (
    abs, absolute, acos, acosh, add, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh,
    asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_count, bitwise_invert,
    bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor, cbrt, ceil,
    conj, conjugate, copysign, cos, cosh, deg2rad, degrees, divide, divmod, equal, exp, exp2,
    expm1, fabs, float_power, floor, floor_divide, fmax, fmin, fmod, frexp, gcd, greater,
    greater_equal, heaviside, hypot, invert, isfinite, isinf, isnan, lcm, ldexp, left_shift,
    less, less_equal, log, log10, log1p, log2, logaddexp, logaddexp2, logical_and, logical_not,
    logical_or, logical_xor, matmul, matvec, maximum, minimum, mod, modf, multiply, negative,
    nextafter, not_equal, positive, pow, power, rad2deg, radians, reciprocal, remainder,
    right_shift, rint, sign, signbit, sin, sinh, spacing, sqrt, square, subtract, tan, tanh,
    true_divide, trunc, vecdot, vecmat,
)

__all__: list[str] = ["emath", "fft", "linalg"]
__all__ += [
    "bartlett", "blackman", "hamming", "hanning", "kaiser",
]
__all__ += arithmetic.__all__
__all__ += choosing.__all__
__all__ += complex_parts.__all__
__all__ += covariances.__all__
__all__ += creation.__all__
__all__ += cumulative.__all__
__all__ += diagonal_indices.__all__
__all__ += diagonals.__all__
__all__ += differences.__all__
__all__ += dtypes_api.__all__
__all__ += [
    "einsum", "einsum_path",
]
__all__ += elementwise.__all__
__all__ += files.__all__
__all__ += filling.__all__
__all__ += fitting.__all__
__all__ += floats.__all__
__all__ += functional.__all__
__all__ += grids.__all__
__all__ += histograms.__all__
__all__ += index_tricks.__all__
__all__ += inserting.__all__
__all__ += interpolation.__all__
__all__ += joining.__all__
__all__ += logic.__all__
__all__ += manipulation.__all__
__all__ += means.__all__
__all__ += nan_reductions.__all__
__all__ += [
    "argwhere", "compress", "extract", "flatnonzero", "nonzero",
]
__all__ += outer_products.__all__
__all__ += padding.__all__
__all__ += polynomials.__all__
__all__ += powers.__all__
__all__ += products.__all__
__all__ += putting.__all__
__all__ += quantiles.__all__
__all__ += ranges.__all__
__all__ += rearranging.__all__
__all__ += reductions.__all__
__all__ += rounding.__all__
__all__ += selection.__all__
__all__ += sets.__all__
__all__ += sorting.__all__
__all__ += splitting.__all__
__all__ += taking.__all__
__all__ += ufuncs.__all__
__all__ += universal.__all__
__all__ += conversions.__all__
__all__ += dtype_names.__all__
__all__ += iteration.__all__
__all__ += text.__all__

_errors.name_calls(
    __path__[0], (*__all__, *linalg.__all__, *fft.__all__, *emath.__all__)
)


if not _TYPE_CHECKING:  # which would take all names to be there

    def __getattr__(name: str) -> object:
        raise _left_out.missing(name)


def __dir__() -> list[str]:
    return sorted(__all__)
