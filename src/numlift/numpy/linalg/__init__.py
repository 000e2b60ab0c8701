"""Linear algebra, as `numpy.linalg`."""

from numpy.linalg import LinAlgError

from ..manipulation import matrix_transpose
from . import portable, portable_bands, portable_schur, portable_spectral
from .decompositions import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from .norms import matrix_norm, norm, vector_norm
from .products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from .pseudo_inverse import cond, lstsq, matrix_rank, pinv
from .solving import det, inv, slogdet, solve, tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return sorted(__all__)
