"""Keys of caches tell apart what Python calls equal."""

from collections import namedtuple

import numpy as onp
import pytest

import numlift as nl
import numlift.numpy as np
from numlift.core.exact import exact, is_ambiguous

Pair = namedtuple("Pair", "a b")
DIFFERENT = [
    (0.0, -0.0), (1, True), (1, 1.0), (1.0, 1 + 0j), (0, False), (1 + 0j, complex(1, -0.0)),
    ((0.0,), (-0.0,)), ((1, (2,)), (1, (2.0,))), (Pair(1, 2), (1, 2)), (Pair(1, 2), Pair(1, 2.0)),
    (onp.float32(0.0), onp.float32(-0.0)), (onp.float32(1), onp.float64(1)), ("1", b"1"),
]  # fmt: skip


@pytest.mark.parametrize("a, b", DIFFERENT)
def test_equal_numbers_that_differ(a, b):
    assert exact(a) != exact(b)
    assert len({exact(a), exact(b)}) == 2


@pytest.mark.parametrize(
    "x", [float("nan"), complex(0, float("nan")), (1, float("nan")), "a", None]
)
def test_a_value_is_found_again(x):
    assert exact(x) == exact(x) and hash(exact(x)) == hash(exact(x))
    assert exact(float("nan")) == exact(float("nan"))


def test_lists_stay_unhashable():
    with pytest.raises(TypeError):
        hash(exact([1]))


@pytest.mark.parametrize("x", [0.0, -0.0, float("nan"), 1j, (1, (0.0,)), onp.float32(0)])
def test_ambiguous(x):
    assert is_ambiguous(x)


@pytest.mark.parametrize("x", [0, 1, True, 1.5, 1 + 2j, "x", None, (1, 2), onp.int32(0)])
def test_not_ambiguous(x):
    assert not is_ambiguous(x)


def _sign(x):
    return onp.signbit(onp.asarray(x)).tolist()


def test_zeros_of_both_signs_as_options():
    empty = np.zeros(0)
    found = [_sign(np.max(empty, initial=v)) for v in (0.0, -0.0, 0.0, -0.0)]
    assert found == [False, True, False, True]
    pads = [_sign(np.pad(np.ones(1), 1, constant_values=(v, -v))[0]) for v in (0.0, -0.0, 0.0)]
    assert pads == [False, True, False]


def test_zeros_of_both_signs_as_static_arguments():
    f = nl.jit(lambda x, s: x * s, static_argnums=1)
    assert [_sign(f(np.ones(1), v)) for v in (0.0, -0.0, 0.0)] == [[False], [True], [False]]
    g = nl.jit(lambda x, s: x + np.asarray(s[0]), static_argnames="s")
    dtypes = [g(np.ones(1, int), s=(v,)).dtype for v in (1, 1.0, 1, True)]
    assert dtypes == ["int32", "float32", "int32", "int32"]


def test_parts_of_complex_numbers():
    found = [_sign(nl.lax.neg(complex(1, v)).imag) for v in (0.0, -0.0, 0.0)]
    assert found == [True, False, True]
    assert _sign(nl.lax.neg(complex(0.0, 1)).real) != _sign(nl.lax.neg(complex(-0.0, 1)).real)


def test_nan_options_trace_once():
    f = nl.jit(lambda x, s: traces.append(s) or x + s, static_argnums=1)
    traces = []
    for _ in range(3):
        f(np.ones(1), float("nan"))
    assert len(traces) == 1


def test_axes_that_are_floats_are_refused_after_integers():
    x = np.ones((2, 3))
    assert float(np.sum(x, axis=(0, 1))) == 6
    with pytest.raises(TypeError):
        np.sum(x, axis=(0.0, 1.0))
