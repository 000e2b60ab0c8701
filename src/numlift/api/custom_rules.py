"""One call of a function with rules of its own: flat functions around the user's rules."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..config import current as current_flags
from ..core.refs import Ref
from ..core.staging import trace_to_graph
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..ops.flat_functions import Count, Flat
from ..structural.arith import convert
from ..tree import (
    broadcast_prefix,
    explain_structure_mismatch,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)
from .differentiated import fits
from .symbolic_zeros import CustomVJPPrimal, is_zero, zero_tangent
from .tracing import flatten_output


class CustomParts:
    """The user's rules as flat functions (see `ops.custom.CustomRule`).

    Args:
        custom: the `CustomFunction`.
        fixed: position -> argument, for arguments without derivative.
        types, tree: types of the arrays among the other arguments, and the structure of these.
        refs: position -> ref, for leaves of the other arguments that are refs.
    """

    __slots__ = (
        "custom",
        "fixed",
        "types",
        "tree",
        "refs",
        "out_tree",
        "residual_tree",
        "residual_refs",
        "out",
    )

    out_tree: Any
    residual_tree: Any
    residual_refs: dict[int, Ref]
    out: list[ArrayType]

    def __init__(
        self,
        custom: Any,
        fixed: dict[int, Any],
        types: list[ArrayType],
        tree: Any,
        refs: dict[int, Ref],
    ):
        self.custom, self.fixed, self.types, self.tree = custom, fixed, types, tree
        self.refs = refs

    def _arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """All arguments of the user's function."""
        dynamic = tree_unflatten(self.tree, _merged(leaves, self.refs))
        rest, n = iter(dynamic), len(self.fixed) + len(dynamic)
        return [self.fixed[i] if i in self.fixed else next(rest) for i in range(n)]

    def function(self, *xs: Any) -> list[Any]:
        """The function itself."""
        result = self.custom.fun(*self._arguments(xs))
        outs, self.out_tree = flatten_output(result, self.custom.name, type(self.custom).__name__)
        return outs

    def expected(self) -> tuple[Any, list[ArrayType]] | None:
        """Structure and types of the function's result; None if it cannot be traced."""
        parts = CustomParts(self.custom, self.fixed, self.types, self.tree, self.refs)
        try:
            graph, _ = trace_to_graph(parts.function, self.types, label=self.custom.name)
        except errors.NumliftError:  # it needs values
            return None
        return parts.out_tree, graph.out_types

    def check_result(self, where: str, outs: Sequence[Any]) -> None:
        """Raise if the result of a rule is not like that of the function.

        Raises:
            ArgumentError: it has another structure, shape or dtype.
        """
        if self.refs:
            return
        tree, types = self.out_tree, [type_of(x) for x in outs]
        key = (self.tree, *self.types, current_flags())
        known = self.custom.expected.get(key)
        if known is not None and _alike(known, (tree, types)):
            return
        # What is known may be out of date: the function may depend on more than its types.
        wanted = self.expected()
        if wanted is None or _alike(wanted, (tree, types)):
            if wanted is not None and len(self.custom.expected) < _LIMIT:
                self.custom.expected[key] = wanted
            return
        if wanted[0] != tree:
            rule = "the rule must return the result of the function, in the same structure: "
            rule += explain_structure_mismatch(wanted[0], tree, "function", "rule") or ""
        else:
            rule = "the rule must return the result of the function, with its shapes and dtypes"
        raise errors.ArgumentError(
            errors.explain(
                where,
                rule,
                {"function": wanted[1], "rule": types},
                try_=f"return {self.custom.name}(...) itself as the result in the rule",
            )
        )

    # ---- forward mode ------------------------------------------------------------------------

    def tangents(self, *xs: Any) -> list[Any]:
        """The rule of `defjvp`: (primals, tangents) -> (results, tangents)."""
        n, symbolic = len(self.types), self.custom.symbolic_zeros
        given = [
            zero_tangent(type_of(x), symbolic) if d is None else d
            for x, d in zip(xs[:n], xs[n:], strict=True)
        ]
        where = f"jvp rule of {self.custom.name}"
        pair = call_rule(
            self.custom.jvp,
            where,
            "(nondiff arguments..., primals, tangents)",
            *self.fixed.values(),
            tree_unflatten(self.tree, xs[:n]),
            tree_unflatten(self.tree, given),
        )
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise errors.ArgumentError(
                errors.explain(
                    where,
                    "must return a pair (result, tangent)",
                    {"returned": _shown(pair)},
                    try_="return f(*primals), tangent",
                )
            )
        outs, self.out_tree = flatten_output(pair[0], self.custom.name, "custom_jvp")
        self.check_result(where, outs)
        d_outs, d_tree = tree_flatten(pair[1])
        if self.out_tree != d_tree:
            raise errors.ArgumentError(
                errors.explain(
                    where,
                    "result and tangent must have one structure: "
                    f"{explain_structure_mismatch(self.out_tree, d_tree, 'result', 'tangent')}",
                    try_="the tangent of one array is an array, not a tuple like `tangents`",
                )
            )
        return [*outs, *(_tangent(where, x, d) for x, d in zip(outs, d_outs, strict=True))]

    # ---- reverse mode ------------------------------------------------------------------------

    def forward(self, active: tuple[bool, ...]) -> Flat:
        """The forward rule of `defvjp`: arguments -> (results, residuals, number of results)."""

        def run(*xs: Any) -> list[Any]:
            given = list(xs)
            if self.custom.symbolic_cotangents:
                given = [CustomVJPPrimal(x, a) for x, a in zip(xs, active, strict=True)]
            args = self._arguments(given)
            if self.custom.symbolic_cotangents:
                args = [
                    CustomVJPPrimal(x, False) if i in self.fixed and is_array(x) else x
                    for i, x in enumerate(args)
                ]
            where = f"fwd rule of {self.custom.name}"
            pair = call_rule(self.custom.fwd, where, "the arguments of the function", *args)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise errors.ArgumentError(
                    errors.explain(
                        where,
                        "must return a pair (result, residuals)",
                        {"returned": _shown(pair)},
                        try_="return result, (x, y), or result, None if bwd needs nothing",
                    )
                )
            outs, self.out_tree = flatten_output(pair[0], self.custom.name, "custom_vjp")
            self.check_result(where, outs)
            residuals, self.residual_tree = tree_flatten(pair[1])
            self.residual_refs = {i: x for i, x in enumerate(residuals) if isinstance(x, Ref)}
            for path, x in tree_flatten_with_path(pair[1])[0]:
                if not is_array(x) and not isinstance(x, Ref):
                    raise errors.ArgumentError(
                        errors.explain(
                            where,
                            f"residuals must be arrays, but residuals{keystr(path)} is a "
                            f"{type(x).__name__}",
                            {"value": repr(x)[:80]},
                            try_="nondiff_argnums=... for options: bwd gets them first",
                        )
                    )
            self.out = [type_of(x) for x in outs]
            arrays = [x for i, x in enumerate(residuals) if i not in self.residual_refs]
            return [*outs, *arrays, Count(len(outs))]

        return run

    def backward(self, *xs: Any) -> list[Any]:
        """The backward rule of `defvjp`: (residuals, cotangents) -> cotangents of arguments."""
        n = self.residual_tree.num_leaves - len(self.residual_refs)
        symbolic = self.custom.symbolic_cotangents
        cts = [
            zero_tangent(t, symbolic) if c is None else c
            for t, c in zip(self.out, xs[n:], strict=True)
        ]
        found = call_rule(
            self.custom.bwd,
            f"bwd rule of {self.custom.name}",
            "(nondiff arguments..., residuals, cotangent)",
            *self.fixed.values(),
            tree_unflatten(self.residual_tree, _merged(xs[:n], self.residual_refs)),
            tree_unflatten(self.out_tree, cts),
        )
        return self._cotangents(found)

    def _cotangents(self, found: Any) -> list[Any]:
        where = f"bwd rule of {self.custom.name}"
        example = tree_unflatten(self.tree, _merged(self.types, self.refs))
        if isinstance(found, list):
            found = tuple(found)
        if not isinstance(found, tuple) or len(found) != len(example):
            raise errors.ArgumentError(
                errors.explain(
                    where,
                    f"must return a tuple with one cotangent an argument ({len(example)})",
                    {"returned": _shown(found)},
                    try_="return (ct_x,) with a comma for a single argument"
                    if len(example) == 1
                    else "None in the place of arguments that get no cotangent",
                )
            )
        try:
            cts = broadcast_prefix(
                found, example, lambda x: x is None, where, "cotangents", "arguments"
            )
        except (ValueError, TypeError) as error:
            raise errors.ArgumentError(
                errors.explain(
                    where,
                    errors.reason(error),
                    try_="cotangents in the containers of the arguments",
                )
            ) from None
        paths = [p for p, _ in tree_flatten_with_path(example)[0]]
        for i, (path, c) in enumerate(zip(paths, cts, strict=True)):
            if i in self.refs and c is not None:
                raise errors.RefError(
                    errors.explain(
                        where,
                        f"argument {keystr(path)} is a ref, which has no cotangent",
                        {"ref": self.refs[i].type},
                        try_="None in its place, and ref[...] = ... to take something out",
                    )
                )
            if not is_zero(c) and not is_array(c):
                raise errors.ArgumentError(
                    errors.explain(
                        where,
                        f"a cotangent must be an array, but that of argument {keystr(path)} is a "
                        f"{type(c).__name__}",
                        {"value": repr(c)[:80]},
                    )
                )
        cts = [c for i, c in enumerate(cts) if i not in self.refs]
        return [_cotangent(where, t, c) for t, c in zip(self.types, cts, strict=True)]

    # ---- batching ----------------------------------------------------------------------------

    def batch_rule(self, size: int, flags: Sequence[bool]) -> tuple[Flat, list[bool]]:
        """The rule of `def_vmap`, and a list that it fills with which results are batched."""
        batched: list[bool] = []
        where = f"vmap rule of {self.custom.name}"

        def run(*xs: Any) -> list[Any]:
            in_batched = list(tree_unflatten(self.tree, list(flags)))
            pair = self.custom.vmap_rule(size, in_batched, *tree_unflatten(self.tree, xs))
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise errors.ArgumentError(
                    errors.explain(
                        where,
                        "must return a pair (result, out_batched)",
                        {"returned": _shown(pair)},
                        try_="return result, True",
                    )
                )
            outs, self.out_tree = flatten_output(pair[0], self.custom.name, "custom_vmap")
            try:
                found = broadcast_prefix(pair[1], pair[0], None, where, "out_batched", "result")
            except (ValueError, TypeError) as error:
                raise errors.ArgumentError(
                    errors.explain(
                        where,
                        errors.reason(error),
                        try_="one bool for each array of the result, or one for all",
                    )
                ) from None
            for x, is_batched in zip(outs, found, strict=True):
                shape = type_of(x).shape
                if is_batched and (not shape or shape[0] != size):
                    raise errors.VmapError(
                        errors.explain(
                            where,
                            f"a batched result must have a leading axis of size {size}",
                            {"result": type_of(x)},
                        )
                    )
            batched[:] = [bool(b) for b in found]
            return outs

        return run, batched


_LIMIT = 256


def _alike(a: tuple[Any, Sequence[ArrayType]], b: tuple[Any, Sequence[ArrayType]]) -> bool:
    """Whether results have one structure, and the same shapes and dtypes."""
    return a[0] == b[0] and all(
        t.shape == u.shape and t.dtype == u.dtype for t, u in zip(a[1], b[1], strict=True)
    )


def call_rule(rule: Any, where: str, takes: str, *args: Any) -> Any:
    """Call a rule of the user.

    Raises:
        ArgumentError: it does not take that many arguments.
    """
    try:
        return rule(*args)
    except TypeError:
        try:
            inspect.signature(rule).bind(*args)
        except TypeError as error:
            raise errors.ArgumentError(
                errors.explain(
                    where,
                    f"is called with {len(args)} arguments, {takes}, but {error}",
                    try_="one parameter for each of them",
                )
            ) from None
        except ValueError:  # it has no signature
            pass
        raise


def _merged(arrays: Sequence[Any], refs: dict[int, Ref]) -> Sequence[Any]:
    """All leaves, of which some are refs."""
    if not refs:
        return arrays
    rest = iter(arrays)
    return [refs[i] if i in refs else next(rest) for i in range(len(arrays) + len(refs))]


def is_array(x: Any) -> bool:
    """Whether a value has an array type."""
    try:
        type_of(x)
    except errors.ArgumentError:
        return False
    return True


def _shown(x: Any) -> Any:
    """What a rule returned, in a few words."""
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    return type_of(x) if is_array(x) else f"a {type(x).__name__}"


def _tangent(where: str, x: Any, d: Any) -> Any:
    """A checked tangent; None if it is zero."""
    t = type_of(x)
    if is_zero(d) or not t.inexact:
        return None
    if not is_array(d):
        raise errors.ArgumentError(
            errors.explain(
                where,
                f"a tangent must be an array, not a {type(d).__name__}",
                {"result": t, "tangent": repr(d)[:80]},
                try_="0.0 * x, or custom_derivatives.zero_from_primal(x), for a tangent of zeros",
            )
        )
    u = type_of(d)
    if not fits(u, t):
        raise errors.ArgumentError(
            errors.explain(
                where,
                "a tangent must have the shape and dtype of its result",
                {"result": t, "tangent": u},
                try_="the derivative of the result along the tangents, one number an element",
            )
        )
    return convert(d, t.dtype) if u.dtype != t.dtype else d


def _cotangent(where: str, t: ArrayType, c: Any) -> Any:
    """A checked cotangent; None if it is zero."""
    if is_zero(c) or not t.inexact:
        return None
    u = type_of(c)
    if not fits(u, t):
        raise errors.ArgumentError(
            errors.explain(
                where,
                "a cotangent must have the shape and dtype of its argument",
                {"argument": t, "cotangent": u},
                try_="sum over axes that the function broadcast, or ct.astype(x.dtype)",
            )
        )
    return convert(c, t.dtype) if u.dtype != t.dtype else c
