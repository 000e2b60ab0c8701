"""Activation functions."""

from __future__ import annotations

import math
from typing import Any

from .. import errors, lax
from .. import numpy as np
from ..api.library import library
from ..core.tracing import type_of
from ..numpy.operands import inexact, real_inexact
from ..numpy.util import as_value, check_axis


@library(1)
def identity(x: Any) -> Any:
    """``x`` itself.

    Example:
        >>> float(identity(2.0))
        2.0
    """
    return np.asarray(x)


def _zero(x: Any) -> Any:
    return type_of(x).dtype.type(0)


@library(1)
def relu(x: Any) -> Any:
    """``max(x, 0)``.

    The derivative at 0 is 0. NaN stays NaN.

    Example:
        >>> relu([-1.0, 2.0]).tolist()
        [0.0, 2.0]
    """
    x = as_value(x, "nn.relu", "x")
    return np.where(x <= _zero(x), _zero(x), x)


@library(1)
def relu6(x: Any) -> Any:
    """``min(max(x, 0), 6)``.

    The derivative at 0 and at 6 is 0.

    Example:
        >>> relu6([-1.0, 2.0, 7.0]).tolist()
        [0.0, 2.0, 6.0]
    """
    x = inexact(x, "nn.relu6")
    six = type_of(x).dtype.type(6)
    return np.where(x <= _zero(x), _zero(x), np.where(x >= six, six, x))


@library(1)
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``.

    Example:
        >>> float(sigmoid(0.0))
        0.5
    """
    return lax.logistic(inexact(x, "nn.sigmoid"))


@library(1)
def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow.

    The derivative is sigmoid(x): 0 at -inf and 1 at inf.

    Example:
        >>> round(float(softplus(0.0)), 4)
        0.6931
    """
    x = inexact(x, "nn.softplus")
    return np.logaddexp(x, _zero(x))


@library(1)
def log_sigmoid(x: Any) -> Any:
    """``log(sigmoid(x)) = -softplus(-x)``, without underflow.

    Example:
        >>> float(log_sigmoid(-1000.0))
        -1000.0
    """
    return -softplus(-inexact(x, "nn.log_sigmoid"))


@library(1)
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish. NaN at -inf.

    Example:
        >>> round(float(silu(1.0)), 4)
        0.7311
    """
    x = inexact(x, "nn.silu")
    return x * lax.logistic(x)


swish = silu


@library(1)
def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``. NaN at -inf.

    Example:
        >>> round(float(mish(1.0)), 4)
        0.8651
    """
    x = inexact(x, "nn.mish")
    return x * np.tanh(softplus(x))


@library(2)
def squareplus(x: Any, b: Any = 4) -> Any:
    """``(x + sqrt(x**2 + b)) / 2``, a smooth relu; b > 0 sets how wide the bend is.

    Example:
        >>> float(squareplus(0.0))
        1.0
    """
    x = inexact(x, "nn.squareplus")
    return 0.5 * (x + np.sqrt(np.square(x) + b))


@library(1)
def sparse_plus(x: Any) -> Any:
    """0 below -1, ``(x + 1)**2 / 4`` between -1 and 1, x above 1.

    The derivative is `sparse_sigmoid`, also at the joints.

    Example:
        >>> sparse_plus([-2.0, 0.0, 2.0]).tolist()
        [0.0, 0.25, 2.0]
    """
    x = real_inexact(x, "nn.sparse_plus")
    inner = np.where(x <= -1.0, _zero(x), np.where(x >= 1.0, _zero(x), x + 1.0))
    return np.where(x >= 1.0, x, 0.25 * np.square(inner))


@library(1)
def sparse_sigmoid(x: Any) -> Any:
    """``clip((x + 1) / 2, 0, 1)``.

    The derivative at -1 and 1 is 0.

    Example:
        >>> sparse_sigmoid([-2.0, 0.0, 2.0]).tolist()
        [0.0, 0.5, 1.0]
    """
    x = real_inexact(x, "nn.sparse_sigmoid")
    one = type_of(x).dtype.type(1)
    return np.where(x <= -1.0, _zero(x), np.where(x >= 1.0, one, 0.5 * (x + 1.0)))


@library(1)
def soft_sign(x: Any) -> Any:
    """``x / (|x| + 1)``.

    Example:
        >>> float(soft_sign(1.0))
        0.5
    """
    x = inexact(x, "nn.soft_sign")
    return x / (np.abs(x) + 1.0)


@library(2)
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x above 0, ``alpha * (exp(x) - 1)`` below.

    The derivative at 0 is alpha.

    Example:
        >>> float(elu(2.0))
        2.0
    """
    x = inexact(x, "nn.elu")
    below = np.where(x > 0.0, _zero(x), x)
    return np.where(x > 0.0, x, alpha * np.expm1(below))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@library(1)
def selu(x: Any) -> Any:
    """``1.0507 * elu(x, 1.6733)``: keeps mean 0 and variance 1 from layer to layer.

    The derivative at 0 is that from below, 1.7581.

    Example:
        >>> round(float(selu(1.0)), 4)
        1.0507
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@library(2)
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """x above 0, ``alpha * (exp(x / alpha) - 1)`` below; smooth for every alpha.

    Example:
        >>> float(celu(2.0))
        2.0
    """
    x = inexact(x, "nn.celu")
    below = np.where(x > 0.0, _zero(x), x)
    return np.where(x > 0.0, x, alpha * np.expm1(below / alpha))


@library(2)
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """x from 0 on, ``negative_slope * x`` below.

    The derivative at 0 is 1.

    Example:
        >>> round(float(leaky_relu(-1.0)), 4)
        -0.01
    """
    x = inexact(x, "nn.leaky_relu")
    return np.where(x >= 0.0, x, negative_slope * x)


@library(1)
def hard_tanh(x: Any) -> Any:
    """x cut to [-1, 1].

    The derivative at -1 and 1 is 1.

    Example:
        >>> hard_tanh([-2.0, 0.5]).tolist()
        [-1.0, 0.5]
    """
    x = as_value(x, "nn.hard_tanh", "x")
    one = type_of(x).dtype.type(1)
    return np.where(x > one, one, np.where(x < -one, -one, x))


@library(1)
def hard_sigmoid(x: Any) -> Any:
    """``relu6(x + 3) / 6``.

    Example:
        >>> float(hard_sigmoid(0.0))
        0.5
    """
    return relu6(inexact(x, "nn.hard_sigmoid") + 3.0) / 6.0


@library(1)
def hard_silu(x: Any) -> Any:
    """``x * hard_sigmoid(x)``, also called hard_swish.

    Example:
        >>> float(hard_silu(3.0))
        3.0
    """
    x = inexact(x, "nn.hard_silu")
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@library(1)
def gelu(x: Any, approximate: bool = True) -> Any:
    """``x * Phi(x)`` with Phi the normal distribution function.

    Args:
        x: input.
        approximate: with tanh: ``x/2 * (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3)))``; False: exact.

    NaN at -inf.

    Example:
        >>> round(float(gelu(1.0, approximate=False)), 4)
        0.8413
    """
    x = inexact(x, "nn.gelu")
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))
        return x * (0.5 * (1.0 + np.tanh(inner)))
    return 0.5 * x * lax.erfc(-x * math.sqrt(0.5))


@library(1)
def tanh(x: Any) -> Any:
    """Hyperbolic tangent.

    Example:
        >>> float(tanh(0.0))
        0.0
    """
    return np.tanh(x)


@library(1)
def log1mexp(x: Any) -> Any:
    """``log(1 - exp(-x))`` for x > 0, exact near 0 and far from it.

    -inf at 0, NaN below.

    Example:
        >>> round(float(log1mexp(1.0)), 4)
        -0.4587
    """
    x = inexact(x, "nn.log1mexp")
    near = x < math.log(2)
    one = type_of(x).dtype.type(1)
    small, large = np.where(near, x, one), np.where(near, one, x)
    return np.where(near, np.log(-np.expm1(-small)), np.log1p(-np.exp(-large)))


@library(1)
def glu(x: Any, axis: int = -1) -> Any:
    """First half times the sigmoid of the second half along an axis.

    Raises:
        ShapeError: the axis has odd size.

    Example:
        >>> glu([1.0, 0.0]).tolist()
        [0.5]
    """
    x = inexact(x, "nn.glu")
    t = type_of(x)
    axis = check_axis("nn.glu", axis, t.ndim)
    n = t.shape[axis]
    if n % 2:
        raise errors.ShapeError(
            errors.explain(
                "nn.glu", f"axis {axis} must have even size, but it has {n}", {"x": t},
                try_="another axis=",
            )
        )  # fmt: skip
    first = lax.slice_in_dim(x, 0, n // 2, axis=axis)
    return first * lax.logistic(lax.slice_in_dim(x, n // 2, n, axis=axis))
