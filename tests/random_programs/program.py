"""Programs as data, and their text: nested functions of assignments, as plain Numlift code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .operations import OPERATIONS
from .trees import Ref, children, is_container, leaves, text

INDENT = "    "


def refs_text(tree: Any) -> str:
    """A tree of references as source code."""
    return text(tree, lambda ref: ref.text)


@dataclass
class Function:
    """`name(params)`: statements and a tree of references as result."""

    name: str
    params: tuple[tuple[str, Any], ...]
    body: list[Any]
    result: Any

    def lines(self) -> Iterator[str]:
        """Source lines of the definition."""
        yield f"def {self.name}({', '.join(name for name, _ in self.params)}):"
        for statement in self.body:
            for line in statement.lines():
                yield INDENT + line
        yield f"{INDENT}return {refs_text(self.result)}"

    def reads(self) -> set[str]:
        """Names that the function takes from outside."""
        inside = {name for name, _ in self.params} | {s.target for s in self.body}
        used = {ref.name for ref in leaves(self.result)}
        for statement in self.body:
            used |= statement.reads()
        return used - inside

    def cost(self) -> int:
        """About how many assignments one evaluation executes."""
        return 1 + sum(statement.cost() for statement in self.body)


@dataclass
class Assign:
    """`target = op(args)`."""

    target: str
    op: str
    args: tuple[Ref, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Source lines."""
        shown = {k: repr(v) for k, v in self.options.items()}
        code = OPERATIONS[self.op].code.format(*(ref.text for ref in self.args), **shown)
        yield f"{self.target} = {code}"

    def reads(self) -> set[str]:
        """Names that are used."""
        return {ref.name for ref in self.args}

    def cost(self) -> int:
        """Evaluations."""
        return 1


@dataclass
class Collective:
    """`target = lax.<kind>(arg, axis)` inside a `vmap` with a named axis."""

    target: str
    kind: str
    arg: Ref
    axis: str
    size: int

    def lines(self) -> Iterator[str]:
        """Source lines."""
        more = ""
        if self.kind == "ppermute":
            more = f", {[(i, (i + 1) % self.size) for i in range(self.size)]}"
        code = f"lax.{self.kind}({self.arg.text}, {self.axis!r}{more})"
        if self.kind == "axis_index":
            code = f"{self.arg.text} * (1 + lax.axis_index({self.axis!r}))"
        yield f"{self.target} = {code}"

    def reads(self) -> set[str]:
        """Names that are used."""
        return {self.arg.name}

    def cost(self) -> int:
        """Evaluations: the lanes are started again at each collective."""
        return 4


@dataclass
class Apply:
    """`target = stack(function)(args)`: a transformed local function."""

    target: str
    function: Function
    stack: tuple[Any, ...]
    args: tuple[Any, ...]
    evaluations: int

    def lines(self) -> Iterator[str]:
        """Source lines."""
        yield from self.function.lines()
        name = yield from stack_lines(self.function.name, self.stack)
        yield f"{self.target} = {name}({', '.join(refs_text(a) for a in self.args)})"

    def reads(self) -> set[str]:
        """Names that are used."""
        return self.function.reads() | {ref.name for ref in leaves(self.args)}

    def cost(self) -> int:
        """Evaluations."""
        return self.evaluations


def stack_lines(name: str, stack: tuple[Any, ...]) -> Any:
    """Yield the lines of each transformation; returns the name of the outermost function."""
    for level, step in enumerate(stack, 1):
        new = f"{name.split('_')[0]}_{level}"
        yield from step.lines(new, name)
        name = new
    return name


@dataclass
class Branches:
    """`target = lax.cond` or `lax.switch`."""

    target: str
    selector: Ref
    functions: tuple[Function, ...]
    args: tuple[Ref, ...]
    is_cond: bool

    def lines(self) -> Iterator[str]:
        """Source lines. `functions[1]` is the true branch of a cond."""
        for function in self.functions:
            yield from function.lines()
        names = [f.name for f in self.functions]
        args = "".join(f", {ref.text}" for ref in self.args)
        if self.is_cond:
            yield f"{self.target} = lax.cond({self.selector.text}, {names[1]}, {names[0]}{args})"
        else:
            chosen = f"[{', '.join(names)}]"
            yield f"{self.target} = lax.switch({self.selector.text}, {chosen}{args})"

    def reads(self) -> set[str]:
        """Names that are used."""
        used = {ref.name for ref in self.args} | {self.selector.name}
        return used.union(*(f.reads() for f in self.functions))

    def cost(self) -> int:
        """Evaluations."""
        return 1 + max(f.cost() for f in self.functions)


@dataclass
class Scan:
    """`target = lax.scan(body, init, xs)`."""

    target: str
    body: Function
    init: Any
    xs: Any
    length: int
    reverse: bool
    unroll: int

    def lines(self) -> Iterator[str]:
        """Source lines."""
        yield from self.body.lines()
        more = f", length={self.length}, reverse={self.reverse}, unroll={self.unroll}"
        init, xs = refs_text(self.init), refs_text(self.xs)
        yield f"{self.target} = lax.scan({self.body.name}, {init}, {xs}{more})"

    def reads(self) -> set[str]:
        """Names that are used."""
        return self.body.reads() | {ref.name for ref in leaves((self.init, self.xs))}

    def cost(self) -> int:
        """Evaluations."""
        return 1 + self.length * self.body.cost()


@dataclass
class Fori:
    """`target = lax.fori_loop(lower, upper, body, init)`."""

    target: str
    body: Function
    init: Any
    lower: int
    upper: int

    def lines(self) -> Iterator[str]:
        """Source lines."""
        yield from self.body.lines()
        bounds = f"{self.lower}, {self.upper}"
        init = refs_text(self.init)
        yield f"{self.target} = lax.fori_loop({bounds}, {self.body.name}, {init})"

    def reads(self) -> set[str]:
        """Names that are used."""
        return self.body.reads() | {ref.name for ref in leaves(self.init)}

    def cost(self) -> int:
        """Evaluations."""
        return 1 + (self.upper - self.lower) * self.body.cost()


@dataclass
class While:
    """`target = lax.while_loop`: at most `limit` steps, while the sum of the state is small.

    The state is (step, value); `max_steps` makes the loop differentiable in reverse mode.
    """

    target: str
    body: Function
    init: Any
    limit: int
    bound: float
    max_steps: int | None

    def lines(self) -> Iterator[str]:
        """Source lines."""
        name = f"{self.body.name}_go"
        first = "s" + "".join(f"[{k!r}]" for k in self.first_path())
        yield f"def {name}(state):"
        yield f"{INDENT}step, s = state"
        yield f"{INDENT}return (step < {self.limit}) & (np.sum({first}) < {self.bound!r})"
        yield from self.body.lines()
        step = f"{self.body.name}_step"
        yield f"def {step}(state):"
        yield f"{INDENT}return state[0] + 1, {self.body.name}(state[1])"
        more = f", max_steps={self.max_steps}" if self.max_steps else ""
        init = refs_text(self.init)
        yield f"{self.target} = lax.while_loop({name}, {step}, (0, {init}){more})[1]"

    def first_path(self) -> tuple[Any, ...]:
        """Where the first leaf of the value is."""
        tree, path = self.init, ()
        while is_container(tree):
            key, tree = children(tree)[0]
            path = (*path, key)
        return path

    def reads(self) -> set[str]:
        """Names that are used."""
        return self.body.reads() | {ref.name for ref in leaves(self.init)}

    def cost(self) -> int:
        """Evaluations."""
        return 1 + self.limit * self.body.cost()


def without_unused(body: list[Any], result: Any) -> list[Any]:
    """The statements that the result depends on."""
    needed = {ref.name for ref in leaves(result)}
    kept = []
    for statement in reversed(body):
        if statement.target in needed:
            kept.append(statement)
            needed |= statement.reads()
    return kept[::-1]
