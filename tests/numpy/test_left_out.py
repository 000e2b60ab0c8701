"""Names that are not there: why, or what is near."""

from __future__ import annotations

import pytest

import numlift as nl
import numlift.numpy as np
from numlift.numpy.left_out import LEFT_OUT


def test_reasons_of_names_that_numpy_has() -> None:
    for name, reason in LEFT_OUT["numpy"].items():
        assert not hasattr(np, name)
        with pytest.raises(AttributeError) as found:
            getattr(np, name)
        assert str(found.value) == f"module 'numlift.numpy' has no attribute {name!r}: {reason}"
    with pytest.raises(AttributeError, match="long doubles"):
        np.float128


def test_near_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'linspcae'. Try: linspace"):
        np.linspcae
    with pytest.raises(AttributeError, match="no attribute 'vmapp'. Try: vmap"):
        nl.vmapp
    for module in (nl, np):
        assert not hasattr(module, "__wrapped__")
        assert getattr(module, "qqqqqqqq", None) is None
        with pytest.raises(AttributeError, match="'qqqqqqqq'$"):
            module.qqqqqqqq


@pytest.mark.parametrize("name", nl._LEFT_OUT)
def test_reasons_of_names_that_jax_has(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name!r}: not there yet"):
        getattr(nl, name)
