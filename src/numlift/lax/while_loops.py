"""Loops that count or test: while_loop, fori_loop."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import config, errors
from ..api.refs import put
from ..api.tracing import TracedFunction, name_of
from ..core.dims import Dim, max_size
from ..core.graph import Graph
from ..core.integers import check_integer
from ..core.tracing import Tracer, apply, type_of
from ..core.types import ArrayType
from ..ops.bounded_while import BoundedWhile
from ..ops.call import call_of
from ..ops.checkpoint_schedule import default_checkpoints, usable
from ..ops.compare import ge, lt
from ..ops.elementwise_binary import and_
from ..ops.while_loop import While, moving_carries, without_fixed
from ..structural.arith import add, complex_, convert, imag, mul, real, select
from ..structural.dim_value import size_as
from ..tree import tree_flatten, tree_map, tree_unflatten
from .carries import settle
from .loops import scan
from .refs import loaded, while_with_refs
from .staging import explained_arity, operands_of, trace_body

_LEAF = tree_flatten(0)[1]


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
    checkpoints: int | None = None,
) -> Any:
    """Repeat ``val = body_fun(val)`` while ``cond_fun(val)`` is true.

    Differentiable in forward mode; in reverse mode, too, if `max_steps` is given. Then a gradient
    keeps `checkpoints` values of `val` and computes the others again (binomial checkpointing): if n
    steps are taken, each step is computed at most r times, with the least r for which
    (c + 1 + r)! / ((c + 1)! r!) > n for c checkpoints, and once more with its derivative, without
    what that derives from the value after the step (as tanh does). Steps that are not taken cost
    nothing, in both directions. Parts of `val` that no step changes are not kept. Each further
    derivative keeps values and derivatives of `val`: the Hessian-vector product of a loop needs
    twice the memory of its gradient.

    Args:
        cond_fun: value -> bool scalar.
        body_fun: value -> value of the same structure, shapes and dtypes.
        init_val: initial value, a pytree.
        max_steps: bound on the number of steps. A loop that has not ended by then is stopped; its
            floating-point results and their derivatives are NaN, so that a bound that is too low
            is seen; integers and bools are those of the last step. To stop there on purpose, count
            the steps in `val` and test the count in `cond_fun`.
        checkpoints: how many values of `val` a gradient keeps besides `init_val`. The default is
            the least number that computes no step more than twice before its derivative, about
            sqrt(2 max_steps). Fewer save memory and cost time: 10,000 steps with 139 (the default)
            are computed up to 2 times, with 37 up to 3 times, with 13 up to 5 times, with 6 up to
            9 times; with max_steps - 1 every value is kept.

    Returns:
        The last value.

    Raises:
        DTypeError, ShapeError, TreeError: the value changes its type, or `cond_fun` does not return
            a bool scalar.
        GradError: reverse mode without `max_steps`, or with an io_callback inside.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.while_loop(lambda x: x < 100.0, lambda x: x * 3.0, 1.0))
        243.0
        >>> tripled = lambda x: nl.lax.while_loop(
        ...     lambda x: x < 100.0, lambda x: x * 3.0, x, max_steps=50
        ... )
        >>> print(nl.grad(tripled)(1.0))
        243.0
    """
    if not callable(cond_fun) or not callable(body_fun):
        raise errors.ArgumentError(
            errors.explain("while_loop", "cond_fun and body_fun must be functions")
        )
    bound = _bound("while_loop", max_steps, checkpoints)
    carry, tree = operands_of(init_val, "while_loop: init_val")
    if config.current().disable_jit:
        return _while_in_python(cond_fun, body_fun, init_val, bound[0] if bound else None)

    def trace(values: list[Any]) -> tuple[TracedFunction, list[ArrayType], Any]:
        args = (tree_unflatten(tree, values),)
        traced = trace_body(body_fun, args, [type_of(x) for x in values], "while_loop")
        return traced, list(traced.out_types), traced.out_tree

    carry, body = settle("while_loop", name_of(body_fun), carry, trace, tree)
    args = (tree_unflatten(tree, carry),)
    test = trace_body(cond_fun, args, [type_of(x) for x in carry], "while_loop")
    _check_condition(name_of(cond_fun), test.out_types, test.out_tree)
    if test.refs is None and body.refs is None:
        graphs = test.graph, body.graph
        return tree_unflatten(tree, _run_while(graphs, test.captured, body.captured, carry, bound))
    loop = while_with_refs(test, body)
    outs = _run_while(
        (loop.test, loop.body),
        [*test.captured, *loaded(loop.test_refs)],
        [*body.captured, *loaded(loop.body_refs)],
        [*carry, *loaded(loop.carried)],
        bound,
    )
    put(loop.carried, outs[len(carry) :])
    return tree_unflatten(tree, outs[: len(carry)])


def _run_while(
    graphs: tuple[Graph, Graph],
    test_known: Sequence[Any],
    body_known: Sequence[Any],
    carry: Sequence[Any],
    bound: tuple[Any, ...],
) -> Any:
    """The last carry of a loop, given condition and body and what they close over."""
    test, body = graphs
    n_c, n_b = len(test_known), len(body_known)
    if not bound:
        op = body.cached(("while op", test, n_c, n_b), lambda: While(test, body, n_c, n_b))
        return apply(op, *test_known, *body_known, *carry)
    moving = moving_carries(body, n_b)
    op = body.cached(
        ("bounded op", test, n_c, n_b, *bound),
        lambda: BoundedWhile(*without_fixed(test, body, n_c, n_b, moving), *bound),
    )
    fixed = [x for x, m in zip(carry, moving, strict=True) if not m]
    start = [x for x, m in zip(carry, moving, strict=True) if m]
    *found, steps = apply(op, *test_known, *fixed, *body_known, *fixed, *start)
    rest = iter(found)
    outs = [next(rest) if m else x for x, m in zip(carry, moving, strict=True)]
    (goes_on,) = apply(call_of(test, True), *test_known, *outs)
    exceeded = apply(and_, goes_on, apply(ge, steps, np.int32(bound[0])))
    return [_nan_if(exceeded, x) for x in outs]


def _bound(function: str, max_steps: Any, checkpoints: Any) -> tuple[int, ...]:
    """(max_steps, checkpoints), or () for a loop without a bound."""
    if max_steps is None:
        if checkpoints is not None:
            raise errors.ArgumentError(
                errors.explain(
                    function,
                    "checkpoints are for reverse mode, which needs a bound on the steps",
                    {"checkpoints": checkpoints},
                    try_="max_steps=N, too",
                )
            )
        return ()
    limit = _known_int(function, "max_steps", max_steps, 0)
    if checkpoints is None:
        return limit, default_checkpoints(limit)
    return limit, min(_known_int(function, "checkpoints", checkpoints, 1), usable(limit))


def _known_int(function: str, word: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not least <= number < 2**31:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"{word} must be an int that is known while tracing, in [{least}, 2**31)",
                {word: value},
            )
        )
    return number


def _check_condition(name: str, types: Sequence[ArrayType], tree: Any) -> None:
    """Raise unless a condition returned a bool scalar itself, not in a container."""
    if tree == _LEAF and not types[0].shape and types[0].kind == "b":
        return
    hint = "np.any(...) or np.all(...) of an array of bools"
    if tree != _LEAF:
        hint = "return the bool itself, not a container"
    elif not types[0].shape:
        hint = "a comparison, such as x != 0"
    raise (errors.DTypeError if tree == _LEAF else errors.TreeError)(
        errors.explain(
            "while_loop",
            f"{name} must return a bool scalar",
            {"returned": types[0] if tree == _LEAF else tree},
            try_=hint,
        )
    )


def _while_in_python(cond_fun: Any, body_fun: Any, value: Any, limit: int | None) -> Any:
    """while_loop under disable_jit: a Python loop, for debugging."""
    steps = 0

    def goes_on() -> bool:
        found = cond_fun(value)
        leaves, tree = tree_flatten(found)
        _check_condition(name_of(cond_fun), [type_of(x) for x in leaves], tree)
        return bool(found)

    while goes_on():
        if steps == limit:
            return tree_map(lambda x: _nan_if(True, x), value)
        value = body_fun(value)
        steps += 1
    return value


def _nan_if(exceeded: Any, x: Any) -> Any:
    """`x`, or NaN with a NaN derivative; only inexact values."""
    t = type_of(x)
    if not t.inexact:
        return x
    if t.kind == "c":
        parts = (_nan_if(exceeded, apply(real, x)), _nan_if(exceeded, apply(imag, x)))
        return apply(complex_, *parts)
    number = t.dtype.type
    return apply(mul, x, apply(select, exceeded, number(1), number(np.nan)))


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
    max_steps: int | None = None,
    checkpoints: int | None = None,
) -> Any:
    """``for i in range(lower, upper): val = body_fun(i, val)``.

    With int bounds it is a `scan`, differentiable in both modes, whose gradient keeps the values of
    every step. With traced bounds, or with `max_steps` or `checkpoints`, it is a `while_loop`.

    Args:
        lower, upper: int or integer scalars.
        body_fun: (i, value) -> value.
        init_val: initial value, a pytree.
        unroll: steps in one iteration of the compiled loop; needs int bounds.
        max_steps: bound on the number of steps, which makes a loop with traced bounds
            differentiable in reverse mode. If there are more steps, floating-point results are NaN.
        checkpoints: how many values a gradient keeps (see `while_loop`). With int bounds
            `max_steps` need not be given.

    Returns:
        The last value.

    Raises:
        DTypeError: the bounds are no integer scalars.
        GradError: reverse mode with traced bounds and without `max_steps`.
        ValueArgumentError: int bounds with more than `max_steps` steps.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.fori_loop(0, 5, lambda i, x: x * 2.0, 1.0))
        32.0
        >>> power = lambda x, n: nl.lax.fori_loop(0, n, lambda i, y: x * y, 1.0, max_steps=10)
        >>> print(nl.jit(nl.grad(power))(2.0, 3))
        12.0
    """
    if not callable(body_fun):
        raise errors.ArgumentError(errors.explain("fori_loop", "body_fun must be a function"))
    for word, bound in (("lower", lower), ("upper", upper)):
        t = type_of(bound)
        if t.shape or t.kind not in "iu":
            raise errors.DTypeError(
                errors.explain(
                    "fori_loop",
                    f"{word} must be an integer scalar",
                    {word: t},
                    try_="int(n), or n.astype(int)",
                )
            )
    dtype = _counter_dtype(lower, upper)
    static = not isinstance(lower, Tracer) and not isinstance(upper, Tracer)
    first, last = lower, upper
    if static:
        first, last = (x if type(x) is Dim else int(x) for x in (lower, upper))
    operands_of(init_val, "fori_loop: init_val")
    limits = _fori_bound(last - first if static else None, max_steps, checkpoints)
    if static and config.current().disable_jit:
        value = init_val
        for i in range(first, last):
            value = body_fun(np.asarray(i, dtype)[()], value)
        return value
    if static and not limits:
        return _fori_scan(first, last, dtype, body_fun, init_val, unroll)
    if unroll is not None and unroll != 1:
        raise errors.ValueArgumentError(
            errors.explain(
                "fori_loop",
                "unroll needs bounds that are known while tracing, and no checkpoints",
            )
        )
    one = dtype.type(1)

    def go_on(carry: Any) -> Any:
        return apply(lt, carry[0], carry[1])

    def body(carry: Any) -> Any:
        i, end, value = carry
        with explained_arity(body_fun, (i, value), "fori_loop"):
            return apply(add, i, one), end, body_fun(i, value)

    body.__name__ = name_of(body_fun)
    state = (convert(lower, dtype), convert(upper, dtype), init_val)
    options = dict(zip(("max_steps", "checkpoints"), limits, strict=False))
    with _as_fori("while_loop", body.__name__, 2):
        return while_loop(go_on, body, state, **options)[2]


def _fori_bound(steps: Any, max_steps: Any, checkpoints: Any) -> tuple[int, ...]:
    """(max_steps, checkpoints) of the while loop, or () without a bound.

    Args:
        steps: the number of steps, if it is known.
    """
    if steps is None or (max_steps is None and checkpoints is None):
        return _bound("fori_loop", max_steps, checkpoints)
    steps = max_size(0, steps)
    if max_steps is not None and _known_int("fori_loop", "max_steps", max_steps, 0) < steps:
        raise errors.ValueArgumentError(
            errors.explain(
                "fori_loop",
                "there are more steps than max_steps",
                {"upper - lower": steps, "max_steps": max_steps},
                try_="no max_steps: it is for bounds that are not known while tracing",
            )
        )
    return _bound("fori_loop", steps, checkpoints)


def _fori_scan(first: Any, last: Any, dtype: Any, body_fun: Any, value: Any, unroll: Any) -> Any:
    """fori_loop with known bounds."""
    one = dtype.type(1)

    def step(carry: Any, _: None) -> tuple[Any, None]:
        i, value = carry
        with explained_arity(body_fun, (i, value), "fori_loop"):
            return (apply(add, i, one), body_fun(i, value)), None

    step.__name__ = name_of(body_fun)
    with _as_fori("scan", step.__name__, 1):
        (_, value), _ = scan(
            step,
            (size_as(first, dtype), value),
            None,
            max_size(0, last - first),
            unroll=1 if unroll is None else unroll,
        )
    return value


@contextmanager
def _as_fori(loop: str, name: str, place: int) -> Iterator[None]:
    """Errors about the carry of the loop that does the work are told of `fori_loop`.

    Args:
        loop: its name.
        name: of its body; loops inside the body tell of their own.
        place: where in its carry the value of `fori_loop` is.
    """
    try:
        yield
    except (errors.TreeError, errors.ShapeError, errors.DTypeError) as error:
        text = str(error)
        if not text.startswith(f"{loop}: {name} must return a carry"):
            raise
        text = re.sub(rf"\b(carry|carry in|carry out)\[{place}\]", r"\1", text)
        raise type(error)(f"fori_loop{text[len(loop) :]}") from None


def _counter_dtype(lower: Any, upper: Any) -> Any:
    a, b = type_of(lower), type_of(upper)
    for bound in (lower, upper):
        if type(bound) is int:
            check_integer("fori_loop", bound)
    if a.weak_type and not b.weak_type:
        return b.dtype
    if b.weak_type and not a.weak_type:
        return a.dtype
    if a.dtype != b.dtype:
        raise errors.DTypeError(
            errors.explain(
                "fori_loop", "lower and upper must have one dtype", {"lower": a, "upper": b}
            )
        )
    return a.dtype


__all__ = ["fori_loop", "while_loop"]
