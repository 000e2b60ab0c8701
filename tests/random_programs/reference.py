"""The slow reference: programs in NumPy, one element of a batch and one step after another.

All floats are `numpy.longdouble`; derivatives are central differences of sixth order, nested for
derivatives of derivatives. There is no derivative rule, no batching rule and no tracing in it.

Programs are compared only where the derivative exists: whatever decides something (the order of a
sort, a branch, the sign under `abs`) is recorded, and an example is discarded (`Unsuitable`) if
decisions are close or differ between the points of a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from tests.random_programs import program as p
from tests.random_programs.operations import OPERATIONS
from tests.random_programs.trees import Ref, leaves, tree_map, unflatten

WIDE = numpy.longdouble
STEP = WIDE(2) ** -9
SIXTH = (WIDE(45) / 60, WIDE(-9) / 60, WIDE(1) / 60)
FOURTH = (WIDE(8) / 12, WIDE(-1) / 12, WIDE(0))
MARGIN = 1e-3
LARGEST = 1e3
SMOOTH = 2e-6
"""Fourth- and sixth-order differences must agree so well; the error of the latter is far less."""


class Unsuitable(Exception):
    """The example is near a kink, or its numbers grow too large, to be compared."""


class Pending(Exception):
    """A lane of a batch waits for the others at a collective."""


def is_float(x: Any) -> bool:
    """Whether an array is of the reference's float type."""
    return x.dtype.kind == "f"


class Reference:
    """Evaluates programs."""

    def __init__(self, strict: bool = True) -> None:
        self.strict = strict
        self.trace: list[bytes] = []
        self.lanes: dict[str, _Lanes] = {}

    def decide(self, margins: Any, decision: Any) -> None:
        """Record a decision and how far it is from another one."""
        if self.strict:
            margins = numpy.abs(margins)
            if margins.size and margins.min() < MARGIN:
                raise Unsuitable("near a kink")
        self.trace.append(numpy.asarray(decision).tobytes())

    # ---- programs ----------------------------------------------------------------------------

    def call(self, function: Any, outer: dict[str, Any], args: Any) -> Any:
        """The result of a function of the program."""
        env = dict(outer)
        for (name, _), value in zip(function.params, args, strict=True):
            env[name] = value
        for statement in function.body:
            env[statement.target] = RUN[type(statement)](self, statement, env)
        return tree_map(lambda ref: look_up(ref, env), function.result)

    def function(self, function: Any, outer: dict[str, Any]) -> Callable[..., Any]:
        """The function as a callable."""
        return lambda *args: self.call(function, outer, args)

    def checked(self, x: Any) -> Any:
        """A result of an operation as an array of the reference, not too large."""
        x = numpy.asarray(x)
        if x.dtype.kind == "f":
            x = x.astype(WIDE, copy=False)
        if self.strict and x.size and not numpy.abs(x).max() < LARGEST:
            raise Unsuitable("too large")
        return x

    # ---- derivatives -------------------------------------------------------------------------

    def along(self, f: Callable[..., Any], args: tuple[Any, ...], tangents: Any) -> Any:
        """d/dt f(args + t tangents) at 0, as a tree like the result (None for ints and bools).

        `tangents` is a list with an array or None for each leaf of `args`.
        """
        flat = leaves(args)
        results, traces = [], []
        outer, self.trace = self.trace, []
        for k in (1, 2, 3, -1, -2, -3):
            self.trace = []
            moved = [
                x if v is None else x + k * STEP * v for x, v in zip(flat, tangents, strict=True)
            ]
            results.append(f(*unflatten(args, moved)))
            traces.append(self.trace)
        self.trace = outer
        if any(t != traces[0] for t in traces):
            raise Unsuitable("across a kink")
        self.trace.extend(traces[0])
        return tree_map(self.difference, *results)

    def difference(self, *points: Any) -> Any:
        """The derivative from values at 1, 2, 3, -1, -2, -3 steps."""
        if not is_float(points[0]):
            return None
        odd = [points[k] - points[k + 3] for k in range(3)]
        best = sum(w * d for w, d in zip(SIXTH, odd, strict=True)) / STEP
        other = sum(w * d for w, d in zip(FOURTH, odd, strict=True)) / STEP
        if best.size:
            scale = 1 + numpy.abs(best).max()
            if self.strict and not (numpy.abs(best - other).max() < SMOOTH * scale < LARGEST):
                raise Unsuitable("not smooth enough for differences")
        return best

    def partials(self, f: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...]) -> Any:
        """[(leaf, element, derivative tree)] for each element of the arguments `wrt`."""
        flat, at = leaves(args), 0
        found = []
        for position, arg in enumerate(args):
            for leaf in leaves(arg):
                if position in wrt and is_float(leaf):
                    for element in numpy.ndindex(leaf.shape):
                        unit = numpy.zeros_like(leaf)
                        unit[element] = 1
                        tangents: list[Any] = [None] * len(flat)
                        tangents[at] = unit
                        found.append((at, element, self.along(f, args, tangents)))
                at += 1
        return found


def look_up(ref: Ref, env: dict[str, Any]) -> Any:
    """The value of a reference."""
    value = env[ref.name]
    for key in ref.path:
        value = value[key]
    return value


def look_up_tree(tree: Any, env: dict[str, Any]) -> Any:
    """The values of a tree of references."""
    return tree_map(lambda ref: look_up(ref, env), tree)


# ---- statements ------------------------------------------------------------------------------


def run_assign(reference: Reference, s: p.Assign, env: dict[str, Any]) -> Any:
    """An operation."""
    args = [look_up(ref, env) for ref in s.args]
    return reference.checked(OPERATIONS[s.op].numpy(reference, *args, **s.options))


def run_apply(reference: Reference, s: p.Apply, env: dict[str, Any]) -> Any:
    """A transformed function."""
    f = reference.function(s.function, env)
    for step in s.stack:
        f = step.reference(f, reference)
    return f(*(look_up_tree(a, env) for a in s.args))


def run_branches(reference: Reference, s: p.Branches, env: dict[str, Any]) -> Any:
    """One of the branches; indices of switch are clamped."""
    selector = look_up(s.selector, env)
    chosen = min(max(int(selector), 0), len(s.functions) - 1)
    return reference.call(s.functions[chosen], env, [look_up(ref, env) for ref in s.args])


def run_scan(reference: Reference, s: p.Scan, env: dict[str, Any]) -> Any:
    """A Python loop that collects the rows."""
    carry, xs = look_up_tree(s.init, env), look_up_tree(s.xs, env)
    return scan(reference.function(s.body, env), carry, xs, s.length, s.reverse)


def scan(body: Callable[..., Any], carry: Any, xs: Any, length: int, reverse: bool) -> Any:
    """lax.scan in Python."""
    rows: list[Any] = []
    steps = range(length)
    for i in reversed(steps) if reverse else steps:
        carry, y = body(carry, tree_map(lambda x, i=i: x[i], xs))
        rows.append(y)
    if reverse:
        rows.reverse()
    return carry, tree_map(lambda *row: numpy.stack(row), *rows)


def run_fori(reference: Reference, s: p.Fori, env: dict[str, Any]) -> Any:
    """A Python loop."""
    value = look_up_tree(s.init, env)
    for i in range(s.lower, s.upper):
        value = reference.call(s.body, env, (numpy.asarray(i), value))
    return value


def run_while(reference: Reference, s: p.While, env: dict[str, Any]) -> Any:
    """A Python loop."""
    value = look_up_tree(s.init, env)
    for _ in range(s.limit):
        total = numpy.sum(leaves(value)[0])
        reference.decide(total - s.bound, total < s.bound)
        if not total < s.bound:
            break
        value = reference.call(s.body, env, (value,))
    return value


# ---- batches with a named axis ---------------------------------------------------------------


class _Lanes:
    """What the lanes of one batch have sent so far."""

    def __init__(self) -> None:
        self.known: list[list[Any]] = []
        self.lane = 0
        self.position = 0


def named_lanes(reference: Reference, axis: str, lanes: list[Callable[[], Any]]) -> list[Any]:
    """Run lanes that communicate: each is started again once the others have sent their values."""
    state = _Lanes()
    before = reference.lanes.get(axis)
    reference.lanes[axis] = state
    start = len(reference.trace)
    try:
        while True:
            results, sent = [], []
            del reference.trace[start:]
            for lane, run in enumerate(lanes):
                state.lane, state.position = lane, 0
                try:
                    results.append(run())
                except Pending as waiting:
                    sent.append(waiting.args[0])
            if not sent:
                return results
            state.known.append(sent)
    finally:
        if before is None:
            del reference.lanes[axis]
        else:
            reference.lanes[axis] = before


def run_collective(reference: Reference, s: p.Collective, env: dict[str, Any]) -> Any:
    """A value that depends on all lanes."""
    state = reference.lanes[s.axis]
    value = look_up(s.arg, env)
    if s.kind == "axis_index":
        return reference.checked(value * (1 + state.lane))
    if state.position == len(state.known):
        raise Pending(value)
    values, lane = state.known[state.position], state.lane
    state.position += 1
    if s.kind == "all_gather":
        return numpy.stack(values)
    if s.kind == "ppermute":
        return values[lane - 1]
    total = sum(values)
    return reference.checked(total / len(values) if s.kind == "pmean" else total)


RUN: dict[type, Callable[..., Any]] = {
    p.Assign: run_assign,
    p.Apply: run_apply,
    p.Branches: run_branches,
    p.Scan: run_scan,
    p.Fori: run_fori,
    p.While: run_while,
    p.Collective: run_collective,
}
