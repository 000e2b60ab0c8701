"""Values that the host has before anything runs: checks of them wait for no device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import Value

_NUMBERS = (bool, int, float, complex, np.generic)


def host_values(x: Any) -> np.ndarray[Any, Any] | None:
    """Numbers, lists of numbers and NumPy arrays as a NumPy array.

    None for Numlift's arrays, whose values may still be computed, for traced values, and for what
    is no array of numbers: the function itself says what is wrong with that.
    """
    if isinstance(x, Value):
        return None
    if isinstance(x, np.ndarray):
        return x if x.dtype.kind in "biufc" else None
    if isinstance(x, _NUMBERS) or (isinstance(x, (list, tuple)) and _plain(x)):
        try:
            made = np.asarray(x)
        except ValueError:  # ragged
            return None
        return made if made.dtype.kind in "biufc" else None
    return None


def _plain(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return all(map(_plain, x))
    return isinstance(x, (*_NUMBERS, np.ndarray))


def need_monotonic(function: str, bins: Any) -> None:
    """Raise if edges that the host has neither ascend nor descend.

    Raises:
        ValueArgumentError: they do not.
    """
    edges = host_values(bins)
    if edges is None or edges.ndim != 1 or edges.dtype.kind == "c":
        return
    if not (np.all(edges[:-1] <= edges[1:]) or np.all(edges[:-1] >= edges[1:])):
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "bins must be monotonically increasing or decreasing",
                {"bins": bins},
                try_="np.sort(bins)",
            )
        )


def need_no_zero(function: str, **ends: Any) -> None:
    """Raise if an end that the host has is 0.

    Raises:
        ValueArgumentError: one is.
    """
    for name, end in ends.items():
        known = host_values(end)
        if known is not None and not np.all(known):
            raise errors.ValueArgumentError(
                errors.explain(
                    function,
                    f"{name} is 0, which no geometric sequence has",
                    {name: end},
                    try_=f"{name}=1e-3, or np.linspace",
                )
            )


def need_numbers(function: str, a: Any, axis: Any) -> None:
    """Raise if an array that the host has holds nothing but NaN along an axis.

    Raises:
        ValueArgumentError: it does.
    """
    known = host_values(a)
    if known is None or known.dtype.kind not in "fc" or not (axis is None or type(axis) is int):
        return
    nothing = np.isnan(known)
    if known.size and (axis is None or -known.ndim <= axis < known.ndim):
        if np.any(np.all(nothing, axis=axis)):
            raise errors.ValueArgumentError(
                errors.explain(
                    function,
                    "all values are NaN",
                    {"a": a, "axis": axis},
                    try_="np.isnan(a).all(axis) to find such slices first",
                )
            )


def need_weight(function: str, a_shape: Any, weights: Any, axes: tuple[int, ...]) -> None:
    """Raise if weights that the host has add up to 0 somewhere.

    Raises:
        ZeroSumError: they do.
    """
    known = host_values(weights)
    if known is None:
        return
    whole = known.shape == a_shape
    if not whole and known.shape != tuple(a_shape[i] for i in axes):
        return  # which the function itself explains
    if not np.all(known.sum(axes) if whole else known.sum()):
        raise errors.ZeroSumError(
            errors.explain(
                function,
                "weights sum to zero, so they cannot be normalized",
                {"weights": weights},
            )
        )


__all__ = ["host_values", "need_monotonic", "need_no_zero", "need_numbers", "need_weight"]
