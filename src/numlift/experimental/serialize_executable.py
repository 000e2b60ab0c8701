"""Compiled functions as bytes: machine code for equal hardware and an equal jaxlib.

`numlift.export` keeps a program that any later release compiles for any machine; this module keeps
what was compiled, so that loading takes no compilation at all. The format is that of
`numlift.export.container`: nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import config, errors
from .._version import __version__
from ..api.program import Program
from ..api.signature import Statics
from ..api.stages import Compiled
from ..core.types import ArrayType
from ..export.container import EXECUTABLE, pack, unpack
from ..export.trees import type_from_json, type_to_json
from ..runtime import devices as device_table
from ..runtime import xla
from ..runtime.compile import load_executable
from ..runtime.devices import Backend, Device
from ..runtime.disk_cache import cpu_features
from ..runtime.placement import Placement, placement, sharded_type
from ..runtime.transfer import device_put
from ..sharding.base import Sharding
from ..sharding.mesh import AxisType, Mesh
from ..sharding.named import NamedSharding, SingleDeviceSharding
from ..sharding.spec import PartitionSpec


def serialize(compiled: Compiled) -> tuple[bytes, Any, Any]:
    """A compiled function as bytes.

    Args:
        compiled: the result of ``jit(f).lower(...).compile()``.

    Returns:
        The bytes, and the structures of the arguments and of the result, which
        `deserialize_and_load` wants back.

    Raises:
        ArgumentError: no compiled function.
        ValueArgumentError: a program that calls Python, or a sharding that files cannot hold.

    Example:
        >>> import numlift as nl
        >>> from numlift.experimental import serialize_executable
        >>> compiled = nl.jit(lambda x: x + 1).lower(1.0).compile()
        >>> parts = serialize_executable.serialize(compiled)
        >>> print(serialize_executable.deserialize_and_load(*parts)(2.0))
        3.0
    """
    if not isinstance(compiled, Compiled):
        raise errors.ArgumentError(
            errors.explain(
                "serialize_executable.serialize",
                f"expected a compiled function, got a {type(compiled).__name__}",
                try_="serialize(jit(f).lower(...).compile())",
            )
        )
    if compiled.refs is not None:
        compiled.refs.refuse(f"serialize of {compiled.fun_name}")
    program = compiled.program
    executable = program.executable
    if program.callbacks:
        raise errors.ValueArgumentError(
            errors.explain(
                "serialize_executable.serialize",
                "the program calls Python (a callback or debug.print), which bytes cannot hold",
            )
        )
    captured = [xla.host_array(buffer) for buffer in program.leading]
    backend = executable.backend
    header = {
        "numlift": __version__,
        "made_for": _made_for(backend, executable.devices[0]),
        "fun_name": compiled.fun_name,
        "devices": [d.id for d in executable.devices],
        "in_types": list(map(type_to_json, compiled.in_types)),
        "out_types": list(map(type_to_json, compiled.out_types)),
        "arguments": list(map(_placement_to_json, program.arg_placements)),
        "results": list(map(_placement_to_json, program.placements)),
        "kept": None if program.kept is None else list(program.kept),
        "moves": [[i, _placement_to_json(to)] for i, to in program.moves],
        "captured": [[list(x.shape), x.dtype.name] for x in captured],
    }
    blobs = [executable.serialize(), *(np.ascontiguousarray(x).tobytes() for x in captured)]
    return pack(EXECUTABLE, header, blobs), compiled.in_tree, compiled.out_tree


def deserialize_and_load(
    serialized: bytes, in_tree: Any, out_tree: Any, backend: str | None = None
) -> Compiled:
    """The compiled function that `serialize` wrote, ready to be called.

    Static arguments were fixed by compiling and are not passed.

    Args:
        serialized, in_tree, out_tree: what `serialize` returned.
        backend: platform of the devices; by default the one in use.

    Returns:
        A `Compiled` with the arguments, results and devices of the one that was serialised.

    Raises:
        ValueArgumentError: other or damaged bytes; a program made for another machine or jaxlib.
        DeviceError: devices that the program runs on do not exist here.

    Example:
        >>> import numlift as nl
        >>> from numlift.experimental import serialize_executable
        >>> compiled = nl.jit(lambda x: {"twice": x * 2}).lower(1.0).compile()
        >>> stored = serialize_executable.serialize(compiled)
        >>> loaded = serialize_executable.deserialize_and_load(*stored)
        >>> print(loaded(3.0)["twice"])
        6.0
    """
    function = "serialize_executable.deserialize_and_load"
    header, blobs = unpack(EXECUTABLE, serialized, function)
    known = {d.id: d for d in device_table.devices(backend)}
    missing = [i for i in header["devices"] if i not in known]
    if missing:
        raise errors.DeviceError(
            errors.explain(
                function,
                f"the program runs on devices that do not exist here: {missing}",
                {"devices": sorted(known)},
            )
        )
    order = tuple([known[i] for i in header["devices"]])
    here = _made_for(device_table.backend_of(order[0]), order[0])
    wrong = {name: f"{made!r}, here {here.get(name)!r}"[:200]
             for name, made in header["made_for"].items() if made != here.get(name)}  # fmt: skip
    if wrong:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "the program was made for another machine or jaxlib",
                wrong,
                try_="compile it here, or use numlift.export, whose files fit every machine",
            )
        )
    several = len(order) > 1
    executable = load_executable(blobs[0], devices=order, num_partitions=len(order), spmd=several)
    program = Program(
        executable,
        [_placement_from_json(p, known) for p in header["arguments"]],
        [_placement_from_json(p, known) for p in header["results"]],
        header["kept"],
        [(i, _placement_from_json(to, known)) for i, to in header["moves"]],
        [
            _restore(shape, dtype, blob, order[0])
            for (shape, dtype), blob in zip(header["captured"], blobs[1:], strict=True)
        ],
    )
    types = [[type_from_json(t) for t in header[name]] for name in ("in_types", "out_types")]
    return _compiled(header["fun_name"], in_tree, out_tree, types, program)


def _compiled(
    name: str, in_tree: Any, out_tree: Any, types: Sequence[list[ArrayType]], program: Program
) -> Compiled:
    ins, outs = types
    if in_tree.num_leaves != len(ins) or out_tree.num_leaves != len(outs):
        raise errors.ValueArgumentError(
            errors.explain(
                "serialize_executable.deserialize_and_load",
                "in_tree and out_tree are not those of this program",
                {"in_tree": in_tree, "out_tree": out_tree},
                try_="the structures that `serialize` returned",
            )
        )
    return Compiled(
        name, Statics(lambda: None, None, None), (in_tree, out_tree), (ins, outs), program
    )


def _made_for(backend: Backend, device: Device) -> dict[str, Any]:
    """What a program of machine code depends on."""
    return {
        "jaxlib": xla.VERSION,
        "platform": backend.platform,
        "platform_version": backend.client.platform_version,
        "device_kind": device.device_kind,
        "cpu_features": cpu_features() if backend.platform == "cpu" else None,
    }


def _restore(shape: Sequence[int], dtype: str, blob: bytes, device: Device) -> Any:
    """Buffer of an array that the function closes over."""
    value = np.frombuffer(blob, np.dtype(dtype)).reshape(shape)
    with config.replace(enable_x64=True):
        return device_put(value, device).buffer


def _placement_to_json(p: Placement) -> list[Any]:
    return [type_to_json(p.type), _sharding_to_json(p.sharding), p.committed]


def _placement_from_json(data: Sequence[Any], known: dict[int, Device]) -> Placement:
    type_, sharding = type_from_json(data[0]), _sharding_from_json(data[1], known)
    return placement(sharded_type(type_, sharding), sharding, data[2])


def _sharding_to_json(s: Sharding) -> dict[str, Any]:
    if isinstance(s, SingleDeviceSharding):
        return {"device": s.device.id, "memory": s.memory_kind}
    if isinstance(s, NamedSharding) and all(isinstance(n, str) for n in s.mesh.axis_names):
        mesh = s.mesh
        return {
            "devices": [d.id for d in mesh.device_tuple],
            "sizes": list(mesh.axis_sizes),
            "names": list(mesh.axis_names),
            "types": [t.name for t in mesh.axis_types],
            "spec": [list(e) if isinstance(e, tuple) else e for e in s.spec],
            "memory": s.memory_kind,
        }
    raise errors.ValueArgumentError(
        errors.explain(
            "serialize_executable.serialize",
            "only shardings by mesh axes with text names, and single devices, have a form in files",
            {"sharding": s},
            try_="give in_shardings and out_shardings",
        )
    )


def _sharding_from_json(data: dict[str, Any], known: dict[int, Device]) -> Sharding:
    if "device" in data:
        return SingleDeviceSharding(known[data["device"]], memory_kind=data["memory"])
    grid = np.empty(len(data["devices"]), object)
    grid[:] = [known[i] for i in data["devices"]]
    types = tuple([AxisType[name] for name in data["types"]])
    mesh = Mesh(grid.reshape(data["sizes"]), tuple(data["names"]), types)
    spec = PartitionSpec(*[tuple(e) if isinstance(e, list) else e for e in data["spec"]])
    return NamedSharding(mesh, spec, memory_kind=data["memory"])


__all__ = ["deserialize_and_load", "serialize"]


def __dir__() -> list[str]:
    return sorted(__all__)
