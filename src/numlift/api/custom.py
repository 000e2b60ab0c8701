"""`custom_jvp` and `custom_vjp`: functions with derivative rules written by the user."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.dtypes import float0
from ..core.tracing import Tracer, current, type_of
from ..ops.custom import JvpRule, VjpRule
from ..runtime.array import Array
from ..structural.shape import full
from ..tree import broadcast_prefix, tree_flatten, tree_unflatten
from .eager import concrete
from .signature import parameter_names
from .tracing import flatten_output, name_of


def _positions(fun: Any, nums: Sequence[int], names: Sequence[str]) -> tuple[int, ...]:
    known = parameter_names(fun)
    found = {n % len(known) if n < 0 and known else n for n in nums}
    return tuple(sorted(found | {known.index(n) for n in names}))


def _bind(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Keyword arguments and defaults as positional ones."""
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        if kwargs:
            raise
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise errors.ArgumentError(
            errors.explain(
                name_of(fun),
                "functions with a custom derivative take no keyword-only arguments",
                {"given": list(bound.kwargs)},
            )
        )
    return bound.args


def _operands(leaves: Sequence[Any]) -> list[Any]:
    return [x if isinstance(x, (Array, Tracer)) else concrete(x, "custom") for x in leaves]


class _Custom:
    """What both kinds share: arguments that are not differentiated, flattening."""

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ):
        if not callable(fun):
            raise errors.ArgumentError(
                errors.explain(type(self).__name__, "expected a function", {"fun": fun})
            )
        functools.update_wrapper(self, fun)  # type: ignore[arg-type]
        self.fun, self.name = fun, name_of(fun)
        self.nondiff = _positions(fun, tuple(nondiff_argnums), tuple(nondiff_argnames))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _split(self, args: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        fixed = [args[i] for i in self.nondiff]
        return fixed, tuple(x for i, x in enumerate(args) if i not in self.nondiff)

    def _join(self, fixed: Sequence[Any], dynamic: Sequence[Any]) -> list[Any]:
        rest, static = iter(dynamic), dict(zip(self.nondiff, fixed, strict=True))
        n = len(fixed) + len(dynamic)
        return [static[i] if i in static else next(rest) for i in range(n)]


class custom_jvp(_Custom):  # noqa: N801  (reads as a decorator)
    """A function with its own forward-mode rule; reverse mode follows by transposition.

    Args:
        fun: the function.
        nondiff_argnums, nondiff_argnames: arguments without derivative (functions, options); the
            rule gets them first.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> @nl.custom_jvp
        ... def f(x):
        ...     return np.sin(x)
        >>> @f.defjvp
        ... def f_jvp(primals, tangents):
        ...     (x,), (dx,) = primals, tangents
        ...     return f(x), 2.0 * np.cos(x) * dx
        >>> print(nl.grad(f)(0.0))
        2.0
    """

    _rule: Callable[..., Any] | None = None
    symbolic_zeros = False

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule: (nondiff..., primals, tangents) -> (result, tangent of the result)."""
        self._rule = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set one rule an argument: (tangent, result, *primals) -> tangent; None is zero."""
        if self.nondiff:
            raise errors.ArgumentError("defjvps: use defjvp for functions with nondiff_argnums")

        def rule(primals: Any, tangents: Any) -> Any:
            out = self(*primals)
            terms = [f(d, out, *primals) for f, d in zip(jvps, tangents, strict=True) if f]
            total = terms[0] if terms else None
            for term in terms[1:]:
                leaves, tree = tree_flatten(total)
                total = tree_unflatten(
                    tree, [a + b for a, b in zip(leaves, tree_flatten(term)[0], strict=True)]
                )
            if total is None:
                leaves, tree = tree_flatten(out)
                total = tree_unflatten(tree, [full(type_of(x)) for x in leaves])
            return out, total

        self._rule = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = _bind(self.fun, args, kwargs)
        if self._rule is None:
            raise errors.ArgumentError(
                errors.explain(
                    self.name,
                    "no derivative rule was defined for this custom_jvp function",
                    try_=f"@{self.name}.defjvp before the first call",
                )
            )
        fixed, dynamic = self._split(args)
        leaves, tree = tree_flatten(dynamic)
        out_trees: list[Any] = []

        def function(*xs: Any) -> list[Any]:
            result = self.fun(*self._join(fixed, tree_unflatten(tree, xs)))
            outs, found = flatten_output(result, self.name, "custom_jvp")
            out_trees.append(found)
            return outs

        def rule(*xs: Any) -> list[Any]:
            n = len(xs) // 2
            primals, tangents = tree_unflatten(tree, xs[:n]), tree_unflatten(tree, xs[n:])
            return self._checked(self._rule(*fixed, primals, tangents), out_trees)  # type: ignore[misc]

        outs = current.get().apply_custom(JvpRule(function, rule, self.name), _operands(leaves))
        return tree_unflatten(out_trees[0], outs)

    def _checked(self, pair: Any, out_trees: list[Any]) -> list[Any]:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise errors.ArgumentError(
                errors.explain(f"jvp rule of {self.name}", "must return a pair (result, tangent)")
            )
        outs, tree = flatten_output(pair[0], self.name, "custom_jvp")
        d_outs, d_tree = tree_flatten(pair[1])
        if tree != d_tree:
            raise errors.ArgumentError(
                errors.explain(
                    f"jvp rule of {self.name}",
                    "result and tangent must have one structure",
                    {"result": tree, "tangent": d_tree},
                )
            )
        out_trees.append(tree)
        for x, d in zip(outs, d_outs, strict=True):
            t = type_of(x)
            if t.inexact and (type_of(d).shape, type_of(d).dtype) != (t.shape, t.dtype):
                raise errors.ArgumentError(
                    errors.explain(
                        f"jvp rule of {self.name}",
                        "a tangent must have the shape and dtype of its result",
                        {"result": t, "tangent": type_of(d)},
                    )
                )
        return [*outs, *d_outs]


class custom_vjp(_Custom):  # noqa: N801  (reads as a decorator)
    """A function with its own reverse-mode rule.

    Args:
        fun: the function.
        nondiff_argnums, nondiff_argnames: arguments without derivative; ``bwd`` gets them first.

    Example:
        >>> import numlift as nl
        >>> @nl.custom_vjp
        ... def clipped(x):
        ...     return x * x
        >>> def fwd(x):
        ...     return clipped(x), x
        >>> def bwd(x, ct):
        ...     return (nl.numpy.clip(2 * x * ct, -1, 1),)
        >>> clipped.defvjp(fwd, bwd)
        >>> print(nl.grad(clipped)(5.0))
        1.0
    """

    _fwd: Callable[..., Any] | None = None
    _bwd: Callable[..., Any] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set ``fwd(*args) -> (result, residuals)`` and ``bwd(residuals, ct) -> cotangents``."""
        self._fwd, self._bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = _bind(self.fun, args, kwargs)
        if self._fwd is None:
            raise errors.ArgumentError(
                errors.explain(
                    self.name,
                    "no derivative rule was defined for this custom_vjp function",
                    try_=f"{self.name}.defvjp(fwd, bwd) before the first call",
                )
            )
        fixed, dynamic = self._split(args)
        leaves, tree = tree_flatten(dynamic)
        trees: dict[str, Any] = {}

        def function(*xs: Any) -> list[Any]:
            result = self.fun(*self._join(fixed, tree_unflatten(tree, xs)))
            outs, trees["out"] = flatten_output(result, self.name, "custom_vjp")
            return outs

        def forward(*xs: Any) -> tuple[list[Any], list[Any]]:
            pair = self._fwd(*self._join(fixed, tree_unflatten(tree, xs)))  # type: ignore[misc]
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise errors.ArgumentError(
                    errors.explain(
                        f"fwd rule of {self.name}", "must return a pair (result, residuals)"
                    )
                )
            outs, trees["out"] = flatten_output(pair[0], self.name, "custom_vjp")
            residuals, trees["residuals"] = tree_flatten(pair[1])
            return outs, residuals

        def backward(residuals: list[Any], cts: list[Any]) -> list[Any]:
            kept = tree_unflatten(trees["residuals"], residuals)
            ct = tree_unflatten(trees["out"], cts)
            return self._cotangents(self._bwd(*fixed, kept, ct), dynamic, leaves)  # type: ignore[misc]

        rule = VjpRule(function, forward, backward, self.name)
        outs = current.get().apply_custom(rule, _operands(leaves))
        return tree_unflatten(trees["out"], outs)

    def _cotangents(self, found: Any, dynamic: tuple[Any, ...], leaves: list[Any]) -> list[Any]:
        if isinstance(found, list):
            found = tuple(found)
        if not isinstance(found, tuple) or len(found) != len(dynamic):
            raise errors.ArgumentError(
                errors.explain(
                    f"bwd rule of {self.name}",
                    f"must return a tuple with one cotangent an argument ({len(dynamic)})",
                    {"returned": type(found).__name__},
                    try_="return (ct_x,) with a comma for a single argument",
                )
            )
        try:
            cts = broadcast_prefix(found, dynamic, is_leaf=lambda x: x is None)
        except (ValueError, TypeError) as error:
            raise errors.ArgumentError(
                errors.explain(
                    f"bwd rule of {self.name}",
                    f"cotangents must have the structure of the arguments: {error}",
                )
            ) from None
        results: list[Any] = []
        for c, x in zip(cts, leaves, strict=True):
            t = type_of(x)
            if c is None or not t.inexact or getattr(c, "dtype", None) == float0:
                results.append(None)
                continue
            u = type_of(c)
            if u.shape != t.shape or (u.dtype != t.dtype and not u.weak_type):
                raise errors.ArgumentError(
                    errors.explain(
                        f"bwd rule of {self.name}",
                        "a cotangent must have the shape and dtype of its argument",
                        {"argument": t, "cotangent": u},
                    )
                )
            results.append(c)
        return results


__all__ = ["custom_jvp", "custom_vjp"]
