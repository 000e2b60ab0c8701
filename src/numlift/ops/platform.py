"""`PlatformDependent`: one of several graphs, chosen by the platform that a program is for."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..core.graph import Graph
from .cond import Cond


class PlatformDependent(Cond):
    """branches[i](*operands), where platforms[i] holds the platform; the index is not used.

    Attributes:
        platforms: for each branch the platforms that it is for; () stands for all others.
    """

    name = "platform_dependent"
    platforms: tuple[tuple[str, ...], ...] = ()

    def __init__(self, branches: tuple[Graph, ...], platforms: tuple[tuple[str, ...], ...]):
        super().__init__(branches)
        self.platforms = platforms

    def around(self, branches: tuple[Graph, ...]) -> PlatformDependent:
        """The same choice between other branches."""
        return branches[0].cached(
            ("platform", branches, self.platforms),
            lambda: PlatformDependent(branches, self.platforms),
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        for platforms, branch in zip(self.platforms, self.branches, strict=True):
            if ctx.platform in platforms or not platforms:
                return ctx.inline(branch, operands[1:])
        known = sorted({p for platforms in self.platforms for p in platforms})
        raise errors.ArgumentError(
            errors.explain(
                "platform_dependent",
                f"no function was given for the platform {ctx.platform}",
                {"given": known},
                try_="default=... for all other platforms",
            )
        )
