"""Which names a piece of a function binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


# fmt: off
CHANGING = frozenset((
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "add", "discard",
    "update", "setdefault", "popitem", "appendleft", "popleft",
))
# fmt: on


def changed_by_method(node: ast.stmt) -> ast.expr | None:
    """``x`` of a statement such as ``x.append(v)``, which changes a container in place."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if isinstance(function, ast.Attribute) and function.attr in CHANGING:
            return function.value
    return None


def _is_read(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


class _Binder(ast.NodeVisitor):
    """Collects bound names of one scope, in order of appearance."""

    def __init__(self, changed: bool) -> None:
        self.found: dict[str, None] = {}
        self.changed = changed

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.found[node.id] = None

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.found[node.name] = None
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.found[node.name] = None

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Its body is another scope."""

    def _comprehension(self, node: ast.AST) -> None:
        for inner in ast.walk(node):  # only `:=` binds in the scope around a comprehension
            if isinstance(inner, ast.NamedExpr):
                self.found[inner.target.id] = None

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _target(self, node: ast.Subscript) -> None:
        if self.changed and isinstance(node.value, ast.Name) and not _is_read(node):
            self.found[node.value.id] = None  # `x[i] = v` changes what x holds
        self.generic_visit(node)

    visit_Subscript = _target

    def visit_Expr(self, node: ast.Expr) -> None:
        receiver = changed_by_method(node)
        if self.changed and isinstance(receiver, ast.Name):
            self.found[receiver.id] = None
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        if node.name != "*":
            self.found[node.asname or node.name.split(".")[0]] = None

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.found[node.name] = None
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.found[node.name] = None

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.found[node.rest] = None
        self.generic_visit(node)


def bound(nodes: Iterable[ast.AST], changed: bool = True) -> list[str]:
    """Names that statements bind in their own scope; with `changed`, or change what they hold."""
    binder = _Binder(changed)
    for node in nodes:
        binder.visit(node)
    return list(binder.found)


def parameters(args: ast.arguments) -> list[str]:
    """Names of all parameters."""
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [a for a in (args.vararg, args.kwarg) if a is not None]
    return [a.arg for a in every]


def walk_scope(node: ast.AST) -> Iterable[ast.AST]:
    """Nodes below `node` that belong to its own scope; definitions appear, not what is in them."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        if not isinstance(found, SCOPES) or found is node:
            todo.extend(ast.iter_child_nodes(found))


def outer_names(function: ast.FunctionDef) -> dict[str, str]:
    """Names that a function declares `global` or `nonlocal` -> that word."""
    found: dict[str, str] = {}
    for node in walk_scope(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            word = "global" if isinstance(node, ast.Global) else "nonlocal"
            found.update(dict.fromkeys(node.names, word))
    return found


def has_walrus(node: ast.AST) -> bool:
    """Whether an expression binds a name with `:=` in this scope, or suspends the function."""
    kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(n, kinds) for n in ast.walk(node))
