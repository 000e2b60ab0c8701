"""NumPy's functions on arrays that can be differentiated, compiled, batched and sharded."""

# ruff: noqa: A004
# fmt: off
from __future__ import annotations

from . import (
    arithmetic,
    creation,
    diagonals,
    dtypes_api,
    elementwise,
    fft,
    floats,
    grids,
    interpolation,
    logic,
    ranges,
    selection,
    taking,
)
from . import methods as _methods
from .arithmetic import (
    add, arctan2, atan2, copysign, divide, divmod, float_power, floor_divide, fmax, fmin, fmod,
    gcd, heaviside, hypot, lcm, ldexp, logaddexp, logaddexp2, maximum, minimum, mod, multiply,
    nextafter, pow, power, remainder, subtract, true_divide,
)
from .choosing import (
    choose, packbits, place, unpackbits,
)
from .creation import (
    array, asarray, astype, copy, empty, empty_like, from_dlpack, frombuffer, fromfile,
    fromiter, fromstring, full, full_like, ones, ones_like, zeros, zeros_like,
)
from .diagonals import (
    diag, diag_indices, diag_indices_from, diagflat, diagonal, eye, fill_diagonal, identity,
    mask_indices, tri, tril, tril_indices, tril_indices_from, triu, triu_indices,
    triu_indices_from, vander,
)
from .differences import (
    convolve, correlate, diff, ediff1d, gradient, trapezoid,
)
from .dtypes_api import (
    ComplexWarning, array_repr, array_str, bfloat16, bool, bool_, can_cast, cdouble, character,
    complex128, complex64, complex_, complexfloating, csingle, double, dtype, e, euler_gamma,
    finfo, flexible, float16, float32, float4_e2m1fn, float64, float8_e3m4, float8_e4m3,
    float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz,
    float8_e8m0fnu, float_, floating, generic, get_printoptions, iinfo, index_exp, inexact, inf,
    int16, int2, int32, int4, int64, int8, int_, integer, isdtype, isscalar, issubdtype,
    iterable, load, nan, ndarray, ndim, newaxis, number, object_, pi, printoptions,
    promote_types, result_type, s_, save, savez, set_printoptions, shape, signedinteger, single,
    size, uint, uint16, uint2, uint32, uint4, uint64, uint8, unsignedinteger,
)
from .einsum import (
    einsum, einsum_path,
)
from .elementwise import (
    abs, absolute, acos, acosh, arccos, arccosh, arcsin, arcsinh, arctan, arctanh, around, asin,
    asinh, atan, atanh, cbrt, ceil, cos, cosh, deg2rad, degrees, exp, exp2, expm1, fabs, fix,
    floor, log, log10, log1p, log2, negative, positive, rad2deg, radians, reciprocal, rint,
    round, sign, sin, sinh, sqrt, square, tan, tanh, trunc,
)
from .floats import (
    angle, conj, conjugate, frexp, i0, imag, iscomplex, iscomplexobj, isfinite, isinf, isnan,
    isneginf, isposinf, isreal, isrealobj, modf, real, real_if_close, signbit, sinc, spacing,
)
from .functional import (
    apply_along_axis, apply_over_axes, vectorize,
)
from .grids import (
    fromfunction, indices, meshgrid, mgrid, ogrid,
)
from .inserting import (
    append, delete, insert,
)
from .interpolation import (
    interp, unwrap,
)
from .joining import (
    array_split, block, column_stack, concat, concatenate, dsplit, dstack, hsplit, hstack,
    split, stack, unstack, vsplit, vstack,
)
from .logic import (
    bitwise_and, bitwise_count, bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or,
    bitwise_right_shift, bitwise_xor, equal, greater, greater_equal, invert, left_shift, less,
    less_equal, logical_and, logical_not, logical_or, logical_xor, not_equal, right_shift,
)
from .manipulation import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, broadcast_to,
    expand_dims, matrix_transpose, moveaxis, permute_dims, ravel, reshape, rollaxis, squeeze,
    swapaxes, transpose,
)
from .padding import (
    pad,
)
from .products import (
    cross, dot, inner, kron, matmul, matvec, outer, tensordot, trace, vdot, vecdot, vecmat,
)
from .ranges import (
    arange, geomspace, linspace, logspace,
)
from .rearranging import (
    flip, fliplr, flipud, repeat, resize, roll, rot90, tile, trim_zeros,
)
from .selection import (
    allclose, array_equal, array_equiv, clip, isclose, nan_to_num, piecewise, select, where,
)
from .taking import (
    ix_, put_along_axis, ravel_multi_index, take, take_along_axis, unravel_index,
)

__all__: list[str] = ['fft']
__all__ += arithmetic.__all__
__all__ += [
    "choose", "packbits", "place", "unpackbits",
]
__all__ += creation.__all__
__all__ += diagonals.__all__
__all__ += [
    "convolve", "correlate", "diff", "ediff1d", "gradient", "trapezoid",
]
__all__ += dtypes_api.__all__
__all__ += [
    "einsum", "einsum_path",
]
__all__ += elementwise.__all__
__all__ += floats.__all__
__all__ += [
    "apply_along_axis", "apply_over_axes", "vectorize",
]
__all__ += grids.__all__
__all__ += [
    "append", "delete", "insert",
]
__all__ += interpolation.__all__
__all__ += [
    "array_split", "block", "column_stack", "concat", "concatenate", "dsplit", "dstack",
    "hsplit", "hstack", "split", "stack", "unstack", "vsplit", "vstack",
]
__all__ += logic.__all__
__all__ += [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes",
    "broadcast_to", "expand_dims", "matrix_transpose", "moveaxis", "permute_dims", "ravel",
    "reshape", "rollaxis", "squeeze", "swapaxes", "transpose",
]
__all__ += [
    "pad",
]
__all__ += [
    "cross", "dot", "inner", "kron", "matmul", "matvec", "outer", "tensordot", "trace", "vdot",
    "vecdot", "vecmat",
]
__all__ += ranges.__all__
__all__ += [
    "flip", "fliplr", "flipud", "repeat", "resize", "roll", "rot90", "tile", "trim_zeros",
]
__all__ += selection.__all__
__all__ += taking.__all__

from . import linalg
from .index_tricks import c_, r_
from .polynomials import polyadd, polyder, polydiv, polyint, polymul, polysub, polyval

__all__ += ["c_", "linalg", "r_"]
__all__ += [
    "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "polyval",
]
