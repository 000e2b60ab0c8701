"""StableHLO of a `Sweep`: the backward pass of a loop, with a bounded number of states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.types import ArrayType
from .loop_lowering import INDEX, emit_add, emit_less, emit_while
from .loop_parts import GivenStates
from .loop_slots import Numbers, Slots, Stacks

if TYPE_CHECKING:
    from .sweep import Sweep


class SweepLowering:
    """Writes three nested loops: over steps backwards, over states to keep, over steps forwards.

    The outer state is (end, stacks, slots, consts, a): steps end .. n-1 are done. One iteration
    takes the uppermost kept state, goes forward to step end - 1, keeps states on the way as the
    binomial schedule says, and takes this one step back.
    """

    def __init__(self, sweep: Sweep, types: list[ArrayType]):
        self.sweep = sweep
        consts, state, _, a = sweep.parts(types)
        self.const_types = [t.physical for t in consts]
        self.state_types = [t.physical for t in state]
        self.a_types = [t.physical for t in a]
        self.slots = Slots(sweep.max_steps, sweep.checkpoints, self.state_types)
        self.stack_types = [INDEX, INDEX, INDEX]

    def run(self, ctx: Any, operands: list[str]) -> list[str]:
        """Names of the results."""
        sweep = self.sweep
        consts, state, kept, a = sweep.parts(operands)
        if sweep.max_steps == 0:
            return a
        zero = ctx.full(0, INDEX)
        if sweep.given:
            stacks, slots = kept[:3], kept[GivenStates.POSITIONS :]
        else:
            stacks = [zero, zero, zero]
            empty = [ctx.full(0, t) for t in self.slots.types]
            bottom = ctx.full(sweep.checkpoints, INDEX)
            slots = self.slots.write(ctx, empty, bottom, zero, state)
        found = emit_while(
            ctx,
            [operands[0], *stacks, *slots, *consts, *a],
            [INDEX, *self.stack_types, *self.slots.types, *self.const_types, *self.a_types],
            lambda b, names: [emit_less(b, b.full(0, INDEX), names[0])],
            self.one_back,
        )
        return found[len(found) - len(a) :]

    def one_back(self, b: Any, names: list[str]) -> list[str]:
        """One step backwards."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        end, stacks, rest = names[0], Stacks(*names[1:4]), names[4:]
        slots, consts, a = rest[:n_slots], rest[n_slots : n_slots + n_c], rest[n_slots + n_c :]
        do = Numbers(b)
        stacks = self.turned(b, stacks)
        slot = self.slots.top(b, stacks)
        step, state = self.slots.step_in(b, slots, slot), self.slots.read(b, slots, slot)
        last = do.plus(end, -1)
        found = emit_while(
            b,
            [step, do.const(0), *stacks, *slots, last, *consts, *state],
            [
                *[INDEX] * 5,
                *self.slots.types,
                INDEX,
                *self.const_types,
                *self.state_types,
            ],
            lambda b, names: [emit_less(b, names[0], names[5 + n_slots])],
            self.advance,
        )
        stacks, slots = Stacks(*found[2:5]), found[5 : 5 + n_slots]
        state = found[6 + n_slots + n_c :]
        a = b.inline(self.sweep.backward, [*consts, *state, *a])
        return [last, *self.popped(b, stacks, slots, last), *slots, *consts, *a]

    def turned(self, b: Any, stacks: Stacks) -> Stacks:
        """When all states of the last stage are used, the stage before is the last."""
        do = Numbers(b)
        empty = do.test("EQ", stacks.new, do.const(0))
        other = do("subtract", do.const(1), stacks.down)
        return Stacks(
            do.select(empty, do.const(0), stacks.old),
            do.select(empty, stacks.old, stacks.new),
            do.select(empty, other, stacks.down),
        )

    def popped(self, b: Any, stacks: Stacks, slots: list[str], step: str) -> Stacks:
        """The stacks without the state of `step`, if it is uppermost."""
        do = Numbers(b)
        at = self.slots.step_in(b, slots, self.slots.top(b, stacks))
        used = do.as_number(do.test("EQ", at, step))
        left = do("maximum", do("subtract", stacks.new, used), do.const(0))
        return Stacks(stacks.old, left, stacks.down)

    def advance(self, b: Any, names: list[str]) -> list[str]:
        """Keep the present state, unless it was read from a slot; go on to the next to be kept."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        step, fresh, stacks = names[0], names[1], Stacks(*names[2:5])
        slots, last, rest = names[5 : 5 + n_slots], names[5 + n_slots], names[6 + n_slots :]
        consts, state = rest[:n_c], rest[n_c:]
        do = Numbers(b)
        stacks = self.slots.pushed(b, stacks, fresh)
        slot = self.slots.top(b, stacks)
        slots = self.slots.write(b, slots, slot, step, state)
        length = do.plus(do("subtract", last, step), 1)
        free = do("subtract", do.const(self.sweep.checkpoints), stacks.new)
        end = do("add", step, self.slots.distance(b, length, do.plus(free, 1)))
        moved = emit_while(
            b,
            [step, end, *consts, *state],
            [INDEX, INDEX, *self.const_types, *self.state_types],
            lambda b, names: [emit_less(b, names[0], names[1])],
            self.forward,
        )
        return [moved[0], do.const(1), *stacks, *slots, last, *consts, *moved[2 + n_c :]]

    def forward(self, b: Any, names: list[str]) -> list[str]:
        """One step forwards."""
        n_c = len(self.const_types)
        new = b.inline(self.sweep.forward, names[2:])
        return [emit_add(b, names[0], 1), names[1], *names[2 : 2 + n_c], *new]
