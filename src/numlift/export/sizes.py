"""Sizes of symbols from the arguments of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..core.dim_scope import SymbolicScope
from ..core.dims import OPERATIONS, Dim, size_text
from ..core.types import ArrayType, array_type


def scope_of_types(function: str, types: Sequence[ArrayType]) -> SymbolicScope | None:
    """The scope of the symbolic sizes in types, or None if all sizes are numbers.

    Raises:
        ValueArgumentError: there are two scopes.
    """
    scopes = {id(d.scope): d.scope for t in types for d in t.shape if type(d) is Dim}
    if len(scopes) > 1:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "the symbolic sizes of the arguments belong to different scopes",
                {f"argument leaf {i}": t for i, t in enumerate(types)},
                try_="symbolic_shape(..., scope=scope) with one SymbolicScope for all arguments",
            )
        )
    return next(iter(scopes.values()), None)


def symbols_of(types: Sequence[ArrayType]) -> list[str]:
    """Names of the symbols in types, in the order of their first use."""
    found: dict[str, None] = {}
    for t in types:
        for d in t.shape:
            if type(d) is Dim:
                found.update(dict.fromkeys(sorted(d.symbols())))
    return list(found)


def check_solvable(function: str, types: Sequence[ArrayType], results: Sequence[ArrayType]) -> None:
    """Raise unless the shapes of the arguments determine all symbols."""
    shapes = [t.shape for t in types]
    sizes = _solved(types, shapes, symbolic=True)
    missing = [s for s in symbols_of([*types, *results]) if s not in sizes]
    if missing:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"the sizes of {', '.join(missing)} do not follow from the shapes of the arguments",
                {f"argument leaf {i}": t for i, t in enumerate(types)},
                try_=f'an argument with an axis of size "{missing[0]}"',
            )
        )


def solve(
    function: str,
    scope: SymbolicScope,
    types: Sequence[ArrayType],
    actual: Sequence[ArrayType],
    where: Callable[[int], str],
) -> dict[str, Any]:
    """Sizes of the symbols for arguments with the types `actual`.

    Args:
        function: for messages.
        scope: of the symbols.
        types: of the arguments, with symbolic sizes.
        actual: types of the arguments of this call.
        where: number of a leaf -> where it is in the call.

    Raises:
        ShapeError: an argument has another rank or size, or no sizes of the symbols fit.
        ValueArgumentError: a constraint does not hold.
    """
    for i, (t, u) in enumerate(zip(types, actual, strict=True)):
        for axis, (d, n) in enumerate(zip(t.shape, u.shape, strict=True)):
            if type(d) is not Dim and not d == n:
                raise _unfit(
                    function, f"{where(i)} must have size {d} in axis {axis}, not {n}", t, u
                )
    sizes = _solved(types, [u.shape for u in actual])
    known = ", ".join(f"{k} = {size_text(v)}" for k, v in sizes.items())
    for i, (t, u) in enumerate(zip(types, actual, strict=True)):
        for axis, (d, n) in enumerate(zip(t.shape, u.shape, strict=True)):
            if type(d) is not Dim:
                continue
            if not d.symbols() <= set(sizes):
                raise _unfit(
                    function,
                    f"{where(i)} has size {n} in axis {axis}, and {d.text} == {n} has no solution"
                    + (f" with {known}" if known else ""),
                    t,
                    u,
                )
            want = d.evaluate(sizes)
            if not want == n:
                raise _unfit(
                    function,
                    f"{where(i)} must have size {d.text} == {size_text(want)} in axis {axis}, "
                    f"not {size_text(n)}, with {known}",
                    t,
                    u,
                )
    broken = scope.broken(sizes)
    if broken:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"the sizes of this call break a constraint: {'; '.join(broken)}",
                {where(i): u for i, u in enumerate(actual)},
            )
        )
    return sizes


def _solved(
    types: Sequence[ArrayType], shapes: Sequence[Sequence[Any]], symbolic: bool = False
) -> dict[str, Any]:
    """Sizes of the symbols that equations of one symbol each, taken in turn, give."""
    sizes: dict[str, Any] = {}
    equations = [
        (d, n)
        for t, shape in zip(types, shapes, strict=True)
        for d, n in zip(t.shape, shape, strict=True)
        if type(d) is Dim
    ]
    progress = True
    while progress:
        progress = False
        for d, n in equations:
            unknown = d.symbols() - set(sizes)
            if len(unknown) != 1:
                continue
            (name,) = unknown
            found = _linear(d, name, n, sizes, symbolic)
            if found is not None:
                sizes[name] = found
                progress = True
    return sizes


def _linear(d: Dim, name: str, n: Any, sizes: dict[str, Any], symbolic: bool) -> Any:
    """Solution of d == n for one symbol, in which d is linear with a constant factor.

    If `symbolic`, n is d itself, and it only matters whether there is one.
    """
    factor: Any = 0
    rest: Any = 0
    for mono, c in d.terms:
        value: Any = c
        mine = 0
        for atom, power in mono:
            if atom.text == name:
                mine += power
            elif atom.kind == "symbol":
                value = value * sizes[atom.text] ** power
            elif any(type(a) is Dim and name in a.symbols() for a in atom.args):
                return None
            else:
                inner = [a.evaluate(sizes) if type(a) is Dim else a for a in atom.args]
                value = value * OPERATIONS[atom.kind](*inner) ** power
        if mine > 1:
            return None
        if mine:
            factor = factor + value
        else:
            rest = rest + value
    if symbolic:
        return d.scope.symbol(name)
    if factor == 0:
        return None
    left = n - rest
    found, over = left // factor, left % factor
    return found if over == 0 else None


def evaluated(t: ArrayType, sizes: Mapping[str, Any]) -> ArrayType:
    """A type with these sizes in the place of the symbols."""
    shape = tuple([d.evaluate(sizes) if type(d) is Dim else d for d in t.shape])
    return array_type(shape, t.dtype, t.weak_type, t.sharding)


def _unfit(function: str, rule: str, expected: ArrayType, got: ArrayType) -> errors.ShapeError:
    return errors.ShapeError(errors.explain(function, rule, {"exported": expected, "got": got}))
