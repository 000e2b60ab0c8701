"""Windows that taper a signal of M points."""

from __future__ import annotations

from typing import Any

import numpy as host

from .. import config
from ..api.bad_calls import explains
from .arithmetic import multiply
from .creation import asarray
from .floats import i0


def _window(values: Any) -> Any:
    """The values as an array of the default float dtype."""
    return asarray(values, dtype="float64" if config.current().enable_x64 else "float32")


@explains
def bartlett(M: int) -> Any:
    """The triangle window ``1 - |2 n / (M - 1) - 1|``: 0 at both ends, 1 in the middle.

    Args:
        M: number of points, an int known while tracing.

    Returns:
        Array (M,) of the default float dtype; [1] if M is 1, empty if M < 1.

    Example:
        >>> import numlift.numpy as np
        >>> np.bartlett(5)
        Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window(host.bartlett(M))


@explains
def blackman(M: int) -> Any:
    """The window ``0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))``.

    Its ends are 0 up to rounding error; it leaks little between frequencies.

    Args:
        M: number of points, an int known while tracing.

    Returns:
        Array (M,) of the default float dtype; [1] if M is 1, empty if M < 1.

    Example:
        >>> import numlift.numpy as np
        >>> print(abs(np.blackman(5)).round(2))
        [0.   0.34 1.   0.34 0.  ]
    """
    return _window(host.blackman(M))


@explains
def hamming(M: int) -> Any:
    """The window ``0.54 - 0.46 cos(2 pi n / (M - 1))``: a raised cosine with 0.08 at both ends.

    Args:
        M: number of points, an int known while tracing.

    Returns:
        Array (M,) of the default float dtype; [1] if M is 1, empty if M < 1.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.hamming(5))
        [0.08 0.54 1.   0.54 0.08]
    """
    return _window(host.hamming(M))


@explains
def hanning(M: int) -> Any:
    """The window ``0.5 - 0.5 cos(2 pi n / (M - 1))``: a raised cosine that is 0 at both ends.

    Args:
        M: number of points, an int known while tracing.

    Returns:
        Array (M,) of the default float dtype; [1] if M is 1, empty if M < 1.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.hanning(5).round(2))
        [0.  0.5 1.  0.5 0. ]
    """
    return _window(host.hanning(M))


@explains
def kaiser(M: int, beta: Any) -> Any:
    """The window ``I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta)``; I0 is `i0`.

    `beta` chooses between a narrow main lobe (0: all ones) and low side lobes (14).

    Args:
        M: number of points, an int known while tracing.
        beta: shape of the window, a number; may be traced.

    Returns:
        Array (M,) of the default float dtype; [1] if M is 1, empty if M < 1. Differentiable in
        `beta`: 0 at 0.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.kaiser(5, 2.0))
        [0.439 0.835 1.    0.835 0.439]
    """
    if M <= 1:
        return _window(host.ones(max(M, 0)))
    place = host.arange(M) * 2.0 / (M - 1) - 1.0
    height = _window(host.sqrt(host.maximum(1.0 - place * place, 0.0)))
    return i0(multiply(beta, height)) / i0(beta)


__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]
