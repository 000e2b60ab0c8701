"""Elementwise operations: name -> (Numlift code, NumPy function), in the domain of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return numpy.logaddexp(x, 0)


def digamma(x: Any) -> Any:
    """Derivative of log gamma for x > 0, by recurrence and its asymptotic series."""
    total = numpy.zeros_like(x)
    for _ in range(20):
        total, x = total - 1 / x, x + 1
    y = 1 / (x * x)
    terms = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
    series = sum(t * y ** (k + 1) for k, t in enumerate(terms))
    return total + numpy.log(x) - 1 / (2 * x) - series


UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "sin": ("np.sin({0})", numpy.sin),
    "cos": ("np.cos({0})", numpy.cos),
    "tanh": ("np.tanh({0})", numpy.tanh),
    "arctan": ("np.arctan({0})", numpy.arctan),
    "arcsinh": ("np.arcsinh({0})", numpy.arcsinh),
    "logistic": ("nl.nn.sigmoid({0})", lambda x: 1 / (1 + numpy.exp(-x))),
    "softplus": ("nl.nn.softplus({0})", softplus),
    "silu": ("nl.nn.silu({0})", lambda x: x / (1 + numpy.exp(-x))),
    "negative": ("-{0}", numpy.negative),
    "square": ("{0} ** 2", numpy.square),
    "cube": ("lax.integer_pow(0.7 * {0}, 3)", lambda x: (0.7 * x) ** 3),
    "gauss": ("np.exp(-{0} * {0})", lambda x: numpy.exp(-x * x)),
    "expm1": ("np.expm1(0.5 * {0})", lambda x: numpy.expm1(0.5 * x)),
    "exp2": ("np.exp2(np.sin({0}))", lambda x: numpy.exp2(numpy.sin(x))),
    "log1p": ("np.log1p({0} * {0})", lambda x: numpy.log1p(x * x)),
    "log": ("np.log(2 + np.cos({0}))", lambda x: numpy.log(2 + numpy.cos(x))),
    "sqrt": ("np.sqrt(1 + {0} ** 2)", lambda x: numpy.sqrt(1 + x**2)),
    "rsqrt": ("lax.rsqrt(1.5 + np.sin({0}))", lambda x: 1 / numpy.sqrt(1.5 + numpy.sin(x))),
    "cbrt": ("np.cbrt(2 + np.sin({0}))", lambda x: numpy.cbrt(2 + numpy.sin(x))),
    "reciprocal": ("1 / (2 + np.cos({0}))", lambda x: 1 / (2 + numpy.cos(x))),
    "sinh": ("np.sinh(np.tanh({0}))", lambda x: numpy.sinh(numpy.tanh(x))),
    "arcsin": ("np.arcsin(0.8 * np.sin({0}))", lambda x: numpy.arcsin(0.8 * numpy.sin(x))),
    "arctanh": ("np.arctanh(0.7 * np.cos({0}))", lambda x: numpy.arctanh(0.7 * numpy.cos(x))),
    "arccosh": ("np.arccosh(2 + np.sin({0}))", lambda x: numpy.arccosh(2 + numpy.sin(x))),
    "tan": ("np.tan(np.tanh({0}))", lambda x: numpy.tan(numpy.tanh(x))),
    "digamma": ("lax.digamma(2 + np.sin({0}))", lambda x: digamma(2 + numpy.sin(x))),
    "scalar_mix": ("(0.5 - {0}) * 2 + 1 / 4", lambda x: (0.5 - x) * 2 + 0.25),
    "named_constant": ("{0} * np.float32(0.5)", lambda x: x * 0.5),
    "copy": ("np.array({0}, copy=True)", lambda x: x + 0),
    "complex_parts": (
        "np.real(lax.complex({0}, np.sin({0})) * lax.complex(np.cos({0}), {0}))",
        lambda x: x * numpy.cos(x) - numpy.sin(x) * x,
    ),
    "complex_abs": ("np.abs(lax.complex({0}, 1 + {0} * {0}))", lambda x: numpy.hypot(x, 1 + x * x)),
}
KINKED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "abs": ("np.abs({0})", numpy.abs),
    "relu": ("nl.nn.relu({0})", lambda x: numpy.maximum(x, 0)),
    "sign": ("np.sign({0})", numpy.sign),
    "leaky": ("np.where({0} > 0, {0}, 0.1 * {0})", lambda x: numpy.where(x > 0, x, 0.1 * x)),
}
BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("{0} + {1}", numpy.add),
    "sub": ("{0} - {1}", numpy.subtract),
    "mul": ("{0} * {1}", numpy.multiply),
    "div": ("{0} / (1.5 + {1} ** 2)", lambda x, y: x / (1.5 + y**2)),
    "pow": (
        "np.power(1.5 + np.sin({0}), {1})",
        lambda x, y: numpy.power(1.5 + numpy.sin(x), y),
    ),
    "arctan2": (
        "np.arctan2({0}, 2 + np.sin({1}))",
        lambda x, y: numpy.arctan2(x, 2 + numpy.sin(y)),
    ),
    "hypot": ("np.hypot({0}, 1 + {1} ** 2)", lambda x, y: numpy.hypot(x, 1 + y**2)),
    "logaddexp": ("np.logaddexp({0}, {1})", numpy.logaddexp),
}
