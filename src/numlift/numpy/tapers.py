"""Windows that taper a signal of M points."""

from __future__ import annotations

from typing import Any

import numpy as host

from .. import config
from .arithmetic import multiply
from .creation import asarray
from .floats import i0


def _window(values: Any) -> Any:
    """The values as an array of the default float dtype."""
    return asarray(values, dtype="float64" if config.current().enable_x64 else "float32")


def bartlett(M: int) -> Any:
    """Triangle that is 0 at both ends; M points, empty if M < 1.

    Example:
        >>> print(bartlett(3))
        [0. 1. 0.]
    """
    return _window(host.bartlett(M))


def blackman(M: int) -> Any:
    """``0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))``; empty if M < 1.

    Example:
        >>> print(abs(blackman(3).round(3)))
        [0. 1. 0.]
    """
    return _window(host.blackman(M))


def hamming(M: int) -> Any:
    """``0.54 - 0.46 cos(2 pi n / (M - 1))``; empty if M < 1.

    Example:
        >>> print(hamming(3).round(2))
        [0.08 1.   0.08]
    """
    return _window(host.hamming(M))


def hanning(M: int) -> Any:
    """``0.5 - 0.5 cos(2 pi n / (M - 1))``; empty if M < 1.

    Example:
        >>> print(hanning(3))
        [0. 1. 0.]
    """
    return _window(host.hanning(M))


def kaiser(M: int, beta: Any) -> Any:
    """``I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta)``; empty if M < 1.

    Differentiable in `beta`.

    Example:
        >>> print(kaiser(3, 2.0).round(3))
        [0.439 1.    0.439]
    """
    if M <= 1:
        return _window(host.ones(max(M, 0)))
    place = host.arange(M) * 2.0 / (M - 1) - 1.0
    height = _window(host.sqrt(host.maximum(1.0 - place * place, 0.0)))
    return i0(multiply(beta, height)) / i0(beta)


__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]
