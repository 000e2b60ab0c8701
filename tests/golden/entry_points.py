"""The public functions that take functions, structures or settings, and their typical mistakes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tests.golden import (
    misuse_control,
    misuse_derivatives,
    misuse_host,
    misuse_programs,
    misuse_refs,
)
from tests.test_public_names import NAMES

MODULES = {
    "misuse_control": misuse_control.MISUSES,
    "misuse_derivatives": misuse_derivatives.MISUSES,
    "misuse_host": misuse_host.MISUSES,
    "misuse_programs": misuse_programs.MISUSES,
    "misuse_refs": misuse_refs.MISUSES,
}
MISUSES: dict[str, tuple[str, Callable[[], Any]]] = {
    f"{entry}: {what}": (file, call)
    for file, entries in MODULES.items()
    for entry, cases in entries.items()
    for what, call in cases.items()
}
"""Name of a case -> the golden file that holds its message (without .txt), and the mistake."""

OTHER_CLASSES: dict[str, type[Exception]] = {
    "jit: too few arguments": TypeError,  # Python's own words about the user's signature
    "jit: unknown keyword": TypeError,
    "jit.lower: too few arguments": TypeError,
    "jit.trace: static value missing": TypeError,
    "pure_callback: error inside": RuntimeError,  # what the user's function raised
    "experimental.io_callback: error inside": RuntimeError,
    "debug.callback: error inside": RuntimeError,
    "test_util.check_grads: wrong derivative": AssertionError,
    "test_util.check_jvp: wrong derivative": AssertionError,
    "test_util.check_jvp: wrong value": AssertionError,
    "test_util.check_vjp: wrong derivative": AssertionError,
    "test_util.check_vjp: structure": AssertionError,
    "debug_nans: NaN": FloatingPointError,
    "debug_nans: NaN inside jit": FloatingPointError,
    "debug_infs: inf": FloatingPointError,
}
"""Mistakes whose exception is not one of `numlift.errors`."""

LISTED = {
    "": "numlift",
    "lax": "numlift.lax",
    "tree": "numlift.tree",
    "tree_util": "numlift.tree_util",
    "debug": "numlift.debug",
    "export": "numlift.export",
    "experimental": "numlift.experimental",
    "experimental.checkify": "numlift.experimental.checkify",
    "experimental.jet": "numlift.experimental.jet",
    "experimental.serialize_executable": "numlift.experimental.serialize_executable",
    "custom_batching": "numlift.custom_batching",
    "custom_derivatives": "numlift.custom_derivatives",
    "checkpoint_policies": "numlift.checkpoint_policies",
    "ad_checkpoint": "numlift.ad_checkpoint",
    "flatten_util": "numlift.flatten_util",
    "test_util": "numlift.test_util",
    "stages": "numlift.stages",
    "sharding": "numlift.sharding",
    "autostage": "numlift.autostage",
    "ref": "numlift.ref",
}
CONTROL = ("branches", "loops", "solvers", "parallel")  # of lax; the rest of it are operations
CONTROL_NAMES = ("associative_scan", "stop_gradient", "optimization_barrier")

NOT_ASKED = {
    # take nothing that could be wrong
    "clear_caches", "effects_barrier", "default_backend", "get_mesh", "sharding.get_mesh",
    "export.default_export_platform",
    "sharding.get_abstract_mesh", "tree_util.default_registry",
    # take anything
    "block_until_ready", "tree.is_leaf", "tree_util.is_tree_node", "tree_util.all_leaves",
    "tree.static", "export.is_symbolic_dim", "tree_util.keystr",
    # take a platform, as `devices` does
    "process_count", "process_index", "process_indices",
    # predicates that XLA's choice of residuals calls, with an operation
    "checkpoint_policies.checkpoint_dots",
    "checkpoint_policies.checkpoint_dots_with_no_batch_dims",
    "checkpoint_policies.dots_saveable",
    "checkpoint_policies.dots_with_no_batch_dims_saveable",
    "checkpoint_policies.everything_saveable",
    "checkpoint_policies.nothing_saveable",
    "checkpoint_policies.offload_dot_with_no_batch_dims",
    # what other functions make
    "Array", "Device", "Ref", "ref.Ref", "RetraceWarning", "AxisType", "sharding.AxisType",
    "sharding.Sharding", "sharding.AbstractDevice",
    "sharding.TiledSharding", "stages.Traced", "experimental.checkify.Error",
    "custom_derivatives.CustomVJPPrimal", "custom_derivatives.SymbolicZero",
    "custom_derivatives.custom_vjp_primal_tree_values", "experimental.checkify.ErrorCategory",
    "P",  # PartitionSpec
}  # fmt: skip
"""Public names without a golden error, by reason."""


def entry_points() -> list[str]:
    """Paths below `numlift` of the callables that a golden error is asked for."""
    found: dict[int, str] = {}
    for prefix, module_name in LISTED.items():
        module = importlib.import_module(module_name)
        names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
        for name in names:
            value = getattr(module, name)
            path = f"{prefix}.{name}" if prefix else name
            if not callable(value) or path in NOT_ASKED or _is_exempt(prefix, name, value):
                continue
            found.setdefault(id(value), path)
    return sorted(found.values())


def _is_exempt(prefix: str, name: str, value: Any) -> bool:
    home = getattr(value, "__module__", "") or ""
    if isinstance(value, type) and issubclass(value, Exception):
        return True
    if prefix == "lax":
        return home.rpartition(".")[2] not in CONTROL and name not in CONTROL_NAMES
    if prefix == "tree" and name not in NAMES["tree"].split():
        return True
    if prefix in ("tree", "tree_util"):  # kinds of path entries, and names with `tree_` in front
        return name[0].isupper() or name.startswith(("tree_", "treedef_"))
    return name.startswith("sdy_")
