"""NumPy's functions, methods and operators on writable arrays.

Where every argument is known NumPy itself computes; else Numlift's function of the same name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import errors
from .. import numpy as nlnp
from ..core.tracing import Value
from ..numpy.array_values import convert_to
from ..numpy.protocols import array_function, array_ufunc
from ..tree import tree_map
from . import in_place, masked_calls, views
from .masked import Masked
from .numpy_dtypes import with_numpy_dtypes
from .writable import ATTRIBUTES, Writable, describe, fitting, has_traced, is_writable, plain, wrap


def run(theirs: Callable[..., Any], ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """NumPy's function where all is known, else ours."""
    return (ours if has_traced((args, kwargs)) else theirs)(*args, **kwargs)


def call(
    name: str, theirs: Callable[..., Any], ours: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """A function on writable arrays; the result is one, and a view where NumPy makes one."""
    if masked_calls.is_about(args, kwargs):
        return tree_map(wrap, masked_calls.call(name, plain(tuple(args)), plain(kwargs)))
    if masked_calls.is_unknown_mask(name, plain(tuple(args)), kwargs):
        return masked_calls.places(name, plain(args[0]))
    out = kwargs.get("out")
    out = out[0] if type(out) is tuple and len(out) == 1 else out
    if is_writable(out):
        rest = {k: v for k, v in kwargs.items() if k != "out"}
        return out.assign(plain(run(theirs, ours, plain(tuple(args)), plain(rest))))
    if args and is_writable(args[0]):
        if name in in_place.FUNCTIONS:
            return in_place.call(name, theirs, args, kwargs)
        if name == "nan_to_num" and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
            kwargs = {k: v for k, v in kwargs.items() if k != "copy"}
            found = run(theirs, ours, plain((args[0], True, *args[2:])), plain(kwargs))
            return args[0].assign(found)
    if kwargs.get("order") in ("K", "A") and views.are_ordered(args):
        kwargs = {**kwargs, "order": "C"}
    found = run(theirs, with_numpy_dtypes(name, ours), plain(tuple(args)), plain(kwargs))
    if has_traced(found):
        found = _strong(found)
    if name == "einsum":
        return views.of_einsum(partial(run, theirs, ours), found, args, kwargs)
    if name == "broadcast_arrays":
        return views.broadcast(found, args)
    if args and is_writable(args[0]):
        return views.joined(name, partial(run, theirs, ours), found, args, kwargs)
    is_known = name not in views.REORDERED and views.are_ordered(args)
    return _wrapped(found, True if is_known else None, name in views.RANK_0)


def _strong(found: Any) -> Any:
    """Results of NumPy's functions have NumPy's dtypes, also those of Python's numbers."""
    return tree_map(lambda x: convert_to(x, x.dtype) if getattr(x, "weak_type", 0) else x, found)


def _wrapped(found: Any, layout: Any, array: bool = False) -> Any:
    if isinstance(found, (np.ndarray, Value)):
        return wrap(found, layout, array)
    return tree_map(lambda x: wrap(x, layout, array), found)


def _ufunc(self: Writable, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if method == "at":
        return in_place.ufunc_at(ufunc, inputs)
    out = kwargs.pop("out", None)
    targets = () if out is None else out
    if any(map(is_writable, targets)):
        mask = plain(kwargs.pop("where", True))
        casting = kwargs.get("casting", "same_kind")
        found = _ufunc(self, ufunc, method, *inputs, **kwargs)
        results = found if isinstance(found, tuple) else (found,)
        for target, result in zip(targets, results, strict=True):
            if target is not None:
                value = _cast(plain(result), target, casting)
                target.assign(value if mask is True else _chosen(mask, value, plain(target)))
        return out if len(results) > 1 else out[0]
    if out is not None:
        kwargs["out"] = out
    args, options = plain(inputs), plain(kwargs)
    if has_traced((args, options)):
        found = _strong(array_ufunc(None, ufunc, method, *args, **options))
        return _wrapped(found, views.layout_of_result(inputs))
    return tree_map(wrap, getattr(ufunc, method)(*args, **options))


def _cast(value: Any, out: Any, casting: Any) -> Any:
    """A result for ``out=``, which takes dtypes of its kind only."""
    kept = plain(out)
    if not np.can_cast(np.result_type(value), kept.dtype, casting):
        raise errors.DTypeError(
            errors.explain(
                "lift",
                f"a result of dtype {value.dtype} cannot be written into out= of {kept.dtype}",
                {"out": describe(kept), "result": describe(value)},
                try_="out= with the dtype of the result, or a[...] = result, which casts",
            )
        )
    return value


def _chosen(mask: Any, new: Any, old: Any) -> Any:
    return nlnp.where(mask, new, old) if has_traced((mask, new, old)) else np.where(mask, new, old)


def _function(self: Writable, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return call(func.__name__, func, ours_for(func), args, kwargs)


def ours_for(func: Any) -> Callable[..., Any]:
    """Numlift's counterpart of a function of NumPy, with its errors if there is none."""
    return lambda *args, **kwargs: array_function(None, func, (), args, kwargs)


# ---- attributes and methods ------------------------------------------------------------------


def _attribute(x: Writable, name: str) -> Any:
    value = x.read()
    if name == "device":  # what xp.asarray(y, device=x.device) understands in both states
        return None
    if name in views.ATTRIBUTES:
        get, put = views.ATTRIBUTES[name]
        return Writable(get(value), x, get, put) if np.ndim(value) else get(value)
    if name in ("item", "tolist") and isinstance(value, Value):
        return partial(_item if name == "item" else _listed, x)
    if name in in_place.METHODS:
        return partial(in_place.METHODS[name], x)
    found = getattr(value, name)
    if not callable(found):
        return found
    return partial(_method, x, name)


def _item(x: Writable, *index: Any) -> Any:
    """``a.item(i)``: a traced scalar."""
    value = nlnp.asarray(x.read())
    if not index and value.size == 1:
        return wrap(value.reshape(()))
    if not index:
        raise errors.ValueArgumentError(
            errors.explain("lift", "item() of an array with several elements", {"a": value.type})
        )
    return wrap(value.reshape(-1)[index[0]] if len(index) == 1 else value[index])


def _listed(x: Writable) -> Any:
    """``a.tolist()``: lists of traced scalars."""
    return [_listed(y) for y in x] if len(x.shape) else x


def _method(x: Writable, name: str, *args: Any, **kwargs: Any) -> Any:
    def theirs(value: Any, *rest: Any, **options: Any) -> Any:
        return getattr(value, name)(*rest, **options)

    def ours(value: Any, *rest: Any, **options: Any) -> Any:
        if name not in ("reshape", "ravel", "flatten"):
            options.pop("order", None)
        return getattr(nlnp.asarray(value), name)(*rest, **options)

    return call(name, theirs, ours, (x, *args), kwargs)


# ---- operators -------------------------------------------------------------------------------


_COMPARING = ("lt", "le", "eq", "ne", "gt", "ge")
_UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "divmod": "divmod", "pow": "power",
    "matmul": "matmul", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "lt": "less", "le": "less_equal",
    "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "neg": "negative",
    "pos": "positive", "abs": "absolute", "invert": "invert",
}  # fmt: skip
"""Name of an operator -> NumPy's universal function."""


def _operand(mine: Any, other: Any) -> Any:
    """The other operand; lists are arrays to NumPy."""
    other = plain(other)
    if isinstance(other, (list, tuple)) and isinstance(mine, Value):
        return nlnp.asarray(other)
    return nlnp.asarray(other) if has_traced(other) else other


def _of_masked(name: str) -> tuple[Callable[..., Any], ...]:
    """An operator of selected elements: forward, reflected and in place."""
    op = _applied(name)

    def forward(self: Masked, other: Any) -> Any:
        return self.like(op(self.whole, _operand(self.whole, self.aligned(other))))

    def reflected(self: Masked, other: Any) -> Any:
        return self.like(op(_operand(self.whole, self.aligned(other)), self.whole))

    def in_place(self: Masked, other: Any) -> Masked:
        new = op(self.whole, _operand(self.whole, self.aligned(other)))
        self.whole = _castable(new, self.whole)
        return self

    return forward, reflected, in_place


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    op = _applied(name)
    checked = (lambda x, dtype: x) if name in (*_COMPARING, "truediv") else fitting

    def forward(self: Writable, other: Any) -> Any:
        if type(other) is Masked:
            return NotImplemented
        mine = self.read()
        other = checked(other, mine.dtype)
        return _wrapped(op(mine, _operand(mine, other)), views.layout_of_result((self, other)))

    def reflected(self: Writable, other: Any) -> Any:
        mine = self.read()
        other = checked(other, mine.dtype)
        return _wrapped(op(_operand(mine, other), mine), views.layout_of_result((self, other)))

    return forward, reflected


def _applied(name: str) -> Callable[[Any, Any], Any]:
    """An operator on plain operands: between traced values it is NumPy's function of that name.

    So it follows NumPy's dtypes. Numbers of Python stay numbers: the operator keeps them weak.
    """
    native = divmod if name == "divmod" else getattr(operator, name)
    ufunc = getattr(nlnp, _UFUNCS[name])

    def apply(x: Any, y: Any) -> Any:
        if not has_traced((x, y)) or _keeps(name, x, y):
            return native(x, y)
        if name == "pow" and type(y) is int and y == 2:  # int8 for bools
            return nlnp.square(x)
        return ufunc(x, y)

    return apply


def _keeps(name: str, x: Any, y: Any) -> bool:
    """Whether Python's operator does what NumPy's function does, or both are Python numbers."""
    if name == "pow" and type(y) is int and getattr(x, "type", None) is not None:
        return bool(x.type.inexact or x.type.weak_type)
    return all(type(z) in _NUMBERS or getattr(z, "weak_type", False) for z in (x, y))


_NUMBERS = (bool, int, float, complex)


def _in_place_operator(
    name: str, native: Callable[[Any, Any], Any]
) -> Callable[[Writable, Any], Writable]:
    op = _applied(name)

    def changed(self: Writable, other: Any) -> Writable:
        mine = self.read()
        if type(other) is Masked:
            raise other.refused("they were combined with an array in place")
        other = _operand(mine, fitting(other, mine.dtype))
        if isinstance(mine, np.ndarray) and not has_traced(other) and self._read_only is None:
            native(mine, other)
            return self
        new = op(mine, other)
        if self.is_scalar():
            return wrap(new)
        return self.assign(_castable(new, mine))

    return changed


def _castable(new: Any, mine: Any) -> Any:
    """A result that NumPy would write into `mine`."""
    if not np.can_cast(new.dtype, mine.dtype, "same_kind"):
        raise errors.DTypeError(
            errors.explain(
                "lift",
                f"a result of dtype {new.dtype} cannot be written into {mine.dtype}",
                {"array": describe(mine), "result": describe(new)},
                try_="a = a + b instead of a += b, or make the array with dtype=float",
            )
        )
    return convert_to(new, mine.dtype) if isinstance(new, Value) else new


def _unary(name: str) -> Callable[[Writable], Any]:
    op, ufunc = getattr(operator, name), getattr(nlnp, _UFUNCS[name])

    def changed(self: Writable) -> Any:
        x = self.read()
        is_numpys = isinstance(x, np.ndarray) or x.type.weak_type
        return wrap((op if is_numpys else ufunc)(x), views.layout_of_result((self,)))

    return changed


def _unary_of_masked(name: str) -> Callable[[Masked], Masked]:
    op = getattr(operator, name)
    return lambda self: self.like(op(self.whole))


def _product(name: str, a: Any, b: Any) -> Any:
    return wrap(masked_calls.call(name, plain((a, b)), {}))


_OF_EACH_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
    "rshift",
)  # fmt: skip


def _install() -> None:
    names = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
    for name in [*names, "and_", "or_", "xor", "lshift", "rshift"]:
        base = name.rstrip("_")
        forward, reflected = _binary(name)
        setattr(Writable, f"__{base}__", forward)
        setattr(Writable, f"__r{base}__", reflected)
        native = getattr(operator, f"i{base}")
        setattr(Writable, f"__i{base}__", _in_place_operator(name, native))
    for name, function in zip(("__divmod__", "__rdivmod__"), _binary("divmod"), strict=True):
        setattr(Writable, name, function)
    for name in (*_COMPARING, *_OF_EACH_OPERATORS):
        forward, reflected, in_place_ = _of_masked(name)
        base = name.rstrip("_")
        setattr(Masked, f"__{base}__", forward)
        if name not in _COMPARING:
            setattr(Masked, f"__r{base}__", reflected)
            setattr(Masked, f"__i{base}__", in_place_)
    for name in _COMPARING:
        setattr(Writable, f"__{name}__", _binary(name)[0])
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Writable, f"__{name}__", _unary(name))
        setattr(Masked, f"__{name}__", _unary_of_masked(name))
    for name, product in {
        "matmul": lambda self, other: _product("matmul", self, other),
        "rmatmul": lambda self, other: _product("matmul", other, self),
    }.items():
        setattr(Masked, f"__{name}__", product)
    Writable.__array_ufunc__ = _ufunc  # type: ignore[attr-defined]
    Writable.__array_function__ = _function  # type: ignore[attr-defined]


_install()
ATTRIBUTES.attribute = _attribute
