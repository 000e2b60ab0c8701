"""Every row of docs/edge_points.md: value and derivatives as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax, nn

PAGE = Path(__file__).parents[2] / "docs" / "edge_points.md"
CODE = re.compile(r"`([^`]*)`")
NUMBERS = {"inf": numpy.inf, "nan": numpy.nan}
NAMES = {"np": np, "lax": lax, "nn": nn, **NUMBERS}


class Row(NamedTuple):
    """One row of the page, as text."""

    function: str
    at: str
    value: str
    reverse: str
    forward: str


def read_page() -> list[Row]:
    """The rows of all tables."""
    rows = []
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| `"):
            continue
        function, at, value, derivative = line.split("|")[1:5]
        modes = CODE.findall(derivative)
        texts = [CODE.findall(cell)[0] for cell in (function, at, value)]
        rows.append(Row(*texts, modes[0], modes[-1]))
    return rows


ROWS = read_page()


def arguments(at: str) -> dict[str, Any]:
    """``x=0.0; y=[1.0, nan]`` as float32 arrays by name."""
    pairs = (part.split("=") for part in at.split(";"))
    return {name.strip(): np.asarray(eval(text, NUMBERS), "float32") for name, text in pairs}


def expected(text: str, count: int) -> list[Any]:
    """Numbers of a cell, one an argument."""
    found = eval(text, NUMBERS)
    return found if count > 1 else [found]


def agree(found: Any, wanted: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("row", ROWS, ids=[f"{r.function} at {r.at}" for r in ROWS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_row(row: Row) -> None:
    args = arguments(row.at)
    count = len(args)
    function = eval(f"lambda {', '.join(args)}: {row.function}", dict(NAMES))

    def total(*xs: Any) -> Any:
        return np.sum(function(*xs))

    values = tuple(args.values())
    agree(function(*values), eval(row.value, NUMBERS))
    gradient = nl.grad(total, tuple(range(count)))
    for found in (gradient(*values), nl.jit(gradient)(*values)):
        for one, wanted in zip(found, expected(row.reverse, count), strict=True):
            agree(one, wanted)
    for i, wanted in enumerate(expected(row.forward, count)):
        agree(nl.jacfwd(total, i)(*values), wanted)


def test_the_page_has_its_rows() -> None:
    assert len(ROWS) > 90
    assert len(set(ROWS)) == len(ROWS)


def test_the_cure_for_nan_from_the_branch_not_taken() -> None:
    def safe_log(x: Any) -> Any:
        safe = np.where(x > 0.0, x, 1.0)
        return np.sum(np.where(x > 0.0, np.log(safe), 0.0))

    agree(nl.grad(safe_log)(np.asarray([-1.0, 0.0, 2.0])), [0.0, 0.0, 0.5])


def test_cond_is_safe_also_under_vmap() -> None:
    def f(x: Any, shared: Any = 1.0) -> Any:
        return lax.cond(x > 0.0, lambda x: np.log(x) * np.sqrt(shared), lambda _: 0.0, x)

    def total(x: Any, shared: Any) -> Any:
        return np.sum(nl.vmap(f, (0, None))(x, shared))

    xs = np.asarray([0.0, 2.0])
    agree(nl.grad(f)(0.0), 0.0)
    agree(nl.vmap(nl.grad(f))(xs), [0.0, 0.5])
    agree(nl.grad(total)(xs, 1.0), [0.0, 0.5])
    agree(nl.jit(nl.grad(total))(xs, 1.0), [0.0, 0.5])
    agree(nl.jacfwd(total)(xs, 1.0), [0.0, 0.5])
    agree(nl.grad(total, 1)(np.asarray([-1.0, -2.0]), 0.0), 0.0)


@pytest.mark.parametrize("order, wanted", [(1, 0.0), (2, -(numpy.pi**2) / 3), (3, 0.0)])
def test_sinc_has_its_limits_of_higher_order(order: int, wanted: float) -> None:
    f = np.sinc
    for _ in range(order):
        f = nl.grad(f)
    agree(f(0.0), wanted)
