"""Functions in which some mesh axes are Auto, or Explicit, whatever they are outside."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from .. import config, errors, sharding
from ..core.tracing import apply, type_of
from ..ops.resharding import HideAxes, Reshard
from ..sharding.mesh import AxisType, Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..tree import tree_broadcast, tree_flatten, tree_leaves, tree_map, tree_unflatten
from .jit import jit
from .sharding import reshard


def auto_axes(
    f: Any = None, /, *, axes: str | Iterable[str] | None = None, out_sharding: Any = None
) -> Any:
    """A function in which Explicit mesh axes are Auto: the compiler places its intermediates.

    Types inside do not show these axes, so no operation can be ambiguous over them.

    Args:
        f: function of pytrees of arrays; without it a decorator is returned.
        axes: which axes of the current mesh; None means all Explicit ones.
        out_sharding: `PartitionSpec` or sharding of the results, or a pytree prefix of them. It
            may be given in the call instead: ``g(x, out_sharding=P("x"))``.

    Returns:
        The function.

    Raises:
        ShardingError: no mesh, no such axis, or no `out_sharding`.

    Example:
        >>> import numlift as nl
        >>> from numlift.sharding import auto_axes
        >>> mesh = nl.make_mesh((1,), ("x",), axis_types=(nl.AxisType.Explicit,))
        >>> with nl.set_mesh(mesh):
        ...     x = nl.reshard(nl.numpy.arange(4.0)[::-1], nl.P("x"))
        ...     y = auto_axes(nl.numpy.sort, out_sharding=nl.P("x"))(x)
        >>> nl.typeof(y), y.tolist()
        (float32[4@x], [0.0, 1.0, 2.0, 3.0])
    """
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out_sharding", out_sharding)
        mesh = _mesh("auto_axes")
        hidden = _chosen("auto_axes", mesh, axes, AxisType.Explicit)
        if out is None:
            raise errors.ShardingError(
                errors.explain("auto_axes", "the sharding of the results is not known",
                               try_="auto_axes(f, out_sharding=P(...))")
            )  # fmt: skip
        inside = mesh.update_axis_types(dict.fromkeys(hidden, AxisType.Auto))
        kept = tuple(n for n in mesh.explicit_axes if n not in hidden)

        def body(args: Any, kwargs: Any) -> Any:
            args, kwargs = tree_map(lambda x: apply(HideAxes.of(kept), x), (args, kwargs))
            with config.replace(mesh=inside):
                found = f(*args, **kwargs)
            return _shown(found, out, mesh)

        return jit(body, inline=True)(args, kwargs)

    return call


def explicit_axes(
    f: Any = None, /, *, axes: str | Iterable[str] | None = None, in_sharding: Any = None
) -> Any:
    """A function in which Auto mesh axes are Explicit: types inside show how arrays are split.

    Args:
        f: function of pytrees of arrays; without it a decorator is returned.
        axes: which axes of the current mesh; None means all Auto ones.
        in_sharding: `PartitionSpec` or sharding of the arguments, or a pytree prefix of them. It
            may be given in the call instead.

    Returns:
        The function; its results do not show these axes.

    Raises:
        ShardingError: no mesh, no such axis, or no `in_sharding`.

    Example:
        >>> import numlift as nl
        >>> from numlift.sharding import explicit_axes
        >>> with nl.set_mesh(nl.make_mesh((1,), ("x",))):
        ...     f = explicit_axes(lambda x: print(nl.typeof(x)), in_sharding=nl.P("x"))
        ...     f(nl.numpy.ones(4))
        float32[4@x]
    """
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = kwargs.pop("in_sharding", in_sharding)
        mesh = _mesh("explicit_axes")
        shown = _chosen("explicit_axes", mesh, axes, AxisType.Auto)
        if given is None:
            raise errors.ShardingError(
                errors.explain("explicit_axes", "the sharding of the arguments is not known",
                               try_="explicit_axes(f, in_sharding=P(...))")
            )  # fmt: skip
        inside = mesh.update_axis_types(dict.fromkeys(shown, AxisType.Explicit))

        def body(args: Any, kwargs: Any) -> Any:
            args = _shown(args, given, inside)
            with config.replace(mesh=inside):
                found = f(*args, **kwargs)
            hide = HideAxes.of(tuple(mesh.explicit_axes))
            return tree_map(lambda x: apply(hide, x), found)

        return jit(body, inline=True)(args, kwargs)

    return call


def _mesh(function: str) -> Any:
    mesh = config.current().mesh
    if mesh is None:
        raise errors.ShardingError(
            errors.explain(function, "there is no current mesh", try_="with nl.set_mesh(mesh): ...")
        )
    return mesh


def _chosen(function: str, mesh: Any, axes: Any, kind: AxisType) -> tuple[str, ...]:
    """Names of the axes to change."""
    if axes is None:
        return mesh._axes_of(kind)
    names = (axes,) if isinstance(axes, str) else tuple(axes)
    for name in names:
        if name not in mesh.axis_names:
            raise errors.ShardingError(
                errors.explain(function, f"no mesh axis is called {name!r}", {"mesh": mesh},
                               try_=f"one of {mesh.axis_names}")
            )  # fmt: skip
    return names


def _is_place(x: Any) -> bool:
    return isinstance(x, (PartitionSpec, NamedSharding))


def _shown(tree: Any, places: Any, mesh: Any) -> Any:
    """The arrays of a tree with these shardings in their types."""
    leaves, structure = tree_flatten(tree)
    spread = tree_leaves(tree_broadcast(places, tree, is_leaf=_is_place), is_leaf=_is_place)
    abstract = mesh.abstract_mesh if isinstance(mesh, Mesh) else mesh
    found = []
    for x, place in zip(leaves, spread, strict=True):
        wanted = NamedSharding(abstract, place if isinstance(place, PartitionSpec) else place.spec)
        wanted.shard_shape(type_of(x).shape)
        if abstract.explicit_axes:
            x = apply(Reshard.of(_explicit_part(wanted)), x)
        found.append(x)
    return tree_unflatten(structure, found)


def _explicit_part(sharding: NamedSharding) -> NamedSharding:
    mesh, entries = sharding.mesh, []
    for entry in sharding.spec:
        names = (entry,) if isinstance(entry, str) else tuple(entry or ())
        kept = tuple(n for n in names if n in mesh.explicit_axes)
        entries.append(kept[0] if len(kept) == 1 else kept or None)
    return NamedSharding(mesh, PartitionSpec(*entries))


sharding.auto_axes, sharding.explicit_axes, sharding.reshard = auto_axes, explicit_axes, reshard

__all__ = ["auto_axes", "explicit_axes"]
