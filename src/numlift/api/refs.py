"""Refs and traced functions: making refs, and passing their values into graphs and back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.refs import Ref, aliased, frame_of, load, snapshot, store
from ..core.tracing import EVAL, Tracer, current, leaked, type_of
from ..runtime.transfer import as_array
from ..tree import tree_flatten, tree_unflatten


def new_ref(init_val: Any, *, memory_space: Any = None, kind: str | None = None) -> Ref:
    """A mutable array with an initial value.

    ``ref[index]`` reads and ``ref[index] = value`` writes, with NumPy's indices. Functions under
    `jit`, `vmap`, `grad`, `scan`, `cond` and the others take refs as arguments or close over them;
    in compiled programs writing happens in place. A ref made inside of a function is differentiated
    like any other value.

    Args:
        init_val: array or number; it is copied.
        memory_space: accepted for compatibility; must be None.
        kind: accepted for compatibility. Recomputing under `checkpoint` never repeats a write.

    Returns:
        The `Ref`.

    Raises:
        ArgumentError: `init_val` is no array.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> ref = nl.new_ref(np.zeros(3))
        >>> @nl.jit
        ... def add_at(ref, i, x):
        ...     ref[i] += x
        >>> add_at(ref, 1, 5.0)
        >>> ref
        Ref([0., 5., 0.], dtype=float32)
    """
    if memory_space is not None:
        raise errors.ArgumentError(
            errors.explain(
                "new_ref",
                "memory_space must be None",
                {"memory_space": memory_space},
                try_="nl.new_ref(nl.device_put(x, where))",
            )
        )
    if kind not in (None, "no_grad_no_remat"):
        raise errors.ValueArgumentError(
            errors.explain("new_ref", f"unknown kind {kind!r}", try_="leave it out")
        )
    if isinstance(init_val, (list, tuple)):
        raise errors.ArgumentError(
            errors.explain(
                "new_ref",
                f"a {type(init_val).__name__} is no array",
                {"init_val": repr(init_val)[:80]},
                try_="np.asarray(...) of it, or one ref for each array: "
                "nl.tree.map(nl.new_ref, tree)",
            )
        )
    if type_of(init_val).kind == "0":  # raises if it is no array
        raise errors.DTypeError(
            errors.explain(
                "new_ref",
                "float0 has no values to change",
                {"init_val": type_of(init_val)},
                try_="no ref for gradients of integers",
            )
        )
    owner = current.get()
    if isinstance(init_val, Tracer):
        if not init_val.owner.alive or owner is EVAL:
            raise leaked(init_val)
        return Ref(init_val.type, owner, init_val)
    value = as_array(init_val)
    return Ref(value.type, owner, value._clone() if owner is EVAL else value)


def freeze(ref: Ref) -> Any:
    """The last value of a ref, which cannot be used any more afterwards. Nothing is copied.

    Args:
        ref: a ref that was made in the same function; for others take ``ref[...]``.

    Returns:
        The array.

    Raises:
        RefError: the ref is an argument, closed over, or frozen.

    Example:
        >>> import numlift as nl
        >>> ref = nl.new_ref(1.0)
        >>> ref[...] = 2.0
        >>> print(nl.freeze(ref))
        2.0
    """
    return _end("freeze", ref)


def _end(function: str, ref: Ref) -> Any:
    """The last value of a ref, which has none afterwards."""
    check_ref(function, ref)
    with ref.lock:
        if frame_of(ref) is not ref.owner or ref.argument:
            raise errors.RefError(
                errors.explain(
                    function,
                    "only the function that made a ref can end it",
                    {"ref": ref.type},
                    try_="ref[...] for its value",
                )
            )
        value, ref.value = ref.value, None
    return value


def free_ref(ref: Ref) -> None:
    """End a ref, and let go of its memory.

    Args:
        ref: a ref that was made in the same function.

    Returns:
        None. Any later use of the ref is a RefError.

    Raises:
        RefError: the ref is an argument, closed over, or has ended.

    Example:
        >>> import numlift as nl
        >>> nl.ref.free_ref(nl.new_ref(1.0))
    """
    _end("free_ref", ref)


def check_ref(function: str, ref: Any) -> None:
    """Raise if something is not a ref."""
    if not isinstance(ref, Ref):
        raise errors.ArgumentError(
            errors.explain(
                function,
                f"expected a Ref, got a {type(ref).__name__}",
                {"ref": repr(ref)[:80]},
                try_="nl.new_ref(x)",
            )
        )


# ---- refs of traced functions ------------------------------------------------------------------


class RefUse:
    """What a traced function does with refs.

    Its graph takes: captured values, values of `captured`, leaves of the arguments. It gives: the
    results, the last values of the `written` ones of `captured`, and of the arguments at
    `places_written`.

    Attributes:
        captured: refs that the function closed over.
        written: indices into `captured`.
        places, places_written: positions of refs among the argument leaves.
        n_out: number of results.
    """

    __slots__ = ("captured", "written", "places", "places_written", "n_out")

    def __init__(self, captured: list[Ref], places: Sequence[int], n_out: int):
        self.captured, self.places, self.n_out = captured, tuple(places), n_out
        self.written: list[int] = []
        self.places_written: list[int] = []

    def check(self, function: str, leaves: Sequence[Any]) -> None:
        """Raise if a ref has two names in a call."""
        given = [leaves[i] for i in self.places]
        for i, ref in enumerate(given):
            if any(ref is other for other in given[:i]):
                raise aliased(function, ref, "is passed twice")
            if any(ref is other for other in self.captured):
                raise aliased(function, ref, "is an argument and closed over as well")

    def refuse(self, function: str) -> None:
        """Raise: the program goes where the refs are not."""
        raise errors.RefError(
            errors.explain(
                function,
                "the function uses refs, which are not part of what is written",
                {f"ref {i}": ref.type for i, ref in enumerate(self.captured)},
                try_="take their values as arguments and return the new ones",
            )
        )

    def changed(self, leaves: Sequence[Any]) -> list[Ref]:
        """The refs that get new values, in the order of the graph's last outputs."""
        return [
            *(self.captured[i] for i in self.written),
            *(leaves[i] for i in self.places_written),
        ]


def open_refs(stage: Any, leaves: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """Argument leaves with those at `places` as refs of the function that is being traced."""
    found = list(leaves)
    for i in places:
        found[i] = Ref(leaves[i].type, stage, leaves[i])
        found[i].argument = True
    return found


def close_refs(
    stage: Any, leaves: Sequence[Any], places: Sequence[int], outputs: list[Any]
) -> tuple[list[Any], RefUse | None]:
    """Outputs with the last values of the refs that were written, at the end of a trace."""
    views = stage.accept_views()
    if not views and not places:
        return outputs, None
    use = RefUse(list(views), places, len(outputs))
    outputs = list(outputs)
    for i, view in enumerate(views.values()):
        if view.written:
            use.written.append(i)
            outputs.append(view.value)
    for i in places:
        ref = leaves[i]
        if ref.written:
            use.places_written.append(i)
            outputs.append(ref.value)
        ref.value = None
    return outputs, use


def operands(traced: Any) -> list[Any]:
    """Values of the leading inputs of a traced function: what it closes over."""
    if traced.refs is None:
        return traced.captured
    return [*traced.captured, *map(load, traced.refs.captured)]


def results(traced: Any, outs: Sequence[Any], leaves: Sequence[Any] = ()) -> Sequence[Any]:
    """The results of a traced function; gives refs that it writes their new values."""
    use = traced.refs
    if use is None:
        return outs
    put(use.changed(leaves), outs[use.n_out :])
    return outs[: use.n_out]


def put(refs: Sequence[Ref], values: Sequence[Any]) -> None:
    """Give refs new values, which are results of operations."""
    fresh = current.get() is EVAL
    for ref, value in zip(refs, values, strict=True):
        store(ref, value, fresh)


def hide_refs(
    fun: Callable[..., Any], tree: Any, leaves: Sequence[Any]
) -> tuple[Callable[..., Any], Any, list[Any]]:
    """A function of the leaves that are no refs; it closes over the others.

    Returns:
        The function, the structure of its (args, kwargs), and its arguments. They are those given
        if there are no refs.
    """
    refs = {i: x for i, x in enumerate(leaves) if isinstance(x, Ref)}
    if not refs:
        return fun, tree, list(leaves)
    n = len(leaves)

    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def without_refs(*arrays: Any) -> Any:
        rest = iter(arrays)
        args, kwargs = tree_unflatten(
            tree, [refs[i] if i in refs else next(rest) for i in range(n)]
        )
        return fun(*args, **kwargs)

    arrays = [x for i, x in enumerate(leaves) if i not in refs]
    return without_refs, tree_flatten((tuple(arrays), {}))[1], arrays


def ref_places(leaves: Sequence[Any]) -> tuple[int, ...]:
    """Positions of refs."""
    return tuple([i for i, x in enumerate(leaves) if isinstance(x, Ref)])


class Lending:
    """Refs among the arguments of a function that runs under an interpreter without a stage.

    The function gets refs of its own, which belong to that interpreter. Meanwhile those given are
    lent: they cannot be used by closure as well.

    Attributes:
        refs: position among the argument leaves -> ref.
        last: position -> the last value of a ref that was written, taken apart by `parts`, after
            the function ran.
    """

    __slots__ = ("refs", "last")

    def __init__(self, function: str, leaves: Sequence[Any]):
        self.refs = {i: x for i, x in enumerate(leaves) if isinstance(x, Ref)}
        self.last: dict[int, Any] = {}
        given = list(self.refs.values())
        for i, ref in enumerate(given):
            if any(ref is other for other in given[:i]):
                raise aliased(function, ref, "is passed twice")

    def parts(self, x: Any) -> tuple[Any, Any]:
        """What a value of the interpreter is outside of it."""
        raise NotImplementedError

    def opened(
        self, fun: Callable[..., Any], tree: Any, whole: Sequence[int] = ()
    ) -> Callable[..., Any]:
        """`fun`, of values in place of refs.

        Args:
            fun: function of refs.
            tree: structure of its (args, kwargs).
            whole: positions where the function gets the given ref itself.
        """
        mine = {i: ref for i, ref in self.refs.items() if i not in whole}

        @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
        def of_values(*args: Any, **kwargs: Any) -> Any:
            leaves = tree_flatten((args, kwargs))[0]
            for i in whole:
                leaves[i] = self.refs[i]
            frame = current.get()
            made = {}
            for i, ref in mine.items():
                made[i] = leaves[i] = Ref(type_of(leaves[i]), frame, leaves[i])
                made[i].argument = True
                ref.lent = frame
            try:
                args, kwargs = tree_unflatten(tree, leaves)
                return fun(*args, **kwargs)
            finally:
                for i, ref in mine.items():
                    ref.lent = None
                    if made[i].written:
                        self.last[i] = self.parts(made[i].value)
                    made[i].value = None

        return of_values


__all__ = ["Ref", "freeze", "new_ref", "snapshot"]
