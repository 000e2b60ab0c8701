"""Samples of slices, dynamic slices, gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift import lax

from . import COMPLEX, FLOATS, INTS, Sample

ALL = ("bool", *INTS, *FLOATS, *COMPLEX)
NUMBERS = (*INTS, *FLOATS, *COMPLEX)
REAL = (*INTS, *FLOATS)
Gather = lax.GatherDimensionNumbers
Scatter = lax.ScatterDimensionNumbers


def values(rng: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Different small numbers, exact in every dtype; random bools."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    numbers = rng.permutation(np.arange(1, 1 + int(np.prod(shape)))).reshape(shape)
    if dtype.kind == "c":
        return (numbers + 1j * (numbers % 3)).astype(dtype)
    return numbers.astype(dtype)


def arrays(*shapes: tuple[int, ...]) -> Any:
    """`inputs` of a sample: arrays of these shapes."""
    return lambda rng, dtype: tuple(values(rng, s, dtype) for s in shapes)


def with_index(shapes: list[tuple[int, ...]], *index: Any) -> Any:
    """`inputs` of a sample: arrays of these shapes, then fixed integer arrays."""

    def make(rng: Any, dtype: Any) -> tuple[np.ndarray, ...]:
        return (*(values(rng, s, dtype) for s in shapes), *(np.asarray(i) for i in index))

    return make


def moved(start: Any, size: int, window: int) -> int:
    """A start index as dynamic slices use it."""
    start = int(start)
    return max(0, min(start + size if start < 0 else start, size - window))


def dynamic_slice(x: np.ndarray, i: Any, j: Any) -> np.ndarray:
    """Window of shape (2, 3)."""
    a, b = moved(i, x.shape[0], 2), moved(j, x.shape[1], 3)
    return x[a : a + 2, b : b + 3]


def dynamic_update(x: np.ndarray, u: np.ndarray, i: Any, j: Any) -> np.ndarray:
    """Window of u's shape replaced."""
    a, b = moved(i, x.shape[0], u.shape[0]), moved(j, x.shape[1], u.shape[1])
    out = x.copy()
    out[a : a + u.shape[0], b : b + u.shape[1]] = u
    return out


def gather_windows(x: np.ndarray, indices: np.ndarray, mode: str) -> np.ndarray:
    """Windows (2, x.shape[1]) at rows `indices[k, 0]`; mode clip or fill with 5."""
    found = []
    for (i,) in indices:
        inside = 0 <= i <= x.shape[0] - 2
        i = max(0, min(int(i), x.shape[0] - 2))
        found.append(x[i : i + 2] if inside or mode == "clip" else np.full_like(x[:2], 5))
    return np.stack(found)


def scatter_rows(kind: Any, mode: str) -> Any:
    """Oracle of a scatter of whole rows, one after the other."""

    def run(x: np.ndarray, updates: np.ndarray, indices: np.ndarray) -> np.ndarray:
        out = x.copy()
        for (i,), u in zip(indices, updates, strict=True):
            i = int(i)
            if mode == "clip":
                i = max(0, min(i, x.shape[0] - 1))
            if 0 <= i < x.shape[0]:
                out[i] = kind(out[i], u)
        return out

    return run


ROWS = Gather((1, 2), (), (0,))
ROW = Scatter((1,), (0,), (0,))
INSIDE, REPEATED = [[2], [0]], [[2], [0], [2]]
OUTSIDE = [[2], [9], [-1], [0]]

SAMPLES: list[Sample] = [
    Sample(
        "slice", lambda x: lax.slice(x, (1, 0), (4, 5), (1, 2)), arrays((5, 6)),
        lambda x: x[1:4, 0:5:2], ALL, (0,),
    ),
    Sample("slice/empty", lambda x: lax.slice(x, (2,), (2,)), arrays((5,)), lambda x: x[2:2], ALL),
    Sample(
        "slice_in_dim", lambda x: lax.slice_in_dim(x, 1, -1, 2, axis=-1), arrays((2, 6)),
        lambda x: x[:, 1:-1:2], differentiable=(0,),
    ),
    Sample(
        "index_in_dim", lambda x: lax.index_in_dim(x, -2, 1, keepdims=False), arrays((2, 6)),
        lambda x: x[:, -2], differentiable=(0,),
    ),
    Sample(
        "dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
        with_index([(4, 5)], np.int32(1), np.int32(-4)), dynamic_slice, ALL, (0,),
    ),
    Sample(
        "dynamic_slice/clamped", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
        with_index([(4, 5)], np.uint8(250), np.int8(-100)), dynamic_slice, differentiable=(0,),
    ),
    Sample(
        "dynamic_slice/vector", lambda x, i: lax.dynamic_slice(x, i, (2, 3)),
        with_index([(4, 5)], np.array([9, -4])), lambda x, i: dynamic_slice(x, i[0], i[1]),
        differentiable=(0,),
    ),
    Sample(
        "dynamic_slice/whole_axis", lambda x, i, j: lax.dynamic_slice(x, (i, j), (4, 2)),
        with_index([(4, 5)], np.int32(1), np.int32(2)), lambda x, i, j: x[:, 2:4],
        differentiable=(0,),
    ),
    Sample(
        "dynamic_update_slice", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
        with_index([(4, 5), (2, 3)], np.int32(1), np.int32(-4)), dynamic_update, ALL, (0, 1),
    ),
    Sample(
        "dynamic_update_slice/clamped", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
        with_index([(4, 5), (2, 3)], np.uint8(250), np.int8(-100)), dynamic_update,
        differentiable=(0, 1),
    ),
    Sample(
        "dynamic_update_slice/vector", lax.dynamic_update_slice,
        with_index([(4, 5), (2, 3)], np.array([9, -4])),
        lambda x, u, i: dynamic_update(x, u, i[0], i[1]), differentiable=(0, 1),
    ),
    Sample(
        "gather/clip", lambda x, i: lax.gather(x, i, ROWS, (2, 3), mode="clip"),
        with_index([(4, 3)], OUTSIDE), lambda x, i: gather_windows(x, i, "clip"), ALL, (0,),
    ),
    Sample(
        "gather/fill", lambda x, i: lax.gather(x, i, ROWS, (2, 3), mode="fill", fill_value=5),
        with_index([(4, 3)], OUTSIDE), lambda x, i: gather_windows(x, i, "fill"), NUMBERS, (0,),
    ),
    Sample(
        "gather/one_window", lambda x, i: lax.gather(x, i, ROWS, (2, 3), mode="fill", fill_value=5),
        with_index([(4, 3)], [[3]]), lambda x, i: gather_windows(x, i, "fill"), NUMBERS, (0,),
    ),
    Sample(
        "gather/uint8",
        lambda x, i: lax.gather(x, i, Gather((), (0,), (0,)), (1,), mode="fill", fill_value=0),
        with_index([(5,)], np.array([[255], [4], [5]], np.uint8)),
        lambda x, i: np.array([0, x[4], 0], x.dtype), NUMBERS, (0,),
    ),
    Sample(
        "gather/batching",
        lambda x, i: lax.gather(
            x, i, Gather((), (1,), (1,), (0,), (0,)), (1, 1), mode="clip", unique_indices=False
        ),
        with_index([(3, 4)], np.array([[[0], [3]], [[2], [2]], [[9], [1]]])),
        lambda x, i: np.take_along_axis(x, np.clip(i[..., 0], 0, 3), 1), differentiable=(0,),
    ),
    Sample(
        "index_take", lambda x, i, j: lax.index_take(x, (i, j), (2, 0)),
        with_index([(3, 2, 4)], np.array([0, -1]), np.array([2, 1])),
        lambda x, i, j: np.stack([x[2, :, 0], x[1, :, 3]]), differentiable=(0,),
    ),
    Sample(
        "scatter/set", lambda x, u, i: lax.scatter(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (4, 3)], OUTSIDE), scatter_rows(lambda a, b: b, "drop"), ALL, (0, 1),
    ),
    Sample(
        "scatter/clip", lambda x, u, i: lax.scatter(x, i, u, ROW, mode="clip", unique_indices=True),
        with_index([(4, 3), (2, 3)], [[9], [0]]), scatter_rows(lambda a, b: b, "clip"),
        differentiable=(0, 1),
    ),
    Sample(
        "scatter/repeated", lambda x, u, i: lax.scatter(x, i, u, ROW),
        with_index([(4, 3), (3, 3)], REPEATED), scatter_rows(lambda a, b: b, "drop"),
        differentiable=(0, 1),
    ),
    Sample(
        "scatter/one_window", lambda x, u, i: lax.scatter(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (1, 3)], [[3]]), scatter_rows(lambda a, b: b, "drop"), ALL, (0, 1),
    ),
    Sample(
        "scatter/overlapping_windows",
        lambda x, u, i: lax.scatter(x, i, u, Scatter((1,), (), (0,))),
        with_index([(6,), (2, 3)], [[1], [2]]),
        lambda x, u, i: np.concatenate([x[:1], u[0, :1], u[1], x[5:]]), differentiable=(0, 1),
    ),
    Sample(
        "scatter_add", lambda x, u, i: lax.scatter_add(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (4, 3)], OUTSIDE), scatter_rows(lambda a, b: a + b, "drop"), ALL,
        (0, 1),
    ),
    Sample(
        "scatter_add/repeated", lambda x, u, i: lax.scatter_add(x, i, u, ROW, mode="clip"),
        with_index([(4, 3), (4, 3)], [[2], [9], [2], [-3]]),
        scatter_rows(lambda a, b: a + b, "clip"), differentiable=(0, 1),
    ),
    Sample(
        "scatter_add/one_window", lambda x, u, i: lax.scatter_add(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (1, 3)], [[1]]), scatter_rows(lambda a, b: a + b, "drop"),
        differentiable=(0, 1),
    ),
    Sample(
        "scatter_sub", lambda x, u, i: lax.scatter_sub(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (3, 3)], REPEATED), scatter_rows(lambda a, b: a - b, "drop"), NUMBERS,
        (0, 1),
    ),
    Sample(
        "scatter_mul", lambda x, u, i: lax.scatter_mul(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (2, 3)], INSIDE), scatter_rows(lambda a, b: a * b, "drop"),
        ("bool", *INTS, *FLOATS), (0, 1),
    ),
    Sample(
        "scatter_mul/repeated", lambda x, u, i: lax.scatter_mul(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (3, 3)], REPEATED), scatter_rows(lambda a, b: a * b, "drop"),
        differentiable=(0, 1),
    ),
    Sample(
        "scatter_min", lambda x, u, i: lax.scatter_min(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (3, 3)], REPEATED), scatter_rows(np.minimum, "drop"), REAL,
    ),
    Sample(
        "scatter_max", lambda x, u, i: lax.scatter_max(x, i, u, ROW, mode="drop"),
        with_index([(4, 3), (3, 3)], REPEATED), scatter_rows(np.maximum, "drop"), REAL,
    ),
    Sample(
        "scatter_max/derivative",
        lambda x, u, i: lax.scatter_max(x, i, u * 1.5 + 0.25, ROW, mode="drop"),
        with_index([(4, 3), (3, 3)], REPEATED),
        lambda x, u, i: scatter_rows(np.maximum, "drop")(x, u * 1.5 + 0.25, i),
        differentiable=(0, 1),
    ),
    Sample(
        "scatter_apply",
        lambda x, i: lax.scatter_apply(x, i, lambda v: v * v, ROW, update_shape=(3, 3)),
        with_index([(4, 3)], REPEATED),
        lambda x, i: np.stack([x[0] ** 2, x[1], x[2] ** 4, x[3]]),
    ),
    Sample(
        "scatter_apply/unique",
        lambda x, i: lax.scatter_apply(
            x, i, lambda v: v * v, ROW, update_shape=(2, 3), unique_indices=True
        ),
        with_index([(4, 3)], INSIDE), lambda x, i: np.stack([x[0] ** 2, x[1], x[2] ** 2, x[3]]),
        differentiable=(0,),
    ),
]  # fmt: skip
