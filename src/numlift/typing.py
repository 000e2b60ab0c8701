"""Names for annotations.

>>> from numlift.typing import Array, ArrayLike
>>> def double(x: ArrayLike) -> Array:
...     return 2 * np.asarray(x)
>>> import numlift.numpy as np
>>> isinstance(double(3.0), Array), isinstance(2.5, ArrayLike), isinstance([1], ArrayLike)
(True, True, False)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .core.tracing import Value as Array


class SupportsDType(Protocol):
    """Anything with a `dtype`, such as an array or a scalar type of `numlift.numpy`."""

    @property
    def dtype(self) -> Any:
        """The dtype."""
        ...


ArrayLike = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
"""What functions take as an array: arrays, traced values, NumPy arrays and numbers; no lists."""

DTypeLike = str | type[Any] | np.dtype[Any] | SupportsDType
"""What names a dtype."""

Shape = Sequence[int]
"""A shape."""

__all__ = ["Array", "ArrayLike", "DTypeLike", "Shape", "SupportsDType"]


def __dir__() -> list[str]:
    return sorted(__all__)
