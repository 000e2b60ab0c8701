"""The flags debug_nans and debug_infs: find the operation that made the first bad number."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import config, errors
from ..core.graph import Equation, Graph, Literal
from ..core.source import describe
from ..core.tracing import EVAL, interpreting
from ..ops.bounded_while import BoundedWhile
from ..ops.call import Call
from ..ops.callback import IO, quiet
from ..ops.cond import Cond
from ..ops.custom import CustomCall
from ..ops.scan import Scan
from ..ops.while_loop import While, while_parts
from ..runtime.array import Array
from ..runtime.transfer import as_array

_SHOWN = 8


class Culprit(NamedTuple):
    """An operation whose result has a bad number, and what it was applied to."""

    equation: Equation
    operands: list[Any]
    results: list[Any]


class NumberCheck:
    """Raises FloatingPointError if a result of a program has NaN (or infinite) entries.

    Args:
        name: of the program, for the message.
        graph: what the program computes.
        captured: values of the graph's leading inputs.
        eager: the program is one call of a public function: the user's line is that of the call,
            not the one that traced the program first.
    """

    def __init__(self, name: str, graph: Graph, captured: Sequence[Any] = (), eager: bool = False):
        self.eager = eager
        state = config.current()
        self.nans, self.infs = state.debug_nans, state.debug_infs
        self.name, self.graph, self.captured = name, graph, list(captured)

    def __call__(self, results: Sequence[Array], arguments: Sequence[Array]) -> None:
        for x in results:
            word = self.fault(x)
            if word is not None:
                raise FloatingPointError(self.message(word, x, arguments))

    def fault(self, x: Any) -> str | None:
        """What is wrong with the numbers of a value: "NaN", "infinity" or nothing."""
        if not isinstance(x, Array) or not x.type.inexact:
            return None
        if not x.is_fully_addressable:
            return None
        values = x._words()
        if self.nans and np.isnan(values).any():
            return "NaN"
        if self.infs and np.isinf(values).any():
            return "infinity"
        return None

    def message(self, word: str, result: Array, arguments: Sequence[Array]) -> str:
        """Text of the error, with the operation to blame if it can be found."""
        args = [*self.captured, *arguments]
        found = None
        if IO not in self.graph.effects and not any(x.is_deleted() for x in args):
            # Operation by operation, with the flags off.
            off = {"debug_nans": False, "debug_infs": False, "debug_key_reuse": False}
            with config.replace(**off), interpreting(EVAL):
                found = self.search(quiet(self.graph), args)
        if found is None:
            return errors.explain(self.name, f"the result contains {word}", {"result": result.type})
        eq = found.equation
        operands = found.operands
        shown = {f"operand {i}": _Shown(x) for i, x in enumerate(operands)}
        for i, x in enumerate(found.results):
            shown["result" if len(found.results) == 1 else f"result {i}"] = _Shown(x)
        line = None if eq.source is None or self.eager else describe(eq.source)
        what = f"{eq.op.name} made the first {word}"
        if any(self.fault(x) for x in operands):
            what = f"{eq.op.name} was given {word} and passed it on"
        return errors.explain(self.name, what, shown, line=line)

    # ---- operation by operation --------------------------------------------------------------

    def search(self, graph: Graph, args: Sequence[Any]) -> Culprit | None:
        """The first equation of a graph that makes a bad number."""
        env: dict[Any, Any] = dict(zip(graph.inputs, args, strict=True))
        for eq in graph.equations:
            values = [a.value if type(a) is Literal else env[a] for a in eq.inputs]
            found = EVAL.apply(eq.op, values)
            results = found if eq.op.multi else [found]
            if any(self.fault(x) for x in results):
                return self.inside(eq.op, values) or Culprit(eq, values, results)
            env.update(zip(eq.outputs, results, strict=True))
        return None

    def inside(self, op: Any, values: list[Any]) -> Culprit | None:
        """The culprit inside an operation that holds graphs."""
        if isinstance(op, (Call, CustomCall)):
            return self.search(op.graph, values)
        if isinstance(op, Cond):
            return self.search(op.branches[int(values[0])], values[1:])
        if isinstance(op, Scan):
            return self.inside_scan(op, values)
        if isinstance(op, (While, BoundedWhile)):
            return self.inside_while(op, values)
        return None

    def inside_scan(self, op: Scan, values: list[Any]) -> Culprit | None:
        """The culprit in the first step of a loop that goes wrong."""
        consts, carry, xs = op.parts([as_array(x) for x in values])
        steps = range(int(values[0]) if op.counted else op.length)
        for i in reversed(steps) if op.reverse else steps:
            args = [*consts, *carry, *(x[i] for x in xs)]
            found = self.search(op.body, args)
            if found is not None:
                return found
            carry = op.body.run(EVAL.apply, args)[: op.n_carry]
        return None

    def inside_while(self, op: While | BoundedWhile, values: list[Any]) -> Culprit | None:
        """The culprit in the first step of a loop that goes wrong."""
        c_consts, b_consts, carry = while_parts(op, values)
        steps = itertools.count() if isinstance(op, While) else range(op.max_steps)
        for _ in steps:
            found = self.search(op.condition, [*c_consts, *carry])
            if found is not None:
                return found
            if not op.condition.run(EVAL.apply, [*c_consts, *carry])[0]:
                return None
            args = [*b_consts, *carry]
            found = self.search(op.body, args)
            if found is not None:
                return found
            carry = op.body.run(EVAL.apply, args)
        return None


class _Shown:
    """A value in a message: its type and its first numbers."""

    def __init__(self, x: Any):
        self.x = x

    def __repr__(self) -> str:
        x = self.x
        if not isinstance(x, Array):
            return repr(x)
        if x.type.kind == "k":
            return repr(x.type)
        flat = x._words().reshape(-1)
        numbers = ", ".join(str(v) for v in flat[:_SHOWN])
        if not x.type.ndim:
            return f"{x.type!r} = {numbers}"
        more = ", ..." if flat.size > _SHOWN else ""
        return f"{x.type!r} = [{numbers}{more}]"
