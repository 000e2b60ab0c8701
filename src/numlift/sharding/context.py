"""The current mesh: set for everything that follows, or inside a `with` block."""

from __future__ import annotations

import contextvars
from typing import Any

import numpy as np

from .. import config
from ..errors import ArgumentError, explain
from .mesh import AbstractMesh, Mesh

EMPTY_MESH = Mesh(np.empty((), dtype=object), ())
"""The mesh without axes: what `get_mesh` gives where none is set."""

EMPTY_ABSTRACT_MESH = AbstractMesh((), ())
"""What `get_abstract_mesh` gives where no mesh is set."""


def _checked(function: str, mesh: Any, kind: type[Mesh] | type[AbstractMesh]) -> Any:
    if mesh is not None and not isinstance(mesh, kind):
        raise ArgumentError(
            explain(
                function,
                f"needs a {kind.__name__}, got {type(mesh).__name__}",
                try_=f'{function}(make_mesh((n,), ("x",)))',
            )
        )
    return None if mesh is None or mesh.empty else mesh


class set_mesh:  # noqa: N801  (reads as a function)
    """Make `mesh` the current mesh, for good or inside a `with` block.

    A plain call sets it for all threads. As a context manager it holds in this thread or task and
    the mesh that was current before comes back. The current mesh gives a `PartitionSpec` its
    devices in `device_put`, `jit` and `with_sharding_constraint`.

    Args:
        mesh: a `Mesh`, or None for no mesh.

    Example:
        >>> import numlift as nl
        >>> mesh = nl.make_mesh((1,), ("x",))
        >>> with set_mesh(mesh):
        ...     get_mesh() is mesh
        True
        >>> get_mesh().empty
        True
    """

    __slots__ = ("_before", "_scope", "mesh")

    def __init__(self, mesh: Mesh | None) -> None:
        self.mesh = _checked("set_mesh", mesh, Mesh)
        self._scope = config.replace(mesh=self.mesh)
        # An empty context has no open scopes, so there the global value shows.
        self._before = contextvars.Context().run(config.current).mesh
        config.update("mesh", self.mesh)

    def __enter__(self) -> Mesh | None:
        config.update("mesh", self._before)
        self._scope.__enter__()
        return self.mesh

    def __exit__(self, *exc: object) -> None:
        self._scope.__exit__(*exc)


class use_mesh:  # noqa: N801  (reads as a function)
    """Scope in which `mesh` is the current mesh. Unlike `set_mesh`, calling it sets nothing.

    Args:
        mesh: a `Mesh`, or None for no mesh.
    """

    __slots__ = ("_scope", "mesh")

    def __init__(self, mesh: Mesh | None) -> None:
        self.mesh = _checked("use_mesh", mesh, Mesh)
        self._scope = config.replace(mesh=self.mesh)

    def __enter__(self) -> Mesh | None:
        self._scope.__enter__()
        return self.mesh

    def __exit__(self, *exc: object) -> None:
        self._scope.__exit__(*exc)


class use_abstract_mesh:  # noqa: N801  (reads as a function)
    """Scope in which the current mesh has axes but no devices, as inside `shard_map`.

    Args:
        mesh: an `AbstractMesh`, or None for no mesh.
    """

    __slots__ = ("_scope", "mesh")

    def __init__(self, mesh: AbstractMesh | None) -> None:
        self.mesh = _checked("use_abstract_mesh", mesh, AbstractMesh)
        self._scope = config.replace(mesh=self.mesh)

    def __enter__(self) -> AbstractMesh | None:
        self._scope.__enter__()
        return self.mesh

    def __exit__(self, *exc: object) -> None:
        self._scope.__exit__(*exc)


def get_mesh() -> Mesh:
    """The current mesh; an empty one where none is set or it has no devices.

    Returns:
        The `Mesh` of the innermost `set_mesh`. Inside `jit` it is the one that was set at the call.

    Example:
        >>> import numlift as nl
        >>> with nl.set_mesh(nl.make_mesh((1,), ("x",))):
        ...     print(nl.get_mesh().axis_names)
        ('x',)
        >>> nl.get_mesh().empty
        True
    """
    mesh = config.current().mesh
    return mesh if isinstance(mesh, Mesh) else EMPTY_MESH


def get_abstract_mesh() -> AbstractMesh:
    """Axes of the current mesh; the empty `AbstractMesh` where none is set.

    Returns:
        An `AbstractMesh`: names, sizes and types of axes, without devices.

    Example:
        >>> import numlift as nl
        >>> with nl.set_mesh(nl.make_mesh((1,), ("x",))):
        ...     nl.sharding.get_abstract_mesh()
        AbstractMesh('x': 1, axis_types=(Explicit,))
    """
    mesh = config.current().mesh
    return EMPTY_ABSTRACT_MESH if mesh is None else mesh.abstract_mesh
