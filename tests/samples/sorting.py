"""Samples of sorting, the k largest, and associative scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift.core.tracing import apply
from numlift.lax import sorting as lax
from numlift.structural.arith import add, mul

from . import FLOATS, Sample
from .reductions import distinct

_ANY = (*FLOATS, "int8", "int64", "uint32")


def _pair(rng: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    (keys,) = distinct(rng, dtype)
    return keys, rng.standard_normal(keys.shape).astype(np.float32)


def _sorted_pair(axis: int) -> Any:
    def oracle(keys: Any, values: Any) -> Any:
        order = np.argsort(keys, axis, kind="stable")
        return np.take_along_axis(keys, order, axis), np.take_along_axis(values, order, axis)

    return oracle


def _top(k: int, axis: int) -> Any:
    def oracle(x: Any) -> Any:
        order = np.argsort(-x.astype(np.float64), axis, kind="stable")
        order = np.take(order, np.arange(k), axis)
        return np.take_along_axis(x, order, axis), order

    return oracle


def _recurrence(a: Any, b: Any) -> Any:
    return apply(mul, a[0], b[0]), apply(add, apply(mul, a[1], b[0]), b[1])


def _recurrence_oracle(w: Any, v: Any) -> Any:
    totals, values = [w[0]], [v[0]]
    for i in range(1, len(w)):
        totals.append(totals[-1] * w[i])
        values.append(values[-1] * w[i] + v[i])
    return np.stack(totals), np.stack(values)


SAMPLES: list[Sample] = [
    *(
        Sample(
            f"sort/{axis}",
            lambda x, axis=axis: lax.sort(x, axis),
            distinct,
            lambda x, axis=axis: np.sort(x, axis),
            dtypes=_ANY,
            differentiable=(0,),
        )
        for axis in (0, 1, 2)
    ),
    *(
        Sample(
            f"sort_key_val/{axis}",
            lambda k, v, axis=axis: lax.sort_key_val(k, v, axis),
            _pair,
            _sorted_pair(axis),
            dtypes=("float32", "int32", "int8"),
            differentiable=(0, 1),
        )
        for axis in (0, 2)
    ),
    *(
        Sample(
            f"top_k/{axis}",
            lambda x, k=k, axis=axis: lax.top_k(x, k, axis=axis),
            distinct,
            _top(k, axis),
            dtypes=_ANY,
            differentiable=(0,),
        )
        for k, axis in ((3, 2), (2, 0), (4, 1))
    ),
    *(
        Sample(
            f"associative_scan/{n}",
            lambda w, v: lax.associative_scan(_recurrence, (w, v)),
            lambda rng, dtype, n=n: tuple(
                rng.uniform(0.5, 1.5, (n, 2)).astype(dtype) for _ in range(2)
            ),
            _recurrence_oracle,
            differentiable=(0, 1),
        )
        for n in (1, 2, 5, 8)
    ),
]
