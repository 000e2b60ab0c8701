"""The rewrite of a user's own `if`, `while`, `and` or `not` on a traced value, as text.

Called after the error is certain: it parses the user's file and looks for the condition whose
truth was asked for.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant)
_OPERATORS = (ast.BoolOp, ast.UnaryOp, ast.Compare)
Span = tuple[int, int, int, int]


@dataclass(frozen=True)
class Names:
    """How the user's module calls `numlift.numpy` and `numlift.lax`."""

    np: str
    lax: str


def suggest(frame: FrameType | None) -> str | None:
    """A rewrite of the statement that a frame is running; None if it cannot be found."""
    if frame is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    position = _position(frame)
    if not lines or position is None:
        return None
    found = [(t, n, rest) for n, t, rest in _conditions(tree) if _contains(t, position)]
    if not found:  # test runners compile `assert` themselves and move its columns
        every = ((t, n, rest) for n, t, rest in _conditions(tree) if isinstance(n, ast.Assert))
        found = [c for c in every if c[0].lineno == frame.f_lineno]
    if not found:
        return None
    _, node, rest = min(found, key=lambda c: _size(c[0]))
    if isinstance(node, _OPERATORS):  # part of the condition of a whole statement
        whole = [c for c in found if not isinstance(c[1], _OPERATORS)]
        if whole:
            _, node, rest = min(whole, key=lambda c: _size(c[0]))
    return _rewrite(node, rest, _aliases(frame.f_globals))


def _position(frame: FrameType) -> Span | None:
    """Lines and columns of the instruction that is running."""
    place = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if place is None:
        return None
    line, end_line, column, end_column = place
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return line, column, end_line, end_column


def _contains(node: ast.expr, span: Span) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= span[:2] and span[2:] <= end  # type: ignore[operator]


def _size(node: ast.expr) -> tuple[int, int]:
    end, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return end - node.lineno, end_column - node.col_offset


def _conditions(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.expr, list[ast.stmt]]]:
    """Every place where Python asks for a truth: node, condition, statements that follow."""
    for node in ast.walk(tree):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list):
                for i, part in enumerate(block):
                    if isinstance(part, (ast.If, ast.While)):
                        yield part, part.test, block[i + 1 :]
        if isinstance(node, (ast.IfExp, ast.Assert)):
            yield node, node.test, []
        elif isinstance(node, ast.BoolOp):
            yield from ((node, value, []) for value in node.values[:-1])
        elif (
            isinstance(node, ast.UnaryOp)
            and isinstance(node.op, ast.Not)
            or isinstance(node, ast.Compare)
            and len(node.ops) > 1
        ):
            yield node, node, []
        elif isinstance(node, ast.comprehension):
            yield from ((node, test, []) for test in node.ifs)


def _aliases(scope: Mapping[str, Any]) -> Names:
    known = {m.__name__: n for n, m in reversed(list(scope.items())) if isinstance(m, ModuleType)}
    root = known.get("numlift", "nl")
    np = known.get("numlift.numpy", "np" if "numlift" not in known else f"{root}.numpy")
    return Names(np, known.get("numlift.lax", "lax" if "numlift" not in known else f"{root}.lax"))


# ---- the forms -------------------------------------------------------------------------------


def _rewrite(node: ast.AST, rest: list[ast.stmt], names: Names) -> str | None:
    if isinstance(node, ast.If):
        return _if(node, rest, names)
    if isinstance(node, ast.While):
        return _while(node, names)
    if isinstance(node, ast.IfExp):
        test, a, b = _truth(node.test), ast.unparse(node.body), ast.unparse(node.orelse)
        lazy = f"{names.lax}.cond({test}, lambda: {a}, lambda: {b}) to compute only one"
        return f"{names.np}.where({test}, {a}, {b}), or {lazy}"
    if isinstance(node, ast.BoolOp):
        a = ast.unparse(node.values[0])
        b = ast.unparse(node.values[1])
        order = f"{a}, {b}, {a}" if isinstance(node.op, ast.And) else f"{a}, {a}, {b}"
        return f"{_truth(node)} for conditions, or {names.np}.where({order}) for values"
    if isinstance(node, ast.UnaryOp):
        value = ast.unparse(node.operand)
        return f"{_truth(node)} for a condition, or {names.np}.logical_not({value}) for a number"
    if isinstance(node, ast.Compare):
        return _truth(node)
    if isinstance(node, ast.Assert):
        message = ast.unparse(node.msg) if node.msg is not None else repr(ast.unparse(node.test))
        return f"nl.experimental.checkify.check({_truth(node.test)}, {message})"
    if isinstance(node, ast.comprehension):
        test = ast.unparse(node.ifs[0])
        return (
            f"{names.np}.where({test}, value, 0) for each element: how many elements pass "
            f"`{test}` is not known while tracing"
        )
    return None


def _truth(node: ast.expr) -> str:
    """A condition with ``& | ~`` instead of ``and or not``."""
    if isinstance(node, ast.BoolOp):
        word = " & " if isinstance(node.op, ast.And) else " | "
        return word.join(_inside(v) for v in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"~{_inside(node.operand)}"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        values = [node.left, *node.comparators]
        pairs = zip(values, node.ops, values[1:], strict=False)
        return " & ".join(f"({ast.unparse(ast.Compare(a, [o], [b]))})" for a, o, b in pairs)
    return ast.unparse(node)


def _inside(node: ast.expr) -> str:
    text = _truth(node)
    plain = isinstance(node, _ATOMS) or isinstance(node, ast.UnaryOp)
    return text if plain else f"({text})"


def _if(node: ast.If, rest: list[ast.stmt], names: Names) -> str:
    returned = _choice(node, rest, names, None)
    if returned is not None:
        return _both_forms("return ", node, rest, returned, None, names)
    targets = _assigned([*node.body, *node.orelse])
    if len(targets) == 1:
        value = _choice(node, [], names, targets[0])
        if value is not None:
            return _both_forms(f"{targets[0]} = ", node, [], value, targets[0], names)
    if _has_jump(node):
        return (
            f"{names.lax}.cond({_truth(node.test)}, f, g, x), with what follows the `if` inside "
            "f and g, because one side leaves the block early"
        )
    return _functions(node, targets, names)


def _both_forms(
    start: str, node: ast.If, rest: list[ast.stmt], value: str, target: str | None, names: Names
) -> str:
    """``np.where`` and, for two sides, `lax.cond`."""
    a = _value(node.body, target)
    b = _choice_or_value(node.orelse or rest, names, target) or target
    text = f"{start}{value}"
    if a is None or b is None:
        return text
    test = _truth(node.test)
    return f"{text}, or {start}{names.lax}.cond({test}, lambda: {a}, lambda: {b})" + (
        " to compute only one"
    )


def _choice_or_value(block: list[ast.stmt], names: Names, target: str | None) -> str | None:
    if block and isinstance(block[0], ast.If):
        return _choice(block[0], block[1:], names, target)
    return _value(block, target)


def _choice(node: ast.If, rest: list[ast.stmt], names: Names, target: str | None) -> str | None:
    """An `if` whose sides give one value, as nested ``where``; None if it is something else."""
    a = _value(node.body, target)
    other = node.orelse or rest
    if len(other) == 1 and isinstance(other[0], ast.If):
        b = _choice(other[0], rest if node.orelse else [], names, target)
    elif target is None:
        b = _value(other[:1], None)
    else:
        b = _value(other, target) if other else target
    if a is None or b is None:
        return None
    return f"{names.np}.where({_truth(node.test)}, {a}, {b})"


def _value(block: Sequence[ast.stmt], target: str | None) -> str | None:
    """What a one-line block returns, or assigns to `target`."""
    if not block or (len(block) != 1 and target is not None):
        return None
    node = block[0]
    if target is None:
        single = isinstance(node, ast.Return) and node.value is not None
        return ast.unparse(node.value) if single else None  # type: ignore[attr-defined,arg-type]
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return ast.unparse(node.value)
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.unparse(node.value)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return ast.unparse(ast.BinOp(ast.Name(node.target.id), node.op, node.value))
    return None


def _assigned(block: Sequence[ast.stmt]) -> list[str]:
    found: dict[str, None] = {}
    for statement in block:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return sorted(found)


def _has_jump(node: ast.AST) -> bool:
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ast.walk(node))


def _functions(node: ast.If, targets: list[str], names: Names) -> str:
    """The general form: two functions of the variables that the `if` changes."""
    every = ", ".join(targets)
    sides = []
    for word, block in (("then", node.body), ("otherwise", node.orelse)):
        body = [*(ast.unparse(s) for s in block), f"return {every}" if every else "return None"]
        sides.append(_define(f"def {word}({every}):", body))
    start = f"{every} = " if every else ""
    operands = "".join(f", {t}" for t in targets)
    call = f"{start}{names.lax}.cond({_truth(node.test)}, then, otherwise{operands})"
    return _lines([*sides, call])


def _while(node: ast.While, names: Names) -> str:
    """``lax.while_loop`` with the variables that the loop changes as its state."""
    targets = _assigned(node.body)
    test = _truth(node.test)
    if _has_jump(node):
        return (
            f"{names.lax}.while_loop(lambda state: {test}, step, state), with the condition of "
            "`break` or `return` as a bool in the state that the first function tests"
        )
    if len(targets) == 1:
        value = _value(node.body, targets[0])
        if value is not None:
            (x,) = targets
            return f"{x} = {names.lax}.while_loop(lambda {x}: {test}, lambda {x}: {value}, {x})"
    state = ", ".join(targets) + ("," if len(targets) == 1 else "")
    unpack = f"{state} = state" if targets else "pass"
    body = [unpack, *(ast.unparse(s) for s in node.body), f"return {state or 'state'}"]
    parts = [
        _define("def go_on(state):", [unpack, f"return {test}"]),
        _define("def step(state):", body),
        f"{f'{state} = ' if state else ''}{names.lax}.while_loop(go_on, step, ({state}))",
    ]
    return _lines(parts)


def _define(head: str, body: Sequence[str]) -> str:
    inner = [f"    {line}" for part in body for line in part.splitlines()]
    return "\n".join([head, *inner])


def _lines(parts: Sequence[str]) -> str:
    return "\n" + "\n".join(f"  {line}" for part in parts for line in part.splitlines())
