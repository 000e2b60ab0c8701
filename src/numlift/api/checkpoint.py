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

    Raises:
        ArgumentError: `fun` or `policy` is not callable; at the call: an argument is no array.

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

    Args:
        x: pytree of arrays.
        name: the name; several values may have one.

    Returns:
        `x` with every array marked; values and types are the same, and without a policy that asks
        for the name it changes nothing.

    Raises:
        ArgumentError: `name` is no text.

    Example:
        >>> import numlift as nl
        >>> print(nl.ad_checkpoint.checkpoint_name(2.0, "activations"))
        2.0
    """
    _check_names("checkpoint_name", (name,))
    return tree_map(lambda leaf: apply(Name.of(name), leaf), x)


# ---- policies --------------------------------------------------------------------------------


def everything_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Policy: keep every result, as without `checkpoint`.

    Args:
        op, *types, **params: the operation and its operands' types, as `checkpoint` asks a policy.

    Returns:
        True.

    Example:
        >>> import numlift as nl
        >>> policy = nl.checkpoint_policies.everything_saveable
        >>> f = nl.checkpoint(lambda x: nl.numpy.sin(nl.numpy.sin(x)), policy=policy)
        >>> len(nl.ad_checkpoint.saved_residuals(f, 1.0))
        3
    """
    return True


def nothing_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Policy: keep nothing but the arguments, as `checkpoint` does by default.

    Args:
        op, *types, **params: the operation and its operands' types, as `checkpoint` asks a policy.

    Returns:
        False.

    Example:
        >>> import numlift as nl
        >>> policy = nl.checkpoint_policies.nothing_saveable
        >>> f = nl.checkpoint(lambda x: nl.numpy.sin(nl.numpy.sin(x)), policy=policy)
        >>> nl.ad_checkpoint.saved_residuals(f, 1.0)
        [(~float32[], 'argument 0')]
    """
    return False


def dots_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Policy: keep results of matrix products and convolutions, the expensive ones.

    Args:
        op, *types, **params: the operation and its operands' types, as `checkpoint` asks a policy.

    Returns:
        Whether the operation is such a product.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> def layer(w, x):
        ...     return np.sin(np.cos(w @ x))
        >>> f = nl.checkpoint(layer, policy=nl.checkpoint_policies.dots_saveable)
        >>> [t for t, _ in nl.ad_checkpoint.saved_residuals(f, np.ones((4, 3)), np.ones(3))]
        [float32[4,3], float32[3], float32[4]]
    """
    return isinstance(op, (DotGeneral, ConvGeneralDilated))


def dots_with_no_batch_dims_saveable(op: Any, *types: Any, **params: Any) -> bool:
    """Policy: keep results of matrix products without batch axes, such as ``x @ w`` of a layer.

    A product for each example (as in attention, or under `vmap`) has batch axes, is often as large
    as it is cheap, and is computed again.

    Args:
        op, *types, **params: the operation and its operands' types, as `checkpoint` asks a policy.

    Returns:
        Whether the operation is such a product.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> policy = nl.checkpoint_policies.dots_with_no_batch_dims_saveable
        >>> f = nl.checkpoint(lambda a, b: np.sin(a @ b), policy=policy)
        >>> def kept(*shapes):
        ...     args = [np.ones(s) for s in shapes]
        ...     return len(nl.ad_checkpoint.saved_residuals(f, *args))
        >>> kept((2, 2), (2, 2)), kept((5, 2, 2), (5, 2, 2))
        (3, 2)
    """
    return isinstance(op, DotGeneral) and not op.lhs_batch and not op.rhs_batch


def save_only_these_names(*names: str) -> Policy:
    """Keep the values that `checkpoint_name` gave one of these names.

    Args:
        *names: names, as texts.

    Returns:
        The policy.

    Raises:
        ArgumentError: a name is no text.

    Example:
        >>> import numlift as nl
        >>> def f(x):
        ...     h = nl.ad_checkpoint.checkpoint_name(nl.numpy.sin(x), "hidden")
        ...     return nl.numpy.sin(nl.numpy.sin(h))
        >>> policy = nl.checkpoint_policies.save_only_these_names("hidden")
        >>> [t for t, _ in nl.ad_checkpoint.saved_residuals(nl.checkpoint(f, policy=policy), 1.0)]
        [~float32[], ~float32[]]
    """
    _check_names("save_only_these_names", names)
    wanted = frozenset(names)

    def policy(op: Any, *types: Any, **params: Any) -> bool:
        return isinstance(op, Name) and op.tag in wanted

    return policy


def save_any_names_but_these(*names: str) -> Policy:
    """Keep named values except those with one of these names.

    Args:
        *names: names, as texts. Values without a name are never kept.

    Returns:
        The policy.

    Raises:
        ArgumentError: a name is no text.

    Example:
        >>> import numlift as nl
        >>> policy = nl.checkpoint_policies.save_any_names_but_these("mask")
        >>> def f(x):
        ...     h = nl.ad_checkpoint.checkpoint_name(nl.numpy.sin(x), "hidden")
        ...     return nl.numpy.sin(nl.numpy.sin(h))
        >>> len(nl.ad_checkpoint.saved_residuals(nl.checkpoint(f, policy=policy), 1.0))
        2
    """
    _check_names("save_any_names_but_these", names)
    left_out = frozenset(names)

    def policy(op: Any, *types: Any, **params: Any) -> bool:
        return isinstance(op, Name) and op.tag not in left_out

    return policy


def save_anything_except_these_names(*names: str) -> Policy:
    """Keep everything except values with one of these names.

    Args:
        *names: names, as texts. Values without a name are kept.

    Returns:
        The policy.

    Raises:
        ArgumentError: a name is no text.

    Example:
        >>> import numlift as nl
        >>> policy = nl.checkpoint_policies.save_anything_except_these_names("hidden")
        >>> def f(x):
        ...     h = nl.ad_checkpoint.checkpoint_name(nl.numpy.sin(x), "hidden")
        ...     return nl.numpy.sin(nl.numpy.sin(h))
        >>> len(nl.ad_checkpoint.saved_residuals(nl.checkpoint(f, policy=policy), 1.0))
        4
    """
    _check_names("save_anything_except_these_names", names)
    left_out = frozenset(names)

    def policy(op: Any, *types: Any, **params: Any) -> bool:
        return not (isinstance(op, Name) and op.tag in left_out)

    return policy


def save_from_both_policies(first: Policy, second: Policy) -> Policy:
    """Keep what either policy keeps; where they differ in the memory, as the first says.

    Args:
        first, second: policies.

    Returns:
        The policy.

    Raises:
        ArgumentError: one of them is no function.

    Example:
        >>> import numlift as nl
        >>> policies = nl.checkpoint_policies
        >>> policy = policies.save_from_both_policies(
        ...     policies.dots_saveable, policies.save_only_these_names("hidden")
        ... )
        >>> f = nl.checkpoint(lambda w, x: nl.numpy.sin(w @ x), policy=policy)
        >>> print(nl.grad(f)(nl.numpy.ones(2), nl.numpy.ones(2)))
        [-0.416 -0.416]
    """
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

    Returns:
        The policy.

    Raises:
        ArgumentError: the names are no lists of texts.
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

    Args:
        offload_src: the memory that programs compute in: ``"device"``.
        offload_dst: the memory to keep the products in: ``"pinned_host"``.

    Returns:
        The policy.

    Example:
        >>> import numlift as nl
        >>> policy = nl.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")
        >>> f = nl.checkpoint(lambda w, x: nl.numpy.sin(w @ x), policy=policy)
        >>> print(nl.grad(f)(nl.numpy.ones(2), nl.numpy.ones(2)))
        [-0.416 -0.416]
    """
    offload = Offload(offload_src, offload_dst)

    def policy(op: Any, *types: Any, **params: Any) -> bool | Offload:
        return offload if dots_with_no_batch_dims_saveable(op) else False

    return policy


# ---- looking at residuals --------------------------------------------------------------------


def saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[Any, str]]:
    """Types and origins of the values that the gradient of ``fun(*args)`` keeps.

    Args:
        fun: function of pytrees of arrays.
        *args, **kwargs: arguments; only their types matter, nothing is computed.

    Returns:
        A list of pairs: the type, such as float32[3], and text: ``"argument 0"`` (counting leaves
        of the arguments), ``"output of cos"``, ``"output of call"`` (in a checkpointed or jitted
        function), ``"a constant"``.

    Example:
        >>> import numlift as nl
        >>> nl.ad_checkpoint.saved_residuals(lambda x: nl.numpy.exp(nl.numpy.sin(x)), 1.0)
        [(~float32[], 'output of cos'), (~float32[], 'output of exp')]
    """
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
    """Print what the gradient of ``fun(*args)`` keeps, one value a line.

    Args:
        fun: function of pytrees of arrays.
        *args, **kwargs: arguments; only their types matter.

    Returns:
        None.

    Example:
        >>> import numlift as nl
        >>> nl.ad_checkpoint.print_saved_residuals(lambda x: nl.numpy.exp(nl.numpy.sin(x)), 1.0)
        ~float32[] from output of cos
        ~float32[] from output of exp
    """
    for t, where in saved_residuals(fun, *args, **kwargs):
        print(f"{t!r} from {where}")
