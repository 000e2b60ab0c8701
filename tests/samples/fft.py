"""Samples of Fourier transforms."""

from __future__ import annotations

import numpy as np

from numlift import lax

from . import COMPLEX, Sample
from .slicing import arrays

REAL = ("float32", "float64")

SAMPLES: list[Sample] = [
    Sample(
        "fft", lambda x: lax.fft(x, "fft", (5,)), arrays((2, 5)),
        lambda x: np.fft.fft(x), COMPLEX, (0,),
    ),
    Sample(
        "fft/two axes", lambda x: lax.fft(x, lax.FftType.FFT, (2, 4)), arrays((3, 2, 4)),
        lambda x: np.fft.fft2(x), COMPLEX, (0,),
    ),
    Sample(
        "ifft", lambda x: lax.fft(x, "IFFT", (4,)), arrays((2, 4)),
        lambda x: np.fft.ifft(x), COMPLEX, (0,),
    ),
    Sample(
        "rfft/odd", lambda x: lax.fft(x, "rfft", (5,)), arrays((2, 5)),
        lambda x: np.fft.rfft(x), REAL, (0,),
    ),
    Sample(
        "rfft/even, two axes", lambda x: lax.fft(x, "rfft", (3, 4)), arrays((3, 4)),
        lambda x: np.fft.rfft2(x), REAL, (0,),
    ),
    Sample(
        "irfft/odd", lambda x: lax.fft(x, "irfft", (5,)), arrays((2, 3)),
        lambda x: np.fft.irfft(x, 5), COMPLEX, (0,),
    ),
    Sample(
        "irfft/even, three axes", lambda x: lax.fft(x, "irfft", (2, 3, 4)), arrays((2, 3, 3)),
        lambda x: np.fft.irfftn(x, (2, 3, 4), (0, 1, 2)), COMPLEX, (0,),
    ),
]  # fmt: skip
