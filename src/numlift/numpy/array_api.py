"""What the array API standard asks of a namespace beyond its functions.

Source: Python array API standard, version 2025.12, "Inspection API".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..config import current
from ..runtime.devices import default_device
from ..runtime.devices import devices as all_devices
from .dtypes_api import (
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

API_VERSION = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
_KINDS: dict[str, tuple[Any, ...]] = {
    "bool": (bool_,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
_GROUPS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}
_WIDE = ("int64", "uint64", "float64", "complex128")


class ArrayNamespaceInfo:
    """What this namespace can do: the result of `__array_namespace_info__()`.

    Example:
        >>> import numlift.numpy as np
        >>> np.__array_namespace_info__().default_dtypes()["real floating"]
        dtype('float32')
    """

    def capabilities(self) -> dict[str, Any]:
        """Optional features of the standard, which hold for arrays outside of `jit` and `vmap`."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device that new arrays are on."""
        return default_device()

    def devices(self) -> tuple[Any, ...]:
        """All devices of the default platform."""
        return tuple(all_devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """dtypes that functions use if none is given: 32 bits, or 64 if x64 is enabled.

        Args:
            device: has no influence.
        """
        if current().enable_x64:
            real, complex_, integer = np.float64, np.complex128, np.int64
        else:
            real, complex_, integer = np.float32, np.complex64, np.int32  # type: ignore[assignment]
        return {
            "real floating": np.dtype(real),
            "complex floating": np.dtype(complex_),
            "integral": np.dtype(integer),
            "indexing": np.dtype(integer),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """dtypes of the standard by name; those of 64 bits only if x64 is enabled.

        Args:
            device: has no influence.
            kind: a kind such as "real floating", or a tuple of kinds; None for all.

        Raises:
            ValueArgumentError: unknown kind.
        """
        kinds = tuple(_KINDS) if kind is None else kind if isinstance(kind, tuple) else (kind,)
        found: dict[str, Any] = {}
        for name in kinds:
            for part in _GROUPS.get(name, (name,)):
                if part not in _KINDS:
                    raise errors.ValueArgumentError(
                        errors.explain(
                            "dtypes",
                            f"unknown kind {name!r}",
                            {"kinds": [*_KINDS, *_GROUPS]},
                        )
                    )
                for scalar in _KINDS[part]:
                    dtype = np.dtype(scalar)
                    if current().enable_x64 or dtype.name not in _WIDE:
                        found[dtype.name] = dtype
        return found


def array_namespace_info() -> ArrayNamespaceInfo:
    """What this namespace can do: devices, dtypes, defaults, optional features."""
    return ArrayNamespaceInfo()


def check_version(version: str | None) -> None:
    """Raise unless the namespace fulfils this version of the standard."""
    if version is not None and version not in VERSIONS:
        raise errors.ValueArgumentError(
            errors.explain(
                "__array_namespace__",
                f"version {version!r} of the array API standard is not known",
                {"known versions": ", ".join(VERSIONS)},
            )
        )
