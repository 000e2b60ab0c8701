"""Frequencies of Fourier coefficients, and the order in which they are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...api.library import library
from ...core.dtypes import issubdtype, user_dtype
from ...core.tracing import apply, type_of
from ...lax.arguments import static_int
from ...ops.elementwise_binary import div
from ...structural.arith import convert, mul
from ..creation import placed
from ..pieces import binary
from ..rearranging import roll
from ..util import as_value, check_axes


@library(1)
def _over_width(d: Any, function: str, n: int, dtype: Any) -> Any:
    """Whole numbers in the order of the coefficients, over ``n d``."""
    if function == "rfftfreq":
        whole = np.arange(n // 2 + 1)
    else:
        whole = np.roll(np.arange(-(n // 2), n - n // 2), -(n // 2))
    return apply(div, whole.astype(dtype), binary(mul, function, convert(d, dtype), dtype.type(n)))


def _spacing(function: str, n: int, d: Any, dtype: Any) -> tuple[int, Any, Any]:
    if isinstance(n, (float, complex, str, np.inexact)):
        raise errors.ValueArgumentError(
            errors.explain(function, "n must be an integer", {"n": n}, try_="x.shape[axis]")
        )
    n = static_int(function, "n", n)
    if n == 0:
        raise errors.ZeroStepError(errors.explain(function, "n must be positive, but is 0"))
    if n < 0:
        raise errors.ValueArgumentError(errors.explain(function, f"n must be positive, but is {n}"))
    kind = user_dtype(float if dtype is None else dtype, function)
    d = as_value(d, function, "d")
    if type_of(d).kind == "c" and not issubdtype(kind, np.complexfloating):
        raise errors.DTypeError(
            errors.explain(
                function, f"a complex spacing gives no {kind}", {"d": type_of(d)},
                try_="d.real, or dtype=complex",
            )
        )  # fmt: skip
    return n, d, kind


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Frequencies of the coefficients of `fft`: ``0, 1, ..., -2, -1``, each over ``n d``.

    Args:
        n: number of samples, a positive int.
        d: spacing of the samples, a number; may be traced.
        device: device or `Sharding` to put the result on.
        dtype: dtype of the result; None is the default float.

    Returns:
        Array (n,), in cycles per unit of `d`. Differentiable in `d`.

    Raises:
        ZeroStepError: `n` is 0.  ValueArgumentError: it is negative or no integer.
        DTypeError: a complex `d`, and no complex `dtype`.

    Differences from JAX: `n` must be positive.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.fftfreq(4, 0.5), np.fft.fftfreq(5))
        [ 0.   0.5 -1.  -0.5] [ 0.   0.2  0.4 -0.4 -0.2]
    """
    n, d, kind = _spacing("fftfreq", n, d, dtype)
    return placed(_over_width(d, "fftfreq", n, kind), device, None)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Frequencies of the coefficients of `rfft`: ``0, 1, ..., n // 2``, each over ``n d``.

    Args:
        n: number of samples, a positive int.
        d: spacing of the samples, a number; may be traced.
        device: device or `Sharding` to put the result on.
        dtype: dtype of the result; None is the default float.

    Returns:
        Array ``(n // 2 + 1,)``, in cycles per unit of `d`. Differentiable in `d`.

    Raises:
        ZeroStepError: `n` is 0.  ValueArgumentError: it is negative or no integer.
        DTypeError: a complex `d`, and no complex `dtype`.

    Differences from JAX: `n` must be positive.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.rfftfreq(4), np.fft.rfftfreq(5))
        [0.   0.25 0.5 ] [0.  0.2 0.4]
    """
    n, d, kind = _spacing("rfftfreq", n, d, dtype)
    return placed(_over_width(d, "rfftfreq", n, kind), device, None)


def fftshift(x: Any, axes: Any = None) -> Any:
    """The zero frequency moved from the front to the middle of axes: a roll by half their size.

    Args:
        x: array.
        axes: int or ints; None is all.

    Returns:
        Array of the shape and dtype of `x`. Linear: a permutation.

    Raises:
        AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.fftshift(np.fft.fftfreq(5)))
        [-0.4 -0.2  0.   0.2  0.4]
    """
    x = as_value(x, "fftshift", "x")
    shape = type_of(x).shape
    axes = check_axes("fftshift", axes, len(shape))
    return roll(x, [shape[i] // 2 for i in axes], axes)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The reverse of `fftshift`, from which it differs along axes of odd size.

    Args:
        x: array.
        axes: int or ints; None is all.

    Returns:
        Array of the shape and dtype of `x`. Linear: a permutation.

    Raises:
        AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.fftshift(np.arange(5)), np.fft.ifftshift(np.fft.fftshift(np.arange(5))))
        [3 4 0 1 2] [0 1 2 3 4]
    """
    x = as_value(x, "ifftshift", "x")
    shape = type_of(x).shape
    axes = check_axes("ifftshift", axes, len(shape))
    return roll(x, [-(shape[i] // 2) for i in axes], axes)
