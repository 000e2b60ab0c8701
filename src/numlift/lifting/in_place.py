"""Functions and methods of NumPy that write into their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as nlnp
from .selection import scattered, selection
from .writable import Writable, has_traced, is_writable, plain


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Any:
    return src if where is True else nlnp.where(where, src, dst)


def _putmask(a: Any, mask: Any, values: Any) -> Any:
    """Element i of the flat array becomes ``values[i % len(values)]`` where the mask holds."""
    a, values = nlnp.asarray(a), nlnp.ravel(nlnp.asarray(values))
    repeated = values[np.arange(a.size) % max(values.size, 1)].reshape(a.shape)
    return nlnp.where(mask, repeated, a)


def _kept(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: function(x, *args, **kwargs, inplace=False)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "copyto": _copyto,
    "putmask": _putmask,
    "place": _kept(nlnp.place),
    "put": _kept(nlnp.put),
    "fill_diagonal": _kept(nlnp.fill_diagonal),
    "put_along_axis": _kept(nlnp.put_along_axis),
}
"""Name -> function of the same arguments that returns the new array."""


def _may_write(x: Writable) -> None:
    if x._read_only is not None:
        x.write(None)  # raises


def call(name: str, theirs: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Run a function that writes into its first argument, which is writable."""
    target: Writable = args[0]
    values, options = plain((target, *args[1:])), plain(kwargs)
    if has_traced((values, options)):
        target.assign(FUNCTIONS[name](*values, **options))
        return
    _may_write(target)
    theirs(*values, **options)


def ufunc_at(ufunc: np.ufunc, inputs: Any) -> None:
    """``ufunc.at(a, indices, b)``."""
    target, values = inputs[0], plain(inputs)
    selected = is_writable(target) and selection(values[1], values[0]) is not None
    if selected:
        index, new = scattered(values[1], values[0], values[2] if len(values) > 2 else 0)
        values = (values[0], index, new)[: len(values)]
    if not is_writable(target) or not (selected or has_traced(values)):
        if is_writable(target):
            _may_write(target)
        ufunc.at(*values)
        return
    function: Any = getattr(nlnp, ufunc.__name__)
    target.assign(function.at(nlnp.asarray(values[0]), *values[1:], inplace=False))


def _sorting(ours: Callable[..., Any]) -> Callable[..., None]:
    def method(x: Writable, *args: Any, **kwargs: Any) -> None:
        value = x.read()
        if isinstance(value, np.ndarray):
            _may_write(x)
            getattr(value, ours.__name__)(*args, **kwargs)
        else:
            x.assign(ours(value, *plain(args), **plain(kwargs)))

    return method


def _fill(x: Writable, value: Any) -> None:
    x.assign(plain(value))


def _put(x: Writable, indices: Any, values: Any, mode: str = "raise") -> None:
    call("put", np.put, (x, indices, values), {"mode": mode} if mode != "raise" else {})


METHODS: dict[str, Callable[..., None]] = {
    "sort": _sorting(nlnp.sort),
    "partition": _sorting(nlnp.partition),
    "fill": _fill,
    "put": _put,
}
