"""`Stage`: the interpreter that writes operations down as a graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..config import current as current_flags
from .graph import Atom, Equation, Graph, Literal, Var
from .integers import check_integer
from .op import Op
from .refs import Ref, View, unsupported
from .source import Source, internal_files
from .tracing import Interpreter, Tracer, Value, current, leaked, type_of
from .types import ArrayType

_types: dict[tuple, Any] = {}
_MEMO_LIMIT = 1 << 16
_literals: dict[tuple, Literal] = {}


class Staged(Tracer):
    """Tracer of `Stage`: a variable of the graph being written."""

    __slots__ = ("atom",)
    owner: Stage

    def __init__(self, owner: Stage, type_: ArrayType, var: Var):
        self.owner, self.type, self.atom = owner, type_, var

    def origin(self) -> Source | None:
        return self.owner.origin_of(self.atom)


def current_stage() -> Stage:
    """The stage that is being written; only where a function is being traced to a graph."""
    stage = current.get()
    assert isinstance(stage, Stage)
    return stage


def infer_type(op: Op, types: Sequence[ArrayType]) -> Any:
    """`op.out_type(*types)`, remembered."""
    if not op.memoise_type:
        return op.out_type(*types)
    key = (op, *types)
    found = _types.get(key)
    if found is None:
        found = op.out_type(*types)
        if len(_types) >= _MEMO_LIMIT:
            _types.clear()
        _types[key] = found
    return found


class Stage(Interpreter):
    """Writes every operation down, whether its operands are tracers or not."""

    __slots__ = (
        "equations",
        "captured",
        "_atom_of",
        "inputs",
        "label",
        "scope",
        "axis_sizes",
        "views",
    )
    keeps_views = True
    scope: str
    views: dict[Ref, View] | None
    """Refs from outside that the function uses; None if there are none."""

    def __init__(self, parent: Interpreter | None = None, label: str = "jit"):
        self.parent, self.alive, self.label = parent, True, label
        self.equations: list[Equation] = []
        self.inputs: list[Var] = []
        self.captured: dict[Var, Any] = {}
        self._atom_of: dict[int, Atom] = {}
        self.scope = ""
        self.axis_sizes: dict[Any, int] = {}
        self.views = None

    def describe(self) -> str:
        return self.label

    def new_input(self, type_: ArrayType) -> Staged:
        """A fresh input variable of the graph."""
        var = Var(type_)
        self.inputs.append(var)
        return Staged(self, type_, var)

    def new_view(self, type_: ArrayType) -> Staged:
        """A variable for the value that a ref from outside has at the beginning."""
        return Staged(self, type_, Var(type_))

    def accept_views(self) -> dict[Ref, View]:
        """The refs that were used; their views become inputs in front of the others."""
        views, self.views = self.views or {}, None
        self.inputs[:0] = [v.var for v in views.values()]
        return views

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        atoms: list[Atom] = []
        key: list[Any] = [op]
        for x in args:
            atom = x.atom if type(x) is Staged and x.owner is self else self.lift(x)
            atoms.append(atom)
            key.append(atom.type)
        types = _types.get(tuple(key))
        if types is None:
            types = infer_type(op, key[1:])
        frame: Any = sys._getframe(1)
        inside = internal_files
        while frame is not None and inside[frame.f_code.co_filename]:
            frame = frame.f_back
        source = None if frame is None else (frame.f_code, frame.f_lasti)
        if op.multi:
            outs = [Var(t) for t in types]
            self.equations.append(Equation(op, atoms, outs, source, self.scope))
            return [Staged(self, v.type, v) for v in outs]
        var = Var(types)
        self.equations.append(Equation(op, atoms, (var,), source, self.scope))
        return Staged(self, types, var)

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        return call.stage(self, args)

    def lift(self, x: Any) -> Atom:
        """Atom for a value that this stage did not make: a literal or a captured input."""
        kind = type(x)
        if kind is float or kind is int or kind is bool or kind is complex:
            return _scalar_literal(x, kind)
        if isinstance(x, Tracer):
            if x.owner is self:
                return x.atom  # type: ignore[attr-defined]
            if not x.owner.alive and not self._stands_in(x):
                raise leaked(x)
        elif isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
            type_ = type_of(x)
            return Literal(np.asarray(x).astype(type_.dtype)[()], type_)
        elif not isinstance(x, (Value, np.ndarray)):
            convert = getattr(kind, "__numlift_array__", None)
            if convert is not None:
                return self.lift(convert(x))
            type_ = type_of(x)
            if type_.ndim == 0 and type_.weak_type:
                return Literal(x, type_)
        known = self._atom_of.get(id(x))
        if known is None:
            var = known = self._atom_of[id(x)] = Var(type_of(x))
            self.captured[var] = x
        return known

    def _stands_in(self, x: Tracer) -> bool:
        """Whether an enclosing interpreter puts another value in the place of `x`."""
        frame: Interpreter | None = self.parent
        while frame is not None:
            if id(x) in frame.substitutes:
                return True
            frame = frame.parent
        return False

    def finish(self, outputs: Sequence[Any], name: str = "f") -> tuple[Graph, list[Any]]:
        """The closed graph and the captured values, which are its leading inputs.

        Raises:
            RefError: the function used refs from outside, and nobody has asked for them.
        """
        if self.views is not None:
            raise unsupported(self.label, self.views)
        atoms = [self.lift(x) for x in outputs]
        self.alive = False
        inputs = [*self.captured, *self.inputs]
        return Graph(inputs, self.equations, atoms, name), list(self.captured.values())

    def origin_of(self, var: Var) -> Source | None:
        """Source of the equation that defines `var`."""
        for eq in self.equations:
            if var in eq.outputs:
                return eq.source
        return None


def _scalar_literal(x: Any, kind: type) -> Literal:
    # 0.0 == -0.0, also as a part of a complex number, but they are different numbers. NaN is not
    # found again.
    if kind is complex or x == 0 or x != x:
        return Literal(x, type_of(x))
    key = (kind, x, current_flags().enable_x64)
    found = _literals.get(key)
    if found is None:
        if kind is int:
            check_integer("traced operation", x)
        found = Literal(x, type_of(x))
        if len(_literals) < _MEMO_LIMIT:
            _literals[key] = found
    return found


def trace_to_graph(
    function: Callable[..., Sequence[Any]],
    in_types: Sequence[ArrayType],
    *,
    label: str = "jit",
    name: str = "f",
    axis_sizes: dict[Any, int] | None = None,
) -> tuple[Graph, list[Any]]:
    """Trace a flat function (arrays -> list of arrays) to a graph.

    Returns:
        The graph, whose leading inputs are the captured values, and these values.
    """
    stage = Stage(current.get(), label)
    if axis_sizes:
        stage.axis_sizes = axis_sizes
    args = [stage.new_input(t) for t in in_types]
    token = current.set(stage)
    try:
        outputs = function(*args)
        return stage.finish(outputs, name)
    finally:
        stage.alive = False
        current.reset(token)
