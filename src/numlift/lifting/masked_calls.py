"""NumPy's functions and methods on the elements of a traced mask.

Functions of each element go over all elements; sums, means and other reductions leave out those
that are not selected; what needs the number of elements as a size is an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as nlnp
from ..core.tracing import Value
from ..numpy.protocols import array_ufunc
from ..tree import tree_map
from .masked import Masked, is_unknown, places_of
from .numpy_dtypes import with_numpy_dtypes
from .writable import plain, wrap

_OF_EACH = frozenset({
    "abs", "angle", "around", "array", "asanyarray", "asarray", "ascontiguousarray", "astype",
    "clip", "conj", "conjugate", "copy", "empty_like", "i0", "imag", "isclose", "iscomplex",
    "isneginf", "isposinf", "isreal", "nan_to_num", "ones_like", "real", "round", "sinc", "where",
    "zeros_like", "full_like", "fix",
})  # fmt: skip
"""Functions of each element, whose array arguments belong together."""
_AT_EACH = {"interp": 0, "searchsorted": 1, "digitize": 0, "polyval": 1, "take": 1, "isin": 0}
"""Functions of each element of one argument; the others are tables."""
_FOLDS = frozenset({
    "all", "any", "max", "mean", "min", "prod", "std", "sum", "var", "amax", "amin",
    "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar",
})  # fmt: skip
_BOUNDED = {"max": -1, "amax": -1, "nanmax": -1, "min": 1, "amin": 1, "nanmin": 1}
"""Functions that need a value that loses against all others."""
_OF_UFUNC = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
_QUANTILES = frozenset({"median", "percentile", "quantile"})
_PRODUCTS = frozenset({"dot", "inner", "matmul", "vdot", "vecdot"})


def is_about(args: Any, kwargs: Any) -> bool:
    """Whether a call has selected elements among its arguments, or asks for places of a mask."""
    for x in args:
        if type(x) is Masked or type(x) in (list, tuple) and any(type(y) is Masked for y in x):
            return True
    return bool(kwargs) and any(type(x) is Masked for x in kwargs.values())


def places(name: str, x: Any) -> Any:
    """``np.nonzero(x)``, `flatnonzero`, `argwhere` or ``np.where(x)`` of a traced array."""
    mask = x if x.type.kind == "b" else x != 0
    if name == "flatnonzero":
        return places_of(mask.reshape(-1))[0]
    found = places_of(mask)
    if name != "argwhere":
        return found
    return Masked(nlnp.stack([y.whole for y in found], axis=1), found[0].mask, 0)


def is_unknown_mask(name: str, args: Any, kwargs: Any) -> bool:
    """Whether a call asks where a traced array holds."""
    asks = name in ("nonzero", "flatnonzero", "argwhere", "where") and len(args) == 1 and not kwargs
    return asks and isinstance(args[0], Value) and is_unknown(args[0])


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's function `name` with selected elements among its arguments."""
    x = next((y for y in (*args, *kwargs.values()) if type(y) is Masked), None)
    if x is None:
        first = next(y for z in args if type(z) in (list, tuple) for y in z if type(y) is Masked)
        raise first.refused(f"np.{name} joins them with others")
    function = with_numpy_dtypes(name, getattr(nlnp, name, None) or _missing(x, name))
    if name in _OF_EACH:
        values = [x.aligned(y) if type(y) is Masked or np.ndim(y) else y for y in args]
        options = {k: x.aligned(y) if type(y) is Masked else y for k, y in kwargs.items()}
        options.pop("copy", None), options.pop("order", None)
        return x.like(function(*values, **options))
    if name in _AT_EACH and args[_AT_EACH[name] : _AT_EACH[name] + 1] == (x,):
        values = [y.whole if y is x else y for y in args]
        return x.like(function(*values, **kwargs))
    if args and args[0] is x and name in _SPECIAL:
        return _SPECIAL[name](x, *args[1:], **kwargs)
    if args and args[0] is x and name in _FOLDS:
        return _fold(name, x, *args[1:], **kwargs)
    if name in _PRODUCTS and len(args) == 2:
        return _product(x, *args)
    raise x.refused(f"np.{name} needs all of them")


def _missing(x: Masked, name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise x.refused(f"np.{name} needs all of them")

    return refuse


# ---- reductions ------------------------------------------------------------------------------


def _axes(x: Masked, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    return tuple([a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))])


def _fold(name: str, x: Masked, axis: Any = None, **kwargs: Any) -> Any:
    function = with_numpy_dtypes(name, getattr(nlnp, name))
    axes = _axes(x, axis)
    if x.axis not in axes:
        found = function(x.whole, axis=axis, **kwargs)
        left = 0 if kwargs.get("keepdims") else sum(a < x.axis for a in axes)
        return Masked(found, x.mask, x.axis - left)
    where = x.held() & x.aligned(kwargs.pop("where", True))
    if name in _BOUNDED:
        kwargs.setdefault("initial", _bound(x.dtype, _BOUNDED[name]))
    return function(x.whole, axis=axis, where=where, **kwargs)


def _bound(dtype: Any, sign: int) -> Any:
    if dtype.kind == "b":
        return sign > 0
    if dtype.kind in "iu":
        return (np.iinfo(dtype).min, np.iinfo(dtype).max)[sign > 0]
    return sign * np.inf


def _quantile(name: str) -> Callable[..., Any]:
    def function(x: Masked, *args: Any, axis: Any = None, **kwargs: Any) -> Any:
        axes = _axes(x, axis)
        if x.axis not in axes or x.dtype.kind not in "fiu":
            raise x.refused(f"np.{name} along other axes, or of complex elements")
        values = x.whole if x.dtype.kind == "f" else x.whole.astype(np.float64)
        hidden = nlnp.where(x.held(), values, np.nan)
        found = getattr(nlnp, f"nan{name}")(hidden, *args, axis=axis, **kwargs)
        has_nan = _fold("any", x.like(nlnp.isnan(values)), axis, keepdims=kwargs.get("keepdims", 0))
        return nlnp.where(has_nan, np.nan, found)

    return function


def _count_nonzero(x: Masked, axis: Any = None, *, keepdims: bool = False) -> Any:
    return _fold("sum", x.like(x.whole != 0), axis, keepdims=keepdims)


def _ptp(x: Masked, axis: Any = None, *, keepdims: bool = False) -> Any:
    return _fold("max", x, axis, keepdims=keepdims) - _fold("min", x, axis, keepdims=keepdims)


def _average(x: Masked, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return _fold("mean", x, axis)
    weights = nlnp.broadcast_to(x.aligned(weights), x.whole.shape)
    total = _fold("sum", x.like(weights), axis)
    return _fold("sum", x.like(x.whole * weights), axis) / total


def _extreme(name: str) -> Callable[..., Any]:
    def function(x: Masked, axis: Any = None) -> Any:
        if x.ndim > 1:
            raise x.refused(f"np.{name} of rows of them")
        best = _fold(name[3:], x)
        found = (x.whole == best) | ((best != best) & (x.whole != x.whole))
        return x._ranks(x.mask.size)[nlnp.argmax(found & x.mask)]

    return function


def _running(name: str, neutral: int) -> Callable[..., Any]:
    def function(x: Masked, axis: Any = None, **kwargs: Any) -> Any:
        if axis is None and x.ndim > 1:
            raise x.refused(f"np.{name} without axis= of rows of them")
        ours = getattr(nlnp, name)
        if axis is not None and axis % x.ndim != x.axis:
            return x.like(ours(x.whole, axis=axis, **kwargs))
        return x.like(ours(nlnp.where(x.held(), x.whole, neutral), axis=x.axis, **kwargs))

    return function


def _product(x: Masked, a: Any, b: Any) -> Any:
    if (
        np.ndim(a if type(a) is not Masked else a.whole)
        == np.ndim(b if type(b) is not Masked else b.whole)
        == 1
    ):
        return _fold("sum", x.like(x.aligned(a) * x.aligned(b)))
    if type(a) is Masked and type(b) is not Masked and a.axis < a.ndim - 1:
        found = nlnp.matmul(a.whole, b)
        return Masked(found, a.mask, a.axis)
    raise x.refused("a product of matrices of them")


def _norm(x: Masked, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    hidden = nlnp.where(x.held(), x.whole, 0)
    if ord in (None, 1, 2, np.inf, "fro") and x.axis in _axes(x, axis):
        return nlnp.linalg.norm(hidden, ord, axis, keepdims)
    raise x.refused(f"np.linalg.norm of order {ord}")


def _size(x: Masked, axis: Any = None) -> Any:
    others = int(np.prod([n for i, n in enumerate(x.whole.shape) if i != x.axis]))
    if axis is None:
        return x.count() * others
    return _shape(x)[axis]


def _shape(x: Masked) -> tuple[Any, ...]:
    return tuple([x.count() if i == x.axis else n for i, n in enumerate(x.whole.shape)])


def _ravel(x: Masked, order: Any = None) -> Masked:
    if x.ndim > 1:
        raise x.refused("np.ravel of rows of them")
    return x.like(x.whole)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "median": _quantile("median"),
    "percentile": _quantile("percentile"),
    "quantile": _quantile("quantile"),
    "count_nonzero": _count_nonzero,
    "ptp": _ptp,
    "average": _average,
    "argmax": _extreme("argmax"),
    "argmin": _extreme("argmin"),
    "cumsum": _running("cumsum", 0),
    "cumprod": _running("cumprod", 1),
    "norm": _norm,
    "size": _size,
    "shape": _shape,
    "ndim": lambda x: x.ndim,
    "ravel": _ravel,
    "flatten": _ravel,
    "atleast_1d": lambda x: x,
}


# ---- what Python asks them -------------------------------------------------------------------


def _ufunc(self: Masked, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    inputs, kwargs = plain(inputs), plain(kwargs)
    if method == "reduce" and ufunc.__name__ in _OF_UFUNC:
        kwargs.setdefault("axis", 0)
        return wrap(call(_OF_UFUNC[ufunc.__name__], inputs, kwargs))
    if ufunc.signature is not None and method == "__call__" and ufunc.__name__ in _PRODUCTS:
        return wrap(call(ufunc.__name__, inputs, kwargs))
    if method != "__call__" or kwargs or ufunc.signature is not None:
        raise self.refused(f"np.{ufunc.__name__} with these arguments needs all of them")
    found = array_ufunc(None, ufunc, method, *[self.aligned(x) for x in inputs])
    return tuple(map(self.like, found)) if isinstance(found, tuple) else self.like(found)


def _function(self: Masked, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return tree_map(wrap, call(func.__name__, plain(tuple(args)), plain(kwargs)))


def _attribute(self: Masked, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("real", "imag"):
        return self.like(getattr(self.whole, name))
    if name == "T" and self.ndim == 1:
        return self
    if name in ("shape", "size"):
        return tree_map(wrap, _SPECIAL[name](self))
    if name in ("round", "clip", "astype", "copy", "conj", "conjugate", "take") or (
        name in _FOLDS | _SPECIAL.keys() | _PRODUCTS
    ):
        return lambda *args, **kwargs: _function(self, _Named(name), (), (self, *args), kwargs)
    raise self.refused(f".{name}")


class _Named:
    """Something with the name of a function."""

    def __init__(self, name: str):
        self.__name__ = name


def _item(self: Masked, index: Any) -> Any:
    """Elements of the elements: by a comparison of them, or one by its number."""
    index = plain(index)
    if type(index) is Masked and index.dtype.kind == "b" and self.axis == 0:
        return Masked(self.whole, _within(self, index), 0, filled=False)
    parts = index if type(index) is tuple else (index,)
    at = sum(x is not None for x in parts[: self.axis + 1])
    mine = parts[self.axis] if len(parts) > self.axis and at == self.axis + 1 else slice(None)
    if any(x is None or x is ... for x in parts) or type(mine) is Masked:
        raise self.refused("they were indexed with None, ... or places of others")
    if isinstance(mine, slice):
        if mine != slice(None):
            raise self.refused("a slice of them")
        found = self.whole[index]
        left = sum(isinstance(x, (int, np.integer)) for x in parts[: self.axis])
        return Masked(found, self.mask, self.axis - left)
    number = nlnp.asarray(mine)
    number = nlnp.where(number < 0, number + self.count(), number)
    place = nlnp.searchsorted(nlnp.cumsum(self.mask), number + 1)
    return wrap(self.whole[(*parts[: self.axis], place, *parts[self.axis + 1 :])])


def _set_item(self: Masked, index: Any, new: Any) -> None:
    index, new = plain(index), plain(new)
    if type(index) is not Masked or index.dtype.kind != "b" or self.axis:
        raise self.refused("only elements chosen by a comparison of them can be written")
    chosen = Masked(self.whole, _within(self, index), 0)
    value = nlnp.asarray(chosen.aligned(new)).astype(self.dtype)
    self.whole = nlnp.where(chosen.held(), value, self.whole)


def _within(x: Masked, chosen: Masked) -> Any:
    """Where elements are selected and `chosen` holds, which has one axis."""
    if chosen.ndim > 1:
        raise x.refused("they were indexed with a table of bools")
    return x.mask & Masked(x.mask, x.mask, 0).aligned(chosen)


def counted(x: Any) -> Any:
    """`len` in lifted code."""
    return wrap(x.count()) if type(x) is Masked else len(x)


def _install() -> None:
    for name, function in [
        ("array_ufunc", _ufunc),
        ("array_function", _function),
        ("getattr", _attribute),
        ("getitem", _item),
        ("setitem", _set_item),
    ]:
        setattr(Masked, f"__{name}__", function)


_install()
