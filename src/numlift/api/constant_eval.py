"""Evaluation during a trace: values that do not depend on traced arguments."""

from __future__ import annotations

from ..core.tracing import EVAL, interpreting


class ensure_compile_time_eval(interpreting):
    """Scope in which operations on known values run at once, also while a function is traced.

    Without it, every operation inside of `jit` becomes part of the program, and its result is not
    known while tracing. Traced values cannot be used inside the scope.

    Raises:
        UnexpectedTracerError: a traced value was used in the scope.

    Example:
        >>> import numlift as nl
        >>> @nl.jit
        ... def f(x):
        ...     with nl.ensure_compile_time_eval():
        ...         n = int(nl.numpy.sqrt(16.0))
        ...     return x * n
        >>> print(f(2.0))
        8.0
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(EVAL)
