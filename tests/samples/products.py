"""Samples of products and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift import lax

from . import COMPLEX, FLOATS, INTS, Sample
from .slicing import arrays

NUMBERS = (*FLOATS, *COMPLEX, *INTS)
TRANSPOSED = {"float16": 1e-2, "bfloat16": 5e-2}


def dims(contract: tuple[Any, Any], batch: tuple[Any, Any] = ((), ())) -> Any:
    """dimension_numbers of `dot_general`."""
    return contract, batch


def correlate(
    x: np.ndarray, k: np.ndarray, stride: int = 1, low: int = 0, high: int = 0, step: int = 1
) -> np.ndarray:
    """x: (batch, in, length), k: (out, in, width); `step` is the kernel's dilation."""
    x = np.pad(x, ((0, 0), (0, 0), (low, high)))
    width = (k.shape[2] - 1) * step + 1
    starts = range(0, x.shape[2] - width + 1, stride)
    windows = np.stack([x[:, :, s : s + width : step] for s in starts], 2)
    return np.einsum("bitw,oiw->bot", windows, k)


def spread(x: np.ndarray, by: int) -> np.ndarray:
    """Zeros between the elements of the last axis."""
    out = np.zeros((*x.shape[:-1], (x.shape[-1] - 1) * by + 1), x.dtype)
    out[..., ::by] = x
    return out


def conv(strides: Any, padding: Any, **options: Any) -> Any:
    """`conv_general_dilated` as a function of lhs and rhs."""
    return lambda x, k: lax.conv_general_dilated(x, k, strides, padding, **options)


def grouped(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Two feature groups."""
    halves = zip(np.split(x, 2, 1), np.split(k, 2, 0), strict=True)
    return np.concatenate([correlate(a, b) for a, b in halves], 1)


def batch_grouped(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Two batch groups."""
    halves = zip(np.split(x, 2, 0), np.split(k, 2, 0), strict=True)
    return np.concatenate([correlate(a, b) for a, b in halves], 1)


def plane(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """x: (batch, height, width, in), k: (height, width, in, out), VALID."""
    h, w = x.shape[1] - k.shape[0] + 1, x.shape[2] - k.shape[1] + 1
    out = np.zeros((x.shape[0], h, w, k.shape[3]), np.result_type(x, k))
    for i in range(k.shape[0]):
        for j in range(k.shape[1]):
            out += x[:, i : i + h, j : j + w] @ k[i, j]
    return out


LINE = arrays((2, 2, 6), (3, 2, 3))
FLOATING = ("float32", "float64", "complex64", "complex128")

SAMPLES: list[Sample] = [
    Sample(
        "dot_general/matrix", lambda x, y: lax.dot_general(x, y, dims(((1,), (0,)))),
        arrays((2, 3), (3, 4)), lambda x, y: x @ y, NUMBERS, (0, 1), TRANSPOSED,
    ),
    Sample(
        "dot_general/vector", lambda x, y: lax.dot_general(x, y, dims(((0,), (0,)))),
        arrays((3,), (3,)), lambda x, y: x @ y, FLOATING, (0, 1),
    ),
    Sample(
        "dot_general/outer", lambda x, y: lax.dot_general(x, y, dims(((), ()))),
        arrays((2,), (3,)), np.multiply.outer, FLOATING, (0, 1),
    ),
    Sample(
        "dot_general/batch", lambda x, y: lax.dot_general(x, y, dims(((1,), (2,)), ((0,), (1,)))),
        arrays((2, 3, 4), (5, 2, 3)), lambda x, y: np.einsum("bki,jbk->bij", x, y), FLOATING,
        (0, 1),
    ),
    Sample(
        "dot_general/several", lambda x, y: lax.dot_general(x, y, dims(((0, 2), (1, 0)))),
        arrays((2, 3, 4), (4, 2)), lambda x, y: np.einsum("aib,ba->i", x, y), FLOATING, (0, 1),
    ),
    Sample(
        "dot_general/empty", lambda x, y: lax.dot_general(x, y, dims(((1,), (0,)))),
        arrays((2, 0), (0, 3)), lambda x, y: x @ y, ("float32", "float64"), (0, 1),
    ),
    Sample(
        "dot_general/preferred",
        lambda x, y: lax.dot_general(
            x, y, dims(((1,), (0,))), preferred_element_type="float32"
        ),
        arrays((2, 3), (3, 2)), lambda x, y: x @ y, ("bfloat16", "float16", "float32"), (0, 1),
    ),
    Sample(
        "dot/matrix vector", lambda x, y: lax.dot(x, y), arrays((2, 3), (3,)),
        lambda x, y: x @ y, FLOATING, (0, 1),
    ),
    Sample(
        "batch_matmul", lambda x, y: lax.batch_matmul(x, y), arrays((2, 2, 3), (2, 3, 2)),
        lambda x, y: x @ y, FLOATING, (0, 1),
    ),
    Sample(
        "conv_general_dilated", conv((1,), "VALID"), LINE, correlate, FLOATING, (0, 1),
    ),
    Sample(
        "conv_general_dilated/strides", conv((2,), [(2, 1)]), LINE,
        lambda x, k: correlate(x, k, 2, 2, 1), differentiable=(0, 1),
    ),
    Sample(
        "conv_general_dilated/rhs_dilation", conv((1,), [(0, 2)], rhs_dilation=(2,)), LINE,
        lambda x, k: correlate(x, k, 1, 0, 2, 2), differentiable=(0, 1),
    ),
    Sample(
        "conv_general_dilated/lhs_dilation", conv((1,), [(1, 1)], lhs_dilation=(3,)), LINE,
        lambda x, k: correlate(spread(x, 3), k, 1, 1, 1), differentiable=(0, 1),
    ),
    Sample(
        "conv_general_dilated/feature groups", conv((1,), "VALID", feature_group_count=2),
        arrays((2, 4, 5), (4, 2, 2)), grouped, differentiable=(0, 1),
    ),
    Sample(
        "conv_general_dilated/batch groups", conv((1,), "VALID", batch_group_count=2),
        arrays((4, 2, 5), (4, 2, 2)), batch_grouped, differentiable=(0, 1),
    ),
    Sample(
        "conv_general_dilated/NHWC",
        conv((1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        arrays((2, 4, 5, 2), (3, 2, 2, 3)), plane, differentiable=(0, 1),
    ),
]  # fmt: skip
