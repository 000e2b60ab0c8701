"""Array operands of lax functions: Python numbers beside arrays, axes of size 1, accuracies."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..core.dtypes import iinfo, python_scalar_dtype
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..ops.elementwise import AccuracyMode, Tolerance
from ..structural.shape import broadcast, reshape

SCALARS = frozenset({bool, int, float, complex})
_FITS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def binary(op: Op, x: Any, y: Any) -> Any:
    """Apply a binary elementwise operation to what a user passed."""
    if type(y) is float:
        # The common case, kept short: Python floats beside arrays of the default float.
        if type_of(x).dtype != python_scalar_dtype(float) or type(x) in SCALARS:
            x, y = numbers(op.name, x, y)
    elif type(x) in SCALARS or type(y) in SCALARS:
        x, y = numbers(op.name, x, y)
    try:
        return apply(op, x, y)
    except errors.ShapeError:
        spread = stretched(x, y)
        if spread is None:
            raise
    return apply(op, *spread)


def broadcasting(op: Op, x: Any, y: Any) -> Any:
    """Like `binary`, for operands of which each keeps its own dtype."""
    try:
        return apply(op, x, y)
    except errors.ShapeError:
        spread = stretched(x, y)
        if spread is None:
            raise
    return apply(op, *spread)


def nary(op: Op, *xs: Any) -> Any:
    """Apply an elementwise operation of any number of operands to what a user passed."""
    if not SCALARS.isdisjoint(map(type, xs)):
        xs = numbers(op.name, *xs)
    return apply(op, *xs)


def numbers(function: str, *xs: Any) -> tuple[Any, ...]:
    """The operands, with Python numbers turned into the dtype of the arrays beside them.

    Raises:
        DTypeError: a Python number does not fit that dtype (1.5 beside integers, 300 beside int8),
            or Python numbers of several classes stand alone.
    """
    strong = next((type_of(x) for x in xs if type(x) not in SCALARS), None)
    if strong is None:
        first = type(xs[0])
        if all(type(x) is first for x in xs):
            return xs
        raise _mixed(function, xs)
    dtype, kind, out = strong.dtype, strong.kind, []
    for x in xs:
        if type(x) in SCALARS:
            # A bool fits only bools: mixing it with numbers is more often a mistake.
            if kind not in _FITS[type(x)] or (type(x) is bool) != (kind == "b"):
                raise _mixed(function, xs)
            if kind in "iu" and not iinfo(dtype).min <= x <= iinfo(dtype).max:
                raise _too_large(function, x, strong)
            if not (strong.weak_type and type_of(x).dtype == dtype):
                x = dtype.type(x)
        out.append(x)
    return tuple(out)


def _mixed(function: str, xs: tuple[Any, ...]) -> errors.DTypeError:
    return errors.DTypeError(
        errors.explain(
            function,
            "operands must have the same dtype; Python numbers must fit the array's",
            {f"operand {i}": x if type(x) in SCALARS else type_of(x) for i, x in enumerate(xs)},
            try_="use nl.numpy functions, which promote, or lax.convert_element_type",
        )
    )


def _too_large(function: str, x: Any, t: ArrayType) -> errors.DTypeError:
    return errors.DTypeError(
        errors.explain(
            function,
            f"the Python integer {x} does not fit {t.dtype}",
            {"array": t, "number": x},
            try_="convert the array to a wider dtype",
        )
    )


def stretched(*xs: Any) -> list[Any] | None:
    """Operands of one rank with axes of size 1 repeated to the common size; None if none fits."""
    types = [type_of(x) for x in xs]
    shapes = [t.shape for t in types if t.ndim]
    if len({len(s) for s in shapes}) != 1:
        return None
    target = []
    for sizes in zip(*shapes, strict=True):
        found = {n for n in sizes if n != 1}
        if len(found) > 1:
            return None
        target.append(found.pop() if found else 1)
    shape = tuple(target)
    return [_repeat(x, t, shape) if t.ndim else x for x, t in zip(xs, types, strict=True)]


def _repeat(x: Any, t: ArrayType, shape: tuple[int, ...]) -> Any:
    if t.shape == shape:
        return x
    kept = tuple(i for i, (n, m) in enumerate(zip(t.shape, shape, strict=True)) if n == m)
    return broadcast(reshape(x, tuple(shape[i] for i in kept)), shape, kept)


def accurate(op: Any, accuracy: Any) -> Any:
    """The operation with an accuracy that the user asked for."""
    if not isinstance(accuracy, (AccuracyMode, Tolerance)):
        raise errors.ArgumentError(
            errors.explain(
                op.name,
                "accuracy must be an AccuracyMode or a Tolerance",
                {"accuracy": accuracy},
                try_="lax.AccuracyMode.HIGHEST, or lax.Tolerance(rtol=1e-6)",
            )
        )
    return op if accuracy is AccuracyMode.DEFAULT else type(op).of(accuracy)
