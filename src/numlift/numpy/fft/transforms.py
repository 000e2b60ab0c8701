"""The transforms of `numpy.fft` over one axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import errors
from ...api.library import library
from ...core.tracing import apply, type_of
from ...lax.arguments import static_int
from ...ops.fft import Fft, FftType, as_complex, half
from ...ops.shape import Pad
from ...structural.arith import conjugated, convert, mul
from ..elementwise import no_out
from ..manipulation import moveaxis
from ..pieces import part
from ..util import as_value, check_axis

FFT, IFFT, RFFT, IRFFT = FftType.FFT, FftType.IFFT, FftType.RFFT, FftType.IRFFT
_OTHER = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def operand(function: str, a: Any, kind: FftType) -> Any:
    x = as_value(a, function)
    t = type_of(x)
    if t.kind == "c":
        if kind is RFFT:
            raise errors.DTypeError(
                errors.explain(
                    function, "takes real numbers only", {"a": t}, try_="np.fft.fft(a), or a.real"
                )
            )
        return x
    if t.kind in "biu":
        x = convert(x, type_of(0.0).dtype)
    elif t.dtype != np.dtype("f8"):
        x = convert(x, np.dtype("f4"))
    return x if kind is RFFT else as_complex(x)


def _resized(x: Any, axis: int, size: int) -> Any:
    """Cut, or filled up with zeros, along an axis."""
    t = type_of(x)
    n = t.shape[axis]
    if size < n:
        return part(x, axis, 0, size)
    if size > n:
        config = tuple((0, size - n if i == axis else 0, 0) for i in range(t.ndim))
        return apply(Pad.of(config), x, t.dtype.type(0))
    return x


def _scale(function: str, norm: str | None, kind: FftType, count: int) -> float:
    """Factor after XLA's transform, whose inverses have 1/n already."""
    if norm not in _OTHER:
        raise errors.ValueArgumentError(
            errors.explain(
                function, "norm must be None, 'backward', 'ortho' or 'forward'", {"norm": norm}
            )
        )
    forward = kind in (FFT, RFFT)
    if norm == "ortho":
        return 1 / math.sqrt(count) if forward else math.sqrt(count)
    if norm == "forward":
        return 1 / count if forward else float(count)
    return 1.0


def transform(
    function: str, x: Any, kind: FftType, lengths: tuple[int, ...], axes: tuple[int, ...], norm: Any
) -> Any:
    """The transform over distinct axes; `lengths` are those of the real side."""
    if any(n < 1 for n in lengths):
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"the lengths of the transform must be positive, not {lengths}",
                {"a": type_of(x)},
            )
        )  # fmt: skip
    scale = _scale(function, norm, kind, math.prod(lengths))
    needed = half(lengths) if kind is IRFFT else lengths
    for axis, size in zip(axes, needed, strict=True):
        x = _resized(x, axis, size)
    ndim = type_of(x).ndim
    # XLA transforms up to three axes at once. Real ones go last in the inverse, first in forward.
    groups = [slice(max(stop - 3, 0), stop) for stop in range(len(axes), 0, -3)]
    if kind is IRFFT:
        groups.reverse()
    for group in groups:
        last = group.stop == len(axes)
        step = kind if last else {RFFT: FFT, IRFFT: IFFT}.get(kind, kind)
        mine = axes[group]
        ends = tuple(range(ndim - len(mine), ndim))
        x = moveaxis(x, mine, ends)
        x = moveaxis(apply(Fft.of(step, lengths[group]), x), ends, mine)
    if scale != 1.0:
        x = apply(mul, x, type_of(x).dtype.type(scale))
    return x


def _one(function: str, a: Any, kind: FftType, n: int | None, axis: int, norm: Any) -> Any:
    x = operand(function, a, kind)
    axis = check_axis(function, axis, type_of(x).ndim)
    size = type_of(x).shape[axis]
    if n is None:
        n = 2 * (size - 1) if kind is IRFFT else size
    return transform(function, x, kind, (static_int(function, "n", n),), (axis,), norm)


@library()
def fft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Discrete Fourier transform along an axis: ``X[k] = sum_j a[j] exp(-2 pi i j k / n)``.

    Args:
        a: array of numbers.
        n: length along the axis: `a` is cut, or filled up with zeros; None is its size.
        axis: axis to transform.
        norm: where the factor 1/n goes: None or "backward" into the inverse, "forward" into the
            transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with n along the axis: complex64, or complex128 for 64-bit
        operands. Linear, so derivatives are transforms too.

    Raises:
        ValueArgumentError: a length is not positive, or unknown `norm`.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.fft(np.array([0.0, 1.0, 0.0, 0.0])))
        [ 1.+0.j  0.-1.j -1.+0.j  0.+1.j]
    """
    no_out("fft.fft", out)
    return _one("fft", a, FFT, n, axis, norm)


@library()
def ifft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fft`: ``x[j] = sum_k a[k] exp(2 pi i j k / n) / n``.

    Args:
        a: array of coefficients.
        n: length along the axis: `a` is cut, or filled up with zeros; None is its size.
        axis: axis to transform.
        norm: where the factor 1/n goes: None or "backward" into the inverse, "forward" into the
            transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with n along the axis: complex64, or complex128 for 64-bit
        operands. Linear.

    Raises:
        ValueArgumentError: a length is not positive, or unknown `norm`.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.ifft(np.fft.fft(np.array([1.0, 2.0]))))
        [1.+0.j 2.+0.j]
    """
    no_out("fft.ifft", out)
    return _one("ifft", a, IFFT, n, axis, norm)


@library()
def rfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """`fft` of real numbers, without the redundant half: ``n // 2 + 1`` coefficients.

    The coefficients that are left out are the conjugates of those that are there.

    Args:
        a: array of real numbers.
        n: length along the axis: `a` is cut, or filled up with zeros; None is its size.
        axis: axis to transform.
        norm: where the factor 1/n goes: None or "backward" into the inverse, "forward" into the
            transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with ``n // 2 + 1`` along the axis: complex64, or
        complex128 for 64-bit operands. Linear.

    Raises:
        DTypeError: `a` is complex.  ValueArgumentError: a length is not positive, or unknown
        `norm`.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.rfft(np.array([0.0, 1.0, 0.0, 0.0])))
        [ 1.+0.j  0.-1.j -1.+0.j]
    """
    no_out("fft.rfft", out)
    return _one("rfft", a, RFFT, n, axis, norm)


@library()
def irfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfft`: real numbers from half a spectrum.

    The length of the signal is not in the spectrum: give an odd one by `n`.

    Args:
        a: array of coefficients; the imaginary part of the first one (and of the last one if n is
            even) is not read.
        n: length of the result; None is ``2 (m - 1)`` for m coefficients. ``n // 2 + 1`` of them
            are read: others are cut off, missing ones are zeros.
        axis: axis to transform.
        norm: where the factor 1/n goes: None or "backward" into the inverse, "forward" into the
            transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Real array of the shape of `a` with n along the axis: float32, or float64 for 64-bit
        operands. Linear.

    Raises:
        ValueArgumentError: a length is not positive, or unknown `norm`.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> spectrum = np.fft.rfft(np.array([1.0, 2.0, 3.0]))
        >>> print(np.fft.irfft(spectrum, 3), np.fft.irfft(spectrum).shape)
        [1. 2. 3.] (2,)
    """
    no_out("fft.irfft", out)
    return _one("irfft", a, IRFFT, n, axis, norm)


@library()
def hfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """`fft` of a signal whose transform is real: ``a[-j] = conj(a[j])``, given by its first half.

    Args:
        a: first half of the Hermitian-symmetric signal.
        n: length of the result; None is ``2 (m - 1)`` for m elements. ``n // 2 + 1`` of them
            are read: others are cut off, missing ones are zeros.
        axis: axis to transform.
        norm: where the factor 1/n goes: None or "backward" into the inverse, "forward" into the
            transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Real array of the shape of `a` with n along the axis: float32, or float64 for 64-bit
        operands. Linear.

    Raises:
        ValueArgumentError: a length is not positive, or unknown `norm`.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.hfft(np.array([1.0, 1j, 0.0])))
        [ 1.  3.  1. -1.]
    """
    x = conjugated(operand("hfft", a, IRFFT))
    _scale("hfft", norm, IRFFT, 1)
    no_out("fft.hfft", out)
    return _one("hfft", x, IRFFT, n, axis, _OTHER[norm])


@library()
def ihfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `hfft`: the first half of a Hermitian-symmetric signal.

    Args:
        a: array of real numbers.
        n: length along the axis: `a` is cut, or filled up with zeros; None is its size.
        axis: axis to transform.
        norm: where the factor 1/n goes: None or "backward" into the inverse, "forward" into the
            transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with ``n // 2 + 1`` along the axis: complex64, or
        complex128 for 64-bit operands. Linear.

    Raises:
        DTypeError: `a` is complex.  ValueArgumentError: a length is not positive, or unknown
        `norm`.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.ihfft(np.array([1.0, 3.0, 1.0, -1.0])))
        [1.+0.j 0.+1.j 0.+0.j]
    """
    _scale("ihfft", norm, RFFT, 1)
    no_out("fft.ihfft", out)
    return conjugated(_one("ihfft", a, RFFT, n, axis, _OTHER[norm]))
