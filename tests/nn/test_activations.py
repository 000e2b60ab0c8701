"""Activations against NumPy, and their derivatives at edge points."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest
from scipy import special

import numlift as nl
from numlift import errors, nn

X = numpy.linspace(-4, 4, 41)
SOFTPLUS = numpy.logaddexp(X, 0)
VALUES = {
    "identity": X,
    "relu": numpy.maximum(X, 0),
    "relu6": numpy.clip(X, 0, 6),
    "sigmoid": special.expit(X),
    "log_sigmoid": special.log_expit(X),
    "softplus": SOFTPLUS,
    "silu": X * special.expit(X),
    "swish": X * special.expit(X),
    "elu": numpy.where(X > 0, X, numpy.expm1(X)),
    "selu": 1.0507009873554805 * numpy.where(X > 0, X, 1.6732632423543772 * numpy.expm1(X)),
    "celu": numpy.where(X > 0, X, numpy.expm1(X)),
    "leaky_relu": numpy.where(X > 0, X, 0.01 * X),
    "hard_tanh": numpy.clip(X, -1, 1),
    "hard_sigmoid": numpy.clip(X + 3, 0, 6) / 6,
    "hard_silu": X * numpy.clip(X + 3, 0, 6) / 6,
    "hard_swish": X * numpy.clip(X + 3, 0, 6) / 6,
    "soft_sign": X / (1 + abs(X)),
    "mish": X * numpy.tanh(SOFTPLUS),
    "squareplus": (X + numpy.sqrt(X * X + 4)) / 2,
    "sparse_plus": numpy.where(X <= -1, 0, numpy.where(X >= 1, X, (X + 1) ** 2 / 4)),
    "sparse_sigmoid": numpy.clip((X + 1) / 2, 0, 1),
    "gelu": X / 2 * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (X + 0.044715 * X**3))),
    "tanh": numpy.tanh(X),
}
SLOPES = {
    # Derivatives at -inf, 0, inf and at the joint named last (point, slope).
    "relu": (0, 0, 1, (0.0, 0)),
    "relu6": (0, 0, 0, (6.0, 0)),
    "sigmoid": (0, 0.25, 0, None),
    "log_sigmoid": (1, 0.5, 0, None),
    "softplus": (0, 0.5, 1, None),
    "elu": (0, 1, 1, None),
    "selu": (0, 1.7580993, 1.050701, None),
    "celu": (0, 1, 1, None),
    "leaky_relu": (0.01, 1, 1, None),
    "hard_tanh": (0, 1, 0, (1.0, 1)),
    "hard_sigmoid": (0, 1 / 6, 0, (3.0, 0)),
    "sparse_plus": (0, 0.5, 1, (1.0, 1)),
    "sparse_sigmoid": (0, 0.5, 0, (1.0, 0)),
    "tanh": (0, 1, 0, None),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_values(name, dtype):
    x = X.astype(dtype)
    found = getattr(nn, name)(x)
    assert found.dtype == x.dtype
    rtol = 2e-5 if dtype == "float32" else 1e-2
    npt.assert_allclose(found, VALUES[name], rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", SLOPES)
def test_derivatives_at_edges(name):
    low, middle, high, joint = SLOPES[name]
    slope = nl.grad(getattr(nn, name))
    npt.assert_allclose(slope(-numpy.inf), low, rtol=1e-6)
    npt.assert_allclose(slope(0.0), middle, rtol=1e-6)
    npt.assert_allclose(slope(numpy.inf), high, rtol=1e-6)
    if joint is not None:
        npt.assert_allclose(slope(joint[0]), joint[1], rtol=1e-6)


def test_gelu_exact():
    npt.assert_allclose(
        nn.gelu(X.astype("f"), approximate=False), X * special.ndtr(X), rtol=1e-4, atol=1e-6
    )


def test_integers():
    x = numpy.arange(-2, 3)
    npt.assert_array_equal(nn.relu(x), [0, 0, 0, 1, 2])
    assert nn.relu(x).dtype == numpy.int32
    npt.assert_allclose(nn.sigmoid(x), special.expit(x), rtol=1e-6)


def test_log1mexp():
    x = numpy.array([1e-6, 0.1, 0.7, 5, 50], "f")
    wide = x.astype("d")
    wanted = numpy.where(wide < 1, numpy.log(-numpy.expm1(-wide)), numpy.log1p(-numpy.exp(-wide)))
    npt.assert_allclose(nn.log1mexp(x), wanted, rtol=1e-5)
    assert nn.log1mexp(0.0) == -numpy.inf
    npt.assert_allclose(nl.grad(nn.log1mexp)(60.0), 0, atol=1e-20)


def test_glu():
    x = numpy.arange(12.0, dtype="f").reshape(2, 6)
    npt.assert_allclose(nn.glu(x), x[:, :3] * special.expit(x[:, 3:]), rtol=1e-6)
    npt.assert_allclose(nn.glu(x, axis=0), x[:1] * special.expit(x[1:]), rtol=1e-6)
    with pytest.raises(errors.ShapeError, match="even"):
        nn.glu(numpy.ones(3))
