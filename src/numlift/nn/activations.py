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
    """``x`` itself, for places that want an activation.

    Args:
        x: array or number of any dtype.

    Returns:
        Array of the shape and dtype of `x`. Derivative: 1.

    Example:
        >>> from numlift import nn
        >>> float(nn.identity(2.0))
        2.0
    """
    return np.asarray(x)


def _zero(x: Any) -> Any:
    return type_of(x).dtype.type(0)


@library(1)
def relu(x: Any) -> Any:
    """Rectified linear unit: ``max(x, 0)``.

    Args:
        x: array or number of any dtype.

    Returns:
        Array of the shape and dtype of `x`; nan stays nan. Derivative at 0: 0.

    Example:
        >>> from numlift import nn
        >>> nn.relu([-1.0, 0.0, 2.0]).tolist()
        [0.0, 0.0, 2.0]
    """
    x = as_value(x, "nn.relu", "x")
    return np.where(x <= _zero(x), _zero(x), x)


@library(1)
def relu6(x: Any) -> Any:
    """Rectified linear unit with a ceiling: ``min(max(x, 0), 6)``.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative at 0 and at 6: 0.

    Example:
        >>> from numlift import nn
        >>> nn.relu6([-1.0, 2.0, 7.0]).tolist()
        [0.0, 2.0, 6.0]
    """
    x = inexact(x, "nn.relu6")
    six = type_of(x).dtype.type(6)
    return np.where(x <= _zero(x), _zero(x), np.where(x >= six, six, x))


@library(1)
def sigmoid(x: Any) -> Any:
    """Logistic function: ``1 / (1 + exp(-x))``, between 0 and 1.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative: ``sigmoid(x) * sigmoid(-x)``, 0
        far away.

    Differences from JAX: integers are taken.

    Example:
        >>> from numlift import nn
        >>> nn.sigmoid([-200.0, 0.0, 200.0]).tolist()
        [0.0, 0.5, 1.0]
    """
    return lax.logistic(inexact(x, "nn.sigmoid"))


@library(1)
def softplus(x: Any) -> Any:
    """Smooth rectified linear unit: ``log(1 + exp(x))``, without overflow.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative: ``sigmoid(x)``, also at -inf (0)
        and inf (1).

    Example:
        >>> from numlift import nn
        >>> nn.softplus([-1000.0, 1000.0]).tolist()
        [0.0, 1000.0]
    """
    x = inexact(x, "nn.softplus")
    return np.logaddexp(x, _zero(x))


@library(1)
def log_sigmoid(x: Any) -> Any:
    """``log(sigmoid(x)) = -softplus(-x)``, without underflow.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative: ``sigmoid(-x)``.

    Example:
        >>> from numlift import nn
        >>> float(nn.log_sigmoid(-1000.0))
        -1000.0
    """
    return -softplus(-inexact(x, "nn.log_sigmoid"))


@library(1)
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called `swish`.

    A smooth `relu` with a dip: its least value is about -0.278, at -1.278.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. nan at -inf. Derivative at 0: 1/2.

    Example:
        >>> from numlift import nn
        >>> round(float(nn.silu(1.0)), 4)
        0.7311
    """
    x = inexact(x, "nn.silu")
    return x * lax.logistic(x)


swish = silu


@library(1)
def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``.

    A smooth `relu` with a dip, as `silu`.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. nan at -inf. Derivative at 0: 0.6.

    Example:
        >>> from numlift import nn
        >>> round(float(nn.mish(1.0)), 4)
        0.8651
    """
    x = inexact(x, "nn.mish")
    return x * np.tanh(softplus(x))


@library(2)
def squareplus(x: Any, b: Any = 4) -> Any:
    """A smooth `relu` without exponentials: ``(x + sqrt(x**2 + b)) / 2``.

    Args:
        x: array or number; integers become the default float.
        b: positive number or array that sets how wide the bend is.

    Returns:
        Array of the broadcast shape and the floating dtype of `x`. Derivative at 0: 1/2 for `b` >
        0.

    Example:
        >>> from numlift import nn
        >>> nn.squareplus([-1.5, 0.0, 1.5]).tolist()
        [0.5, 1.0, 2.0]
    """
    x = inexact(x, "nn.squareplus")
    return 0.5 * (x + np.sqrt(np.square(x) + b))


@library(1)
def sparse_plus(x: Any) -> Any:
    """0 below -1, ``(x + 1)**2 / 4`` between -1 and 1, x above 1.

    Args:
        x: array or number of real numbers; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative: `sparse_sigmoid`, also at the
        joints.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> from numlift import nn
        >>> nn.sparse_plus([-2.0, 0.0, 2.0]).tolist()
        [0.0, 0.25, 2.0]
    """
    x = real_inexact(x, "nn.sparse_plus")
    inner = np.where(x <= -1.0, _zero(x), np.where(x >= 1.0, _zero(x), x + 1.0))
    return np.where(x >= 1.0, x, 0.25 * np.square(inner))


@library(1)
def sparse_sigmoid(x: Any) -> Any:
    """A sigmoid of straight lines: ``clip((x + 1) / 2, 0, 1)``.

    Args:
        x: array or number of real numbers; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative at -1 and 1: 0.

    Raises:
        DTypeError: `x` is complex.

    Differences from JAX: the derivative at -1 and 1 is 0, not 1/4.

    Example:
        >>> from numlift import nn
        >>> nn.sparse_sigmoid([-2.0, 0.0, 2.0]).tolist()
        [0.0, 0.5, 1.0]
    """
    x = real_inexact(x, "nn.sparse_sigmoid")
    one = type_of(x).dtype.type(1)
    return np.where(x <= -1.0, _zero(x), np.where(x >= 1.0, one, 0.5 * (x + 1.0)))


@library(1)
def soft_sign(x: Any) -> Any:
    """``x / (|x| + 1)``, between -1 and 1; flattens more slowly than `tanh`.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative at 0: 1.

    Example:
        >>> from numlift import nn
        >>> nn.soft_sign([-1.0, 0.0, 3.0]).tolist()
        [-0.5, 0.0, 0.75]
    """
    x = inexact(x, "nn.soft_sign")
    return x / (np.abs(x) + 1.0)


@library(2)
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """Exponential linear unit: x above 0, ``alpha * (exp(x) - 1)`` below.

    Args:
        x: array or number; integers become the default float.
        alpha: number or array: minus the limit at -inf.

    Returns:
        Array of the broadcast shape and the floating dtype of `x`. Derivative at 0: `alpha`.

    Example:
        >>> from numlift import nn
        >>> [round(v, 4) for v in nn.elu([-1.0, 2.0]).tolist()]
        [-0.6321, 2.0]
    """
    x = inexact(x, "nn.elu")
    below = np.where(x > 0.0, _zero(x), x)
    return np.where(x > 0.0, x, alpha * np.expm1(below))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@library(1)
def selu(x: Any) -> Any:
    """``1.0507 * elu(x, 1.6733)``: keeps mean 0 and variance 1 from layer to layer.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative at 0: that from below, 1.7581.

    Example:
        >>> from numlift import nn
        >>> round(float(nn.selu(1.0)), 4)
        1.0507
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@library(2)
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """x above 0, ``alpha * (exp(x / alpha) - 1)`` below; smooth for every `alpha`.

    Args:
        x: array or number; integers become the default float.
        alpha: positive number or array: minus the limit at -inf.

    Returns:
        Array of the broadcast shape and the floating dtype of `x`. Derivative at 0: 1.

    Example:
        >>> from numlift import nn
        >>> [round(v, 4) for v in nn.celu([-1.0, 2.0], alpha=0.5).tolist()]
        [-0.4323, 2.0]
    """
    x = inexact(x, "nn.celu")
    below = np.where(x > 0.0, _zero(x), x)
    return np.where(x > 0.0, x, alpha * np.expm1(below / alpha))


@library(2)
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """x from 0 on, ``negative_slope * x`` below.

    Args:
        x: array or number; integers become the default float.
        negative_slope: number or array.

    Returns:
        Array of the broadcast shape and the promoted floating dtype. Derivative at 0: 1.

    Example:
        >>> from numlift import nn
        >>> nn.leaky_relu([-8.0, 2.0], negative_slope=0.25).tolist()
        [-2.0, 2.0]
    """
    x = inexact(x, "nn.leaky_relu")
    return np.where(x >= 0.0, x, negative_slope * x)


@library(1)
def hard_tanh(x: Any) -> Any:
    """x cut to [-1, 1].

    Args:
        x: array or number of any dtype.

    Returns:
        Array of the shape and dtype of `x`. Derivative at -1 and 1: 1.

    Example:
        >>> from numlift import nn
        >>> nn.hard_tanh([-2.0, 0.5, 2.0]).tolist()
        [-1.0, 0.5, 1.0]
    """
    x = as_value(x, "nn.hard_tanh", "x")
    one = type_of(x).dtype.type(1)
    return np.where(x > one, one, np.where(x < -one, -one, x))


@library(1)
def hard_sigmoid(x: Any) -> Any:
    """A sigmoid of straight lines: ``relu6(x + 3) / 6``.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative at -3 and 3: 0.

    Example:
        >>> from numlift import nn
        >>> nn.hard_sigmoid([-3.0, 0.0, 3.0]).tolist()
        [0.0, 0.5, 1.0]
    """
    return relu6(inexact(x, "nn.hard_sigmoid") + 3.0) / 6.0


@library(1)
def hard_silu(x: Any) -> Any:
    """``x * hard_sigmoid(x)``, also called `hard_swish`: `silu` without exponentials.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative at -3: 0, at 3: 1.

    Example:
        >>> from numlift import nn
        >>> nn.hard_silu([-4.0, 0.0, 3.0]).tolist()
        [-0.0, 0.0, 3.0]
    """
    x = inexact(x, "nn.hard_silu")
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@library(1)
def gelu(x: Any, approximate: bool = True) -> Any:
    """``x * Phi(x)``, with Phi the distribution function of the normal distribution.

    Args:
        x: array or number; integers become the default float.
        approximate: with tanh: ``x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x**3)))``; False:
            exact, by the error function.

    Returns:
        Array of the shape and floating dtype of `x`. nan at -inf. Derivative at 0: 1/2.

    Example:
        >>> from numlift import nn
        >>> round(float(nn.gelu(1.0)), 4), round(float(nn.gelu(1.0, approximate=False)), 4)
        (0.8412, 0.8413)
    """
    x = inexact(x, "nn.gelu")
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))
        return x * (0.5 * (1.0 + np.tanh(inner)))
    return 0.5 * x * lax.erfc(-x * math.sqrt(0.5))


@library(1)
def tanh(x: Any) -> Any:
    """Hyperbolic tangent, between -1 and 1: `numpy.tanh`.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative: ``1 - tanh(x)**2``.

    Example:
        >>> from numlift import nn
        >>> nn.tanh([-100.0, 0.0, 100.0]).tolist()
        [-1.0, 0.0, 1.0]
    """
    return np.tanh(x)


@library(1)
def log1mexp(x: Any) -> Any:
    """``log(1 - exp(-x))`` for x > 0, exact near 0 and far from it.

    Args:
        x: array or number; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. -inf at 0, nan below. Derivative: ``1 /
        (exp(x) - 1)``, inf at 0.

    Example:
        >>> from numlift import nn
        >>> float(nn.log1mexp(0.0)), round(float(nn.log1mexp(1.0)), 4)
        (-inf, -0.4587)
    """
    x = inexact(x, "nn.log1mexp")
    near = x < math.log(2)
    one = type_of(x).dtype.type(1)
    small, large = np.where(near, x, one), np.where(near, one, x)
    return np.where(near, np.log(-np.expm1(-small)), np.log1p(-np.exp(-large)))


@library(1)
def glu(x: Any, axis: int = -1) -> Any:
    """Gated linear unit: the first half times the sigmoid of the second half along an axis.

    Args:
        x: array or number; integers become the default float.
        axis: the axis, of even size.

    Returns:
        Array of the shape of `x` with half the size along the axis.

    Raises:
        ShapeError: the axis has odd size.  AxisError: no such axis.

    Example:
        >>> from numlift import nn
        >>> nn.glu([[1.0, 2.0, 0.0, 0.0]]).tolist()
        [[0.5, 1.0]]
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
