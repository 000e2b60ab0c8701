"""Which arguments a derivative is taken by, and whether they and the result allow it."""

from __future__ import annotations

import operator
from typing import Any

from .. import errors
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..tree import keystr, tree_flatten_with_path, tree_unflatten, treedef_is_leaf
from .tracing import check_argument


def fits(u: ArrayType, t: ArrayType) -> bool:
    """Whether a value of type `u` may be a tangent of type `t`; weak numbers take its dtype."""
    if u.shape != t.shape:
        return False
    return u.dtype == t.dtype or (u.weak_type and "biufc".find(u.kind) <= "biufc".find(t.kind))


def canonical_argnums(argnums: Any, transformation: str) -> tuple[int, ...]:
    """`argnums` as a tuple."""
    try:
        if isinstance(argnums, (tuple, list)):
            return tuple(operator.index(n) for n in argnums)
        return (operator.index(argnums),)
    except TypeError:
        raise errors.ArgumentError(
            errors.explain(
                transformation,
                "argnums must be an int or a sequence of ints",
                {"argnums": argnums},
                try_=f"nl.{transformation}(f)(x): it returns a function, which takes the arguments",
            )
        ) from None


def choose_arguments(
    args: tuple[Any, ...], nums: tuple[int, ...], name: str, transformation: str = "grad"
) -> list[Any]:
    """The arguments at these positions."""
    for n in nums:
        if not -len(args) <= n < len(args):
            raise errors.ArgumentError(
                errors.explain(
                    f"{transformation}({name})",
                    f"argnums={n}, but the function was called with {len(args)} positional "
                    "arguments",
                    try_="pass the arguments to differentiate by position, not by name; they are "
                    "counted from 0",
                )
            )
    if len({n % len(args) for n in nums}) != len(nums):
        raise errors.ValueArgumentError(
            errors.explain(
                f"{transformation}({name})", "an argument is given twice", {"argnums": nums}
            )
        )
    return [args[n] for n in nums]


def check_inputs(
    tree: Any,
    position: int,
    name: str,
    holomorphic: bool,
    allow_int: bool,
    allow_complex: bool = True,
    transformation: str = "grad",
) -> None:
    """Raise if an argument holds a dtype that cannot be differentiated with these options."""
    function = f"{transformation}({name})"
    for path, x in tree_flatten_with_path(tree)[0]:
        check_argument(x, lambda p=path: f"argument {position}{keystr(p)}", function)
        t = type_of(x)
        where = f"argument {position}{keystr(path)}"
        if holomorphic and t.kind != "c":
            rule = f"holomorphic=True needs complex arguments, but {where} is {t.dtype}"
        elif t.kind == "c" and not holomorphic and not allow_complex:
            rule = f"forward mode needs real arguments, but {where} is {t.dtype}"
        elif not t.inexact and not allow_int:
            rule = f"{where} must be a float, but is {t.dtype}"
        else:
            continue
        raise errors.GradError(
            errors.explain(
                function,
                rule,
                {where: t},
                try_="nl.jacrev, or holomorphic=True if the function is holomorphic"
                if t.kind == "c"
                else "random keys by closure, or as an argument that argnums leaves out"
                if t.kind == "k"
                else _floats(transformation),
            )
        )


def _floats(transformation: str) -> str:
    """Advice for integer arguments."""
    advice = "x.astype(float) (3.0 instead of 3)"
    if transformation in ("jacfwd", "hessian", "hvp"):
        return f"{advice}, or close over arguments that are not differentiated"
    return f"{advice}, or allow_int=True"


def check_result(point: Any, function: str, holomorphic: bool) -> None:
    """Raise unless the result of a linearised function (`Point`) is one scalar to differentiate."""
    types = point.linear.out_types
    leaf = treedef_is_leaf(point.out_tree)
    if not leaf or types[0].shape:
        shown = types[0] if leaf else tree_unflatten(point.out_tree, types)
        raise errors.GradError(
            errors.explain(
                function,
                "the function must return a scalar (one array of rank 0)",
                {"result": shown},
                try_="return a sum or mean, or use nl.jacrev for the derivative of an array"
                if leaf
                else "return the scalar itself, not in a list, tuple or dict"
                if len(types) == 1
                else "has_aux=True if the function returns (loss, other values)"
                if types
                else "a `return` of the loss",
            )
        )
    t = types[0]
    wanted = "c" if holomorphic else "f"
    if t.kind != wanted:
        words = "complex" if holomorphic else "real floating-point"
        raise errors.GradError(
            errors.explain(
                function,
                f"the result must be {words}",
                {"result": t},
                try_="return abs(z) or z.real, or set holomorphic=True"
                if t.kind == "c"
                else "return a float",
            )
        )
