"""StableHLO of a `Sweep`: the backward pass of a loop, with a bounded number of states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.types import ArrayType
from .loop_lowering import INDEX, emit_add, emit_equal, emit_less, emit_while
from .loop_parts import GivenStates
from .loop_slots import Numbers, Slots, Stacks

if TYPE_CHECKING:
    from .sweep import Sweep


class SweepLowering:
    """Writes four loops: in the outer one, one after another, three that go over steps.

    The outer state is (end, stacks, slots, consts, a): steps end .. n-1 are done. One iteration
    takes the uppermost kept state and goes forward, keeping states as the binomial schedule says,
    until there is a slot for every step that is left (`advance`); then it fills these (`fill`) and
    goes back through them (`back`). So most time is spent in two short loops.
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
            bottom = ctx.full(self.slots.room, INDEX)
            slots = self.slots.write(ctx, empty, bottom, zero, state)
        found = emit_while(
            ctx,
            [operands[0], *stacks, *slots, *consts, *a],
            [INDEX, *self.stack_types, *self.slots.types, *self.const_types, *self.a_types],
            lambda b, names: [emit_less(b, b.full(0, INDEX), names[0])],
            self.chain,
        )
        return found[len(found) - len(a) :]

    def chain(self, b: Any, names: list[str]) -> list[str]:
        """From the uppermost kept state to `end`, and back through the last steps of this chain."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        end, stacks, rest = names[0], Stacks(*names[1:4]), names[4:]
        slots, consts, a = rest[:n_slots], rest[n_slots : n_slots + n_c], rest[n_slots + n_c :]
        do = Numbers(b)
        stacks = self.turned(b, stacks)
        slot = self.slots.top(b, stacks)
        step, state = self.slots.step_in(b, slots, slot), self.slots.read(b, slots, slot)
        last = do.plus(end, -1)
        types = [*[INDEX] * 4, *self.slots.types, INDEX, *self.const_types, *self.state_types]
        there = emit_while(
            b,
            [step, *stacks, *slots, last, *consts, *state],
            types,
            lambda b, names: self.too_far(b, names[0], names[2], names[4 + n_slots]),
            self.advance,
        )
        there = emit_while(
            b,
            there,
            types,
            lambda b, names: [emit_less(b, names[0], names[4 + n_slots])],
            self.fill,
        )
        stacks, slots = Stacks(*there[1:4]), there[4 : 4 + n_slots]
        found = emit_while(
            b,
            [last, last, *stacks, *slots, *consts, *a],
            [*[INDEX] * 5, *self.slots.types, *self.const_types, *self.a_types],
            lambda b, names: [emit_equal(b, names[0], names[1])],
            self.back,
        )
        return [do.plus(found[1], 1), *found[2:]]

    def too_far(self, b: Any, step: str, new: str, last: str) -> list[str]:
        """Whether there are more steps to `last` than slots."""
        do = Numbers(b)
        free = do("subtract", do.const(self.slots.room), new)
        return [do.test("GT", do("subtract", last, step), free)]

    def advance(self, b: Any, names: list[str]) -> list[str]:
        """From the uppermost kept state to the next that is to be kept."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        step, new, last = names[0], names[2], names[4 + n_slots]
        do = Numbers(b)
        length = do.plus(do("subtract", last, step), 1)
        states = do("subtract", do.const(self.sweep.checkpoints + 1), new)
        end = do("add", step, self.slots.distance(b, length, states))
        moved = emit_while(
            b,
            [step, end, *names[5 + n_slots :]],
            [INDEX, INDEX, *self.const_types, *self.state_types],
            lambda b, names: [emit_less(b, names[0], names[1])],
            self.forward,
        )
        return self.kept(b, names, end, moved[2 + n_c :])

    def forward(self, b: Any, names: list[str]) -> list[str]:
        """One step forwards."""
        n_c = len(self.const_types)
        new = b.inline(self.sweep.forward, names[2:])
        return [emit_add(b, names[0], 1), names[1], *names[2 : 2 + n_c], *new]

    def fill(self, b: Any, names: list[str]) -> list[str]:
        """One step forwards, whose result is kept."""
        state = b.inline(self.sweep.forward, names[5 + len(self.slots.types) :])
        return self.kept(b, names, emit_add(b, names[0], 1), state)

    def kept(self, b: Any, names: list[str], step: str, state: list[str]) -> list[str]:
        """The state of the loops that go forward, with the state at `step` in a slot."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        stacks = self.slots.pushed(b, Stacks(*names[1:4]), Numbers(b).const(1))
        slot = self.slots.top(b, stacks)
        slots = self.slots.write(b, names[4 : 4 + n_slots], slot, step, state)
        return [step, *stacks, *slots, *names[4 + n_slots : 5 + n_slots + n_c], *state]

    def back(self, b: Any, names: list[str]) -> list[str]:
        """One step backwards from the uppermost state, which is that of step names[0]."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        stacks, rest = Stacks(*names[2:5]), names[5:]
        slots, consts, a = rest[:n_slots], rest[n_slots : n_slots + n_c], rest[n_slots + n_c :]
        do = Numbers(b)
        state = self.slots.read(b, slots, self.slots.top(b, stacks))
        a = b.inline(self.sweep.backward, [*consts, *state, *a])
        new = do("maximum", do.plus(stacks.new, -1), do.const(0))
        stacks = Stacks(stacks.old, new, stacks.down)
        below = self.slots.step_in(b, slots, self.slots.top(b, stacks))
        return [below, do.plus(names[1], -1), *stacks, *slots, *consts, *a]

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
