"""XLA options picked for each CPU program from a few facts about its text.

What the rules rest on, measured as CPU time of compiling (jaxlib 0.10.2, one x86-64 machine); run
times were equal within noise in all cases, except where a rule says otherwise:

| program | default | option | with it |
|---|---|---|---|
| 1 element-wise op | 48 to 90 ms | no fusion emitters | 27 to 40 ms |
| 64 element-wise ops, 256x256 | 157 ms | no fusion emitters | 94 ms |
| 50 unrolled ODE steps (1050 ops), 256x256 | 1400 ms | no fusion emitters | 640 ms |
| 1000 scalar ops | 885 ms | no fusion emitters, level 0 | 273 ms |
| 200 scalar ops, jaxlib 0.12 | 206 to 426 ms | level 0 | 136 to 216 ms |
| 1 product, or 1 slice | 54, 33 ms | no wrapping of single ops | 31, 20 ms |

Not used, because they lose elsewhere: no fusion emitters where products or transposes are mixed in
(compiles 10 times slower), level 0 for arrays (`logistic` of 64 numbers runs 5 times slower), no
fusion pass (compiles 3 times slower up to some hundred ops, and keeps every intermediate in
memory). jaxlib 0.12 has no switch for the emitters; there only the scalar rule applies.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import xla

Option = str | bool | int | float

SMALL = 8
"""Programs up to this many operations count as small: one or few ops called eagerly."""

ELEMENTWISE = frozenset({
    "abs", "add", "and", "atan2", "bitcast_convert", "broadcast_in_dim", "cbrt", "ceil",
    "clamp", "compare", "complex", "constant", "convert", "cosine", "count_leading_zeros",
    "divide", "exponential", "exponential_minus_one", "floor", "imag", "is_finite", "log",
    "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or",
    "popcnt", "power", "real", "reduce_precision", "remainder", "reshape",
    "round_nearest_afz", "round_nearest_even", "rsqrt", "select", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract",
    "tan", "tanh", "xor",
})  # fmt: skip
"""Operations that read each element of their operands once, in place. Others are not in it on
purpose: products, transposes, reductions, loops, gathers, custom calls, calls of functions."""

_OPERATION = re.compile(r"(?:= |^\s*)\"?(\w+\.\w+|call|return)\b", re.MULTILINE)
_ARRAY = re.compile(r"tensor<\d")


class Facts(NamedTuple):
    """What the rules look at."""

    operations: int
    elementwise: bool
    scalar: bool


def facts(text: str) -> Facts:
    """Count and classify the operations of a module.

    Example:
        >>> facts("%0 = stablehlo.add %a, %b : tensor<f32>\\n return %0 : tensor<f32>")
        Facts(operations=1, elementwise=True, scalar=True)
    """
    names = [n for n in _OPERATION.findall(text) if n not in ("return", "func.func")]
    kinds = set(names)
    return Facts(
        len(names),
        kinds <= {f"stablehlo.{n}" for n in ELEMENTWISE},
        _ARRAY.search(text) is None,
    )


def plan(text: str, platform: str) -> dict[str, Option]:
    """Options of XLA, by name, for a program; empty keeps XLA's defaults.

    Args:
        text: the StableHLO module.
        platform: platform of its devices.
    """
    if platform != "cpu":
        return {}
    known = facts(text)
    has_emitters = "xla_cpu_use_fusion_emitters" in xla.option_names()
    options: dict[str, Option] = {}
    if known.elementwise:
        if known.scalar:
            options["xla_backend_optimization_level"] = 0
        if has_emitters:
            options["xla_cpu_use_fusion_emitters"] = False
    elif known.operations <= SMALL and has_emitters and "stablehlo.scatter" not in text:
        # (XLA:CPU compiles scatter only inside a fusion.)
        options["xla_disable_hlo_passes"] = "fusion-wrapper"
    return options
