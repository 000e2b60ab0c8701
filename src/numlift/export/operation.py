"""Calling an exported program from another program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .. import errors
from ..core.op import Op
from ..core.types import ArrayType
from ..runtime import xla


class CallExported(Op):
    """Apply an exported program; its functions become private functions of the module."""

    name = "call_exported"
    multi = True
    memoise_type = False

    def __init__(self, fun_name: str, modules: Mapping[str, bytes], out_types: Sequence[ArrayType]):
        super().__init__()
        self.fun_name, self.modules, self.out_types = fun_name, dict(modules), list(out_types)

    @property
    def label(self) -> str:
        return f"exported({self.fun_name})"

    def physical(self, *types: ArrayType) -> Op:
        return self

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.out_types

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise errors.GradError(
            errors.explain(
                f"exported {self.fun_name}",
                "forward derivatives of an exported function do not exist",
                try_="export the derivative itself, or serialize(vjp_order=1) and reverse mode",
            )
        )

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        raise errors.VmapError(
            errors.explain(
                f"exported {self.fun_name}",
                "an exported function has fixed shapes and cannot be vectorised",
                try_=f"export(jit(vmap({self.fun_name})))(...), or lax.map over the batch",
            )
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        blob = self.modules.get(ctx.platform)
        if blob is None:
            raise errors.DeviceError(
                errors.explain(
                    f"exported {self.fun_name}",
                    f"it was not exported for the platform {ctx.platform!r}",
                    {"platforms": ", ".join(self.modules)},
                    try_=f"export(f, platforms=[..., {ctx.platform!r}])",
                )
            )
        symbol, functions = _functions(blob)
        for text in functions:
            ctx.module.declare(text)
        ins = ", ".join(t.mlir for t in types)
        results = ", ".join(t.mlir for t in outs)
        return ctx.emit_many(
            f"func.call @{symbol}({', '.join(operands)}) : ({ins}) -> ({results})", len(outs)
        )


@lru_cache(maxsize=64)
def _functions(blob: bytes) -> tuple[str, list[str]]:
    return xla.artifact_functions(blob)
