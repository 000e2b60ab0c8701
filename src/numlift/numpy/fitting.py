"""Polynomials fitted to points, and roots of polynomials."""

from __future__ import annotations

from typing import Any

import numpy as host

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.tracing import type_of
from .diagonals import eye, vander
from .joining import concatenate
from .linalg.decompositions import eigvals
from .linalg.pseudo_inverse import lstsq
from .linalg.solving import inv
from .pieces import concrete_array
from .util import as_value, to_inexact


@library(arrays=2)
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Coefficients, highest power first, of the polynomial that fits points best.

    Args:
        x: (m,) places.
        y: (m,) values, or (m, k): k sets of them.
        deg: degree of the polynomial.
        rcond: singular values up to rcond times the largest count as zero; default m * eps.
        full: also return residuals, rank, singular values and rcond.
        w: (m,) weights of the distances, before squaring.
        cov: also return the covariance matrix of the coefficients: True scales it by the
            residuals, ``"unscaled"`` does not.

    Returns:
        Coefficients (deg + 1,) or (deg + 1, k). With ``full`` (coefficients, residuals, rank,
        singular values, rcond); else with ``cov`` (coefficients, covariance), the latter
        (deg + 1, deg + 1) or (deg + 1, deg + 1, k).

    Raises:
        ShapeError: not vectors, or lengths that do not agree.  ValueArgumentError: `deg` negative,
        or too few points for a scaled covariance.

    Differences from NumPy: residuals are those of the fit for any rank; no warning for low rank.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polyfit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]), 1).round(3))
        [2. 1.]
    """
    places, values = to_inexact(as_value(x, "polyfit", "x"), as_value(y, "polyfit", "y"))
    t, u = type_of(places), type_of(values)
    if deg < 0:
        raise errors.ValueArgumentError(
            errors.explain("polyfit", f"deg must not be negative, but is {deg}")
        )
    if t.ndim != 1 or not t.shape[0] or u.ndim not in (1, 2) or u.shape[0] != t.shape[0]:
        raise errors.ArgumentError(
            errors.explain(
                "polyfit", "x must be a vector that is not empty, and y as long", {"x": t, "y": u}
            )
        )
    left = vander(places, deg + 1)
    if w is not None:
        weights = as_value(w, "polyfit", "w")
        if type_of(weights).shape != t.shape:
            raise errors.ShapeError(
                errors.explain("polyfit", "w must be as long as x", {"w": type_of(weights)})
            )
        left = left * weights[:, None]
        values = values * (weights if u.ndim == 1 else weights[:, None])
    scale = abs(left * left.conj()).sum(axis=0) ** 0.5
    if rcond is None:
        rcond = t.shape[0] * float(host.finfo(t.dtype).eps)
    scaled = left / scale
    found, residuals, rank, s = lstsq(scaled, values, rcond)
    coefficients = (found.T / scale).T
    if full:
        return coefficients, residuals, rank, s, rcond
    if not cov:
        return coefficients
    spread = inv(scaled.T @ scaled) / (scale[:, None] * scale)
    if u.ndim == 2:
        spread = spread[:, :, None]
    if cov == "unscaled":
        return coefficients, spread
    degrees = t.shape[0] - (deg + 1)
    if degrees <= 0:
        raise errors.ValueArgumentError(
            errors.explain(
                "polyfit", f"a scaled covariance needs more than {deg + 1} points, not "
                f"{t.shape[0]}", {"x": t}, try_='cov="unscaled"',
            )
        )  # fmt: skip
    return coefficients, spread * (residuals / degrees)


@explains
def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """Roots of the polynomial with these coefficients, highest power first; complex.

    Args:
        p: vector of coefficients.
        strip_zeros: leave out zeros at both ends first, as NumPy does (then `p` must be known, so
            not under jit); else the first coefficient must not be zero.

    Returns:
        Vector of roots: eigenvalues of the companion matrix, in LAPACK's order.

    Raises:
        ShapeError: not a vector.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.roots(np.array([1.0, 0.0, -4.0])).real)
        [-2.  2.]
    """
    (x,) = to_inexact(as_value(p, "roots", "p"))
    if type_of(x).ndim != 1:
        raise errors.ShapeError(
            errors.explain("roots", "p must be a vector of coefficients", {"p": type_of(x)})
        )
    if not strip_zeros:
        return _roots(x, 0)
    used = host.flatnonzero(concrete_array("roots", x, "p", "its zeros give the number of roots"))
    if not len(used):
        return _roots(x[:0], 0)
    return _roots(x[int(used[0]) : int(used[-1]) + 1], type_of(x).shape[0] - 1 - int(used[-1]))


@library(arrays=1)
def _roots(x: Any, zeros: int) -> Any:
    t = type_of(x)
    n = max(t.shape[0] - 1, 0)
    first = -(x[1:] / x[:1])
    companion = concatenate([first[None], eye(max(n - 1, 0), n, dtype=t.dtype)]) if n else x[:0]
    found = eigvals(companion.reshape(n, n))
    return concatenate([found, host.zeros(zeros, type_of(found).dtype)]) if zeros else found


__all__ = ["polyfit", "roots"]
