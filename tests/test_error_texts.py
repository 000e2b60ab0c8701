"""What messages say: the operands as types, and a change that helps where the user is."""

from __future__ import annotations

import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors


def test_near_dtypes() -> None:
    with pytest.raises(errors.DTypeError, match="Try: 'float32'") as found:
        np.zeros(3, "flaot32")
    assert "astype" not in str(found.value)


@pytest.mark.parametrize("function", [np.einsum, np.einsum_path])
def test_einsum_shows_types(function) -> None:
    with pytest.raises(errors.ShapeError, match="(?s)letter 'j' has size 4.*Try: ") as found:
        function("ij,jk", np.ones((2, 3)), np.ones((4, 5)))
    assert "operand 0: float32[2,3]\n  operand 1: float32[4,5]" in str(found.value)
    with pytest.raises(errors.ValueArgumentError, match=r"(?s)3 letters.*float32\[2,3\].*Try: "):
        function("ijk,jk", np.ones((2, 3)), np.ones((3, 5)))


@pytest.mark.parametrize("function", [np.linspace, np.logspace, np.geomspace])
def test_traced_number_of_samples(function) -> None:
    with pytest.raises(errors.TracerIntegerConversionError, match="Try: .*static_argnums"):
        nl.jit(lambda n: function(1.0, 2.0, n))(3)
    with pytest.raises(errors.ArgumentError, match=r"Try: int\(num\)"):
        function(1.0, 2.0, 2.5)


def test_scan_without_a_pair() -> None:
    with pytest.raises(errors.TreeError, match=r"returned: float32\[\]"):
        nl.lax.scan(lambda c, x: c + x, np.float32(1.0), np.ones(3))


def test_condition_under_vmap() -> None:
    def relu(x):
        return x if x > 0 else 0 * x

    with pytest.raises(errors.TracerBoolConversionError, match=r"traced by: vmap\(relu\)") as found:
        nl.vmap(relu)(np.ones(3))
    assert "static_argnums" not in str(found.value)
