"""Discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..ops.fft import Fft, FftType, as_complex, half
from ..structural.arith import convert
from .arguments import static_ints

_NAMES = {
    "fft": FftType.FFT,
    "ifft": FftType.IFFT,
    "rfft": FftType.RFFT,
    "irfft": FftType.IRFFT,
}


def fft(x: Any, fft_type: FftType | str, fft_lengths: Any) -> Any:
    """Discrete Fourier transform of the last axes.

    Forward: ``X[k] = sum_j x[j] exp(-2 pi i j k / n)``, for each of the axes; the inverse has the
    other sign in the exponent and the factor 1/n.

    Args:
        x: array; real for "rfft", complex (or real) for the others.
        fft_type: an `FftType` or its name, in any case.
        fft_lengths: lengths of the last 1 to 3 axes, of the real array for "rfft" and "irfft".

    Returns:
        The transform; "rfft" leaves out the redundant half of the last axis.

    Raises:
        ShapeError: the axes do not have these lengths.  DTypeError: "rfft" of complex numbers.
        ValueArgumentError: unknown type.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import fft
        >>> fft(np.ones(4, "c8"), "fft", (4,)).shape
        (4,)
    """
    kind = _NAMES.get(fft_type.lower()) if isinstance(fft_type, str) else FftType(fft_type)
    if kind is None:
        raise errors.ValueArgumentError(
            errors.explain(
                "fft", f"fft_type must be one of {', '.join(_NAMES)}", {"fft_type": fft_type}
            )
        )
    lengths = static_ints("fft", "fft_lengths", fft_lengths)
    t = type_of(x)
    if t.kind == "c" and kind is FftType.RFFT:
        raise errors.DTypeError(
            errors.explain("fft", "RFFT needs real numbers", {"x": t}, try_="fft_type='fft'")
        )
    if t.kind != "c":
        x = convert(x, np.dtype("f8") if t.dtype == np.dtype("f8") else np.dtype("f4"))
    if kind is not FftType.RFFT:
        x = as_complex(x)
    shape = half(lengths) if kind is FftType.IRFFT else lengths
    if 0 in shape or 0 in lengths or not 1 <= len(lengths) <= 3:
        raise errors.ShapeError(
            errors.explain("fft", f"lengths must be 1 to 3 positive ints, not {lengths}", {"x": t})
        )
    return apply(Fft.of(kind, lengths), x)


__all__ = ["FftType", "fft"]
