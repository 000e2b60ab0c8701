"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..ops.conv import ConvDimensionNumbers, ConvGeneralDilated, dilated
from ..ops.precision import Precision, canonical_precision
from ..ops.shape import Rev
from ..structural.shape import Transpose
from .arguments import static_ints
from .conv_shapes import (
    conv_dimension_numbers,
    pad_width,
    padtype_to_pads,
    transpose_padding,
)
from .dot import as_sharding, dot_general


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Convolution of any rank, layout, stride, dilation and grouping (a correlation, as in nets).

    ``out[b, o, y] = sum_{i, k} lhs[b, i, y * stride + k * rhs_dilation] * rhs[o, i, k]`` where lhs
    was dilated by ``lhs_dilation`` (zeros between elements) and then padded.

    Args:
        lhs: input, of rank n + 2.
        rhs: kernel, of rank n + 2 and the same dtype.
        window_strides: n positive ints.
        padding: ``"SAME"``, ``"SAME_LOWER"``, ``"VALID"`` or n pairs (low, high); negative crops.
        lhs_dilation, rhs_dilation: n positive ints, default 1.
        dimension_numbers: None (batch, feature, spatial; kernel out, in, spatial), a
            `ConvDimensionNumbers`, or three strings such as ``("NHWC", "HWIO", "NHWC")``.
        feature_group_count: lhs features and kernel outputs fall into so many separate groups.
        batch_group_count: the batch and kernel outputs fall into so many separate groups.
        precision: as in `dot_general`.
        preferred_element_type: dtype to sum in and to return.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        The convolution; its layout is the third of ``dimension_numbers``.

    Raises:
        ShapeError: sizes, ranks or group counts do not fit.
        DTypeError: dtypes differ.
        ValueArgumentError: unknown padding or layout, or a stride or dilation below 1.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import conv_general_dilated
        >>> x, k = np.ones((1, 8, 8, 3), "f"), np.ones((3, 3, 3, 16), "f")
        >>> conv_general_dilated(x, k, (2, 2), "SAME",
        ...                      dimension_numbers=("NHWC", "HWIO", "NHWC")).shape
        (1, 4, 4, 16)
    """
    name = "conv_general_dilated"
    a, b = type_of(lhs), type_of(rhs)
    if a.ndim != b.ndim:
        raise errors.ShapeError(
            errors.explain(name, f"lhs and rhs must have one rank, got {a.ndim} and {b.ndim}",
                           {"lhs": a, "rhs": b}, try_="add axes of size 1 to the smaller one")
        )  # fmt: skip
    numbers = conv_dimension_numbers(a.shape, b.shape, dimension_numbers)
    n = a.ndim - 2
    strides = _positive(name, "window_strides", window_strides, n)
    left = _positive(name, "lhs_dilation", lhs_dilation, n)
    right = _positive(name, "rhs_dilation", rhs_dilation, n)
    if isinstance(padding, str):
        if any(d != 1 for d in left):
            raise errors.ValueArgumentError(
                errors.explain(name, "a padding by name is not defined with lhs_dilation",
                               {"padding": padding, "lhs_dilation": left},
                               try_="pairs of ints as padding, or lax.conv_transpose")
            )  # fmt: skip
        sizes = [a.shape[i] for i in numbers.lhs_spec[2:]]
        window = [dilated(b.shape[i], d) for i, d in zip(numbers.rhs_spec[2:], right, strict=True)]
        padding = padtype_to_pads(sizes, window, strides, padding)
    op = ConvGeneralDilated.of(
        strides, _pairs(name, padding, n), left, right, numbers, int(feature_group_count),
        int(batch_group_count), canonical_precision(precision, name),
        None if preferred_element_type is None else user_dtype(preferred_element_type, name),
        None if out_sharding is None else as_sharding(out_sharding, (lhs, rhs), name),
    )  # fmt: skip
    return apply(op, lhs, rhs)


def _positive(function: str, what: str, values: Any, n: int) -> tuple[int, ...]:
    """n positive ints; None stands for ones."""
    if values is None:
        return (1,) * n
    try:
        given = static_ints(function, what, values)
    except errors.ArgumentError:
        given = ()
    if len(given) != n or any(v < 1 for v in given):
        raise errors.ValueArgumentError(
            errors.explain(function, f"{what} must be {n} positive ints, one a spatial axis",
                           {what: values}, try_=f"{what}={(1,) * n}")
        )  # fmt: skip
    return given


def _pairs(function: str, padding: Any, n: int) -> tuple[tuple[int, int], ...]:
    try:
        pairs = tuple((pad_width(low), pad_width(high)) for low, high in padding)
    except (TypeError, ValueError):
        pairs = None
    if pairs is None or len(pairs) != n:
        raise errors.ValueArgumentError(
            errors.explain(function, f"padding must be {n} pairs (low, high) or a name",
                           {"padding": padding}, try_=f"padding={[(0, 0)] * n} or 'SAME'")
        )  # fmt: skip
    return pairs


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolution with axes (batch, feature, spatial) and kernel (out, in, spatial).

    Args:
        lhs: input (batch, in, *spatial), of rank n + 2.
        rhs: kernel (out, in, *spatial), of the same rank and dtype.
        window_strides: n positive ints.
        padding: ``"SAME"``, ``"SAME_LOWER"`` or ``"VALID"``.
        precision, preferred_element_type: as in `conv_general_dilated`.

    Returns:
        (batch, out, *spatial) of the operands' dtype, or of `preferred_element_type`.

    Raises:
        ShapeError: the ranks or the numbers of features differ.
        DTypeError: dtypes differ.
        ValueArgumentError: unknown padding, or a stride below 1.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import conv
        >>> conv(np.ones((1, 3, 8, 8), "f"), np.ones((16, 3, 3, 3), "f"), (1, 1), "SAME").shape
        (1, 16, 8, 8)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv` with any padding and dilations; see `conv_general_dilated`.

    Args:
        lhs: input (batch, in, *spatial), of rank n + 2.
        rhs: kernel (out, in, *spatial), of the same rank and dtype.
        window_strides: n positive ints.
        padding: a name, or n pairs (low, high); negative ones crop.
        lhs_dilation, rhs_dilation: n positive ints each, or None for ones.
        precision, preferred_element_type: as in `conv_general_dilated`.

    Returns:
        (batch, out, *spatial) of the operands' dtype, or of `preferred_element_type`.

    Raises:
        ShapeError: the ranks or the numbers of features differ.
        DTypeError: dtypes differ.
        ValueArgumentError: unknown padding, a stride or dilation below 1, or a padding by name
            beside an `lhs_dilation`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import conv_with_general_padding
        >>> x, k = np.ones((1, 1, 5), "f"), np.ones((1, 1, 3), "f")
        >>> conv_with_general_padding(x, k, (1,), [(2, 2)], None, None).shape
        (1, 1, 7)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """Transposed ("fractionally strided") convolution: lhs dilated by `strides`, then convolved.

    Args:
        lhs, rhs: input and kernel.
        strides: how much larger the result is than lhs, an axis.
        padding: ``"SAME"``, ``"VALID"``, or pairs. Pairs pad the dilated lhs as they are, unless
            ``use_consistent_padding``.
        rhs_dilation: dilation of the kernel.
        dimension_numbers: as in `conv_general_dilated`; default channels last
            (``("NHWC", "HWIO", "NHWC")`` for two spatial axes).
        transpose_kernel: mirror the kernel and swap its in and out features, so that this is the
            gradient of `conv_general_dilated` with respect to its input.
        precision, preferred_element_type: as in `conv_general_dilated`.
        use_consistent_padding: pairs mean the padding of the convolution that this transposes, as
            in other libraries: the dilated lhs is padded by ``kernel - 1 - padding``.

    Returns:
        The result, of the operands' dtype or of `preferred_element_type`, in the third layout. For
        SAME a spatial axis has ``size * stride`` elements, for VALID
        ``size * stride + max(kernel - stride, 0)``.

    Raises:
        ShapeError: the ranks or the numbers of features differ.
        DTypeError: dtypes differ.
        ValueArgumentError: unknown padding (SAME_LOWER is none here) or layout, or a stride or
            dilation below 1.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import conv_transpose
        >>> conv_transpose(np.ones((1, 5, 1), "f"), np.ones((3, 1, 1), "f"), (2,), "SAME").shape
        (1, 10, 1)
    """
    name = "conv_transpose"
    a, b = type_of(lhs), type_of(rhs)
    n = a.ndim - 2
    if dimension_numbers is None:
        letters = "".join(chr(ord("0") + i) for i in range(n))
        dimension_numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    numbers = conv_dimension_numbers(a.shape, b.shape, dimension_numbers)
    strides = _positive(name, "strides", strides, n)
    dilation = _positive(name, "rhs_dilation", rhs_dilation, n)
    kernel = [dilated(b.shape[i], d) for i, d in zip(numbers.rhs_spec[2:], dilation, strict=True)]
    if isinstance(padding, str):
        pads = tuple(
            transpose_padding(name, k, s, padding) for k, s in zip(kernel, strides, strict=True)
        )
    else:
        pads = _pairs(name, padding, n)
        if use_consistent_padding:
            pads = tuple((k - 1 - p, k - 1 - q) for k, (p, q) in zip(kernel, pads, strict=True))
    if transpose_kernel:
        rhs = apply(Rev.of(numbers.rhs_spec[2:]), rhs)
        out, into = numbers.rhs_spec[:2]
        order = list(range(b.ndim))
        order[out], order[into] = into, out
        rhs = apply(Transpose.of(tuple(order)), rhs)
    return conv_general_dilated(
        lhs, rhs, (1,) * n, pads, strides, dilation, numbers, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The patches that a convolution with this window would see, one along the feature axis.

    The feature axis of the result has ``C * prod(filter_shape)`` entries, the window's elements
    varying fastest: entry ``c * prod(filter_shape) + k`` is element k of feature c.

    Args:
        lhs: input, of rank n + 2.
        filter_shape: spatial shape of the window.
        window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, precision,
            preferred_element_type: as in `conv_general_dilated`.

    Returns:
        An array of lhs' dtype (or of `preferred_element_type`) in the third layout: the batch, so
        many features, and the spatial shape that the convolution would have.

    Raises:
        ValueArgumentError: as in `conv_general_dilated`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import conv_general_dilated_patches
        >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
        >>> conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID").shape
        (1, 4, 2, 2)
    """
    a = type_of(lhs)
    filter_shape = tuple(int(k) for k in filter_shape)
    taps = math.prod(filter_shape)
    numbers = conv_dimension_numbers(a.shape, (0,) * a.ndim, dimension_numbers)
    features = a.shape[numbers.lhs_spec[1]]
    # A kernel with one 1 a window position, the same for every feature.
    kernel = np.eye(taps, dtype=a.dtype).reshape(taps, 1, *filter_shape)
    kernel = np.tile(kernel, (features, *(1,) * (a.ndim - 1)))
    placed = np.moveaxis(kernel, range(a.ndim), numbers.rhs_spec)
    if precision is None:
        precision = Precision.HIGHEST
    return conv_general_dilated(
        lhs, placed, window_strides, padding, lhs_dilation, rhs_dilation, numbers,
        feature_group_count=max(features, 1), precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """Convolution whose kernel differs from place to place ("locally connected").

    Args:
        lhs: input, of rank n + 2.
        rhs: one kernel an output position: out features, ``C * prod(filter_shape)`` (ordered as
            the patches of `conv_general_dilated_patches`), and the spatial shape of the result, in
            the kernel's layout.
        filter_shape: spatial shape of the window.
        window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, precision: as in
            `conv_general_dilated`.

    Returns:
        (batch, out, *spatial), in the third layout, of the operands' dtype.

    Raises:
        ShapeError: `rhs` has not one kernel for each output position.
        ValueArgumentError: as in `conv_general_dilated`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import conv_general_dilated_local
        >>> x, k = np.ones((1, 2, 3, 3), "f"), np.ones((3, 8, 2, 2), "f")
        >>> conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 2)).shape
        (1, 3, 2, 2)
    """
    a = type_of(lhs)
    numbers = conv_dimension_numbers(a.shape, type_of(rhs).shape, dimension_numbers)
    lhs_spec, rhs_spec, out_spec = numbers
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation,
        ConvDimensionNumbers(lhs_spec, rhs_spec, lhs_spec), precision,
    )  # fmt: skip
    # Result of the product: spatial axes, out features, batch.
    product = dot_general(
        rhs, patches, (((rhs_spec[1],), (lhs_spec[1],)), (rhs_spec[2:], lhs_spec[2:])), precision
    )
    n = a.ndim - 2
    order = [0] * a.ndim
    for i, axis in enumerate(out_spec[2:]):
        order[axis] = i
    order[out_spec[1]], order[out_spec[0]] = n, n + 1
    return apply(Transpose.of(tuple(order)), product)


__all__ = [
    "conv",
    "conv_general_dilated",
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_transpose",
    "conv_with_general_padding",
]
