"""Taylor mode: values travel with their derivatives of every order along a curve.

A `Series` stands for x(t) near t = 0; its k-th term is the k-th derivative there. For an operation
y = op(x), the rule for first derivatives gives y'(t) = J(x(t)) x'(t). Run under this interpreter
with x' as another series (the terms of x from the first on), the same rule gives *all* derivatives
of y', so every operation that has a `jvp` rule has all orders. Terms are made when asked for, and
equal operations on the same operands are one series: in exp(x)' = exp(x) x' the first factor is the
series being defined, of which fewer terms are needed. That keeps the work polynomial in the order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core.op import Op
from ..core.source import Source
from ..core.tracing import Interpreter, Tracer, apply, current, interpreting, type_of
from ..structural.arith import add, mul, neg, sub
from ..structural.families import LinearUnary, Structural
from .jvp import instantiate, tangent_type

bilinear: set[type] = {type(mul)}
"""Classes of operations linear in each of two operands: Leibniz' rule gives all their terms."""
quotients: set[type] = set()
"""Classes of operations z = x / y: the terms of z y = x give those of z."""
inlined: set[type] = set()
"""Classes of operations that run their `graph` as it is."""
Terms = list[Any] | None
"""The terms 1 to n of a value; None if all are zero, as is a term None."""
by_graph: dict[type, Callable[..., tuple[list[Any], list[Terms]]]] = {}
"""Rules of operations that hold graphs: (op, order, values, terms) -> values and terms."""


class Series(Tracer):
    """A value along a curve: `term(k)` is its k-th derivative, None if that is zero."""

    __slots__ = ("terms", "more")
    owner: Jet

    def __init__(self, owner: Jet, first: Any, more: Callable[[int], Any]):
        self.owner, self.type = owner, type_of(first)
        self.terms, self.more = [first], more

    def term(self, k: int) -> Any:
        """The k-th derivative; all lower ones are made before it."""
        while len(self.terms) <= k:
            self.terms.append(self.more(len(self.terms)))
        return self.terms[k]

    def concrete(self) -> Any:
        x = self.terms[0]
        return x.concrete() if isinstance(x, Tracer) else x

    def origin(self) -> Source | None:
        x = self.terms[0]
        return x.origin() if isinstance(x, Tracer) else None


class Jet(Interpreter):
    """Applies operations to series.

    Args:
        parent: where operations on terms run.
        order: the highest derivative that is wanted.
    """

    __slots__ = ("order", "known", "slopes", "depth")

    def __init__(self, parent: Interpreter, order: int):
        self.parent, self.alive, self.order = parent, True, order
        self.known: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self.slopes: dict[int, tuple[Series, Series]] = {}
        self.depth = 0

    def describe(self) -> str:
        return "jet"

    def owns(self, x: Any) -> bool:
        """Whether `x` is a series of this interpreter."""
        return type(x) is Series and x.owner is self

    def first(self, args: Sequence[Any]) -> list[Any]:
        """Values at t = 0."""
        return [x.terms[0] if self.owns(x) else x for x in args]

    def slope(self, x: Any) -> Series | None:
        """The derivative of a series as a series: its terms from the first on."""
        if not self.owns(x) or not x.type.inexact:
            return None
        found = self.slopes.get(id(x))
        if found is None:
            t = tangent_type(x.type)
            with interpreting(self.parent):  # type: ignore[arg-type]
                made = Series(self, instantiate(x.term(1), t), lambda k: x.term(k + 1))
            found = self.slopes[id(x)] = x, made
        return found[1]

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        if not any(self.owns(x) for x in args):
            return self.parent.apply(op, args)  # type: ignore[union-attr]
        if type(op) in inlined:
            return op.graph.run(self.apply, args)  # type: ignore[attr-defined]
        key = None if op.effects else (op, *map(id, args))
        if key is None or key not in self.known:
            made = self.results(op, args)
            if key is None:
                return made
            self.known[key] = made, args  # the operands stay alive, so that their ids stay theirs
        return self.known[key][0]

    def results(self, op: Op, args: Sequence[Any]) -> Any:
        """The series of the results of an operation."""
        if type(op) in by_graph:
            return self.whole(op, args) if not self.depth else self.piecewise(op, args)
        with interpreting(self.parent):  # type: ignore[arg-type]
            firsts = self.parent.apply(op, self.first(args))  # type: ignore[union-attr]
        if op.multi:
            return self.series(firsts, lambda xs, ds: op.jvp(xs, ds)[1], args)
        if not type_of(firsts).inexact:
            return firsts
        if type(op) in bilinear:
            return self.ready(Series(self, firsts, lambda k: self.leibniz(op, args, k)))
        if type(op) in quotients:
            return self.ready(self.quotient(op, args, firsts))
        if isinstance(op, (LinearUnary, Structural)) and not any(map(self.owns, args[1:])):
            return self.ready(Series(self, firsts, lambda k: self.linear(op, args, k)))
        return self.series([firsts], lambda xs, ds: [op.jvp(xs, ds)[1]], args)[0]

    def series(
        self, firsts: Sequence[Any], rule: Callable[..., Sequence[Any]], args: Sequence[Any]
    ) -> list[Any]:
        """Series whose terms from the first on are those of the tangents that `rule` gives."""
        found: list[Any] = []

        def tangents() -> Sequence[Any]:
            if not found:
                self.depth += 1
                with interpreting(self):
                    found.append(rule(list(args), [self.slope(x) for x in args]))
                self.depth -= 1
            return found[0]

        def more(i: int) -> Callable[[int], Any]:
            def term(k: int) -> Any:
                slope = tangents()[i]
                if self.owns(slope):
                    return slope.term(k - 1)
                return slope if k == 1 else None

            return term

        return [
            self.ready(Series(self, x, more(i))) if type_of(x).inexact else x
            for i, x in enumerate(firsts)
        ]

    def run_rule(self, op: Op, args: Sequence[Any], order: int) -> tuple[list[Any], list[Terms]]:
        """Values and terms of an operation that holds graphs."""
        terms = []
        for x in args:
            row = [x.term(k) for k in range(1, order + 1)] if self.owns(x) else None
            terms.append(None if row is None or all(d is None for d in row) else row)
        with interpreting(self.parent):  # type: ignore[arg-type]
            return by_graph[type(op)](op, order, self.first(args), terms)

    def whole(self, op: Op, args: Sequence[Any]) -> list[Any]:
        """Results of an operation that holds graphs, with all terms at once."""
        found: list[Any] = []
        for x, row in zip(*self.run_rule(op, args, self.order), strict=True):
            if row is not None:
                x = Series(self, x, lambda k: None)
                x.terms += row
            found.append(x)
        return found

    def piecewise(self, op: Op, args: Sequence[Any]) -> list[Any]:
        """The same where a rule is running: an operand may be the series that is being defined."""
        rows: dict[int, list[Terms]] = {}
        with interpreting(self.parent):  # type: ignore[arg-type]
            firsts = self.parent.apply(op, self.first(args))  # type: ignore[union-attr]

        def more(i: int) -> Callable[[int], Any]:
            def term(k: int) -> Any:
                if k not in rows:
                    rows[k] = self.run_rule(op, args, k)[1]
                row = rows[k][i]
                return None if row is None else row[-1]

            return term

        return [Series(self, x, more(i)) if x.type.inexact else x for i, x in enumerate(firsts)]

    def ready(self, x: Series) -> Series:
        """`x` with all terms made, unless a rule is running, which may not need them.

        Programs may be longer than Python's stack is deep, so that terms cannot wait until the end.
        """
        if not self.depth:
            x.term(self.order)
        return x

    def linear(self, op: Op, args: Sequence[Any], k: int) -> Any:
        """The k-th term of a linear operation: of its first operand."""
        x = args[0].term(k)
        with interpreting(self.parent):  # type: ignore[arg-type]
            return None if x is None else apply(op, x, *args[1:])

    def quotient(self, op: Op, args: Sequence[Any], first: Any) -> Series:
        """z with z y = x: z_k = (x_k - sum of C(k, j) z_j y_(k-j) for j < k) / y_0."""
        x, y = args

        def term(k: int) -> Any:
            rest = self.leibniz(mul, (z, y), k, below=k)
            total = self.part(x, k)
            with interpreting(self.parent):  # type: ignore[arg-type]
                if rest is not None:
                    total = apply(neg, rest) if total is None else apply(sub, total, rest)
                return None if total is None else apply(op, total, self.part(y, 0))

        z = Series(self, first, term)
        return z

    def leibniz(self, op: Op, args: Sequence[Any], k: int, below: int | None = None) -> Any:
        """The k-th term of a product; only what takes terms below `below` of its first factor."""
        x, y = args
        total = None
        for j in range(k + 1 if below is None else below):
            left, right = self.part(x, j), self.part(y, k - j)
            if left is None or right is None:
                continue
            with interpreting(self.parent):  # type: ignore[arg-type]
                product = apply(op, left, right)
                ways = math.comb(k, j)
                if ways > 1:
                    product = apply(mul, product, type_of(product).dtype.type(ways))
                total = product if total is None else apply(add, total, product)
        return total

    def part(self, x: Any, k: int) -> Any:
        """The k-th term of an operand, which may be constant."""
        if self.owns(x):
            return x.term(k)
        return None if k else x

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        if not any(self.owns(x) for x in args):
            return self.parent.apply_custom(call, args)  # type: ignore[union-attr]
        with interpreting(self.parent):  # type: ignore[arg-type]
            firsts = self.parent.apply_custom(call, self.first(args))  # type: ignore[union-attr]
        return self.series(firsts, lambda xs, ds: call.jvp(xs, ds, False)[1], args)


def jet_flat(
    function: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any] | None],
    order: int,
) -> tuple[list[Any], list[list[Any]]]:
    """Values and derivatives 1 to `order` of a flat function along a curve; None for zeros.

    Args:
        function: arrays -> list of arrays.
        primals: the curve at t = 0.
        series: derivatives of the curve, `order` an argument; None where it is constant.
        order: number of derivatives.
    """
    interpreter = Jet(current.get(), order)

    def curve(x: Any, terms: Sequence[Any]) -> Series:
        made = Series(interpreter, x, lambda k: None)
        made.terms += terms
        return made

    args = [x if d is None else curve(x, d) for x, d in zip(primals, series, strict=True)]
    try:
        with interpreting(interpreter):
            outs = function(*args)
        terms = [[interpreter.part(x, k) for k in range(1, order + 1)] for x in outs]
        return interpreter.first(outs), terms
    finally:
        interpreter.alive = False
