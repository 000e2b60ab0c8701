"""Calling an exported program from another program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .. import errors
from ..core.dim_scope import SymbolicScope
from ..core.op import Op
from ..core.types import ArrayType
from ..runtime import xla
from .sizes import evaluated
from .spread import check_devices
from .template import filled_functions


class CallExported(Op):
    """Apply an exported program; its functions become private functions of the module."""

    name = "call_exported"
    multi = True
    memoise_type = False

    def __init__(
        self,
        fun_name: str,
        modules: Mapping[str, bytes],
        out_types: Sequence[ArrayType],
        nr_devices: int = 1,
    ):
        super().__init__()
        self.fun_name, self.modules, self.out_types = fun_name, dict(modules), list(out_types)
        self.nr_devices = nr_devices

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
                "an exported function cannot be vectorised",
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
        mesh = ctx.module.mesh
        check_devices(
            f"exported {self.fun_name}", self.nr_devices, 1 if mesh is None else mesh.size
        )
        symbol, functions = self.functions(blob)
        for text in functions:
            ctx.module.declare(text)
        ins = ", ".join(t.mlir for t in types)
        results = ", ".join(t.mlir for t in outs)
        return ctx.emit_many(
            f"func.call @{symbol}({', '.join(operands)}) : ({ins}) -> ({results})", len(outs)
        )

    def functions(self, blob: bytes) -> tuple[str, list[str]]:
        """Name of the entry, and the functions of a program as text."""
        return _functions(blob)


class CallTemplate(CallExported):
    """Apply an exported program with symbolic sizes, for these sizes."""

    def __init__(
        self,
        fun_name: str,
        templates: Mapping[str, bytes],
        out_types: Sequence[ArrayType],
        scope: SymbolicScope,
        sizes: Mapping[str, Any],
    ):
        super().__init__(fun_name, templates, [evaluated(t, sizes) for t in out_types])
        self.scope, self.sizes = scope, dict(sizes)

    def functions(self, blob: bytes) -> tuple[str, list[str]]:
        return filled_functions(blob, self.scope, self.sizes)


@lru_cache(maxsize=64)
def _functions(blob: bytes) -> tuple[str, list[str]]:
    return xla.artifact_functions(blob)
