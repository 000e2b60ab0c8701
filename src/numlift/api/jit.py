"""`jit`: trace once, compile with XLA, dispatch from then on."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..runtime.devices import devices
from ..runtime.transfer import to_sharding
from .dispatch import Jitted, make_jitted
from .signature import Statics, parameter_names
from .stages import attach_stages
from .tracing import check_callable, name_of

_rewrite: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = []
"""What `autostage=True` does to a function; entered by the package `autostage`, which stands on
`lax` and so above this one."""


def set_autostage(rewrite: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Install the rewriting of Python control flow."""
    _rewrite[:] = [rewrite]


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    autostage: bool = False,
    compiler_options: Mapping[str, Any] | None = None,
) -> Any:
    """Compile a function with XLA; each combination of argument types is compiled once.

    The function runs as Python only while it is traced: once for each structure, shapes and dtypes
    of its arguments, values of static arguments, and flags. It must be pure: a `print` inside runs
    once per trace.

    Args:
        fun: function over arrays, numbers and pytrees of them. Without it, `jit` returns a
            decorator.
        in_shardings, out_shardings: a sharding, a `PartitionSpec` (on the mesh of `set_mesh`) or
            None for each argument or result; a pytree prefix.
        static_argnums, static_argnames: arguments that are compile-time constants (hashable).
        donate_argnums, donate_argnames: arguments whose memory may be reused for results; they
            cannot be used afterwards.
        keep_unused: keep arguments that the function does not use.
        device, backend: where to run (a device, or a platform name).
        inline: write the function into the calling graph instead of a nested call.
        autostage: rewrite `if`, `while`, `for`, early `return`, `and`, `or`, `not` and conditional
            expressions of this function, so that they work on traced values. Conditions that are
            known stay plain Python. Functions of the user that it calls are rewritten too (plain
            functions, lambdas, methods, also decorated), those of libraries are not.
        compiler_options: XLA flags for this function.

    Returns:
        A function with the same signature and `lower`, `trace`, `eval_shape`, `stats`,
        `clear_cache`. `stats()` counts traces and compilations; the third retrace gives a
        `RetraceWarning` that says which argument changed and how.

    Raises:
        ArgumentError: an argument or result that is not an array; a static value without hash.
        DonationError: donated arguments that do not exist or are static.
        AutostageError: `autostage` is not possible; the message names the line.

    Example:
        >>> import numlift as nl
        >>> @nl.jit
        ... def f(x):
        ...     return x * x + 1
        >>> print(f(3.0))
        10.0
        >>> @nl.jit(autostage=True)
        ... def steps(n):
        ...     count = 0
        ...     while n != 1:
        ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
        ...         count += 1
        ...     return count
        >>> print(steps(6))
        8
    """
    if fun is None:
        return functools.partial(
            jit,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            keep_unused=keep_unused,
            device=device,
            backend=backend,
            inline=inline,
            autostage=autostage,
            compiler_options=compiler_options,
        )
    check_callable(fun, "jit")
    if inspect.iscoroutinefunction(fun) or inspect.isgeneratorfunction(fun):
        raise errors.ArgumentError(
            errors.explain("jit", f"{name_of(fun)} is a coroutine or generator function")
        )
    if autostage:
        if not _rewrite:
            importlib.import_module("numlift.autostage")  # enters itself by set_autostage
        fun = _rewrite[0](fun)
    in_shardings = _placed(in_shardings, device, backend)
    statics = Statics(fun, static_argnums, static_argnames)
    options = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "donate_argnums": _integers(donate_argnums),
        "donate_argnames": _strings(donate_argnames),
        "keep_unused": keep_unused,
        "inline": inline,
        "compiler_options": compiler_options,
    }
    _complete_donation(fun, statics, options)
    info = Jitted(fun, statics, options)
    made = make_jitted(info)
    return attach_stages(made, info)


def _placed(in_shardings: Any, device: Any, backend: str | None) -> Any:
    """in_shardings, or where `device` or `backend` puts the arguments."""
    if device is not None and backend is not None:
        raise errors.ValueArgumentError(
            errors.explain("jit", "give device or backend, not both", try_="jit(f, device=device)")
        )
    if in_shardings is not None or (device is None and backend is None):
        return in_shardings
    return to_sharding(device if device is not None else devices(backend)[0], "jit")


def _integers(x: Any) -> tuple[int, ...]:
    if x is None:
        return ()
    return (int(x),) if isinstance(x, int) else tuple(int(i) for i in x)


def _strings(x: Any) -> tuple[str, ...]:
    if x is None:
        return ()
    return (x,) if isinstance(x, str) else tuple(x)


def _complete_donation(fun: Any, statics: Statics, options: dict[str, Any]) -> None:
    """Donation by name and by position mean the same parameters.

    Raises:
        DonationError: no such parameter, or a static one.
    """
    names = parameter_names(fun)
    nums = set(options["donate_argnums"])
    _check_donation(fun, names, nums, options["donate_argnames"])
    nums |= {names.index(n) for n in options["donate_argnames"] if n in names}
    n = len(names)
    options["donate_argnums"] = tuple(sorted(i % n if i < 0 and n else i for i in nums))
    more = {names[i] for i in options["donate_argnums"] if i < n}
    options["donate_argnames"] = tuple({*options["donate_argnames"], *more})
    fixed = {names[i] if i < n else f"argument {i}" for i in statics.nums} | statics.names
    both = fixed & {*options["donate_argnames"], *(f"argument {i}" for i in nums)}
    if both:
        raise errors.DonationError(
            errors.explain(
                f"jit({name_of(fun)})",
                "static arguments have no memory that could be donated",
                {"static and donated": ", ".join(sorted(both))},
                try_="remove them from donate_argnums or from static_argnums",
            )
        )


def _check_donation(fun: Any, names: list[str], nums: set[int], chosen: tuple[str, ...]) -> None:
    try:
        parameters = inspect.signature(fun).parameters
    except (TypeError, ValueError):
        return
    kinds = {p.kind for p in parameters.values()}
    wrong: list[Any] = []
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        wrong += [i for i in sorted(nums) if not -len(names) <= i < len(names)]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        wrong += [name for name in chosen if name not in parameters]
    if wrong:
        raise errors.DonationError(
            errors.explain(
                f"jit({name_of(fun)})",
                f"cannot donate {', '.join(map(repr, wrong))}: the function has no such parameter",
                {"parameters": list(parameters)},
            )
        )
