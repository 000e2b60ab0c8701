"""Layouts, paddings and shapes of convolutions, computed from the shapes of their operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.dims import Dim, as_size, max_size
from ..ops.conv import ConvDimensionNumbers

ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]
"""What `dimension_numbers=` of convolutions takes, for annotations."""


def pad_width(x: Any) -> Any:
    """How much is padded at one end: an int, or a symbolic size."""
    return x if type(x) is Dim else int(x)


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """Pairs (low, high) that a padding name stands for.

    SAME makes ``out = ceil(in / stride)``, an odd total padding more at the high end; SAME_LOWER
    more at the low end; VALID pads nothing.

    Args:
        in_shape: spatial sizes of the input.
        window_shape: sizes of the (dilated) window, as many.
        window_strides: as many positive ints.
        padding: one of the names, in any case.

    Returns:
        A list of pairs, one for each size.

    Raises:
        ValueArgumentError: unknown name.

    Example:
        >>> from numlift.lax import padtype_to_pads
        >>> padtype_to_pads((5, 6), (3, 3), (2, 2), "SAME")
        [(1, 1), (0, 1)]
    """
    mode = padding.upper() if isinstance(padding, str) else padding
    if mode == "VALID":
        return [(0, 0)] * len(in_shape)
    if mode not in ("SAME", "SAME_LOWER"):
        raise _unknown_padding("padtype_to_pads", padding, ("SAME", "SAME_LOWER", "VALID"))
    pairs = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        outputs = -(-size // stride)
        total = max_size((outputs - 1) * stride + window - size, 0)
        low = total // 2 if mode == "SAME" else total - total // 2
        pairs.append((as_size(low), as_size(total - low)))
    return pairs


def _unknown_padding(
    function: str, padding: Any, known: Sequence[str]
) -> errors.ValueArgumentError:
    return errors.ValueArgumentError(
        errors.explain(
            function, f"{padding!r} is not a padding; names are {', '.join(known)}",
            {"padding": padding}, try_="padding='SAME', or pairs of ints",
        )
    )  # fmt: skip


def transpose_padding(function: str, kernel: int, stride: int, padding: str) -> tuple[int, int]:
    """Padding of the dilated input so that sizes are multiplied by the stride (SAME)."""
    if padding.upper() == "SAME":
        total = kernel + stride - 2
        low = kernel - 1 if stride > kernel - 1 else math.ceil(total / 2)
    elif padding.upper() == "VALID":
        total, low = kernel + stride - 2 + max(kernel - stride, 0), kernel - 1
    else:
        raise _unknown_padding(function, padding, ("SAME", "VALID"))
    return low, total - low


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """`ConvDimensionNumbers` of layouts given as strings (or None for the default).

    Args:
        lhs_shape, rhs_shape: shapes, of one length.
        dimension_numbers: None, a `ConvDimensionNumbers`, or three strings: N and C once each in
            the first and third, O and I in the second, equal letters for the spatial axes.

    Returns:
        Three tuples of axes, `lhs_spec`, `rhs_spec` and `out_spec`: where batch, feature and
        spatial axes (of the kernel: out, in, spatial) stand. None gives 0, 1, 2 ... for each.

    Raises:
        ShapeError: the ranks differ or are below 2.
        ValueArgumentError: the strings are not such layouts.

    Example:
        >>> from numlift.lax import conv_dimension_numbers
        >>> conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC")).rhs_spec
        (3, 2, 0, 1)
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if rank != len(rhs_shape) or rank < 2:
        raise errors.ShapeError(
            errors.explain(
                "conv_dimension_numbers", "lhs and rhs must have one rank of at least 2",
                {"lhs_shape": tuple(lhs_shape), "rhs_shape": tuple(rhs_shape)},
            )
        )  # fmt: skip
    if dimension_numbers is None:
        axes = tuple(range(rank))
        return ConvDimensionNumbers(axes, axes, axes)
    if not isinstance(dimension_numbers, (tuple, list)) or len(dimension_numbers) != 3:
        raise _bad_layout(
            "there must be three layouts: of lhs, rhs and the result", dimension_numbers
        )
    for text, pair in zip(dimension_numbers, ("NC", "OI", "NC"), strict=True):
        fine = isinstance(text, str) and len(text) == rank and len(set(text)) == rank
        if not fine or not set(pair) <= set(text):
            raise _bad_layout(
                f"{text!r} must have {rank} different letters, among them {pair[0]} and {pair[1]}",
                dimension_numbers,
            )
    return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))


def _bad_layout(rule: str, numbers: Any) -> errors.ValueArgumentError:
    return errors.ValueArgumentError(
        errors.explain(
            "conv_dimension_numbers", rule, {"dimension_numbers": numbers},
            try_="('NHWC', 'HWIO', 'NHWC') for images with channels last",
        )
    )  # fmt: skip


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Permutations that bring operands and result of three layouts to (N, C, spatial).

    Spatial axes are taken in the order in which the kernel's layout names them.

    Args:
        dimension_numbers: three strings, as in `conv_dimension_numbers`.

    Returns:
        Three tuples: element i names the axis that goes to place i.

    Raises:
        ValueArgumentError: the spatial letters of the layouts differ.

    Example:
        >>> from numlift.lax import conv_general_permutations
        >>> conv_general_permutations(("NHWC", "HWIO", "NHWC"))
        ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    lhs, rhs, out = dimension_numbers
    letters = [c for c in rhs if c not in "OI"]
    if not (set(letters) == set(lhs) - set("NC") == set(out) - set("NC")):
        raise _bad_layout("the spatial letters of the three layouts differ", dimension_numbers)

    def order(text: str, first: str, second: str) -> tuple[int, ...]:
        return (text.index(first), text.index(second), *(text.index(c) for c in letters))

    return order(lhs, "N", "C"), order(rhs, "O", "I"), order(out, "N", "C")


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """Shape of `conv` (batch, feature, spatial) for these shapes, strides and padding.

    Args:
        lhs_shape: (batch, in, *spatial).
        rhs_shape: (out, in, *spatial).
        strides: one for each spatial axis.
        pads: ``"SAME"``, ``"SAME_LOWER"``, ``"VALID"`` or a pair (low, high) for each spatial axis.
        batch_group_count: the batch of the result is smaller by this factor.

    Returns:
        (batch, out, *spatial), where a spatial size is
        ``max((size + low + high - kernel) // stride + 1, 0)``.

    Raises:
        ValueArgumentError: unknown padding.

    Example:
        >>> from numlift.lax import conv_shape_tuple
        >>> conv_shape_tuple((1, 3, 8, 8), (16, 3, 3, 3), (1, 1), "VALID")
        (1, 16, 6, 6)
    """
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    spatial = [
        max((n + low + high - k) // s + 1, 0)
        for n, k, s, (low, high) in zip(lhs_shape[2:], rhs_shape[2:], strides, pads, strict=True)
    ]
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *spatial)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: Sequence[str],
) -> tuple[int, ...]:
    """`conv_shape_tuple` for any layouts.

    Args:
        lhs_shape, rhs_shape: shapes in the first and second layout.
        window_strides: one for each spatial axis.
        padding: a name or a pair (low, high) for each spatial axis.
        dimension_numbers: three strings, as in `conv_dimension_numbers`.

    Returns:
        The shape, in the third layout.

    Raises:
        ValueArgumentError: unknown padding or layout.

    Example:
        >>> from numlift.lax import conv_general_shape_tuple
        >>> conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 16), (2, 2), "SAME",
        ...                          ("NHWC", "HWIO", "NHWC"))
        (1, 4, 4, 16)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple(
        [lhs_shape[a] for a in lhs], [rhs_shape[a] for a in rhs], window_strides, padding
    )
    placed = [0] * len(shape)
    for size, axis in zip(shape, out, strict=True):
        placed[axis] = size
    return tuple(placed)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """Shape of `conv_transpose` for these shapes, strides, padding and layouts.

    Pairs as padding are those of the convolution that is transposed, so they make the result
    smaller.

    Args:
        lhs_shape, rhs_shape: shapes in the first and second layout.
        window_strides: how much larger the result is, for each spatial axis.
        padding: ``"SAME"``, ``"VALID"`` or a pair (low, high) for each spatial axis.
        dimension_numbers: None or three strings, as in `conv_dimension_numbers`.

    Returns:
        The shape, in the third layout.

    Raises:
        ValueArgumentError: unknown padding or layout.

    Example:
        >>> from numlift.lax import conv_transpose_shape_tuple
        >>> conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME",
        ...                            ("NHWC", "HWIO", "NHWC"))
        (1, 16, 16, 4)
    """
    lhs, rhs, out = conv_dimension_numbers(tuple(lhs_shape), tuple(rhs_shape), dimension_numbers)
    strides = tuple(window_strides)
    kernel = [rhs_shape[a] for a in rhs[2:]]
    if isinstance(padding, str):
        name = "conv_transpose_shape_tuple"
        pads = [transpose_padding(name, k, s, padding) for k, s in zip(kernel, strides)]
    else:
        pads = [(k - 1 - p, k - 1 - q) for k, (p, q) in zip(kernel, padding, strict=True)]
    placed = [0] * len(lhs_shape)
    placed[out[0]], placed[out[1]] = lhs_shape[lhs[0]], rhs_shape[rhs[0]]
    for a, b, k, s, (low, high) in zip(out[2:], lhs[2:], kernel, strides, pads, strict=True):
        placed[a] = max((lhs_shape[b] - 1) * s + 1 + low + high - k + 1, 0)
    return tuple(placed)


__all__ = [
    "ConvDimensionNumbers",
    "ConvGeneralDilatedDimensionNumbers",
    "conv_dimension_numbers",
    "conv_general_permutations",
    "conv_general_shape_tuple",
    "conv_shape_tuple",
    "conv_transpose_shape_tuple",
    "padtype_to_pads",
]
