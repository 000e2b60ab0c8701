"""Symbolic shapes: sizes that an exported function leaves open."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..api.shapes import ShapeDtypeStruct, abstract_type
from ..core.dim_scope import SymbolicScope, syntax
from ..core.dims import Dim, value_of
from ..structural.dim_value import dim_value
from ..tree import tree_flatten
from ..tree.prefix import broadcast_prefix

value_of.append(dim_value)


def symbolic_shape(
    shape_spec: str,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[Any] | None = None,
) -> tuple[Any, ...]:
    """A shape with symbolic sizes, from a text such as ``"b, 2*k, _"``.

    Args:
        shape_spec: sizes, separated by commas; parentheses around them may stand. A size is an
            expression of names (symbols), numbers, ``+``, ``-``, ``*``, ``^``, ``floordiv(a, b)``,
            ``mod(a, b)``, ``max(a, b)`` and ``min(a, b)``; ``_`` takes the size of this axis from
            `like`, and ``...`` (last) those of all further axes.
        constraints: of a new scope, as for `SymbolicScope`.
        scope: where the symbols belong; by default a new one.
        like: a shape for ``_`` and ``...``.

    Returns:
        A tuple of ints and symbolic sizes, which compute like ints.

    Raises:
        ValueArgumentError: the text cannot be read, or does not fit `like`; both `scope` and
            `constraints` are given.

    Example:
        >>> from numlift import export
        >>> b, n, four = export.symbolic_shape("b, 2*k, _", like=(3, 8, 4))
        >>> b * n // 2, four
        (b*k, 4)
    """
    scope = _scope("symbolic_shape", scope, constraints)
    nodes = _entries(shape_spec)
    shape: list[Any] = []
    for i, node in enumerate(nodes):
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            if i != len(nodes) - 1:
                raise syntax(shape_spec, "... must be the last entry")
            shape += _like(shape_spec, like)[i:]
        elif isinstance(node, ast.Name) and node.id == "_":
            known = _like(shape_spec, like)
            if i >= len(known):
                raise syntax(shape_spec, f"`like` has no axis {i}: {tuple(known)}")
            shape.append(known[i])
        else:
            size = scope.parse(ast.unparse(node))
            if type(size) is not Dim and size < 0:
                raise syntax(shape_spec, f"the size {size} is negative")
            shape.append(size)
    if like is not None and len(shape) != len(like):
        raise syntax(shape_spec, f"it has {len(shape)} sizes, but `like` has {len(like)}")
    return tuple(shape)


def _entries(text: Any) -> list[Any]:
    if not isinstance(text, str):
        raise errors.ValueArgumentError(
            errors.explain(
                "symbolic_shape",
                "the shape is a text",
                {"shape_spec": text},
                try_='symbolic_shape("b, 4")',
            )
        )
    body = text.strip().replace("^", "**")
    if not body:
        return []
    try:
        node = ast.parse(body, mode="eval").body
    except SyntaxError:
        raise syntax(text, "it is no list of expressions") from None
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _like(text: str, like: Sequence[Any] | None) -> list[Any]:
    if like is None:
        raise syntax(text, "_ and ... need the argument `like`")
    return list(like)


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """`ShapeDtypeStruct`s like arguments, with symbolic sizes.

    Args:
        args: arrays or anything with `shape` and `dtype`, in any structure.
        shapes_specs: texts as for `symbolic_shape` or None (fixed shape), in a structure that is a
            prefix of that of `args`; one text is for all arguments.
        constraints, scope: as for `symbolic_shape`; all arguments share a scope.

    Returns:
        The structure of `args` with a `ShapeDtypeStruct` for each leaf.

    Example:
        >>> import numpy as np
        >>> from numlift import export
        >>> args = (np.ones((3, 4), "float32"), np.ones(4, "float32"))
        >>> export.symbolic_args_specs(args, ("b, ...", None))
        (ShapeDtypeStruct(shape=(b, 4), dtype=float32), ShapeDtypeStruct(shape=(4,), dtype=float32))
    """
    scope = _scope("symbolic_args_specs", scope, constraints)
    leaves, tree = tree_flatten(args)
    texts = broadcast_prefix(
        shapes_specs, args, lambda x: x is None or isinstance(x, str), "symbolic_args_specs"
    )
    made = []
    for x, text in zip(leaves, texts, strict=True):
        t = abstract_type(x)
        shape = t.shape
        if text is not None:
            shape = symbolic_shape(text, scope=scope, like=shape)
        made.append(ShapeDtypeStruct(shape, t.dtype, weak_type=t.weak_type))
    return tree.unflatten(made)


def _scope(function: str, scope: SymbolicScope | None, constraints: Sequence[str]) -> SymbolicScope:
    if scope is None:
        return SymbolicScope(constraints)
    if constraints:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "constraints belong to a scope: give one of scope and constraints",
                try_="SymbolicScope(constraints)",
            )
        )
    return scope
