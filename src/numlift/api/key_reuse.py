"""The flag debug_key_reuse: find random keys that are consumed twice.

`KeyFlow` follows the identities of keys (`runtime.key_marks`) through a graph. Operations that move
keys are applied to the identities themselves; sampling and splitting consume; everything else makes
new keys. Where it is unknown which key it is (an index that is not known, a choice), the result
counts as a new key, so that no use is called a reuse without reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .. import config, errors
from ..core.graph import Equation, Graph, Literal
from ..core.source import locate
from ..core.tracing import EVAL, interpreting
from ..ops.bounded_while import BoundedWhile
from ..ops.call import Call, HigherOrder
from ..ops.cond import Cond
from ..ops.custom import CustomCall
from ..ops.elementwise_misc import OptimizationBarrier
from ..ops.placing import Place
from ..ops.random import KeyOp, RandomBits, RandomSplit
from ..ops.remat import Again, Name
from ..ops.resharding import Constrain, HideAxes, Reshard
from ..ops.scan import Scan
from ..ops.while_loop import While, while_parts
from ..runtime import key_marks
from ..runtime.array import Array
from ..runtime.key_marks import fresh

_CONSUMERS = {RandomSplit: "random.split", RandomBits: "random.bits"}
_IDENTITIES = (Place, Name, Constrain, HideAxes, Reshard)
_SMALL = 1024


_PUBLIC = {"_unit": "uniform", "_numbers": "permutation"}
"""Programs of random functions whose names differ from the function that users call."""


class Term:
    """A value that is no key: equal terms are equal values. `make` computes it, if it is known."""

    __slots__ = ("value", "make")

    def __init__(self, value: Any = None, make: Any = None):
        self.value, self.make = value, make


Flowing: TypeAlias = Term | np.ndarray
"""What stands for a value: identities if it holds keys, else a term."""


def has_keys(graph: Graph) -> bool:
    """Whether keys occur in a graph whose identities can be followed (sizes are numbers)."""

    def found() -> bool:
        types = [*graph.in_types, *(v.type for eq in graph.equations for v in eq.outputs)]
        keys = [t for t in types if t.kind == "k"]
        if any(type(n) is not int for t in keys for n in t.shape):
            return False
        inner = [g for eq in graph.equations if isinstance(eq.op, HigherOrder)
                 for g in eq.op.graphs()]  # fmt: skip
        return bool(keys) or any(map(has_keys, inner))

    return graph.cached("has keys", found)


class KeyFlow:
    """One pass over a graph.

    Attributes:
        name: the function, for messages.
        call: the line that calls the program; None while a function is traced.
        eager: the program is one public function: a use is at the line of the call.
        uses: identity -> where the key was consumed in this pass.
    """

    def __init__(self, name: str, call: str | None = None, eager: bool = False):
        self.name = _PUBLIC.get(name, name.lstrip("_"))
        self.call, self.eager = call, eager
        self.uses: dict[int, str] = {}
        self.terms: dict[Any, Any] = {}

    # ---- values ------------------------------------------------------------------------------

    def value_of(self, x: Flowing) -> np.ndarray | None:
        """What is known of a value that is no key; None if nothing."""
        if isinstance(x, np.ndarray):
            return None
        if x.value is None and x.make is not None:
            make, inputs = x.make
            x.make = None
            values = [self.value_of(y) for y in inputs]
            if all(v is not None for v in values):
                x.value = np.asarray(make(values))
        return x.value

    def literal(self, atom: Literal) -> Term:
        """The term of a number in a graph."""
        value = np.asarray(atom.value).astype(atom.type.dtype)
        key = ("literal", atom.type, value.tobytes())
        return self.terms.setdefault(key, Term(value))

    # ---- uses --------------------------------------------------------------------------------

    def consume(self, keys: np.ndarray, what: str, eq: Equation) -> None:
        """Note that an equation uses keys up.

        Raises:
            KeyReuseError: one was used before.
        """
        if self.eager and not self.name.startswith("random_"):
            what = f"random.{self.name}"
        where = f"{what}, {self.place(eq)}"
        for number in dict.fromkeys(keys.ravel().tolist()):
            before = self.uses.get(number) or key_marks.used.get(number)
            if before is not None:
                raise self.reused(before, where)
            self.uses[number] = where

    def place(self, eq: Equation) -> str:
        """Where an equation is in the user's program."""
        place = None if self.eager else locate(eq.source)
        if place is None:
            return self.call or "unknown place"
        line = errors.source_line(place.filename, place.line)
        return line if self.call is None or self.call == line else f"{line}, called at {self.call}"

    def reused(self, first: str, second: str) -> errors.KeyReuseError:
        """The error for a second use."""
        rule = "a random key was consumed twice: both uses give the same random numbers"
        if first == second:
            rule = (
                "a random key was consumed twice by the same line, perhaps in a later step or call"
            )
        return errors.KeyReuseError(
            errors.explain(
                self.name,
                rule,
                {"first use": first, "second use": second},
                line=self.call,
                try_="key, subkey = nl.random.split(key), and use each once "
                "(nl.random.clone(key) if the same numbers are wanted)",
            )
        )

    # ---- graphs ------------------------------------------------------------------------------

    def run(self, graph: Graph, inputs: Sequence[Flowing]) -> list[Flowing]:
        """Follow keys through a graph."""
        env: dict[Any, Flowing] = dict(zip(graph.inputs, inputs, strict=True))
        for eq in graph.equations:
            given = [self.literal(a) if type(a) is Literal else env[a] for a in eq.inputs]
            env.update(zip(eq.outputs, self.step(eq, given), strict=True))
        return [self.literal(a) if type(a) is Literal else env[a] for a in graph.outputs]

    def step(self, eq: Equation, given: list[Flowing]) -> list[Flowing]:
        """What the results of an equation are."""
        op: Any = eq.op
        if isinstance(op, HigherOrder):
            if any(map(has_keys, op.graphs())) and not isinstance(op, Again):
                return self.inside(op, given, eq)
            return self.unknown(eq)
        if isinstance(op, KeyOp):
            consumer = _CONSUMERS.get(type(op)) or getattr(op, "consumer", None)
            if consumer is not None:
                self.consume(_keys(given[0]), consumer, eq)
            return self.unknown(eq)
        if isinstance(op, OptimizationBarrier):
            # What a gradient computes again starts behind a barrier, and uses the same keys.
            return [fresh(x.shape) if isinstance(x, np.ndarray) else x for x in given]
        if isinstance(op, _IDENTITIES):
            return given
        if op.effects:
            return self.unknown(eq)
        key = (op, *[(x.shape, x.tobytes()) if isinstance(x, np.ndarray) else x for x in given])
        found = self.terms.get(key)
        if found is None:
            if any(v.type.kind == "k" for v in eq.outputs):
                found = self.moved(eq, given)
            else:
                found = self.unknown(eq)
                if not op.multi and eq.outputs[0].type.size <= _SMALL:
                    found[0].make = (partial(_evaluate, op), given)
            self.terms[key] = found
        return found

    def unknown(self, eq: Equation) -> list[Any]:
        """New keys and values."""
        return [fresh(v.type.shape) if v.type.kind == "k" else Term() for v in eq.outputs]

    def moved(self, eq: Equation, given: list[Flowing]) -> list[Any]:
        """Results of an operation that moves keys: it is applied to their positions."""
        values: list[Any] = []
        numbers = [np.zeros(0, np.int64)]
        n = 0
        for x in given:
            if isinstance(x, np.ndarray):
                values.append(np.arange(n, n + x.size, dtype=np.int32).reshape(x.shape))
                numbers.append(x.ravel())
                n += x.size
            else:
                values.append(self.value_of(x))
        if not n or any(v is None for v in values):
            return self.unknown(eq)
        try:
            found = _evaluate(eq.op, values)
        except (errors.NumliftError, NotImplementedError):
            # It has no meaning for positions, so where its keys come from is not known: they
            # count as new ones. A use may then go unnoticed, but no correct program is refused.
            return self.unknown(eq)
        table = np.concatenate(numbers)
        out: list[Any] = []
        for v, x in zip(eq.outputs, found if eq.op.multi else [found], strict=True):
            if v.type.kind != "k":
                out.append(Term())
                continue
            at = np.asarray(x)
            inside = (at >= 0) & (at < n)  # elsewhere it is a fill value
            new = fresh(at.shape)
            out.append(np.where(inside, table[np.where(inside, at, 0)], new))
        return out

    # ---- operations with graphs --------------------------------------------------------------

    def inside(self, op: Any, given: list[Flowing], eq: Equation) -> list[Flowing]:
        """What the results of an operation with graphs are."""
        if isinstance(op, (Call, CustomCall)):
            return self.run(op.graph, given)
        if isinstance(op, Cond):
            return self.branches(op, given, eq)
        if isinstance(op, Scan):
            return self.scan(op, given, eq)
        if isinstance(op, (While, BoundedWhile)):
            return self.loop(op, given, eq)
        return self.unknown(eq)

    def branches(self, op: Cond, given: list[Flowing], eq: Equation) -> list[Flowing]:
        """One branch runs; which is often unknown: afterwards keys of all branches are used."""
        index = self.value_of(given[0])
        if index is not None:
            return self.run(op.branches[int(index)], given[1:])
        before = self.uses
        after: dict[int, str] = {}
        results = []
        for branch in op.branches:
            self.uses = dict(before)
            results.append(self.run(branch, given[1:]))
            after.update(self.uses)
        self.uses = after
        return [self.merged(column) for column in zip(*results, strict=True)]

    def merged(self, column: Sequence[Flowing]) -> Flowing:
        """One of several values; keys that may have been used count as used."""
        first = column[0]
        if not isinstance(first, np.ndarray):
            return first if all(x is first for x in column) else Term()
        same = np.all([x == first for x in column], axis=0)
        return np.where(same, first, self.renewed(*map(_keys, column)))

    def renewed(self, *column: np.ndarray) -> np.ndarray:
        """New identities, used where one of the given ones is."""
        made = fresh(column[0].shape)
        for keys in column:
            for old, new in zip(keys.ravel().tolist(), made.ravel().tolist(), strict=True):
                if old in self.uses:
                    self.uses[new] = self.uses[old]
        return made

    def scan(self, op: Scan, given: list[Flowing], eq: Equation) -> list[Flowing]:
        """The first steps of a loop; later ones do the same to their own inputs."""
        consts, carry, xs = op.parts(given)
        steps = range(op.length)[:: -1 if op.reverse else 1]
        taken = steps[: _steps_to_see(carry)]
        start, ys = carry, []
        for i in taken:
            seen = set(self.uses)
            rows: list[Flowing] = [
                np.asarray(x[i]) if isinstance(x, np.ndarray) else Term() for x in xs
            ]
            outs = self.run(op.body, [*consts, *carry, *rows])
            carry = outs[: op.n_carry]
            ys.append(outs[op.n_carry :])
        if len(taken) == len(steps):
            stacked = [self.stack(op, column) for column in zip(*ys, strict=True)]
            return [*carry, *stacked] if ys else [*carry, *self.unknown(eq)[op.n_carry :]]
        for x, row in zip(xs, rows, strict=True):
            if isinstance(x, np.ndarray) and isinstance(row, np.ndarray):
                self.consume_rest(x, row, steps[len(taken) :], seen)
        later = [
            np.broadcast_to(y, (op.length, *y.shape)) if isinstance(y, np.ndarray) else y
            for y in ys[-1]
        ]
        return [*self.after_loop(start, carry), *self.after_loop([Term()] * len(later), later)]

    def stack(self, op: Scan, column: Sequence[Flowing]) -> Flowing:
        """A result by step, in the order of the steps."""
        if not isinstance(column[0], np.ndarray):
            return Term()
        return np.stack([_keys(x) for x in column[:: -1 if op.reverse else 1]])

    def consume_rest(
        self, x: np.ndarray, row: np.ndarray, steps: Sequence[int], seen: set[int]
    ) -> None:
        """Later steps use those elements of their row that the last one seen used of its own."""
        where = [None if n in seen else self.uses.get(n) for n in row.ravel().tolist()]
        for i in steps:
            for number, use in zip(x[i].ravel().tolist(), where, strict=True):
                if use is not None:
                    before = self.uses.get(number) or key_marks.used.get(number)
                    if before is not None:
                        raise self.reused(before, use)
                    self.uses[number] = use

    def loop(self, op: While | BoundedWhile, given: list[Flowing], eq: Equation) -> list[Flowing]:
        """The first steps of a loop, as if it took that many."""
        c_consts, b_consts, start = while_parts(op, given)
        carry = start
        for _ in range(_steps_to_see(start)):
            self.run(op.condition, [*c_consts, *carry])
            carry = self.run(op.body, [*b_consts, *carry])
        self.run(op.condition, [*c_consts, *carry])
        rest = self.unknown(eq)[len(carry) :]
        return [*self.after_loop(start, carry), *rest]

    def after_loop(self, start: Sequence[Flowing], end: Sequence[Flowing]) -> list[Flowing]:
        """Carries after an unknown number of steps: those that stay, and new ones."""
        out: list[Flowing] = []
        for a, b in zip(start, end, strict=True):
            if not isinstance(b, np.ndarray):
                out.append(b if a is b else Term())
            elif isinstance(a, np.ndarray):
                out.append(self.merged([a, b]))
            else:
                out.append(self.renewed(b))
        return out


def _keys(x: Flowing) -> np.ndarray:
    assert isinstance(x, np.ndarray)
    return x


def _steps_to_see(carry: Sequence[Flowing]) -> int:
    """Steps after which a loop does nothing new: keys move by one place of the carry a step."""
    return 2 + sum(isinstance(x, np.ndarray) for x in carry)


def _evaluate(op: Any, values: Sequence[Any]) -> Any:
    """Apply an operation to NumPy arrays."""
    with config.replace(debug_key_reuse=False, debug_nans=False), interpreting(EVAL):
        return EVAL.apply(op, list(values))


def _inputs(flow: KeyFlow, values: Sequence[Any], types: Sequence[Any]) -> list[Flowing]:
    """What stands for arguments; keys that are no arrays (tracers) are new."""
    found: list[Flowing] = []
    for x, t in zip(values, types, strict=True):
        if t.kind == "k":
            found.append(key_marks.identities(x) if isinstance(x, Array) else fresh(t.shape))
        elif isinstance(x, np.ndarray):
            found.append(Term(x))
        elif isinstance(x, Array) and t.size <= _SMALL and x.is_fully_addressable:
            found.append(Term(None, (lambda _, x=x: x._numpy(), ())))
        else:
            found.append(Term())
    return found


class KeyCheck:
    """Follows keys through each call of a program; runs after it, on arguments and results.

    Args:
        name: of the program, for the message.
        graph: what the program computes.
        captured: values of the graph's leading inputs.
        eager: the program is one call of a public function.
    """

    def __init__(self, name: str, graph: Graph, captured: Sequence[Any] = (), eager: bool = False):
        self.name, self.graph, self.captured, self.eager = name, graph, list(captured), eager

    def __call__(self, results: Sequence[Array], arguments: Sequence[Array]) -> None:
        flow = KeyFlow(self.name, errors.locate(), self.eager)
        given = _inputs(flow, [*self.captured, *arguments], self.graph.in_types)
        found = flow.run(self.graph, given)
        for x, keys in zip(results, found, strict=True):
            if isinstance(keys, np.ndarray):
                key_marks.set_identities(x, keys)
        key_marks.consume(flow.uses.items())


def check_keys(graph: Graph, captured: Sequence[Any], name: str) -> None:
    """Raise if a traced function consumes a key twice, whatever its arguments are.

    Raises:
        KeyReuseError: it does.
    """
    if has_keys(graph):
        n = len(graph.inputs) - len(captured)
        flow = KeyFlow(name)
        flow.run(graph, _inputs(flow, [*captured, *[None] * n], graph.in_types))


__all__ = ["KeyCheck", "KeyFlow", "check_keys", "has_keys"]
