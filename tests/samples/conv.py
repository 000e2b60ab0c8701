"""Samples of convolutions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from numlift import lax

from . import COMPLEX, FLOATS, INTS, Sample
from .dot import factors

LAST = ("NHWC", "HWIO", "NHWC")


def spaced(x: np.ndarray, dilation: tuple[int, ...]) -> np.ndarray:
    """Zeros between the elements along the axes after the first two."""
    shape = [*x.shape[:2], *(max((n - 1) * d + 1, 0) for n, d in zip(x.shape[2:], dilation))]
    out = np.zeros(shape, x.dtype)
    out[(slice(None), slice(None), *(slice(None, None, d) for d in dilation))] = x
    return out


def padded(x: np.ndarray, padding: Any) -> np.ndarray:
    """Zeros around; negative numbers crop."""
    x = np.pad(x, [(0, 0), (0, 0), *((max(a, 0), max(b, 0)) for a, b in padding)])
    cuts = (slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(padding, x.shape[2:]))
    return x[(slice(None), slice(None), *cuts)]


def reference(
    x: np.ndarray, k: np.ndarray, window_strides: Any, padding: Any, lhs_dilation: Any = None,
    rhs_dilation: Any = None, dimension_numbers: Any = None, feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> np.ndarray:  # fmt: skip
    """A convolution by its definition."""
    bools = x.dtype == np.bool_
    x, k = (x.astype(int), k.astype(int)) if bools else (x, k)
    n = x.ndim - 2
    out_order = tuple(range(x.ndim))
    if dimension_numbers is not None:
        lhs, rhs, out_order = lax.conv_general_permutations(dimension_numbers)
        x, k = x.transpose(lhs), k.transpose(rhs)
    k = spaced(k, rhs_dilation or (1,) * n)
    if isinstance(padding, str):
        padding = lax.padtype_to_pads(x.shape[2:], k.shape[2:], window_strides, padding)
    x = padded(spaced(x, lhs_dilation or (1,) * n), padding)
    if batch_group_count > 1:
        # Groups of the batch become groups of features.
        x = np.concatenate(np.split(x, batch_group_count, 0), 1)
    groups = feature_group_count * batch_group_count
    sizes = [max((a - b) // s + 1, 0) for a, b, s in zip(x.shape[2:], k.shape[2:], window_strides)]
    out = np.zeros((x.shape[0], k.shape[0], *sizes), x.dtype)
    xs, ks = np.split(x, groups, 1), np.split(k, groups, 0)
    for place in product(*map(range, sizes)):
        starts = [p * s for p, s in zip(place, window_strides)]
        cut = tuple(slice(a, a + m) for a, m in zip(starts, k.shape[2:]))
        parts = [np.tensordot(a[(..., *cut)], b, (range(1, n + 2), range(1, n + 2)))
                 for a, b in zip(xs, ks)]  # fmt: skip
        out[(slice(None), slice(None), *place)] = np.concatenate(parts, 1)
    out = out > 0 if bools else out
    return out.transpose(np.argsort(out_order))


def row(name: str, *shapes: tuple[int, ...], dtypes: Any = ("float32",), **options: Any) -> Sample:
    """A row that calls conv_general_dilated with options."""
    return Sample(
        f"conv/{name}",
        lambda x, k: lax.conv_general_dilated(x, k, **options),
        factors(*shapes),
        lambda x, k: reference(x, k, **options),
        dtypes=dtypes,
        differentiable=(0, 1),
    )


ALL = ("bool", *INTS, *FLOATS, *COMPLEX)
TWO = ("float32", "complex64")

SAMPLES = [
    row("plain", (2, 3, 5, 4), (4, 3, 3, 2), window_strides=(1, 1), padding="SAME", dtypes=ALL),
    row("channels last", (2, 5, 4, 3), (3, 2, 3, 4), window_strides=(2, 1), padding="VALID",
        dimension_numbers=LAST, dtypes=TWO),
    row("dilated", (2, 4, 5, 2), (3, 2, 2, 3), window_strides=(2, 1), padding=[(2, -1), (0, 3)],
        lhs_dilation=(1, 2), rhs_dilation=(2, 1), dimension_numbers=LAST,
        dtypes=("float32", "float64", "int8")),
    row("feature groups", (2, 4, 5, 4), (3, 2, 2, 6), window_strides=(1, 2),
        padding="SAME_LOWER", feature_group_count=2, dimension_numbers=LAST,
        dtypes=("float32", "int16")),
    row("depthwise", (2, 4, 5, 3), (3, 2, 1, 6), window_strides=(1, 2), padding="SAME",
        rhs_dilation=(1, 2), feature_group_count=3, dimension_numbers=LAST, dtypes=TWO),
    row("batch groups", (4, 4, 5, 3), (3, 2, 3, 4), window_strides=(2, 1),
        padding=[(1, 2), (0, 1)], lhs_dilation=(2, 1), batch_group_count=2,
        dimension_numbers=LAST),
    row("one axis", (2, 3, 7), (4, 3, 3), window_strides=(2,), padding=[(1, 1)],
        dtypes=("float32", "int32")),
    row("three axes", (1, 2, 3, 3, 4), (2, 2, 2, 2, 2), window_strides=(1, 1, 1),
        padding="VALID"),
    row("no axes", (2, 3), (4, 3), window_strides=(), padding=[]),
    row("layouts", (2, 7, 3), (3, 3, 4), window_strides=(1,), padding="SAME",
        dimension_numbers=("NWC", "IWO", "CNW")),
    row("empty result", (1, 2, 3), (2, 2, 5), window_strides=(1,), padding="VALID"),
]  # fmt: skip
