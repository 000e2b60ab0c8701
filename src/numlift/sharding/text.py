"""Shardings as text of the `sdy` dialect."""

from __future__ import annotations

import json
from typing import Any

from .mesh import AbstractMesh, Mesh
from .named import NamedSharding
from .spec import UNCONSTRAINED, PartitionSpec


def _quoted(names: Any) -> str:
    return ", ".join(json.dumps(n, ensure_ascii=False) for n in names)


def sdy_text(mesh: Mesh | AbstractMesh, name: str = "mesh") -> str:
    """The module-level operation that declares `mesh`.

    Devices are not listed: position i of the mesh is partition i of the program.

    Args:
        mesh: the mesh.
        name: symbol under which shardings refer to it.

    Returns:
        One line of StableHLO text.

    Example:
        >>> from numlift.sharding import AbstractMesh, sdy_text
        >>> sdy_text(AbstractMesh((4, 2), ("x", "y")))
        'sdy.mesh @mesh = <["x"=4, "y"=2]>'
    """
    axes = ", ".join(
        f"{json.dumps(axis, ensure_ascii=False)}={size}" for axis, size in mesh.shape.items()
    )
    return f"sdy.mesh @{name} = <[{axes}]>"


def sdy_spec_text(spec: PartitionSpec, ndim: int, name: str = "mesh") -> str:
    """The inner form `<@mesh, [{"x"}, {}]>` that `sdy.sharding_constraint` takes.

    `{?}` is a dimension left to the compiler.

    Args:
        spec: what each dimension is spread over.
        ndim: number of dimensions of the array, at least as many as `spec` has.
        name: symbol of the mesh.

    Returns:
        The text.

    Example:
        >>> from numlift.sharding import PartitionSpec, sdy_spec_text
        >>> sdy_spec_text(PartitionSpec("x", None, ("y", "z")), 3)
        '<@mesh, [{"x"}, {}, {"y", "z"}]>'
    """
    dims = []
    for entry in spec.padded(ndim):
        if entry is UNCONSTRAINED:
            dims.append("{?}")
        elif entry is None:
            dims.append("{}")
        else:
            names = (entry,) if isinstance(entry, str) else entry
            dims.append("{" + _quoted(names) + "}")
    unreduced = ""
    if spec.unreduced:
        unreduced = f", unreduced={{{_quoted(sorted(spec.unreduced))}}}"
    return f"<@{name}, [{', '.join(dims)}]{unreduced}>"


def sdy_open_text(sharding: NamedSharding, ndim: int, name: str = "mesh") -> str:
    """Like `sdy_spec_text`, but says only what types say: Explicit axes are fixed, Auto ones free.

    Example:
        >>> from numlift.sharding import AxisType
        >>> kinds = (AxisType.Explicit, AxisType.Explicit, AxisType.Auto)
        >>> mesh = AbstractMesh((4, 2, 2), ("x", "y", "z"), kinds)
        >>> sdy_open_text(NamedSharding(mesh, PartitionSpec("x", None)), 2)
        '<@mesh, [{"x", ?}, {?}], replicated={"y"}>'
    """
    dims: list[str] = []
    used: set[str] = set()
    for entry in sharding.spec.padded(ndim):
        names = () if entry is None else (entry,) if isinstance(entry, str) else entry
        used.update(names)
        dims.append("{" + ", ".join([_quoted([n]) for n in names] + ["?"]) + "}")
    rest = [n for n in sharding.mesh.explicit_axes if n not in used]
    replicated = f", replicated={{{_quoted(rest)}}}" if rest else ""
    return f"<@{name}, [{', '.join(dims)}]{replicated}>"


def sdy_sharding_text(sharding: NamedSharding, ndim: int, name: str = "mesh") -> str:
    """The attribute for an argument or result: `#sdy.sharding<@mesh, [{"x"}, {}]>`.

    Args:
        sharding: mesh and spec.
        ndim: number of dimensions of the array.
        name: symbol of the mesh.

    Returns:
        The text.

    Example:
        >>> from numlift.sharding import AbstractMesh, NamedSharding, PartitionSpec
        >>> from numlift.sharding import sdy_sharding_text
        >>> mesh = AbstractMesh((4,), ("x",))
        >>> sdy_sharding_text(NamedSharding(mesh, PartitionSpec("x")), 2)
        '#sdy.sharding<@mesh, [{"x"}, {}]>'
    """
    return "#sdy.sharding" + sdy_spec_text(sharding.spec, ndim, name)
