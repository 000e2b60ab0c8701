"""One example: a program, a stack over it and arguments; its source and its two values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy
from hypothesis import strategies as st

import numlift as nl
import numlift.numpy as np
from numlift.config import replace as flags
from tests.random_programs import program as p
from tests.random_programs.generator import Scope, draw_program
from tests.random_programs.reference import WIDE, Reference
from tests.random_programs.stacks import AheadOfTime, ExportRoundTrip, Signature
from tests.random_programs.steps import draw_step
from tests.random_programs.trees import Leaf, leaves, structure, text, tree_map

HEADER = """\
import numpy
import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.experimental.jet import jet
"""


@dataclass
class Example:
    """A program, transformations and arguments.

    Attributes:
        function: the program.
        stack: transformations, innermost first.
        signature: types of the transformed function.
        seed: what the arguments are made from.
        dtype: "float64" or "float32".
        x64: whether 64-bit types are on.
    """

    function: p.Function
    stack: tuple[Any, ...]
    signature: Signature
    seed: int
    dtype: str
    x64: bool

    def definition(self) -> tuple[str, str]:
        """(source of the functions, name of the outermost)."""
        lines = list(self.function.lines())
        steps = p.stack_lines(self.function.name, self.stack)
        name = self.function.name
        while True:
            try:
                lines.append(next(steps))
            except StopIteration as stop:
                name = stop.value
                break
        flag = f'nl.config.update("enable_x64", {self.x64})\nFLOAT = "{self.dtype}"'
        return f"{HEADER}\n{flag}\n\n\n" + "\n".join(lines), name

    def source(self) -> str:
        """A script that shows the result."""
        code, name = self.definition()
        shown = ",\n    ".join(text(a, array_text) for a in self.args())
        args = f"args = nl.tree.map(np.asarray, (\n    {shown},\n))"
        return f"{code}\n\n{args}\nprint({name}(*args))\n"

    def __repr__(self) -> str:
        return "\n" + self.source()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How Hypothesis shows a failing example: as the program, not as constructors."""
        printer.text(repr(self))

    def args(self) -> tuple[Any, ...]:
        """The arguments."""
        rng = numpy.random.default_rng(self.seed)
        return tree_map(lambda leaf: self.array(rng, leaf), self.signature.params)

    def array(self, rng: Any, leaf: Leaf) -> Any:
        """A random array of short binary fractions, so that every float type holds it."""
        if leaf.kind == "float":
            values = rng.integers(-1536, 1537, leaf.shape) / 1024
            return numpy.asarray(values, self.dtype)
        if leaf.kind == "int":
            return numpy.asarray(rng.integers(-3, 4, leaf.shape), "int64" if self.x64 else "int32")
        return numpy.asarray(rng.integers(0, 2, leaf.shape), "bool")

    def transformed(self) -> Any:
        """The transformed Numlift function. Its source is executed, as printed."""
        code, name = self.definition()
        names: dict[str, Any] = {}
        exec(
            compile(code.replace("nl.config.update", "(lambda *a: a)"), "<program>", "exec"), names
        )
        return names[name]

    def value(self) -> Any:
        """The result of Numlift."""
        with flags(enable_x64=self.x64):
            return self.transformed()(*nl.tree.map(np.asarray, self.args()))

    def expected(self) -> Any:
        """The result of the reference; raises Unsuitable."""
        reference = Reference()
        f = reference.function(self.function, {})
        for step in self.stack:
            f = step.reference(f, reference)
        wide = tree_map(lambda x: x.astype(WIDE) if x.dtype.kind == "f" else x, self.args())
        return f(*wide)

    def expected_dtype(self, leaf: Leaf) -> str:
        """The dtype of a leaf of the result."""
        if leaf.kind == "float":
            return self.dtype
        return "bool" if leaf.kind == "bool" else "int64" if self.x64 else "int32"


def array_text(x: Any) -> str:
    """An array as source code."""
    return f'numpy.array({x.tolist()}, "{x.dtype}")'


MODES = (("float64", True), ("float64", True), ("float32", False), ("float32", True))


@st.composite
def examples(
    draw: Any,
    statements: tuple[int, int] = (3, 12),
    depth: tuple[int, int] = (1, 4),
    cost: int = 20_000,
) -> Example:
    """Random examples."""
    scope = Scope(draw)
    dtype, x64 = scope.choice(MODES)
    function, before = draw_program(scope, statements)
    signature, stack = before, []
    for i in range(scope.integer(*depth)):
        plan = "reverse" if i == 0 and scope.boolean() else "any"
        step = draw_step(scope, signature, plan, cost, 150)
        if step is not None:
            stack.append(step)
            signature = step.after()
    last = scope.integer(0, 19)
    if last >= 18:
        stack.append((AheadOfTime if last == 18 else ExportRoundTrip)(signature))
    return Example(function, tuple(stack), signature, scope.integer(0, 999), dtype, x64)


def mismatches(example: Example, value: Any, expected: Any, tolerance: float) -> Iterator[str]:
    """What differs in tree, shape, dtype or value; `tolerance` is relative to the largest."""
    types = example.signature.result
    if structure(value) != structure(types):
        yield f"tree: {structure(value)}, expected {structure(types)}"
        return
    triples = zip(leaves(value), leaves(expected), leaves(types), strict=True)
    for i, (got, want, leaf) in enumerate(triples):
        dtype = example.expected_dtype(leaf)
        if got.shape != leaf.shape or want.shape != leaf.shape:
            yield f"leaf {i}: shape {got.shape}, expected {leaf.shape} (reference {want.shape})"
        elif str(got.dtype) != dtype:
            yield f"leaf {i}: dtype {got.dtype}, expected {dtype}"
        elif leaf.size:
            scale = 1 + float(numpy.abs(want).max()) if leaf.kind == "float" else 0.0
            error = numpy.abs(numpy.asarray(got).astype(WIDE) - want).max()
            if not error <= tolerance * scale:
                yield f"leaf {i}: error {float(error):.3g}\n{got!r}\nexpected\n{want!r}"


TOLERANCE = {"float64": 1e-7, "float32": 1e-2}
"""Of single precision mostly types are compared: its values only roughly, as errors add up."""


def check(example: Example) -> None:
    """Raise AssertionError if Numlift and the reference differ, Unsuitable if it cannot tell."""
    expected = example.expected()
    found = list(mismatches(example, example.value(), expected, TOLERANCE[example.dtype]))
    assert not found, "\n".join(found)
