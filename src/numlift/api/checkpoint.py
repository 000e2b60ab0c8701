"""`checkpoint` (also `remat`): trade memory of a gradient for a second computation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import config, errors
from ..core.graph import Graph
from ..core.tracing import apply, type_of
from ..ops.conv import ConvGeneralDilated
from ..ops.dot import DotGeneral
from ..ops.remat import Checkpoint, Name, Offload, Policy
from ..tree import tree_flatten, tree_map, tree_unflatten
from .autodiff import as_operand, linearize
from .door import door
from .refs import hide_refs, operands, results
from .signature import Statics
from .tracing import argument_path, check_argument, check_callable, name_of, trace_function


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """A function whose gradient recomputes its inner values instead of keeping them.

    Args:
        fun: the function; without it, a decorator is returned.
        prevent_cse: keep XLA from merging the second computation with the first; False is faster
            inside `scan`, where merging cannot happen.
        policy: which results to keep nevertheless, see `checkpoint_policies`.
        static_argnums, static_argnames: arguments that stay Python values (hashable).

    Returns:
        A function with the same values and derivatives.

    Example:
        >>> import numlift as nl
        >>> f = nl.checkpoint(lambda x: nl.numpy.sin(nl.numpy.sin(x)))
        >>> print(nl.grad(f)(1.0))
        0.36003947
    """
    if fun is None:
        return functools.partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    check_callable(fun, "checkpoint")
    _check_policy("checkpoint", policy)
    statics = Statics(fun, static_argnums, static_argnames or None, "checkpoint")
    name = name_of(fun)

    @door
    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if config.current().disable_jit:
            return fun(*args, **kwargs)
        fixed, rest, named = statics.split(args, kwargs)
        leaves, tree = tree_flatten((rest, named))
        function, tree, leaves = hide_refs(statics.bind(fun, fixed), tree, leaves)
        for x in leaves:
            check_argument(x, lambda x=x: argument_path(rest, named, x), f"checkpoint({name})")
        values = [as_operand(x) for x in leaves]
        types = [type_of(x) for x in values]
        traced = trace_function(function, tree, types, label="checkpoint", refs=())
        op = Checkpoint(traced.graph, policy, prevent_cse)
        outs = apply(op, *operands(traced), *values)
        return tree_unflatten(traced.out_tree, results(traced, outs))

    return checkpointed


def _check_policy(function: str, policy: Any) -> None:
    if policy is not None and not callable(policy):
        raise errors.ArgumentError(
            errors.explain(
                function,
                "policy must be a function of checkpoint_policies, or None",
                {"policy": policy},
                try_="policy=nl.checkpoint_policies.dots_saveable",
            )
        )


def _check_names(function: str, names: Sequence[Any]) -> None:
    if isinstance(names, str) or not all(isinstance(n, str) for n in names):
        raise errors.ArgumentError(
            errors.explain(
                function, "names must be texts", {"names": names}, try_=f'{function}("a", "b")'
            )
        )


def checkpoint_name(x: Any, name: str) -> Any:
    """`x` itself, under a name that policies such as `save_only_these_names` refer to.

    Example:
        >>> import numlift as nl
        >>> print(nl.ad_checkpoint.checkpoint_name(2.0, "activations"))
        2.0
    """
    _check_names("checkpoint_name", (name,))
    return tree_map(lambda leaf: apply(Name.of(name), leaf), x)


# ---- policies --------------------------------------------------------------------------------


def everything_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Keep everything, as without `checkpoint`."""
    return True


def nothing_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Keep nothing but the arguments."""
    return False


def dots_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Keep results of matrix products and convolutions."""
    return isinstance(op, (DotGeneral, ConvGeneralDilated))


def dots_with_no_batch_dims_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Keep results of matrix products without batch axes."""
    return isinstance(op, DotGeneral) and not op.lhs_batch and not op.rhs_batch


def save_only_these_names(*names: str) -> Policy:
    """Keep the values that `checkpoint_name` gave one of these names."""
    _check_names("save_only_these_names", names)
    wanted = frozenset(names)

    def policy(op: Any, *types: Any, **params: Any) -> bool:
        return isinstance(op, Name) and op.tag in wanted

    return policy


def save_any_names_but_these(*names: str) -> Policy:
    """Keep named values except those with one of these names."""
    _check_names("save_any_names_but_these", names)
    left_out = frozenset(names)

    def policy(op: Any, *types: Any, **params: Any) -> bool:
        return isinstance(op, Name) and op.tag not in left_out

    return policy


def save_anything_except_these_names(*names: str) -> Policy:
    """Keep everything except values with one of these names."""
    _check_names("save_anything_except_these_names", names)
    left_out = frozenset(names)

    def policy(op: Any, *types: Any, **params: Any) -> bool:
        return not (isinstance(op, Name) and op.tag in left_out)

    return policy


def save_from_both_policies(first: Policy, second: Policy) -> Policy:
    """Keep what either policy keeps; where they differ in the memory, as the first says."""
    _check_policy("save_from_both_policies", first)
    _check_policy("save_from_both_policies", second)

    def policy(op: Any, *types: Any, **params: Any) -> bool | Offload:
        return first(op, *types, **params) or second(op, *types, **params)

    return policy


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Keep named values, some of them in another memory, from where the backward pass copies them.

    XLA for GPUs and TPUs moves such values to the memory and back while other work goes on. On CPU
    a gradient that is compiled as a whole keeps them in its only memory: nothing is gained there.

    Args:
        names_which_can_be_saved: names (`checkpoint_name`) of values to keep on the device.
        names_which_can_be_offloaded: names of values to keep in `offload_dst`.
        offload_src: the memory that programs compute in: ``"device"``.
        offload_dst: the memory to keep values in: ``"pinned_host"``.

    Raises:
        ValueArgumentError: a name is in both lists.
        ShardingError: when the gradient is compiled: the devices have no such memory.

    Example:
        >>> import numlift as nl
        >>> policy = nl.checkpoint_policies.save_and_offload_only_these_names(
        ...     names_which_can_be_saved=[], names_which_can_be_offloaded=["hidden"],
        ...     offload_src="device", offload_dst="pinned_host")
        >>> def f(x):
        ...     h = nl.ad_checkpoint.checkpoint_name(nl.numpy.sin(x), "hidden")
        ...     return nl.numpy.sin(h)
        >>> print(nl.grad(nl.checkpoint(f, policy=policy))(1.0))
        0.36003947
    """
    for names in (names_which_can_be_saved, names_which_can_be_offloaded):
        if isinstance(names, str) or not all(isinstance(n, str) for n in names):
            raise errors.ArgumentError(
                errors.explain(
                    "save_and_offload_only_these_names",
                    "names must be lists of texts",
                    {"names": names},
                    try_='names_which_can_be_saved=["a", "b"]',
                )
            )
    saved = frozenset(names_which_can_be_saved)
    moved = frozenset(names_which_can_be_offloaded)
    if saved & moved:
        raise errors.ValueArgumentError(
            errors.explain(
                "save_and_offload_only_these_names",
                f"names are in both lists: {sorted(saved & moved)}",
                {"names_which_can_be_saved": sorted(saved)},
                try_="each name in one list",
            )
        )
    offload = Offload(offload_src, offload_dst)

    def policy(op: Any, *types: Any, **params: Any) -> bool | Offload:
        if not isinstance(op, Name):
            return False
        return offload if op.tag in moved else op.tag in saved

    return policy


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Keep matrix products without batch axes in another memory.

    See `save_and_offload_only_these_names` for what the arguments mean and what devices do.
    """
    offload = Offload(offload_src, offload_dst)

    def policy(op: Any, *types: Any, **params: Any) -> bool | Offload:
        return offload if dots_with_no_batch_dims_saveable(op) else False

    return policy


# ---- looking at residuals --------------------------------------------------------------------


def saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[Any, str]]:
    """(type, where from) of the values that the gradient of ``fun(*args)`` keeps."""
    leaves, tree = tree_flatten((args, kwargs))
    values = [as_operand(x) for x in leaves]

    def flat(*xs: Any) -> Any:
        call_args, call_kwargs = tree_unflatten(tree, xs)
        return fun(*call_args, **call_kwargs)

    kept: list[Any] = []

    def probe(*xs: Any) -> Any:
        out, push = linearize(flat, *xs)
        kept[:] = list(push.residuals())
        return out

    flat_tree = tree_flatten((tuple(values), {}))[1]
    traced = trace_function(probe, flat_tree, [type_of(x) for x in values], label="residuals")
    return [(type_of(r), _origin(r, traced.graph)) for r in kept]


def _origin(x: Any, graph: Graph) -> str:
    var = getattr(x, "atom", None)
    if var is None:
        return "a constant"
    if var in graph.inputs:
        return f"argument {graph.inputs.index(var)}"
    for eq in graph.equations:
        if var in eq.outputs:
            return f"output of {eq.op.name}"
    return "a value"


def print_saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what the gradient of ``fun(*args)`` keeps, one value a line."""
    for t, where in saved_residuals(fun, *args, **kwargs):
        print(f"{t!r} from {where}")
