"""Samples of operations on shapes."""

from __future__ import annotations

import numpy as np

from numlift import lax

from . import Sample
from .slicing import ALL, NUMBERS, arrays


def padded(x: np.ndarray, value: np.ndarray) -> np.ndarray:
    """(1, 2, 1) in axis 0, (-1, -2, 0) in axis 1."""
    out = np.full((3 + 2 * x.shape[0] - 1, x.shape[1]), value, x.dtype)
    out[1 : 2 * x.shape[0] : 2] = x
    return out[:, 1:-2]


SAMPLES: list[Sample] = [
    Sample(
        "reshape", lambda x: lax.reshape(x, (4, -1)), arrays((2, 3, 2)),
        lambda x: x.reshape(4, -1), ALL, (0,),
    ),
    Sample(
        "reshape/dimensions", lambda x: lax.reshape(x, (6,), (1, 0)), arrays((2, 3)),
        lambda x: x.T.reshape(6), differentiable=(0,),
    ),
    Sample(
        "transpose", lambda x: lax.transpose(x, (2, 0, 1)), arrays((2, 3, 2)),
        lambda x: x.transpose(2, 0, 1), ALL, (0,),
    ),
    Sample(
        "broadcast", lambda x: lax.broadcast(x, (2, 1)), arrays((3,)),
        lambda x: np.broadcast_to(x, (2, 1, 3)), ALL, (0,),
    ),
    Sample(
        "broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 4, 2), (0, 2)), arrays((3, 1)),
        lambda x: np.broadcast_to(x[:, None], (3, 4, 2)), ALL, (0,),
    ),
    Sample(
        "broadcast_to_rank", lambda x: lax.broadcast_to_rank(x, 3), arrays((2, 3)),
        lambda x: x[None], differentiable=(0,),
    ),
    Sample(
        "squeeze", lambda x: lax.squeeze(x, (0, -1)), arrays((1, 3, 1)), lambda x: x[0, :, 0], ALL,
        (0,),
    ),
    Sample(
        "expand_dims", lambda x: lax.expand_dims(x, (0, -1)), arrays((2, 3)),
        lambda x: x[None, ..., None], ALL, (0,),
    ),
    Sample(
        "collapse", lambda x: lax.collapse(x, 1, 3), arrays((2, 3, 2, 2)),
        lambda x: x.reshape(2, 6, 2), differentiable=(0,),
    ),
    Sample(
        "concatenate", lambda x, y, z: lax.concatenate([x, y, z], 1),
        arrays((2, 1), (2, 0), (2, 3)), lambda *xs: np.concatenate(xs, 1), ALL, (0, 1, 2),
    ),
    Sample("concatenate/one", lambda x: lax.concatenate([x], 0), arrays((3,)), lambda x: x,
           differentiable=(0,)),
    Sample(
        "concatenate/many", lambda *xs: lax.concatenate(xs, 0), arrays(*[(1, 2)] * 9),
        lambda *xs: np.concatenate(xs, 0), differentiable=(0, 8),
    ),
    Sample(
        "concatenate/rows", lambda x: lax.concatenate(x, 0), arrays((2, 3)), lambda x: x.reshape(6),
        differentiable=(0,),
    ),
    Sample(
        "split", lambda x: lax.split(x, (1, 0, 3), axis=1), arrays((2, 4)),
        lambda x: [x[:, :1], x[:, 1:1], x[:, 1:]], ALL, (0,),
    ),
    Sample(
        "pad", lambda x, v: lax.pad(x, v, [(1, 2, 1), (-1, -2, 0)]), arrays((3, 5), ()), padded,
        ALL, (0, 1),
    ),
    Sample(
        "pad/outside", lambda x, v: lax.pad(x, v, [(0, 2, 0)]), arrays((3,), ()),
        lambda x, v: np.append(x, [v, v]), differentiable=(0, 1),
    ),
    Sample(
        "pad/rank0", lambda x, v: lax.pad(x, v, []), arrays((), ()), lambda x, v: x,
        differentiable=(0, 1),
    ),
    Sample("rev", lambda x: lax.rev(x, (0, 2)), arrays((2, 3, 2)), lambda x: x[::-1, :, ::-1], ALL,
           (0,)),
    Sample(
        "iota", lambda x: lax.iota(x.dtype, 5), arrays(()), lambda x: np.arange(5).astype(x.dtype),
        NUMBERS, vmappable=(),
    ),
    Sample(
        "broadcasted_iota", lambda x: lax.broadcasted_iota(x.dtype, (2, 3), 0), arrays(()),
        lambda x: np.broadcast_to(np.arange(2).astype(x.dtype)[:, None], (2, 3)), NUMBERS,
        vmappable=(),
    ),
    Sample("tile", lambda x: lax.tile(x, (2, 3)), arrays((2, 2)), lambda x: np.tile(x, (2, 3)), ALL,
           (0,)),
]  # fmt: skip
