"""Checks inside compiled functions: a function also returns an error value.

>>> import numlift as nl
>>> import numlift.numpy as np
>>> from numlift.experimental import checkify
>>> @nl.jit
... def f(x):
...     checkify.check(x > 0, "x must be positive, not {}", x)
...     return np.log(x)
>>> err, y = checkify.checkify(f)(-1.0)
>>> err.get()
'x must be positive, not -1.0 (`check` failed)'
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors as _errors
from ..api.callbacks import is_array, operands
from ..api.debug_callbacks import check_format
from ..api.door import door
from ..api.refs import hide_refs, results
from ..api.refs import operands as closed_over
from ..api.tracing import argument_path, check_argument, name_of, trace_function
from ..core.tracing import Tracer, apply, type_of
from ..ops.call import call_of
from ..ops.checks import Check
from ..ops.compare import eq
from ..ops.reductions import ReduceAnd
from ..structural.arith import convert
from ..tree import register_pytree_node, tree_flatten, tree_unflatten
from .check_errors import (
    CheckError,
    DivisionByZeroError,
    EitherSite,
    FailedCheckError,
    FormatMessage,
    NaNError,
    OOBError,
    Site,
    first_error,
)
from .checked_graphs import checked_graph

JaxRuntimeError = CheckError
ErrorCategory = type[CheckError]

user_checks: frozenset[Any] = frozenset((FailedCheckError,))
nan_checks: frozenset[Any] = frozenset((NaNError,))
div_checks: frozenset[Any] = frozenset((DivisionByZeroError,))
index_checks: frozenset[Any] = frozenset((OOBError,))
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks


class Error:
    """What went wrong, as a value: a pytree that passes through transformations.

    `get` and `throw` tell of the first check that failed; after `vmap`, of each example.
    """

    __slots__ = ("_code", "_values", "_sites", "_counts")

    def __init__(
        self, code: Any, values: Sequence[Any], sites: tuple[Site, ...], counts: tuple[int, ...]
    ):
        self._code, self._values = code, tuple(values)
        self._sites, self._counts = sites, counts

    def get_exception(self) -> CheckError | None:
        """The exception for the check that failed, or None."""
        if isinstance(self._code, Tracer):
            raise _errors.ConcretizationTypeError(
                _errors.explain(
                    "checkify",
                    "the error value is being traced: it is not known yet whether a check failed",
                    try_="return it from the compiled function, or checkify.check_error(err)",
                )
            )
        return first_error(self._sites, self._counts, self._code, self._values)

    def get(self) -> str | None:
        """The message of the check that failed, or None."""
        found = self.get_exception()
        return None if found is None else str(found)

    def throw(self) -> None:
        """Raise if a check failed (inside a checkified function: check it there)."""
        check_error(self)

    def __repr__(self) -> str:
        if isinstance(self._code, Tracer):
            return f"Error({self._code!r})"
        return f"Error({self.get()!r})"


register_pytree_node(
    Error,
    lambda e: ((e._code, e._values), (e._sites, e._counts)),
    lambda aux, children: Error(*children, *aux),
)
init_error = Error(np.int32(0), (), (), ())


def checkify(
    f: Callable[..., Any], errors: frozenset[ErrorCategory] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """A function that returns (error value, result of `f`) instead of raising.

    The checks of `f` go through `jit`, `vmap`, `grad`, loops and branches, inside and outside. Wrap
    the result in `jit` to compile it once; without, it is traced at each call.

    Args:
        f: the function.
        errors: which checks to make: `user_checks` (those by `check`), `nan_checks`, `div_checks`,
            `index_checks`, `float_checks` (NaN and division), `automatic_checks`, `all_checks`, or
            a union of these. Index checks do not tell of indices for which the program itself says
            what happens (``mode="clip"``, ``"fill"``, ``"drop"``, ``"wrap"``), as JAX's do.

    Returns:
        A function of the arguments of `f`, returning (`Error`, result). Of several errors in a run
        the first is kept; what is computed after it is still there, and may be anything.

    Raises:
        ArgumentError: `f` is not callable, or `errors` is no set of checks.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> from numlift.experimental import checkify
        >>> f = checkify.checkify(lambda x, i: x[i], errors=checkify.index_checks)
        >>> err, y = nl.jit(f)(np.arange(3.0), 5)
        >>> print(err.get())
        out-of-bounds indexing for array of shape (3,): index 5 is out of bounds for axis 0 with ...
    """
    if not callable(f):
        raise _errors.ArgumentError(
            _errors.explain("checkify", "expected a function", {"f": f}, try_="checkify(f)(*args)")
        )
    if not all(isinstance(e, type) and issubclass(e, CheckError) for e in errors):
        raise _errors.ArgumentError(
            _errors.explain(
                "checkify",
                "errors must be a set of checks",
                {"errors": errors},
                try_="errors=checkify.float_checks | checkify.index_checks",
            )
        )
    categories = frozenset(errors)
    name = name_of(f)

    @door
    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        leaves, tree = tree_flatten((args, kwargs))
        function, tree, leaves = hide_refs(f, tree, leaves)
        for x in leaves:
            check_argument(x, lambda x=x: argument_path(args, kwargs, x), f"checkify({name})")
        values = operands(leaves)
        types = [type_of(x) for x in values]
        traced = trace_function(function, tree, types, label="checkify", refs=())
        inner = checked_graph(traced.graph, categories)
        found = apply(call_of(inner.graph), *closed_over(traced), *values)
        outs, error = inner.split(found, len(traced.graph.outputs))
        result = tree_unflatten(traced.out_tree, results(traced, outs))
        return Error(error[0], error[1:], inner.sites, inner.counts), result

    return checked


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check that `pred` is true; `checkify` turns it into an error value.

    Called with concrete values, it raises at once.

    Args:
        pred: bool scalar.
        msg: format string of the message.
        debug: only checked by `checkify`; otherwise nothing happens (see `debug_check`).
        *fmt_args, **fmt_kwargs: its arguments, arrays or anything else.

    Returns:
        None.

    Raises:
        FailedCheckError: `pred` is known and false.
        ArgumentError: `pred` is no bool scalar, or `msg` is no text.

    Example:
        >>> from numlift.experimental.checkify import check
        >>> check(2 > 1, "never shown {}", 3)
    """
    _check("checkify.check", pred, msg, debug, fmt_args, fmt_kwargs)


def _check(
    function: str, pred: Any, msg: Any, debug: bool, fmt_args: tuple[Any, ...], fmt_kwargs: Any
) -> None:
    t = type_of(pred)
    if t.shape or t.kind != "b":
        raise _errors.ArgumentError(
            _errors.explain(
                function,
                "pred must be a bool scalar",
                {"pred": t},
                try_="np.all(pred)" if t.shape else "pred != 0",
            )
        )
    if not isinstance(msg, str):
        raise _errors.ArgumentError(
            _errors.explain(
                function,
                "msg must be a format string",
                {"msg": msg},
                try_='check(pred, "x must be positive, got {}", x)',
            )
        )
    check_format(function, msg, fmt_args, fmt_kwargs, unused=True)
    leaves, tree = tree_flatten((fmt_args, fmt_kwargs))
    fixed = {i: x for i, x in enumerate(leaves) if not is_array(x)}
    values = operands([x for i, x in enumerate(leaves) if i not in fixed])
    apply(Check(FormatMessage(msg, tree, fixed), debug), *operands([pred]), *values)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """A check that only `checkify` sees; otherwise nothing happens.

    Args:
        pred: bool scalar.
        msg: format string of the message.
        *fmt_args, **fmt_kwargs: its arguments, arrays or anything else.

    Returns:
        None.

    Raises:
        ArgumentError: `pred` is no bool scalar, or `msg` is no text.

    Example:
        >>> from numlift.experimental.checkify import debug_check
        >>> debug_check(False, "not checked")
    """
    _check("checkify.debug_check", pred, msg, True, fmt_args, fmt_kwargs)


def check_error(error: Error) -> None:
    """Raise the error if there is one; inside a checkified function, make it its error.

    Args:
        error: an `Error` that a checkified function returned, also a traced or a batched one.

    Returns:
        None.

    Raises:
        CheckError: the error, of its own class, if there is one.
        ArgumentError: not an `Error`.

    Example:
        >>> from numlift.experimental.checkify import check_error, init_error
        >>> check_error(init_error)
    """
    if not isinstance(error, Error):
        raise _errors.ArgumentError(
            _errors.explain("checkify.check_error", "expected an Error", {"error": error})
        )
    concrete = not any(isinstance(x, Tracer) for x in (error._code, *error._values))
    if concrete:
        found = error.get_exception()
        if found is not None:
            raise found
        return
    code = convert(error._code, np.int32)
    fine = apply(eq, code, np.int32(0))
    n = type_of(fine).ndim
    if n:
        fine = apply(ReduceAnd.of(tuple(range(n))), fine)
    apply(Check(EitherSite(error._sites, error._counts)), fine, code, *error._values)


__all__ = [
    "CheckError",
    "DivisionByZeroError",
    "Error",
    "ErrorCategory",
    "FailedCheckError",
    "JaxRuntimeError",
    "NaNError",
    "OOBError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]


def __dir__() -> list[str]:
    return sorted(__all__)
