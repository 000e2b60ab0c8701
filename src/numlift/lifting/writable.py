"""Arrays that lifted code may write into, as NumPy code does.

A `Writable` holds a NumPy array as long as its elements are known, and a traced value from the
first write of one on. A view (``a[1:]``, ``a.T``) knows its parent, how it follows from the parent
and how a write into it changes the parent, so both see each other's writes, as in NumPy. Where a
view of NumPy's could not be followed, using it after a write is an error, never an old value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import errors
from .. import numpy as nlnp
from ..core.tracing import Value
from .masked import Masked
from .selection import Selection, cast, selection
from .spans import Windows, span

Getter = Callable[[Any], Any]
Putter = Callable[[Any, Any], Any]


class Writable:
    """A NumPy array, or a traced value, that can be written into.

    Args:
        value: array or traced value.
        parent: what this is a view of.
        get: value of the parent -> value of this view; None if the view cannot be followed.
        put: (value of the parent, new value of this view) -> new value of the parent.
        read_only: why writing is an error, or None.
        scalar: stands for a NumPy scalar, which nobody can write into: ``s += 1`` gives `s`
            another value, and other names keep the old one.
        layout: array that lies in memory as NumPy's would; True for one in C order, None if that
            is not known. Whether ``a.reshape(-1)`` is a view depends on it.
    """

    __slots__ = (
        "_value", "_parent", "_get", "_put", "_version", "_read_only", "_scalar", "_layout",
        "_watch",
        "__weakref__",
    )  # fmt: skip
    __hash__ = None  # type: ignore[assignment]
    _parent: Writable | None
    _read_only: str | None
    _version: int

    def __init__(
        self,
        value: Any,
        parent: Writable | None = None,
        get: Getter | None = None,
        put: Putter | None = None,
        read_only: str | None = None,
        *,
        scalar: bool = False,
        layout: Any = None,
    ):
        self._value, self._parent, self._get, self._put = value, parent, get, put
        self._read_only = parent._read_only if parent is not None else read_only
        self._version = 0 if parent is None else parent._root()._version
        self._scalar, self._layout = scalar, layout
        self._watch: list[Any] | None = None

    def _root(self) -> Writable:
        found = self
        while found._parent is not None:
            found = found._parent
        return found

    def layout(self) -> np.ndarray | None:
        """An array that lies in memory as this one does in NumPy, or None if that is not known."""
        if isinstance(self._value, np.ndarray):
            return self._value
        if self._layout is True:
            dtype = self._value.dtype
            self._layout = np.zeros(
                self._value.shape, dtype if isinstance(dtype, np.dtype) else bool
            )
        elif self._layout is None and self._parent is not None and self._get is not None:
            above = self._parent.layout()
            self._layout = None if above is None else self._get(above)
        found: np.ndarray | None = self._layout
        return found

    def is_ordered(self) -> bool:
        """Whether the elements are known to lie in C order."""
        if self._layout is True or np.ndim(self._value) < 2:
            return True
        found = self.layout()
        return found is not None and found.flags.c_contiguous

    def read(self) -> Any:
        """The value now, with the writes through other views."""
        root = self._root()
        if root._watch is not None:
            root._watch.append(self)
        if self._version != root._version:
            if self._get is None or self._parent is None:
                raise errors.ValueArgumentError(
                    errors.explain(
                        "lift",
                        "a view was used after its memory was written with traced values, and "
                        "Numlift cannot follow this kind of view",
                        {"view": describe(self._value)},
                        try_="make it a copy where it is made: view.copy()",
                    )
                )
            self._value = self._get(self._parent.read())
            self._version = root._version
        return self._value

    def write(self, new: Any) -> None:
        """Take a new value of the same shape and dtype; parents and views see it."""
        if self._read_only is not None:
            raise errors.ValueArgumentError(
                errors.explain(
                    "lift",
                    f"cannot write into {self._read_only}",
                    {"array": describe(self._value)},
                    try_="x = x.copy() at the start of the function, and return the result",
                )
            )
        if self._parent is None:
            if isinstance(self._value, np.ndarray):
                self._layout = self._value
            self._value = new
            self._version += 1
            return
        if self._put is None:
            raise errors.ValueArgumentError(
                errors.explain(
                    "lift",
                    "a traced value cannot be written through this kind of view",
                    {"view": describe(self._value)},
                    try_="write into the array itself: a[index] = value",
                )
            )
        self._parent.write(self._put(self._parent.read(), new))
        self._value, self._version = new, self._root()._version

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes; they cannot be set, since views know this array by its sizes."""
        return np.shape(self.read())

    @shape.setter
    def shape(self, sizes: Any) -> None:
        raise errors.ImmutableArrayError(
            errors.explain(
                "lift",
                "the shape of an array cannot be changed in place",
                {"array": describe(self.read())},
                try_=f"a = a.reshape({sizes})",
            )
        )

    # ---- reading and writing parts ----------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        asked, index = index, _index(plain(index))
        whole: Any = self.read()
        spanned = span(index, whole)
        if isinstance(spanned, Windows):
            layout = spanned.layout(self.layout())
            return Writable(spanned.read(whole), self, spanned.read, spanned.written, layout=layout)
        if spanned is not None:
            found = spanned.read(whole)
            found.view = _SpanView(self, spanned)
            return found
        selected = selection(index, whole)
        if selected is not None:
            return selected.read(whole)
        _check_places(whole, index)
        is_traced = has_traced(index)

        def part(whole: Any) -> Any:
            source: Any = nlnp.asarray(whole) if is_traced else whole
            return source[index]

        value = part(whole)
        if not np.ndim(value) and not _has_ellipsis(index):
            return wrap(value)
        if not is_basic(asked):
            is_known = self.is_ordered() and type(index) is not tuple
            return wrap(value, True if is_known else None)
        return Writable(
            value,
            self,
            part,
            lambda whole, new: put(whole, index, new),
            layout=_row(self.layout(), index) if is_traced else None,
        )

    def __setitem__(self, index: Any, new: Any) -> None:
        index, new = _index(plain(index)), plain(new)
        whole = self.read()
        if self.is_scalar():
            raise errors.ImmutableArrayError(
                errors.explain("lift", "a NumPy scalar cannot be written into", {"value": whole})
            )
        spanned = span(index, whole)
        if isinstance(spanned, Windows):
            self.write(spanned.written(whole, fitting(new, whole.dtype)))
            return
        selected = spanned or selection(index, whole)
        if selected is not None:
            self.write(put(whole, *selected.written(whole, new)))
            return
        if type(new) is Masked:
            raise new.refused("they were written to places of another number")
        if isinstance(whole, np.ndarray) and not has_traced((index, new)):
            if self._read_only is not None:
                self.write(whole)  # raises
            whole[index] = new
            return
        _check_places(whole, index)
        self.write(put(whole, index, new))

    # ---- what staged loops do with a variable -----------------------------------------------

    def __numlift_again__(self, value: Any) -> Writable:
        """The variable inside of a traced loop, with the value at the start of a step."""
        return Writable(value, read_only=self._read_only, scalar=self._scalar)

    def __numlift_become__(self, after: Writable) -> Writable:
        """Take the value after the loop, which has written into the variable or left it."""
        if self._scalar or self._read_only is not None:
            return self if self._read_only is not None else after
        self.write(after.read())
        return self

    def __numlift_changed__(self) -> bool:
        """Whether it was written into since a block began."""
        return self._version > 0

    def __numlift_watch__(self, now: Writable) -> Callable[[], None]:
        """Until the result is called, note who reads this array beside `now`."""
        root = self._root()
        seen: list[Any] = [] if root._watch is None else root._watch
        if root._watch is not None:
            seen.append(self)  # two variables share memory
        root._watch = seen

        def stop() -> None:
            root._watch = None
            if seen and now._version:
                raise errors.ValueArgumentError(
                    errors.explain(
                        "lift",
                        "a traced loop or branch writes into an array that it reads under "
                        "another name",
                        {"array": describe(now.read())},
                        try_="make the other name a copy: b = a.copy()",
                    )
                )

        return stop

    def is_scalar(self) -> bool:
        """Whether this stands for a NumPy scalar."""
        return self._scalar

    def assign(self, new: Any) -> Writable:
        """Write the whole array: what ``a += b`` and ``out=a`` do."""
        self[...] = new
        return self

    # ---- what Python asks arrays -------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__array_interface__", "__dlpack__"):
            raise AttributeError(name)
        return ATTRIBUTES.attribute(self, name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self.read()
        return np.array(value, dtype) if copy else np.asarray(value, dtype)

    def __numlift_array__(self) -> Any:
        """The value for Numlift's functions and transformations."""
        return nlnp.asarray(self.read())

    def __len__(self) -> int:
        return len(self.read())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))  # one by one: the loop may write into them

    def __contains__(self, item: Any) -> bool:
        return plain(item) in self.read()

    def __bool__(self) -> bool:
        return bool(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __complex__(self) -> complex:
        return complex(self.read())

    def __index__(self) -> int:
        return self.read().__index__()

    def __round__(self, ndigits: int | None = None) -> Any:
        value = self.read()
        if not isinstance(value, Value):
            return round(value) if ndigits is None else round(value, ndigits)
        found = nlnp.round(value, ndigits or 0)
        return wrap(found.astype(int) if ndigits is None else found)

    def __repr__(self) -> str:
        return repr(self.read())

    def __str__(self) -> str:
        return str(self.read())

    def __format__(self, spec: str) -> str:
        return format(self.read(), spec)

    def __copy__(self) -> Writable:
        return Writable(copied(self.read()))

    def __deepcopy__(self, memo: Any) -> Writable:
        return self.__copy__()


class _SpanView:
    """The connection of a slice of unknown length, ``a[:i]``, with its array."""

    def __init__(self, owner: Writable, spanned: Selection):
        self.owner, self.spanned = owner, spanned
        self.version = owner._root()._version

    def is_old(self) -> bool:
        return self.owner._root()._version != self.version

    def read(self) -> Masked:
        self.version = self.owner._root()._version
        return self.spanned.read(self.owner.read())

    def write(self, new: Masked) -> None:
        whole = self.owner.read()
        self.owner.write(put(whole, *self.spanned.written(whole, new)))
        self.version = self.owner._root()._version


def _settable(name: str) -> property:
    """An attribute whose elements can be replaced: ``a.real = x``."""

    def get(self: Writable) -> Any:
        return ATTRIBUTES.attribute(self, name)

    def change(self: Writable, new: Any) -> None:
        get(self)[...] = new

    return property(get, change)


class Attributes:
    """Where attributes of writable arrays are looked up; `attributes` installs itself here."""

    attribute: Callable[[Writable, str], Any]


ATTRIBUTES = Attributes()
for _name in ("real", "imag", "flat"):
    setattr(Writable, _name, _settable(_name))


def is_writable(x: Any) -> bool:
    """Whether `x` is a `Writable`."""
    return type(x) is Writable


def describe(x: Any) -> Any:
    """What messages say about a value: its type."""
    return x.type if isinstance(x, Value) else x


def copied(x: Any) -> Any:
    """A value that shares no memory with `x`."""
    return x.copy() if isinstance(x, np.ndarray) else x


def wrap(x: Any, layout: Any = True, array: bool = False) -> Any:
    """A result as lifted code gets it: an array that can be written into, or a scalar.

    Args:
        x: array, traced value or anything else.
        layout: array that lies in memory like NumPy's result; True for C order, None if not known.
        array: NumPy gives arrays of rank 0 here, not scalars.
    """
    if isinstance(x, Value):
        rank = x.type.ndim
        scalar = not rank and not array
        if isinstance(layout, np.ndarray):
            dtype = x.type.dtype
            is_same = layout.shape == x.type.shape and isinstance(dtype, np.dtype)
            layout = np.zeros_like(layout, dtype) if is_same else None
        return Writable(x, scalar=scalar, layout=True if rank < 2 else layout)
    return Writable(x) if isinstance(x, np.ndarray) else x


def plain(x: Any) -> Any:
    """`x` with arrays and traced values in the place of writable arrays, at any depth."""
    kind = type(x)
    if kind is Writable:
        return x.read()
    if kind is tuple or kind is list:
        return kind([plain(y) for y in x])
    if kind is dict:
        return {key: plain(y) for key, y in x.items()}
    if kind is slice:
        return slice(plain(x.start), plain(x.stop), plain(x.step))
    stands_for = getattr(kind, "__numlift_plain__", None)
    return x if stands_for is None else stands_for(x)


def has_traced(x: Any) -> bool:
    """Whether a Numlift array or traced value is among the (nested) arguments."""
    if isinstance(x, Value):
        return True
    if type(x) in (tuple, list):
        return any(map(has_traced, x))
    if type(x) is dict:
        return any(map(has_traced, x.values()))
    return type(x) is slice and has_traced((x.start, x.stop, x.step))


def _index(index: Any) -> Any:
    """An index in which lists with traced elements are arrays, as all lists are to NumPy."""
    if type(index) is list:
        return nlnp.asarray(index) if has_traced(index) else index
    if type(index) is tuple and any(type(x) is list for x in index):
        return tuple(map(_index, index))
    return index


def is_basic(index: Any) -> bool:
    """Whether NumPy makes a view for this index: integers, slices, None and ... only."""
    parts = index if type(index) is tuple else (index,)
    return all(
        x is None
        or x is ...
        or isinstance(x, (slice, int, np.integer))
        and not isinstance(x, (bool, np.bool_))
        or _is_traced_integer(x)
        for x in parts
    )


def _is_traced_integer(x: Any) -> bool:
    """Whether `x` stands for an integer of NumPy or Python (not for an array of rank 0)."""
    if type(x) is Writable:
        return x.is_scalar() and x.read().type.kind in "iu"
    return isinstance(x, Value) and not x.type.ndim and x.type.kind in "iu"


def _row(layout: np.ndarray | None, index: Any) -> np.ndarray | None:
    """Layout of a view at traced places: as at place 0."""
    if layout is None or not all(layout.shape):
        return None
    parts = index if type(index) is tuple else (index,)
    found: np.ndarray = layout[tuple(0 if isinstance(x, Value) else x for x in parts)]
    return found


def _has_ellipsis(index: Any) -> bool:
    """Whether an index has ...: then NumPy gives an array, also of rank 0."""
    return any(x is ... for x in (index if type(index) is tuple else (index,)))


def _check_places(whole: Any, index: Any) -> None:
    """NumPy's IndexError for known places that a traced array does not have."""
    if isinstance(whole, Value) and not has_traced(index):
        shape = whole.type.shape
        np.ndarray(shape, bool, b"\0", strides=(0,) * len(shape))[index]


def fitting(x: Any, dtype: Any) -> Any:
    """NumPy's OverflowError for a Python integer that the dtype of an array cannot hold."""
    if type(x) is int and isinstance(dtype, np.dtype) and dtype.kind in "iu":
        dtype.type(x)
    return x


def put(whole: Any, index: Any, new: Any) -> Any:
    """`whole` with new elements at `index`, cast to its dtype as NumPy's assignment does."""
    whole = nlnp.asarray(whole)
    fitting(new, whole.dtype)
    new = nlnp.asarray(new)
    if new.dtype != whole.dtype:
        new = cast(new, whole.dtype)
    return whole.at[index].set(new)
