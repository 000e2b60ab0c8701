"""Hypothesis strategies: a random typed program, then a random stack of transformations over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy
from hypothesis import reject
from hypothesis import strategies as st

from tests.random_programs import program as p
from tests.random_programs import stacks
from tests.random_programs.operations import DRAWN, OPERATIONS
from tests.random_programs.reference import Reference
from tests.random_programs.steps import draw_step
from tests.random_programs.trees import Leaf, Ref, leaves, paths, tree_map, unflatten

SHAPES = ((), (2,), (3,), (2, 3), (3, 3), (1,), (2, 2), (3, 1), (2, 1, 3), (4,))
LARGEST = 40
OFTEN = ("matmul",) * 6 + ("mul", "where", "gather", "scatter_add", "index", "at_set", "gram") * 2
INNER_COST = 250


@dataclass
class Flags:
    """What can be done with a function."""

    forward: bool = True
    reverse: bool = True

    def meet(self, other: Any) -> None:
        """Only what both allow."""
        self.forward &= other.forward
        self.reverse &= other.reverse


class Scope:
    """The variables in scope while a function body is drawn, and draws among them."""

    def __init__(self, draw: Any, outer: Scope | None = None, axis: Any = None) -> None:
        self.draw = draw
        self.types: dict[Ref, Leaf] = dict(outer.types) if outer else {}
        self.depth = outer.depth + 1 if outer else 0
        self.counter: list[int] = outer.counter if outer else [0]
        self.axis: tuple[str, int] | None = axis
        self.flags = Flags()
        self.body: list[Any] = []

    # ---- draws -------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        """An int from low to high, both included."""
        return self.draw(st.integers(low, high))

    def boolean(self) -> bool:
        """A bool."""
        return self.draw(st.booleans())

    def choice(self, options: Any) -> Any:
        """One of several."""
        return options[self.integer(0, len(options) - 1)]

    def permutation(self, n: int) -> list[int]:
        """An order of n things."""
        return self.draw(st.permutations(range(n)))

    def type(self, ref: Ref) -> Leaf:
        """Type of a variable."""
        return self.types[ref]

    def pick(self, fits: Callable[[Leaf], bool] | None = None, kind: str = "float") -> Any:
        """A variable that fits, or None; late ones come first."""
        found = [r for r, t in self.types.items() if t.kind == kind and (not fits or fits(t))]
        return found[-1 - self.integer(0, len(found) - 1)] if found else None

    def name(self, letter: str) -> str:
        """A new name."""
        self.counter[0] += 1
        return f"{letter}{self.counter[0]}"

    # ---- adding variables --------------------------------------------------------------------

    def bind(self, name: str, tree: Any) -> Any:
        """Enter a variable with a tree type; returns its tree of references."""
        refs = [Ref(name, path) for path in paths(tree)]
        self.types.update(zip(refs, leaves(tree), strict=True))
        return unflatten(tree, refs)

    def add(self, statement: Any, tree: Any) -> Any:
        """Append a statement whose result has a tree type."""
        self.body.append(statement)
        return self.bind(statement.target, tree)

    def assign(self, op: str, *args: Ref, **options: Any) -> Any:
        """Append an operation; None if its result would be too large."""
        dummies = [dummy(self.types[ref]) for ref in args]
        out = numpy.asarray(OPERATIONS[op].numpy(Reference(strict=False), *dummies, **options))
        if out.size > LARGEST or out.ndim > 4 or not out.size:
            return None
        kind = {"b": "bool", "i": "int", "f": "float"}[out.dtype.kind]
        return self.add(p.Assign(self.name("t"), op, args, options), Leaf(out.shape, kind))

    def of_type(self, leaf: Leaf) -> Ref:
        """A variable of this type: one in scope, or a new one made from others."""
        found = self.pick(lambda t: t.shape == leaf.shape, leaf.kind)
        if found is not None:
            return found
        if leaf.kind == "float":
            return self.assign("spread", self.pick(), shape=leaf.shape)
        return self.assign(f"full_{leaf.kind}", shape=leaf.shape)

    def tree(self, most: int = 3) -> Any:
        """A tree of variables with at least one float."""
        refs = [self.pick()]
        for _ in range(self.integer(0, most - 1)):
            refs.append(self.pick(kind=self.choice(("float", "float", "int"))) or self.pick())
        return nested(self, refs)


def nested(scope: Scope, items: list[Any]) -> Any:
    """A random tree of some items."""
    if len(items) == 1:
        return items[0] if scope.integer(0, 3) else {"a": items[0]}
    kind = scope.integer(0, 3)
    if kind == 0:
        return tuple(items)
    if kind == 1:
        return dict(zip("cab", items))
    if kind == 2:
        return list(items)
    return (items[0], {"b": tuple(items[1:])})


def dummy(leaf: Leaf) -> Any:
    """Some array of a type."""
    dtype = {"float": numpy.longdouble, "int": numpy.int64, "bool": numpy.bool_}[leaf.kind]
    return numpy.zeros(leaf.shape, dtype)


# ---- functions -------------------------------------------------------------------------------


def draw_function(
    scope: Scope,
    params: list[Any],
    statements: tuple[int, int],
    finish: Callable[[Scope, list[Any]], Any],
    axis: Any = None,
    closed: bool = False,
) -> tuple[p.Function, Any, Flags]:
    """A function of parameters of these types, its result type, and its flags.

    `finish(inner scope, parameter references)` gives the tree of references of the result.
    """
    name = scope.name("f")
    inner = Scope(scope.draw, scope, axis)
    if closed:
        inner.types = {}
    named = [(scope.name("a"), tree) for tree in params]
    refs = [inner.bind(n, tree) for n, tree in named]
    for _ in range(scope.integer(*statements)):
        draw_statement(inner)
    result = finish(inner, refs)
    if any(ref is None for ref in leaves(result)):
        reject()  # nothing in scope that a result could be made of
    types = tree_map(lambda ref: inner.types[ref], result)
    body = p.without_unused(inner.body, result)
    return p.Function(name, tuple(named), body, result), types, inner.flags


def any_result(inner: Scope, refs: list[Any]) -> Any:
    """A tree of variables: those that nothing has used yet, so that all statements matter."""
    used = {name for statement in inner.body for name in statement.reads()}
    most = 6 if inner.depth == 1 else 2
    loose = [
        next(r for r in inner.types if r.name == statement.target and inner.types[r] == leaf)
        for statement in reversed(inner.body)
        if statement.target not in used
        for leaf in [float_leaf(inner, statement.target)]
        if leaf is not None
    ][:most]
    if not loose or not inner.integer(0, 9):
        return inner.tree()
    return nested(inner, loose)


def float_leaf(scope: Scope, name: str) -> Leaf | None:
    """Type of the first float of a variable."""
    return next((t for r, t in scope.types.items() if r.name == name and t.kind == "float"), None)


def of_types(tree: Any) -> Callable[[Scope, list[Any]], Any]:
    """A result of given types."""
    return lambda inner, refs: tree_map(inner.of_type, tree)


def next_state(inner: Scope, state: Any) -> Any:
    """A tree with the types of `state` that depends on it and on what the body computed."""

    def change(ref: Ref) -> Ref:
        leaf = inner.types[ref]
        if leaf.kind != "float":
            return inner.assign(f"{leaf.kind}_step", ref)

        def fits(t: Leaf) -> bool:
            n = len(leaf.shape) - len(t.shape)
            return n >= 0 and all(a in (1, b) for a, b in zip(t.shape, leaf.shape[n:], strict=True))

        return inner.assign("mix", ref, inner.pick(fits))

    return tree_map(change, state)


# ---- statements ------------------------------------------------------------------------------


def draw_statement(scope: Scope) -> None:
    """Append one statement, preceded by helpers where it needs them."""
    kind = scope.integer(0, 19)
    if scope.depth < 3 and kind in STRUCTURES:
        STRUCTURES[kind](scope)
    elif scope.axis is not None and kind >= 15:
        draw_collective(scope)
    else:
        draw_operation(scope)


def draw_operation(scope: Scope) -> None:
    """An operation of the table."""
    name = scope.choice((*DRAWN, *OFTEN))
    drawn = OPERATIONS[name].draw(scope)
    done = None
    if drawn is not None and None not in drawn[0]:
        done = scope.assign(name, *drawn[0], **drawn[1])
    if done is None:
        scope.assign("sin", scope.pick())


def draw_collective(scope: Scope) -> None:
    """A value shared by the lanes of the named axis."""
    assert scope.axis is not None
    axis, size = scope.axis
    arg = scope.pick()
    kind = scope.choice(("psum", "pmean", "all_gather", "ppermute", "axis_index"))
    leaf = scope.types[arg]
    if kind == "all_gather":
        leaf = replace(leaf, shape=(size, *leaf.shape))
    if leaf.size > LARGEST:
        return
    scope.add(p.Collective(scope.name("t"), kind, arg, axis, size), leaf)


def draw_branches(scope: Scope) -> None:
    """cond or switch."""
    is_cond = scope.boolean()
    args = tuple(scope.pick() for _ in range(scope.integer(0, 2)))
    selector = scope.pick(lambda t: t.shape == (), "bool" if is_cond else "int")
    if selector is None:
        if is_cond:
            selector = scope.assign("less", scope.of_type(Leaf(())))
        else:
            condition = scope.assign("less", scope.pick())
            selector = scope.assign("count", condition)
    params = [scope.types[ref] for ref in args]
    first, types, flags = draw_function(scope, params, (1, 3), any_result)
    functions = [first]
    for _ in range(1 if is_cond else scope.integer(0, 2)):
        other, _, more = draw_function(scope, params, (0, 2), of_types(types))
        functions.append(other)
        flags.meet(more)
    scope.flags.meet(flags)
    statement = p.Branches(scope.name("t"), selector, tuple(functions), args, is_cond)
    scope.add(statement, types)


def draw_scan(scope: Scope) -> None:
    """A scan with a carry, over rows of variables or a number of steps."""
    init = scope.tree(2)
    first = scope.pick(lambda t: len(t.shape) > 0 and t.shape[0] <= 3)
    xs: Any = ()
    length = scope.integer(1, 3)
    if first is not None:
        length = scope.types[first].shape[0]
        xs = nested(scope, [first])
        if scope.boolean():
            more = scope.pick(lambda t: t.shape[:1] == (length,))
            xs = nested(scope, [first, more])
    carry = tree_map(lambda ref: scope.types[ref], init)
    rows = tree_map(lambda ref: Leaf(scope.types[ref].shape[1:]), xs)

    def finish(inner: Scope, refs: list[Any]) -> Any:
        return (next_state(inner, refs[0]), inner.tree(2))

    body, types, flags = draw_function(scope, [carry, rows], (0, 3), finish, scope.axis)
    scope.flags.meet(flags)
    ys = tree_map(lambda t: replace(t, shape=(length, *t.shape)), types[1])
    if max(leaf.size for leaf in leaves(ys)) > LARGEST:
        return
    unroll = scope.integer(1, 2)
    statement = p.Scan(scope.name("t"), body, init, xs, length, scope.boolean(), unroll)
    scope.add(statement, (types[0], ys))


def draw_fori(scope: Scope) -> None:
    """A fori_loop with static bounds; its index scales the state."""
    init = scope.tree(2)
    carry = tree_map(lambda ref: scope.types[ref], init)

    def finish(inner: Scope, refs: list[Any]) -> Any:
        inner.assign("int_scale", refs[0], leaves(refs[1])[0])
        return next_state(inner, refs[1])

    body, types, flags = draw_function(scope, [Leaf((), "int"), carry], (0, 2), finish)
    scope.flags.meet(flags)
    lower = scope.integer(-1, 1)
    upper = lower + scope.integer(0, 3)
    scope.add(p.Fori(scope.name("t"), body, init, lower, upper), types)


def draw_while(scope: Scope) -> None:
    """A while_loop that depends on values and takes a few steps at most."""
    init = scope.tree(2)
    carry = tree_map(lambda ref: scope.types[ref], init)
    if leaves(carry)[0].kind != "float":
        return
    body, types, flags = draw_function(
        scope, [carry], (0, 2), lambda inner, refs: next_state(inner, refs[0])
    )
    scope.flags.meet(flags)
    limit = scope.integer(0, 3)
    max_steps = scope.choice((limit + 1, None))
    if max_steps is None:
        scope.flags.reverse = False
    bound = scope.choice((1.5, 0.4, 6.0))
    scope.add(p.While(scope.name("t"), body, init, limit, bound, max_steps), types)


def draw_apply(scope: Scope) -> None:
    """A transformed local function."""
    plan = scope.choice(("wrap", "batch", "named", "derivative", "custom"))
    axis = scope.axis if plan in ("wrap", "batch") else None
    args = [scope.tree(2) for _ in range(scope.integer(1, 2))]
    types = [tree_map(lambda ref: scope.types[ref], a) for a in args]
    axes: list[int | None] = [None] * len(args)
    size = 0
    if plan in ("batch", "named"):
        size, axes = batchable(scope, types)
        if not size:
            plan = "wrap"
        if plan == "named":
            axis = (scope.name("i"), size)
    inside = [without_axis(t, axis) for t, axis in zip(types, axes, strict=True)]
    closed = plan == "custom"
    f, result, flags = draw_function(scope, inside, (1, 3), any_result, axis, closed)
    cost = f.cost()
    before = stacks.Signature(
        tuple(inside), result, flags.forward, flags.reverse, closed=closed, cost=cost
    )
    steps: list[Any] = []
    if plan in ("batch", "named"):
        lowest = min(len(leaf.shape) for leaf in leaves(result))
        out_axes = scope.integer(-1, lowest)
        name = axis[0] if plan == "named" and axis else None
        steps.append(stacks.Vmap(before, tuple(axes), out_axes, size, name))
    elif plan in ("derivative", "custom"):
        add_step(scope, steps, before, plan)
    if plan == "wrap" or scope.boolean():
        add_step(scope, steps, steps[-1].after() if steps else before, "wrap")
    after = steps[-1].after() if steps else before
    given = [
        tree_map(scope.of_type, types_) if types_ != own else refs
        for types_, own, refs in zip(
            after.params, [*types, *[None] * 9], [*args, *[None] * 9], strict=False
        )
    ]
    scope.flags.meet(after)
    target = scope.name("t")
    scope.add(p.Apply(target, f, tuple(steps), tuple(given), after.cost), after.result)


def add_step(scope: Scope, steps: list[Any], before: stacks.Signature, plan: str) -> None:
    """Append a step if one of this plan applies."""
    step = draw_step(scope, before, plan, INNER_COST, LARGEST)
    if step is not None:
        steps.append(step)


def batchable(scope: Scope, types: list[Any]) -> tuple[int, list[int | None]]:
    """A size and, for each argument, an axis that all its leaves have with this size, or None."""
    shapes = [[leaf.shape for leaf in leaves(t)] for t in types]
    options = [
        (axis, shape[axis])
        for own in shapes
        for shape in own[:1]
        for axis in range(min(len(s) for s in own))
        if all(s[axis] == shape[axis] for s in own)
    ]
    if not options:
        return 0, [None] * len(types)
    size = scope.choice(options)[1]
    axes: list[int | None] = []
    for own in shapes:
        found = [
            axis for axis in range(min(len(s) for s in own)) if all(s[axis] == size for s in own)
        ]
        axes.append(scope.choice(found) if found else None)
    return size, axes


def without_axis(tree: Any, axis: int | None) -> Any:
    """Types with an axis removed."""
    if axis is None:
        return tree
    return tree_map(lambda t: replace(t, shape=(*t.shape[:axis], *t.shape[axis + 1 :])), tree)


STRUCTURES: dict[int, Callable[[Scope], None]] = {
    8: draw_branches,
    9: draw_scan,
    10: draw_branches,
    11: draw_scan,
    12: draw_fori,
    13: draw_while,
    14: draw_apply,
    15: draw_apply,
    16: draw_apply,
}


# ---- programs --------------------------------------------------------------------------------


def draw_program(scope: Scope, statements: tuple[int, int]) -> tuple[p.Function, stacks.Signature]:
    """A function of one to three trees of arrays."""
    params: list[Any] = [draw_types(scope) for _ in range(scope.integer(1, 3))]
    if not any(leaf.kind == "float" for leaf in leaves(params)):
        params.append(Leaf((2,)))
    f, result, flags = draw_function(scope, params, statements, any_result, closed=True)
    signature = stacks.Signature(tuple(params), result, flags.forward, flags.reverse, cost=f.cost())
    return f, signature


def draw_types(scope: Scope) -> Any:
    """The type of a parameter: mostly one float array."""
    kinds = ("float", "float", "float", "float", "float", "float", "int", "bool")
    count = scope.choice((1, 1, 1, 2))
    items = [Leaf(scope.choice(SHAPES), scope.choice(kinds)) for _ in range(count)]
    return nested(scope, items)
