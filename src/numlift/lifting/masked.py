"""``a[mask]`` where the mask is traced: elements whose number is not known.

Code such as ``a[a > 5] -= 1`` or ``a[m] = np.sin(a[m])`` reads elements, computes with each of
them, and writes them back where they came from. So `Masked` keeps the whole array and the mask.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from .. import numpy as nlnp
from ..core.tracing import Value
from ..numpy.protocols import array_ufunc


class Masked:
    """The elements of a traced array where a traced mask holds.

    Args:
        whole: array; its elements outside of the mask have no meaning.
        mask: bool array of the same shape.
    """

    __slots__ = ("mask", "whole")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, whole: Any, mask: Any):
        self.whole, self.mask = whole, mask

    @property
    def dtype(self) -> Any:
        """dtype of the elements."""
        return self.whole.dtype

    def _operand(self, x: Any) -> Any:
        if type(x) is Masked:
            if x.mask is not self.mask:
                raise self.refused("elements of two masks were combined")
            return x.whole
        if not isinstance(x, Value) and hasattr(type(x), "__numlift_array__"):
            x = x.__numlift_array__()
        if np.ndim(x):
            raise self.refused("they were combined with an array")
        return x

    def refused(self, what: str) -> errors.NonConcreteBooleanIndexError:
        """The error for what cannot be done without knowing how many elements there are."""
        return errors.NonConcreteBooleanIndexError(
            errors.explain(
                "lift",
                f"how many elements a traced mask selects is not known: {what}",
                {"array": self.whole.type, "mask": self.mask.type},
                try_="a[mask] = f(a[mask]) with elementwise f and the same mask object, or "
                "np.where(mask, x, y), np.sum(x, where=mask)",
            )
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1 or ufunc.signature is not None:
            raise self.refused(f"{ufunc.__name__} needs all of them")
        args = [self._operand(x) for x in inputs]
        return Masked(array_ufunc(None, ufunc, method, *args), self.mask)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise self.refused("they cannot become an array")

    def __len__(self) -> int:
        raise self.refused("they have no length")

    def __iter__(self) -> Any:
        raise self.refused("they cannot be iterated over")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("__") else self.refused(f".{name}")


def _install() -> None:
    def binary(op: Callable[[Any, Any], Any]) -> Callable[[Masked, Any], Masked]:
        return lambda self, other: Masked(op(self.whole, self._operand(other)), self.mask)

    def reflected(op: Callable[[Any, Any], Any]) -> Callable[[Masked, Any], Masked]:
        return lambda self, other: Masked(op(self._operand(other), self.whole), self.mask)

    def unary(op: Callable[[Any], Any]) -> Callable[[Masked], Masked]:
        return lambda self: Masked(op(self.whole), self.mask)

    names = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
    for name in [*names, "and_", "or_", "xor", "lshift", "rshift"]:
        op, base = getattr(operator, name), name.rstrip("_")
        setattr(Masked, f"__{base}__", binary(op))
        setattr(Masked, f"__r{base}__", reflected(op))
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        setattr(Masked, f"__{name}__", binary(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Masked, f"__{name}__", unary(getattr(operator, name)))


_install()


def traced_mask(index: Any, whole: Any) -> Any:
    """The mask if `index` is a traced one over all of `whole`, else None."""
    if isinstance(index, Value) and index.type.kind == "b":
        if index.type.shape == np.shape(whole) and _is_unknown(index):
            return index
    return None


def _is_unknown(x: Any) -> bool:
    known = getattr(x, "concrete", None)
    return known is not None and known() is None


def selected(whole: Any, mask: Any) -> Masked:
    """``whole[mask]`` for a traced mask."""
    return Masked(nlnp.asarray(whole), mask)


def written(whole: Any, index: Any, new: Masked) -> Any:
    """`whole` after ``whole[index] = new``."""
    if index is not new.mask:
        raise new.refused("they were written to other places than they came from")
    return nlnp.where(index, new.whole, nlnp.asarray(whole))
