"""Keep part of a program apart from XLA's fusion on CPU.

XLA fuses a cheap-looking producer into each consumer and computes it again there. Where that is
ruinous (a value that nine consumers use), the producer becomes a function that is not inlined: its
result is written to memory once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.types import ArrayType


def apart(
    ctx: Any,
    hint: str,
    operands: Sequence[str],
    types: Sequence[ArrayType],
    outs: Sequence[ArrayType],
    body: Callable[[Any, list[str]], Sequence[str]],
) -> list[str]:
    """Results of `body(builder, names)`, computed in a function of its own.

    Args:
        ctx: where to emit the call.
        hint: name of the function.
        operands: texts of the operands.
        types: their types.
        outs: types of the results.
        body: emits the computation into another builder; it must use its own operands only.
    """
    if ctx.platform != "cpu":
        return list(body(ctx, list(operands)))
    inner = type(ctx)(ctx.module)
    names = [f"%arg{i}" for i in range(len(types))]
    results = body(inner, names)
    given = ", ".join(f"{n}: {t.mlir}" for n, t in zip(names, types, strict=True))
    ins, made = (", ".join(t.mlir for t in ts) for ts in (types, outs))
    end = f"return {', '.join(results)} : {made}"
    text = "\n".join([*inner.lines, end])
    name = ctx.module.private(f"({given}) -> ({made})", text, hint)
    return list(
        ctx.emit_many(
            f"func.call @{name}({', '.join(operands)}) "
            f'{{mhlo.frontend_attributes = {{inlineable = "false"}}}} : ({ins}) -> ({made})',
            len(outs),
        )
    )
