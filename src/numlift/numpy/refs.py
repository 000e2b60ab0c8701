"""Elements of refs: ``ref[index]``, ``ref[index] = value``, and what updates them in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import errors
from ..api.refs import Ref, check_ref, new_ref
from ..core.refs import lost_value, peek, snapshot, store
from ..core.tracing import EVAL, current, type_of
from ..ops.scatter import Scatter, ScatterAdd, ScatterSet
from ..runtime.transfer import as_array, device_put
from ..structural.arith import convert
from .at import Options
from .filling import zeros
from .index_parse import parse
from .index_update import update
from .indexing import basic_key, getitem
from .manipulation import broadcast_to

_OPTIONS = Options()


def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """A ref whose first value is to be written; it starts with zeros.

    Args:
        ty: `ShapeDtypeStruct`, or another object with shape and dtype.
        memory_space: accepted for compatibility; must be None.

    Returns:
        The `Ref`.

    Raises:
        ArgumentError: `ty` has no shape or dtype.

    Example:
        >>> import numlift as nl
        >>> nl.ref.empty_ref(nl.ShapeDtypeStruct((2,), "float32"))
        Ref([0., 0.], dtype=float32)
    """
    if not hasattr(ty, "shape") or not hasattr(ty, "dtype"):
        raise errors.ArgumentError(
            errors.explain(
                "empty_ref",
                f"expected a type, got a {type(ty).__name__}",
                {"ty": repr(ty)[:80]},
                try_="nl.ShapeDtypeStruct(shape, dtype)",
            )
        )
    return new_ref(zeros(ty.shape, ty.dtype), memory_space=memory_space)


def get(ref: Ref, idx: Any = ...) -> Any:
    """``ref[idx]``.

    Args:
        ref: the ref.
        idx: an index; by default the whole array.

    Returns:
        The elements. They do not change when the ref does.

    Raises:
        IndexingError: malformed index, or a Python integer out of bounds.
        RefError: the ref has no value here.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.ref.get(nl.new_ref(np.arange(4)), slice(1, 3)))
        [1 2]
    """
    check_ref("ref.get", ref)
    return _read(ref, _whole(idx))


def set(ref: Ref, idx: Any, value: Any) -> None:
    """``ref[idx] = value``.

    Args:
        ref: the ref.
        idx: an index; None or ... for the whole array.
        value: array or number that broadcasts to ``ref[idx]``. It takes the dtype of the ref; if
            that may lose information, a FutureWarning says so, as for ``x.at[idx].set(value)``.

    Returns:
        None.

    Raises:
        IndexingError: malformed index, or a Python integer out of bounds.
        ShapeError: the value does not broadcast.
        RefError: the ref has no value here, or `value` is batched or differentiated and the ref is
            from outside of that `vmap` or `grad`.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> ref = nl.new_ref(np.zeros(3))
        >>> nl.ref.set(ref, 1, 5.0)
        >>> ref
        Ref([0., 5., 0.], dtype=float32)
    """
    check_ref("ref.set", ref)
    _write(ScatterSet, ref, _whole(idx), value)


def swap(ref: Ref, idx: Any, value: Any) -> Any:
    """``ref[idx] = value``; returns the elements that were there before.

    Args:
        ref: the ref.
        idx: an index; None or ... for the whole array.
        value: array or number that broadcasts to ``ref[idx]``.

    Returns:
        ``ref[idx]`` as it was.

    Example:
        >>> import numlift as nl
        >>> ref = nl.new_ref(1.0)
        >>> print(nl.ref.swap(ref, ..., 2.0), ref[...])
        1.0 2.0
    """
    check_ref("ref.swap", ref)
    with ref.lock:
        old = _read(ref, _whole(idx))
        _write(ScatterSet, ref, _whole(idx), value)
    return old


def addupdate(ref: Ref, idx: Any, x: Any) -> None:
    """``ref[idx] += x``, where repeated indices add up.

    Args:
        ref: the ref.
        idx: an index; None or ... for the whole array.
        x: array or number that broadcasts to ``ref[idx]``.

    Returns:
        None. The sum is in the dtype of the ref.

    Raises:
        IndexingError: malformed index, or a Python integer out of bounds.
        ShapeError: `x` does not broadcast.
        RefError: the ref has no value here, or `x` is batched or differentiated and the ref is from
            outside of that `vmap` or `grad`.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> ref = nl.new_ref(np.zeros(3))
        >>> nl.ref.addupdate(ref, np.array([0, 0, 2]), 1.0)
        >>> ref
        Ref([2., 0., 1.], dtype=float32)
    """
    check_ref("ref.addupdate", ref)
    _write(ScatterAdd, ref, _whole(idx), x)


def _whole(idx: Any) -> Any:
    return ... if idx is None else idx


def _read(ref: Ref, index: Any) -> Any:
    with ref.lock:
        value = peek(ref)
        try:
            found = getitem(value, index)
            return snapshot(ref) if found is value else found
        except errors.DeletedBufferError:
            raise lost_value(ref) from None


def _write(kind: type[Scatter], ref: Ref, index: Any, value: Any) -> None:
    if isinstance(value, Ref):
        raise errors.ArgumentError(
            errors.explain("ref", "a ref is no array", {"value": value.type}, try_=Ref.array_hint)
        )
    if basic_key(index) is not None:
        parse(index, ref.type)  # Python integers out of bounds are mistakes
    with ref.lock:
        old = peek(ref)
        eager = ref.owner is EVAL and current.get() is EVAL
        if eager and old.is_deleted():
            old = _revived(kind, old, ref, index, value)
        new = update(kind, old, index, value, _OPTIONS, eager)
        if new is not old:
            store(ref, _typed(new, ref), eager)


def _revived(kind: type[Scatter], old: Any, ref: Ref, index: Any, value: Any) -> Any:
    """An array to write all of `value` into, in the place of one that is lost."""
    if kind is not ScatterSet or index is not ...:
        raise lost_value(ref)
    fresh = convert(broadcast_to(value, ref.shape), ref.dtype, ref.weak_type)
    placement = old.placement
    return as_array(fresh)._clone() if placement.single else device_put(fresh, placement.sharding)


def _typed(value: Any, ref: Ref) -> Any:
    """A value with exactly the type of the ref."""
    t, wanted = type_of(value), ref.type
    return value if t is wanted else convert(value, wanted.dtype, wanted.weak_type)


# ---- methods of refs ---------------------------------------------------------------------------


def _addupdate(self: Ref, x: Any, idx: Any = ()) -> None:
    """``ref[idx] += x``, where repeated indices add up.

    Args:
        x: array or number that broadcasts to ``ref[idx]``.
        idx: an index; by default the whole array.
    """
    _write(ScatterAdd, self, idx, x)


def _setitem(self: Ref, index: Any, value: Any) -> None:
    _write(ScatterSet, self, index, value)


def _iter(self: Ref) -> Iterator[Any]:
    """Rows, as they are when they are reached."""
    for i in range(len(self)):
        yield _read(self, i)


def _copy(self: Ref, memo: Any = None) -> Ref:
    """Another ref with the present value."""
    return new_ref(snapshot(self))


def _reduce(self: Ref) -> tuple[Any, ...]:
    return new_ref, (snapshot(self),)


def install(cls: type) -> None:
    """Give refs their indexing."""
    methods = {
        "__getitem__": _read,
        "__setitem__": _setitem,
        "__iter__": _iter,
        "__copy__": _copy,
        "__deepcopy__": _copy,
        "__reduce__": _reduce,
        "addupdate": _addupdate,
    }
    for name, method in methods.items():
        method.__name__ = name  # type: ignore[attr-defined]
        setattr(cls, name, method)


__all__ = ["addupdate", "empty_ref", "get", "set", "swap"]
