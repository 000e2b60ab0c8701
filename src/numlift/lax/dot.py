"""Products of arrays: dot_general and its simpler relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import config, errors
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..ops.dot import DotGeneral
from ..ops.precision import DotAlgorithm, DotAlgorithmPreset, Precision, canonical_precision
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec

_configured = config.current

DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
"""((lhs contracting, rhs contracting), (lhs batch, rhs batch)), for annotations."""
PrecisionLike = (
    None
    | str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
)
"""What `precision=` takes, for annotations."""
_dot = DotGeneral.of


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Sum of products over contracting axes, for each index of the batch axes.

    ``out[b, i, j] = sum_k lhs[b, i, k] * rhs[b, k, j]`` for
    ``dimension_numbers=(((2,), (1,)), ((0,), (0,)))``. The result's axes are the batch axes, then
    the other axes of lhs, then those of rhs. For bools a product is "and", the sum is "or".

    Args:
        lhs, rhs: arrays; different dtypes give the wider one.
        dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``,
            sequences of axes.
        precision: None (the flag ``default_matmul_precision``), a `Precision` or its name, a pair
            of these, a `DotAlgorithm`, or a `DotAlgorithmPreset` or its name.
        preferred_element_type: dtype to sum in and to return, such as int32 for int8 operands.
        out_sharding: `PartitionSpec` or `NamedSharding` of the result, on Explicit mesh axes.

    Returns:
        The product.

    Raises:
        ShapeError: axes are out of range, repeated, or of different sizes.
        DTypeError: not numbers, or ``preferred_element_type`` narrows integers.
        ShardingError: both contracting axes are sharded and ``out_sharding`` is not given.

    Differences from JAX: narrow integers and bools use a fast kernel on CPU (same results).

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dot_general
        >>> a = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        >>> dot_general(a, a, (((1,), (1,)), ((), ()))).shape
        (2, 2)
    """
    try:
        (lc, rc), (lb, rb) = dimension_numbers
        lc, rc, lb, rb = tuple(lc), tuple(rc), tuple(lb), tuple(rb)
    except (TypeError, ValueError):
        raise _bad_numbers(dimension_numbers) from None
    if precision is not None or _configured().default_matmul_precision is not None:
        precision = canonical_precision(precision)
    if preferred_element_type is not None:
        preferred_element_type = user_dtype(preferred_element_type, "dot_general")
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (lhs, rhs), "dot_general")
    op = _dot(lc, rc, lb, rb, precision, preferred_element_type, out_sharding)
    return apply(op, lhs, rhs)


def _bad_numbers(numbers: Any) -> errors.ArgumentError:
    return errors.ArgumentError(
        errors.explain(
            "dot_general",
            "dimension_numbers must be ((lhs_contracting, rhs_contracting), "
            "(lhs_batch, rhs_batch))",
            {"dimension_numbers": numbers},
            try_="(((1,), (0,)), ((), ())) for the product of two matrices",
        )
    )


def as_sharding(given: Any, operands: Sequence[Any], function: str) -> NamedSharding | None:
    """`NamedSharding` of a result from a spec or sharding; None where there is no Explicit mesh."""
    if isinstance(given, NamedSharding):
        return given
    if not isinstance(given, PartitionSpec):
        raise errors.ArgumentError(
            errors.explain(
                function,
                "out_sharding must be a PartitionSpec or a NamedSharding",
                {"out_sharding": given},
                try_="out_sharding=P('x', None)",
            )
        )
    mesh = next((t.sharding.mesh for t in map(type_of, operands) if t.sharding is not None), None)
    mesh = mesh if mesh is not None else _configured().mesh
    if mesh is None:
        raise errors.ShardingError(
            errors.explain(
                function,
                "out_sharding is a PartitionSpec, but there is no mesh",
                {"out_sharding": given},
                try_="nl.set_mesh(mesh) around the call, or NamedSharding(mesh, spec)",
            )
        )
    return NamedSharding(mesh, given)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Product of two vectors, a matrix and a vector, or two matrices.

    ``out[i, j] = sum_k lhs[i, k] * rhs[k, j]``: the last axis of lhs meets the first of rhs. With
    ``dimension_numbers`` it is `dot_general`.

    Args:
        lhs, rhs: arrays of rank 1 or 2.
        dimension_numbers: as in `dot_general`, for any ranks.
        precision, preferred_element_type, out_sharding: as in `dot_general`.

    Returns:
        A scalar for two vectors, a vector for a matrix and a vector, a matrix for two; of the wider
        dtype of the two, or of `preferred_element_type`.

    Raises:
        ShapeError: other ranks, or inner sizes that differ.

    Differences from NumPy: no scalars and no higher ranks (use `numlift.numpy.dot`).

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dot
        >>> float(dot(np.float32([1, 2]), np.float32([3, 4])))
        11.0
    """
    if dimension_numbers is None:
        a, b = type_of(lhs), type_of(rhs)
        if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.shape[-1] == b.shape[0]):
            raise errors.ShapeError(
                errors.explain(
                    "dot",
                    "without dimension_numbers, operands must be vectors or matrices whose inner "
                    f"sizes agree: shapes {a.shape} and {b.shape}",
                    {"lhs": a, "rhs": b},
                    try_="lax.dot(lhs, rhs, dimension_numbers=(((1,), (0,)), ((), ()))) or "
                    "nl.numpy.matmul",
                )
            )
        dimension_numbers = (((a.ndim - 1,), (0,)), ((), ()))
    return dot_general(
        lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding
    )


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Product of stacks of matrices: ``out[..., i, j] = sum_k lhs[..., i, k] * rhs[..., k, j]``.

    Args:
        lhs, rhs: arrays of one rank >= 2, with equal leading axes (they do not broadcast).
        precision: as in `dot_general`.

    Returns:
        (..., rows of lhs, columns of rhs), of the wider dtype of the two.

    Raises:
        ShapeError: ranks differ or are below 2, or sizes do not agree.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import batch_matmul
        >>> batch_matmul(np.ones((5, 2, 3), "f"), np.ones((5, 3, 4), "f")).shape
        (5, 2, 4)
    """
    a, b = type_of(lhs), type_of(rhs)
    if a.ndim < 2 or a.ndim != b.ndim:
        raise errors.ShapeError(
            errors.explain(
                "batch_matmul",
                f"operands must have one rank of at least 2, got {a.ndim} and {b.ndim}",
                {"lhs": a, "rhs": b},
                try_="nl.numpy.matmul, which broadcasts",
            )
        )
    batch = tuple(range(a.ndim - 2))
    return dot_general(lhs, rhs, (((a.ndim - 1,), (a.ndim - 2,)), (batch, batch)), precision)


__all__ = [
    "DotAlgorithm",
    "DotAlgorithmPreset",
    "DotDimensionNumbers",
    "Precision",
    "PrecisionLike",
    "batch_matmul",
    "dot",
    "dot_general",
]
