"""Normal vectors with a mean and a covariance."""

from __future__ import annotations

from typing import Any

from .. import errors
from .. import numpy as np
from ..api.library import library
from ..api.sharding import reshard
from ..core.tracing import type_of
from .common import as_shape, float_dtype
from .keys import check_key
from .uniform import normal


@library(3)
def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Any:
    """Normal vectors with the given mean and covariance.

    Args:
        key: a random key.
        mean: (..., n).
        cov: (..., n, n), symmetric; positive definite for "cholesky", else semi-definite.
        shape: shape of the result without its last axis; default that of the batches.
        dtype: floating dtype; default that of `mean` and `cov`.
        method: factor of the covariance: "cholesky" (fastest), "eigh" or "svd".
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        (*shape, n), differentiable in mean and cov; NaN if the covariance does not suit "cholesky".

    Raises:
        ValueArgumentError: unknown method.  ShapeError: sizes do not agree.

    Example:
        >>> from numlift.random import multivariate_normal
        >>> from numlift import numpy as np, random
        >>> multivariate_normal(random.key(0), np.zeros(2), np.eye(2), (5,)).shape
        (5, 2)
    """
    function = "random.multivariate_normal"
    typed, _ = check_key(function, key)
    if method not in ("cholesky", "eigh", "svd"):
        raise errors.ValueArgumentError(
            errors.explain(function, f"method must be cholesky, eigh or svd, not {method!r}")
        )
    mean, cov = np.asarray(mean), np.asarray(cov)
    kind = np.result_type(mean, cov, np.float16) if dtype is None else dtype
    kind = float_dtype(function, kind, "f")
    t, u = type_of(mean), type_of(cov)
    if not t.ndim or u.ndim < 2 or u.shape[-2:] != (t.shape[-1],) * 2:
        raise errors.ShapeError(
            errors.explain(
                function, "mean must be (..., n) and cov (..., n, n)", {"mean": t, "cov": u}
            )
        )
    batch = np.broadcast_shapes(t.shape[:-1], u.shape[:-2])
    size = batch if shape is None else as_shape(function, shape)
    if np.broadcast_shapes(size, batch) != size:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"shape {size} must be one that the batches {batch} broadcast to",
                {"mean": t, "cov": u},
            )
        )
    z = normal(typed, (*size, t.shape[-1]), kind)
    factor = _factor(cov.astype(kind), method)
    out = mean.astype(kind) + np.matvec(factor, z)
    return out if out_sharding is None else reshard(out, out_sharding)


def _factor(cov: Any, method: str) -> Any:
    """A matrix F with F F^T = cov."""
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    if method == "eigh":
        w, v = np.linalg.eigh(cov)
        return v * np.sqrt(np.maximum(w, 0))[..., None, :]
    u, s, _ = np.linalg.svd(cov)
    return u * np.sqrt(s)[..., None, :]


__all__ = ["multivariate_normal"]
