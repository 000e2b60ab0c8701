"""Products of numbers stored in few bits."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
from numlift import errors, nn

RNG = numpy.random.default_rng(0)
A, B = (RNG.normal(size=(2, n, 64)).astype("f") for n in (3, 5))
NUMBERS = (((2,), (2,)), ((0,), (0,)))
WANTED = numpy.einsum("bmk,bnk->bmn", A, B)


def test_scaled_matmul() -> None:
    s, t = (RNG.uniform(size=(2, n, 4)).astype("f") for n in (3, 5))
    wanted = numpy.einsum("bmk,bnk->bmn", A * s.repeat(16, 2), B * t.repeat(16, 2))
    numpy.testing.assert_allclose(nn.scaled_matmul(A, B, s, t), wanted, rtol=1e-4, atol=1e-4)
    small = nn.scaled_matmul(
        *(nl.numpy.asarray(x, "float8_e4m3fn") for x in (A, B)), s, t, "bfloat16"
    )
    assert small.dtype == "bfloat16"
    for bad in ((A[0], B, s, t), (A, B, s, t[..., :3]), (A, B[..., :32], s, t), (A, B, t, s)):
        with pytest.raises(errors.ShapeError, match="scaled_matmul"):
            nn.scaled_matmul(*bad)


@pytest.mark.parametrize("mode, error", [("mxfp8", 0.06), ("nvfp4", 0.2)])
def test_rounded_products(mode: str, error: float) -> None:
    config = nn.get_scaled_dot_general_config(mode)

    def f(a, b):
        return nn.scaled_dot_general(a, b, NUMBERS, configs=[config] * 3)

    found = nl.jit(f)(A, B)
    assert numpy.abs(found - WANTED).max() < error * numpy.abs(WANTED).max() * 2
    zeros = nl.jit(f)(0 * A, B)
    assert not numpy.asarray(zeros).any()
    gradient = nl.grad(lambda a: f(a, B).sum())(A)
    wanted = numpy.broadcast_to(B.sum(1)[:, None], A.shape)
    assert numpy.abs(gradient - wanted).mean() < error * 5
    odd = nn.scaled_dot_general(A[..., :50], B[..., :50], NUMBERS, configs=[config] * 2)
    plain = numpy.einsum("bmk,bnk->bmn", A[..., :50], B[..., :50])
    assert numpy.abs(odd - plain).max() < error * numpy.abs(WANTED).max() * 2


def test_without_rounding() -> None:
    numpy.testing.assert_allclose(
        nn.scaled_dot_general(A, B, NUMBERS), WANTED, rtol=1e-4, atol=1e-4
    )
    assert nn.scaled_dot_general(A, B, NUMBERS, "bfloat16").dtype == "bfloat16"
    with pytest.raises(errors.ValueArgumentError, match="mxfp8"):
        nn.get_scaled_dot_general_config("int8")
    with pytest.raises(errors.ValueArgumentError, match="config for lhs"):
        nn.scaled_dot_general(A, B, NUMBERS, configs=[])
