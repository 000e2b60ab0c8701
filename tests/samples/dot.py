"""Samples of dot_general and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift import lax

from . import COMPLEX, FLOAT8, FLOATS, INTS, Sample

ALL = ("bool", *INTS, *FLOATS, *COMPLEX)


def factors(*shapes: tuple[int, ...]) -> Any:
    """`inputs` of a sample: small numbers, so that narrow floats stay exact enough."""

    def make(rng: Any, dtype: Any) -> tuple[np.ndarray, ...]:
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return tuple(rng.random(s) < 0.4 for s in shapes)
        if dtype.kind in "iu":
            low = 0 if dtype.kind == "u" else -100
            return tuple(rng.integers(low, 100, s).astype(dtype) for s in shapes)
        found = [rng.integers(-4, 5, s) / 4 for s in shapes]
        if dtype.kind == "c":
            found = [x + 1j * rng.integers(-4, 5, x.shape) / 4 for x in found]
        return tuple(x.astype(dtype) for x in found)

    return make


def einsum(text: str) -> Any:
    """NumPy's einsum; for bools: or of ands."""

    def oracle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype == np.bool_:
            return np.einsum(text, x.astype(int), y.astype(int)) > 0
        return np.einsum(text, x, y).astype(x.dtype)

    return oracle


def dot_general(numbers: Any, **options: Any) -> Any:
    """The operation with fixed dimension numbers."""
    return lambda x, y: lax.dot_general(x, y, numbers, **options)


def row(name: str, numbers: Any, text: str, *shapes: tuple[int, ...], **more: Any) -> Sample:
    """A row with dimension numbers and the same product as an einsum."""
    return Sample(
        name, dot_general(numbers), factors(*shapes), einsum(text),
        dtypes=more.pop("dtypes", ALL), differentiable=(0, 1), **more,
    )  # fmt: skip


MATRIX = (((1,), (0,)), ((), ()))

SAMPLES = [
    row("dot_general/matrix", MATRIX, "ij,jk->ik", (3, 4), (4, 2)),
    row("dot_general/float8", MATRIX, "ij,jk->ik", (3, 4), (4, 2), dtypes=FLOAT8),
    row("dot_general/batch", (((2,), (1,)), ((0,), (0,))), "bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    row("dot_general/outer", (((), ()), ((), ())), "ij,k->ijk", (2, 3), (4,),
        dtypes=("float32", "complex64", "int32")),
    row("dot_general/elementwise", (((), ()), ((0, 1), (1, 0))), "ij,ji->ij", (2, 3), (3, 2),
        dtypes=("float32", "int8", "bool")),
    row("dot_general/scattered axes", (((0, 3), (2, 0)), ((2,), (1,))), "aibc,cba->bi",
        (5, 4, 2, 3), (3, 2, 5), dtypes=("float32", "float64", "complex128", "int64")),
    row("dot_general/empty", MATRIX, "ij,jk->ik", (3, 0), (0, 2), dtypes=("float32", "int32")),
    row("dot_general/scalars", (((), ()), ((), ())), ",->", (), (), dtypes=("float32",)),
    Sample("dot_general/preferred", dot_general(MATRIX, preferred_element_type="float32"),
           factors((3, 4), (4, 2)), lambda x, y: (x @ y).astype("float32"),
           dtypes=("float16", "bfloat16", "float32"), differentiable=(0, 1)),
    Sample("dot_general/preferred int", dot_general(MATRIX, preferred_element_type="int32"),
           factors((3, 4), (4, 2)),
           lambda x, y: x.astype("int32") @ y.astype("int32"), dtypes=("int8", "uint8", "int16")),
    Sample("dot_general/highest", dot_general(MATRIX, precision=("highest", "default")),
           factors((3, 4), (4, 2)), lambda x, y: x @ y, differentiable=(0, 1)),
    Sample("dot_general/preset", dot_general(MATRIX, precision="BF16_BF16_F32_X3"),
           factors((3, 4), (4, 2)), lambda x, y: x @ y, dtypes=("float32",),
           differentiable=(0, 1)),
    Sample("dot/vectors", lax.dot, factors((4,), (4,)), np.dot, dtypes=(*FLOATS, *COMPLEX),
           differentiable=(0, 1)),
    Sample("dot/matrix vector", lax.dot, factors((3, 4), (4,)), np.dot,
           dtypes=("float32", "int32"), differentiable=(0, 1)),
    Sample("batch_matmul", lax.batch_matmul, factors((2, 3, 4), (2, 4, 2)), np.matmul,
           dtypes=("float32", "int16"), differentiable=(0, 1)),
]  # fmt: skip
