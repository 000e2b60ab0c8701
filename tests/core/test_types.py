"""Types are interned, those that a type leads to as well."""

from __future__ import annotations

from numlift.core.dtypes import KeyDType
from numlift.core.types import array_type


def test_equal_types_are_one_object() -> None:
    assert array_type((3, 4), "float32") is array_type([3, 4], "float32")


def test_storage_types_of_keys_are_interned() -> None:
    keys = array_type((5,), KeyDType("threefry2x32"))
    assert keys.physical is array_type((5, 2), "uint32")
    assert keys.mlir == keys.physical.mlir
