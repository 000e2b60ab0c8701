"""First pass: `return`, `break` and `continue` inside blocks become flags and guards.

Afterwards no statement leaves a block early, so that each block can become a function::

    if c:                         if c:
        return a                      _result = a; _done = True
    b = f()             ->        else:
    return b                          b = f()
                                      _result = b; _done = True
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from .names import SCOPES, bound, has_walrus

PREFIX = "_nl_"
RESULT, DONE = PREFIX + "result", PREFIX + "done"
FLAGS = (DONE, PREFIX + "break", PREFIX + "continue")
_LOOPS = (ast.For, ast.While)


@dataclass(frozen=True)
class _Loop:
    """Flags of the loop that `break` and `continue` belong to."""

    leave: str
    skip: str


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    """``name = value`` at the place of `at`."""
    return ast.copy_location(
        ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), at)], value), at
    )


def _flag(name: str, value: bool, at: ast.AST) -> ast.stmt:
    return assign(name, ast.copy_location(ast.Constant(value), at), at)


def _jumps(node: ast.AST) -> set[str]:
    """Kinds of jumps that may leave a statement: ``return``, ``break``, ``continue``."""
    if isinstance(node, ast.Return):
        return {"return"}
    if isinstance(node, ast.Break):
        return {"break"}
    if isinstance(node, ast.Continue):
        return {"continue"}
    if isinstance(node, SCOPES):
        return set()
    found: set[str] = set()
    if isinstance(node, _LOOPS):
        for statement in node.body:
            found |= _jumps(statement) & {"return"}
        for statement in node.orelse:
            found |= _jumps(statement)
        return found
    for part in ast.iter_child_nodes(node):
        found |= _jumps(part)
    return found


def _ends(block: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of a block."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise))


class Jumps:
    """Rewrites the blocks of one function."""

    def __init__(self) -> None:
        self.count = 0

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a function with flags instead of jumps."""
        return self._block(body, None)

    def _block(self, block: Sequence[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for i, node in enumerate(block):
            rest = list(block[i + 1 :])
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
                return made + self._jump(node, loop)  # what follows is never reached
            jumps = _jumps(node)
            if not jumps or not rest:
                made += self._statement(node, loop)
                continue
            if isinstance(node, ast.If) and (_ends(node.body) or _ends(node.orelse)):
                return made + self._absorb(node, rest, loop)
            made += self._statement(node, loop)
            return [*made, self._guard(jumps, loop, self._block(rest, loop), node)]
        return made

    def _absorb(self, node: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """What follows an `if` that jumps on one side belongs to its other side."""
        body, orelse = list(node.body), list(node.orelse)
        if not _ends(body):
            body += rest
        elif not _ends(orelse):
            orelse += rest
        whole = ast.copy_location(ast.If(node.test, body, orelse), node)
        return self._statement(whole, loop)

    def _guard(
        self, jumps: set[str], loop: _Loop | None, block: list[ast.stmt], at: ast.stmt
    ) -> ast.stmt:
        """``if not (flag or flag): block``."""
        flags = [DONE] if "return" in jumps else []
        if loop is not None:
            flags += [loop.leave] if "break" in jumps else []
            flags += [loop.skip] if "continue" in jumps else []
        made = ast.If(self._none_of(flags), block, [])
        made.rest = flags == [DONE]  # type: ignore[attr-defined]
        return _place(made, at)

    def _none_of(self, flags: list[str]) -> ast.expr:
        tests = [ast.UnaryOp(ast.Not(), ast.Name(f, ast.Load())) for f in flags]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))

    def _jump(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            value = node.value or ast.copy_location(ast.Constant(None), node)
            return [assign(RESULT, value, node), _flag(DONE, True, node)]
        assert loop is not None  # Python refuses `break` outside a loop
        return [_flag(loop.leave if isinstance(node, ast.Break) else loop.skip, True, node)]

    def _statement(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        if isinstance(node, _LOOPS):
            return self._loop(node, loop)
        if isinstance(node, SCOPES):
            return [node]
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, field, self._block(block, loop) or [_place(ast.Pass(), node)])
        if isinstance(node, (ast.Try, ast.TryStar)):
            jumps = set().union(*map(_jumps_of_flags, node.body)) if node.orelse else set()
            for handler in node.handlers:
                handler.body = self._block(handler.body, loop)
            if jumps:
                guard = ast.If(self._none_of(sorted(jumps)), node.orelse, [])
                node.orelse = [_place(guard, node.orelse[0])]
        if isinstance(node, ast.Match):
            for case in node.cases:
                case.body = self._block(case.body, loop)
        return [node]

    def _loop(self, node: ast.For | ast.While, outer: _Loop | None) -> list[ast.stmt]:
        self.count += 1
        loop = _Loop(f"{PREFIX}break{self.count}", f"{PREFIX}continue{self.count}")
        body = list(node.body)
        if isinstance(node, ast.While) and has_walrus(node.test):
            leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
            body = [_place(leave, node.test), *body]
            node.test = ast.copy_location(ast.Constant(True), node)
        jumps: set[str] = set().union(*map(_jumps, body))
        before: list[ast.stmt] = []
        node.body = self._block(body, loop)
        if "continue" in jumps:
            node.body.insert(0, _flag(loop.skip, False, node))
        flags = [DONE] if "return" in jumps else []
        if "break" in jumps:
            flags.insert(0, loop.leave)
            before.append(_flag(loop.leave, False, node))
        after = self._block(node.orelse, outer)
        node.orelse = []
        node.stops = flags  # type: ignore[union-attr]
        made = [*before, node]
        if after and flags:
            after = [_place(ast.If(self._none_of(flags), after, []), after[0])]
        return made + after


def _jumps_of_flags(node: ast.stmt) -> set[str]:
    """Flags that a lowered statement sets."""
    return {n for n in bound([node]) if n.startswith(FLAGS)}


def _place(made: ast.stmt, at: ast.AST) -> ast.stmt:
    """Give new nodes the line of `at`; what already has a place keeps it."""
    for node in ast.walk(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, at)
    return made
