"""`ufunc`: elementwise functions with the methods reduce, accumulate, reduceat, outer and at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import user_dtype
from ..core.tracing import type_of
from ..lax.loops import scan
from ..lax.while_loops import fori_loop
from . import arithmetic, elementwise, logic, powers, reductions
from .creation import array, asarray, convert_to, full
from .cumulative import cumprod, cumsum
from .elementwise import no_out
from .functional import vectorize
from .manipulation import broadcast_arrays, broadcast_to, expand_dims, moveaxis, ravel, reshape
from .ranges import arange
from .selection import where as choose
from .util import as_value, check_axes, check_axis


class ufunc:
    """An elementwise function with NumPy's methods of universal functions.

    Args:
        func: function of `nin` arrays, elementwise and broadcasting, that returns `nout` arrays.
        nin, nout: number of arguments and results.
        name: name for messages.
        identity: value that changes nothing as the first operand, or None.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        identity: Any = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: str | None = None,
    ):
        self._func, self.nin, self.nout, self.identity = func, nin, nout, identity
        self._reduce, self._accumulate, self._at = reduce, accumulate, at
        self.__name__: str = name or str(getattr(func, "__name__", "ufunc"))
        self.__doc__ = func.__doc__ or type(self).__doc__
        self.__wrapped__ = func

    @property
    def nargs(self) -> int:
        """Number of arguments and results together."""
        return self.nin + self.nout

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__}>"

    def __call__(self, *args: Any, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            raise errors.ArgumentError(
                errors.explain(
                    self.__name__,
                    "out and where must be None: arrays are immutable",
                    try_="np.where(mask, result, other)",
                )
            )
        if len(args) != self.nin:
            raise errors.ArgumentError(
                errors.explain(self.__name__, f"takes {self.nin} arguments, got {len(args)}")
            )
        return self._func(*args)

    def _need_binary(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise errors.ValueArgumentError(
                errors.explain(
                    f"{self.__name__}.{method}",
                    "is for functions of two arguments with one result",
                )
            )

    def _prepared(self, method: str, a: Any, dtype: Any, out: Any) -> Any:
        self._need_binary(method)
        no_out(f"{self.__name__}.{method}", out)
        x = asarray(as_value(a, f"{self.__name__}.{method}", "a"))
        return x if dtype is None else convert_to(x, user_dtype(dtype, self.__name__, False))

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """Fold the function over one or more axes, from the first element to the last.

        Args:
            a: array.
            axis: axis, axes, or None for all.
            dtype: dtype to compute in.
            out: must be None.
            keepdims: keep folded axes with length 1.
            initial: first value, by default the identity, or the first element.
            where: mask of the elements that take part; needs an identity or `initial`.
        """
        x = self._prepared("reduce", a, dtype, out)
        if self._reduce is not None:
            options = {} if initial is None else {"initial": initial}
            if where is not None:
                options["where"] = where
            return self._reduce(x, axis=axis, keepdims=keepdims, **options)
        t = type_of(x)
        axes = check_axes(f"{self.__name__}.reduce", axis, t.ndim)
        start = self.identity if initial is None else initial
        if where is not None:
            if start is None:
                raise errors.ValueArgumentError(
                    errors.explain(f"{self.__name__}.reduce", "where needs initial")
                )
            keep = broadcast_to(asarray(where), t.shape)
        kept = [i for i in range(t.ndim) if i not in axes]
        rows = _rows(x, axes, kept)
        masks = None if where is None else _rows(keep, axes, kept)
        result = self._fold(rows, start, masks)
        return expand_dims(result, axes) if keepdims and axes else result

    def _fold(self, rows: Any, start: Any, masks: Any) -> Any:
        shape = rows.shape[1:]
        if start is None:
            if not rows.shape[0]:
                raise errors.ValueArgumentError(
                    errors.explain(
                        f"{self.__name__}.reduce",
                        "an empty axis has no result for a function without identity",
                        try_="initial=",
                    )
                )
            first, rows = rows[0], rows[1:]
            settled = type_of(self._func(first, first))
        else:
            row = rows[0] if rows.shape[0] else full(shape, 0, rows.dtype)
            settled = type_of(self._func(start, row))  # a start that is a number is weak
            first = broadcast_to(asarray(start), shape)
        first = convert_to(first, settled.dtype)

        def step(total: Any, row: Any) -> tuple[Any, None]:
            value, mask = row
            found = convert_to(self._func(total, value), settled.dtype)
            return (found if masks is None else choose(mask, found, total)), None

        return scan(step, first, (rows, masks))[0]

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """Fold along an axis and keep every intermediate result.

        Args:
            array: array.
            axis: axis to go along.
            dtype: dtype to compute in.
            out: must be None.
        """
        x = self._prepared("accumulate", array, dtype, out)
        t = type_of(x)
        axis = check_axis(f"{self.__name__}.accumulate", axis, t.ndim)
        if self._accumulate is not None:
            return self._accumulate(x, axis=axis)
        rows = moveaxis(x, axis, 0)
        if not rows.shape[0]:
            return x
        settled = type_of(self._func(rows[0], rows[0])).dtype
        rows = convert_to(rows, settled)

        def step(total: Any, item: Any) -> tuple[Any, Any]:
            i, row = item
            found = choose(i == 0, row, convert_to(self._func(total, row), settled))
            return found, found

        _, results = scan(step, rows[0], (arange(rows.shape[0]), rows))
        return moveaxis(results, 0, axis)

    def reduceat(
        self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Any:
        """Fold over slices from each index up to the next one (the last: up to the end).

        Where an index is not smaller than the next one, the result is the element there.
        """
        x = self._prepared("reduceat", a, dtype, out)
        axis = check_axis(f"{self.__name__}.reduceat", axis, type_of(x).ndim)
        starts = asarray(indices)
        rows = moveaxis(x, axis, 0)
        n = rows.shape[0]
        stops = array([*starts[1:], n]) if starts.shape[0] else starts
        tail = (1,) * (rows.ndim - 1)
        first = reshape(starts, (-1, *tail))
        last = reshape(stops, (-1, *tail))
        settled = type_of(self._func(rows[0], rows[0])).dtype
        rows = convert_to(rows, settled)
        shape = (starts.shape[0], *rows.shape[1:])

        def step(total: Any, item: Any) -> tuple[Any, None]:
            j, row = item
            found = convert_to(self._func(total, row), settled)
            inside = (first < j) & (j < last)
            total = choose(inside, found, total)
            return choose(first == j, broadcast_to(row, shape), total), None

        result, _ = scan(step, full(shape, 0, settled), (arange(n), rows))
        return moveaxis(result, 0, axis)

    def outer(self, A: Any, B: Any, /) -> Any:
        """The function of every pair of an element of A and one of B."""
        self._need_binary("outer")
        x, y = asarray(A), asarray(B)
        return self._func(reshape(x, (*x.shape, *(1,) * y.ndim)), y)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        """A copy of `a` with the function applied to the elements at `indices`, in turn.

        Args:
            a: array.
            indices: an index, as in ``a[indices]``; repeated elements change repeatedly.
            b: second operand, for functions of two arguments.
            inplace: must be False: arrays are immutable.
        """
        if inplace:
            raise errors.ImmutableArrayError(
                errors.explain(
                    f"{self.__name__}.at",
                    "arrays are immutable",
                    try_=f"a = np.{self.__name__}.at(a, indices, b, inplace=False)",
                )
            )
        x = asarray(a)
        if self.nin == 1:
            return x.at[indices].apply(self._func)
        self._need_binary("at")
        if self._at is not None:
            return getattr(x.at[indices], self._at)(b)
        return self._in_turn(x, indices, b)

    def _in_turn(self, x: Any, indices: Any, b: Any) -> Any:
        """One element after the other; the index selects from the numbers of the elements."""
        places = reshape(arange(x.size), x.shape)[indices]
        where_, values = broadcast_arrays(places, asarray(b))
        where_, values = ravel(where_), ravel(values)

        def step(i: Any, flat: Any) -> Any:
            at = where_[i]
            found = convert_to(self._func(flat[at], values[i]), flat.dtype)
            return flat.at[at].set(found)

        return reshape(fori_loop(0, where_.shape[0], step, ravel(x)), x.shape)


def _rows(x: Any, axes: tuple[int, ...], kept: list[int]) -> Any:
    """`x` with the folded axes joined into a first one."""
    moved = x.transpose((*axes, *kept))
    return reshape(moved, (-1 if x.size else 0, *(x.shape[i] for i in kept)))


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A `ufunc` from a function of scalars, which is vectorised with `vmap`.

    Args:
        func: function of `nin` scalars that returns `nout` scalars (a tuple if more than one).
        nin, nout: number of arguments and results.
        identity: value that changes nothing as the first operand, or None.

    Example:
        >>> import numlift.numpy as np
        >>> f = np.frompyfunc(lambda x, y: x + 2 * y, 2, 1)
        >>> print(f.outer(np.asarray([1, 2]), np.asarray([10, 20])))
        [[21 41]
         [22 42]]
    """
    name = getattr(func, "__name__", "ufunc")
    return ufunc(vectorize(func), nin, nout, name=name, identity=identity)


_METHODS: list[tuple[Callable[..., Any], int, dict[str, Any]]] = [
    (
        arithmetic.add, 2,
        {"identity": 0, "reduce": reductions.sum, "accumulate": cumsum, "at": "add"},
    ),
    (
        arithmetic.multiply, 2,
        {"identity": 1, "reduce": reductions.prod, "accumulate": cumprod, "at": "multiply"},
    ),
    (arithmetic.subtract, 2, {"at": "subtract"}),
    (arithmetic.divide, 2, {}),
    (arithmetic.floor_divide, 2, {}),
    (arithmetic.remainder, 2, {}),
    (arithmetic.maximum, 2, {"reduce": reductions.max, "at": "max"}),
    (arithmetic.minimum, 2, {"reduce": reductions.min, "at": "min"}),
    (arithmetic.fmax, 2, {}),
    (arithmetic.fmin, 2, {}),
    (arithmetic.hypot, 2, {"identity": 0}),
    (arithmetic.logaddexp, 2, {"identity": -np.inf}),
    (arithmetic.logaddexp2, 2, {"identity": -np.inf}),
    (arithmetic.arctan2, 2, {}),
    (powers.power, 2, {}),
    (powers.gcd, 2, {"identity": 0}),
    (powers.lcm, 2, {}),
    (logic.logical_and, 2, {"identity": True, "reduce": reductions.all}),
    (logic.logical_or, 2, {"identity": False, "reduce": reductions.any}),
    (logic.logical_xor, 2, {"identity": False}),
    (logic.bitwise_and, 2, {"identity": -1}),
    (logic.bitwise_or, 2, {"identity": 0}),
    (logic.bitwise_xor, 2, {"identity": 0}),
    (logic.equal, 2, {}),
    (logic.not_equal, 2, {}),
    (logic.less, 2, {}),
    (logic.less_equal, 2, {}),
    (logic.greater, 2, {}),
    (logic.greater_equal, 2, {}),
    (elementwise.negative, 1, {}),
    (elementwise.square, 1, {}),
    (elementwise.absolute, 1, {}),
    (elementwise.exp, 1, {}),
    (elementwise.log, 1, {}),
    (elementwise.sqrt, 1, {}),
]  # fmt: skip
"""Functions of this package that get the methods of a `ufunc` as attributes."""


def _attach() -> None:
    for function, nin, options in _METHODS:
        made = ufunc(function, nin, 1, **options)
        plain: Any = function
        plain.nin, plain.nout, plain.nargs, plain.identity = nin, 1, nin + 1, made.identity
        names = ("reduce", "accumulate", "reduceat", "outer", "at") if nin == 2 else ("at",)
        for name in names:
            setattr(plain, name, getattr(made, name))


_attach()

__all__ = ["frompyfunc", "ufunc"]
