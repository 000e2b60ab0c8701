"""Functions that a compiler may know by name, and values that it must not drop."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..api.tracing import name_of
from ..core.tracing import apply, type_of
from ..ops.composite import Composite, Sink
from ..tree import tree_leaves, tree_unflatten
from .staging import operands_of, trace_body

_NAME = re.compile(r"[a-zA-Z]\w*(\.[\w$]+)+", re.ASCII)


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """A function that the compiler may replace by its own version of that name.

    A compiler that does not know the name compiles the decomposition.

    Args:
        decomposition: function of pytrees of arrays; keyword arguments are attributes: numbers,
            strings, NumPy arrays, or tuples, lists and dicts of them.
        name: what the compiler knows it by, such as ``"my_library.tangent"``.
        version: raise it when the meaning changes.

    Returns:
        The function.

    Raises:
        ValueArgumentError: another kind of name.
        ArgumentError: an attribute that is no number, string or array.

    Differences from JAX: derivatives and `vmap` go through the decomposition (JAX refuses).

    Example:
        >>> import numlift as nl
        >>> from numlift.lax import composite
        >>> tangent = composite(lambda x: nl.lax.sin(x) / nl.lax.cos(x), "my.tangent", version=1)
        >>> round(float(tangent(1.0)), 4)
        1.5574
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise errors.ValueArgumentError(
            errors.explain(
                "composite", "the name must be words with dots between them: letters, digits, _",
                {"name": name}, try_="'my_library.my_function'",
            )
        )  # fmt: skip

    def call(*args: Any, **attributes: Any) -> Any:
        for key, value in attributes.items():
            _check(key, value)
        operands, _ = operands_of(args, "composite")
        shown = tuple((k, v) for k, v in attributes.items() if v is not None)

        def body(*inside: Any) -> Any:
            return decomposition(*inside, **attributes)

        body.__name__ = name_of(decomposition)
        traced = trace_body(body, args, [type_of(x) for x in operands], "composite")
        op = Composite(traced.graph, name, version, shown)
        return tree_unflatten(traced.out_tree, apply(op, *traced.captured, *operands))

    call.__name__ = name_of(decomposition)
    call.__doc__ = decomposition.__doc__
    return call


def _check(key: str, value: Any) -> None:
    items = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list, tuple)):
        for x in items:
            _check(key, x)
    elif not isinstance(value, (bool, int, float, str, np.ndarray, np.generic, type(None))):
        raise errors.ArgumentError(
            errors.explain(
                "composite", f"the attribute {key!r} has no text in programs",
                {key: value}, try_="numbers, strings and NumPy arrays; pass arrays by position",
            )
        )  # fmt: skip


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Count values as used, so that what computes them stays in the program.

    Args:
        val: pytree of arrays.
        prevent_mlir_dce: keep them through the compiler's first passes, too. The compiler may
            still drop them in the end.

    Returns:
        None.

    Example:
        >>> import numlift as nl
        >>> from numlift.lax import dce_sink
        >>> f = nl.jit(lambda x: dce_sink(x * 2) or x)
        >>> "multiply" in f.lower(1.0).as_text()
        True
    """
    op = Sink.of(bool(prevent_mlir_dce))
    for x in tree_leaves(val):
        apply(op, x)


__all__ = ["composite", "dce_sink"]
