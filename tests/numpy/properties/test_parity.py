"""Every public function on random arguments against NumPy: value, dtype, shape, error, jit, vmap.

The derivatives of differentiable functions are compared with differences of NumPy's.
`PARITY_EXAMPLES=500` draws more; `make fuzz-numpy` draws new ones for as long as it is told.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy
import pytest

import numlift.numpy as np
from numlift.numpy import fft
from tests.numpy.properties.checking import check, check_derivatives, examples
from tests.numpy.properties.table.all import EXEMPT, ROWS
from tests.random_programs.runs import run

EXAMPLES = int(os.environ.get("PARITY_EXAMPLES", "5"))
SEED = 20261202


def public_functions() -> dict[str, Any]:
    """Functions of numlift.numpy and numlift.numpy.fft by name."""
    found = {}
    for prefix, module in (("", np), ("fft.", fft)):
        for name in dir(module):
            f = getattr(module, name)
            if name[0] != "_" and callable(f) and not isinstance(f, type):
                if not inspect.ismodule(f) and not hasattr(f, "dtype"):
                    found[prefix + name] = f
    return found


def test_every_function_has_a_row() -> None:
    functions = public_functions()
    covered = {id(f) for name, f in functions.items() if name in ROWS or name in EXEMPT}
    missing = [name for name, f in functions.items() if id(f) not in covered]
    assert not missing, "no row in tests/numpy/properties/table, no reason in EXEMPT"
    assert not sorted((set(ROWS) | set(EXEMPT)) - set(functions)), "rows of no function"
    assert not sorted(set(ROWS) & set(EXEMPT))


@pytest.mark.parametrize("name", ROWS)
def test_as_numpy(name: str) -> None:
    run(examples(name, ROWS[name]), check, EXAMPLES, SEED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.smooth])
def test_derivatives(name: str) -> None:
    drawn = examples(name, ROWS[name], smooth=True)
    run(drawn, check_derivatives, max(EXAMPLES // 3, 2), SEED)


def test_numpy_is_recent() -> None:
    """Rows follow NumPy 2: its functions, classes of errors and promotion."""
    assert int(numpy.__version__.split(".")[0]) >= 2
