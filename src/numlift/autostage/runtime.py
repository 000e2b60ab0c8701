"""What rewritten functions call: plain Python where conditions are known, staged code elsewhere."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import Value, apply, current, type_of
from ..lax.branches import cond
from ..ops.elementwise_binary import and_, not_, or_
from ..structural.arith import convert
from ..structural.shape import reshape
from ..tree import tree_unflatten
from . import loops
from .bodies import Body, traced_body
from .called import staged
from .iteration import Rows, TracedRange, iterable
from .jumps import DONE, FLAGS
from .values import (
    UNSET,
    Merged,
    Outcome,
    Shared,
    Undefined,
    is_traced,
    joined,
    lifted,
    merge,
    pick,
)

__all__ = ["UNSET", "Frame", "Undefined"]

_open: ContextVar[tuple[Frame, ...]] = ContextVar("numlift_open_branches", default=())
_DEEPEST = 12
"""How often a function may be inside of its own traced branches."""
_STAGED_BUILTINS: dict[Any, str] = {any: "any_", all: "all_", max: "max_", min: "min_"}
_CONTAINERS = (list, dict, set, bytearray, deque, np.ndarray)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "in": lambda a, b: a in b,
    "not_in": lambda a, b: a not in b,
}
Get = Callable[[], tuple[Any, ...]]
Set = Callable[[Sequence[Any]], None]


class Frame:
    """One call of a rewritten function."""

    def __init__(self, file: str, name: str):
        self.file, self.name = file, name
        self.inside: list[str] = []

    def place(self, line: int) -> str:
        """``file:line: source`` of a line of the user's function."""
        return errors.source_line(self.file, line)

    def error(self, rule: str, line: int, try_: str | None = None) -> errors.AutostageError:
        """The error of this function at a line."""
        text = errors.explain(f"autostage({self.name})", rule, line=self.place(line), try_=try_)
        return errors.AutostageError(text)

    def line_here(self) -> int:
        """The line of the user's function that is running."""
        frame = errors.user_frame(sys._getframe(1))
        return 0 if frame is None else frame.f_lineno

    def error_here(self, rule: str, try_: str | None = None) -> errors.AutostageError:
        """The error of this function at the line that is running."""
        return self.error(rule, self.line_here(), try_)

    # ---- variables ---------------------------------------------------------------------------

    def load(self, value: Any, name: str = "") -> Any:
        """A variable that is read.

        Raises:
            UnboundLocalError: it was never assigned.
            AutostageError: it was assigned in one branch only, or branches disagree.
        """
        if isinstance(value, Undefined):
            raise value.error(f"autostage({self.name})")
        return value

    def inplace(self, word: str, value: Any, other: Any) -> Any:
        """``value += other`` and the like."""
        return getattr(operator, word)(value, other)

    def result(self, value: Any, done: Any) -> Any:
        """What the function returns."""
        if is_traced(done):
            raise errors.AutostageError(
                errors.explain(
                    f"autostage({self.name})",
                    "the function returns a value on some paths, and None where it reaches its end",
                    try_="return a value of the same shape and dtype at the end of the function",
                )
            )
        if not done or value is UNSET:
            return None
        return self.load(value)

    def unsupported(self, word: str, instead: str, line: int) -> None:
        """In front of a statement that staged blocks cannot have."""
        if self.inside:
            raise self.error(
                f"`{word}` has no staged form: it is inside the {self.inside[-1]}, whose "
                "condition or iterable is traced (what follows an early return is inside, too)"
                if " " not in word
                else f"{word} inside the {self.inside[-1]}, whose condition or iterable is traced",
                line,
                instead,
            )

    def changes(self, receiver: Any, line: int) -> None:
        """In front of a change of a container that is no local variable."""
        is_array = hasattr(type(receiver), "__numlift_again__")
        if self.inside and (is_array or isinstance(receiver, _CONTAINERS)):
            kind = "ndarray" if is_array else type(receiver).__name__
            raise self.error(
                f"a {kind} that is not a local variable is changed inside the "
                f"{self.inside[-1]}, whose condition or iterable is traced",
                line,
                "assign the new value to a local variable and return it",
            )

    # ---- calls -------------------------------------------------------------------------------

    def called(self, function: Any) -> Any:
        """What a call of `function` calls: functions of the user with staged control flow."""
        if type(function) is BuiltinFunctionType:
            word = _STAGED_BUILTINS.get(function)
            return function if word is None else getattr(self, word)
        return staged(function, sys._getframe(1).f_globals.get("__name__", ""))

    def assert_(self, test: Any, line: int) -> None:
        """In front of an `assert` statement."""
        if is_traced(test):
            raise self.error(
                "`assert` needs a condition that is known while tracing: a compiled program "
                "cannot raise",
                line,
                "nl.experimental.checkify.check(condition, message)",
            )

    def any_(self, items: Any) -> Any:
        """``any(items)``"""
        found: Any = False
        for x in items:
            if is_traced(x):
                x = self.scalar(x, self.line_here())
                found = x if found is False else apply(or_, found, x)
            elif x:
                return True
        return found

    def all_(self, items: Any) -> Any:
        """``all(items)``"""
        found: Any = True
        for x in items:
            if is_traced(x):
                x = self.scalar(x, self.line_here())
                found = x if found is True else apply(and_, found, x)
            elif not x:
                return False
        return found

    def max_(self, *args: Any, **kwargs: Any) -> Any:
        """``max(...)``: the first of the largest."""
        return self._extremum(max, operator.gt, args, kwargs)

    def min_(self, *args: Any, **kwargs: Any) -> Any:
        """``min(...)``: the first of the smallest."""
        return self._extremum(min, operator.lt, args, kwargs)

    def _extremum(self, function: Any, better: Any, args: Any, kwargs: Any) -> Any:
        items = list(args[0]) if len(args) == 1 else list(args)
        key = kwargs.get("key")
        keys = items if key is None else [self.called(key)(x) for x in items]
        if not any(map(is_traced, keys)):
            given = (items,) if len(args) == 1 else items
            return function(*given, **kwargs)
        line = self.line_here()
        best, best_key = items[0], keys[0]
        for x, k in zip(items[1:], keys[1:], strict=True):
            wins = better(k, best_key)
            best = self.choose(line, wins, lambda x=x: x, lambda b=best: b)
            best_key = best if key is None else self.choose(
                line, wins, lambda k=k: k, lambda b=best_key: b
            )  # fmt: skip
        return best

    # ---- truth -------------------------------------------------------------------------------

    def scalar(self, x: Any, line: int) -> Any:
        """A traced condition as a bool scalar."""
        t = type_of(x)
        if t.size != 1 or t.kind not in "biufc":
            raise self.error(
                f"the truth of an array of shape {list(t.shape)} is ambiguous",
                line,
                "np.any(...) or np.all(...)",
            )
        x = convert(x, np.bool_)
        return reshape(x, ()) if t.shape else x

    def not_(self, line: int, x: Any) -> Any:
        """``not x``"""
        return apply(not_, self.scalar(x, line)) if is_traced(x) else not x

    def and_(self, line: int, *thunks: Callable[[], Any]) -> Any:
        """``a and b``: evaluated from the left until one is known to be false."""
        value = thunks[0]()
        for thunk in thunks[1:]:
            if is_traced(value):
                other = thunk()
                value = self._both(value, other, line)
            elif value:
                value = thunk()
            else:
                return value
        return value

    def or_(self, line: int, *thunks: Callable[[], Any]) -> Any:
        """``a or b``"""
        value = thunks[0]()
        for thunk in thunks[1:]:
            if is_traced(value):
                value = self._either(value, thunk(), line)
            elif value:
                return value
            else:
                value = thunk()
        return value

    def _both(self, a: Any, b: Any, line: int) -> Any:
        if _is_bool(a) and _is_bool(b):
            return apply(and_, self.scalar(a, line), self.scalar(b, line))
        return self.choose(line, a, lambda: b, lambda: a)

    def _either(self, a: Any, b: Any, line: int) -> Any:
        if _is_bool(a) and _is_bool(b):
            return apply(or_, self.scalar(a, line), self.scalar(b, line))
        return self.choose(line, a, lambda: a, lambda: b)

    def either(self, *flags: Any) -> Any:
        """Whether one of several flags is set."""
        return self.or_(0, *(lambda f=f: f for f in flags))

    def chain(self, line: int, words: Sequence[str], left: Any, *rest: Callable[[], Any]) -> Any:
        """``a < b < c``: every operand is evaluated once."""
        values = [left]

        def step(i: int) -> Any:
            values.append(rest[i]())
            compare = _COMPARE.get(words[i]) or getattr(operator, words[i])
            return compare(values[i], values[i + 1])

        return self.and_(line, *(lambda i=i: step(i) for i in range(len(words))))

    def choose(self, line: int, test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """``yes() if test else no()``"""
        if not is_traced(test):
            return yes() if test else no()
        box: list[Any] = [UNSET]

        def put(values: Sequence[Any]) -> None:
            box[0] = values[0]

        def get() -> tuple[Any, ...]:
            return (box[0],)

        def then() -> None:
            box[0] = yes()

        def otherwise() -> None:
            box[0] = no()

        self.if_(test, then, otherwise, get, put, ("",), line, "conditional expression")
        return self.load(box[0])

    # ---- statements --------------------------------------------------------------------------

    def iterable(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """``range``, ``zip``, ``enumerate``, ``reversed`` of what may be traced."""
        return iterable(self, function, args, kwargs)

    def if_(
        self,
        test: Any,
        then: Callable[[], None],
        otherwise: Callable[[], None],
        get: Get,
        put: Set,
        names: Sequence[str],
        line: int,
        word: str = "if",
        rest: bool = False,
    ) -> None:
        """``if test: then() else: otherwise()``; afterwards the variables hold the results.

        With `rest`, the block is what follows a possible `return`: it runs unless one was taken.
        """
        if not is_traced(test):
            then() if test else otherwise()
            return
        pred = self.scalar(test, line)
        label = f"{word} on line {line}"
        before = get()
        token = _open.set(self._opened(line))
        try:
            a, body_a = self._branch(then, before, get, put, label)
            b, body_b = self._branch(otherwise, before, get, put, label)
        finally:
            _open.reset(token)
        put(before)
        left = (_leaves(names, a), _leaves(names, b))
        results: list[Any] = list(before)
        plans: list[tuple[int, Merged]] = []
        for i, name in enumerate(names):
            plan = merge(name, a, b, i, label, left)
            if isinstance(plan, Merged):
                plans.append((i, plan))
            else:
                results[i] = a.shared[i].value if plan is None else plan
        if rest and DONE in names and a.shared[names.index(DONE)].value is True:
            plans = [p for p in plans if names[p[0]] != DONE]
            results[names.index(DONE)] = True  # returned before, or by the rest
        chosen = [c for _, plan in plans for c in plan.chosen]

        def run_a() -> list[Any]:
            outs = body_a()
            return [pick(a, outs, u, t) for _, u, _, t in chosen]

        def run_b() -> list[Any]:
            outs = body_b()
            return [pick(b, outs, v, t) for _, _, v, t in chosen]

        run_a.__name__, run_b.__name__ = f"if_{line}", f"else_{line}"
        acts = body_a.acts or body_b.acts
        outs = iter(cond(pred, run_a, run_b) if chosen or acts else ())
        for i, plan in plans:
            leaves = list(plan.leaves)
            for k, *_ in plan.chosen:
                leaves[k] = joined(a, b, plan.leaves[k], plan.others[k], next(outs))
            results[i] = tree_unflatten(plan.tree, leaves)
        put(results)

    def _opened(self, line: int) -> tuple[Frame, ...]:
        """The calls that are inside of traced branches, with this one.

        Raises:
            AutostageError: the function calls itself there again and again.
        """
        opened = _open.get()
        if self in opened:
            return opened
        if sum(f.name == self.name and f.file == self.file for f in opened) >= _DEEPEST:
            raise self.error(
                "the function calls itself in a branch of a traced condition: tracing takes both "
                "branches, so that the recursion has no end",
                line,
                "a while loop, or make what the condition depends on a static argument",
            )
        return (*opened, self)

    def _branch(
        self, block: Callable[[], None], before: Sequence[Any], get: Get, put: Set, label: str
    ) -> tuple[Outcome, Body]:
        """Trace a block; what it does to containers happens to copies."""
        found: list[Outcome] = []

        def run() -> list[Any]:
            again: dict[int, tuple[Any, Any]] = {}
            put(copies(before, again))
            self.inside.append(label)
            watches = [old.__numlift_watch__(new) for old, new in again.values()]
            try:
                block()
            finally:
                self.inside.pop()
                for stop in watches:
                    stop()
            outcome = Outcome(restored(before, get(), again), current.get())
            outcome.note(again)
            found.append(outcome)
            return outcome.outputs

        body = traced_body(run, [], f"{self.name}: {label}", "block")
        return found[0], body

    def while_(
        self,
        test: Callable[[], Any],
        body: Callable[[], None],
        stops: Callable[[], Any] | None,
        get: Get,
        put: Set,
        names: Sequence[str],
        line: int,
    ) -> None:
        """``while test(): body()`` that also ends when `stops()` is true."""

        def go_on() -> Any:
            return test() if stops is None else self.and_(line, lambda: self.not_(line, stops()),
                                                          test)  # fmt: skip

        while True:
            again = go_on()
            if is_traced(again):
                loops.stage_while(self, go_on, body, get, put, names, line)
                return
            if not again:
                return
            body()

    def for_(
        self,
        over: Any,
        target: Callable[[Any], None],
        body: Callable[[], None],
        stops: Callable[[], Any] | None,
        get: Get,
        put: Set,
        names: Sequence[str],
        line: int,
    ) -> None:
        """``for target in over: body()`` that also ends when `stops()` is true."""
        if is_traced(over):
            over = Rows.of(self, over, line)
        if isinstance(over, TracedRange):
            loops.stage_range(self, over, target, body, stops, get, put, names, line)
            return
        if isinstance(over, Rows):
            loops.stage_rows(self, over, target, body, stops, get, put, names, line)
            return
        stop: Any = False
        for n, x in enumerate(over):
            step = _step(target, body, x)
            if is_traced(stop):
                if isinstance(over, range):
                    rest = Rows.of_range(over[n:])
                    loops.stage_rows(self, rest, target, body, stops, get, put, names, line)
                    return
                self.if_(stop, nothing, step, get, put, names, line, "for")
            else:
                step()
            stop = False if stops is None else stops()
            if not is_traced(stop) and stop:
                return


def nothing() -> None:
    """An empty block."""


def _step(target: Callable[[Any], None], body: Callable[[], None], x: Any) -> Callable[[], None]:
    def step() -> None:
        target(x)
        body()

    return step


def _leaves(names: Sequence[str], outcome: Outcome) -> str:
    """How a block always ends: ``return``, ``jump``, or empty."""
    pairs = zip(names, outcome.shared, strict=True)
    flags = [n for n, s in pairs if n.startswith(FLAGS) and s.value is True]
    return "return" if DONE in flags else "jump" if flags else ""


def _is_bool(x: Any) -> bool:
    if isinstance(x, Value):
        return type_of(x).kind == "b"
    return isinstance(x, (bool, np.bool_))


def copies(values: Sequence[Any], again: dict[int, tuple[Any, Any]]) -> list[Any]:
    """Values in fresh containers, and copies of arrays that can be written into."""

    def inside(x: Any) -> Any:
        make = getattr(type(x), "__numlift_again__", None)
        if make is None:
            return x
        if id(x) not in again:
            again[id(x)] = (x, make(x, lifted(x)))
        return again[id(x)][1]

    made = []
    for x in values:
        if not isinstance(x, Undefined):
            shared = Shared(x)
            shared.leaves = [inside(y) for y in shared.leaves]
            x = shared.copy()
        made.append(x)
    return made


def restored(
    before: Sequence[Any], after: Sequence[Any], again: dict[int, tuple[Any, Any]]
) -> list[Any]:
    """Values after a block; where nothing changed, the object from before it."""
    same = {id(new): old for old, new in again.values() if not new.__numlift_changed__()}
    made = []
    for x, y in zip(before, after, strict=True):
        if x is not y and not isinstance(y, Undefined):
            t = Shared(y)
            t.leaves = [same.get(id(leaf), leaf) for leaf in t.leaves]
            y = t.copy()
            if not isinstance(x, Undefined):
                s = Shared(x)
                leaves = zip(s.leaves, t.leaves, strict=False)
                if s.tree == t.tree and all(a is b for a, b in leaves):
                    y = x
        made.append(y)
    return made
