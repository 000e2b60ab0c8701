"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

from .. import errors
from .. import numpy as np
from ..api.library import library
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..numpy.util import as_value
from .normalising import logsumexp, softmax

_NAME = "nn.dot_product_attention"


def _check(q: ArrayType, k: ArrayType, v: ArrayType) -> None:
    """Raise unless query, key and value fit together."""
    rule = ""
    if not (q.ndim == k.ndim == v.ndim and q.ndim in (3, 4)):
        rule = "query, key and value must have one rank, 3 (T, N, H) or 4 (B, T, N, H)"
    elif k.shape != v.shape:
        rule = f"key and value must have one shape, got {k.shape} and {v.shape}"
    elif q.shape[-1] != k.shape[-1] or q.shape[:-3] != k.shape[:-3]:
        rule = f"query {q.shape} and key {k.shape} must agree in batch and head size"
    elif k.shape[-2] == 0 or q.shape[-2] % k.shape[-2]:
        rule = (
            f"the number of query heads {q.shape[-2]} must be a multiple of that of key heads "
            f"{k.shape[-2]}"
        )
    if rule:
        raise errors.ShapeError(
            errors.explain(
                _NAME, rule, {"query": q, "key": k, "value": v},
                try_="arrays of shape (batch, length, heads, head size)",
            )
        )  # fmt: skip
    if not (q.dtype == k.dtype == v.dtype and q.kind == "f"):
        raise errors.DTypeError(
            errors.explain(
                _NAME, "query, key and value must have one floating dtype",
                {"query": q, "key": k, "value": v}, try_="x.astype(...)",
            )
        )  # fmt: skip


def _window(size: Any) -> tuple[int, int] | None:
    if size is None:
        return None
    pair = (size, size) if isinstance(size, int) else tuple(size)
    if len(pair) != 2 or any(not isinstance(n, int) or n < 0 for n in pair):
        raise errors.ValueArgumentError(
            errors.explain(
                _NAME, "local_window_size must be an int or a pair (left, right), not negative",
                {"local_window_size": size}, try_="local_window_size=(128, 0)",
            )
        )  # fmt: skip
    return pair


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: Any = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """``softmax(scale * query @ key.T + bias) @ value``, one head each.

    Args:
        query: (B, T, N, H) or (T, N, H).
        key, value: (B, S, K, H) or (S, K, H), where N is a multiple of K: each key head serves
            N / K query heads in a row.
        bias: added to the scores; broadcasts to (B, N, T, S).
        mask: bools, False takes a score out; broadcasts to (B, N, T, S).
        scale: factor of the scores; default ``1 / sqrt(H)``.
        is_causal: position t sees positions s <= t only.
        query_seq_lengths, key_value_seq_lengths: (B,) ints, valid lengths. Queries beyond give 0.
        local_window_size: position t sees ``t - left <= s <= t + right``; an int is both.
        implementation: None or ``"xla"``.
        return_residual: return also the logsumexp of the scores, (B, T, N).

    Returns:
        (B, T, N, H) or (T, N, H). Scores and softmax are float32 at least. If every score of a
        position is masked, its result is the mean of all values.

    Raises:
        ShapeError, DTypeError: operands do not fit together.
        ValueArgumentError: another `implementation` than None or "xla".

    Example:
        >>> import numlift.numpy as np
        >>> from numlift.nn import dot_product_attention
        >>> x = np.ones((2, 5, 4, 8))
        >>> dot_product_attention(x, x, x, is_causal=True).shape
        (2, 5, 4, 8)
    """
    if implementation not in (None, "xla"):
        raise errors.ValueArgumentError(
            errors.explain(_NAME, "implementation must be None or 'xla'",
                           {"implementation": implementation}, try_="implementation=None")
        )  # fmt: skip
    query, key, value = (
        as_value(x, _NAME, n) for x, n in ((query, "query"), (key, "key"), (value, "value"))
    )
    _check(type_of(query), type_of(key), type_of(value))
    extras = (bias, mask, query_seq_lengths, key_value_seq_lengths)
    window = _window(local_window_size)
    return _attend(
        (query, key, value, extras), scale, bool(is_causal), window, bool(return_residual)
    )


@library(1)
def _attend(operands: Any, scale: Any, causal: bool, window: Any, residual: bool) -> Any:
    query, key, value, (bias, mask, q_lengths, k_lengths) = operands
    query, key, value = (np.asarray(x) for x in (query, key, value))
    single = query.ndim == 3
    if single:
        query, key, value = query[None], key[None], value[None]
    batch, t, n, h = query.shape
    s, k = key.shape[1], key.shape[2]
    wide = np.promote_types(query.dtype, "float32")
    factor = 1 / math.sqrt(h) if scale is None else scale
    grouped = query.reshape(batch, t, k, n // k, h)
    scores = np.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=wide)
    scores = scores.reshape(batch, n, t, s) * factor
    if bias is not None:
        scores = scores + np.asarray(bias, wide)
    allowed = _allowed(t, s, causal, window, k_lengths, q_lengths)
    if mask is not None:
        allowed = [np.asarray(mask), *allowed]
    for one in allowed:
        scores = np.where(one, scores, float(-0.7 * np.finfo(wide).max))
    weights = softmax(scores).astype(value.dtype).reshape(batch, k, n // k, t, s)
    out = np.einsum("bkgts,bskh->btkgh", weights, value).reshape(batch, t, n, h)
    if q_lengths is not None:
        valid = np.arange(t)[None, :] < np.asarray(q_lengths)[:, None]
        out = np.where(valid[:, :, None, None], out, np.zeros((), out.dtype))
    out = out[0] if single else out
    if not residual:
        return out
    totals = logsumexp(scores, axis=-1).transpose(0, 2, 1).astype(query.dtype)
    return out, totals[0] if single else totals


def _allowed(
    t: int, s: int, causal: bool, window: Any, k_lengths: Any, q_lengths: Any
) -> list[Any]:
    """Masks that broadcast to (B, N, T, S), True where a score counts."""
    row, column = np.arange(t)[:, None], np.arange(s)[None, :]
    found = []
    if causal:
        found.append(column <= row)
    if window is not None:
        left, right = window
        found.append(np.logical_and(column >= row - left, column <= row + right))
    if k_lengths is not None:
        found.append(column[None, None] < np.asarray(k_lengths)[:, None, None, None])
    if q_lengths is not None:
        found.append(row[None, None] < np.asarray(q_lengths)[:, None, None, None])
    return found
