"""Mutable arrays: `new_ref` makes one; these functions are what indexing a ref does."""

from __future__ import annotations

from .api.refs import free_ref, freeze, new_ref
from .core.refs import Ref
from .numpy.refs import addupdate, empty_ref, get, set, swap

__all__ = ["Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
