"""StableHLO of the slots that a loop keeps states in, for the forward and the backward pass.

There is one slot for each checkpoint, one for the state that the backward pass works at, and one,
the last, for the initial state. All but the last hold two stacks that grow towards each other: the
states of the stage before, which are given up one by one from their top, and those of the present
stage. When a stage has as many states as checkpoints the next one starts at the other end. All
numbers are int32 scalars on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.types import ArrayType, array_type
from .checkpoint_schedule import reach_table, usable
from .loop_lowering import FLAG, INDEX, get_row, set_row

I32 = INDEX.mlir


class Stacks(NamedTuple):
    """Texts: size of the old and of the new stack, and 1 if the new one grows downwards."""

    old: str
    new: str
    down: str


class Numbers:
    """Emits int32 arithmetic."""

    def __init__(self, b: Any):
        self.b = b

    def const(self, value: int) -> str:
        return str(self.b.full(value, INDEX))

    def __call__(self, name: str, x: str, y: str) -> str:
        """An operation of two numbers: add, subtract, multiply, minimum, maximum."""
        return str(self.b.emit(f"stablehlo.{name} {x}, {y} : {I32}"))

    def plus(self, x: str, value: int) -> str:
        return self("add", x, self.const(value))

    def test(self, relation: str, x: str, y: str) -> str:
        """Whether x is LT, GT, EQ, ... y."""
        return str(
            self.b.emit(
                f"stablehlo.compare {relation}, {x}, {y}, SIGNED : ({I32}, {I32}) -> {FLAG.mlir}"
            )
        )

    def select(self, on: str, x: str, y: str) -> str:
        """x if `on`, else y."""
        return str(self.b.emit(f"stablehlo.select {on}, {x}, {y} : {FLAG.mlir}, {I32}"))

    def as_number(self, on: str) -> str:
        """1 if `on`, else 0."""
        return str(self.b.emit(f"stablehlo.convert {on} : ({FLAG.mlir}) -> {I32}"))


class Slots:
    """Emits what is done with slots.

    Args:
        max_steps, checkpoints: of the loop.
        state: storage types of the states.

    Attributes:
        whole: whether every step has a slot; then the state of each stays in it (`of_step`).
    """

    def __init__(self, max_steps: int, checkpoints: int, state: Sequence[ArrayType]):
        self.room = checkpoints + 1
        self.whole = checkpoints >= usable(max_steps)
        self.table = reach_table(max_steps, checkpoints)
        self.steps_type = array_type((checkpoints + 2,), INDEX.dtype)
        self.types = [self.steps_type, *(_rows(t, checkpoints + 2) for t in state)]

    def top(self, b: Any, stacks: Stacks) -> str:
        """The slot of the uppermost state of the new stack; that of the initial one if empty."""
        do = Numbers(b)
        i = do.plus(stacks.new, -1)
        other = do("subtract", do.const(self.room - 1), i)
        down = do.test("GT", stacks.down, do.const(0))
        slot = do.select(down, other, i)
        return do.select(do.test("GT", stacks.new, do.const(0)), slot, do.const(self.room))

    def pushed(self, b: Any, stacks: Stacks, by: str) -> Stacks:
        """The stacks with the new one larger by `by`; the old one makes room."""
        do = Numbers(b)
        new = do("add", stacks.new, by)
        room = do("subtract", do.const(self.room), new)
        return Stacks(do("minimum", stacks.old, room), new, stacks.down)

    def of_step(self, b: Any, step: str) -> str:
        """Where the state at a step is, if all steps have slots."""
        do = Numbers(b)
        later = do.test("GT", step, do.const(0))
        return do.select(later, do.plus(step, -1), do.const(self.room))

    def all_steps(self, b: Any) -> str:
        """The step of each slot, if all steps have slots."""
        t = self.steps_type
        index = b.emit(f"stablehlo.iota dim = 0 : {t.mlir}")
        steps = b.emit(f"stablehlo.add {index}, {b.full(1, t)} : {t.mlir}")
        return set_row(b, steps, t, b.full(0, INDEX), b.full(self.room, INDEX))

    def write(
        self, b: Any, slots: Sequence[str], slot: str, step: str | None, state: Sequence[str]
    ) -> list[str]:
        """The slots with a state in one of them; without a step this says nothing of where."""
        first = slots[0] if step is None else set_row(b, slots[0], self.steps_type, step, slot)
        rows = zip(slots[1:], self.types[1:], state, strict=True)
        return [first, *(set_row(b, y, t, x, slot) for y, t, x in rows)]

    def step_in(self, b: Any, slots: Sequence[str], slot: str) -> str:
        """The step of the state in a slot."""
        return get_row(b, slots[0], self.steps_type, slot)

    def read(self, b: Any, slots: Sequence[str], slot: str) -> list[str]:
        """The state in a slot."""
        return [get_row(b, y, t, slot) for y, t in zip(slots[1:], self.types[1:], strict=True)]

    def reach(self, b: Any, states: str, repetitions: str) -> str:
        """beta(states, repetitions), from the table."""
        table = b.array(self.table)
        rows, columns = self.table.shape
        one = b.emit(
            f"stablehlo.dynamic_slice {table}, {states}, {repetitions}, sizes = [1, 1] : "
            f"(tensor<{rows}x{columns}xi32>, {I32}, {I32}) -> tensor<1x1xi32>"
        )
        return str(b.emit(f"stablehlo.reshape {one} : (tensor<1x1xi32>) -> {I32}"))

    def distance(self, b: Any, length: str, states: str) -> str:
        """How far to go before the next state is kept, in a chain of `length` >= 2 steps.

        The optimal split of a chain for `states` states, the present one among them: the least r
        with beta(states, r) >= length, then min(beta(states, r - 1), length - beta(states - 1,
        r - 1)).
        """
        do = Numbers(b)
        rows, columns = self.table.shape
        row_type = array_type((columns,), INDEX.dtype)
        cut = b.emit(
            f"stablehlo.dynamic_slice {b.array(self.table)}, {states}, {do.const(0)}, "
            f"sizes = [1, {columns}] : (tensor<{rows}x{columns}xi32>, {I32}, {I32}) -> "
            f"tensor<1x{columns}xi32>"
        )
        t = row_type.mlir
        row = b.emit(f"stablehlo.reshape {cut} : (tensor<1x{columns}xi32>) -> {t}")
        wide = b.broadcast(length, INDEX, row_type, ())
        less = b.emit(
            f"stablehlo.compare LT, {row}, {wide}, SIGNED : ({t}, {t}) -> tensor<{columns}xi1>"
        )
        ones = b.emit(f"stablehlo.convert {less} : (tensor<{columns}xi1>) -> {t}")
        r = b.reduce("stablehlo.add", ones, 0, row_type, INDEX, (0,))
        before = do("maximum", do.plus(r, -1), do.const(0))
        left = self.reach(b, states, before)
        right = self.reach(b, do.plus(states, -1), before)
        found = do("minimum", left, do("subtract", length, right))
        return do("maximum", found, do.const(1))


def _rows(t: ArrayType, n: int) -> ArrayType:
    return array_type((n, *t.shape), t.dtype)
