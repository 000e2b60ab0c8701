"""`lift`: a function over NumPy arrays that runs compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.jit import jit
from ..api.tracing import check_callable
from ..autostage import autostage as with_control_flow
from ..config import replace
from ..core.tracing import Value
from ..runtime.array import Array
from ..tree import tree_leaves, tree_map
from .relink import relink
from .writable import Writable, wrap


def lift(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    autostage: bool = False,
    x64: bool = True,
) -> Callable[..., Any]:
    """Compile a function that is written with NumPy: NumPy arrays in, NumPy arrays out.

    The function keeps its ``import numpy as np``. Every call of NumPy in it that can be traced is
    traced, and one compiled program runs for each set of shapes and dtypes. It composes with
    transformations on both sides: ``lift(grad(f))`` takes and returns NumPy arrays, and
    ``grad(lift(f))`` works on Numlift arrays.

    The function may write into arrays that it makes: ``a = np.zeros(3); a[0] = x.sum()``, also
    through views, with ``a[mask] += 1``, ``out=`` and functions such as `np.fill_diagonal`. Writing
    into an argument is an error: make a copy and return it. This holds for the function, and for
    the functions, modules and classes of yours that it reaches; not for libraries, where calls of
    NumPy still work but `np.asarray(x)` and writing do not.

    Args:
        fun: function of pytrees of NumPy arrays and numbers without side effects.
        static_argnums, static_argnames: arguments that shapes or Python code depend on.
        autostage: also rewrite `if`, `while` and `for` on values, as `jit(autostage=True)` does.
        x64: compute in the dtypes of the arguments (float64 stays float64), whatever the global
            setting is. False takes the setting: float64 becomes float32 unless x64 is enabled.

    Returns:
        A function with the same signature. Results are new NumPy arrays that may be written into;
        results of rank 0 are NumPy scalars. Called with Numlift arrays (or traced values) it
        returns these.

    Raises:
        TracerArrayConversionError: a NumPy call that cannot be traced; the message names it.
        ValueArgumentError: writing into an argument, or through a view that cannot be followed.
        NonConcreteBooleanIndexError: a use of ``a[mask]`` that needs the number of elements.

    Example:
        >>> import numpy as np
        >>> import numlift as nl
        >>> @nl.lift
        ... def energy(x):
        ...     x = np.asarray(x)
        ...     return np.sum(np.sin(x) ** 2) / np.linalg.norm(x)
        >>> energy(np.array([1.0, 2.0, 2.0])).round(6)
        np.float64(0.787239)
        >>> nl.lift(nl.grad(lambda x: np.prod(x)))(np.array([1.0, 2.0, 4.0]))
        array([8., 4., 2.])
        >>> @nl.lift
        ... def powers(x):
        ...     a = np.ones(4)
        ...     for i in range(1, 4):
        ...         a[i] = a[i - 1] * x
        ...     return a
        >>> powers(3.0)
        array([ 1.,  3.,  9., 27.])
    """
    if fun is None:
        return functools.partial(
            lift,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            autostage=autostage,
            x64=x64,
        )
    check_callable(fun, "lift")
    written = with_control_flow(fun) if autostage else fun

    @functools.wraps(written)
    def traced(*args: Any, **kwargs: Any) -> Any:
        try:
            return relink(written)(*args, **kwargs)
        except ValueError as error:
            if _STORED not in str(error) or isinstance(error, errors.NumliftError):
                raise
            raise _not_writable(error) from error

    rules = _IN_64_BITS if x64 else _AS_NUMPY
    compiled = jit(traced, static_argnums=static_argnums, static_argnames=static_argnames)

    @functools.wraps(written)
    def lifted(*args: Any, **kwargs: Any) -> Any:
        kinds = set(map(type, tree_leaves((args, kwargs))))
        if Writable in kinds:  # called by lifted code, which may write into results
            return tree_map(wrap, compiled(*args, **kwargs))
        if any(issubclass(kind, Value) for kind in kinds):
            return compiled(*args, **kwargs)
        with rules:
            return tree_map(_to_numpy, compiled(*args, **kwargs))

    return lifted


_STORED = "setting an array element with a sequence"


def _not_writable(error: ValueError) -> errors.ValueArgumentError:
    """The error for a traced value that was written into an array of NumPy's own."""
    place, line = error.__traceback__, None
    while place is not None:
        code = place.tb_frame.f_code
        if not errors.is_internal(code):
            line = errors.source_line(code.co_filename, place.tb_lineno)
        place = place.tb_next
    return errors.ValueArgumentError(
        errors.explain(
            "lift",
            "a traced value was written into a NumPy array that the lifted function did not make: "
            "an element of a list or dict from outside, or the result of a library",
            line=line,
            try_="a = np.array(a) inside of the function, write into that, and return it",
        )
    )


_AS_NUMPY = replace(numpy_dtype_promotion="numpy")
_IN_64_BITS = replace(numpy_dtype_promotion="numpy", enable_x64=True)


def _to_numpy(x: Any) -> Any:
    """A result as NumPy gives it: an array of its own, or a scalar."""
    if not isinstance(x, Array):
        return x
    return np.array(x) if x.ndim else np.asarray(x)[()]


__all__ = ["lift"]
