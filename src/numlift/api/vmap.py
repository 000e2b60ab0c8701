"""`vmap`: a function of one example becomes a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.refs import Ref, snapshot, store
from ..core.tracing import Tracer, type_of
from ..runtime.array import Array
from ..transforms.vmap import Batched, place_batch, vmap_flat
from ..tree import (
    broadcast_prefix,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)
from .door import door
from .eager import concrete
from .leaks import leak_checked
from .refs import Lending
from .tracing import argument_path, check_argument, check_callable, flatten_output, name_of


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
) -> Callable[..., Any]:
    """Vectorise `fun` over an axis of its arguments.

    Args:
        fun: function of one example.
        in_axes: int, None (not batched), or a tuple with one entry an argument, each a pytree
            prefix of ints and None. Keyword arguments are always batched over axis 0.
        out_axes: where the batch axis of each result goes: int, None, or a pytree prefix.
        axis_name: name for the batch axis, seen by collectives such as `lax.psum`.
        axis_size: number of examples; needed only if no argument is batched.
        spmd_axis_name: mesh axis that the batch is sharded over.

    Returns:
        The function of a batch.

    Raises:
        VmapError: batch axes of different sizes, an axis out of range, in_axes that do not fit.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda row, s: row.sum() * s, in_axes=(0, None))(np.ones((2, 3)), 2.0))
        [6. 6.]
    """
    check_callable(fun, "vmap")
    name = name_of(fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    _check_in_axes(in_axes, name)

    @door
    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def vmap_fun(*args: Any, **kwargs: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise errors.VmapError(
                errors.explain(
                    f"vmap({name})",
                    f"in_axes has {len(in_axes)} entries, but the function was called with "
                    f"{len(args)} positional arguments",
                    {"in_axes": in_axes},
                    try_="one entry an argument; keyword arguments are batched over axis 0",
                )
            )
        leaves, tree = tree_flatten((args, kwargs))
        lent: Lending | None = None
        for x in leaves:
            if isinstance(x, Ref):
                lent = lent or _Batches(f"vmap({name})", leaves)
                continue
            check_argument(x, lambda x=x: argument_path(args, kwargs, x), f"vmap({name})")
        values = [x if isinstance(x, (Array, Tracer)) else _value_of(x) for x in leaves]
        dims = _input_dims(in_axes, args, kwargs, values, name)
        size = _batch_size(values, dims, axis_size, args, kwargs, leaves, name)
        function = fun
        if lent is not None:
            function = lent.opened(fun, tree, [i for i in lent.refs if dims[i] is None])
        outs, out_dims, out_tree = _run_batched(
            function, tree, values, dims, size, name, axis_name, spmd_axis_name
        )
        if lent is not None:
            _put_batches(lent, dims, size)
        wanted = _output_dims(out_axes, out_tree, outs, out_dims, name)
        placed = [
            place_batch(x if isinstance(x, (Array, Tracer)) else concrete(x, "vmap"), d, size, to)
            for x, d, to in zip(outs, out_dims, wanted, strict=True)
        ]
        return tree_unflatten(out_tree, placed)

    return vmap_fun


def _check_in_axes(in_axes: Any, name: str) -> None:
    if in_axes is None or isinstance(in_axes, (int, tuple, dict)) or hasattr(in_axes, "keys"):
        return
    raise errors.ArgumentError(
        errors.explain(
            f"vmap({name})",
            "in_axes must be an int, None, or a tuple with one entry an argument",
            {"in_axes": in_axes},
        )
    )


def _value_of(x: Any) -> Any:
    """A ref's value, or a number or NumPy array as an array."""
    return snapshot(x) if isinstance(x, Ref) else concrete(x, "vmap")


class _Batches(Lending):
    """Refs whose values are batches."""

    __slots__ = ()

    def parts(self, x: Any) -> tuple[Any, Any]:
        """The batch and its axis."""
        return (x.value, x.dim) if isinstance(x, Batched) else (x, None)


def _put_batches(lent: Lending, dims: Sequence[int | None], size: int) -> None:
    """Give refs that were arguments the batches that were written to them."""
    for i, (value, dim) in lent.last.items():
        store(lent.refs[i], place_batch(value, dim, size, dims[i]))


@leak_checked
def _run_batched(
    fun: Callable[..., Any],
    tree: Any,
    values: Sequence[Any],
    dims: Sequence[int | None],
    size: int,
    name: str,
    axis_name: Any,
    spmd_axis_name: Any,
) -> tuple[list[Any], list[int | None], Any]:
    """Results, their batch axes and their structure."""
    found_tree: list[Any] = []

    def flat(*xs: Any) -> Sequence[Any]:
        call_args, call_kwargs = tree_unflatten(tree, xs)
        outs, found = flatten_output(fun(*call_args, **call_kwargs), name, "vmap")
        found_tree.append(found)
        return outs

    outs, out_dims = vmap_flat(flat, size, values, dims, axis_name, spmd_axis_name, name)
    return outs, out_dims, found_tree[0]


def _input_dims(
    in_axes: Any, args: Any, kwargs: Any, values: Sequence[Any], name: str
) -> list[int | None]:
    try:
        axes = broadcast_prefix(in_axes, args, lambda x: x is None, "vmap", "in_axes", "arguments")
    except (ValueError, TypeError) as error:
        raise errors.VmapError(
            errors.explain(
                f"vmap({name})",
                errors.reason(error),
                {"in_axes": in_axes},
                try_="one entry an argument, each an int, None or a tree of them",
            )
        ) from None
    axes = [*axes, *[0] * (len(values) - len(axes))]
    dims: list[int | None] = []
    for axis, x in zip(axes, values, strict=True):
        if axis is None:
            dims.append(None)
            continue
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise errors.VmapError(
                errors.explain(
                    f"vmap({name})", "in_axes must hold ints and None", {"in_axes": in_axes}
                )
            )
        t = type_of(x)
        if not -t.ndim <= axis < t.ndim:
            path = argument_path_of(args, kwargs, values, x)
            raise errors.VmapError(
                errors.explain(
                    f"vmap({name})",
                    f"in_axes={axis} is out of range for {path}, which has {t.ndim} axes",
                    {path: t},
                    try_="in_axes=None for arguments without a batch axis",
                )
            )
        dims.append(axis % t.ndim)
    return dims


def argument_path_of(args: Any, kwargs: Any, values: Sequence[Any], x: Any) -> str:
    """Path of the argument leaf that became `x`."""
    position = next(i for i, v in enumerate(values) if v is x)
    leaf = tree_flatten((args, kwargs))[0][position]
    return argument_path(args, kwargs, leaf)


def _batch_size(
    values: Sequence[Any],
    dims: Sequence[int | None],
    axis_size: int | None,
    args: Any,
    kwargs: Any,
    leaves: Sequence[Any],
    name: str,
) -> int:
    sizes = [
        (type_of(x).shape[d], i)
        for i, (x, d) in enumerate(zip(values, dims, strict=True))
        if d is not None
    ]
    if not sizes and axis_size is None:
        raise errors.VmapError(
            errors.explain(
                f"vmap({name})",
                "no argument has a batch axis (in_axes is None everywhere)",
                try_="axis_size=n",
            )
        )
    size = sizes[0][0] if axis_size is None else axis_size
    if any(s != size for s, _ in sizes):
        shown = {}
        for s, i in sizes:
            path = argument_path(args, kwargs, leaves[i])
            shown[path] = f"{type_of(values[i])!r}, axis {dims[i]} of size {s}"
        raise errors.VmapError(
            errors.explain(
                f"vmap({name})",
                "batch axes must have one size"
                + ("" if axis_size is None else f", axis_size={axis_size}"),
                shown,
                try_="in_axes=(0, None) for an argument that all examples share",
            )
        )
    return size


def _output_dims(
    out_axes: Any, tree: Any, outs: Sequence[Any], dims: Sequence[int | None], name: str
) -> list[int | None]:
    example = tree_unflatten(tree, list(range(len(outs))))
    try:
        wanted = broadcast_prefix(
            out_axes, example, lambda x: x is None, "vmap", "out_axes", "result"
        )
    except (ValueError, TypeError) as error:
        raise errors.VmapError(
            errors.explain(
                f"vmap({name})",
                errors.reason(error),
                {"out_axes": out_axes},
                try_="one entry for all, or the containers of the result",
            )
        ) from None
    found: list[int | None] = []
    paths = tree_flatten_with_path(example)[0]
    for axis, x, d, (path, _) in zip(wanted, outs, dims, paths, strict=True):
        if axis is None:
            if d is not None:
                raise errors.VmapError(
                    errors.explain(
                        f"vmap({name})",
                        f"out_axes is None for result{keystr(path)}, which depends on the batch",
                        try_="out_axes=0, or reduce over the batch first (lax.pmean)",
                    )
                )
            found.append(None)
            continue
        rank = type_of(x).ndim + (d is None)
        if not -rank <= axis < rank:
            raise errors.VmapError(
                errors.explain(
                    f"vmap({name})",
                    f"out_axes={axis} is out of range for result{keystr(path)} with {rank} axes",
                )
            )
        found.append(axis % rank)
    return found
