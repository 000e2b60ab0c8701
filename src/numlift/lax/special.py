"""Special functions: error, gamma, zeta, Bessel functions and incomplete integrals."""

from __future__ import annotations

from typing import Any

from ..core.tracing import apply
from ..ops import special as ops
from .operands import binary, nary

_erf, _erfc, _erf_inv, _lgamma, _digamma = ops.erf, ops.erfc, ops.erf_inv, ops.lgamma, ops.digamma
_bessel_i0e, _bessel_i1e = ops.bessel_i0e, ops.bessel_i1e
_polygamma, _zeta, _igamma, _igammac = ops.polygamma, ops.zeta, ops.igamma, ops.igammac
_igamma_grad_a, _random_gamma_grad = ops.igamma_grad_a, ops.random_gamma_grad
_betainc = ops.regularized_incomplete_beta


def erf(x: Any) -> Any:
    """Error function.

    ``2 / sqrt(pi) * integral of exp(-t**2) for t from 0 to x``

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 2 / sqrt(pi) exp(-x**2).

    Example:
        >>> from numlift.lax import erf
        >>> float(erf(1.0))
        0.8427
    """
    return apply(_erf, x)


def erfc(x: Any) -> Any:
    """Complementary error function.

    ``1 - erf(x)``, accurate for large x.

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: -2 / sqrt(pi) exp(-x**2).

    Example:
        >>> from numlift.lax import erfc
        >>> float(erfc(1.0))
        0.1573
    """
    return apply(_erfc, x)


def erf_inv(x: Any) -> Any:
    """Inverse of the error function.

    -inf at -1, inf at 1, NaN beyond.

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: sqrt(pi) / 2 exp(y**2); inf at -1 and 1.

    Example:
        >>> from numlift.lax import erf_inv
        >>> float(erf_inv(0.5))
        0.4769
    """
    return apply(_erf_inv, x)


def lgamma(x: Any) -> Any:
    """Logarithm of the absolute value of the gamma function.

    ``log |Gamma(x)|``; inf at 0, -1, -2, ...

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: digamma(x).

    Example:
        >>> from numlift.lax import lgamma
        >>> float(lgamma(4.0))
        1.7918
    """
    return apply(_lgamma, x)


def digamma(x: Any) -> Any:
    """Derivative of the logarithm of the gamma function.

    NaN at 0, -1, -2, ...

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: polygamma(1, x).

    Differences: SciPy gives -inf at 0.

    Example:
        >>> from numlift.lax import digamma
        >>> float(digamma(2.0))
        0.4228
    """
    return apply(_digamma, x)


def bessel_i0e(x: Any) -> Any:
    """Scaled modified Bessel function of order 0.

    ``exp(-|x|) I0(x)``

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: bessel_i1e(x) - sign(x) y.

    Example:
        >>> from numlift.lax import bessel_i0e
        >>> float(bessel_i0e(0.0))
        1.0
    """
    return apply(_bessel_i0e, x)


def bessel_i1e(x: Any) -> Any:
    """Scaled modified Bessel function of order 1.

    ``exp(-|x|) I1(x)``

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: bessel_i0e(x) - y (sign(x) + 1 / x); 1/2 at 0.

    Example:
        >>> from numlift.lax import bessel_i1e
        >>> float(bessel_i1e(1.0))
        0.2079
    """
    return apply(_bessel_i1e, x)


def polygamma(m: Any, x: Any) -> Any:
    """Derivative of order m of the digamma function.

    ``(-1)**(m + 1) m! zeta(m + 1, x)`` for whole m >= 1, and digamma for m = 0.

    Args:
        m, x: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: polygamma(m + 1, x) in x; none in m (GradError).

    Example:
        >>> from numlift.lax import polygamma
        >>> float(polygamma(1.0, 1.0))
        1.6449
    """
    return binary(_polygamma, m, x)


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz zeta function.

    ``sum of (q + k)**-x over k = 0, 1, ...``; inf at x = 1, NaN for x < 1.

    Args:
        x, q: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: -x zeta(x + 1, q) in q; none in x (GradError).

    Differences: JAX has no derivative in q.

    Example:
        >>> from numlift.lax import zeta
        >>> float(zeta(2.0, 1.0))
        1.6449
    """
    return binary(_zeta, x, q)


def igamma(a: Any, x: Any) -> Any:
    """Regularised lower incomplete gamma function.

    ``P(a, x) = 1 / Gamma(a) * integral of t**(a - 1) exp(-t) for t from 0 to x``

    Args:
        a, x: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: igamma_grad_a in a, x**(a - 1) exp(-x) / Gamma(a) in x.

    Differences: more accurate than JAX for large a (uniform expansion).

    Example:
        >>> from numlift.lax import igamma
        >>> float(igamma(1.0, 1.0))
        0.6321
    """
    return binary(_igamma, a, x)


def igammac(a: Any, x: Any) -> Any:
    """Regularised upper incomplete gamma function.

    ``Q(a, x) = 1 - P(a, x)``, accurate in the upper tail.

    Args:
        a, x: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: minus that of igamma.

    Example:
        >>> from numlift.lax import igammac
        >>> float(igammac(1.0, 1.0))
        0.3679
    """
    return binary(_igammac, a, x)


def igamma_grad_a(a: Any, x: Any) -> Any:
    """Derivative of igamma(a, x) in a.

    Args:
        a, x: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: in x only; in a it raises GradError.

    Differences: JAX has no derivative in x.

    Example:
        >>> from numlift.lax import igamma_grad_a
        >>> float(igamma_grad_a(1.0, 1.0))
        -0.4317
    """
    return binary(_igamma_grad_a, a, x)


def random_gamma_grad(a: Any, x: Any) -> Any:
    """Derivative in a of a sample x of the Gamma(a) distribution, at fixed probability.

    ``-(dP/da) / (dP/dx)`` with P = igamma(a, x).

    Args:
        a, x: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: none (GradError).

    Example:
        >>> from numlift.lax import random_gamma_grad
        >>> float(random_gamma_grad(1.0, 1.0))
        1.1736
    """
    return binary(_random_gamma_grad, a, x)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Regularised incomplete beta function.

    ``I_x(a, b) = 1 / B(a, b) * integral of t**(a - 1) (1 - t)**(b - 1) for t from 0 to x``

    Args:
        a, b: positive parameters, floating.
        x: numbers from 0 to 1; one dtype and shape with a and b, rank 0 broadcasts.

    Returns:
        Array of the common shape; NaN outside the domain.

    Raises:
        DTypeError: dtypes differ, or are not floating.
        ShapeError: shapes differ.

    Derivative: x**(a - 1) (1 - x)**(b - 1) / B(a, b) in x; none in a and b (GradError).

    Example:
        >>> from numlift.lax import betainc
        >>> float(betainc(1.0, 1.0, 0.25))
        0.25
    """
    return nary(_betainc, a, b, x)
