"""StableHLO of a `Sweep`: the backward pass of a loop, with a bounded number of states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.types import ArrayType
from .loop_lowering import INDEX, emit_add, emit_equal, emit_less, emit_while
from .loop_parts import GivenStates
from .loop_slots import Numbers, Slots, Stacks
from .next_state import NextState

if TYPE_CHECKING:
    from .sweep import Sweep


class SweepLowering:
    """Writes four loops: in the outer one, one after another, three that go over steps.

    The outer state is (end, stacks, slots, consts, next, a): steps end .. n-1 are done; `next` is
    what B takes from the state at `end` (see `first_next`). One iteration takes the uppermost kept
    state and goes forward, keeping states as the binomial schedule says, until there is a slot for
    every step that is left (`advance`); then it fills these (`fill`) and goes back through them
    (`back`). So most time is spent in two short loops.

    With a slot for every step there is nothing to advance and no outer loop (`whole`).
    """

    def __init__(self, sweep: Sweep, types: list[ArrayType]):
        self.sweep = sweep
        consts, state, _, a = sweep.parts(types)
        self.const_types = [t.physical for t in consts]
        self.state_types = [t.physical for t in state]
        self.a_types = [t.physical for t in a]
        self.slots = Slots(sweep.max_steps, sweep.checkpoints, self.state_types)
        self.stack_types = [INDEX, INDEX, INDEX]
        self.shared = NextState.of(sweep.forward, sweep.backward)
        taken = [self.state_types[i] for i in self.shared.used]
        self.next_types = [INDEX, *taken] if taken else []

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
        empty = [ctx.full(0, t) for t in self.next_types]
        if self.slots.whole:
            return self.whole(ctx, operands[0], slots, consts, state, [*empty, *a])
        types = [*self.slots.types, *self.const_types, *self.next_types, *self.a_types]
        found = emit_while(
            ctx,
            [operands[0], *stacks, *slots, *consts, *empty, *a],
            [INDEX, *self.stack_types, *types],
            lambda b, names: [emit_less(b, b.full(0, INDEX), names[0])],
            self.chain,
        )
        return found[len(found) - len(a) :]

    # ---- a slot for every step ---------------------------------------------------------------

    def whole(
        self, ctx: Any, n: str, slots: list[str], consts: list[str], state: list[str], a: list[str]
    ) -> list[str]:
        """Two loops at most, the first only without kept states; `a` has `next` in front."""
        n_slots, n_c = len(slots), len(consts)
        last = emit_add(ctx, n, -1)
        if self.sweep.given:
            state = self.slots.read(ctx, slots, self.slots.of_step(ctx, last))
        else:
            found = emit_while(
                ctx,
                [ctx.full(0, INDEX), last, *slots, *consts, *state],
                [INDEX, INDEX, *self.slots.types, *self.const_types, *self.state_types],
                lambda b, names: [emit_less(b, names[0], names[1])],
                self.fill_whole,
            )
            slots, state = found[2 : 2 + n_slots], found[2 + n_slots + n_c :]
        known = len(self.next_types)
        started = self.first_next(ctx, n, consts, state, a[:known])
        found = emit_while(
            ctx,
            [n, *slots, *consts, *started, *a[known:]],
            [INDEX, *self.slots.types, *self.const_types, *self.next_types, *self.a_types],
            lambda b, names: [emit_less(b, b.full(0, INDEX), names[0])],
            self.back_whole,
        )
        return found[1 + n_slots + n_c + known :]

    def fill_whole(self, b: Any, names: list[str]) -> list[str]:
        """One step forwards, whose result is kept in its slot."""
        n_slots, n_c = len(self.slots.types), len(self.const_types)
        slots, rest = names[2 : 2 + n_slots], names[2 + n_slots :]
        step, state = emit_add(b, names[0], 1), b.inline(self.sweep.forward, rest)
        slots = self.slots.write(b, slots, self.slots.of_step(b, step), None, state)
        return [step, names[1], *slots, *rest[:n_c], *state]

    def back_whole(self, b: Any, names: list[str]) -> list[str]:
        """One step backwards, from the state before step names[0]."""
        n_slots = len(self.slots.types)
        step = emit_add(b, names[0], -1)
        slots, rest = names[1 : 1 + n_slots], names[1 + n_slots :]
        state = self.slots.read(b, slots, self.slots.of_step(b, step))
        return [step, *slots, *self.backward(b, rest, state)]

    # ---- what all loops do -------------------------------------------------------------------

    def first_next(
        self, b: Any, fresh: str, consts: list[str], state: list[str], known: list[str]
    ) -> list[str]:
        """`next` if it is not `known` yet, from the state of the last step of all.

        Args:
            fresh: is positive if it is not known and there is a last step.
            known: a number that is 0 at first, and the states of `NextState`; or nothing.
        """
        if not known:
            return []
        needed = self.shared.inputs
        values = [[*consts, *state][i] for i in needed]
        types = [[*self.const_types, *self.state_types][i] for i in needed]

        def compute(b: Any, names: list[str]) -> list[str]:
            given = names[1 : 1 + len(needed)]
            return [b.full(0, INDEX), *given, *b.inline(self.shared.forward, given)]

        found = emit_while(
            b,
            [fresh, *values, *known[1:]],
            [INDEX, *types, *self.next_types[1:]],
            lambda b, names: [emit_less(b, b.full(0, INDEX), names[0])],
            compute,
        )
        return [b.full(1, INDEX), *found[1 + len(needed) :]]

    def backward(self, b: Any, names: list[str], state: list[str]) -> list[str]:
        """(consts, next, a) after one step backwards from a state."""
        n_c, known = len(self.const_types), len(self.next_types)
        consts, following, a = names[:n_c], names[n_c : n_c + known], names[n_c + known :]
        a = b.inline(self.shared.backward, [*consts, *state, *a, *following[1:]])
        return [*consts, *following[:1], *(state[i] for i in self.shared.used), *a]

    # ---- fewer slots than steps --------------------------------------------------------------

    def chain(self, b: Any, names: list[str]) -> list[str]:
        """From the uppermost kept state to `end`, and back through the last steps of this chain."""
        n_slots, n_c, known = len(self.slots.types), len(self.const_types), len(self.next_types)
        end, stacks, rest = names[0], Stacks(*names[1:4]), names[4:]
        slots, consts, a = rest[:n_slots], rest[n_slots : n_slots + n_c], rest[n_slots + n_c :]
        do = Numbers(b)
        stacks = self.turned(b, stacks)
        slot = self.slots.top(b, stacks)
        step, state = self.slots.step_in(b, slots, slot), self.slots.read(b, slots, slot)
        last = do.plus(end, -1)
        there = self.there(b, [step, *stacks, *slots, last, *consts, *state])
        stacks, slots, state = (
            Stacks(*there[1:4]),
            there[4 : 4 + n_slots],
            there[5 + n_slots + n_c :],
        )
        fresh = do("subtract", do.const(1), a[0]) if known else ""
        following = self.first_next(b, fresh, consts, state, a[:known])
        found = emit_while(
            b,
            [last, last, *stacks, *slots, *consts, *following, *a[known:]],
            [
                *[INDEX] * 5,
                *self.slots.types,
                *self.const_types,
                *self.next_types,
                *self.a_types,
            ],
            lambda b, names: [emit_equal(b, names[0], names[1])],
            self.back,
        )
        return [do.plus(found[1], 1), *found[2:]]

    def there(self, b: Any, state: list[str]) -> list[str]:
        """Forward from the uppermost kept state, until every step before `last` has its slot."""
        limit = 4 + len(self.slots.types)
        types = [*[INDEX] * 4, *self.slots.types, INDEX, *self.const_types, *self.state_types]
        state = emit_while(
            b,
            state,
            types,
            lambda b, names: self.too_far(b, names[0], names[2], names[limit]),
            self.advance,
        )
        return emit_while(
            b, state, types, lambda b, names: [emit_less(b, names[0], names[limit])], self.fill
        )

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
        n_slots = len(self.slots.types)
        stacks, slots, rest = Stacks(*names[2:5]), names[5 : 5 + n_slots], names[5 + n_slots :]
        do = Numbers(b)
        state = self.slots.read(b, slots, self.slots.top(b, stacks))
        found = self.backward(b, rest, state)
        new = do("maximum", do.plus(stacks.new, -1), do.const(0))
        stacks = Stacks(stacks.old, new, stacks.down)
        below = self.slots.step_in(b, slots, self.slots.top(b, stacks))
        return [below, do.plus(names[1], -1), *stacks, *slots, *found]

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
