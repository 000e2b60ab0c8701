"""``x.at``: the handle for changed copies of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors
from ..lax.dot import as_sharding
from ..lax.indexing import apply_at, map_elements
from ..ops.indices import is_asked
from ..ops.scatter import (
    Scatter,
    ScatterAdd,
    ScatterMax,
    ScatterMin,
    ScatterMul,
    ScatterSet,
    ScatterSub,
)
from ..structural.shape import full
from .arithmetic import divide
from .index_parse import MaskIndex, parse
from .index_update import Options, plan_update, update
from .indexing import getitem, read
from .powers import power


class AtProperty:
    """``x.at[index]`` names elements of an array; its methods return changed copies.

    ==============================  ====================================
    expression                      in NumPy, in place
    ==============================  ====================================
    ``x = x.at[i].set(y)``          ``x[i] = y``
    ``x = x.at[i].add(y)``          ``np.add.at(x, i, y)``
    ``x = x.at[i].subtract(y)``     ``np.subtract.at(x, i, y)``
    ``x = x.at[i].multiply(y)``     ``np.multiply.at(x, i, y)``
    ``x = x.at[i].divide(y)``       ``np.divide.at(x, i, y)``
    ``x = x.at[i].power(y)``        ``np.power.at(x, i, y)``
    ``x = x.at[i].min(y)``          ``np.minimum.at(x, i, y)``
    ``x = x.at[i].max(y)``          ``np.maximum.at(x, i, y)``
    ``x = x.at[i].apply(ufunc)``    ``ufunc.at(x, i)``
    ``y = x.at[i].get()``           ``y = x[i]``
    ==============================  ====================================

    Inside `jit` it happens in place where XLA can. If indices repeat, every update is applied (for
    `set`, one of them wins). All methods take:

    - ``mode``: what happens to indices out of bounds. ``"drop"`` or ``"fill"``: updates are
      dropped, `get` gives ``fill_value``; ``"clip"``: the nearest element is meant;
      ``"promise_in_bounds"``: you promise that there are none. Default: updates are dropped, `get`
      clips.
    - ``unique_indices``, ``indices_are_sorted``: promises that make some programs faster.
    - ``wrap_negative_indices``: False makes negative indices out of bounds.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.arange(5.0)
        >>> print(x.at[1:3].set(9.0))
        [0. 9. 9. 3. 4.]
        >>> print(x.at[np.array([0, 0, 7])].add(1.0))
        [2. 1. 2. 3. 4.]
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self.array, index)

    def __repr__(self) -> str:
        return f"AtProperty({self.array!r})"


class AtIndex:
    """Elements of an array; see `AtProperty`."""

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any) -> None:
        self.array, self.index = array, index

    def __repr__(self) -> str:
        return f"AtIndex({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The elements: ``x[index]`` with a choice of what indices out of bounds give.

        Args:
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None clips.
            fill_value: what mode "fill" gives out of bounds. Default: NaN, the least signed, the
                greatest unsigned integer, True.
            out_sharding: sharding of the result, on Explicit mesh axes.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            The elements.

        Raises:
            IndexingError: malformed index.
        """
        return read(
            self.array,
            self.index,
            indices_are_sorted=bool(indices_are_sorted),
            unique_indices=bool(unique_indices),
            mode=mode,
            fill_value=fill_value,
            wrap=bool(wrap_negative_indices),
            out_sharding=out_sharding,
            strict=False,
        )

    def set(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with the elements replaced.

        Derivative: linear; where indices repeat, only the value that won has one.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._update(ScatterSet, values, options, out_sharding)

    def add(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with values added to the elements (repeated ones add up).

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._update(ScatterAdd, values, options, out_sharding)

    def subtract(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with values subtracted from the elements.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._update(ScatterSub, values, options, out_sharding)

    def multiply(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with the elements multiplied by values.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._update(ScatterMul, values, options, out_sharding)

    mul = multiply

    def divide(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` divided by values at the elements; the result has the dtype of ``x / x``.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        ones = full(self.array.type.update(weak_type=False), 1)
        factors = AtIndex(ones, self.index)._update(ScatterMul, values, options, out_sharding)
        return divide(self.array, factors)

    def power(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with the elements raised to values.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        ones = full(self.array.type.update(weak_type=False), 1)
        factors = AtIndex(ones, self.index)._update(ScatterMul, values, options, out_sharding)
        return power(self.array, factors)

    def min(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with the elements replaced by the minimum of them and values.

        Derivative: equal minima share it.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._update(ScatterMin, values, options, out_sharding)

    def max(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with the elements replaced by the maximum of them and values.

        Derivative: equal maxima share it.

        Args:
            values: array or number that broadcasts to ``x[index]``.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            out_sharding: sharding of the result; must be that of the array.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            IndexingError: malformed index.  ShapeError: values do not broadcast.
        """
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._update(ScatterMax, values, options, out_sharding)

    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """``x`` with a scalar function applied to the elements, k times to one named k times.

        Args:
            func: scalar -> scalar of the same dtype.
            indices_are_sorted, unique_indices: promises about the indices.
            mode: see `AtProperty`; None drops.
            wrap_negative_indices: whether negative indices count from the end.

        Returns:
            Array like ``x``.

        Raises:
            GradError: a derivative is asked for, and indices may repeat.

        Derivative: that of `func`, for basic indices and where ``unique_indices=True``.
        """
        x = self.array
        options = Options(indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        try:
            parsed = parse(self.index, x.type, False, options.wrap)
        except MaskIndex:
            return update(ScatterSet, x, self.index, map_elements(func, x), options)
        if not parsed.advanced and not parsed.dynamic:
            values = map_elements(func, read(x, self.index))
            return update(ScatterSet, x, self.index, values, options)
        plan = plan_update(parsed, x.type, options)
        if plan.empty:
            return x
        return apply_at(
            x, plan.rows, func, plan.numbers, plan.inner, plan.ordered, plan.unique, plan.mode,
            plan.wrap, is_asked(mode),
        )  # fmt: skip

    def _update(self, kind: type[Scatter], values: Any, options: Options, out_sharding: Any) -> Any:
        x = self.array
        if out_sharding is not None:
            wanted = as_sharding(out_sharding, (x,), "at[...]")
            if x.type.sharding is not None and wanted != x.type.sharding:
                raise errors.ShardingError(
                    errors.explain(
                        "at[...]",
                        "the result of an update has the sharding of the array",
                        {"array": x.type, "out_sharding": out_sharding},
                        try_="nl.reshard(x, P(...)) before or after the update",
                    )
                )
        return update(kind, x, self.index, values, options)


def install(cls: type) -> None:
    """Give arrays and traced values ``x[index]`` and ``x.at``."""
    for name, member in (("__getitem__", getitem), ("at", property(AtProperty))):
        setattr(cls, name, member)
