"""What the samplers share: shapes, dtypes and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import python_scalar_dtype, user_dtype
from ..core.tracing import type_of
from ..core.types import dtype_kind
from ..lax.arguments import static_ints
from ..numpy.util import as_value, broadcast_shape, broadcast_to_shape, cast


def as_shape(function: str, shape: Any) -> tuple[int, ...]:
    """The shape argument as a tuple of non-negative ints."""
    found = static_ints(function, "shape", shape)
    if any(n < 0 for n in found):
        raise errors.ShapeError(
            errors.explain(function, "sizes must not be negative", {"shape": shape},
                           try_="shape=(3,)")
        )  # fmt: skip
    return found


def float_dtype(function: str, dtype: Any, accepts: str = "f") -> Any:
    """The floating dtype asked for; None is the default one.

    Raises:
        DTypeError: not floating.
    """
    found = python_scalar_dtype(float) if dtype is None else user_dtype(dtype, function)
    kind = dtype_kind(found)
    if kind not in accepts or (kind == "f" and found.name == "float8_e8m0fnu"):
        words = "floating or complex" if "c" in accepts else "floating"
        raise errors.DTypeError(
            errors.explain(function, f"dtype must be {words}, not {found}", {"dtype": dtype},
                           try_="dtype='float32'")
        )  # fmt: skip
    return found


def int_dtype(function: str, dtype: Any, accepts: str = "iu") -> Any:
    """The integer dtype asked for; None is the default int.

    Raises:
        DTypeError: not an integer dtype.
    """
    found = python_scalar_dtype(int) if dtype is None else user_dtype(dtype, function)
    if dtype_kind(found) not in accepts:
        words = "integer" if "i" in accepts else "unsigned integer"
        raise errors.DTypeError(
            errors.explain(function, f"dtype must be an {words} dtype, not {found}",
                           {"dtype": dtype}, try_="dtype='int32'" if "i" in accepts else "'uint32'")
        )  # fmt: skip
    return found


def parameter(function: str, name: str, x: Any, dtype: Any) -> Any:
    """A parameter of a distribution in the dtype of the samples.

    Raises:
        DTypeError: complex, or a key.
    """
    value = as_value(x, function, name)
    t = type_of(value)
    if t.kind not in "biuf":
        raise errors.DTypeError(
            errors.explain(function, f"{name} must be real, not {t.dtype}", {name: t},
                           try_=f"{name}.real")
        )  # fmt: skip
    return cast(value, t, dtype)


def joint_shape(function: str, shape: Any, **parameters: Any) -> tuple[int, ...]:
    """The result's shape: as asked for, or that of the parameters broadcast together.

    Raises:
        ShapeError: a parameter does not broadcast to the shape asked for.
    """
    shapes = {name: type_of(p).shape for name, p in parameters.items()}
    if shape is None:
        return broadcast_shape(function, *shapes.values())
    wanted = as_shape(function, shape)
    for name, own in shapes.items():
        fits = len(own) <= len(wanted) and all(
            n in (1, m) for n, m in zip(reversed(own), reversed(wanted), strict=False)
        )
        if not fits:
            raise errors.ShapeError(
                errors.explain(
                    function, f"{name} of shape {own} does not broadcast to shape {wanted}",
                    {name: type_of(parameters[name]), "shape": wanted},
                    try_="leave shape out, or end it with the shape of the parameters",
                )
            )  # fmt: skip
    return wanted


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """A parameter broadcast to the result's shape; scalars stay."""
    return broadcast_to_shape(x, shape) if type_of(x).shape else x


def number(dtype: Any, value: float) -> Any:
    """A typed scalar."""
    return dtype.type(value)


def tiniest(dtype: Any) -> Any:
    """The smallest positive normal number of a floating dtype."""
    return dtype.type(np.finfo(dtype).tiny) if dtype.kind == "f" else dtype.type(2.0**-126)


def refuse_sharding(function: str, out_sharding: Any) -> None:
    """Raise if a sharding is asked of a function that does not place its result."""
    if out_sharding is not None:
        raise errors.ShardingError(
            errors.explain(
                function,
                "out_sharding is not supported",
                {"out_sharding": out_sharding},
                try_="nl.reshard(result, spec)",
            )
        )
