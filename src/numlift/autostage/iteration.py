"""What staged `for` loops run over: rows of arrays, and ranges with traced bounds."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import python_scalar_dtype
from ..core.tracing import type_of
from ..runtime.array import Array
from ..runtime.transfer import as_array
from ..structural.arith import convert
from .values import is_traced

Build = Callable[[Sequence[Any]], Any]


class Rows:
    """Elements made of the rows of arrays with one leading size.

    Attributes:
        arrays: the arrays.
        length: their leading size.
        build: from one row of each array to the element.
    """

    __slots__ = ("arrays", "length", "build")

    def __init__(self, arrays: list[Any], length: int, build: Build):
        self.arrays, self.length, self.build = arrays, length, build

    @classmethod
    def of(cls, frame: Any, x: Any, line: int) -> Rows:
        """The rows of an array."""
        t = type_of(x)
        if not t.shape:
            raise frame.error(
                "an array without dimensions has no rows to loop over", line, "range(n), if it is "
                "a number of steps"
            )  # fmt: skip
        return cls([x], t.shape[0], operator.itemgetter(0))

    @classmethod
    def of_range(cls, numbers: range) -> Rows:
        """The numbers of a range as Python integers that are traced."""
        dtype = python_scalar_dtype(int)
        array = as_array(np.asarray(numbers, dtype).reshape(len(numbers)))
        return cls([array], len(numbers), lambda rows: convert(rows[0], dtype, True))

    def __iter__(self) -> Iterator[Any]:
        for i in range(self.length):
            yield self.build([x[i] for x in self.arrays])

    def backwards(self) -> Rows:
        """The rows from the last to the first."""
        return Rows([x[::-1] for x in self.arrays], self.length, self.build)


class TracedRange:
    """`range` whose bounds are traced; `build` makes the element from the number."""

    __slots__ = ("start", "stop", "step", "build")

    def __init__(self, start: Any, stop: Any, step: int, build: Callable[[Any], Any]):
        self.start, self.stop, self.step, self.build = start, stop, step, build

    @classmethod
    def of(cls, frame: Any, args: Sequence[Any]) -> TracedRange:
        """From the arguments of `range`."""
        start, stop, step = 0, args[0], 1
        if len(args) > 1:
            start, stop = args[:2]
        if len(args) > 2:
            step = args[2]
        if is_traced(step):
            raise frame.error_here(
                "the step of range must be known while tracing", "make it a static argument"
            )
        step = operator.index(step)
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        for bound in (start, stop):
            t = type_of(bound)
            if t.shape or t.kind not in "iu":
                raise frame.error_here(
                    f"the bounds of range must be integer scalars, not {t!r}", "n.astype(int)"
                )
        return cls(start, stop, step, lambda i: i)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            "a range with traced bounds can be used only as the iterable of a `for` statement, "
            "alone or in enumerate or reversed"
        )

    def backwards(self) -> TracedRange:
        """The numbers from the last to the first."""
        sign = 1 if self.step > 0 else -1
        n = (self.stop - self.start + self.step - sign) // self.step
        last = self.start + (n - 1) * self.step
        return TracedRange(last, self.start - self.step, -self.step, self.build)

    def counted(self, first: Any) -> TracedRange:
        """`enumerate` of the range."""
        start, step, build = self.start, self.step, self.build
        return TracedRange(
            start, self.stop, step, lambda i: (first + (i - start) // step, build(i))
        )


def iterable(frame: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`, staged if it is one of Python's own and something is traced."""
    if function is builtins.range and any(map(is_traced, args)) and 0 < len(args) < 4:
        return TracedRange.of(frame, args)
    over = [_rows(frame, x) for x in args]
    if not any(isinstance(x, (Rows, TracedRange)) for x in over):
        return function(*args, **kwargs)
    first = over[0]
    if function is builtins.reversed and len(over) == 1:
        return first.backwards()
    if function is builtins.enumerate and isinstance(first, (Rows, TracedRange)):
        start = args[1] if len(args) > 1 else kwargs.get("start", 0)
        return first.counted(start) if isinstance(first, TracedRange) else _counted(first, start)
    if function is builtins.zip:
        found = _zipped(frame, args, over, kwargs)
        if found is not None:
            return found
    return function(*args, **kwargs)


def _rows(frame: Any, x: Any) -> Any:
    return Rows.of(frame, x, frame.line_here()) if is_traced(x) and type_of(x).shape else x


def _counted(rows: Rows, start: Any) -> Rows:
    numbers = Rows.of_range(range(rows.length))
    return Rows(
        [*numbers.arrays, *rows.arrays],
        rows.length,
        lambda r: (start + numbers.build(r[:1]), rows.build(r[1:])),
    )


def _zipped(frame: Any, args: Any, over: list[Any], kwargs: dict[str, Any]) -> Rows | None:
    parts: list[Rows] = []
    for x in over:
        if isinstance(x, range):
            x = Rows.of_range(x)
        elif isinstance(x, (Array, np.ndarray)) and type_of(x).shape:
            x = Rows.of(frame, as_array(x), frame.line_here())
        if not isinstance(x, Rows):
            return None  # a list, for example: Python loops, and takes rows one by one
        parts.append(x)
    lengths = {p.length for p in parts}
    if kwargs.get("strict") and len(lengths) > 1:
        raise ValueError(f"zip(): arguments have lengths {[p.length for p in parts]}")
    n = min(lengths)
    arrays = [a[:n] if type_of(a).shape[0] != n else a for p in parts for a in p.arrays]

    def build(rows: Sequence[Any]) -> tuple[Any, ...]:
        made, at = [], 0
        for p in parts:
            made.append(p.build(rows[at : at + len(p.arrays)]))
            at += len(p.arrays)
        return tuple(made)

    return Rows(arrays, n, build)
