"""What a row of the table says about one public function, and helpers to write rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.numpy.properties.drawing import Call, Draw


@dataclass(frozen=True)
class Row:
    """How one function is called and compared.

    Attributes:
        draw: draws the arguments.
        jit: whether the function works on traced arrays.
        vmap: whether it works under `vmap`.
        smooth: whether derivatives are compared with differences; drawn by `draw` too.
        scaled: whether rounding errors are relative to the largest element (sums, products).
        narrow: whether a narrow float gives the rounded result of float32.
        zeros: whether the signs of zeros are NumPy's.
        tolerance: factor on the tolerance of the dtype.
        own_dtype: "" or the reason why the result has another dtype than NumPy's.
        reference: NumPy's function, where it is not the one of the same name.
        as_numpy: the arguments of the reference, where they are not the same.
        steep: whether the derivative where the result is 0 is that of a root: infinite or NaN.
        normal: applied to both results, where their order is free.
    """

    draw: Callable[[Draw], Call]
    jit: bool = True
    vmap: bool = True
    smooth: bool = False
    scaled: bool = False
    narrow: bool = True
    zeros: bool = True
    tolerance: float = 1.0
    own_dtype: str = ""
    reference: Callable[..., Any] | None = None
    as_numpy: Callable[[Call], Call] | None = None
    normal: Callable[[Any], Any] | None = None
    steep: bool = False


Table = dict[str, Row]


def rows(names: str, draw: Callable[[Draw], Call], **more: Any) -> Table:
    """The same row for several names."""
    return {name: Row(draw, **more) for name in names.split()}


def but(table: Table, names: str, **changes: Any) -> None:
    """Change rows of a table."""
    for name in names.split():
        table[name] = replace(table[name], **changes)
