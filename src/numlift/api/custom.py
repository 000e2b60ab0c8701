"""`custom_jvp`, `custom_vjp`, `custom_vmap`: functions with rules written by the user."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.refs import Ref
from ..core.staging import trace_to_graph
from ..core.tracing import Tracer, current
from ..ops.custom import CustomRule
from ..ops.elementwise_misc import stop_gradient
from ..runtime.array import Array
from ..structural.arith import add
from ..tree import tree_flatten, tree_leaves, tree_unflatten
from .closures import closed_over
from .custom_rules import CustomParts
from .eager import concrete
from .leaks import keep
from .signature import parameter_names
from .symbolic_zeros import zero_from_primal
from .tracing import name_of


def _positions(fun: Any, nums: Sequence[int], names: Sequence[str]) -> tuple[int, ...]:
    known = parameter_names(fun)
    outside = [n for n in nums if known and not -len(known) <= n < len(known)]
    if outside and not _takes_more(fun):
        raise errors.ValueArgumentError(
            errors.explain(
                name_of(fun),
                f"nondiff_argnums={outside[0]} is out of range: the function has {len(known)} "
                "positional parameters",
                {"parameters": known},
            )
        )
    found = {n % len(known) if n < 0 and known else n for n in nums}
    unknown = [n for n in names if n not in known]
    if unknown:
        raise errors.ArgumentError(
            errors.explain(
                name_of(fun),
                f"nondiff_argnames {unknown} are not parameters of the function",
                {"parameters": known},
            )
        )
    return tuple(sorted(found | {known.index(n) for n in names}))


def _takes_more(fun: Any) -> bool:
    """Whether a function has ``*args``."""
    kinds = [p.kind for p in inspect.signature(fun).parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds


def _bind(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Keyword arguments and defaults as positional ones."""
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        if kwargs:
            raise
        return args
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise errors.ArgumentError(
            errors.explain(
                name_of(fun),
                str(error),
                {"parameters": list(signature.parameters)},
                try_=f"{name_of(fun)}{signature}",
            )
        ) from None
    bound.apply_defaults()
    if bound.kwargs:
        raise errors.ArgumentError(
            errors.explain(
                name_of(fun),
                "functions with rules of their own take no keyword-only arguments",
                {"given": list(bound.kwargs)},
                try_="make them positional (remove the * in the signature)",
            )
        )
    return bound.args


def _operands(leaves: Sequence[Any]) -> list[Any]:
    return [x if isinstance(x, (Array, Tracer)) else concrete(x, "custom") for x in leaves]


class CustomFunction:
    """A function for which any of three rules may be given: forward, reverse, batching.

    Forward mode takes the rule of `defjvp`; without it, that of `defvjp`, transposed. Reverse mode
    takes the rule of `defvjp`; without it, that of `defjvp`, transposed. Without either, the
    function itself is differentiated.
    """

    needed: str = ""

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ):
        if not callable(fun):
            raise errors.ArgumentError(
                errors.explain(
                    type(self).__name__,
                    f"expected a function, got a {type(fun).__name__}",
                    {"fun": fun},
                    try_=f"@nl.{type(self).__name__} above a function",
                )
            )
        functools.update_wrapper(self, fun)  # type: ignore[arg-type]
        self.fun, self.name = fun, name_of(fun)
        self.nondiff = _positions(fun, tuple(nondiff_argnums), tuple(nondiff_argnames))
        self.jvp: Callable[..., Any] | None = None
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.vmap_rule: Callable[..., Any] | None = None
        self.expected: dict[Any, Any] = {}  # what `fun` returns, for checks of the rules
        self.symbolic_zeros = False
        self.symbolic_cotangents = False

    # ---- rules -------------------------------------------------------------------------------

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the forward rule: (nondiff..., primals, tangents) -> (result, tangent).

        Args:
            jvp: the rule.
            symbolic_zeros: give tangents that are known to be zero as `SymbolicZero`; the rule may
                return such zeros in any case.
        """
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set one rule an argument: (tangent, result, *primals) -> tangent; None is zero."""
        if self.nondiff:
            raise errors.ArgumentError("defjvps: use defjvp for functions with nondiff_argnums")

        def rule(primals: Any, tangents: Any) -> Any:
            out = self(*primals)
            terms = [f(d, out, *primals) for f, d in zip(jvps, tangents, strict=True) if f]
            if not terms:
                return out, zero_from_primal(out)
            total, tree = tree_flatten(terms[0])
            for term in terms[1:]:
                total = [
                    current.get().apply(add, (a, b))
                    for a, b in zip(total, tree_leaves(term), strict=True)
                ]
            return out, tree_unflatten(tree, total)

        self.defjvp(rule)

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the reverse rule.

        Args:
            fwd: arguments -> (result, residuals).
            bwd: (nondiff..., residuals, cotangent) -> a tuple with one cotangent an argument; None
                or a `SymbolicZero` stands for zeros.
            symbolic_zeros: `fwd` gets each array as a `CustomVJPPrimal`, which tells whether it is
                perturbed; `bwd` gets cotangents that are known to be zero as `SymbolicZero`.
            optimize_remat: accepted for compatibility. Residuals that nothing uses are dropped in
                any case.
        """
        self.fwd, self.bwd, self.symbolic_cotangents = fwd, bwd, symbolic_zeros

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the batching rule: (size, in_batched, *args) -> (result, out_batched).

        `in_batched` is a list with a tree of bools an argument; batched arrays have the batch axis
        in front. `out_batched` is such a tree of bools for the result.
        """
        self.vmap_rule = rule
        return rule

    # ---- calls -------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = _bind(self.fun, args, kwargs)
        self._check_defined()
        fixed = {i: args[i] for i in self.nondiff if i < len(args)}
        dynamic = tuple([x for i, x in enumerate(args) if i not in fixed])
        leaves, tree = tree_flatten(dynamic)
        refs = {i: x for i, x in enumerate(leaves) if isinstance(x, Ref)}
        if refs:
            self._check_refs(next(iter(refs.values())))
            leaves = [x for i, x in enumerate(leaves) if i not in refs]
        values = _operands(leaves)
        parts = CustomParts(self, fixed, [x.type for x in values], tree, refs)
        rule = CustomRule(
            parts.function,
            self.name,
            None if self.jvp is None else parts.tangents,
            None if self.fwd is None else parts.forward,
            None if self.bwd is None else parts.backward,
            None if self.vmap_rule is None else parts.batch_rule,
        )
        # Reaching for values that the rules close over must work after their trace has ended.
        hidden = closed_over([self.fun, self.jvp, self.fwd, self.bwd, *fixed.values()])
        if hidden:
            keep(hidden)
            operands = [*self._constants(parts, hidden), *values]
            outs = current.get().apply_custom(rule.rebound(hidden), operands)
        else:
            outs = current.get().apply_custom(rule, values)
        return tree_unflatten(parts.out_tree, outs)

    def _constants(self, parts: CustomParts, hidden: list[Tracer]) -> list[Any]:
        """What the rules close over; values that the function itself does not use are constant."""
        _, captured = trace_to_graph(parts.function, parts.types, label=self.name)
        used = {id(x) for x in captured}
        return [
            current.get().apply(stop_gradient, (x,)) if id(x) not in used and x.type.inexact else x
            for x in hidden
        ]

    def _check_refs(self, ref: Ref) -> None:
        """Raise if there is a rule that cannot take refs."""
        if self.jvp is not None or self.vmap_rule is not None:
            raise errors.RefError(
                errors.explain(
                    self.name,
                    "only functions with no other rule than that of defvjp take refs",
                    {"ref": ref.type},
                    try_=f"{self.name}.defvjp(fwd, bwd), or nondiff_argnums for the ref",
                )
            )

    def _check_defined(self) -> None:
        have = {"defjvp": self.jvp, "defvjp": self.fwd, "def_vmap": self.vmap_rule}
        if all(rule is None for rule in have.values()):
            raise errors.ArgumentError(
                errors.explain(
                    self.name,
                    f"no rule was defined for this {type(self).__name__} function",
                    try_=f"{self.name}.{self.needed}(...) before the first call",
                )
            )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def traced_parts(self) -> list[Any]:
        """Functions in which traced values may hide."""
        return [self.fun, self.jvp, self.fwd, self.bwd]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class custom_jvp(CustomFunction):  # noqa: N801  (reads as a decorator)
    """A function with its own forward-mode rule; reverse mode follows by transposition.

    The rule must be linear in the tangents. A reverse rule of its own can be added with `defvjp`.
    The function and its rules may close over traced values; with respect to these it has no
    derivative (that is an error).

    Args:
        fun: the function.
        nondiff_argnums, nondiff_argnames: arguments without derivative (functions, options, also
            traced values); the rule gets them first.

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

    needed = "defjvp"


class custom_vjp(CustomFunction):  # noqa: N801  (reads as a decorator)
    """A function with its own reverse-mode rule.

    Forward mode transposes the backward rule, which must be linear in the cotangent for that, or
    takes a rule of its own, added with `defjvp`. (In JAX forward mode is an error.)

    An argument may be a `Ref` (see `new_ref`): ``bwd`` gets it if ``fwd`` returns it among the
    residuals, and writes gradients to it that are to be looked at; its cotangent is None.

    Args:
        fun: the function.
        nondiff_argnums, nondiff_argnames: arguments without derivative (also traced values);
            ``bwd`` gets them first.

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

    needed = "defvjp"


class custom_vmap(CustomFunction):  # noqa: N801  (reads as a decorator)
    """A function with its own batching rule.

    Forward derivatives of a batch go through the rule. A gradient taken inside `vmap` is that of
    the function; a gradient outside of `vmap` is that of the rule.

    Example:
        >>> import numlift as nl
        >>> from numlift.custom_batching import custom_vmap
        >>> @custom_vmap
        ... def f(x, y):
        ...     return x + y
        >>> @f.def_vmap
        ... def rule(size, in_batched, x, y):
        ...     return 10 * (x + y), True
        >>> print(f(1, 2), nl.vmap(f)(nl.numpy.arange(3), nl.numpy.arange(3)))
        3 [ 0 20 40]
    """

    needed = "def_vmap"

    def __init__(self, fun: Callable[..., Any]):
        super().__init__(fun)


__all__ = ["CustomFunction", "custom_jvp", "custom_vjp", "custom_vmap"]
