"""Samples of reductions and scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift import lax
from numlift.core.tracing import apply
from numlift.structural.arith import add, mul

from . import COMPLEX, FLOATS, INTS, SMALL_INTS, Sample

AXES = ((1,), (0, 2), (0, 1, 2))
LOW = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "complex64": 1e-4}


def distinct(rng: Any, dtype: Any) -> tuple[np.ndarray]:
    """Shape (3, 4, 5), no two elements equal, none near zero (also in float8 and small ints)."""
    values = rng.permutation(60).reshape(3, 4, 5) + 1
    return ((values / 4.0 if np.dtype(dtype).kind not in "iu" else values % 100).astype(dtype),)


def small(rng: Any, dtype: Any) -> tuple[np.ndarray]:
    """Shape (3, 4, 5), elements near 1, so that products stay in range."""
    x = rng.uniform(0.6, 1.4, (3, 4, 5))
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.uniform(-0.3, 0.3, x.shape)
    if np.issubdtype(dtype, np.integer):
        x = rng.integers(0, 3, x.shape)
    return (x.astype(dtype),)


def bits(rng: Any, dtype: Any) -> tuple[np.ndarray]:
    """Shape (3, 4, 5), random small numbers."""
    return (rng.integers(0, 2 if np.dtype(dtype) == bool else 8, (3, 4, 5)).astype(dtype),)


def _reduction(name: str, axes: tuple[int, ...], numpy: Any, inputs: Any, **more: Any) -> Sample:
    function = getattr(lax, name)
    return Sample(
        f"{name}/{''.join(map(str, axes))}",
        lambda x: function(x, axes),
        inputs,
        lambda x: numpy(x, axis=axes),
        **more,
    )


def _scan(name: str, axis: int, reverse: bool, numpy: Any, inputs: Any, **more: Any) -> Sample:
    function = getattr(lax, name.split("/")[0])

    def oracle(x: Any) -> Any:
        return np.flip(numpy(np.flip(x, axis), axis), axis) if reverse else numpy(x, axis)

    return Sample(
        f"{name}/{axis}{'/reverse' if reverse else ''}",
        lambda x: function(x, axis, reverse),
        inputs,
        oracle,
        tolerances=LOW,
        **more,
    )


def _bitwise(ufunc: Any) -> Any:
    return lambda x, axis: ufunc.reduce(x, axis=axis)


def _weighted(x: Any, y: Any) -> Any:
    """(w1, v1) and (w2, v2) -> (w1 w2, v1 w2 + v2): associative, not commutative."""
    return apply(mul, x[0], y[0]), apply(add, apply(mul, x[1], y[0]), y[1])


def _weighted_oracle(w: Any, v: Any) -> Any:
    total, value = np.ones(w.shape[:1], w.dtype), np.zeros(w.shape[:1], w.dtype)
    for i in range(w.shape[1]):
        total, value = total * w[:, i], value * w[:, i] + v[:, i]
    return total, value


def _two(rng: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    return tuple(rng.uniform(0.5, 1.5, (3, 5)).astype(dtype) for _ in range(2))  # type: ignore[return-value]


_ANY = ("float16", "bfloat16", "float32", "float64", "int8", "uint16")
_NUMBERS = (*FLOATS, *COMPLEX, *INTS)
_SMOOTH: dict[str, Any] = {"differentiable": (0,), "tolerances": LOW}

SAMPLES: list[Sample] = [
    *(
        _reduction("reduce_sum", a, np.sum, small, dtypes=(*_NUMBERS, *SMALL_INTS[:2]), **_SMOOTH)
        for a in AXES
    ),
    *(_reduction("reduce_prod", a, np.prod, small, dtypes=_NUMBERS, **_SMOOTH) for a in AXES),
    *(_reduction("reduce_max", a, np.max, distinct, dtypes=_ANY, **_SMOOTH) for a in AXES),
    *(_reduction("reduce_min", a, np.min, distinct, dtypes=_ANY, **_SMOOTH) for a in AXES),
    *(
        _reduction(f"reduce_{n}", a, _bitwise(f), bits, dtypes=("bool", "int8", "uint32"))
        for n, f in (
            ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)
        )
        for a in AXES[1:]
    ),
    *(
        Sample(
            f"{name}/{axis}{'/bits' if inputs is bits else ''}",
            lambda x, name=name, axis=axis: getattr(lax, name)(x, axis, np.int32),
            inputs,
            lambda x, name=name, axis=axis: getattr(np, name)(x, axis),
            dtypes=dtypes,
        )
        for name in ("argmax", "argmin")
        for axis in (0, 1, 2)
        for inputs, dtypes in ((distinct, _ANY), (bits, ("bool", "int8")))
        if (inputs is distinct) or axis == 1
    ),
    *(
        _scan("cumsum", a, r, np.cumsum, small, dtypes=_NUMBERS, differentiable=(0,))
        for a, r in ((0, False), (2, True))
    ),
    *(
        _scan("cumprod", a, r, np.cumprod, small, dtypes=_NUMBERS, differentiable=(0,))
        for a, r in ((0, False), (2, True))
    ),
    *(
        _scan(n, a, r, f.accumulate, distinct, dtypes=_ANY, differentiable=(0,))
        for n, f in (("cummax", np.maximum), ("cummin", np.minimum))
        for a, r in ((0, False), (2, True))
    ),
    *(
        _scan("cumlogsumexp", a, r, np.logaddexp.accumulate, small, dtypes=FLOATS,
              differentiable=(0,))
        for a, r in ((0, False), (2, True))
    ),
    *(
        _scan(f"{n}/complex", a, r, f, inputs, dtypes=("complex64", "complex128"),
              differentiable=(0,))
        for n, f, inputs in (
            ("cummax", np.maximum.accumulate, distinct),
            ("cummin", np.minimum.accumulate, distinct),
            ("cumlogsumexp", lambda x, axis: np.log(np.cumsum(np.exp(x), axis)), small),
        )
        for a, r in ((0, False), (2, True))
    ),
    Sample(
        "reduce/several",
        lambda w, v: lax.reduce((w, v), (1.0, 0.0), _weighted, (1,)),
        _two,
        _weighted_oracle,
        differentiable=(0, 1),
    ),
    Sample(
        "reduce/one",
        lambda x: lax.reduce(x, 1.5, lambda a, b: apply(add, a, b), (0, 2)),
        small,
        lambda x: 1.5 + x.sum((0, 2)),
        differentiable=(0,),
    ),
]  # fmt: skip
