"""Which results of NumPy share memory with their argument, and how writes go through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import errors, lax
from .. import numpy as nlnp
from ..core.tracing import Value
from ..tree import tree_map
from .writable import Getter, Putter, Writable, has_traced, plain, wrap

ATTRIBUTES: dict[str, tuple[Getter, Putter | None]] = {
    "T": (lambda x: x.T, lambda whole, new: new.T),
    "mT": (lambda x: x.mT, lambda whole, new: new.mT),
    "real": (lambda x: x.real, lambda whole, new: _with_real(whole, new)),
    "imag": (lambda x: x.imag, lambda whole, new: _with_imag(whole, new)),
    "flat": (lambda x: x.reshape(-1), lambda whole, new: new.reshape(whole.shape)),
}


def _with_real(whole: Any, new: Any) -> Any:
    whole = nlnp.asarray(whole)
    return lax.complex(nlnp.asarray(new), whole.imag) if whole.dtype.kind == "c" else new


def _with_imag(whole: Any, new: Any) -> Any:
    whole = nlnp.asarray(whole)
    if whole.dtype.kind != "c":
        raise errors.ValueArgumentError(
            errors.explain(
                "lift",
                "the imaginary part of a real array cannot be written",
                {"array": whole},
                try_="an array with dtype=complex",
            )
        )
    return lax.complex(whole.real, nlnp.asarray(new))


def _same_elements(whole: Any, new: Any) -> Any:
    return new.reshape(whole.shape)


_SAME_ELEMENTS = frozenset({
    "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "reshape", "ravel",
})  # fmt: skip
_ITSELF = frozenset({
    "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require",
    "astype",
})  # fmt: skip
"""Functions that return an array that needs no change itself."""
_COPYING = frozenset({"astype", "array"})
"""Functions that copy unless ``copy=False``."""
_DEPENDING = frozenset({*_ITSELF, *_COPYING, "reshape", "ravel", "view"})
"""Functions whose result is a view or a copy, depending on the layout or the dtype."""
_FOLLOWED = frozenset({
    *_SAME_ELEMENTS, *_DEPENDING, "atleast_3d", "transpose", "permute_dims", "matrix_transpose",
    "swapaxes", "moveaxis", "rollaxis", "flip", "fliplr", "flipud", "rot90", "broadcast_to",
    "diagonal", "real", "imag", "diag",
})  # fmt: skip
REORDERED = frozenset(
    {
        "cross",
        "apply_along_axis",
        "apply_over_axes",
        "einsum",
        "take",
        "fft",
        "ifft",
        "rfft",
        "irfft",
        "hfft",
        "ihfft",
        "fft2",
        "ifft2",
        "rfft2",
        "irfft2",
        "fftn",
        "ifftn",
        "rfftn",
        "irfftn",
    }
)
"""Functions whose result may be in another order than C for arguments in C order."""
RANK_0 = frozenset({
    "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite",
    "require", "copy", "full", "full_like", "zeros_like", "ones_like", "empty_like", "where",
    "reshape", "squeeze", "broadcast_to", "select", "piecewise",
})  # fmt: skip
"""Functions that give arrays of rank 0 where others give scalars."""
_LISTS = frozenset({"split", "array_split", "hsplit", "vsplit", "dsplit", "unstack"})


def _scattered(get: Getter) -> Putter:
    """Write through any view that shows elements once: by where its elements come from."""

    def put(whole: Any, new: Any) -> Any:
        size = int(np.prod(whole.shape))
        places = np.ravel(get(np.arange(size).reshape(whole.shape)))
        whole, new = nlnp.asarray(whole), nlnp.asarray(new)
        if places.size == size:
            return new.reshape(-1)[np.argsort(places, kind="stable")].reshape(whole.shape)
        return whole.reshape(-1).at[places].set(new.reshape(-1)).reshape(whole.shape)

    return put


def _arrays(args: Any) -> Iterator[Writable]:
    for x in args:
        if type(x) is Writable:
            yield x
        elif type(x) in (tuple, list):
            yield from _arrays(x)


def are_ordered(args: Any) -> bool:
    """Whether all arrays among the arguments are known to be in C order."""
    return all(x.is_ordered() for x in _arrays(args))


def layout_of_result(args: Any) -> Any:
    """Layout of what a function makes of its arguments: theirs, if there is one layout only."""
    others = [x for x in _arrays(args) if not x.is_ordered()]
    if not others:
        return True
    many = [x for x in _arrays(args) if np.ndim(x.read()) > 1]
    return others[0].layout() if len(many) == 1 else None


def linked(x: Any, args: Any) -> Any:
    """One of several results: whoever shares its memory is known for NumPy's arrays only."""
    if isinstance(x, np.ndarray):
        for owner in _arrays(args):
            value = owner.read()
            if isinstance(value, np.ndarray) and np.may_share_memory(x, value):
                return Writable(x, owner)
    return wrap(x)


def of_einsum(run: Callable[[Any, Any], Any], found: Any, args: Any, kwargs: Any) -> Any:
    """The result of `numpy.einsum`: of one array and without a sum, as "ii->i", it is a view."""
    if isinstance(found, Value) and len(args) == 2 and type(args[1]) is Writable:
        owner, options = args[1], plain(kwargs)

        def get(x: Any) -> Any:
            return run((args[0], x), options)

        layout = owner.layout()
        if layout is None:
            return Writable(found, owner)
        if np.may_share_memory(get(layout), layout):
            return Writable(found, owner, get, _scattered(get))
    return linked(found, args) if isinstance(found, np.ndarray) else wrap(found, None)


def broadcast(found: Any, args: Any) -> Any:
    """The results of `numpy.broadcast_arrays`: views of the arguments, only to be read."""

    def one(part: Any, owner: Any) -> Any:
        if type(owner) is not Writable:
            return wrap(part)
        shape = np.shape(part)
        if shape == np.shape(owner.read()):
            return owner
        return Writable(
            part,
            owner,
            lambda x: (
                nlnp.broadcast_to(x, shape) if isinstance(x, Value) else np.broadcast_to(x, shape)
            ),
        )

    return tuple(map(one, found, args))


def joined(name: str, run: Callable[[Any, Any], Any], found: Any, args: Any, kwargs: Any) -> Any:
    """The result of a function whose first argument is writable: a view of it, or a new array."""
    owner: Writable = args[0]
    value, rest, options = owner.read(), plain(tuple(args[1:])), plain(kwargs)

    def get(x: Any) -> Any:
        return run((x, *rest), options)

    if not isinstance(found, (np.ndarray, Value)):
        if name in _LISTS:
            getters = [lambda x, i=i: get(x)[i] for i in range(len(found))]
            parts = zip(found, getters, strict=True)
            return [Writable(part, owner, one, _scattered(one)) for part, one in parts]
        return tree_map(lambda x: linked(x, args), found)
    if isinstance(found, Value) and not isinstance(value, np.ndarray):
        return _of_traced(name, owner, found, get, rest, options)
    if options.get("copy") or (
        isinstance(found, np.ndarray) and not np.may_share_memory(found, value)
    ):
        return wrap(found)
    if found is value and (name in _ITSELF or name == "array"):
        return owner
    if name not in _FOLLOWED:
        # NumPy shares memory here, or would not: only its own arrays tell.
        return Writable(found, owner) if isinstance(found, np.ndarray) else wrap(found)
    return Writable(found, owner, get, _putter(name, found, get, rest, options))


def _of_traced(
    name: str, owner: Writable, found: Value, get: Getter, rest: Any, options: Any
) -> Any:
    """The same for a traced array: what NumPy does with one of the same layout tells."""
    is_array = name in RANK_0
    if name not in _FOLLOWED or (name in _COPYING and options.get("copy", True)):
        is_known = name not in REORDERED and owner.is_ordered()
        return wrap(found, True if is_known else None, is_array)
    if owner.is_scalar():
        return wrap(found, array=is_array)
    layout = owner.layout()
    if layout is None:
        if name in _DEPENDING:
            return Writable(found, owner)
        return Writable(found, owner, get, _putter(name, None, get, rest, options))
    expected = get(layout)
    if expected is layout or (
        name in _ITSELF
        and expected.base is layout.base is not None
        and expected.strides == layout.strides
    ):
        return owner
    if not np.may_share_memory(expected, layout) and layout.size:
        return wrap(found, expected, is_array)
    return Writable(found, owner, get, _putter(name, expected, get, rest, options))


def _putter(name: str, shown: Any, get: Getter, rest: Any, options: Any) -> Putter | None:
    """How writes go through a view; `shown` is NumPy's, if known, which may be read-only."""
    if isinstance(shown, np.ndarray) and not shown.flags.writeable:
        return None
    if name in ("real", "imag"):
        return ATTRIBUTES[name][1]
    order = options.get("order", "C")
    if name in _SAME_ELEMENTS and order == "C" and not any(isinstance(x, str) for x in rest):
        return _same_elements
    return None if name == "view" or has_traced(rest) else _scattered(get)
