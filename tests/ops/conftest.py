"""Runs the properties of one row after each other, so that they share compiled programs."""

from __future__ import annotations

import pytest

FILES = ("test_samples.py", "test_crossings.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests of the samples table by row, then by property, across files."""
    rows: dict[str, int] = {}

    def place(item: pytest.Item) -> int:
        call = getattr(item, "callspec", None)
        row = call.params.get("row") if call else None
        return -1 if row is None else rows.setdefault(row.name, len(rows))

    chosen = [i for i, item in enumerate(items) if item.path.name in FILES]
    ordered = sorted((items[i] for i in chosen), key=place)
    for i, item in zip(chosen, ordered, strict=True):
        items[i] = item
