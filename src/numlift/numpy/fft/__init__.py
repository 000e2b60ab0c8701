"""Discrete Fourier transforms, as `numpy.fft`."""

from .frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .several_axes import fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn
from .transforms import fft, hfft, ifft, ihfft, irfft, rfft

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def __dir__() -> list[str]:
    return sorted(__all__)
