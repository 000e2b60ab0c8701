"""Taylor mode: derivatives of high order along a curve, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..api.autodiff import as_operand, check_callable
from ..api.door import door
from ..api.leaks import leak_checked
from ..api.tracing import check_argument, flatten_output, name_of
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..ops.taylor import jet_flat
from ..structural.arith import convert
from ..transforms.jvp import instantiate, tangent_type
from ..tree import tree_flatten, tree_unflatten


@door
def jet(
    fun: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]
) -> tuple[Any, Any]:
    """Value of `fun` and its derivatives of all orders along a curve.

    For a curve x(t) with x(0) = primals and k-th derivatives series[k - 1] at t = 0, the k-th
    derivatives of ``fun(x(t))`` at t = 0. The cost grows polynomially with the order, while nested
    `jvp` doubles it at each. Loops and branches stay loops and branches: their terms travel along.

    Args:
        fun: function of float or complex arrays, or pytrees of them.
        primals: tuple of arguments.
        series: for each argument, its derivatives 1 to n: n arrays, or n trees like the argument.

    Returns:
        (result, derivatives): the latter is the tree of the result with a list of n arrays at each
        leaf; zeros for integer results.

    Raises:
        ArgumentError: series of different lengths, structures, shapes or dtypes.
        GradError: an argument is an integer, or an operation has no derivative rule.

    Every operation that has a derivative rule is supported: its terms come from that rule. Where a
    derivative is defined by convention (see edge points), higher ones follow from that rule, as
    they do with nested `jvp`. Trees as arguments are an addition to JAX's `jet`.

    Example:
        >>> import numlift.numpy as np
        >>> from numlift.experimental.jet import jet
        >>> y, (first, second, third) = jet(np.exp, (0.0,), ((1.0, 0.0, 0.0),))
        >>> print(y, first, second, third)
        1.0 1.0 1.0 1.0
    """
    check_callable(fun, "jet")
    name = name_of(fun)
    _check_sequences(primals, series, name)
    primals, series = tuple(primals), tuple(tuple(s) for s in series)
    order = _order(primals, series, name)
    leaves, tree = tree_flatten(primals)
    for x in leaves:
        check_argument(x, lambda: "an argument", f"jet({name})")
    values = [as_operand(x) for x in leaves]
    terms: list[list[Any]] = [[] for _ in values]
    for k in range(order):
        given, given_tree = tree_flatten(tuple(s[k] for s in series))
        if given_tree != tree:
            raise errors.ArgumentError(
                errors.explain(
                    f"jet({name})",
                    f"derivatives of order {k + 1} must have the structure of the primals",
                    {"primals": tree, "series": given_tree},
                )
            )
        for x, d, found in zip(values, given, terms, strict=True):
            found.append(_term(type_of(x), d, name))
    return _run(fun, tree, values, terms, order)


@leak_checked
def _run(
    fun: Callable[..., Any], tree: Any, values: list[Any], terms: list[list[Any]], order: int
) -> tuple[Any, Any]:
    out_tree: list[Any] = []

    def flat(*xs: Any) -> Sequence[Any]:
        outs, found = flatten_output(fun(*tree_unflatten(tree, xs)), name_of(fun), "jet")
        out_tree.append(found)
        return outs

    outs, derivatives = jet_flat(flat, values, terms, order)
    result = tree_unflatten(out_tree[0], [as_operand(x) for x in outs])
    rows = [
        [as_operand(instantiate(d, tangent_type(type_of(x)))) for d in row]
        for x, row in zip(outs, derivatives, strict=True)
    ]
    return result, tree_unflatten(out_tree[0], rows)


def _check_sequences(primals: Any, series: Any, name: str) -> None:
    inner = series if isinstance(series, (tuple, list)) else ()
    if not all(isinstance(s, (tuple, list)) for s in (primals, series, *inner)):
        raise errors.ArgumentError(
            errors.explain(
                f"jet({name})",
                "primals must be a tuple of arguments, and series a tuple with the sequence of "
                "derivatives of each",
                {"primals": type(primals).__name__, "series": type(series).__name__},
                try_="jet(f, (x,), ((dx, ddx),))",
            )
        )


def _order(primals: tuple[Any, ...], series: tuple[Any, ...], name: str) -> int:
    lengths = {len(s) for s in series}
    if len(primals) != len(series) or len(lengths) > 1:
        raise errors.ArgumentError(
            errors.explain(
                f"jet({name})",
                "series must hold one sequence an argument, all of one length",
                {"primals": len(primals), "lengths of series": [len(s) for s in series]},
                try_="jet(f, (x, y), ((dx, ddx), (dy, ddy)))",
            )
        )
    return lengths.pop() if lengths else 0


def _term(t: ArrayType, d: Any, name: str) -> Any:
    """One derivative of an argument, checked."""
    if not t.inexact:
        raise errors.GradError(
            errors.explain(
                f"jet({name})",
                f"arguments must be float or complex, but one is {t.dtype}",
                {"primal": t},
                try_="close over arguments that are not on the curve",
            )
        )
    d = as_operand(d)
    u = type_of(d)
    if u.shape != t.shape or (u.dtype != t.dtype and not u.weak_type):
        raise errors.ArgumentError(
            errors.explain(
                f"jet({name})",
                "derivatives must have the shape and dtype of their primal",
                {"primal": t, "derivative": u},
            )
        )
    return d if u.dtype == t.dtype else convert(d, t.dtype)


__all__ = ["jet"]


def __dir__() -> list[str]:
    return sorted(__all__)
