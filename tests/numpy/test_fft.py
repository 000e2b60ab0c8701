"""Fourier transforms against NumPy; their derivatives against the definition of a transpose."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np

RNG = numpy.random.default_rng(3)


def real(*shape: int) -> Any:
    return RNG.normal(size=shape).astype("f4")


def complex_(*shape: int) -> Any:
    return (real(*shape) + 1j * real(*shape)).astype("c8")


def close(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize(
    ("n", "axis", "norm"),
    [
        (None, -1, None),
        (4, 0, "ortho"),
        (7, 1, "forward"),
        (None, 0, "forward"),
        (7, -1, "backward"),
    ],
)
def test_one_axis(name: str, n: int | None, axis: int, norm: str | None) -> None:
    x = real(5, 6) if name in ("rfft", "ihfft") else complex_(5, 6)
    close(getattr(np.fft, name)(x, n, axis, norm), getattr(numpy.fft, name)(x, n, axis, norm))


@pytest.mark.parametrize(
    "name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
)
@pytest.mark.parametrize(
    "how", [{}, {"s": (4, 7), "axes": (0, 2)}, {"axes": (2, 0)}, {"axes": (1, 2), "norm": "ortho"}]
)
def test_several_axes(name: str, how: dict[str, Any]) -> None:
    x = real(3, 5, 6) if name.startswith("r") else complex_(3, 5, 6)
    close(getattr(np.fft, name)(x, **how), getattr(numpy.fft, name)(x, **how))


def test_more_axes_than_xla_takes_at_once() -> None:
    x = real(2, 3, 4, 2, 4)
    close(np.fft.fftn(x), numpy.fft.fftn(x))
    close(np.fft.rfftn(x), numpy.fft.rfftn(x))
    close(np.fft.irfftn(np.fft.rfftn(x)), x)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(n: int) -> None:
    close(np.fft.fftfreq(n, 0.5), numpy.fft.fftfreq(n, 0.5))
    close(np.fft.rfftfreq(n, 0.5), numpy.fft.rfftfreq(n, 0.5))
    x = real(n, 3)
    close(np.fft.fftshift(x), numpy.fft.fftshift(x))
    close(np.fft.ifftshift(x, axes=0), numpy.fft.ifftshift(x, axes=0))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (np.fft.fft, complex_(5)),
        (np.fft.ifft, complex_(5)),
        (np.fft.rfft, real(5)),
        (np.fft.rfft, real(6)),
        (np.fft.irfft, complex_(4)),
        (lambda x: np.fft.irfft(x, 5), complex_(3)),
        (np.fft.rfft2, real(4, 5)),
        (np.fft.irfft2, complex_(4, 3)),
        (np.fft.hfft, complex_(4)),
        (np.fft.ihfft, real(6)),
    ],
)
def test_transposes(f: Any, x: Any) -> None:
    """<ct, J v> = <J^T ct, v>, with the real part of the product of complex numbers."""
    y, pull = nl.vjp(f, x)
    make = complex_ if numpy.iscomplexobj(numpy.asarray(y)) else real
    ct = make(*y.shape)
    v = complex_(*x.shape) if numpy.iscomplexobj(x) else real(*x.shape)
    _, tangent = nl.jvp(f, (x,), (v,))
    left = numpy.sum(ct * numpy.asarray(tangent)).real
    right = numpy.sum(numpy.asarray(pull(ct)[0]) * v).real
    assert left == pytest.approx(right, rel=1e-3, abs=1e-4)


def test_batches() -> None:
    x = real(5, 3)
    close(nl.vmap(np.fft.rfft, in_axes=1)(x), numpy.fft.rfft(x.T))


def test_errors() -> None:
    with pytest.raises(TypeError, match="rfft"):
        np.fft.rfft(complex_(3))
    with pytest.raises(ValueError, match="norm"):
        np.fft.fft(real(3), norm="half")
    with pytest.raises(ValueError, match="positive"):
        np.fft.fft(real(3), 0)
