"""Draws one transformation that applies to a function of a given signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.random_programs import stacks
from tests.random_programs.stacks import Signature, Step, elements
from tests.random_programs.trees import all_floats, leaves

Maker = Callable[[Any, Signature], Step | None]


def float_params(before: Signature) -> list[int]:
    """Positions of parameters that are floats throughout."""
    return [i for i, tree in enumerate(before.params) if leaves(tree) and all_floats(tree)]


def some_of(scope: Any, positions: list[int]) -> tuple[int, ...]:
    """A part of the positions, not empty."""
    kept = [i for i in positions if scope.boolean()]
    return tuple(kept or positions[:1])


def draw_argnums(scope: Any, before: Signature) -> Any:
    """argnums: an int or a tuple; None if no parameter can be differentiated."""
    positions = float_params(before)
    if not positions:
        return None
    if scope.boolean():
        return scope.choice(positions)
    return some_of(scope, positions)


def has_float(before: Signature) -> bool:
    """Whether some leaf of the result is a float."""
    return any(leaf.kind == "float" for leaf in leaves(before.result))


def smooth(before: Signature) -> bool:
    """Whether all of the result is floats."""
    return all_floats(before.result)


def wrap(scope: Any, b: Signature) -> Step | None:
    """jit, checkpoint."""
    return stacks.Wrap(b, scope.choice(stacks.WRAPPERS))


def custom(scope: Any, b: Signature) -> Step | None:
    """custom_jvp, custom_vjp."""
    if not (b.closed and smooth(b) and all_floats(b.params)):
        return None
    if b.reverse and (b.forward or b.consumed) and scope.boolean():
        return stacks.CustomVjp(b)
    return stacks.CustomJvp(b) if b.forward else None


def vmap(scope: Any, b: Signature) -> Step | None:
    """vmap with random axes."""
    axes: list[int | None] = []
    for tree in b.params:
        lowest = min(len(leaf.shape) for leaf in leaves(tree)) if leaves(tree) else 0
        axes.append(scope.choice((0, None, -1, *range(1, lowest + 1))))
    if all(axis is None for axis in axes):
        axes[0] = 0
    lowest = min(len(leaf.shape) for leaf in leaves(b.result))
    out_axes = scope.choice((0, -1, *range(1, lowest + 1)))
    return stacks.Vmap(b, tuple(axes), out_axes, scope.integer(1, 3))


def scan_of(scope: Any, b: Signature) -> Step | None:
    """A scan over some parameters."""
    if not has_float(b):
        return None
    mapped = some_of(scope, list(range(len(b.params))))
    return stacks.ScanOf(b, mapped, scope.integer(1, 3), scope.boolean())


def map_over(scope: Any, b: Signature) -> Step | None:
    """lax.map over all parameters."""
    return stacks.Map(b, scope.integer(1, 3), scope.choice((None, None, 2)))


def grad(scope: Any, b: Signature) -> Step | None:
    """grad, value_and_grad."""
    argnums = draw_argnums(scope, b)
    if argnums is None or not (b.reverse and has_float(b)):
        return None
    return stacks.Grad(b, argnums, scope.boolean())


def jacobian(scope: Any, b: Signature) -> Step | None:
    """jacfwd, jacrev."""
    argnums = draw_argnums(scope, b)
    names = ["jacfwd"] * b.forward + ["jacrev"] * b.reverse
    if argnums is None or not (smooth(b) and names):
        return None
    return stacks.Jacobian(b, argnums, scope.choice(names))


def hessian(scope: Any, b: Signature) -> Step | None:
    """hessian."""
    argnums = draw_argnums(scope, b)
    if argnums is None or not (has_float(b) and b.reverse and (b.forward or b.consumed)):
        return None
    return stacks.Hessian(b, argnums)


def directional(scope: Any, b: Signature) -> Step | None:
    """jvp, linearize, hvp."""
    positions = float_params(b)
    name = scope.choice(("jvp", "linearize", "hvp"))
    if not positions:
        return None
    if name == "hvp" and not (has_float(b) and b.reverse and (b.forward or b.consumed)):
        return None
    if name != "hvp" and not (smooth(b) and b.forward):
        return None
    return stacks.Directional(b, some_of(scope, positions), name)


def pullback(scope: Any, b: Signature) -> Step | None:
    """vjp, linear_transpose."""
    positions = float_params(b)
    if not positions or not (smooth(b) and b.reverse):
        return None
    name = scope.choice(("vjp", "linear_transpose") if b.forward else ("vjp",))
    return stacks.Pullback(b, some_of(scope, positions), name)


def jet(scope: Any, b: Signature) -> Step | None:
    """jet."""
    ok = b.forward and smooth(b) and all_floats(b.params)
    return stacks.Jet(b) if ok else None


def graph_of(scope: Any, b: Signature) -> Step | None:
    """make_jaxpr and evaluate."""
    return stacks.GraphOf(b) if b.closed else None


PLANS: dict[str, tuple[Maker, ...]] = {
    "wrap": (wrap,),
    "custom": (custom,),
    "derivative": (grad, jacobian, directional, pullback),
    "reverse": (grad, grad, pullback, hessian),
    "any": (
        *(wrap, vmap, grad, jacobian, directional, pullback, vmap, scan_of, map_over),
        *(hessian, custom, jet, graph_of),
    ),
}


def draw_step(scope: Any, before: Signature, plan: str, cost: int, size: int) -> Step | None:
    """A step that applies, whose reference is cheap enough and whose arrays are small; or None."""
    if not leaves(before.params):
        return None
    step = scope.choice(PLANS[plan])(scope, before)
    if step is None:
        return None
    after = step.after()
    largest = max(leaf.size for leaf in (*leaves(after.params), *leaves(after.result)))
    if after.cost > cost or largest > size or elements(after.params) > 3 * size:
        return None
    return step
