"""The transforms of `numpy.fft` over several axes."""

from __future__ import annotations

from typing import Any

from ... import errors
from ...api.library import library
from ...core.tracing import type_of
from ...ops.fft import FftType
from ..elementwise import no_out
from ..pieces import static_shape
from ..util import check_axes, check_axis
from .transforms import FFT, IFFT, IRFFT, RFFT, operand, transform


def _need_sequence(function: str, name: str, values: Any) -> None:
    try:
        iter(values)
    except TypeError:
        raise errors.ArgumentError(
            errors.explain(function, f"{name} must be a sequence of ints", {name: values})
        ) from None


def _many(function: str, a: Any, kind: FftType, s: Any, axes: Any, norm: Any) -> Any:
    x = operand(function, a, kind)
    shape = type_of(x).shape
    if s is not None:
        _need_sequence(function, "s", s)
        s = static_shape(function, s, "s")
    if axes is None:
        axes = range(len(shape)) if s is None else range(len(shape) - len(s), len(shape))
    _need_sequence(function, "axes", axes)
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
    return transform(function, x, kind, lengths, check_axes(function, found, len(shape)), norm)


def _two(function: str, axes: Any) -> Any:
    if len(axes) != 2:
        raise errors.ValueArgumentError(
            errors.explain(function, "exactly two axes are needed", {"axes": axes})
        )
    return axes


@library()
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None) -> Any:
    """`fft` over several axes, one after the other.

    Args:
        a: array of numbers.
        s: lengths along the axes: `a` is cut, or filled up with zeros; -1 is the size of the axis,
            and None are all sizes.
        axes: the axes to transform, all different; None is all, or the last ``len(s)``.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with the lengths along the axes: complex64, or complex128
        for 64-bit operands. Linear.

    Raises:
        ValueArgumentError: a length is not positive, `s` and `axes` differ in length, an axis is
        given twice, or unknown `norm`.  AxisError: no such axis.

    Differences from NumPy: an axis cannot be transformed twice.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fft.fftn(np.array([[1.0, 2.0], [3.0, 4.0]])))
        [[10.+0.j -2.+0.j]
         [-4.+0.j  0.+0.j]]
    """
    no_out("fft.fftn", out)
    return _many("fftn", a, FFT, s, axes, norm)


@library()
def ifftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fftn`.

    Args:
        a: array of coefficients.
        s: lengths along the axes: `a` is cut, or filled up with zeros; -1 is the size of the axis,
            and None are all sizes.
        axes: the axes to transform, all different; None is all, or the last ``len(s)``.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with the lengths along the axes: complex64, or complex128
        for 64-bit operands. Linear.

    Raises:
        ValueArgumentError: a length is not positive, `s` and `axes` differ in length, an axis is
        given twice, or unknown `norm`.  AxisError: no such axis.

    Differences from NumPy: an axis cannot be transformed twice.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> print(np.fft.ifftn(np.fft.fftn(x)).real)
        [[1. 2.]
         [3. 4.]]
    """
    no_out("fft.ifftn", out)
    return _many("ifftn", a, IFFT, s, axes, norm)


@library()
def rfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: None = None
) -> Any:
    """`fftn` of real numbers; the last of the axes has no redundant half.

    Args:
        a: array of real numbers.
        s: lengths along the axes: `a` is cut, or filled up with zeros; -1 is the size of the axis,
            and None are all sizes.
        axes: the axes to transform, all different; None is all, or the last ``len(s)``.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with the lengths along the axes, ``n // 2 + 1`` for the
        last length n: complex64, or complex128 for 64-bit operands. Linear.

    Raises:
        DTypeError: `a` is complex.  ValueArgumentError: a length is not positive, `s` and `axes`
        differ in length, an axis is given twice, or unknown `norm`.  AxisError: no such axis.

    Differences from NumPy: an axis cannot be transformed twice.

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
    """Inverse of `rfftn`: real numbers from half a spectrum.

    Args:
        a: array of coefficients.
        s: lengths of the result along the axes; None are their sizes, ``2 (m - 1)`` for the last
            one.
        axes: the axes to transform, all different; None is all, or the last ``len(s)``.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Real array of the shape of `a` with the lengths along the axes: float32, or float64 for
        64-bit operands. Linear.

    Raises:
        ValueArgumentError: a length is not positive, `s` and `axes` differ in length, an axis is
        given twice, or unknown `norm`.  AxisError: no such axis.

    Differences from NumPy: an axis cannot be transformed twice.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.arange(6.0).reshape(2, 3)
        >>> print(np.fft.irfftn(np.fft.rfftn(x), x.shape).round())
        [[0. 1. 2.]
         [3. 4. 5.]]
    """
    no_out("fft.irfftn", out)
    return _many("irfftn", a, IRFFT, s, axes, norm)


@library()
def fft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """`fft` over two axes: `fftn` of images.

    Args:
        a: array of numbers.
        s: lengths along the axes: `a` is cut, or filled up with zeros; -1 is the size of the axis,
            and None are all sizes.
        axes: the two axes to transform.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with the lengths along the axes: complex64, or complex128
        for 64-bit operands. Linear.

    Raises:
        ValueArgumentError: not two different axes, a length is not positive, or unknown `norm`.
        AxisError: no such axis.

    Differences from NumPy: exactly two axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.fft2(np.ones((5, 2, 3)))[0]
        Array([[6.+0.j, 0.+0.j, 0.+0.j],
               [0.+0.j, 0.+0.j, 0.+0.j]], dtype=complex64)
    """
    no_out("fft.fft2", out)
    return _many("fft2", a, FFT, s, _two("fft2", axes), norm)


@library()
def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `fft2`.

    Args:
        a: array of coefficients.
        s: lengths along the axes: `a` is cut, or filled up with zeros; -1 is the size of the axis,
            and None are all sizes.
        axes: the two axes to transform.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with the lengths along the axes: complex64, or complex128
        for 64-bit operands. Linear.

    Raises:
        ValueArgumentError: not two different axes, a length is not positive, or unknown `norm`.
        AxisError: no such axis.

    Differences from NumPy: exactly two axes.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> print(np.fft.ifft2(np.fft.fft2(x)).real)
        [[1. 2.]
         [3. 4.]]
    """
    no_out("fft.ifft2", out)
    return _many("ifft2", a, IFFT, s, _two("ifft2", axes), norm)


@library()
def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """`fft2` of real numbers; the last of the axes has no redundant half.

    Args:
        a: array of real numbers.
        s: lengths along the axes: `a` is cut, or filled up with zeros; -1 is the size of the axis,
            and None are all sizes.
        axes: the two axes to transform.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Complex array of the shape of `a` with the lengths along the axes, ``n // 2 + 1`` for the
        last length n: complex64, or complex128 for 64-bit operands. Linear.

    Raises:
        DTypeError: `a` is complex.  ValueArgumentError: not two different axes, a length is not
        positive, or unknown `norm`. AxisError: no such axis.

    Differences from NumPy: exactly two axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.fft.rfft2(np.ones((5, 2, 4))).shape
        (5, 2, 3)
    """
    no_out("fft.rfft2", out)
    return _many("rfft2", a, RFFT, s, _two("rfft2", axes), norm)


@library()
def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: None = None
) -> Any:
    """Inverse of `rfft2`: real numbers from half a spectrum.

    Args:
        a: array of coefficients.
        s: lengths of the result along the axes; None are their sizes, ``2 (m - 1)`` for the last
            one.
        axes: the two axes to transform.
        norm: where the factor 1/n goes, n being the product of the lengths: None or "backward" into
            the inverse, "forward" into the transform, "ortho" 1/sqrt(n) into both.
        out: must be None.

    Returns:
        Real array of the shape of `a` with the lengths along the axes: float32, or float64 for
        64-bit operands. Linear.

    Raises:
        ValueArgumentError: not two different axes, a length is not positive, or unknown `norm`.
        AxisError: no such axis.

    Differences from NumPy: exactly two axes.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.arange(6.0).reshape(2, 3)
        >>> print(np.fft.irfft2(np.fft.rfft2(x), x.shape).round())
        [[0. 1. 2.]
         [3. 4. 5.]]
    """
    no_out("fft.irfft2", out)
    return _many("irfft2", a, IRFFT, s, _two("irfft2", axes), norm)
