"""StableHLO of a bounded while loop, with or without slots in which it keeps states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.types import ArrayType
from .callback import ORDERED
from .loop_lowering import FLAG, INDEX, emit_add, emit_less, emit_while
from .loop_slots import Numbers, Slots, Stacks

if TYPE_CHECKING:
    from .bounded_while import BoundedWhile


class BoundedLowering:
    """Writes one loop. Its state is (step, consts, carry), then what `segment` needs or an end."""

    def __init__(self, loop: BoundedWhile, types: list[ArrayType]):
        self.loop, self.k = loop, len(loop.body.outputs)
        self.n_c, n = loop.n_condition, loop.n_condition + loop.n_body
        self.first, self.last = 1 + n, 1 + n + self.k
        carry_types = [t.physical for t in loop.body.out_types]
        self.types = [INDEX, *(t.physical for t in types[:n]), *carry_types]
        self.slots = Slots(loop.max_steps, loop.checkpoints, carry_types)
        self.ordered = ORDERED in loop.effects

    def run(self, ctx: Any, operands: list[str]) -> list[str]:
        """Names of the last carry, the number of steps, and what was kept (`GivenStates`)."""
        zero = ctx.full(0, INDEX)
        state = [zero, *operands]
        if self.loop.save:
            slots = [ctx.full(0, t) for t in self.slots.types]
            if self.loop.max_steps:
                if self.slots.whole:
                    return self._saving_all(ctx, [*state, self.slots.all_steps(ctx), *slots[1:]])
                state += [zero, zero, zero, zero, *slots]
                return self._saving(ctx, state)
            return [*operands[self.first - 1 :], zero, zero, zero, zero, *slots]
        if self.loop.max_steps:
            limit = self.loop.max_steps
            state = emit_while(
                ctx,
                state,
                self.types,
                lambda b, names: self.test(b, names, b.full(limit, INDEX)),
                self.step,
                self.ordered,
            )
        return [*state[self.first : self.last], state[0]]

    def _saving(self, ctx: Any, state: list[str]) -> list[str]:
        limit = self.loop.max_steps
        found = emit_while(
            ctx,
            state,
            [*self.types, INDEX, INDEX, INDEX, INDEX, *self.slots.types],
            lambda b, names: self.test(b, names, b.full(limit, INDEX)),
            self.segment,
            self.ordered,
        )
        return [*found[self.first : self.last], found[0], *found[self.last + 1 :]]

    def _saving_all(self, ctx: Any, state: list[str]) -> list[str]:
        """Every carry is kept: one loop does, and one stack."""
        limit = self.loop.max_steps

        def keep(b: Any, names: list[str]) -> list[str]:
            slot = self.slots.of_step(b, names[0])
            carry = names[self.first : self.last]
            slots = self.slots.write(b, names[self.last :], slot, None, carry)
            return self.step(b, [*names[: self.last], *slots])

        found = emit_while(
            ctx,
            state,
            [*self.types, *self.slots.types],
            lambda b, names: self.test(b, names, b.full(limit, INDEX)),
            keep,
            self.ordered,
        )
        do = Numbers(ctx)
        size = do("maximum", do.plus(found[0], -1), do.const(0))
        stacks = Stacks(do.const(0), size, do.const(0))
        return [*found[self.first : self.last], found[0], *stacks, *found[self.last :]]

    def test(self, b: Any, names: list[str], limit: str) -> list[str]:
        """Whether to take a step: the condition holds and the limit is not reached."""
        inputs = [*names[1 : 1 + self.n_c], *names[self.first : self.last]]
        (goes_on,) = b.inline(self.loop.condition, inputs)
        within = emit_less(b, names[0], limit)
        return [b.emit(f"stablehlo.and {goes_on}, {within} : {FLAG.mlir}")]

    def step(self, b: Any, names: list[str]) -> list[str]:
        """One step of the body."""
        new = b.inline(self.loop.body, names[1 + self.n_c : self.last])
        return [emit_add(b, names[0], 1), *names[1 : self.first], *new, *names[self.last :]]

    def segment(self, b: Any, names: list[str]) -> list[str]:
        """Keep the carry in a slot, then take the steps up to the next one to be kept."""
        do = Numbers(b)
        step, carry = names[0], names[self.first : self.last]
        stage, *sizes = names[self.last : self.last + 4]
        stage, stacks = self.placed(b, step, stage, Stacks(*sizes))
        slot = self.slots.top(b, stacks)
        slots = self.slots.write(b, names[self.last + 4 :], slot, step, carry)
        length = self.length(b, stage, stacks.new)
        limit = b.full(self.loop.max_steps, INDEX)
        end = do("add", step, do("minimum", length, do("subtract", limit, step)))
        inner = emit_while(
            b,
            [*names[: self.last], end],
            [*self.types, INDEX],
            lambda b, state: self.test(b, state, state[-1]),
            self.step,
            self.ordered,
        )
        return [*inner[:-1], stage, *stacks, *slots]

    def placed(self, b: Any, step: str, stage: str, stacks: Stacks) -> tuple[str, Stacks]:
        """The stage and the stacks with room for the state at `step` (none at step 0).

        With all slots taken by this stage, the next one begins, at the other end.
        """
        do = Numbers(b)
        c = do.const(self.loop.checkpoints)
        later = do.as_number(do.test("GT", step, do.const(0)))
        full = do.test("EQ", stacks.new, c)
        old = do.select(full, c, stacks.old)
        new = do.select(full, do.const(0), stacks.new)
        turned = do("subtract", do.const(1), stacks.down)
        down = do.select(full, turned, stacks.down)
        stage = do("add", stage, do.as_number(full))
        return stage, self.slots.pushed(b, Stacks(old, new, down), later)

    def length(self, b: Any, stage: str, new: str) -> str:
        """Steps from the state just kept to the next: beta(c - new + 1, stage), counted from 0.

        The last segment of a stage is longer by one (`checkpoint_schedule`).
        """
        do = Numbers(b)
        c = do.const(self.loop.checkpoints)
        states = do.plus(do("subtract", c, new), 1)
        last = do.as_number(do.test("EQ", new, c))
        return do("add", self.slots.reach(b, states, stage), last)
