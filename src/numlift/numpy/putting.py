"""put: a changed copy of an array, by flat indices."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.bad_calls import explains
from ..core.integers import check_number
from .arithmetic import remainder
from .creation import as_owned
from .index_arrays import check_known, integer_indices, narrowed
from .manipulation import ravel, reshape
from .util import as_value

_MODES = (None, "fill", "drop", "clip", "wrap", "promise_in_bounds")


@explains
def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """A copy of `a` with values at indices into its elements in row-major order.

    Args:
        a: array.
        ind: integers; negative ones count from the end.
        v: values, used over and over again if there are fewer than indices.
        mode: what happens to indices out of bounds: "drop" (nothing is written), "clip", "wrap" or
            "promise_in_bounds". None: those that Python knows (numbers, lists, NumPy arrays) raise
            an error, others are dropped.
        inplace: must be False: arrays are immutable.

    Returns:
        Array like `a`. Derivatives flow to the elements kept and to the values written.

    Raises:
        ImmutableArrayError: `inplace` is True.  ValueArgumentError: unknown mode.
        IndexingError: an index that Python knows is out of bounds.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.put(np.zeros((2, 2)), np.asarray([0, 3]), 5.0, inplace=False))
        [[5. 0.]
         [0. 5.]]
    """
    if inplace:
        raise errors.ImmutableArrayError(
            errors.explain(
                "put", "arrays are immutable", try_="a = np.put(a, ind, v, inplace=False)"
            )
        )
    if mode not in _MODES:
        raise errors.ValueArgumentError(
            errors.explain("put", f"mode {mode!r} does not exist", try_="mode='clip'")
        )
    x = as_owned(as_value(a, "put", "a"))
    check_number("put", v, x.type)
    ind = integer_indices("put", ind)
    if mode is None:
        check_known("put", ind, x.size, None, 'mode="drop" or mode="clip" to allow it')
    ind = narrowed(ind, x.size, mode == "wrap")
    places, values = ravel(as_owned(ind)), ravel(as_owned(v))
    if not places.size or not values.size or not x.size:
        return x
    if values.size != 1:
        times = -(-places.size // values.size)
        values = ravel(values[None].repeat(times, 0))[: places.size]
    else:
        values = values[0]
    flat = ravel(x)
    if mode == "wrap":
        places, mode = remainder(places, x.size), None
    if mode == "clip":
        places = places.clip(0, x.size - 1)
    return reshape(flat.at[places].set(values, mode=mode), x.shape)


__all__ = ["put"]
