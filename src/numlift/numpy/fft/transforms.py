"""The transforms of `numpy.fft`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import errors
from ...api.library import library
from ...core.dims import as_size
from ...core.tracing import apply, type_of
from ...ops.fft import Fft, FftType, as_complex, half
from ...ops.shape import Pad
from ...structural.arith import conjugated, convert, mul
from ..elementwise import no_out
from ..manipulation import moveaxis
from ..pieces import part, static_shape
from ..util import as_value, check_axes, check_axis

FFT, IFFT, RFFT, IRFFT = FftType.FFT, FftType.IFFT, FftType.RFFT, FftType.IRFFT
_OTHER = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _operand(function: str, a: Any, kind: FftType) -> Any:
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


def _transform(
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
    x = _operand(function, a, kind)
    axis = check_axis(function, axis, type_of(x).ndim)
    size = type_of(x).shape[axis]
    if n is None:
        n = 2 * (size - 1) if kind is IRFFT else size
    return _transform(function, x, kind, (as_size(n),), (axis,), norm)


def _many(function: str, a: Any, kind: FftType, s: Any, axes: Any, norm: Any) -> Any:
    x = _operand(function, a, kind)
    shape = type_of(x).shape
    if s is not None:
        s = static_shape(function, s, "s")
    if axes is None:
        axes = range(len(shape)) if s is None else range(len(shape) - len(s), len(shape))
    axes = static_shape(function, tuple(axes), "axes")
    if s is None:
        s = [shape[check_axis(function, i, len(shape))] for i in axes]
        if kind is IRFFT and s:
            s[-1] = 2 * (s[-1] - 1)
    if len(s) != len(axes):
        raise errors.ValueArgumentError(
            errors.explain(function, "s and axes must be of equal length", {"s": s, "axes": axes})
        )
    found = tuple(check_axis(function, i, len(shape)) for i in axes)
    lengths = tuple(shape[i] if n == -1 else n for i, n in zip(found, s, strict=True))
    if not found:
        if kind in (RFFT, IRFFT):
            raise errors.ValueArgumentError(errors.explain(function, "at least one axis is needed"))
        return x
    return _transform(function, x, kind, lengths, check_axes(function, found, len(shape)), norm)


@library()
def fft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Discrete Fourier transform along an axis: ``X[k] = sum_j a[j] exp(-2 pi i j k / n)``.

    Args:
        a: array.
        n: length; `a` is cut or filled up with zeros. None is its size.
        axis: the axis.
        norm: where the factor 1/n goes: None or "backward" into `ifft`, "forward" into `fft`,
            "ortho" 1/sqrt(n) into both.

    Returns:
        Complex array. Linear in `a`, so derivatives are transforms too.

    Raises:
        ValueArgumentError: `n` is not positive, or unknown `norm`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.fft(np.array([1.0, 0.0])))
        [1.+0.j 1.+0.j]
    """
    no_out("fft.fft", out)
    return _one("fft", a, FFT, n, axis, norm)


@library()
def ifft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fft`: ``x[j] = sum_k a[k] exp(2 pi i j k / n) / n``.

    Args:
        a, n, axis, norm: as in `fft`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.ifft(np.array([1.0, 1.0])))
        [1.+0.j 0.+0.j]
    """
    no_out("fft.ifft", out)
    return _one("ifft", a, IFFT, n, axis, norm)


@library()
def rfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """`fft` of real numbers, without the redundant half: ``n // 2 + 1`` coefficients.

    Args:
        a: array of real numbers.
        n, axis, norm: as in `fft`.

    Raises:
        DTypeError: complex numbers.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.rfft(np.ones(5)).shape
        (3,)
    """
    no_out("fft.rfft", out)
    return _one("rfft", a, RFFT, n, axis, norm)


@library()
def irfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfft`: real numbers from a half spectrum.

    Args:
        a: array of coefficients.
        n: length of the result; None is ``2 (m - 1)`` for m coefficients.
        axis, norm: as in `fft`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.irfft(np.fft.rfft(np.array([1.0, 2.0, 3.0])), 3))
        [1. 2. 3.]
    """
    no_out("fft.irfft", out)
    return _one("irfft", a, IRFFT, n, axis, norm)


@library()
def hfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """`fft` of a signal that is real in frequency, given by its half: real numbers.

    Args:
        a: half of a Hermitian-symmetric signal.
        n: length of the result; None is ``2 (m - 1)``.
        axis, norm: as in `fft`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.hfft(np.array([1.0, 0.0, 0.0])))
        [1. 1. 1. 1.]
    """
    x = conjugated(_operand("hfft", a, IRFFT))
    _scale("hfft", norm, IRFFT, 1)
    no_out("fft.hfft", out)
    return _one("hfft", x, IRFFT, n, axis, _OTHER[norm])


@library()
def ihfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `hfft`.

    Args:
        a: array of real numbers.
        n, axis, norm: as in `fft`.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.ihfft(np.ones(4)).shape
        (3,)
    """
    _scale("ihfft", norm, RFFT, 1)
    no_out("fft.ihfft", out)
    return conjugated(_one("ihfft", a, RFFT, n, axis, _OTHER[norm]))


@library()
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None) -> Any:
    """`fft` over several axes.

    Args:
        a: array.
        s: lengths along the axes; None are their sizes.
        axes: the axes; None is all, or the last ``len(s)``.
        norm: as in `fft`.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.fftn(np.ones((2, 3))).shape
        (2, 3)
    """
    no_out("fft.fftn", out)
    return _many("fftn", a, FFT, s, axes, norm)


@library()
def ifftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fftn`.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.ifftn(np.ones((2, 3))).shape
        (2, 3)
    """
    no_out("fft.ifftn", out)
    return _many("ifftn", a, IFFT, s, axes, norm)


@library()
def rfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """`fftn` of real numbers; the last of the axes has no redundant half.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.rfftn(np.ones((2, 4))).shape
        (2, 3)
    """
    no_out("fft.rfftn", out)
    return _many("rfftn", a, RFFT, s, axes, norm)


@library()
def irfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfftn`.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.irfftn(np.ones((2, 3))).shape
        (2, 4)
    """
    no_out("fft.irfftn", out)
    return _many("irfftn", a, IRFFT, s, axes, norm)


def _two(function: str, axes: Any) -> Any:
    if len(axes) != 2:
        raise errors.ValueArgumentError(
            errors.explain(function, "exactly two axes are needed", {"axes": axes})
        )
    return axes


@library()
def fft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """`fftn` over two axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.fft2(np.ones((5, 2, 3))).shape
        (5, 2, 3)
    """
    no_out("fft.fft2", out)
    return _many("fft2", a, FFT, s, _two("fft2", axes), norm)


@library()
def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fft2`.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.ifft2(np.ones((5, 2, 3))).shape
        (5, 2, 3)
    """
    no_out("fft.ifft2", out)
    return _many("ifft2", a, IFFT, s, _two("ifft2", axes), norm)


@library()
def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """`rfftn` over two axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.rfft2(np.ones((2, 4))).shape
        (2, 3)
    """
    no_out("fft.rfft2", out)
    return _many("rfft2", a, RFFT, s, _two("rfft2", axes), norm)


@library()
def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfft2`.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.irfft2(np.ones((2, 3))).shape
        (2, 4)
    """
    no_out("fft.irfft2", out)
    return _many("irfft2", a, IRFFT, s, _two("irfft2", axes), norm)
