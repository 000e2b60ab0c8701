"""StableHLO of a bounded while loop, with or without the states at the starts of segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.types import ArrayType
from .callback import ORDERED
from .loop_lowering import FLAG, INDEX, emit_add, emit_less, emit_while, set_row

if TYPE_CHECKING:
    from .bounded_while import BoundedWhile


class BoundedLowering:
    """Writes one loop. Its state is (step, consts, carry), then stacks or the end of a segment."""

    def __init__(self, loop: BoundedWhile, types: list[ArrayType]):
        self.loop, self.k = loop, len(loop.body.outputs)
        self.n_c, n = loop.n_condition, loop.n_condition + loop.n_body
        self.first, self.last = 1 + n, 1 + n + self.k
        carry_types = [t.physical for t in loop.body.out_types]
        self.types = [INDEX, *(t.physical for t in types[:n]), *carry_types]
        self.stack_types = [t.physical for t in loop.out_type()[self.k + 1 :]]
        self.ordered = ORDERED in loop.effects

    def run(self, ctx: Any, operands: list[str]) -> list[str]:
        """Names of the last carry, the number of steps, and the stacks."""
        zero = ctx.full(0, INDEX)
        stacks = [ctx.full(0, t) for t in self.stack_types]
        if self.loop.max_steps == 0:
            return [*operands[self.first - 1 :], zero, *stacks]
        found = emit_while(
            ctx,
            [zero, *operands, *stacks],
            [*self.types, *self.stack_types],
            lambda b, names: self.test(b, names, b.full(self.loop.max_steps, INDEX)),
            self.segment if self.loop.save else self.step,
            self.ordered,
        )
        return [*found[self.first : self.last], found[0], *found[self.last :]]

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
        """Write the carry into its row of the stacks, then take the steps of one segment."""
        t = INDEX.mlir
        spacing = b.full(self.loop.spacing, INDEX)
        row = b.emit(f"stablehlo.divide {names[0]}, {spacing} : {t}")
        carry, stacks = names[self.first : self.last], names[self.last :]
        written = [
            set_row(b, y, of, x, row)
            for y, of, x in zip(stacks, self.stack_types, carry, strict=True)
        ]
        end = emit_add(b, names[0], self.loop.spacing)
        bound = b.full(self.loop.max_steps, INDEX)
        end = b.emit(f"stablehlo.minimum {end}, {bound} : {t}")
        inner = emit_while(
            b,
            [*names[: self.last], end],
            [*self.types, INDEX],
            lambda b, state: self.test(b, state, state[-1]),
            self.step,
            self.ordered,
        )
        return [*inner[:-1], *written]
