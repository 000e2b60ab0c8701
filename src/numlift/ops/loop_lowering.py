"""StableHLO of loops: the while operation, rows of stacked values, the loop of a scan.

A loop always counts upwards from 0 to a constant where it can, whichever way a scan goes: XLA then
knows the number of steps and does not evaluate the condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dims import Dim
from ..core.dtypes import dtype_mlir
from ..core.types import ArrayType, array_type
from .callback import ORDERED, TOKEN, emit_running

if TYPE_CHECKING:
    from .scan import Scan

INDEX = array_type((), np.dtype(np.int32))
FLAG = array_type((), np.dtype(np.bool_))


def emit_while(
    ctx: Any, state: list[str], types: list[Any], test: Any, do: Any, ordered: bool = False
) -> list[str]:
    """A stablehlo.while over `state`; returns the names of its results.

    With ordered effects inside, their token travels along as the last value of the state.
    """
    if ordered:
        state, types = [*state, ctx.take_token()], [*types, TOKEN]
        test, do = _with_token(test, False), _with_token(do, True)
    calls = ctx.module.host_calls
    cond, body = ctx.region(types, test, [FLAG]), ctx.region(types, do, types)
    if ctx.module.mesh is not None and ctx.module.host_calls != calls:
        # After a failure callbacks give zeros, and a loop that waits for more would never end.
        cond = ctx.region(types, _while_running(test), [FLAG])
    texts = ", ".join(t.mlir for t in types)
    found = ctx.emit_many(
        f'"stablehlo.while"({", ".join(state)}) ({cond}, {body}) : ({texts}) -> ({texts})',
        len(state),
    )
    if ordered:
        ctx.token = found[-1]
        return found[:-1]
    return found


def _while_running(test: Any) -> Any:
    """A condition that is also false once a callback of the program has failed."""

    def run(b: Any, names: list[str]) -> list[str]:
        (found,) = test(b, names)
        return [b.emit(f"stablehlo.and {found}, {emit_running(b)} : {FLAG.mlir}")]

    return run


def _with_token(body: Any, returned: bool) -> Any:
    """A region's body that starts with the token in its last argument."""

    def run(b: Any, names: list[str]) -> list[str]:
        b.token = names[-1]
        found = body(b, names[:-1])
        return [*found, b.token] if returned else found

    return run


def emit_less(ctx: Any, i: str, limit: str) -> str:
    """Whether i < limit, for int32 scalars."""
    t = INDEX.mlir
    return ctx.emit(f"stablehlo.compare LT, {i}, {limit}, SIGNED : ({t}, {t}) -> {FLAG.mlir}")


def emit_equal(ctx: Any, i: str, j: str) -> str:
    """Whether i == j, for int32 scalars."""
    t = INDEX.mlir
    return ctx.emit(f"stablehlo.compare EQ, {i}, {j}, SIGNED : ({t}, {t}) -> {FLAG.mlir}")


def emit_add(ctx: Any, i: str, step: int) -> str:
    """i + step, for an int32 scalar."""
    return ctx.emit(f"stablehlo.add {i}, {ctx.full(step, INDEX)} : {INDEX.mlir}")


def get_row(ctx: Any, x: str, t: ArrayType, i: str) -> str:
    """x[i] along the leading axis."""
    one = array_type((1, *t.shape[1:]), t.dtype)
    row = array_type(t.shape[1:], t.dtype)
    zeros = [ctx.full(0, INDEX)] * (t.ndim - 1)
    sizes = ", ".join(map(str, one.shape))
    scalars = ", ".join([INDEX.mlir] * t.ndim)
    cut = ctx.emit(
        f"stablehlo.dynamic_slice {x}, {', '.join([i, *zeros])}, sizes = [{sizes}] : "
        f"({t.mlir}, {scalars}) -> {one.mlir}"
    )
    return ctx.emit(f"stablehlo.reshape {cut} : ({one.mlir}) -> {row.mlir}")


def set_row(ctx: Any, y: str, t: ArrayType, value: str, i: str) -> str:
    """y with y[i] = value."""
    one = f"tensor<{'x'.join([*map(str, (1, *t.shape[1:])), dtype_mlir(t.dtype)])}>"
    row = array_type(t.shape[1:], t.dtype)
    value = ctx.emit(f"stablehlo.reshape {value} : ({row.mlir}) -> {one}")
    zeros = [ctx.full(0, INDEX)] * (t.ndim - 1)
    scalars = ", ".join([INDEX.mlir] * t.ndim)
    return ctx.emit(
        f"stablehlo.dynamic_update_slice {y}, {value}, {', '.join([i, *zeros])} : "
        f"({t.mlir}, {one}, {scalars}) -> {t.mlir}"
    )


class ScanLowering:
    """Writes one scan: a while loop over rounds of steps, and the steps that are left over.

    The state of the loop is (step, consts, carry, xs, ys).
    """

    def __init__(self, scan: Scan, types: list[ArrayType]):
        self.scan = scan
        c, k = scan.n_consts, scan.n_carry
        self.bounds = (1, 1 + c, 1 + c + k, 1 + c + k + len(types) - c - k)
        self.x_types = [t.physical for t in types[c + k :]]
        self.y_types = [t.physical for t in scan.out_type()[k:]]
        carry_types = [t.physical for t in scan.body.in_types[c : c + k]]
        const_types = [t.physical for t in types[:c]]
        self.types = [INDEX, *const_types, *carry_types, *self.x_types, *self.y_types]

    def run(self, ctx: Any, operands: list[str]) -> list[str]:
        """Names of the last carry and the ys."""
        scan = self.scan
        ys = [ctx.full(0, t) for t in self.y_types]
        first, last = scan.n_consts, scan.n_consts + scan.n_carry
        if scan.length == 0:
            return [*operands[first:last], *ys]
        # a symbolic number of steps cannot leave some over
        one_by_one = scan.counted or type(scan.length) is Dim
        steps = 1 if one_by_one else max(1, min(scan.unroll, scan.length))
        rounds, left = divmod(scan.length, steps)
        state = [ctx.full(0, INDEX), *operands, *ys]
        if one_by_one or rounds > 1:

            def test(b: Any, names: list[str]) -> list[str]:
                limit = names[1] if scan.counted else b.full(rounds * steps, INDEX)
                return [emit_less(b, names[0], limit)]

            def do(b: Any, names: list[str]) -> list[str]:
                for _ in range(steps):
                    names = self.step(b, names)
                return names

            state = emit_while(ctx, state, self.types, test, do, ORDERED in scan.effects)
        else:
            left = scan.length
        for _ in range(left):
            state = self.step(ctx, state)
        a, b, c = self.bounds[1:]
        return [*state[a:b], *state[c:]]

    def step(self, b: Any, state: list[str]) -> list[str]:
        """One step of the body."""
        start, a, k, c = self.bounds
        consts, carry, xs, ys = state[start:a], state[a:k], state[k:c], state[c:]
        row = self.row(b, state)
        rows = [get_row(b, x, t, row) for x, t in zip(xs, self.x_types, strict=True)]
        found = b.inline(self.scan.body, [*consts, *carry, *rows])
        n = self.scan.n_carry
        new_ys = [
            set_row(b, y, t, value, row)
            for y, t, value in zip(ys, self.y_types, found[n:], strict=True)
        ]
        return [emit_add(b, state[0], 1), *consts, *found[:n], *xs, *new_ys]

    def row(self, b: Any, state: list[str]) -> str:
        """The row of xs and ys that a step works on."""
        scan = self.scan
        if not scan.reverse:
            return state[0]
        last = emit_add(b, state[1], -1) if scan.counted else b.full(scan.length - 1, INDEX)
        return b.emit(f"stablehlo.subtract {last}, {state[0]} : {INDEX.mlir}")
