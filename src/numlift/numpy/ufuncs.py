"""`ufunc`: elementwise functions with the methods reduce, accumulate, reduceat, outer and at."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.dtypes import canonicalize_dtype, is_python_scalar, user_dtype
from ..core.tracing import type_of
from ..lax.arguments import static_int
from . import folding
from .array_values import convert_to
from .creation import as_owned
from .elementwise import no_out
from .functional import vectorize
from .loops_of_numpy import as_numpy, check_reduction, check_update, in_loop, types_of
from .manipulation import broadcast_to, expand_dims, moveaxis, reshape
from .util import as_value, check_axes

_state = config.current
_AXES = ("axes", "axis", "keepdims")
_ACCEPTED = ("subok", "order")
"""Options of every call that mean nothing for immutable arrays, which have no memory order."""


class ufunc:
    """An elementwise function with NumPy's methods of universal functions.

    A call takes NumPy's options: ``dtype=`` (or ``signature=``) and ``casting=`` choose the dtypes
    to compute in as NumPy does; ``out`` must be None and ``where`` True, because arrays are
    immutable; ``order`` and ``subok`` mean nothing here.

    Args:
        func: function of `nin` arrays, elementwise and broadcasting, that returns `nout` arrays.
        nin, nout: number of arguments and results.
        name: name for messages.
        identity: value that changes nothing as the first operand, or None.
        reduce: function ``(x, axis=, keepdims=, initial=, where=)`` that folds faster; with
            ``dtype=`` if `promotes`.
        accumulate: function ``(x, axis=)`` that accumulates faster.
        at: name of the method of ``x.at[i]`` that does what `at` does.
        any_order: whether elements may be folded in any order (over several axes, too).
        promotes: whether folds of small integers are computed in the default integer.
        like: NumPy's universal function that this one computes.
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
        any_order: bool = False,
        promotes: bool = False,
        like: np.ufunc | None = None,
    ):
        self._func, self.nin, self.nout, self.identity = func, nin, nout, identity
        self._reduce, self._accumulate, self._at = reduce, accumulate, at
        self._any_order, self._promotes, self._like = any_order, promotes, like
        self.__name__: str = name or str(getattr(func, "__name__", "ufunc"))
        self.__qualname__ = self.__name__
        self.__doc__ = func.__doc__ or type(self).__doc__
        self.__wrapped__ = func
        if like is not None:
            self.__module__ = "numlift.numpy"

    @property
    def nargs(self) -> int:
        """Number of arguments and results together."""
        return self.nin + self.nout

    @property
    def signature(self) -> str | None:
        """Axes that the function works on, as ``(n,k),(k,m)->(n,m)``; None: elementwise."""
        return self._like.signature if self._like is not None else None

    @property
    def types(self) -> list[str]:
        """NumPy's loops for dtypes that exist here, as ``"ff->f"``."""
        return types_of(self._like)

    @property
    def ntypes(self) -> int:
        """Number of `types`."""
        return len(self.types)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._func)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> Any:
        if getattr(sys.modules.get(self.__module__), self.__name__, None) is self:
            return self.__name__
        return super().__reduce__()

    def __call__(self, *args: Any, **options: Any) -> Any:
        if options or len(args) != self.nin:
            return self._call_with(args, options)
        if _state().numpy_dtype_promotion == "numpy" and self._like is not None:
            return as_numpy(self._like, self._with_axes, self.__name__, args, options)
        return self._func(*args)

    def _call_with(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        name = self.__name__
        if len(args) < self.nin:
            args = (*args, *self._named(len(args), options))
        if not self.nin <= len(args) <= self.nargs:
            raise errors.ArgumentError(
                errors.explain(name, f"takes {self.nin} arguments, got {len(args)}")
            )
        out = options.pop("out", None)
        for x in (*args[self.nin :], *(out if isinstance(out, tuple) else (out,))):
            no_out(name, x)
        args = args[: self.nin]
        where = options.pop("where", None)
        if where is not None and where is not True:
            raise errors.ArgumentError(
                errors.explain(
                    name,
                    "where= without out= leaves elements without a value",
                    try_=f"np.where(mask, np.{name}(...), other)",
                )
            )
        for option in _ACCEPTED:
            options.pop(option, None)
        casting = options.pop("casting", "same_kind")
        signature = options.pop("signature", None) or options.pop("sig", None)
        dtype = options.pop("dtype", None)
        self._check_options(options)
        if dtype is None and signature is None:
            if _state().numpy_dtype_promotion == "numpy" and self._like is not None:
                return as_numpy(self._like, self._with_axes, name, args, options)
            if casting in ("same_kind", "unsafe"):
                return self._with_axes(args, options)
        return in_loop(self._like, self._with_axes, name, args, options, dtype, signature, casting)

    def _named(self, given: int, options: dict[str, Any]) -> list[Any]:
        """Arguments that were given by name, where the function takes names (`fmax`, `fmin`)."""
        rest = list(inspect.signature(self._func).parameters.values())[given : self.nin]
        taken = []
        for p in rest:
            if p.kind is not p.POSITIONAL_OR_KEYWORD or p.name not in options:
                break
            taken.append(options.pop(p.name))
        return taken

    def _check_options(self, options: dict[str, Any]) -> None:
        if not options:
            return
        known = inspect.signature(self._func).parameters
        for option in options:
            if option not in known and not (self.signature and option in _AXES):
                raise errors.ArgumentError(
                    errors.explain(self.__name__, f"got an unexpected keyword argument {option!r}")
                )

    def _with_axes(self, args: Any, options: dict[str, Any]) -> Any:
        """Call with `axes`, `axis` and `keepdims` of functions that work on axes."""
        axes, axis = options.pop("axes", None), options.pop("axis", None)
        keepdims = options.pop("keepdims", False)
        if axes is None and axis is None and not keepdims:
            return self._func(*args, **options)
        args = [as_owned(x) for x in args]
        groups = core_axes(self, args, axes, axis, keepdims)
        moved = [moveaxis(x, g, range(-len(g), 0)) for x, g in zip(args, groups, strict=False)]
        result = self._func(*moved, **options)
        if keepdims:
            return expand_dims(result, groups[0][0])
        return moveaxis(result, range(-len(groups[-1]), 0), groups[-1])

    def _need(self, method: str, outputs: int | None = 1) -> None:
        name = f"{self.__name__}.{method}"
        if self.signature is not None:
            folds = method in ("reduce", "accumulate", "reduceat")
            kind = errors.NotElementwiseError if folds else errors.ArgumentError
            raise kind(errors.explain(name, f"is for elementwise functions, not {self.signature}"))
        if self.nin != 2 or (outputs is not None and self.nout != outputs):
            raise errors.ValueArgumentError(
                errors.explain(name, "is for functions of two arguments with one result")
            )

    def _prepared(self, method: str, a: Any, dtype: Any, out: Any) -> Any:
        name = f"{self.__name__}.{method}"
        self._need(method)
        no_out(name, out)
        x = as_owned(as_value(a, name, "array"))
        wanted = None if dtype is None else user_dtype(dtype, name)
        found = check_reduction(self._like, name, x.dtype, wanted)
        if found is not None and found.kind == "b":
            wanted = found
        elif wanted is None and self._promotes and found is not None and x.dtype.kind in "biu":
            wanted = canonicalize_dtype(found)
        return x if wanted is None else convert_to(x, wanted)

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """Fold the function over one or more axes, from the first element to the last.

        Args:
            array: array.
            axis: axis, axes, or None for all.
            dtype: dtype to compute in.
            out: must be None.
            keepdims: keep folded axes with length 1.
            initial: first value, by default the identity, or the first element.
            where: mask of the elements that take part; needs an identity or `initial`.

        Raises:
            ValueArgumentError: nothing to fold and neither identity nor `initial`; several axes
            for a function whose result depends on the order.  DTypeError: no fold in that dtype.
        """
        x = self._prepared("reduce", array, dtype, out)
        where = None if where is True else where
        ndim = type_of(x).ndim
        if axis in (0, -1) and not ndim:
            axis = None
        axes = check_axes(f"{self.__name__}.reduce", axis, ndim)
        if len(axes) > 1 and not self._any_order and self._like is not None:
            raise errors.ValueArgumentError(
                errors.explain(
                    f"{self.__name__}.reduce",
                    "the result depends on the order, so only one axis can be folded",
                    {"axis": axis},
                    try_="one axis after the other",
                )
            )
        if self._reduce is not None:
            options: dict[str, Any] = {} if initial is None else {"initial": initial}
            if where is not None:
                options["where"] = where
            if self._promotes:
                options["dtype"] = x.dtype
            if initial is None or self._promotes or self._like is None:
                return self._reduce(x, axis=axes, keepdims=keepdims, **options)
        return self._folded(x, axes, keepdims, initial, where)

    def _folded(self, x: Any, axes: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        start = self.identity if initial is None else initial
        masks = None
        if where is not None:
            if start is None:
                raise errors.ValueArgumentError(
                    errors.explain(f"{self.__name__}.reduce", "where needs initial")
                )
            masks = folding.first_axes(broadcast_to(as_owned(where), x.shape), axes)
        elif self._like is not None and initial is None and all(x.shape[i] for i in axes):
            start = None  # the first element does as well
        if not axes:
            return x if start is None else self._func(start, x)
        rows = folding.first_axes(x, axes)
        result = folding.fold(self.__name__, self._func, rows, start, masks, self._any_order)
        return expand_dims(result, axes) if keepdims and axes else result

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """Fold along an axis and keep every intermediate result.

        Args:
            array: array.
            axis: axis to go along.
            dtype: dtype to compute in.
            out: must be None.
        """
        x = self._prepared("accumulate", array, dtype, out)
        axis = folding.check_one_axis(f"{self.__name__}.accumulate", axis, type_of(x).ndim)
        if self._accumulate is not None:
            return self._accumulate(x, axis=axis, dtype=x.dtype)
        return folding.accumulate(self._func, x, axis, self._any_order)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Any:
        """Fold over slices from each index up to the next one (the last: up to the end).

        Where an index is not smaller than the next one, the result is the element there.

        Args:
            array: array.
            indices: integers in one axis: where the slices begin.
            axis: axis to go along.
            dtype: dtype to compute in.
            out: must be None.
        """
        x = self._prepared("reduceat", array, dtype, out)
        name = f"{self.__name__}.reduceat"
        axis = folding.check_one_axis(name, axis, type_of(x).ndim)
        return folding.reduceat(self.__name__, self._func, x, indices, axis)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of every pair of an element of A and one of B; options as in a call."""
        self._need("outer", None)
        if is_python_scalar(A) or is_python_scalar(B):  # rank 0, and weakly typed
            return self(A, B, **options)
        x, y = as_owned(A), as_owned(B)
        return self(reshape(x, (*x.shape, *(1,) * y.ndim)), y, **options)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        """A copy of `a` with the function applied to the elements at `indices`, in turn.

        Args:
            a: array.
            indices: an index, as in ``a[indices]``; repeated elements change repeatedly.
            b: second operand, for functions of two arguments.
            inplace: must be False: arrays are immutable.
        """
        name = f"{self.__name__}.at"
        if inplace:
            raise errors.ImmutableArrayError(
                errors.explain(
                    name,
                    "arrays are immutable",
                    try_=f"a = np.{name}(a, indices, b, inplace=False)",
                )
            )
        if self.signature is not None:
            self._need("at")
        x = as_owned(a)
        if (b is None) != (self.nin == 1) or self.nin > 2 or self.nout != 1:
            raise errors.ValueArgumentError(
                errors.explain(name, "takes b for functions of two arguments, and only there")
            )
        check_update(self._like, name, x, b)
        if self.nin == 1:
            return x.at[indices].apply(self._func)
        if self._at is not None and type_of(x).kind in "iuf":
            return getattr(x.at[indices], self._at)(b)
        return folding.update_in_turn(self._func, x, indices, b)


def core_axes(
    function: ufunc, args: Sequence[Any], axes: Any, axis: Any, keepdims: bool
) -> list[tuple[int, ...]]:
    """The axes of each operand and of the result that a function of axes works on."""
    name, signature = function.__name__, function.signature or ""
    counts = [len(g.split(",")) if g else 0 for g in re.findall(r"\((.*?)\)", signature)]
    if axis is not None or axes is None:
        if max(counts) > 1 or counts[-1]:
            raise errors.ArgumentError(
                errors.explain(
                    name,
                    f"axis and keepdims are for one axis that is summed over, not {signature}",
                    try_="axes=",
                )
            )
        one = -1 if axis is None else static_int(name, "axis", axis)
        return [(one,)] * (len(counts) - 1) + [()]
    if keepdims:
        raise errors.ArgumentError(errors.explain(name, "takes axis with keepdims, not axes"))
    if not isinstance(axes, list):
        raise errors.ArgumentError(errors.explain(name, "axes must be a list", {"axes": axes}))
    groups = [(g,) if isinstance(g, int) else tuple(g) for g in axes]
    if len(groups) == len(counts) - 1 and not counts[-1]:
        groups.append(())
    if len(groups) != len(counts):
        raise errors.ValueArgumentError(
            errors.explain(name, f"axes must have {len(counts)} entries", {"axes": axes})
        )
    for x, group, count in zip((*args, None), groups, counts, strict=True):
        if len(group) != count and not (x is not None and x.ndim == len(group) < count):
            raise errors.AxisError(
                errors.explain(name, f"{group} does not name {count} axes", {"axes": axes})
            )
    return groups


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A `ufunc` from a function of scalars, which `vmap` applies to every element.

    The result has `reduce`, `accumulate`, `reduceat`, `outer` and `at`, and can be transformed as
    any function.

    Args:
        func: function of `nin` scalars that returns `nout` scalars (a tuple if more than one).
        nin: number of arguments.
        nout: number of results.
        identity: value that changes nothing as the first operand, or None.

    Returns:
        A `ufunc` that takes `nin` arrays, broadcasts them, and returns `nout` arrays of their
        shape.

    Derivative: that of `func`.

    Differences from NumPy: `func` is traced, so it gets arrays of rank 0; the results are arrays of
    numbers of one dtype, not of Python objects.

    Example:
        >>> import numlift.numpy as np
        >>> f = np.frompyfunc(lambda x, y: x + 2 * y, 2, 1)
        >>> print(f.outer(np.asarray([1, 2]), np.asarray([10, 20])))
        [[21 41]
         [22 42]]
    """
    name = getattr(func, "__name__", "ufunc")
    return ufunc(vectorize(func), nin, nout, name=name, identity=identity)


__all__ = ["frompyfunc", "ufunc"]
