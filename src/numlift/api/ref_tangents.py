"""Refs as arguments of `jvp`: the tangent of a ref is a ref."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.dtypes import float0
from ..core.refs import Ref, aliased, snapshot, store
from ..core.tracing import type_of
from ..transforms.jvp import Dual, instantiate
from .refs import Lending


class TangentLending(Lending):
    """Refs and the refs of their tangents, which both get new values."""

    __slots__ = ("tangents",)
    tangents: dict[int, Ref]

    def values(self, leaves: Sequence[Any]) -> list[Any]:
        """Leaves with values in place of refs."""
        return [snapshot(x) if isinstance(x, Ref) else x for x in leaves]

    def parts(self, x: Any) -> tuple[Any, Any]:
        """Value and tangent."""
        return (x.primal, x.tangent) if isinstance(x, Dual) else (x, None)

    def put(self) -> None:
        """Store what was written: a value and its tangent."""
        for i, (primal, tangent) in self.last.items():
            store(self.refs[i], primal)
            if i in self.tangents:
                store(self.tangents[i], instantiate(tangent, type_of(primal)))


def refs_with_tangents(
    function: str, leaves: Sequence[Any], d_leaves: Sequence[Any]
) -> TangentLending | None:
    """The refs among the arguments of `jvp`; None if there are none.

    Raises:
        RefError: the tangent of a ref is no ref, or the other way round; a ref has two names.
    """
    if not any(isinstance(x, Ref) for x in (*leaves, *d_leaves)):
        return None
    lent = TangentLending(function, leaves)
    lent.tangents = {}
    for i, (x, d) in enumerate(zip(leaves, d_leaves, strict=True)):
        constant = getattr(d, "dtype", None) == float0 and not isinstance(d, Ref)
        if isinstance(x, Ref) and constant:
            continue
        if isinstance(x, Ref) != isinstance(d, Ref):
            raise errors.RefError(
                errors.explain(
                    function,
                    "the tangent of a ref is a ref, and the tangent of an array an array",
                    {"primal": x, "tangent": d},
                    try_="nl.new_ref(tangent); or close over the ref, which has no tangent then",
                )
            )
        if isinstance(d, Ref):
            if any(d is other for other in (*lent.refs.values(), *lent.tangents.values())):
                raise aliased(function, d, "is passed twice")
            lent.tangents[i] = d
    return lent
