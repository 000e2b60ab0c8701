"""Products of matrices that are stored in few bits with a scale for each block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .. import errors
from .. import numpy as np
from ..core.dtypes import float4_e2m1fn, float8_e4m3fn, float8_e8m0fnu, user_dtype
from ..core.tracing import type_of
from ..lax.dot import dot_general
from ..lax.representation import stop_gradient
from ..lax.scaled import scaled_dot

WIDE = numpy.dtype(numpy.float32)


def scaled_matmul(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred_element_type: Any = WIDE
) -> Any:
    """``einsum("bmk,bnk->bmn", lhs * lhs_scales, rhs * rhs_scales)``, scales repeated over blocks.

    Args:
        lhs: (B, M, K).
        rhs: (B, N, K).
        lhs_scales, rhs_scales: (B, M, k) and (B, N, k), where k divides K: one scale for each
            block of K / k elements.
        preferred_element_type: dtype of the result.

    Returns:
        (B, M, N); products and sums are computed in float32.

    Raises:
        ShapeError: shapes are not these.

    Runs on any device (JAX: on few GPUs).

    Example:
        >>> import numlift.numpy as np
        >>> from numlift.nn import scaled_matmul
        >>> a, b = np.array([[[1.0, 2.0, 3.0]]]), np.array([[[4.0, 5.0, 6.0]]])
        >>> half = np.full((1, 1, 1), 0.5)
        >>> print(scaled_matmul(a, b, half, half))
        [[[8.]]]
    """
    types = {
        "lhs": type_of(lhs), "rhs": type_of(rhs),
        "lhs_scales": type_of(lhs_scales), "rhs_scales": type_of(rhs_scales),
    }  # fmt: skip
    a, b, s, t = types.values()
    if any(x.ndim != 3 for x in types.values()):
        raise errors.ShapeError(
            errors.explain("scaled_matmul", "all operands must be of rank 3", types,
                           try_="x[None] for one matrix")
        )  # fmt: skip
    same = a.shape[::2] == b.shape[::2] and s.shape[::2] == t.shape[::2]
    if not same or a.shape[:2] != s.shape[:2] or b.shape[:2] != t.shape[:2]:
        raise errors.ShapeError(
            errors.explain(
                "scaled_matmul", "shapes must be (B, M, K), (B, N, K), (B, M, k) and (B, N, k)",
                types,
            )
        )  # fmt: skip
    return scaled_dot(
        lhs, rhs, lhs_scale=lhs_scales, rhs_scale=rhs_scales,
        dimension_numbers=(((2,), (2,)), ((0,), (0,))),
        preferred_element_type=user_dtype(preferred_element_type, "scaled_matmul"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class BlockScaleConfig:
    """How numbers are stored in few bits.

    Attributes:
        mode: its name.
        block_size: how many neighbours along the contracted axes share a scale.
        data_type: dtype of the numbers.
        scale_type: dtype of the scales.
        global_scale: factor of all scales, or None for 1.
        infer_only: whether derivatives are refused.
    """

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """How `scaled_dot_general` stores an operand.

    Args:
        mode: ``"mxfp8"``: float8_e4m3fn, a power of two for each 32; ``"nvfp4"``: float4_e2m1fn, a
            float8_e4m3fn for each 16, and one factor for all.
        global_scale: that factor, float32 (nvfp4 only); default 1.

    Returns:
        A `BlockScaleConfig`, to be given to `scaled_dot_general`.

    Raises:
        ValueArgumentError: another mode.

    Example:
        >>> from numlift.nn import get_scaled_dot_general_config
        >>> get_scaled_dot_general_config("mxfp8").block_size
        32
    """
    if mode == "nvfp4":
        one = np.ones(1, WIDE) if global_scale is None else global_scale
        return BlockScaleConfig(mode, 16, float4_e2m1fn, float8_e4m3fn, one, False)
    if mode == "mxfp8":
        return BlockScaleConfig(mode, 32, float8_e4m3fn, float8_e8m0fnu, None, False)
    raise errors.ValueArgumentError(
        errors.explain(
            "get_scaled_dot_general_config", "mode must be 'mxfp8' or 'nvfp4'", {"mode": mode}
        )
    )


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = WIDE,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Any:
    """`lax.dot_general` of operands that are rounded to few bits with scales first.

    Args:
        lhs, rhs: arrays.
        dimension_numbers: as in `lax.dot_general`.
        preferred_element_type: dtype of the result.
        configs: for lhs, rhs (and cotangents, which are not rounded here); None rounds nothing.
        implementation: ignored.

    Returns:
        The product, summed in float32.

    Raises:
        ValueArgumentError: only one config.

    Derivative: that of the product of the rounded operands; rounding counts as the identity.

    Example:
        >>> import numlift.numpy as np
        >>> from numlift.nn import get_scaled_dot_general_config, scaled_dot_general
        >>> x, one = np.full((2, 32), 1.03), get_scaled_dot_general_config("mxfp8")
        >>> numbers = (((1,), (1,)), ((), ()))
        >>> print(scaled_dot_general(x, np.ones((1, 32)), numbers, configs=[one, one]))
        [[32.]
         [32.]]
    """
    del implementation
    out = user_dtype(preferred_element_type, "scaled_dot_general")
    if configs is None:
        return dot_general(lhs, rhs, dimension_numbers, preferred_element_type=out)
    if len(configs) < 2:
        raise errors.ValueArgumentError(
            errors.explain("scaled_dot_general", "needs a config for lhs and one for rhs",
                           {"configs": configs}, try_="configs=[config] * 3")
        )  # fmt: skip
    (left, right), _ = dimension_numbers
    operands = []
    for x, axes, config in zip((lhs, rhs), (left, right), configs[:2], strict=True):
        x = np.astype(np.asarray(x), WIDE)
        operands.append(x + stop_gradient(_rounded(x, tuple(axes), config) - x))
    return np.astype(dot_general(*operands, dimension_numbers, preferred_element_type=WIDE), out)


def _rounded(x: Any, axes: tuple[int, ...], config: BlockScaleConfig) -> Any:
    """`x` as it is after it was stored."""
    axes = tuple(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in axes]
    order = (*kept, *axes)
    moved = np.transpose(x, order)
    lead = moved.shape[: len(kept)]
    n, size = math.prod(moved.shape[len(kept) :]), config.block_size
    flat = np.reshape(moved, (*lead, n))
    padded = np.pad(flat, [(0, 0)] * len(lead) + [(0, -n % size)])
    blocks = np.reshape(padded, (*lead, -1, size))
    largest = np.max(np.abs(blocks), axis=-1, keepdims=True, initial=0.0)
    top = float(np.finfo(config.data_type).max)
    factor = 1.0 if config.global_scale is None else config.global_scale
    scale = np.where(largest > 0, largest / (top * factor), 1.0)
    if config.scale_type == float8_e8m0fnu:
        scale = np.exp2(np.ceil(np.log2(scale)))
    else:
        limits = np.finfo(config.scale_type)
        scale = np.clip(scale, float(limits.smallest_normal), float(limits.max))
    scale = np.astype(np.astype(scale, config.scale_type), WIDE) * factor
    stored = np.astype(np.clip(blocks / scale, -top, top), config.data_type)
    found = np.astype(stored, WIDE) * scale
    found = np.reshape(np.reshape(found, (*lead, -1))[..., :n], moved.shape)
    return np.transpose(found, tuple(int(i) for i in numpy.argsort(order)))


__all__ = [
    "BlockScaleConfig",
    "get_scaled_dot_general_config",
    "scaled_dot_general",
    "scaled_matmul",
]
