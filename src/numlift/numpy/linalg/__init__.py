"""Linear algebra, as `numpy.linalg`."""

from ..manipulation import matrix_transpose
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

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
