"""Static arguments: which arguments of a call are compile-time constants."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex

from .. import errors
from ..core.exact import exact


def parameter_names(fun: Any) -> list[str]:
    """Names of the positional parameters; empty if the signature is not known."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in positional]


class Statics:
    """Positions and names of static arguments of one function."""

    __slots__ = ("nums", "names", "function", "negative")

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: int | Sequence[int] | None,
        argnames: str | Sequence[str] | None,
        transformation: str = "jit",
    ):
        nums = _sequence(argnums, SupportsIndex, "static_argnums", "ints", transformation)
        names = _sequence(argnames, str, "static_argnames", "names", transformation)
        known = parameter_names(fun)
        self.function = f"{transformation}({getattr(fun, '__name__', type(fun).__name__)})"
        self._check(fun, nums, names, known)
        by_position = {n % len(known) if n < 0 and known else n for n in nums}
        if argnums is None:
            by_position |= {known.index(n) for n in names if n in known}
        by_name = set(names)
        if argnames is None or argnums is None:
            by_name |= {known[i] for i in by_position if i < len(known)}
        self.nums, self.names = tuple(sorted(by_position)), frozenset(by_name)

    def _check(
        self, fun: Any, nums: tuple[int, ...], names: tuple[str, ...], known: list[str]
    ) -> None:
        try:
            parameters = inspect.signature(fun).parameters
        except (TypeError, ValueError):
            return
        kinds = [p.kind for p in parameters.values()]
        has_args = inspect.Parameter.VAR_POSITIONAL in kinds
        has_kwargs = inspect.Parameter.VAR_KEYWORD in kinds
        for n in nums:
            if not has_args and not -len(known) <= n < len(known):
                raise errors.ValueArgumentError(
                    errors.explain(
                        self.function,
                        f"static_argnums={n} is out of range: the function has {len(known)} "
                        "positional parameters",
                        {"parameters": known},
                    )
                )
        for name in names:
            if not has_kwargs and name not in parameters:
                raise errors.ValueArgumentError(
                    errors.explain(
                        self.function,
                        f"static_argnames={name!r} is not a parameter of the function",
                        {"parameters": list(parameters)},
                    )
                )

    def __bool__(self) -> bool:
        return bool(self.nums or self.names)

    def split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
        """Static values (with their places), and the other arguments."""
        nums, names, found = self.nums, self.names, []
        if nums and args and nums[0] < len(args):
            found = [(i, args[i]) for i in nums if i < len(args)]
            args = tuple([x for i, x in enumerate(args) if i not in nums])
        if kwargs and not names.isdisjoint(kwargs):
            found += [(name, kwargs[name]) for name in sorted(kwargs) if name in names]
            kwargs = {name: kwargs[name] for name in sorted(kwargs) if name not in names}
        return tuple(found), args, kwargs

    def keyed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Sequence[Any], dict[str, Any]]:
        """What `key` gives for the static values (perhaps without a hash), and the other arguments.

        For dispatch, which needs the values themselves only where it traces.
        """
        nums, names = self.nums, self.names
        key: list[Any] = []
        rest: Sequence[Any] = args
        if nums and nums[0] < len(args):
            rest = []
            for i, x in enumerate(args):
                if i in nums:
                    key.append((i, exact(x)))
                else:
                    rest.append(x)
        if kwargs and not names.isdisjoint(kwargs):
            named = {}
            for name in sorted(kwargs) if len(kwargs) > 1 else kwargs:
                if name in names:
                    key.append((name, exact(kwargs[name])))
                else:
                    named[name] = kwargs[name]
            kwargs = named
        return tuple(key) or None, rest, kwargs

    def key(self, statics: tuple[Any, ...]) -> Any:
        """Hashable key of static values; different values and types differ (1, 1.0, True)."""
        if not statics:
            return None
        key = tuple([(place, exact(value)) for place, value in statics])
        try:
            hash(key)
        except TypeError:
            for place, value in statics:
                try:
                    hash(value)
                except TypeError:
                    where = f"argument {place}" if isinstance(place, int) else f"argument {place!r}"
                    raise errors.ValueArgumentError(
                        errors.explain(
                            self.function,
                            f"static {where} must be hashable, but its type is "
                            f"{type(value).__name__}",
                            {"value": repr(value)[:80]},
                            try_="do not mark it static: arrays are traced"
                            if hasattr(value, "dtype")
                            else "pass a tuple instead of a list, or do not mark it static",
                        )
                    ) from None
            raise
        return key

    def bind(self, fun: Callable[..., Any], statics: tuple[Any, ...]) -> Callable[..., Any]:
        """`fun` with the static values filled in."""
        if not statics:
            return fun
        fixed = {place: value for place, value in statics if isinstance(place, int)}
        named = {place: value for place, value in statics if isinstance(place, str)}

        @functools.wraps(fun)
        def bound(*args: Any, **kwargs: Any) -> Any:
            rest = iter(args)
            total = len(args) + len(fixed)
            full = [fixed[i] if i in fixed else next(rest) for i in range(total)]
            return fun(*full, **kwargs, **named)

        return bound

    def dynamic_positions(self, argnums: Sequence[int]) -> list[int]:
        """Positions among the arguments that are not static."""
        return [n - sum(i < n for i in self.nums) for n in argnums if n not in self.nums]


def _sequence(
    given: Any, kind: type, option: str, what: str, transformation: str
) -> tuple[Any, ...]:
    """One value or several as a tuple."""
    if given is None:
        return ()
    values: Any = (given,) if isinstance(given, (str, SupportsIndex)) else given
    if not isinstance(values, Iterable) or not all(isinstance(x, kind) for x in values):
        raise errors.ArgumentError(
            errors.explain(
                transformation,
                f"{option} takes {what}",
                {option: repr(given)},
                try_="static_argnames for names, static_argnums for positions",
            )
        )
    return tuple(operator.index(x) if kind is SupportsIndex else x for x in values)
