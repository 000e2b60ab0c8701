"""Second pass: blocks become functions that the runtime runs or stages.

Variables that a block assigns stay variables of the user's function: the block reaches them with
`nonlocal`, and the runtime reads and sets them all at once through a pair of accessors. Thus
closures, lambdas and comprehensions see the same variables as before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .jumps import DONE, PREFIX, RESULT, Jumps, assign
from .names import bound, changed_by_method, has_walrus, outer_names, parameters, walk_scope

RUNTIME, FRAME = PREFIX + "runtime", PREFIX + "frame"

_NOT_STAGED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("try", "compute a flag with np.where or np.isnan; nl.experimental.checkify"),
    ast.TryStar: ("try", "compute a flag with np.where or np.isnan"),
    ast.With: ("with", "put the with statement around the whole if or loop"),
    ast.AsyncWith: ("async with", "call the function outside jit"),
    ast.AsyncFor: ("async for", "call the function outside jit"),
    ast.Match: ("match", "lax.switch(index, [f, g, h], x), or if/elif"),
    ast.Import: ("import", "import at the top of the module"),
    ast.ImportFrom: ("import", "import at the top of the module"),
    ast.Raise: ("raise", "return np.nan, or nl.experimental.checkify.check(cond, message)"),
    ast.Global: ("global", "return the value instead of writing a global variable"),
    ast.Nonlocal: ("nonlocal", "return the value instead of writing an outer variable"),
}
_COMPARE = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
    ast.Is: "is_", ast.IsNot: "is_not", ast.In: "in", ast.NotIn: "not_in",
}  # fmt: skip
_INPLACE = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv", ast.Mod: "imod", ast.Pow: "ipow", ast.MatMult: "imatmul",
    ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor", ast.LShift: "ilshift",
    ast.RShift: "irshift",
}  # fmt: skip


def template(source: str, at: ast.AST) -> list[ast.stmt]:
    """Statements from text, all at the place of a node of the user's."""
    made = ast.parse(source).body
    for statement in made:
        for node in ast.walk(statement):
            if "lineno" in node._attributes:
                ast.copy_location(node, at)
    return made


def _expression(source: str, at: ast.AST) -> ast.expr:
    found = template(source, at)[0]
    assert isinstance(found, ast.Expr)
    return found.value


def is_plain(node: ast.AST) -> bool:
    """Whether a definition is an ordinary function, neither a generator nor a coroutine."""
    kinds = (ast.Yield, ast.YieldFrom, ast.Await)
    return isinstance(node, ast.FunctionDef) and not any(
        isinstance(n, kinds) for n in walk_scope(node)
    )


class Rewriter(ast.NodeTransformer):
    """Rewrites one function (and the functions defined in it)."""

    def __init__(self, function: ast.FunctionDef, file: str, owner: str | None, outside: set[str]):
        self.function, self.file, self.owner = function, file, owner
        self.outer = outer_names(function)
        self.params = parameters(function.args)
        self.locals = {*self.params, *bound(function.body, False), RESULT, DONE} - set(self.outer)
        self.state: dict[str, None] = {}
        self.outside = outside
        self.count = 0
        self.decorating = False

    def rewrite(self) -> ast.FunctionDef:
        """The function, changed in place."""
        function = self.function
        lowered = Jumps().function(function.body)
        self.locals |= set(bound(lowered, False)) - set(self.outer)
        for node in (s for top in lowered for s in walk_scope(top)):
            if isinstance(node, (ast.If, ast.For, ast.While)):
                self.state.update(dict.fromkeys(self._names([node])))
        body = self._block(lowered)
        declared = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
        rest = [s for s in body if s not in declared]
        unset = [n for n in self.state if n not in self.params and n not in (RESULT, DONE)]
        first = [
            f"{FRAME} = {RUNTIME}.Frame({self.file!r}, {function.name!r})",
            f"{RESULT} = {RUNTIME}.UNSET",
            f"{DONE} = False",
            *(f"{n} = {RUNTIME}.Undefined({n!r})" for n in unset),
        ]
        last = template(f"return {FRAME}.result({RESULT}, {DONE})", function.body[-1])
        doc = declared + template("\n".join(first), function)
        function.body = [*doc, *rest, *last]
        return function

    # ---- blocks ------------------------------------------------------------------------------

    def _names(self, nodes: Iterable[ast.AST]) -> list[str]:
        return [n for n in bound(nodes) if n in self.locals]

    def _block(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for node in block:
            made += self._unsupported(node)
            found = self.visit(node)
            made += found if isinstance(found, list) else [found]
        return made

    def _unsupported(self, node: ast.stmt) -> list[ast.stmt]:
        """A check in front of a statement that has no staged form."""
        word, instead = _NOT_STAGED.get(type(node), ("", ""))
        if word in ("global", "nonlocal"):
            return []
        if not word:
            written = [n for n in bound([node]) if n in self.outer]
            attributes = [
                n.attr for n in walk_scope(node)
                if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)
            ]  # fmt: skip
            simple = not isinstance(node, (ast.If, ast.For, ast.While))
            if simple and written:
                word = f"assignment to the {self.outer[written[0]]} variable {written[0]!r}"
                instead = "return the value instead"
            elif simple and attributes:
                word = f"assignment to the attribute .{attributes[0]}"
                instead = "assign to a local variable in the branch, and to the attribute after it"
        made = []
        if word:
            text = f"{FRAME}.unsupported({word!r}, {instead!r}, {node.lineno})"
            made += template(text, node)
        for receiver in _receivers(node):
            mine = isinstance(receiver, ast.Name) and receiver.id in self.locals
            if not mine and not any(isinstance(n, ast.Call) for n in ast.walk(receiver)):
                text = f"{FRAME}.changes({ast.unparse(receiver)}, {node.lineno})"
                made += template(text, node)
        return made

    def _define(self, word: str, at: ast.AST, block: list[ast.stmt], names: Sequence[str]) -> tuple[
        str, ast.stmt
    ]:  # fmt: skip
        """A block as a nested function without arguments."""
        self.count += 1
        name = f"{PREFIX}{word}_{getattr(at, 'lineno', 0)}_{self.count}"
        (made,) = template(f"def {name}(): pass", at)
        assert isinstance(made, ast.FunctionDef)
        made.body = [*self._declare(names, block, at), *(block or template("pass", at))]
        return name, made

    def _declare(
        self, names: Sequence[str], block: Sequence[ast.AST], at: ast.AST
    ) -> list[ast.stmt]:
        lines = [f"nonlocal {', '.join(names)}"] if names else []
        for n in bound(block):
            if n in self.outer:
                lines.append(f"{self.outer[n]} {n}")
        return template("\n".join(lines), at)

    def _accessors(self, names: Sequence[str], at: ast.AST) -> tuple[str, list[ast.stmt]]:
        """Functions that read and set the variables; the text of the arguments that name them."""
        self.count += 1
        get, put = f"{PREFIX}get_{self.count}", f"{PREFIX}set_{self.count}"
        every = "".join(f"{n}, " for n in names)
        lines = [f"def {get}(): return ({every})", f"def {put}(values):"]
        lines += [f" nonlocal {', '.join(names)}", f" {every} = values"] if names else [" pass"]
        text = f"{get}, {put}, {tuple(names)!r}, {getattr(at, 'lineno', 0)}"
        return text, template("\n".join(lines), at)

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """``if`` -> ``frame.if_(test, then, otherwise, get, set, names, line)``."""
        names = self._names([*node.body, *node.orelse])
        test = self.visit(node.test)
        then, f = self._define("then", node, self._block(node.body), names)
        other, g = self._define("else", node, self._block(node.orelse), names)
        access, accessors = self._accessors(names, node)
        word = ", 'if', True" if getattr(node, "rest", False) else ""
        call = template(f"{FRAME}.if_(0, {then}, {other}, {access}{word})", node.test)
        _first_argument(call[0], test)
        return [f, g, *accessors, *call]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """``while`` -> ``frame.while_(test, body, stops, get, set, names, line)``."""
        names = self._names(node.body)
        test = template("return 0", node.test)
        test[0].value = self.visit(node.test)  # type: ignore[attr-defined]
        f_name, f = self._define("test", node, test, ())
        b_name, b = self._define("body", node, self._block(node.body), names)
        access, accessors = self._accessors(names, node)
        stops = self._stops(node)
        call = f"{FRAME}.while_({f_name}, {b_name}, {stops}, {access})"
        return [f, b, *accessors, *template(call, node)]

    def _stops(self, node: ast.For | ast.While) -> str:
        flags = node.stops  # type: ignore[union-attr]
        if not flags:
            return "None"
        text = flags[0] if len(flags) == 1 else f"{FRAME}.either({', '.join(flags)})"
        return f"lambda: {text}"

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """``for`` -> ``frame.for_(iterable, target, body, stops, get, set, names, line)``."""
        names = self._names([node.target, *node.body])
        over = self._iterable(node.iter)
        targets = self._names([node.target])
        t_name, t = self._define("target", node, template(f"{PREFIX}x = {PREFIX}v", node), targets)
        assert isinstance(t, ast.FunctionDef)
        assert isinstance(t.body[-1], ast.Assign)
        t.args.args = [ast.copy_location(ast.arg(f"{PREFIX}v"), node)]
        t.body[-1].targets = [self.visit(node.target)]
        b_name, b = self._define("body", node, self._block(node.body), names)
        access, accessors = self._accessors(names, node)
        call = f"{FRAME}.for_(0, {t_name}, {b_name}, {self._stops(node)}, {access})"
        made = template(call, node)
        _first_argument(made[0], over)
        return [t, b, *accessors, *made]

    def _iterable(self, node: ast.expr) -> ast.expr:
        """`range`, `zip`, `enumerate` and `reversed` are called by the runtime."""
        names = ("range", "zip", "enumerate", "reversed")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in names and node.func.id not in self.locals:
                args = [self._iterable(a) for a in node.args]
                keywords = [self.visit(k) for k in node.keywords]
                function = _expression(f"{FRAME}.iterable", node)
                made = ast.Call(function, [node.func, *args], keywords)
                return ast.copy_location(made, node)
        return self.visit(node)

    def _inner_blocks(self, node: ast.stmt) -> ast.stmt:
        """Statements that stay as they are, with rewritten blocks."""
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self._block(value))
            elif isinstance(value, list):
                setattr(node, field, [self._part(v) for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def _part(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.ExceptHandler, ast.match_case)):
            return self._inner_blocks(node)  # type: ignore[arg-type]
        return self.visit(node)

    visit_Try = visit_TryStar = visit_With = visit_Match = _inner_blocks

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        """`del x` of a variable that blocks share marks it as undefined."""
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self.state:
                text = (
                    f"{FRAME}.load({target.id})\n{target.id} = {RUNTIME}.Undefined({target.id!r})"
                )
                made += template(text, node)
            else:
                made.append(ast.copy_location(ast.Delete([self.visit(target)]), node))
        return made

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """``x += v`` -> ``x = frame.inplace("iadd", x, v)`` for a shared variable."""
        if not isinstance(node.target, ast.Name) or node.target.id not in self.state:
            return self.generic_visit(node)  # type: ignore[return-value]
        name, word = node.target.id, _INPLACE[type(node.op)]
        (made,) = template(f"{name} = {FRAME}.inplace({word!r}, {FRAME}.load({name}), 0)", node)
        made.value.args[2] = self.visit(node.value)  # type: ignore[attr-defined]
        return made

    # ---- definitions -------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A function defined inside is rewritten as well."""
        self.decorating = True
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self.decorating = False
        node.args = self._defaults(node.args)
        shared = (set(self.state) | self.outside) - set(parameters(node.args))
        if is_plain(node):
            return Rewriter(node, self.file, self.owner, shared).rewrite()
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        """Coroutines stay as they are."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """Classes stay as they are."""
        return node

    def _defaults(self, args: ast.arguments) -> ast.arguments:
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [d if d is None else self.visit(d) for d in args.kw_defaults]
        return args

    # ---- expressions -------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A variable that may be undefined says so when it is read."""
        node.id = self._mangled(node.id)
        mine = node.id in self.state
        theirs = node.id in self.outside and node.id not in self.locals
        if isinstance(node.ctx, ast.Load) and (mine or theirs) and not node.id.startswith(PREFIX):
            return _expression(f"{FRAME}.load({node.id})", node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Private names of a class are written in full."""
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)  # type: ignore[return-value]

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return f"_{self.owner.lstrip('_')}{name}" if private and self.owner else name

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """``a and b`` -> ``frame.and_(lambda: a, lambda: b)``."""
        if any(has_walrus(v) for v in node.values):
            return self.generic_visit(node)  # type: ignore[return-value]
        word = "and_" if isinstance(node.op, ast.And) else "or_"
        call = _expression(f"{FRAME}.{word}({node.lineno})", node)
        call.args += [_thunk(self.visit(v)) for v in node.values]  # type: ignore[attr-defined]
        return call

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """``not a`` -> ``frame.not_(a)``."""
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)  # type: ignore[return-value]
        call = _expression(f"{FRAME}.not_({node.lineno})", node)
        call.args.append(self.visit(node.operand))  # type: ignore[attr-defined]
        return call

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """``a < b < c`` -> ``frame.chain(("lt", "lt"), a, lambda: b, lambda: c)``."""
        if len(node.ops) == 1 or any(has_walrus(v) for v in node.comparators):
            return self.generic_visit(node)  # type: ignore[return-value]
        words = tuple(_COMPARE[type(op)] for op in node.ops)
        call = _expression(f"{FRAME}.chain({node.lineno}, {words!r})", node)
        parts = [_thunk(self.visit(v)) for v in node.comparators]
        call.args += [self.visit(node.left), *parts]  # type: ignore[attr-defined]
        return call

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """``a if c else b`` -> ``frame.choose(c, lambda: a, lambda: b)``."""
        if has_walrus(node.body) or has_walrus(node.orelse):
            return self.generic_visit(node)  # type: ignore[return-value]
        call = _expression(f"{FRAME}.choose({node.lineno})", node)
        parts = [_thunk(self.visit(node.body)), _thunk(self.visit(node.orelse))]
        call.args += [self.visit(node.test), *parts]  # type: ignore[attr-defined]
        return call

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``f(x)`` -> ``frame.called(f)(x)``: functions of the user are rewritten when called.

        ``super()`` gets its arguments: blocks have no first parameter.
        """
        bare = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if bare and not node.keywords and self.params:
            return _expression(f"super(__class__, {self.params[0]})", node)
        self.generic_visit(node)
        if not self.decorating:
            function = _expression(f"{FRAME}.called", node.func)
            node.func = ast.copy_location(ast.Call(function, [node.func], []), node.func)
        return node

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        """``assert test, message`` -> a check of the truth of `test`, and the statement."""
        self.count += 1
        name = f"{PREFIX}test_{self.count}"
        test = assign(name, self.visit(node.test), node)
        node.test = ast.copy_location(ast.Name(name, ast.Load()), node.test)
        if node.msg is not None:
            node.msg = self.visit(node.msg)
        return [test, *template(f"{FRAME}.assert_({name}, {node.lineno})", node), node]


def _receivers(node: ast.stmt) -> list[ast.expr]:
    """Containers that a statement changes in place."""
    found = changed_by_method(node)
    if found is not None:
        return [found]
    if isinstance(node, ast.Assign):
        return [t.value for t in node.targets if isinstance(t, ast.Subscript)]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        return [node.target.value]
    return []


def _thunk(value: ast.expr) -> ast.expr:
    made = _expression("lambda: 0", value)
    made.body = value  # type: ignore[attr-defined]
    return made


def _first_argument(call: ast.stmt, value: ast.expr) -> None:
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    call.value.args[0] = value
