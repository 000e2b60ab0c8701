"""choose, place, and bits packed into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.integers import check_number
from ..core.tracing import apply, type_of
from ..lax.arguments import static_int
from ..ops.cumulative import CumSum
from ..ops.elementwise_binary import (
    and_,
    clamp,
    rem,
    shift_left,
    shift_right_logical,
)
from ..ops.shape import Pad
from ..structural.arith import add, convert, select, sub
from ..structural.shape import ReduceSum, Reshape
from .pieces import concrete_array, moved, part, reshape_to, take
from .util import as_value, broadcast_shape, broadcast_to_shape, check_axis, need_word, promote

_INT, _BYTE = np.dtype(np.int32), np.dtype(np.uint8)


@explains
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """From each choice the elements where `a` holds its number: ``choices[a[i]][i]``.

    Args:
        a: array of ints.
        choices: sequence of arrays (or an array, for its rows) that broadcast with `a`.
        out: must be None.
        mode: numbers out of range: "raise" (needs a concrete `a`), "wrap", or "clip".

    Returns:
        Array of the broadcast shape. The derivative goes to the chosen elements.

    Raises:
        ValueArgumentError: a number is out of range, or an unknown mode.
        DTypeError: `a` holds no integers.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.choose(np.array([1, 0]), [np.array([1, 2]), np.array([3, 4])]))
        [3 2]
    """
    if out is not None:
        raise errors.ArgumentError(
            errors.explain("choose", "out is not supported: arrays are immutable")
        )
    index = as_value(a, "choose")
    if type_of(index).kind not in "biu":
        raise errors.DTypeError(
            errors.explain("choose", "a must hold integers", {"a": type_of(index)})
        )
    need_word("choose", "mode", mode)
    if mode == "raise":
        count = len(choices)
        values = concrete_array("choose", index, "a", "mode='raise' looks at its values")
        if values.size and (values.min() < 0 or values.max() >= count):
            raise errors.ValueArgumentError(
                errors.explain(
                    "choose",
                    f"a number is out of range for {count} choices",
                    {"a": type_of(index)},
                    try_="mode='clip' or mode='wrap'",
                )
            )
    elif mode not in ("wrap", "clip"):
        raise errors.ValueArgumentError(
            errors.explain("choose", "mode must be 'raise', 'wrap' or 'clip'", {"mode": mode})
        )
    return _choose(index, choices, mode)


@library(arrays=2)
def _choose(index: Any, choices: Any, mode: str) -> Any:
    if isinstance(choices, (list, tuple)):
        cases = promote(*[as_value(c, "choose", "choices") for c in choices])
    else:
        t = type_of(choices)
        cases = [reshape_to(part(choices, 0, i, i + 1), t.shape[1:]) for i in range(t.shape[0])]
    if not cases:
        raise errors.ValueArgumentError(errors.explain("choose", "there are no choices"))
    count = np.int32(len(cases))
    which = convert(index, _INT)
    if mode == "wrap":
        which = apply(rem, apply(add, apply(rem, which, count), count), count)
    else:
        which = apply(clamp, np.int32(0), which, np.int32(count - 1))
    shape = broadcast_shape("choose", type_of(which).shape, *[type_of(c).shape for c in cases])
    spread = [broadcast_to_shape(c, shape) for c in cases]
    return apply(select, broadcast_to_shape(which, shape), *spread)


@library(arrays=3)
def _place(arr: Any, mask: Any, vals: Any) -> Any:
    x, v = as_value(arr, "place", "arr"), as_value(vals, "place", "vals")
    t = type_of(x)
    mask = as_value(mask, "place", "mask")
    if type_of(mask).size != t.size:
        raise errors.ShapeError(
            errors.explain(
                "place", "arr and mask must be of equal size", {"arr": t, "mask": type_of(mask)}
            )
        )
    check_number("place", v, t)
    v = convert(reshape_to(v, (type_of(v).size,)), t.dtype)
    count = type_of(v).size
    if count == 0:
        raise errors.ValueArgumentError(errors.explain("place", "vals must not be empty"))
    on = reshape_to(convert(mask, np.dtype(bool)), (t.size,))
    # The k-th True takes value k modulo the number of values.
    rank = apply(sub, apply(CumSum.of(0, False), convert(on, _INT)), np.int32(1))
    index = apply(rem, apply(clamp, np.int32(0), rank, np.int32(max(t.size, 1))), np.int32(count))
    out = apply(select, on, reshape_to(x, (t.size,)), take(v, index, 0))
    return reshape_to(out, t.shape)


@explains
def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """The array with the elements where a mask is True replaced by values, one after the other.

    Args:
        arr: array of any shape and dtype.
        mask: bools, or numbers that count as true unless 0; as many as `arr` has elements.
        vals: values, flattened, converted to the dtype of `arr`, and repeated as often as needed.
        inplace: must be False: arrays are immutable, and the result is a new array.

    Returns:
        Array of the shape and dtype of `arr`. Derivative: 0 in the elements that were replaced, and
        sums over its places in each value.

    Raises:
        ValueArgumentError: `inplace` is True, or `vals` is empty.
        ShapeError: `mask` has another size than `arr`.

    Differences from NumPy: returns the result, and ``inplace=False`` is required, as in JAX.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.place(np.arange(4), np.array([1, 0, 1, 0]), np.array([7, 8]), inplace=False))
        [7 1 8 3]
    """
    if inplace:
        raise errors.ValueArgumentError(
            errors.explain(
                "place",
                "arrays are immutable",
                try_="x = np.place(x, mask, vals, inplace=False)",
            )
        )
    return _place(arr, mask, vals)


def _bit_order(function: str, bitorder: str) -> np.ndarray:
    need_word(function, "bitorder", bitorder)
    if bitorder not in ("big", "little"):
        raise errors.ValueArgumentError(
            errors.explain(function, "bitorder must be 'big' or 'little'", {"bitorder": bitorder})
        )
    shifts = np.arange(8, dtype=np.uint8)
    return shifts[::-1] if bitorder == "big" else shifts


@library()
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
    """Bools (or integers, for "not zero") as the bits of bytes.

    Args:
        a: array of bools or integers, any shape.
        axis: int, the axis along which eight elements become one byte, filled with zeros at its
            end; None flattens `a`.
        bitorder: "big": the first element is the highest bit; "little": the lowest.

    Returns:
        uint8 array, an eighth as long along the axis.

    Raises:
        DTypeError: neither bools nor integers.  ValueArgumentError: unknown bitorder.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.packbits(np.array([1, 0, 1])))
        [160]
    """
    x = as_value(a, "packbits")
    t = type_of(x)
    shifts = _bit_order("packbits", bitorder)
    if t.kind not in "biu":
        raise errors.DTypeError(
            errors.explain("packbits", "a must hold bools or integers", {"a": t})
        )
    if axis is None:
        x, axis = reshape_to(x, (t.size,)), 0
    axis = check_axis("packbits", axis, type_of(x).ndim)
    bits = convert(convert(x, np.dtype(bool)), _BYTE)
    last = type_of(bits).ndim - 1
    bits = moved(bits, axis, last)
    *rest, n = type_of(bits).shape
    config = ((0, 0, 0),) * last + ((0, -n % 8, 0),)
    bits = apply(Pad.of(config), bits, np.uint8(0))
    bits = apply(Reshape.of((*rest, -(-n // 8), 8), None), bits)
    shifted = apply(shift_left, bits, broadcast_to_shape(shifts, type_of(bits).shape))
    return moved(apply(ReduceSum.of((last + 1,)), shifted), last, axis)


@library()
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """The bits of bytes, as an array of zeros and ones: the inverse of `packbits`.

    Args:
        a: uint8 array of any shape.
        axis: int, the axis along which each byte becomes eight elements; None flattens `a`.
        count: int, how many bits to keep along the axis (more: zeros are added; negative: so many
            are cut off the end); None is all.
        bitorder: "big": the first element is the highest bit; "little": the lowest.

    Returns:
        uint8 array, eight times as long along the axis if `count` is None.

    Raises:
        DTypeError: not uint8.  ValueArgumentError: unknown bitorder, or count cuts off too much.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.unpackbits(np.array([160], dtype=np.uint8), count=3))
        [1 0 1]
    """
    x = as_value(a, "unpackbits")
    t = type_of(x)
    shifts = _bit_order("unpackbits", bitorder)
    if t.dtype != _BYTE:
        raise errors.DTypeError(errors.explain("unpackbits", "a must be uint8", {"a": t}))
    if axis is None:
        x, axis = reshape_to(x, (t.size,)), 0
    axis = check_axis("unpackbits", axis, type_of(x).ndim)
    last = type_of(x).ndim - 1
    x = moved(x, axis, last)
    *rest, n = type_of(x).shape
    wide = broadcast_to_shape(apply(Reshape.of((*rest, n, 1), None), x), (*rest, n, 8))
    bits = apply(shift_right_logical, wide, broadcast_to_shape(shifts, (*rest, n, 8)))
    bits = apply(Reshape.of((*rest, 8 * n), None), apply(and_, bits, np.uint8(1)))
    if count is not None:
        count = static_int("unpackbits", "count", count)
        size = count if count >= 0 else 8 * n + count
        if size < 0:
            raise errors.ValueArgumentError(
                errors.explain("unpackbits", f"count {count} cuts off more than {8 * n} bits")
            )
        bits = apply(Pad.of(((0, 0, 0),) * last + ((0, size - 8 * n, 0),)), bits, np.uint8(0))
    return moved(bits, last, axis)


__all__ = [
    "choose",
    "packbits",
    "place",
    "unpackbits",
]
