"""Numlift: NumPy functions, differentiated, compiled, vectorised and sharded.

>>> import numlift as nl
>>> import numlift.numpy as np
>>> print(nl.grad(lambda x: np.sin(x) ** 2)(0.5))
0.84147
"""

from __future__ import annotations

import importlib
from typing import Any

from . import errors, lax, numpy, tree
from ._version import __version__
from .api import mesh_axes as _mesh_axes
from .api.autodiff import grad, jvp, linearize, value_and_grad, vjp
from .api.caches import clear_caches, live_arrays
from .api.callbacks import effects_barrier, pure_callback
from .api.checkpoint import checkpoint
from .api.constant_eval import ensure_compile_time_eval
from .api.custom import custom_jvp, custom_vjp
from .api.gradients import closure_convert, custom_gradient
from .api.inspect import eval_shape, make_jaxpr
from .api.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from .api.jit import jit
from .api.linear import linear_transpose
from .api.refs import freeze, new_ref
from .api.scopes import named_call, named_scope
from .api.shapes import ShapeDtypeStruct
from .api.sharding import reshard, typeof, with_sharding_constraint
from .api.stats import RetraceWarning
from .api.vmap import vmap
from .config import config
from .core.refs import Ref
from .core.tracing import Value as Array
from .runtime.devices import (
    default_backend,
    device_count,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from .runtime.global_arrays import (
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)
from .runtime.mesh_utils import make_mesh
from .runtime.transfer import block_until_ready, device_get, device_put
from .runtime.xla import Device
from .scopes import (
    check_tracer_leaks,
    checking_leaks,
    debug_infs,
    debug_key_reuse,
    debug_nans,
    default_device,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_checks,
    enable_custom_prng,
    enable_x64,
    explain_cache_misses,
    log_compiles,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    softmax_custom_jvp,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
)
from .sharding import (
    AxisType,
    Mesh,
    NamedSharding,
    P,
    PartitionSpec,
    get_mesh,
    set_mesh,
)

remat = checkpoint
_LAZY = (
    "ad_checkpoint",
    "autostage",
    "checkpoint_policies",
    "custom_batching",
    "custom_derivatives",
    "memory",
    "random",
    "ref",
    "nn",
    "debug",
    "dtypes",
    "export",
    "experimental",
    "tree_util",
    "sharding",
    "stages",
    "flatten_util",
    "test_util",
    "typing",
)
_LAZY_NAMES = {"lift": "lifting"}
"""Public name -> the submodule that is imported when it is first used."""
_MESHES = "not there yet; `jit` with arrays on a mesh of devices runs on all of them"
_LEFT_OUT = {
    "scipy": "not there yet; SciPy's own functions take Numlift arrays: `import scipy`",
    "image": "not there yet; `numpy.interp` and `lax.conv_general_dilated` are there",
    "profiler": "not there yet",
    "ffi": "not there yet; `nl.pure_callback` calls Python",
    "shard_map": _MESHES,
    "pmap": _MESHES,
    "distributed": "not there yet: programs run on the devices of one machine",
}
"""Names that users of JAX may look for, and why they are not here."""


def __getattr__(name: str) -> Any:
    """Import a public submodule when it is first used."""
    if name in _LAZY:
        return importlib.import_module(f".{name}", __name__)
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(f".{_LAZY_NAMES[name]}", __name__), name)
    raise errors.missing_name(__name__, name, _LEFT_OUT.get(name))


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, *_LAZY_NAMES})


__all__ = [
    "Array",
    "AxisType",
    "Device",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Ref",
    "RetraceWarning",
    "ShapeDtypeStruct",
    "__version__",
    "block_until_ready",
    "check_tracer_leaks",
    "checking_leaks",
    "checkpoint",
    "clear_caches",
    "config",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "effects_barrier",
    "enable_checks",
    "enable_custom_prng",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "freeze",
    "explain_cache_misses",
    "get_mesh",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_array_from_callback",
    "make_array_from_process_local_data",
    "make_array_from_single_device_arrays",
    "make_jaxpr",
    "make_mesh",
    "named_call",
    "named_scope",
    "new_ref",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "process_count",
    "process_index",
    "process_indices",
    "pure_callback",
    "remat",
    "reshard",
    "set_mesh",
    "softmax_custom_jvp",
    "threefry_partitionable",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
    "tree",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
    "with_sharding_constraint",
]
