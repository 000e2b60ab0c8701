"""Typical mistakes with calls to Python, debugging, settings, trees and checks of derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import debug, flatten_util, test_util, tree, tree_util
from numlift.experimental import io_callback

V = numpy.ones(3, numpy.float32)
M = numpy.ones((2, 3), numpy.float32)
N = numpy.arange(3)
LIKE_V = nl.ShapeDtypeStruct((3,), "float32")


def square(x):
    return np.sum(x * x)


@nl.custom_jvp
def wrong_derivative(x):
    return np.sin(x)


wrong_derivative.defjvp(lambda p, t: (np.sin(p[0]), t[0] * 3.0))


def setting(scope: Callable[[Any], Any], value: object) -> object:
    with scope(value):
        return None


def failing(x):
    raise RuntimeError("the sensor does not answer")


@dataclasses.dataclass
class Fields:
    a: object
    b: object


class Once:
    pass


def registered_twice() -> object:
    for _ in range(2):
        tree_util.register_pytree_node(Once, lambda x: ((), None), lambda aux, xs: Once())
    return None


class OnceWithKeys:
    pass


def with_keys_twice() -> None:
    for _ in range(2):
        tree_util.register_pytree_with_keys(
            OnceWithKeys, lambda x: ((), None), lambda aux, xs: OnceWithKeys()
        )


def nan_under_flag() -> object:
    with nl.debug_nans(True):
        return np.log(np.asarray(-1.0))


def nan_in_jit() -> object:
    with nl.debug_nans(True):
        return nl.jit(lambda x: np.log(x) + 1.0)(-1.0)


def inf_under_flag() -> object:
    with nl.debug_infs(True):
        return np.divide(np.asarray(1.0), np.asarray(0.0))


def leaks() -> object:
    kept = []
    with nl.checking_leaks():
        return nl.jit(lambda x: kept.append(x) or x)(1.0)


def transfer() -> object:
    with nl.transfer_guard("disallow"):
        return np.sin(V) + 1


def strict_ranks() -> object:
    with nl.numpy_rank_promotion("raise"):
        return np.ones((2, 3)) + np.ones(3)


def strict_dtypes() -> object:
    with nl.numpy_dtype_promotion("strict"):
        return np.ones(3) + np.arange(3)


MISUSES: dict[str, dict[str, Callable[[], Any]]] = {
    "pure_callback": {
        "no function": lambda: nl.pure_callback(3.0, LIKE_V, V),
        "result: shape": lambda: nl.pure_callback(lambda x: M, LIKE_V, V),
        "result: dtype": lambda: nl.pure_callback(lambda x: N, LIKE_V, V),
        "result: structure": lambda: nl.pure_callback(lambda x: (x, x), LIKE_V, V),
        "result: text": lambda: nl.pure_callback(lambda x: "text", LIKE_V, V),
        "result: None": lambda: nl.pure_callback(lambda x: None, LIKE_V, V),
        "declared result": lambda: nl.pure_callback(numpy.sin, (3,), V),
        "declared by an array type": lambda: nl.pure_callback(numpy.sin, float, V),
        "gradient": lambda: nl.grad(
            lambda x: np.sum(nl.pure_callback(numpy.sin, LIKE_V, x))
        )(V),
        "text argument": lambda: nl.pure_callback(numpy.sin, LIKE_V, "text"),
        "error inside": lambda: nl.pure_callback(failing, LIKE_V, V),
        "vmap_method": lambda: nl.pure_callback(numpy.sin, LIKE_V, V, vmap_method="fast"),
        "vmap without method": lambda: nl.vmap(
            lambda x: nl.pure_callback(numpy.sin, LIKE_V, x)
        )(M),
    },
    "experimental.io_callback": {
        "no function": lambda: io_callback(3.0, LIKE_V, V),
        "result: shape": lambda: io_callback(lambda x: M, LIKE_V, V),
        "gradient": lambda: nl.grad(lambda x: np.sum(io_callback(numpy.sin, LIKE_V, x)))(V),
        "ordered under vmap": lambda: nl.vmap(
            lambda x: io_callback(numpy.sin, LIKE_V, x, ordered=True)
        )(M),
        "error inside": lambda: io_callback(failing, LIKE_V, V),
    },
    "debug.print": {
        "no text": lambda: debug.print(V),
        "missing value": lambda: debug.print("{} {}", V),
        "missing name": lambda: debug.print("{x}"),
        "value too many": lambda: debug.print("no place", V),
        "f-string": lambda: nl.jit(lambda x: debug.print(f"{x:.3f}"))(1.0),
    },
    "debug.callback": {
        "no function": lambda: debug.callback(3.0, V),
        "error inside": lambda: debug.callback(failing, V),
    },
    "debug.breakpoint": {
        "backend": lambda: debug.breakpoint(backend="abacus"),
    },
    "debug.inspect_array_sharding": {
        "text": lambda: debug.inspect_array_sharding("text", callback=print),
        "no function": lambda: debug.inspect_array_sharding(np.ones(3), callback=3),
    },
    "debug.visualize_array_sharding": {
        "three axes": lambda: debug.visualize_array_sharding(np.ones((2, 2, 2))),
        "NumPy array": lambda: debug.visualize_array_sharding(V),
    },
    "debug.visualize_sharding": {
        "three axes": lambda: debug.visualize_sharding((2, 2, 2), np.ones(2).sharding),
    },
    "test_util.check_grads": {
        "wrong derivative": lambda: test_util.check_grads(wrong_derivative, (0.5,), order=1),
        "order": lambda: test_util.check_grads(square, (V,), order=0),
        "modes": lambda: test_util.check_grads(square, (V,), order=1, modes=("sideways",)),
        "no tuple": lambda: test_util.check_grads(square, V, order=1),
    },
    "test_util.check_jvp": {
        "wrong derivative": lambda: test_util.check_jvp(
            np.sin, lambda p, t: (np.sin(p[0]), t[0] * 3.0), (0.5,)
        ),
        "wrong value": lambda: test_util.check_jvp(
            np.sin, lambda p, t: (np.cos(p[0]), np.cos(p[0]) * t[0]), (0.5,)
        ),
    },
    "test_util.check_vjp": {
        "wrong derivative": lambda: test_util.check_vjp(
            np.sin, lambda x: (np.sin(x), lambda ct: (ct * 3.0,)), (0.5,)
        ),
        "structure": lambda: test_util.check_vjp(
            np.sin, lambda x: (np.sin(x), lambda ct: ct), (V,)
        ),
    },
    "flatten_util.ravel_pytree": {
        "text": lambda: flatten_util.ravel_pytree({"a": "text"}),
        "length": lambda: flatten_util.ravel_pytree({"a": V})[1](np.ones(4)),
    },
    "config.update": {
        "unknown flag": lambda: nl.config.update("enable_x32", True),
        "value": lambda: nl.config.update("numpy_rank_promotion", "maybe"),
        "type": lambda: nl.config.update("enable_x64", 3),
    },
    "enable_x64": {"value": lambda: setting(nl.enable_x64, 3)},
    "disable_jit": {"value": lambda: setting(nl.disable_jit, 3)},
    "enable_checks": {"value": lambda: setting(nl.enable_checks, 3)},
    "enable_custom_prng": {"value": lambda: setting(nl.enable_custom_prng, 3)},
    "threefry_partitionable": {"value": lambda: setting(nl.threefry_partitionable, 3)},
    "softmax_custom_jvp": {"value": lambda: setting(nl.softmax_custom_jvp, 3)},
    "log_compiles": {"value": lambda: setting(nl.log_compiles, 3)},
    "explain_cache_misses": {"value": lambda: setting(nl.explain_cache_misses, 3)},
    "check_tracer_leaks": {"value": lambda: setting(nl.check_tracer_leaks, 3)},
    "checking_leaks": {"leak": leaks},
    "debug_nans": {
        "NaN": nan_under_flag,
        "NaN inside jit": nan_in_jit,
        "value": lambda: setting(nl.debug_nans, 3),
    },
    "debug_infs": {
        "inf": inf_under_flag,
        "value": lambda: setting(nl.debug_infs, 3),
    },
    "debug_key_reuse": {
        "value": lambda: setting(nl.debug_key_reuse, 3),
    },
    "default_device": {"text": lambda: setting(nl.default_device, "abacus")},
    "default_prng_impl": {"unknown": lambda: setting(nl.default_prng_impl, "dice")},
    "default_matmul_precision": {
        "unknown": lambda: setting(nl.default_matmul_precision, "sloppy"),
    },
    "numpy_rank_promotion": {
        "shapes": strict_ranks,
        "value": lambda: setting(nl.numpy_rank_promotion, "maybe"),
    },
    "numpy_dtype_promotion": {
        "dtypes": strict_dtypes,
        "value": lambda: setting(nl.numpy_dtype_promotion, "maybe"),
    },
    "transfer_guard": {
        "transfer": transfer,
        "value": lambda: setting(nl.transfer_guard, "maybe"),
    },
    "transfer_guard_device_to_device": {
        "value": lambda: setting(nl.transfer_guard_device_to_device, "maybe"),
    },
    "transfer_guard_device_to_host": {
        "value": lambda: setting(nl.transfer_guard_device_to_host, "maybe"),
    },
    "transfer_guard_host_to_device": {
        "value": lambda: setting(nl.transfer_guard_host_to_device, "maybe"),
    },
    "tree.map": {
        "keys": lambda: tree.map(lambda a, b: a, {"a": 1}, {"b": 1}),
        "lengths": lambda: tree.map(lambda a, b: a, {"x": [1, 2]}, {"x": [1, 2, 3]}),
        "kinds": lambda: tree.map(lambda a, b: a, {"x": (1, 2)}, {"x": [1, 2]}),
        "no function": lambda: tree.map({"a": 1}, {"a": 1}),
    },
    "tree.map_with_path": {
        "lengths": lambda: tree.map_with_path(lambda p, a, b: a, [1, 2], [1]),
    },
    "tree.unflatten": {
        "number of leaves": lambda: tree.unflatten(tree.structure({"a": 1, "b": 2}), [1]),
        "no structure": lambda: tree.unflatten({"a": 1}, [1]),
    },
    "tree.flatten": {
        "keys that do not sort": lambda: tree.flatten({"a": {"x": 1, 2: 3}}),
    },
    "tree.leaves": {"keys that do not sort": lambda: tree.leaves({"x": 1, 2: 3})},
    "tree.structure": {"keys that do not sort": lambda: tree.structure({"x": 1, 2: 3})},
    "tree.all": {"keys that do not sort": lambda: tree.all({"x": 1, 2: 3})},
    "tree.flatten_with_path": {
        "keys that do not sort": lambda: tree.flatten_with_path({"x": 1, 2: 3}),
    },
    "tree.leaves_with_path": {
        "keys that do not sort": lambda: tree.leaves_with_path({"x": 1, 2: 3}),
    },
    "tree.reduce": {"empty": lambda: tree.reduce(lambda a, b: a + b, {})},
    "tree.reduce_associative": {
        "empty": lambda: tree.reduce_associative(lambda a, b: a + b, {}),
    },
    "tree.transpose": {
        "structure": lambda: tree.transpose(
            tree.structure([0, 0]), tree.structure({"a": 0}), [{"a": 1}, {"b": 2}]
        ),
        "number": lambda: tree.transpose(tree.structure([0, 0]), None, [{"a": 1}]),
    },
    "tree.broadcast": {
        "structure": lambda: tree.broadcast({"a": 1}, {"b": 1}),
        "deeper prefix": lambda: tree.broadcast({"a": [1, 2]}, {"a": 1}),
    },
    "tree_util.register_pytree_node": {"twice": registered_twice},
    "tree_util.register_dataclass": {
        "no dataclass": lambda: tree_util.register_dataclass(int),
        "unknown field": lambda: tree_util.register_dataclass(
            Fields, data_fields=["a", "c"], meta_fields=["b"]
        ),
        "field left out": lambda: tree_util.register_dataclass(
            Fields, data_fields=["a"], meta_fields=[]
        ),
        "field twice": lambda: tree_util.register_dataclass(
            Fields, data_fields=["a", "b"], meta_fields=["b"]
        ),
    },
    "tree_util.register_pytree_node_class": {
        "no methods": lambda: tree_util.register_pytree_node_class(Fields),
    },
    "tree_util.register_pytree_with_keys": {"twice": with_keys_twice},
    "tree_util.register_pytree_with_keys_class": {
        "no methods": lambda: tree_util.register_pytree_with_keys_class(Fields),
    },
    "tree_util.register_static": {
        "no class": lambda: tree_util.register_static(3),
    },
    "tree_util.flatten_one_level": {"leaf": lambda: tree_util.flatten_one_level(5)},
    "tree_util.flatten_one_level_with_keys": {
        "leaf": lambda: tree_util.flatten_one_level_with_keys(5),
    },
}  # fmt: skip
