"""Shardings inside programs: `with_sharding_constraint`, `reshard`, `device_put` of tracers."""

from __future__ import annotations

from typing import Any

from .. import config, errors
from ..core.tracing import Tracer, apply, type_of
from ..ops.placing import DEVICE, Place
from ..ops.resharding import Constrain, Reshard
from ..runtime.memories import Space
from ..runtime.placement import sharded_type
from ..runtime.transfer import device_put, set_tracer_put, to_sharding
from ..sharding import rules
from ..sharding.named import NamedSharding
from ..sharding.spec import UNCONSTRAINED, PartitionSpec
from ..tree import tree_broadcast, tree_flatten, tree_leaves, tree_unflatten


def _is_place(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec) or not isinstance(x, (tuple, list, dict))


def _spread(place: Any, tree: Any) -> list[Any]:
    return tree_leaves(tree_broadcast(place, tree, is_leaf=_is_place), is_leaf=_is_place)


def _check_divides(function: str, x: Any, sharding: Any) -> None:
    t = type_of(x)
    try:
        sharding.shard_shape(t.shape)
    except errors.ShardingError:
        raise
    except ValueError as error:
        raise errors.ShardingError(errors.explain(function, str(error), {"x": t})) from None


def _named(function: str, place: Any) -> Any:
    if isinstance(place, PartitionSpec):
        mesh = config.current().mesh
        if mesh is None:
            raise errors.ShardingError(
                errors.explain(
                    function,
                    "a PartitionSpec needs a mesh in scope",
                    {"spec": place},
                    try_="with nl.set_mesh(mesh): ..., or pass NamedSharding(mesh, spec)",
                )
            )
        return NamedSharding(mesh, place)
    return place


def _inside(function: str, x: Any, place: Any) -> Any:
    """Pin the sharding of a traced value."""
    sharding = _named(function, place)
    kind = sharding.memory_kind if function != "device_put" else None
    if kind is not None:
        x = apply(Place.of(kind), x)
    if not isinstance(sharding, NamedSharding):
        return x  # one device: the program already runs there, or compiling reports the conflict
    _check_divides(function, x, sharding)
    if sharding.mesh.explicit_axes:
        if function == "with_sharding_constraint" and sharding.mesh.auto_axes:
            return apply(Constrain.of(_beside_explicit(function, x, sharding)), x)
        shown = sharded_type(type_of(x), sharding).sharding
        if shown is None:  # replicated
            shown = NamedSharding(sharding.mesh.abstract_mesh, PartitionSpec())
        return apply(Reshard.of(shown), x)
    return apply(Constrain.of(sharding), x)


def _beside_explicit(function: str, x: Any, sharding: NamedSharding) -> NamedSharding:
    """A constraint on Auto axes together with the Explicit ones that the type of `x` shows."""
    mesh, t = sharding.mesh, type_of(x)
    wrong = [n for n in sharding.spec.axes() if n in mesh.explicit_axes]
    if wrong:
        raise errors.ShardingError(
            errors.explain(
                function,
                f"on a mesh with Explicit axes it may name the Auto ones only, not {wrong[0]!r}",
                {"spec": sharding.spec, "mesh": mesh, "x": t},
                try_="nl.reshard for Explicit axes",
            )
        )
    both = zip(rules.spec_of(t), sharding.spec.padded(t.ndim), strict=True)
    entries = [
        b if a is None else a if b is None or b is UNCONSTRAINED
        else (*rules.axis_names_in(a), *rules.axis_names_in(b))
        for a, b in both
    ]  # fmt: skip
    return NamedSharding(mesh, PartitionSpec(*entries))


def _explicit_only(place: Any) -> Any:
    """What `reshard` was asked for; on meshes with Explicit axes it may name no others."""
    sharding = _named("reshard", place)
    if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
        wrong = [n for n in sharding.spec.axes() if n in sharding.mesh.auto_axes]
        if wrong:
            raise errors.ShardingError(
                errors.explain(
                    "reshard",
                    f"types show Explicit axes only, and {wrong[0]!r} is Auto",
                    {"spec": sharding.spec, "mesh": sharding.mesh},
                    try_="lax.with_sharding_constraint for Auto axes",
                )
            )
    return sharding


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Tell the compiler how values inside a program are spread over the mesh.

    Args:
        x: pytree of arrays.
        shardings: a sharding, a `PartitionSpec` (mesh of `set_mesh`), or a pytree prefix of them.

    Returns:
        `x`, spread as asked; outside of `jit` the arrays are moved there.

    Raises:
        ShardingError: the spec names an Explicit axis of a mesh that has Auto axes, too.

    Differences from JAX: on a mesh with Explicit axes only it is `reshard` (JAX: an assertion).

    Example:
        >>> import numlift as nl
        >>> mesh = nl.make_mesh((1,), ("x",), axis_types=(nl.sharding.AxisType.Auto,))
        >>> rows = nl.NamedSharding(mesh, nl.P("x", None))
        >>> @nl.jit
        ... def f(x):
        ...     y = nl.lax.with_sharding_constraint(x * 2, rows)  # whole rows on each device
        ...     return y.sum(axis=1)
        >>> print(f(nl.numpy.ones((2, 3))))
        [6. 6.]
    """
    leaves, tree = tree_flatten(x)
    places = _spread(shardings, x)
    return tree_unflatten(
        tree,
        [
            leaf
            if place is None
            else _inside("with_sharding_constraint", leaf, place)
            if isinstance(leaf, Tracer)
            else device_put(leaf, to_sharding(_named("with_sharding_constraint", place)))
            for leaf, place in zip(leaves, places, strict=True)
        ],
    )


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Move arrays to another sharding on the same mesh (Explicit axes); see `typeof`.

    On a mesh with Auto axes only it is `with_sharding_constraint`.

    Args:
        xs: pytree of arrays.
        out_shardings: a `NamedSharding`, a `PartitionSpec` (mesh of `set_mesh`), or a pytree prefix
            of them.

    Returns:
        The same values, with types that show the new sharding. The gradient is resharded back.

    Raises:
        ShardingError: the spec names an Auto axis of a mesh that has Explicit axes, too.

    Example:
        >>> import numlift as nl
        >>> mesh = nl.make_mesh((1,), ("x",), axis_types=(nl.sharding.AxisType.Explicit,))
        >>> with nl.set_mesh(mesh):
        ...     y = nl.reshard(nl.numpy.ones(4), nl.P("x"))
        >>> nl.typeof(y)
        float32[4@x]
    """
    leaves, tree = tree_flatten(xs)
    places = _spread(out_shardings, xs)
    return tree_unflatten(
        tree,
        [
            _inside("reshard", leaf, _explicit_only(place))
            if isinstance(leaf, Tracer)
            else device_put(leaf, to_sharding(_explicit_only(place)))
            for leaf, place in zip(leaves, places, strict=True)
        ],
    )


def typeof(x: Any) -> Any:
    """The type of an array or number: shape, dtype, weak type, and sharding on Explicit axes.

    Args:
        x: array, also a traced one or one of random keys; or a number.

    Returns:
        An `ArrayType` with `shape`, `dtype`, `weak_type` and `sharding`; types are equal if all
        these are. It prints as ``float32[3,4]``, and a weak type with ``~``.

    Raises:
        ArgumentError: anything else.

    Example:
        >>> import numlift as nl
        >>> nl.typeof(nl.numpy.ones((3, 4))), nl.typeof(1), nl.typeof(nl.random.key(0))
        (float32[3,4], ~int32[], key<fry>[])
    """
    return type_of(x)


def _put_tracer(x: Any, sharding: Any) -> Any:
    if sharding is None or sharding is Space.Any:
        return x
    if isinstance(sharding, Space):
        return apply(Place.of(sharding.kind), x)
    return apply(Place.of(sharding.memory_kind or DEVICE), _inside("device_put", x, sharding))


set_tracer_put(_put_tracer)

__all__ = ["reshard", "typeof", "with_sharding_constraint"]
