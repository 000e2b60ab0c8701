"""NumPy's iterators and views by strides, for arrays with traced elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import errors
from .. import numpy as nlnp
from ..core.tracing import Value
from .calls import call
from .writable import Writable, has_traced, is_writable, plain, wrap


def fromiter(iter: Any, dtype: Any, count: int = -1, **kwargs: Any) -> Any:
    """`numpy.fromiter`."""
    items = list(plain(list(iter)))
    if not has_traced(items):
        return wrap(np.fromiter(items, plain(dtype), count, **kwargs))
    return wrap(nlnp.stack(list(map(nlnp.asarray, items[: count if count >= 0 else None]))).astype(
        plain(dtype)
    ))  # fmt: skip


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """`numpy.ndenumerate`."""
    for index in np.ndindex(*np.shape(plain(arr))):
        yield index, arr[index] if is_writable(arr) else wrap(plain(arr)[index])


def nditer(op: Any, flags: Any = (), op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`numpy.nditer`: of one array, over its elements in C order."""
    if not has_traced(plain(op)) and not is_writable(op):
        return np.nditer(op, flags, op_flags, *args, **kwargs)
    if type(op) is not Writable or args or kwargs or set(flags) - {"multi_index", "c_index"}:
        raise errors.ArgumentError(
            errors.explain(
                "lift",
                "np.nditer with traced values goes over one array, without buffers",
                try_="for index in np.ndindex(a.shape): ... a[index] ..., or np.broadcast_arrays",
            )
        )
    return _NdIter(op)


class _NdIter:
    def __init__(self, op: Writable):
        self.operands = (op,)
        self._places = iter(list(np.ndindex(*op.shape)))
        self.multi_index: tuple[int, ...] = ()
        self.index = -1

    def __enter__(self) -> _NdIter:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    def __iter__(self) -> _NdIter:
        return self

    def __next__(self) -> Any:
        self.multi_index = next(self._places)
        self.index += 1
        return self.operands[0][(*self.multi_index, ...)]


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """`numpy.lib.stride_tricks.sliding_window_view`, only to be read."""
    theirs = np.lib.stride_tricks.sliding_window_view
    value = plain(x)
    if writeable and isinstance(value, Value):
        raise errors.ValueArgumentError(
            errors.explain("lift", "windows of a traced array cannot be written", {"x": value.type})
        )

    def get(whole: Any) -> Any:
        if not isinstance(whole, Value):
            return theirs(whole, window_shape, axis, subok=subok, writeable=writeable)
        array = nlnp.asarray(whole)
        places = theirs(np.arange(array.size).reshape(array.shape), window_shape, axis)
        return array.reshape(-1)[places]

    return Writable(get(value), x, get) if is_writable(x) else wrap(get(value), None)


def as_strided(x: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.lib.stride_tricks.as_strided`, of known arrays."""
    value = plain(x)
    if isinstance(value, Value):
        raise errors.ValueArgumentError(
            errors.explain(
                "lift",
                "np.lib.stride_tricks.as_strided: traced values have no strides",
                {"x": value.type},
                try_="sliding_window_view(x, n), or x[places] with an array of places",
            )
        )
    theirs = np.lib.stride_tricks.as_strided
    return call("as_strided", theirs, theirs, (x, *args), kwargs)


ITERATION = {"fromiter": fromiter, "ndenumerate": ndenumerate, "nditer": nditer}
"""Name -> function or class of `numpy` in lifted code."""
