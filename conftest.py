"""Environment of every test and doctest. Set here, before anything imports numlift."""

from __future__ import annotations

import os

os.environ.setdefault("NUMLIFT_NUM_CPU_DEVICES", "8")
os.environ.setdefault("NUMLIFT_PLATFORMS", "cpu")
os.environ.setdefault("NUMLIFT_ENABLE_CHECKS", "1")  # the graph verifier runs after every pass

import pytest

import numlift


@pytest.fixture(autouse=True, scope="session")
def _doctest_names(doctest_namespace: dict[str, object]) -> None:
    """Examples in docstrings may say `nl` without an import."""
    doctest_namespace["nl"] = numlift
