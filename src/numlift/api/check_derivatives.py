"""Derivatives compared with finite differences.

Along a direction v of the arguments, df[v] is compared with (f(x + h v) - f(x - h v)) / 2h. Reverse
mode is compared through the identity Re <c, df[v]> = Re <vjp(c), v>, for one random c.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import float0
from ..core.tracing import type_of
from ..tree import explain_structure_mismatch, tree_flatten, tree_map, tree_unflatten
from .autodiff import jvp, vjp

_TOLERANCES = {2: 1e-1, 4: 1e-2, 8: 1e-6}
"""Bytes of a real number -> tolerance; central differences lose two thirds of the digits."""
_MODES = ("fwd", "rev")


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: str | Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of `f` up to `order` against finite differences.

    At each order, the derivative of lower order is differentiated in each of the modes, so that all
    orders of forward and reverse mode over each other are covered.

    Args:
        f: function of arrays or pytrees of arrays. Integer arguments stay as they are.
        args: tuple of arguments at which to check.
        order: number of derivatives, at least 1.
        modes: ``"fwd"``, ``"rev"`` or both.
        atol, rtol: tolerances; by default 1e-6 in 64 bits, 1e-2 in 32, 1e-1 in 16.
        eps: step of the differences; by default the cube root of the precision.

    Returns:
        None, if all agree.

    Raises:
        AssertionError: a derivative differs; says the order, the mode and both values.
        ArgumentError: a mode that is neither ``"fwd"`` nor ``"rev"``.
        ValueArgumentError: `order` is below 1.

    Example:
        >>> import numlift.numpy as np
        >>> from numlift.test_util import check_grads
        >>> check_grads(lambda x: np.sin(x) * x, (0.5,), order=2)
    """
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    if not chosen or any(m not in _MODES for m in chosen):
        raise errors.ArgumentError(
            errors.explain(
                "check_grads",
                "modes must be 'fwd', 'rev' or both",
                {"modes": modes},
                try_="modes=('fwd', 'rev')",
            )
        )
    if order < 1:
        raise errors.ValueArgumentError(
            errors.explain("check_grads", f"order must be at least 1, not {order}", try_="order=2")
        )
    if not isinstance(args, (tuple, list)):
        raise errors.ArgumentError(
            errors.explain(
                "check_grads",
                f"args must be a tuple of arguments, not a {type(args).__name__}",
                try_="check_grads(f, (x,), order=1)",
            )
        )
    _check_order(f, tuple(args), order, chosen, atol, rtol, eps, "")


def _check_order(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: tuple[str, ...],
    atol: float | None,
    rtol: float | None,
    eps: float | None,
    path: str,
) -> None:
    for mode in modes:
        here = f"{path} of {mode}" if path else mode
        if mode == "fwd":
            check_jvp(f, functools.partial(jvp, f), args, atol, rtol, eps, f"({here})")
            if order > 1:
                tangents = _directions(args, 1)

                def pushed(*xs: Any, tangents: Any = tangents) -> Any:
                    return _inexact(jvp(f, xs, tangents)[1])

                _check_order(pushed, args, order - 1, modes, atol, rtol, eps, here)
        else:
            check_vjp(f, functools.partial(vjp, f), args, atol, rtol, eps, f"({here})")
            if order > 1:
                cotangent = _directions(f(*args), 2)

                def pulled(*xs: Any, cotangent: Any = cotangent) -> Any:
                    return _inexact(vjp(f, *xs)[1](cotangent))

                _check_order(pulled, args, order - 1, modes, atol, rtol, eps, here)


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check a function like ``partial(nl.jvp, f)`` against finite differences of `f`.

    Args:
        f: function of arrays or pytrees of arrays.
        f_jvp: ``f_jvp(primals, tangents) -> (result, tangent)``.
        args: tuple of arguments at which to check.
        atol, rtol, eps: as in `check_grads`.
        err_msg: text in front of the message.

    Returns:
        None, if both agree.

    Raises:
        AssertionError: result or tangent differs.

    Example:
        >>> import functools
        >>> import numlift as nl
        >>> from numlift.test_util import check_jvp
        >>> check_jvp(nl.numpy.sin, functools.partial(nl.jvp, nl.numpy.sin), (0.5,))
    """
    args = tuple(args)
    tangents = _directions(args, 3)
    result, tangent = f_jvp(args, tangents)
    _same(result, f(*args), atol, rtol, f"{err_msg} value of jvp")
    _same(tangent, _difference(f, args, tangents, eps), atol, rtol, f"{err_msg} jvp")


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check a function like ``partial(nl.vjp, f)`` against finite differences of `f`.

    Args:
        f: function of arrays or pytrees of arrays.
        f_vjp: ``f_vjp(*args) -> (result, pull_back)``.
        args: tuple of arguments at which to check.
        atol, rtol, eps: as in `check_grads`.
        err_msg: text in front of the message.

    Returns:
        None, if both agree: the cotangents are compared by their inner product with a random
        tangent.

    Raises:
        AssertionError: result or cotangents differ.

    Example:
        >>> import functools
        >>> import numlift as nl
        >>> from numlift.test_util import check_vjp
        >>> check_vjp(nl.numpy.sin, functools.partial(nl.vjp, nl.numpy.sin), (0.5,))
    """
    args = tuple(args)
    result, pull_back = f_vjp(*args)
    _same(result, f(*args), atol, rtol, f"{err_msg} value of vjp")
    tangents, cotangent = _directions(args, 4), _directions(result, 5)
    expected = _inner(cotangent, _difference(f, args, tangents, eps))
    pulled = pull_back(cotangent)
    wrong = explain_structure_mismatch(args, pulled, "args", "cotangents")
    if wrong is not None:
        raise AssertionError(f"{err_msg} vjp: cotangents must be structured like args: {wrong}")
    found = _inner(pulled, tangents)
    tolerance = max(_tolerance(x) for x in tree_flatten((args, result))[0] or [1.0])
    _close(found, expected, atol, rtol, tolerance, f"{err_msg} vjp (inner products)")


# ---- numbers -------------------------------------------------------------------------------------


def _host(x: Any) -> np.ndarray:
    """A leaf in double precision, where finite differences are formed."""
    found = np.asarray(x)
    if found.dtype == float0:
        return found
    kind = type_of(x).kind
    return found.astype(np.complex128 if kind == "c" else np.float64 if kind == "f" else int)


def _directions(tree: Any, seed: int) -> Any:
    """Random tangents of unit size: float0 for integers."""
    random = np.random.default_rng(seed)

    def one(x: Any) -> Any:
        t = type_of(x)
        if not t.inexact:
            return np.zeros(t.shape, float0)
        v = random.standard_normal(t.shape)
        if t.kind == "c":
            v = (v + 1j * random.standard_normal(t.shape)) / np.sqrt(2)
        return np.asarray(v).astype(t.dtype)

    return tree_map(one, tree)


def _inexact(tree: Any) -> list[Any]:
    """Leaves of a tangent that can be differentiated further."""
    return [x for x in tree_flatten(tree)[0] if getattr(x, "dtype", None) != float0]


def _step(leaves: Sequence[Any]) -> float:
    sizes = [_real_bytes(x) for x in leaves if type_of(x).inexact]
    return {2: 0.1, 4: 5e-3, 8: 1e-5}[min(sizes, default=4)]


def _real_bytes(x: Any) -> int:
    t = type_of(x)
    return max(2, t.dtype.itemsize // 2 if t.kind == "c" else t.dtype.itemsize)


def _difference(f: Callable[..., Any], args: Any, tangents: Any, eps: float | None) -> Any:
    """The central difference of `f` along `tangents`."""
    leaves, tree = tree_flatten(args)
    directions = tree_flatten(tangents)[0]
    h = _step(leaves) if eps is None else eps

    def at(step: float) -> Any:
        moved = [
            x
            if d.dtype == float0
            else np.asarray(_host(x) + step * _host(d)).astype(type_of(x).dtype)
            for x, d in zip(leaves, directions, strict=True)
        ]
        return f(*tree_unflatten(tree, moved))

    def slope(above: Any, below: Any) -> Any:
        t = type_of(above)
        if not t.inexact:
            return np.zeros(t.shape, float0)
        return (_host(above) - _host(below)) / (2 * h)

    return tree_map(slope, at(h), at(-h))


def _inner(cotangents: Any, tangents: Any) -> float:
    """Re sum(c * v) over all leaves."""
    total = 0.0
    for c, v in zip(tree_flatten(cotangents)[0], tree_flatten(tangents)[0], strict=True):
        if getattr(v, "dtype", None) != float0 and getattr(c, "dtype", None) != float0:
            total += float(np.sum(_host(c) * _host(v)).real)
    return total


def _tolerance(x: Any) -> float:
    if getattr(x, "dtype", None) == float0 or not type_of(x).inexact:
        return 0.0
    return _TOLERANCES[_real_bytes(x)]


def _same(found: Any, expected: Any, atol: float | None, rtol: float | None, what: str) -> None:
    leaves, tree = tree_flatten(found)
    others, other_tree = tree_flatten(expected)
    if tree != other_tree:
        raise AssertionError(f"{what}: structure {tree}, expected {other_tree}")
    for x, y in zip(leaves, others, strict=True):
        if getattr(x, "dtype", None) == float0:
            if getattr(y, "dtype", None) != float0:
                raise AssertionError(f"{what}: zero of an integer, expected {y}")
            continue
        _close(_host(x), _host(y), atol, rtol, _tolerance(x), what)


def _close(
    found: Any,
    expected: Any,
    atol: float | None,
    rtol: float | None,
    tolerance: float,
    what: str,
) -> None:
    np.testing.assert_allclose(
        found,
        expected,
        atol=tolerance if atol is None else atol,
        rtol=tolerance if rtol is None else rtol,
        err_msg=what.strip(),
    )
