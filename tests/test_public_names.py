"""Public modules have the names that JAX documents; `Array` covers traced values."""

from __future__ import annotations

import collections
import importlib
import pathlib

import numpy
import pytest

import numlift as nl
from numlift import errors
from numlift.typing import Array, ArrayLike

NAMES = {
    "dtypes": "TypePromotionError bfloat16 canonicalize_dtype extended finfo float0 iinfo "
    "issubdtype itemsize_bits prng_key result_type scalar_type_of promote_types",
    "typing": "Array ArrayLike DTypeLike Shape",
    "sharding": "AbstractMesh AxisType Mesh NamedSharding PartitionSpec Sharding "
    "SingleDeviceSharding get_abstract_mesh get_mesh set_mesh use_abstract_mesh use_mesh",
    "test_util": "check_grads check_jvp check_vjp",
    "flatten_util": "ravel_pytree",
    "ref": "Ref addupdate empty_ref free_ref freeze get new_ref set swap",
    "tree": "all broadcast flatten flatten_with_path leaves leaves_with_path map map_with_path "
    "reduce reduce_associative static structure transpose unflatten",
    "tree_util": "DictKey FlattenedIndexKey GetAttrKey KeyEntry KeyPath Partial PyTreeDef "
    "SequenceKey all_leaves default_registry flatten_one_level flatten_one_level_with_keys "
    "is_tree_node keystr register_dataclass register_pytree_node register_pytree_node_class "
    "register_pytree_with_keys register_pytree_with_keys_class register_static tree_all "
    "tree_broadcast tree_flatten tree_flatten_with_path tree_leaves tree_leaves_with_path tree_map "
    "tree_map_with_path tree_reduce tree_reduce_associative tree_structure tree_transpose "
    "tree_unflatten treedef_children treedef_is_leaf treedef_tuple",
}


@pytest.mark.parametrize("module", NAMES)
def test_names(module: str) -> None:
    found = getattr(nl, module)
    missing = [n for n in NAMES[module].split() if not hasattr(found, n)]
    assert not missing
    assert set(NAMES[module].split()) <= set(found.__all__)


def test_array_covers_traced_values() -> None:
    seen = []

    def f(x):
        seen.append((isinstance(x, nl.Array), isinstance(x, Array), isinstance(x, ArrayLike)))
        return x * 2

    y = nl.jit(f)(1.0)
    nl.grad(f)(1.0)
    nl.vmap(f)(numpy.ones(2))
    assert seen == [(True, True, True)] * 3
    assert isinstance(y, nl.Array) and not isinstance(numpy.ones(2), nl.Array)
    assert isinstance(numpy.float32(1), ArrayLike) and not isinstance([1.0], ArrayLike)


def test_bits() -> None:
    bits = {"int4": 4, "bool": 8, "bfloat16": 16, "complex64": 64, "uint8": 8, "float4_e2m1fn": 4}
    assert {n: nl.dtypes.itemsize_bits(n) for n in bits} == bits
    assert nl.dtypes.itemsize_bits(nl.random.key(0).dtype) == 64
    assert nl.dtypes.itemsize_bits("float64") == 64
    for name in ("O", "S3", "datetime64[s]"):
        with pytest.raises(errors.DTypeError, match="not a dtype of arrays"):
            nl.dtypes.itemsize_bits(name)


def test_one_level() -> None:
    pair = collections.namedtuple("pair", "a b")
    one, with_keys = nl.tree_util.flatten_one_level, nl.tree_util.flatten_one_level_with_keys
    assert list(one(pair(1, (2, 3)))[0]) == [1, (2, 3)]
    assert [str(k) for k, _ in with_keys(pair(1, 2))[0]] == [".a", ".b"]
    assert [str(k) for k, _ in with_keys({"b": 1, "a": 2})[0]] == ["['a']", "['b']"]
    assert list(one(None)[0]) == []
    for function in (one, with_keys):
        with pytest.raises(errors.TreeError, match="is a leaf"):
            function(5)


PAGES = pathlib.Path(__file__).parents[1] / "docs" / "reference"


@pytest.mark.parametrize("page", [p.stem for p in PAGES.glob("*.md")])
def test_only_public_names_are_shown(page: str) -> None:
    """What completion offers is `__all__`."""
    if page in ("numlift", "config"):  # a module with lazy names, and an object
        shown = dir(nl)
        assert "random" in shown and not {"Any", "importlib", "core", "ops"} & set(shown)
        return
    module = importlib.import_module(f"numlift.{page}")
    shown = {name for name in dir(module) if name[0] != "_"} - {"annotations"}
    assert shown <= set(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
