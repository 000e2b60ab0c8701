"""Functions with batching rules of their own.

`custom_vmap` lets a function say how it runs on a batch; `sequential_vmap` makes it run on one
example after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .api.custom import custom_vmap
from .lax.loops import map as loop_map
from .tree import tree_flatten, tree_leaves, tree_map, tree_unflatten


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """A function whose `vmap` is a loop over the examples (`lax.map`).

    It saves memory, and runs what has no batching rule.

    Args:
        f: function of pytrees of arrays, by position.

    Returns:
        A function with the values of `f`. Arguments that `vmap` does not batch are the same in each
        step of the loop.

    Raises:
        ArgumentError: `f` is not callable.

    Example:
        >>> import numlift as nl
        >>> from numlift.custom_batching import sequential_vmap
        >>> print(nl.vmap(sequential_vmap(lambda x, s: x * s), (0, None))(nl.numpy.arange(3), 2))
        [0 2 4]
    """
    custom = custom_vmap(f)

    @custom.def_vmap
    def rule(size: int, in_batched: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        leaves, tree = tree_flatten(args)
        flags = tree_leaves(tuple(in_batched))
        moving = [x for x, is_batched in zip(leaves, flags, strict=True) if is_batched]

        def one(xs: Sequence[Any]) -> Any:
            rest = iter(xs)
            values = [
                next(rest) if is_batched else x for x, is_batched in zip(leaves, flags, strict=True)
            ]
            return f(*tree_unflatten(tree, values))

        out = loop_map(one, moving)
        return out, tree_map(lambda _: True, out)

    return custom


__all__ = ["custom_vmap", "sequential_vmap"]


def __dir__() -> list[str]:
    return sorted(__all__)
