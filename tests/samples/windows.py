"""Samples of windowed reductions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from numlift.core.tracing import apply
from numlift.lax.conv_shapes import padtype_to_pads
from numlift.lax.windows import reduce_window
from numlift.ops.elementwise_binary import max_, min_
from numlift.structural.arith import add, mul

from . import Sample
from .reductions import distinct, small

Case = tuple[Any, Any, Any, Any, Any]

CASES: dict[str, Case] = {
    "pool": ((1, 2, 2), (1, 2, 2), "VALID", None, None),
    "same": ((1, 3, 3), None, "SAME", None, None),
    "dilated": ((1, 2, 2), (1, 1, 2), ((0, 0), (1, 2), (0, 1)), None, (1, 2, 3)),
    "base": ((2, 2, 3), (1, 2, 1), ((1, 0), (1, 1), (0, 2)), (1, 2, 2), None),
    "long": ((1, 1, 5), None, ((0, 0), (0, 0), (4, 0)), None, None),
    "cropped": ((1, 2, 2), None, ((0, 0), (-1, 0), (0, -1)), None, None),
}
STARTS: dict[str, tuple[Any, float, Any]] = {
    "sum": (add, 0.0, np.add), "max": (max_, -np.inf, np.maximum),
    "min": (min_, np.inf, np.minimum), "prod": (mul, 1.0, np.multiply),
}  # fmt: skip


def windowed(x: np.ndarray, ufunc: Any, start: float, case: Case) -> np.ndarray:
    """The definition, in NumPy."""
    sizes, strides, padding, base, dilation = ((1,) * x.ndim if c is None else c for c in case)
    if isinstance(padding, str):
        padding = padtype_to_pads(x.shape, sizes, strides, padding)
    grown = np.full([(n - 1) * b + 1 for n, b in zip(x.shape, base, strict=True)], start, x.dtype)
    grown[tuple(slice(None, None, b) for b in base)] = x
    grown = np.pad(grown, [(max(a, 0), max(b, 0)) for a, b in padding], constant_values=start)
    cut = [
        slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(grown.shape, padding, strict=True)
    ]
    grown = grown[tuple(cut)]
    spans = [(w - 1) * d + 1 for w, d in zip(sizes, dilation, strict=True)]
    shape = [(n - w) // s + 1 for n, w, s in zip(grown.shape, spans, strides, strict=True)]
    out = np.full(shape, start, x.dtype)
    for offset in itertools.product(*map(range, sizes)):
        part = [
            slice(k * d, k * d + (o - 1) * s + 1, s)
            for k, d, o, s in zip(offset, dilation, shape, strides, strict=True)
        ]
        out = ufunc(out, grown[tuple(part)])
    return out


def _sample(kind: str, case_name: str) -> Sample:
    op, start, ufunc = STARTS[kind]
    case = CASES[case_name]
    return Sample(
        f"reduce_window_{kind}/{case_name}",
        lambda x: reduce_window(x, start, lambda a, b: apply(op, a, b), *case),
        small if kind == "prod" else distinct,
        lambda x: windowed(x, ufunc, start, case),
        dtypes=("float16", "bfloat16", "float32", "float64"),
        differentiable=(0,),
        tolerances={"float16": 2e-2, "bfloat16": 1e-1},
    )


SAMPLES: list[Sample] = [
    _sample(kind, case) for kind in STARTS for case in CASES if kind != "prod" or case != "same"
]
