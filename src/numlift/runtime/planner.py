"""XLA options picked for each program from a few facts about its text."""

from __future__ import annotations

Option = str | bool | int | float


def plan(text: str, platform: str) -> dict[str, Option]:
    """Options of XLA, by name, for a program; empty keeps XLA's defaults."""
    return {}
