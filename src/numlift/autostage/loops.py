"""Staged loops: which variables are carried, and with which types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..lax.loops import scan
from ..lax.while_loops import while_loop
from ..ops.compare import gt, lt
from ..ops.elementwise_binary import and_, not_
from ..structural.arith import add, convert
from ..tree import tree_flatten, tree_unflatten
from .bodies import Body, traced_body
from .iteration import Rows, TracedRange
from .values import Undefined, common, describe_leaf, fits, is_array, lifted, same, zeros

_ROUNDS = 12


class Carry:
    """Variables of a loop: what is carried from one step to the next.

    A variable that has no value before the loop is local to one step. Numbers and arrays are
    carried; other objects, bools and None must be the same after a step, else bools are carried.
    """

    def __init__(self, frame: Any, values: Sequence[Any], names: Sequence[str], line: int,
                 label: str):  # fmt: skip
        self.frame, self.names, self.line, self.label = frame, names, line, label
        self.values = list(values)
        self.promoted: set[tuple[int, int]] = set()
        self.pending: list[Callable[[], None]] = []
        self.inside: dict[tuple[int, int], Any] = {}
        self.kept: set[tuple[int, int]] = set()
        self._split()

    def _split(self) -> None:
        """Leaves, their variables, and which of them are carried."""
        self.trees: list[Any] = []
        self.leaves: list[list[Any]] = []
        self.slots: list[tuple[int, int]] = []
        for i, x in enumerate(self.values):
            leaves, tree = ([], None) if isinstance(x, Undefined) else tree_flatten(x)
            self.trees.append(tree)
            self.leaves.append(leaves)
            for k, leaf in enumerate(leaves):
                if is_array(leaf) and (not isinstance(leaf, bool) or (i, k) in self.promoted):
                    self.slots.append((i, k))

    def initial(self) -> list[Any]:
        """Values that go into the first step."""
        return [lifted(self.leaves[i][k]) for i, k in self.slots]

    def types(self) -> list[ArrayType]:
        """Types of the carried values."""
        return [type_of(self.leaves[i][k]) for i, k in self.slots]

    def unpack(self, carried: Sequence[Any]) -> list[Any]:
        """Variables from carried values; containers are fresh."""
        leaves = [list(row) for row in self.leaves]
        for (i, k), x in zip(self.slots, carried, strict=True):
            again = getattr(type(leaves[i][k]), "__numlift_again__", None)
            leaves[i][k] = self.inside[i, k] = x if again is None else again(leaves[i][k], x)
        return [
            x if tree is None else tree_unflatten(tree, row)
            for x, tree, row in zip(self.values, self.trees, leaves, strict=True)
        ]

    def pack(self, after: Sequence[Any]) -> list[Any] | None:
        """Carried values after a step; None if the carry had to change and the step is retraced."""
        outs: list[Any] = []
        again = False
        for i, (old, new) in enumerate(zip(self.values, after, strict=True)):
            if isinstance(old, Undefined):
                again |= self._fill(i, new)
                continue
            if isinstance(new, Undefined):
                raise self._undefined(i, new)
            leaves, tree = tree_flatten(new)
            if tree != self.trees[i]:
                raise self._error(i, _text(old), _text(new))
            for k, x in enumerate(leaves):
                if (i, k) in self.slots:
                    (self.kept.add if x is self.inside[i, k] else self.kept.discard)((i, k))
                    again |= self._settle(i, k, x)
                    outs.append(x)
                elif not same(self.leaves[i][k], x):
                    if not (is_array(x) and is_array(self.leaves[i][k])):
                        raise self._error(i, describe_leaf(self.leaves[i][k]), describe_leaf(x))
                    self.promoted.add((i, k))
                    again = True
        if again:
            return None
        return [fits(x, t) for x, t in zip(outs, self.types(), strict=True)]

    def watch(self) -> list[Callable[[], None]]:
        """Watch arrays that can be written into: what ends it raises if another name read them."""
        found = []
        for (i, k), now in self.inside.items():
            start = getattr(self.leaves[i][k], "__numlift_watch__", None)
            if start is not None:
                found.append(start(now))
        return found

    def adjust(self) -> None:
        """Make the changes that `pack` found to be needed, outside the trace."""
        for change in self.pending:
            change()
        self.pending.clear()
        self._split()

    def _fill(self, i: int, new: Any) -> bool:
        """The result of the function, if the loop sets it, is carried from the start."""
        internal = self.names[i].startswith("_nl_")
        if isinstance(new, Undefined):
            if internal and new.reason:
                raise new.error(f"autostage({self.frame.name})")
            return False
        if self.names[i] != "_nl_result":
            return False
        leaves, tree = tree_flatten(new)
        types = [type_of(x) if is_array(x) else None for x in leaves]

        def fill() -> None:
            made = [x if t is None else zeros(t) for x, t in zip(leaves, types, strict=True)]
            self.values[i] = tree_unflatten(tree, made)

        self.pending.append(fill)
        return True

    def _settle(self, i: int, k: int, x: Any) -> bool:
        """Whether the initial value of a leaf must be converted for the step's result."""
        old = self.leaves[i][k]
        if not is_array(x):
            raise self._error(i, describe_leaf(old), describe_leaf(x))
        was, now = type_of(old), type_of(x)
        if was is now:
            return False
        wanted = common(was, now)
        if wanted is None or not (was.weak_type or wanted.dtype == was.dtype):
            raise self._error(i, repr(was), repr(now))
        if was.weak_type and wanted is not was:

            def strengthen() -> None:
                self.leaves[i][k] = convert(lifted(old), wanted.dtype, wanted.weak_type)
                self.values[i] = tree_unflatten(self.trees[i], self.leaves[i])

            self.pending.append(strengthen)
            return True
        return False

    def _undefined(self, i: int, new: Undefined) -> Exception:
        if new.reason:
            return new.error(f"autostage({self.frame.name})", self.frame.place(self.line))
        return self.frame.error(
            f"variable {self.names[i]!r} is deleted in the {self.label}", self.line
        )

    def _error(self, i: int, was: str, now: str) -> Exception:
        name = self.names[i]
        what = "the result of the function" if name.startswith("_nl_") else f"variable {name!r}"
        return self.frame.error(
            f"{what} is {was} before a step of the {self.label} and {now} after it",
            self.line,
            f"give {name} the shape and dtype before the loop that the loop gives it",
        )

    def finish(self, carried: Sequence[Any], put: Callable[[Sequence[Any]], None]) -> None:
        """Variables after the loop. Arrays that were written into are the objects they were."""
        results = self.unpack(carried)
        for i, tree in enumerate(self.trees):
            kept = [k for j, k in self.slots if j == i and (j, k) in self.kept]
            kept = [k for k in kept if hasattr(type(self.leaves[i][k]), "__numlift_again__")]
            if kept:
                leaves, _ = tree_flatten(results[i])
                for k in kept:
                    leaves[k] = self.leaves[i][k].__numlift_become__(leaves[k])
                results[i] = tree_unflatten(tree, leaves)
        for i, x in enumerate(results):
            known = not isinstance(x, Undefined) or x.reason is not None
            if not known and not self.names[i].startswith("_nl_"):
                name = self.names[i]
                results[i] = Undefined(
                    name,
                    f"variable {name!r} is assigned only inside the {self.label}, which may run "
                    "zero times",
                    f"give {name} a value before the loop",
                )
        put(results)


def _text(x: Any) -> str:
    leaves, tree = tree_flatten(x)
    alone = len(leaves) == 1 and leaves[0] is x
    if alone or x is None:
        return describe_leaf(x)
    return f"a {type(x).__name__} with {len(leaves)} values"


def _traced_step(
    carry: Carry,
    extra: Sequence[ArrayType],
    step: Callable[[Sequence[Any]], None],
    get: Callable[[], Any],
    put: Callable[[Any], None],
) -> Body:
    """Trace `step(extras)` until the types of the carry settle."""
    frame = carry.frame
    settled: list[bool] = []

    def run(*args: Any) -> list[Any]:
        put(carry.unpack(args[len(extra) :]))
        frame.inside.append(carry.label)
        watches = carry.watch()
        try:
            step(args[: len(extra)])
        finally:
            frame.inside.pop()
            for stop in watches:
                stop()
        outs = carry.pack(get())
        settled.append(outs is not None)
        return outs or []

    label = f"{frame.name}: {carry.label}"
    for _ in range(_ROUNDS):
        types = [*extra, *carry.types()]
        body = traced_body(run, types, label, "step")
        if settled[-1]:
            return body
        carry.adjust()
    raise frame.error("the types of the variables of the loop do not settle", carry.line)


def _traced_test(
    carry: Carry, extra: Sequence[ArrayType], test: Callable[[Sequence[Any]], Any], put: Any
) -> Body:
    """Trace the condition of a loop."""
    frame = carry.frame

    def run(*args: Any) -> list[Any]:
        put(carry.unpack(args[len(extra) :]))
        found = test(args[: len(extra)])
        return [frame.scalar(lifted(found), carry.line) if is_array(found) else bool(found)]

    label = f"{frame.name}: {carry.label}"
    return traced_body(run, [*extra, *carry.types()], label, "test")


def stage_while(
    frame: Any, test: Any, body: Any, get: Any, put: Any, names: Sequence[str], line: int
) -> None:
    """``while test(): body()`` as `lax.while_loop`."""
    before = get()
    carry = Carry(frame, before, names, line, f"while on line {line}")
    step = _traced_step(carry, (), lambda _: body(), get, put)
    go_on = _traced_test(carry, (), lambda _: test(), put)
    put(before)

    def go(values: Any) -> Any:
        return go_on(*values)[0]

    def run(values: Any) -> list[Any]:
        return step(*values)

    go.__name__ = run.__name__ = f"while_{line}"
    carry.finish(while_loop(go, run, carry.initial()), put)


def stage_rows(
    frame: Any, rows: Rows, target: Any, body: Any, stops: Any, get: Any, put: Any,
    names: Sequence[str], line: int,
) -> None:  # fmt: skip
    """``for target in rows: body()`` as `lax.scan`; after a `break` steps do nothing."""
    if not rows.length:
        return
    before = get()
    carry = Carry(frame, before, names, line, f"for on line {line}")
    arrays = [lifted(x) for x in rows.arrays]
    extra = [_row_type(type_of(x)) for x in arrays]

    def whole(values: Sequence[Any]) -> None:
        target(rows.build(values))
        body()

    def step(values: Sequence[Any]) -> None:
        stop = False if stops is None else stops()
        frame.if_(stop, _nothing, lambda: whole(values), get, put, names, line, "for")

    traced = _traced_step(carry, extra, step, get, put)
    put(before)

    def run(values: Any, xs: Any) -> tuple[list[Any], None]:
        return traced(*xs, *values), None

    run.__name__ = f"for_{line}"
    carry.finish(scan(run, carry.initial(), arrays)[0], put)


def _nothing() -> None:
    """An empty block."""


def _row_type(t: ArrayType) -> ArrayType:
    return array_type(t.shape[1:], t.dtype, t.weak_type)


def stage_range(
    frame: Any, over: TracedRange, target: Any, body: Any, stops: Any, get: Any, put: Any,
    names: Sequence[str], line: int,
) -> None:  # fmt: skip
    """``for target in range(...): body()`` with traced bounds as `lax.while_loop`."""
    before = get()
    carry = Carry(frame, before, names, line, f"for on line {line}")
    index = _index_type(over)
    first, last = (convert(lifted(x), index.dtype, True) for x in (over.start, over.stop))

    def step(values: Sequence[Any]) -> None:
        target(over.build(values[0]))
        body()

    traced = _traced_step(carry, [index], step, get, put)
    ended = None if stops is None else _traced_test(carry, (), lambda _: stops(), put)
    put(before)
    compare = lt if over.step > 0 else gt

    def go(values: Any) -> Any:
        more = apply(compare, values[0], last)
        if ended is None:
            return more
        return apply(and_, more, apply(not_, lifted(ended(*values[1:])[0])))

    def run(values: Any) -> list[Any]:
        following = apply(add, values[0], index.dtype.type(over.step))
        return [convert(following, index.dtype, True), *traced(*values)]

    go.__name__ = run.__name__ = f"for_{line}"
    carry.finish(while_loop(go, run, [first, *carry.initial()])[1:], put)


def _index_type(over: TracedRange) -> ArrayType:
    types = [type_of(x) for x in (over.start, over.stop)]
    strong = [t.dtype for t in types if not t.weak_type] or [types[1].dtype]
    wide = np.result_type(*strong)
    return array_type((), np.dtype(wide), True)


__all__ = ["Carry", "stage_range", "stage_rows", "stage_while"]
