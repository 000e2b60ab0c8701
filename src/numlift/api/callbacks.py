"""Python functions called from compiled programs: `pure_callback`, `io_callback`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.dtypes import KeyDType, canonicalize_dtype, float0
from ..core.tracing import Tracer, apply
from ..core.types import ArrayType, array_type
from ..ops.callback import VMAP_METHODS, HostCallback, IoCallback, PureCallback
from ..runtime.array import Array
from ..runtime.transfer import as_array
from ..tree import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten
from .tracing import check_argument, name_of


class FlatCallback:
    """A user's function over pytrees as one over flat NumPy arrays.

    Args:
        function: the user's function.
        tree: structure of (args, kwargs).
        fixed: leaf position -> value of leaves that are no arrays.
        out_tree: structure of the result; None for functions whose result is thrown away.
        title: public name of the function that was called, for messages.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        tree: Any,
        fixed: dict[int, Any],
        out_tree: Any,
        title: str,
    ):
        self.function, self.tree, self.fixed = function, tree, fixed
        self.out_tree, self.title = out_tree, title
        self.__name__ = name_of(function)

    def __call__(self, *arrays: np.ndarray) -> list[Any]:
        rest = iter(arrays)
        n = len(arrays) + len(self.fixed)
        leaves = [self.fixed[i] if i in self.fixed else next(rest) for i in range(n)]
        args, kwargs = tree_unflatten(self.tree, leaves)
        result = self.function(*args, **kwargs)
        if self.out_tree is None:
            return []
        found, tree = tree_flatten(result)
        if tree != self.out_tree:
            raise errors.TreeError(
                errors.explain(
                    self.title,
                    f"{self.__name__} returned another structure than it declared",
                    {"returned": tree, "result_shape_dtypes": self.out_tree},
                )
            )
        return found


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    vectorized: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function without side effects, also inside compiled programs.

    The call may be dropped if its result is not used, merged with an equal one, or repeated. The
    function gets NumPy arrays. Unlike in JAX, where it gets arrays of JAX, it may run compiled
    functions of its own.

    Args:
        callback: function of NumPy arrays (read-only); its results have the declared shapes and
            dtypes. Exceptions that it raises reach the caller of the program as they are (in a
            program over several devices when it has ended: later callbacks give zeros). Of typed
            random keys it gets the words (uint32); it returns words or keys where it declared keys.
        result_shape_dtypes: pytree of `ShapeDtypeStruct`s (or anything with shape and dtype).
        *args, **kwargs: its arguments, pytrees of arrays.
        sharding: a `SingleDeviceSharding`: the device of a program over several that calls.
        vmap_method: under `vmap`, "sequential" (or "sequential_unrolled") calls once an example;
            "expand_dims" and "broadcast_all" call once with the batch axis in front of all
            arguments (size 1 or repeated where an argument is not batched);
            "legacy_vectorized" the same, but arguments without batch stay as they are.
        vectorized: older spelling: True is "legacy_vectorized", False is "sequential".

    Returns:
        Arrays in the structure of `result_shape_dtypes`.

    Raises:
        GradError: differentiated without `custom_jvp` or `custom_vjp` around it.
        ShapeError, DTypeError, TreeError: the function returned something else than declared.

    Example:
        >>> import numlift as nl
        >>> import numpy
        >>> f = nl.jit(lambda x: nl.pure_callback(numpy.sin, x, x, vmap_method="expand_dims"))
        >>> print(f(0.5))
        0.47942555
    """
    if vectorized is not None:
        if vmap_method is not None:
            raise errors.ValueArgumentError(
                errors.explain("pure_callback", "give vmap_method or vectorized, not both")
            )
        vmap_method = "legacy_vectorized" if vectorized else "sequential"
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise errors.ValueArgumentError(
            errors.explain(
                "pure_callback",
                f"there is no vmap_method {vmap_method!r}",
                try_=f"one of {', '.join(map(repr, VMAP_METHODS))}",
            )
        )
    return _call(
        PureCallback, callback, result_shape_dtypes, args, kwargs, sharding, False, vmap_method
    )


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with side effects, also inside compiled programs.

    It is called exactly as often as the program says, whether its result is used or not. A program
    with such calls is run to its end before the call of the program returns.

    Args:
        callback: function of NumPy arrays (read-only); may read and write files, change state, ...
        result_shape_dtypes: pytree of `ShapeDtypeStruct`s; None if it returns None.
        *args, **kwargs: its arguments, pytrees of arrays.
        sharding: a `SingleDeviceSharding`: the device of a program over several that calls.
        ordered: calls happen in the order of the program; such a call cannot be batched.

    Returns:
        Arrays in the structure of `result_shape_dtypes`.

    Raises:
        GradError: differentiated.  VmapError: an ordered call, or one in a branch or loop that
            only some examples run, under `vmap`.

    Example:
        >>> import numlift as nl
        >>> from numlift.experimental import io_callback
        >>> seen = []
        >>> f = nl.jit(lambda x: io_callback(lambda y: seen.append(float(y)), None, x))
        >>> f(3.0)
        >>> seen
        [3.0]
    """
    return _call(IoCallback, callback, result_shape_dtypes, args, kwargs, sharding, ordered, None)


def effects_barrier() -> None:
    """Wait until all effects of programs that were called have happened.

    Programs with effects are run to their end before the call that runs them returns, so there is
    nothing left to wait for; the function exists for programs written for JAX.

    Returns:
        None.

    Example:
        >>> import numlift as nl
        >>> nl.effects_barrier()
    """


def _call(
    kind: type[HostCallback],
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    sharding: Any,
    ordered: bool,
    vmap_method: str | None,
) -> Any:
    title = kind.title
    if not callable(callback):
        raise errors.ArgumentError(
            errors.explain(title, "callback must be a function", {"callback": callback})
        )
    types, out_tree = declared_types(result_shape_dtypes, title)
    leaves, tree = tree_flatten((args, kwargs))
    for path, x in tree_flatten_with_path((args, kwargs))[0]:
        check_argument(x, lambda path=path: f"argument {keystr(path[1:])}", title)
    flat = FlatCallback(callback, tree, {}, out_tree, title)
    op = kind(flat, tuple(types), ordered, vmap_method, single_device(sharding, title))
    return tree_unflatten(out_tree, apply(op, *operands(leaves)))


def operands(leaves: Sequence[Any]) -> list[Any]:
    """Leaves as operands of a callback."""
    return [x if isinstance(x, (Array, Tracer)) else as_array(x) for x in leaves]


def is_array(x: Any) -> bool:
    """Whether a leaf is passed to a callback as an array; others are kept as they are."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind not in "OUSmM" and x.dtype != float0
    return isinstance(x, (Array, Tracer))


def declared_types(result_shape_dtypes: Any, title: str) -> tuple[list[ArrayType], Any]:
    """Types and structure of the results that a callback declares."""
    leaves, tree = tree_flatten(result_shape_dtypes)
    types = []
    for x in leaves:
        if isinstance(x, (bool, int, float, complex)):
            x = np.asarray(x, canonicalize_dtype(np.asarray(x).dtype))
        shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
        if shape is None or dtype is None:
            raise errors.ArgumentError(
                errors.explain(
                    title,
                    f"result_shape_dtypes has a leaf of type {type(x).__name__}, which has no "
                    "shape and dtype",
                    {"leaf": x},
                    try_="nl.ShapeDtypeStruct(shape, dtype)",
                )
            )
        if isinstance(dtype, KeyDType):
            types.append(array_type(tuple(shape), dtype))
            continue
        dtype = np.dtype(dtype)
        if not config.current().enable_x64 and canonicalize_dtype(dtype) != dtype:
            raise errors.ValueArgumentError(
                errors.explain(
                    title,
                    f"result_shape_dtypes has the 64-bit dtype {dtype}, but 64-bit types are off",
                    try_="nl.config.update('enable_x64', True), or a 32-bit dtype",
                )
            )
        types.append(array_type(tuple(shape), dtype))
    return types, tree


def single_device(sharding: Any, title: str) -> Any:
    """The device that a `SingleDeviceSharding` names."""
    if sharding is None:
        return None
    found = tuple(getattr(sharding, "device_set", ()))
    if len(found) != 1:
        raise errors.ShardingError(
            errors.explain(
                title,
                "sharding must be a SingleDeviceSharding: one device calls the function",
                {"sharding": sharding},
            )
        )
    return found[0]


__all__ = ["effects_barrier", "io_callback", "pure_callback"]
