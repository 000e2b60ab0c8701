"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import Dim, as_size, max_size
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..ops.conv import ConvDimensionNumbers, ConvGeneralDilated, dilated
from ..ops.precision import Precision, canonical_precision
from ..ops.shape import Rev
from ..structural.shape import Transpose
from .arguments import static_ints
from .dot import as_sharding, dot_general

ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]
"""What `dimension_numbers=` of convolutions takes, for annotations."""


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


def pad_width(x: Any) -> Any:
    """How much is padded at one end: an int, or a symbolic size."""
    return x if type(x) is Dim else int(x)


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
        lhs, rhs, window_strides, precision, preferred_element_type: as in `conv_general_dilated`.
        padding: ``"SAME"``, ``"SAME_LOWER"`` or ``"VALID"``.

    Example:
        >>> import numpy as np
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

    Example:
        >>> import numpy as np
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

    Example:
        >>> import numpy as np
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
            _transpose_padding(name, k, s, padding) for k, s in zip(kernel, strides, strict=True)
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


def _transpose_padding(function: str, kernel: int, stride: int, padding: str) -> tuple[int, int]:
    """Padding of the dilated input so that sizes are multiplied by the stride (SAME)."""
    if padding.upper() == "SAME":
        total = kernel + stride - 2
        low = kernel - 1 if stride > kernel - 1 else math.ceil(total / 2)
    elif padding.upper() == "VALID":
        total, low = kernel + stride - 2 + max(kernel - stride, 0), kernel - 1
    else:
        raise _unknown_padding(function, padding, ("SAME", "VALID"))
    return low, total - low


def _unknown_padding(
    function: str, padding: Any, known: Sequence[str]
) -> errors.ValueArgumentError:
    return errors.ValueArgumentError(
        errors.explain(
            function, f"{padding!r} is not a padding; names are {', '.join(known)}",
            {"padding": padding}, try_="padding='SAME', or pairs of ints",
        )
    )  # fmt: skip


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """Pairs (low, high) that a padding name stands for.

    SAME makes ``out = ceil(in / stride)``, an odd total padding more at the high end; SAME_LOWER
    more at the low end; VALID pads nothing.

    Example:
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


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """`ConvDimensionNumbers` of layouts given as strings (or None for the default).

    Args:
        lhs_shape, rhs_shape: shapes, of one length.
        dimension_numbers: None, a `ConvDimensionNumbers`, or three strings: N and C once each in
            the first and third, O and I in the second, equal letters for the spatial axes.

    Raises:
        ValueArgumentError: the strings are not such layouts.

    Example:
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

    Example:
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

    Example:
        >>> import numpy as np
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

    Example:
        >>> import numpy as np
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


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """Shape of `conv` (batch, feature, spatial) for these shapes, strides and padding.

    Example:
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

    Example:
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

    Example:
        >>> conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME",
        ...                            ("NHWC", "HWIO", "NHWC"))
        (1, 16, 16, 4)
    """
    lhs, rhs, out = conv_dimension_numbers(tuple(lhs_shape), tuple(rhs_shape), dimension_numbers)
    strides = tuple(window_strides)
    kernel = [rhs_shape[a] for a in rhs[2:]]
    if isinstance(padding, str):
        name = "conv_transpose_shape_tuple"
        pads = [_transpose_padding(name, k, s, padding) for k, s in zip(kernel, strides)]
    else:
        pads = [(k - 1 - p, k - 1 - q) for k, (p, q) in zip(kernel, padding, strict=True)]
    placed = [0] * len(lhs_shape)
    placed[out[0]], placed[out[1]] = lhs_shape[lhs[0]], rhs_shape[rhs[0]]
    for a, b, k, s, (low, high) in zip(out[2:], lhs[2:], kernel, strides, pads, strict=True):
        placed[a] = max((lhs_shape[b] - 1) * s + 1 + low + high - k + 1, 0)
    return tuple(placed)


__all__ = [
    "ConvGeneralDilatedDimensionNumbers",
    "conv_transpose_shape_tuple",
    "ConvDimensionNumbers",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_general_permutations",
    "conv_general_shape_tuple",
    "conv_shape_tuple",
    "conv_transpose",
    "conv_with_general_padding",
    "padtype_to_pads",
]
