"""Functions of vectors applied along axes: apply_along_axis, apply_over_axes, vectorize."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import errors
from ..api.bad_calls import explains
from ..api.vmap import vmap
from ..core.dtypes import user_dtype
from ..core.tracing import type_of
from ..structural.arith import convert
from .creation import asarray
from .manipulation import expand_dims
from .pieces import reshape_to
from .util import as_value, broadcast_shape, check_axis, need_word


@explains
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """`func1d` of every vector along an axis.

    Args:
        func1d: function of a vector (and of `args`, `kwargs`) that returns an array.
        axis: the axis of the vectors.
        arr: array.

    Returns:
        Array whose axis `axis` is replaced by the axes of the results.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.apply_along_axis(np.sum, 1, np.ones((2, 3))))
        [3. 3.]
    """
    x = as_value(arr, "apply_along_axis", "arr")
    ndim = type_of(x).ndim
    axis = check_axis("apply_along_axis", axis, ndim)

    def one(v: Any) -> Any:
        return func1d(v, *args, **kwargs)

    function = one
    # The inner vmaps take the axes after `axis` (its results go in front of them), the outer ones
    # those before it.
    for i in range(1, ndim - axis):
        function = vmap(function, in_axes=i, out_axes=-1)
    for _ in range(axis):
        function = vmap(function, in_axes=0, out_axes=0)
    return function(x)


@explains
def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> Any:
    """``func(a, axis)`` for one axis after the other; the number of axes stays.

    Args:
        func: function of an array and an axis, whose result keeps that axis or lacks it.
        a: array of any shape and dtype.
        axes: int or ints.

    Returns:
        The last result; an axis that `func` removed is put back with size 1.

    Raises:
        ValueArgumentError: `func` returns an array of another rank.  AxisError: out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.apply_over_axes(np.sum, np.ones((2, 3)), (0, 1)))
        [[6.]]
    """
    x = asarray(as_value(a, "apply_over_axes"))  # func gets an array of Numlift
    ndim = type_of(x).ndim
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        i = check_axis("apply_over_axes", axis, ndim)
        out = func(x, i)
        rank = type_of(out).ndim
        if rank == ndim - 1:
            out = expand_dims(out, i)
        elif rank != ndim:
            raise errors.ValueArgumentError(
                errors.explain(
                    "apply_over_axes",
                    f"func must keep the number of axes or remove one: {ndim} became {rank}",
                    {"result": type_of(out)},
                )
            )
        x = out
    return x


_NAME = r"\w+"
_ARGUMENT = rf"\((?:{_NAME}(?:,{_NAME})*)?\)"
_SIGNATURE = re.compile(rf"{_ARGUMENT}(?:,{_ARGUMENT})*->{_ARGUMENT}(?:,{_ARGUMENT})*")
Core = tuple[str, ...]


def _parse(signature: str) -> tuple[list[Core], list[Core]]:
    need_word("vectorize", "signature", signature)
    text = signature.replace(" ", "")
    if not _SIGNATURE.fullmatch(text):
        raise errors.ValueArgumentError(
            errors.explain(
                "vectorize", f"{signature!r} is not a signature", try_='signature="(n,m),(m)->(n)"'
            )
        )
    sides = [
        [tuple(filter(None, part[1:-1].split(","))) for part in re.findall(_ARGUMENT, side)]
        for side in text.split("->")
    ]
    return sides[0], sides[1]


def vectorize(
    pyfunc: Any = None,
    otypes: Any = None,
    doc: str | None = None,
    excluded: Iterable[int | str] | None = None,
    cache: bool = False,
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function of scalars (or of core arrays) that broadcasts over leading axes, by `vmap`.

    Args:
        pyfunc: function of arrays; None gives a decorator.
        otypes: dtypes of the results: type codes or a list of dtypes; None leaves them.
        doc: docstring of the result; by default that of `pyfunc`.
        cache: accepted: the function is called once anyway.
        excluded: positions and names of arguments that are passed on as they are.
        signature: core axes of arguments and results, such as ``"(n,m),(m)->(n)"``; None means
            scalars.

    Returns:
        The vectorised function.

    Raises:
        ValueArgumentError: a malformed signature, or a wrong number of arguments.
        ShapeError: arguments do not fit the signature or each other.

    Example:
        >>> import numlift.numpy as np
        >>> product = np.vectorize(np.dot, signature="(n),(n)->()")
        >>> print(product(np.ones((2, 3)), np.ones(3)))
        [3. 3.]
    """
    if pyfunc is None:
        return functools.partial(
            vectorize, otypes=otypes, doc=doc, excluded=excluded, cache=cache, signature=signature
        )
    if not callable(pyfunc):
        raise errors.ArgumentError(
            errors.explain("vectorize", f"expected a function, got a {type(pyfunc).__name__}")
        )
    if excluded is not None and not isinstance(excluded, (set, frozenset, list, tuple)):
        raise errors.ArgumentError(
            errors.explain(
                "vectorize", f"excluded must be a set, not a {type(excluded).__name__}",
                try_="excluded={0} or {'name'}",
            )
        )  # fmt: skip
    skipped = frozenset(excluded or ())
    if any(not isinstance(e, (str, int)) for e in skipped) or any(
        isinstance(e, int) and e < 0 for e in skipped
    ):
        raise errors.ArgumentError(
            errors.explain(
                "vectorize",
                "excluded must hold positions (not negative) and names of arguments",
                {"excluded": sorted(map(str, skipped))},
            )
        )
    cores = None if signature is None else _parse(signature)

    @functools.wraps(pyfunc, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def call(*args: Any, **kwargs: Any) -> Any:
        fixed = {i: x for i, x in enumerate(args) if i in skipped or x is None}
        named = {k: v for k, v in kwargs.items() if k in skipped or v is None}
        names = [k for k in kwargs if k not in named]
        places = [i for i in range(len(args)) if i not in fixed]

        def inner(*values: Any) -> Any:
            rest = iter(values)
            full = [fixed[i] if i in fixed else next(rest) for i in range(len(args))]
            return pyfunc(*full, **named, **dict(zip(names, rest, strict=True)))

        arrays = [args[i] for i in places] + [kwargs[k] for k in names]
        found = _broadcasting(inner, [as_value(x, "vectorize", "argument") for x in arrays], cores)
        return found if otypes is None else _converted(found, otypes)

    if doc is not None:
        call.__doc__ = doc
    return call


def _converted(found: Any, otypes: Any) -> Any:
    """Results in the dtypes that were asked for, one for each."""
    many = isinstance(found, (tuple, list))
    results, wanted = list(found) if many else [found], list(otypes)
    if len(wanted) != len(results):
        raise errors.ValueArgumentError(
            errors.explain(
                "vectorize", f"otypes has {len(wanted)} dtypes for {len(results)} results"
            )
        )
    results = [convert(x, user_dtype(d, "vectorize")) for x, d in zip(results, wanted, strict=True)]
    return tuple(results) if many else results[0]


def _broadcasting(
    function: Callable[..., Any], xs: list[Any], cores: tuple[list[Core], list[Core]] | None
) -> Any:
    """`function` mapped over the broadcast leading axes of its arguments."""
    wanted = [()] * len(xs) if cores is None else cores[0]
    if len(wanted) != len(xs):
        raise errors.ValueArgumentError(
            errors.explain(
                "vectorize", f"the signature has {len(wanted)} arguments, but {len(xs)} are given"
            )
        )
    sizes: dict[str, int] = {}
    batches = [
        _leading(x, core, sizes, i) for i, (x, core) in enumerate(zip(xs, wanted, strict=True))
    ]
    batch = broadcast_shape("vectorize", *batches) if batches else ()
    checked = _checked(function, None if cores is None else cores[1], sizes)
    mapped: Callable[..., Any] = checked
    values, dims = [], []
    for x, own in zip(xs, batches, strict=True):
        # Axes of size 1 that are broadcast, and missing ones, are not mapped: no copies are made.
        shift = len(batch) - len(own)
        used = [i >= shift and own[i - shift] == n for i, n in enumerate(batch)]
        kept = tuple(n for i, n in enumerate(own) if used[i + shift])
        values.append(reshape_to(x, kept + type_of(x).shape[len(own) :]))
        dims.append(used)
    for level in reversed(range(len(batch))):
        axes = tuple(0 if used[level] else None for used in dims)
        if all(axis is None for axis in axes):
            mapped = vmap(mapped, in_axes=axes, axis_size=batch[level])
        else:
            mapped = vmap(mapped, in_axes=axes)
    return mapped(*values)


def _leading(x: Any, core: Core, sizes: dict[str, int], position: int) -> tuple[int, ...]:
    """Axes before the core ones, whose sizes are entered into `sizes`."""
    shape = type_of(x).shape
    if len(shape) < len(core):
        raise errors.ShapeError(
            errors.explain(
                "vectorize",
                f"argument {position} needs the core axes ({', '.join(core)})",
                {f"argument {position}": type_of(x)},
            )
        )
    cut = len(shape) - len(core)
    _enter(shape[cut:], core, sizes, f"argument {position}")
    return shape[:cut]


def _enter(shape: Sequence[int], core: Core, sizes: dict[str, int], what: str) -> None:
    for name, n in zip(core, shape, strict=True):
        known = int(name) if name.isdigit() else sizes.setdefault(name, n)
        if known != n:
            raise errors.ShapeError(
                errors.explain(
                    "vectorize", f"core axis {name!r} has size {n} in {what}, and {known} elsewhere"
                )
            )


def _checked(
    function: Callable[..., Any], cores: list[Core] | None, sizes: dict[str, int]
) -> Callable[..., Any]:
    """`function`, whose results must have the core axes of the signature (or rank 0)."""

    def call(*values: Any) -> Any:
        found = function(*values)
        outs = list(found) if isinstance(found, (tuple, list)) else [found]
        wanted = [()] * len(outs) if cores is None else cores
        if len(outs) != len(wanted):
            raise errors.ValueArgumentError(
                errors.explain(
                    "vectorize",
                    f"the function returned {len(outs)} results, the signature has {len(wanted)}",
                )
            )
        seen = dict(sizes)
        for i, (x, core) in enumerate(zip(outs, wanted, strict=True)):
            shape = type_of(as_value(x, "vectorize", f"result {i}")).shape
            if len(shape) != len(core):
                raise errors.ShapeError(
                    errors.explain(
                        "vectorize",
                        f"result {i} has shape {shape}, but should have the core axes "
                        f"({', '.join(core)})",
                        try_='signature="()->(n)" for functions that return vectors',
                    )
                )
            _enter(shape, core, seen, f"result {i}")
        return found

    return call


__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "vectorize",
]
