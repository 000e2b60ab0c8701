"""What a jitted function cost so far, and why it was traced again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import config, errors
from ..core.types import ArrayType
from ..tree import keystr, tree_flatten_with_path
from .program import Program
from .signature import Statics, parameter_names

_REMEMBERED = 16
_RETRACES_BEFORE_WARNING = 3


class RetraceWarning(UserWarning):
    """A jitted function was traced again and again for arguments of new types or static values."""


class Stats(NamedTuple):
    """Costs of one jitted function since it was made. Calls that find their program are not
    counted: they take the fast path, which does nothing else.

    Attributes:
        traces: how often the Python function ran to be traced.
        compiles: programs that XLA compiled.
        memory_hits: programs found among those in memory (another trace had the same StableHLO).
        disk_hits: programs loaded from the cache on disk.
        trace_seconds, lower_seconds, compile_seconds: time in these stages; nested functions
            count for their caller too. Loading from disk counts as compiling.
        programs: programs that the function holds now.
        program_bytes: their size as serialised machine code.
    """

    traces: int
    compiles: int
    memory_hits: int
    disk_hits: int
    trace_seconds: float
    lower_seconds: float
    compile_seconds: float
    programs: int
    program_bytes: int


class RefType(NamedTuple):
    """The type of an argument that is a ref."""

    type: ArrayType

    def __repr__(self) -> str:
        return f"Ref{{{self.type!r}}}"


class Call(NamedTuple):
    """What a trace depends on."""

    statics: tuple[Any, ...]
    tree: Any
    types: Sequence[ArrayType | RefType]
    state: config.State
    axes: dict[Any, int]


class Record:
    """Counters of one jitted function, and the calls that it was traced for."""

    def __init__(self, name: str, fun: Callable[..., Any], statics: Statics):
        self.name, self.fun, self.statics = name, fun, statics
        self.calls: list[Call] = []
        self.traces = self.kept_traces = 0
        self.origins = {"compiler": 0, "memory": 0, "disk": 0}
        self.trace_seconds = self.lower_seconds = self.compile_seconds = 0.0
        self.warned = False

    def traced(self, seconds: float) -> None:
        """Count a trace."""
        self.traces += 1
        self.trace_seconds += seconds

    def compiled(self, program: Program) -> None:
        """Count a program."""
        self.origins[program.origin] += 1
        self.lower_seconds += program.lower_seconds
        self.compile_seconds += program.compile_seconds

    def stats(self, programs: Sequence[Program]) -> Stats:
        """The counters, with the sizes of the programs that are held."""
        executables = {id(p.executable): p.executable for p in programs}
        return Stats(
            self.traces,
            self.origins["compiler"],
            self.origins["memory"],
            self.origins["disk"],
            self.trace_seconds,
            self.lower_seconds,
            self.compile_seconds,
            len(executables),
            sum(e.size_in_bytes() for e in executables.values()),
        )

    def explain(self, call: Call) -> None:
        """Remember a call that was traced; warn if there were too many.

        The third retrace warns, once; with the flag `explain_cache_misses` every retrace does.
        """
        self.kept_traces += 1
        known, retraces = list(self.calls), self.kept_traces - 1
        self.calls = [*self.calls[1 - _REMEMBERED :], call]
        always = config.watch().explain_cache_misses
        due = retraces == _RETRACES_BEFORE_WARNING and not self.warned
        if known and (always or due):
            self.warned = self.warned or due
            changes = min((list(self.differences(old, call)) for old in reversed(known)), key=len)
            warnings.warn(
                errors.explain(
                    f"jit({self.name})",
                    f"traced {self.kept_traces} times; it must be traced and compiled for each "
                    "new combination of types, structures, static values and flags",
                    dict(changes),
                    try_=_advice(changes),
                ),
                RetraceWarning,
                stacklevel=errors.user_depth(),
            )

    def differences(self, old: Call, new: Call) -> Iterator[tuple[str, str]]:
        """(what, "before -> now") for everything that makes two calls different."""
        yield from self._static_differences(dict(old.statics), dict(new.statics))
        if old.tree is not new.tree and old.tree != new.tree:
            yield "structure", f"{old.tree} -> {new.tree}"
        before, now = self._typed(old), self._typed(new)
        for where in {**before, **now}:
            a, b = before.get(where), now.get(where)
            if a != b:
                yield where, f"{a or '(absent)'} -> {b or '(absent)'}"
        if old.state is not new.state:
            values = new.state.values()
            for name, a in old.state.values().items():
                if a is not values[name] and a != values[name]:
                    yield f"flag {name}", f"{a!r} -> {values[name]!r}"
        if old.axes != new.axes:
            yield "named axes", f"{old.axes} -> {new.axes}"

    def _static_differences(self, before: Any, now: Any) -> Iterator[tuple[str, str]]:
        names = parameter_names(self.fun)
        for place in {**before, **now}:
            name = place
            if isinstance(place, int):
                name = names[place] if place < len(names) else f"argument {place}"
            a, b = (_text(side[place]) if place in side else "(absent)" for side in (before, now))
            same = place in before and place in now and before[place] == now[place]
            if same and type(before[place]) is type(now[place]):
                continue
            if a == b:
                b += " (another object, not equal to the one before)"
            yield f"static {name}", f"{a} -> {b}"

    def _typed(self, call: Call) -> dict[str, str]:
        """Type of each argument leaf by its path, such as ``params['w']``."""
        names = parameter_names(self.fun)
        fixed = {place for place, _ in call.statics}
        free = [i for i in range(len(names) + len(fixed)) if i not in fixed]
        found = {}
        tree = call.tree.unflatten(range(call.tree.num_leaves))
        for path, leaf in tree_flatten_with_path(tree)[0]:
            kind, place, *rest = path
            first = keystr((place,), simple=True)
            if keystr((kind,), simple=True) == "0":
                i = int(first)
                i = free[i] if i < len(free) else i + len(fixed)
                first = names[i] if i < len(names) else f"argument {i}"
            found[first + keystr(tuple(rest))] = f"{call.types[leaf]!r}"
        return found


def _text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _advice(changes: Sequence[tuple[str, str]]) -> str:
    what = [name for name, _ in changes]
    if any(name.startswith("static ") for name in what):
        return (
            "pass values that change often as arrays, not as static arguments; define functions "
            "and objects that are passed as static arguments once, outside of the loop"
        )
    if any(name.startswith("flag ") for name in what):
        return "set flags once, before the first call"
    if "structure" in what:
        return "pass arguments in the same structure each time"
    return (
        "give arguments the same shape and dtype each time (pad to a few sizes; np.asarray for "
        "Python numbers that alternate with arrays), or see stats() of the function"
    )
