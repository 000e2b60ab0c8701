"""Wrong rules, put in on purpose: the tests must find each.

Rules stay wrong until the process ends: programs are cached by operation.
"""

from __future__ import annotations

from typing import Any

from numlift.core.op import Op
from numlift.core.tracing import apply, type_of
from numlift.ops.cond import Cond
from numlift.ops.dot import DotGeneral
from numlift.ops.elementwise_trig import Sin
from numlift.ops.gather import Gather
from numlift.ops.scan import Scan
from numlift.ops.slicing import Slice
from numlift.structural.arith import Mul, mul
from numlift.structural.shape import Broadcast, ReduceSum, Transpose


def scaled(x: Any) -> Any:
    """`x` times 1.25, if it is a float."""
    if x is None or type_of(x).kind != "f":
        return x
    return apply(mul, x, type_of(x).dtype.type(1.25))


def scaled_all(found: Any) -> Any:
    """One value or several, scaled."""
    return [scaled(x) for x in found] if isinstance(found, (list, tuple)) else scaled(found)


def break_jvp(op: type[Op]) -> None:
    """Tangents of the result are too long."""
    rule = op.jvp

    def wrong(self: Op, primals: Any, tangents: Any) -> Any:
        out, tangent = rule(self, primals, tangents)
        return out, scaled_all(tangent)

    op.jvp = wrong  # type: ignore[method-assign]


def break_transpose(op: type[Op]) -> None:
    """Cotangents are too long."""
    rule = op.transpose

    def wrong(self: Op, ct: Any, *inputs: Any) -> Any:
        return scaled_all(list(rule(self, ct, *inputs)))

    op.transpose = wrong  # type: ignore[method-assign]


def break_vmap(op: type[Op]) -> None:
    """Results for batches are too large."""
    rule = op.vmap

    def wrong(self: Op, size: int, args: Any, dims: Any) -> Any:
        out, out_dim = rule(self, size, args, dims)
        return scaled_all(out), out_dim

    op.vmap = wrong  # type: ignore[method-assign]


MUTATIONS = {
    "sin-jvp": lambda: break_jvp(Sin),
    "mul-jvp": lambda: break_jvp(Mul),
    "dot-jvp": lambda: break_jvp(DotGeneral),
    "dot-vmap": lambda: break_vmap(DotGeneral),
    "dot-transpose": lambda: break_transpose(DotGeneral),
    "sum-transpose": lambda: break_transpose(ReduceSum),
    "sum-vmap": lambda: break_vmap(ReduceSum),
    "broadcast-transpose": lambda: break_transpose(Broadcast),
    "transpose-transpose": lambda: break_transpose(Transpose),
    "slice-transpose": lambda: break_transpose(Slice),
    "gather-vmap": lambda: break_vmap(Gather),
    "scan-transpose": lambda: break_transpose(Scan),
    "cond-transpose": lambda: break_transpose(Cond),
}


def break_rule(name: str) -> None:
    """Replace a rule by a wrong one, for the rest of the process."""
    MUTATIONS[name]()
