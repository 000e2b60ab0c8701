"""`out_sharding` of functions that place their result afterwards; other names of arguments."""

from __future__ import annotations

from typing import Any

import pytest

import numlift as nl
import numlift.numpy as np
from numlift import AxisType, P, errors, lax, random


@pytest.mark.parametrize(
    "make, wanted",
    [
        (
            lambda p: random.multivariate_normal(
                random.key(0), np.zeros(2), np.eye(2), (8,), out_sharding=p
            ),
            "float32[8@x,2]",
        ),
        (lambda p: np.bincount(np.arange(8), out_sharding=p), "int32[8@x]"),
        (lambda p: lax.reduce_sum(np.ones((4, 4)), (0,), out_sharding=p), "float32[4@x]"),
        (lambda p: nl.reshard(xs=np.ones(4), out_shardings=p), "float32[4@x]"),
    ],
)
def test_results_are_placed(make: Any, wanted: str) -> None:
    mesh = nl.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with nl.set_mesh(mesh):
        assert str(nl.typeof(make(P("x")))) == wanted


def test_names_of_arguments() -> None:
    assert float(np.fmax(x1=1.0, x2=2.0)) == 2 and float(np.fmin(np.ones(()), x2=0.0)) == 0
    assert int(np.gcd(x1=4, x2=6)) == 2 and int(np.lcm(x1=4, x2=6)) == 12
    assert round(float(np.i0(x=1.0)), 4) == 1.2661
    assert np.linalg.eigh(np.eye(2), None).eigenvalues.tolist() == [1, 1]
    assert np.linalg.pinv(np.diag(np.array([1.0, 1e-3])), rcond=0.1)[1, 1] == 0
    with pytest.raises(errors.ArgumentError, match="rcond is another name"):
        np.linalg.pinv(np.eye(2), 0.1, rcond=0.1)
    f = nl.checkpoint(lambda x, *, n: x**n, static_argnames="n")
    assert float(nl.grad(lambda v: f(v, n=3))(2.0)) == 12
    gather = nl.vmap(lambda x: lax.all_gather(x, "i", to="varying"), axis_name="i")
    assert gather(np.arange(2)).tolist() == [[0, 1], [0, 1]]
