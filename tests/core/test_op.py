"""Operations as values."""

from __future__ import annotations

import pytest

from numlift.structural.shape import Reshape


def test_equal_parameters_give_one_object() -> None:
    assert Reshape.of((3, 4)) is Reshape.of((3, 4))
    assert Reshape.of((3, 4)).replace(shape=(12,)) is Reshape.of((12,), None)


def test_wrong_parameters_are_not_ignored() -> None:
    with pytest.raises(TypeError, match="its parameters are shape, sharding"):
        Reshape((3, 4), None, 5)
    with pytest.raises(TypeError, match="its parameters are shape, sharding"):
        Reshape((3, 4), shard=None)
    with pytest.raises(TypeError, match="missing parameter 'shape'"):
        Reshape()
