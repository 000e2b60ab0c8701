"""Products of numbers that are stored with a scale for each block."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import bfloat16, user_dtype
from ..core.tracing import type_of
from .arithmetic import mul
from .dot import dot_general
from .representation import convert_element_type
from .shape import broadcast_in_dim, reshape


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``dot_general(lhs * lhs_scale, rhs * rhs_scale)``, where scales are repeated over blocks.

    Args:
        lhs, rhs: arrays of rank 2 or 3, often of 8 or 4 bits an element.
        lhs_scale, rhs_scale: scales of the same rank; along a contracting axis their size divides
            that of the operand, along others it is equal. None means 1.
        dimension_numbers: as in `dot_general`; by default the last axis of lhs meets the first
            of rhs behind a common batch axis (rank 3).
        preferred_element_type: dtype of the result; default bfloat16.

    Returns:
        The product. Numbers are multiplied with their scales in the dtype of the result (at least
        float32) and summed as `dot_general` does.

    Raises:
        ShapeError: shapes do not fit.

    Derivative: of everything. Differences from JAX: JAX has none.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import scaled_dot
        >>> x, s = np.ones((2, 8), np.float32), np.full((2, 2), 0.5, np.float32)
        >>> scaled_dot(x, np.ones((8, 3), np.float32), lhs_scale=s).tolist()[0]
        [4.0, 4.0, 4.0]
    """
    a, b = type_of(lhs), type_of(rhs)
    if dimension_numbers is None:
        if a.ndim != b.ndim or a.ndim not in (2, 3):
            raise errors.ShapeError(
                errors.explain("scaled_dot", "operands must both be of rank 2 or 3",
                               {"lhs": a, "rhs": b}, try_="dimension_numbers=...")
            )  # fmt: skip
        batch = tuple(range(a.ndim - 2))
        dimension_numbers = (((a.ndim - 1,), (a.ndim - 2,)), (batch, batch))
    (left, right), _ = dimension_numbers
    out = user_dtype(
        bfloat16 if preferred_element_type is None else preferred_element_type, "scaled_dot"
    )
    wide = out if out.itemsize >= 4 else np.dtype(np.float32)
    x = with_scale("scaled_dot", "lhs", lhs, lhs_scale, left, wide)
    y = with_scale("scaled_dot", "rhs", rhs, rhs_scale, right, wide)
    found = dot_general(x, y, dimension_numbers, preferred_element_type=wide)
    return convert_element_type(found, out)


def with_scale(function: str, word: str, x: Any, scale: Any, axes: Any, dtype: Any) -> Any:
    """`x * scale` in a dtype, each scale being repeated over a block along `axes`."""
    t = type_of(x)
    x = convert_element_type(x, dtype)
    if scale is None:
        return x
    s = type_of(scale)
    axes = {a % t.ndim for a in axes}
    if s.ndim != t.ndim or any(
        (n % m if i in axes and m else n != m) for i, (n, m) in enumerate(zip(t.shape, s.shape))
    ):
        raise errors.ShapeError(
            errors.explain(
                function, f"{word}_scale must have the shape of {word}, or along contracting axes "
                "sizes that divide it", {word: t, f"{word}_scale": s},
            )
        )  # fmt: skip
    blocks: list[int] = []
    places: list[int] = []
    for n, m in zip(t.shape, s.shape, strict=True):
        places.append(len(blocks))
        blocks += [m] if n == m else [m, n // m]
    scale = convert_element_type(scale, dtype)
    return mul(x, reshape(broadcast_in_dim(scale, tuple(blocks), tuple(places)), t.shape))


__all__ = ["scaled_dot", "with_scale"]
