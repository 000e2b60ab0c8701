"""Counterparts of the universal functions of `scipy.special`, for `protocols`.

Each is named by its SciPy function and takes the same arguments, in SciPy's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..lax import special
from ..lax.elementwise import logistic
from .arithmetic import divide, floor_divide, multiply, remainder, subtract
from .elementwise import absolute, negative
from .exponential import exp, log, log1p
from .floats import isfinite
from .logic import equal, less
from .selection import where
from .util import broadcast_operands, promote, to_inexact


def _inexact(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function` after integers have become floats and shapes have been made equal."""

    def run(*xs: Any) -> Any:
        return function(*broadcast_operands(name, *promote(*to_inexact(*xs))))

    run.__name__ = name
    return run


def _gamma(x: Any) -> Any:
    """exp(lgamma(x)) with the sign of Γ: negative where floor(x) is odd and x < 0."""
    odd = equal(remainder(floor_divide(x, 1), 2), 1)
    magnitude = exp(special.lgamma(x))
    return where(less(x, 0) & odd & isfinite(x), negative(magnitude), magnitude)


def _logit(x: Any) -> Any:
    return subtract(log(x), log1p(negative(x)))


def _xlogy(x: Any, y: Any) -> Any:
    # The inner where keeps 0 * inf out of the derivative.
    zero = equal(x, 0)
    return where(zero, multiply(x, 0), multiply(x, log(where(zero, 1, y))))


def _xlog1py(x: Any, y: Any) -> Any:
    zero = equal(x, 0)
    return where(zero, multiply(x, 0), multiply(x, log1p(where(zero, 0, y))))


def _entr(x: Any) -> Any:
    return where(less(x, 0), float("-inf"), negative(_xlogy(x, x)))


def _rel_entr(x: Any, y: Any) -> Any:
    inside = ~less(x, 0) & less(0, y)
    safe = where(inside, divide(x, where(inside, y, 1)), 1)
    value = where(equal(x, 0), multiply(x, 0), _xlogy(x, safe))
    return where(inside | (equal(x, 0) & equal(y, 0)), value, float("inf"))


def _ndtr(x: Any) -> Any:
    return multiply(special.erfc(multiply(x, -(0.5**0.5))), 0.5)


def _scaled_bessel(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: multiply(exp(absolute(x)), function(x))


def _log_expit(x: Any) -> Any:
    return where(less(x, 0), subtract(x, log1p(exp(x))), negative(log1p(exp(negative(x)))))


_TABLE: dict[str, Callable[..., Any]] = {
    "betainc": special.betainc,
    "digamma": special.digamma,
    "entr": _entr,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erf_inv,
    "expit": logistic,
    "gamma": _gamma,
    "gammainc": special.igamma,
    "gammaincc": special.igammac,
    "gammaln": special.lgamma,
    "i0": _scaled_bessel(special.bessel_i0e),
    "i0e": special.bessel_i0e,
    "i1": _scaled_bessel(special.bessel_i1e),
    "i1e": special.bessel_i1e,
    "log_expit": _log_expit,
    "logit": _logit,
    "ndtr": _ndtr,
    "psi": special.digamma,
    "rel_entr": _rel_entr,
    "xlog1py": _xlog1py,
    "xlogy": _xlogy,
}
SCIPY_UFUNCS: Mapping[str, Callable[..., Any]] = {
    name: _inexact(function, name) for name, function in _TABLE.items()
}
