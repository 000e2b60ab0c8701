"""Precision of products: what users may ask of `dot_general` and convolutions."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from .. import config, errors
from ..core.dtypes import as_dtype, dtype_mlir


class Precision(enum.Enum):
    """How many passes an accelerator spends on a product of float32 numbers.

    DEFAULT is fastest (bfloat16 on TPU, TF32 on recent GPUs), HIGH is in between, HIGHEST is true
    float32. On CPU all three are exact float32 arithmetic.
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class DotAlgorithm(NamedTuple):
    """The algorithm of a dot product, in full.

    Args:
        lhs_precision_type, rhs_precision_type: dtypes that the operands are rounded to.
        accumulation_type: dtype of the sums.
        lhs_component_count, rhs_component_count, num_primitive_operations: for algorithms that
            split operands into several numbers of a narrower dtype; else 1.
        allow_imprecise_accumulation: sums may be narrower in some steps.
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False

    def mlir(self) -> str:
        """StableHLO's text of the algorithm."""
        return (
            f"<lhs_precision_type = {_mlir_type(self.lhs_precision_type)}, "
            f"rhs_precision_type = {_mlir_type(self.rhs_precision_type)}, "
            f"accumulation_type = {_mlir_type(self.accumulation_type)}, "
            f"lhs_component_count = {self.lhs_component_count}, "
            f"rhs_component_count = {self.rhs_component_count}, "
            f"num_primitive_operations = {self.num_primitive_operations}, "
            "allow_imprecise_accumulation = "
            f"{'true' if self.allow_imprecise_accumulation else 'false'}>"
        )


def _mlir_type(dtype: Any) -> str:
    return "tf32" if dtype == "tf32" else dtype_mlir(as_dtype(dtype))


class DotAlgorithmPreset(enum.Enum):
    """Algorithms of dot products that some platform supports, named LHS_RHS_ACCUMULATION.

    ``BF16_BF16_F32_X3`` splits float32 operands into bfloat16 parts and needs three products.
    """

    DEFAULT = 1
    ANY_F8_ANY_F8_F32 = 2
    ANY_F8_ANY_F8_F32_FAST_ACCUM = 3
    ANY_F8_ANY_F8_ANY = 4
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = 5
    F16_F16_F16 = 6
    F16_F16_F32 = 7
    BF16_BF16_BF16 = 8
    BF16_BF16_F32 = 9
    BF16_BF16_F32_X3 = 10
    BF16_BF16_F32_X6 = 11
    BF16_BF16_F32_X9 = 12
    TF32_TF32_F32 = 13
    TF32_TF32_F32_X3 = 14
    F32_F32_F32 = 15
    F64_F64_F64 = 16

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


_BF16, _F16 = np.dtype(ml_dtypes.bfloat16), np.dtype("f2")
_F32, _F64 = np.dtype("f4"), np.dtype("f8")
_TYPES: dict[str, tuple[Any, ...]] = {
    "F16": (_F16, (_F16,)),
    "BF16": (_BF16, (_F32, _BF16)),
    "TF32": ("tf32", (_F32,)),
    "F32": (_F32, (_F32,)),
    "F64": (_F64, (_F64,)),
}
_PASSES = {"X3": 3, "X6": 6, "X9": 9}
CPU_PRESETS = frozenset(
    {
        DotAlgorithmPreset.F16_F16_F16,
        DotAlgorithmPreset.BF16_BF16_BF16,
        DotAlgorithmPreset.BF16_BF16_F32,
        DotAlgorithmPreset.BF16_BF16_F32_X3,
        DotAlgorithmPreset.BF16_BF16_F32_X6,
        DotAlgorithmPreset.F32_F32_F32,
        DotAlgorithmPreset.F64_F64_F64,
        DotAlgorithmPreset.F16_F16_F32,
    }
)


def preset_algorithm(
    preset: DotAlgorithmPreset, lhs: Any, rhs: Any, out: Any
) -> tuple[DotAlgorithm, tuple[Any, ...], tuple[Any, ...]]:
    """The algorithm behind a preset, and the dtypes that each operand may be stored in.

    Args:
        preset: any but DEFAULT.
        lhs, rhs, out: dtypes of operands and result (the float8 presets take them as they are).
    """
    name = preset.name
    if name.startswith("ANY_F8"):
        accumulation = out if "ANY_F8_ANY_F8_ANY" in name else _F32
        fast = name.endswith("FAST_ACCUM")
        return DotAlgorithm(lhs, rhs, accumulation, 1, 1, 1, fast), (lhs,), (rhs,)
    left, right, total, *passes = name.split("_")
    count = _PASSES[passes[0]] if passes else 1
    algorithm = DotAlgorithm(
        _TYPES[left][0], _TYPES[right][0], _TYPES[total][0], 1, 1, count, False
    )
    return algorithm, _TYPES[left][1], _TYPES[right][1]


_WORDS: dict[Any, Precision] = {
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "default": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    None: Precision.DEFAULT,
}
CanonicalPrecision = tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset | None


def canonical_precision(precision: Any, function: str = "dot_general") -> CanonicalPrecision:
    """One form for all that users may give as `precision=`; None takes the configured default."""
    if precision is None:
        precision = config.current().default_matmul_precision
        if precision is None:
            return None
    if isinstance(precision, Precision):
        return precision, precision
    if isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return precision
    if isinstance(precision, str):
        if precision in _WORDS:
            return _WORDS[precision], _WORDS[precision]
        if precision in DotAlgorithmPreset.__members__:
            return DotAlgorithmPreset[precision]
    elif isinstance(precision, (tuple, list)) and len(precision) == 2:
        pair = [p if isinstance(p, Precision) else _WORDS.get(p) for p in precision]
        if pair[0] is not None and pair[1] is not None:
            return pair[0], pair[1]
    raise errors.ValueArgumentError(
        errors.explain(
            function,
            "precision must be None, a Precision or its name, a pair of these, or a DotAlgorithm, "
            "a DotAlgorithmPreset or its name",
            {"precision": precision},
            try_="precision='highest' (names: "
            + ", ".join(repr(w) for w in _WORDS if w is not None)
            + ")",
        )
    )


def precision_text(precision: CanonicalPrecision) -> str:
    """StableHLO's list of operand precisions; empty if nothing was asked for."""
    if not isinstance(precision, tuple) or isinstance(precision, DotAlgorithm):
        return "[DEFAULT, DEFAULT]"
    return f"[{precision[0].name}, {precision[1].name}]"
