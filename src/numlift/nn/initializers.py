"""Initial values of parameters: functions ``(key, shape, dtype) -> array``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors, random
from .. import numpy as np
from ..api.library import library
from ..api.sharding import reshard
from ..core.dtypes import python_scalar_dtype, user_dtype
from ..core.types import dtype_kind
from ..numpy.util import check_axis
from ..random.vectors import orthonormal_columns

Initializer = Callable[..., Any]
"""A function ``(key, shape, dtype=..., out_sharding=None) -> array``."""


def _dtype(dtype: Any, default: Any) -> Any:
    chosen = default if dtype is None else dtype
    found = python_scalar_dtype(float) if chosen is None else user_dtype(chosen, "initializers")
    if dtype_kind(found) not in "fc":
        raise errors.DTypeError(
            errors.explain(
                "nn.initializers", f"dtype must be floating or complex, not {found}",
                {"dtype": found}, try_="dtype='float32'",
            )
        )  # fmt: skip
    return found


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Initializer that gives zeros.

    Args:
        key: not used.
        shape: shape of the result.
        dtype: dtype of the result; default the default float.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape `shape`.

    Example:
        >>> from numlift import nn
        >>> nn.initializers.zeros(None, (2,)).tolist()
        [0.0, 0.0]
    """
    return _placed(np.zeros(shape, dtype), out_sharding)


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Initializer that gives ones.

    Args:
        key: not used.
        shape: shape of the result.
        dtype: dtype of the result; default the default float.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape `shape`.

    Example:
        >>> from numlift import nn
        >>> nn.initializers.ones(None, (2,)).tolist()
        [1.0, 1.0]
    """
    return _placed(np.ones(shape, dtype), out_sharding)


def _placed(x: Any, out_sharding: Any) -> Any:
    return x if out_sharding is None else reshard(x, out_sharding)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Initializer that fills with a value.

    Args:
        value: number, or array that broadcasts to the shape.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``; the key is not
            used.

    Example:
        >>> from numlift import nn
        >>> nn.initializers.constant(3.0)(None, (2,)).tolist()
        [3.0, 3.0]
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype = python_scalar_dtype(float) if dtype is None else dtype
        return _placed(np.full(shape, value, dtype), out_sharding)

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Initializer with uniform numbers in [0, `scale`).

    Args:
        scale: upper end.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        DTypeError: neither floating nor complex (when used).

    Example:
        >>> from numlift import nn, random
        >>> x = nn.initializers.uniform(5.0)(random.key(0), (2, 3))
        >>> x.shape, bool((x >= 0).all() and (x < 5).all())
        ((2, 3), True)
    """
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype, default)
        return random.uniform(key, shape, dtype, out_sharding=out_sharding) * np.array(scale, dtype)

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Initializer with normal numbers of mean 0.

    Args:
        stddev: their standard deviation.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        DTypeError: neither floating nor complex (when used).

    Example:
        >>> from numlift import nn, random
        >>> x = nn.initializers.normal(0.1)(random.key(0), (100, 100))
        >>> round(float(x.std()), 2)
        0.1
    """
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype, default)
        return random.normal(key, shape, dtype, out_sharding=out_sharding) * np.array(stddev, dtype)

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Initializer with `stddev` times standard normal numbers cut to (`lower`, `upper`).

    The standard deviation of the result is below `stddev` because of the cut.

    Args:
        stddev: factor.
        dtype: dtype where none is given; default the default float.
        lower: lower end, in standard deviations.
        upper: upper end, in standard deviations.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        DTypeError: no floating dtype (when used).

    Example:
        >>> from numlift import nn, random
        >>> x = nn.initializers.truncated_normal(0.1)(random.key(0), (100, 100))
        >>> bool(abs(x).max() <= 0.2), round(float(x.std()), 2)
        (True, 0.09)
    """
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype, default)
        x = random.truncated_normal(key, lower, upper, shape, dtype, out_sharding=out_sharding)
        return x * np.array(stddev, dtype)

    return init


def _axes(axis: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    many = (axis,) if isinstance(axis, int) else tuple(axis)
    return tuple(check_axis("nn.initializers.variance_scaling", a, ndim) for a in many)


def _fans(shape: Sequence[int], into: Any, out: Any, batch: Any) -> tuple[float, float]:
    """Numbers of inputs and outputs of one unit; axes that are neither are the receptive field."""
    ndim = len(shape)
    if isinstance(into, int) and isinstance(out, int) and ndim < 2:
        raise errors.ShapeError(
            errors.explain(
                "nn.initializers.variance_scaling",
                f"needs a shape with at least 2 axes, got {tuple(shape)}",
                {"shape": tuple(shape), "in_axis": into, "out_axis": out},
                try_="nn.initializers.normal, or in_axis=() for a vector",
            )
        )
    a, b, c = _axes(into, ndim), _axes(out, ndim), _axes(batch, ndim)
    inputs, outputs = math.prod(shape[i] for i in a), math.prod(shape[i] for i in b)
    rest = math.prod(n for i, n in enumerate(shape) if i not in {*a, *b, *c})
    return inputs * rest, outputs * rest


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Initializer with variance ``scale / n``, n counting a unit's inputs or outputs.

    Args:
        scale: positive factor.
        mode: n is ``"fan_in"`` (inputs), ``"fan_out"`` (outputs), ``"fan_avg"`` (their mean) or
            ``"fan_geo_avg"`` (their geometric mean).
        distribution: ``"truncated_normal"`` (cut at two deviations, variance corrected),
            ``"normal"`` or ``"uniform"``. Complex numbers have that variance in absolute value.
        in_axis: axis or axes that count as inputs.
        out_axis: axis or axes that count as outputs.
        batch_axis: axes that count as neither; all others multiply both.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        ValueArgumentError: unknown mode or distribution.  ShapeError: fewer than two axes (when
        used). DTypeError: neither floating nor complex (when used).

    Example:
        >>> from numlift import nn, random
        >>> init = nn.initializers.variance_scaling(2.0, "fan_in", "normal")
        >>> x = init(random.key(0), (200, 100))
        >>> round(float(x.std()), 2)
        0.1
    """
    for name, value, known in (
        ("mode", mode, ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")),
        ("distribution", distribution, ("truncated_normal", "normal", "uniform")),
    ):
        if value not in known:
            raise errors.ValueArgumentError(
                errors.explain(
                    "nn.initializers.variance_scaling", f"{value!r} is not a {name}",
                    {name: value}, try_=f"{name}=" + " or ".join(map(repr, known)),
                )
            )  # fmt: skip
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype, default)
        shape = tuple(shape)
        inputs, outputs = _fans(shape, in_axis, out_axis, batch_axis)
        count = {
            "fan_in": inputs,
            "fan_out": outputs,
            "fan_avg": (inputs + outputs) / 2,
            "fan_geo_avg": math.sqrt(inputs * outputs),
        }[mode]
        variance = np.array(scale / max(count, 1e-30), dtype)
        draw = _complex_unit if dtype_kind(dtype) == "c" else _real_unit
        return draw(key, shape, dtype, distribution, out_sharding) * np.sqrt(variance)

    return init


_CUT_DEVIATION = 0.87962566103423978
"""Standard deviation of a standard normal number cut to (-2, 2)."""
_CUT_ABSOLUTE = 0.95311164380491208
"""Root mean square of a complex standard normal number cut to absolute values below 2."""


def _real_unit(
    key: Any, shape: tuple[int, ...], dtype: Any, distribution: str, sharding: Any
) -> Any:
    """Real numbers of mean 0 and variance 1."""
    if distribution == "normal":
        return random.normal(key, shape, dtype, out_sharding=sharding)
    if distribution == "uniform":
        u = random.uniform(key, shape, dtype, -1, out_sharding=sharding)
        return u * np.array(math.sqrt(3), dtype)
    x = random.truncated_normal(key, -2, 2, shape, dtype, out_sharding=sharding)
    return x * np.array(1 / _CUT_DEVIATION, dtype)


def _complex_unit(
    key: Any, shape: tuple[int, ...], dtype: Any, distribution: str, sharding: Any
) -> Any:
    """Complex numbers of mean 0 and mean squared absolute value 1, of uniform angle."""
    if distribution == "normal":
        return random.normal(key, shape, dtype, out_sharding=sharding)
    first, second = random.split(key)
    part = "float32" if dtype.name == "complex64" else "float64"
    u = random.uniform(first, shape, part, out_sharding=sharding)
    if distribution == "uniform":
        radius = np.sqrt(2 * u)
    else:
        radius = np.sqrt(-np.log1p(-(1 - math.exp(-4)) * u)) / _CUT_ABSOLUTE
    angle = 2 * math.pi * random.uniform(second, shape, part, out_sharding=sharding)
    return (radius * np.exp(1j * angle)).astype(dtype)


_SCALED_TEXT = """Initializer ``variance_scaling({1}, "{2}", "{3}")``.

    Args:
        in_axis: axis or axes that count as inputs.
        out_axis: axis or axes that count as outputs.
        batch_axis: axes that count as neither; all others multiply both.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        ShapeError: fewer than two axes (when used).

    Example:
        >>> from numlift import nn, random
        >>> nn.initializers.{0}()(random.key(0), (3, 4)).shape
        (3, 4)
    """


def _scaled(name: str, scale: float, mode: str, distribution: str) -> Initializer:
    def make(
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: Any = None,
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = _SCALED_TEXT.format(name, scale, mode, distribution)
    return make


glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Initializer with a uniformly distributed orthogonal matrix (or its rows or columns).

    Args:
        scale: factor.
        column_axis: axis that holds the columns; the others together hold the rows.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        ShapeError: fewer than two axes (when used).  DTypeError: neither floating nor complex (when
        used).

    Example:
        >>> from numlift import nn, numpy as np, random
        >>> q = nn.initializers.orthogonal()(random.key(0), (3, 4))
        >>> bool(np.allclose(q @ q.T, np.eye(3), atol=1e-5))
        True
    """
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype, default)
        shape = tuple(shape)
        if len(shape) < 2:
            raise errors.ShapeError(
                errors.explain(
                    "nn.initializers.orthogonal", "needs a shape with at least 2 axes",
                    {"shape": shape}, try_="shape=(n, 1)",
                )
            )  # fmt: skip
        columns = shape[column_axis]
        rows = math.prod(shape) // max(columns, 1)
        tall = (columns, rows) if rows < columns else (rows, columns)
        q = _orthonormal(key, tall, dtype)
        if rows < columns:
            q = q.T
        axis = check_axis("nn.initializers.orthogonal", column_axis, len(shape))
        others = [n for i, n in enumerate(shape) if i != axis]
        q = np.moveaxis(q.reshape(*others, columns), -1, axis)
        return _placed(np.array(scale, dtype) * q, out_sharding)

    return init


@library(1)
def _orthonormal(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return orthonormal_columns(random.normal(key, shape, dtype))


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Initializer for kernels of convolutions: an orthogonal matrix at the centre, else zeros.

    The convolution then keeps norms, however deep the network is. The shape must be (spatial...,
    in, out) with 1 to 3 spatial axes and in <= out.

    Args:
        scale: factor.
        column_axis: as in `orthogonal`.
        dtype: dtype where none is given; default the default float.

    Returns:
        An initializer: a function ``(key, shape, dtype=None, out_sharding=None)``.

    Raises:
        ShapeError: another shape (when used).  DTypeError: neither floating nor complex (when
        used).

    Example:
        >>> from numlift import nn, random
        >>> kernel = nn.initializers.delta_orthogonal()(random.key(0), (3, 3, 2, 4))
        >>> kernel.shape, int((kernel != 0).any((2, 3)).sum())
        ((3, 3, 2, 4), 1)
    """
    matrix = orthogonal(scale, column_axis, dtype)
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype, default)
        shape = tuple(shape)
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise errors.ShapeError(
                errors.explain(
                    "nn.initializers.delta_orthogonal",
                    "the shape must be (spatial..., in, out) with 1 to 3 spatial axes and "
                    f"in <= out, got {shape}", {"shape": shape}, try_="shape=(3, 3, 8, 16)",
                )
            )  # fmt: skip
        whole = np.zeros(shape, dtype)
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return _placed(whole.at[middle].set(matrix(key, shape[-2:], dtype)), out_sharding)

    return init


__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]


def __dir__() -> list[str]:
    return sorted(__all__)
