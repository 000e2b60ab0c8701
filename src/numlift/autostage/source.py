"""From a function object to its syntax tree, and from a changed tree back to a function."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import inspect
import linecache
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from .. import errors
from .rewrite import RUNTIME, Rewriter, is_plain

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


def _refuse(fun: Any, rule: str, try_: str | None = None) -> errors.AutostageError:
    code = getattr(fun, "__code__", None)
    line = None if code is None else errors.source_line(code.co_filename, code.co_firstlineno)
    name = getattr(fun, "__name__", type(fun).__name__)
    return errors.AutostageError(errors.explain(f"autostage({name})", rule, line=line, try_=try_))


def _parameters(code: CodeType) -> tuple[str, ...]:
    n = code.co_argcount + code.co_kwonlyargcount
    n += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:n]


def _given(args: ast.arguments) -> tuple[str, ...]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [a for a in (args.vararg, args.kwarg) if a is not None]
    return tuple(a.arg for a in every)


def definition(fun: FunctionType) -> ast.FunctionDef:
    """The definition of a function in its file, without decorators, defaults and annotations.

    Raises:
        AutostageError: there is no source, or it has changed.
    """
    code = fun.__code__
    lines = linecache.getlines(code.co_filename, fun.__globals__)
    if not lines:
        raise _refuse(
            fun,
            f"the source of the function is not available ({code.co_filename})",
            "define the function in a file, or write lax.cond, lax.while_loop or lax.scan",
        )
    try:
        tree = _parsed("".join(lines), code.co_filename)
    except SyntaxError as error:
        raise _refuse(fun, f"the source of the function cannot be parsed: {error}") from None
    found = [n for n in ast.walk(tree) if _matches(n, code)]
    if len(found) > 1:
        found = [n for n in found if _spans(n, code)]
    if len(found) != 1:
        raise _refuse(
            fun,
            "the source of the function is not in its file as it was defined"
            if not found
            else "several lambdas with the same parameters are on one line",
            "define the function with def, and restart Python if the file was edited",
        )
    node = copy.deepcopy(found[0])
    if isinstance(node, ast.Lambda):
        result = ast.copy_location(ast.Return(node.body), node.body)
        (made,) = ast.parse("def _nl_lambda(): pass").body
        assert isinstance(made, ast.FunctionDef)
        made.args, made.body = node.args, [result]
        node = ast.copy_location(made, node)
    assert isinstance(node, ast.FunctionDef)
    args = node.args
    args.defaults, args.kw_defaults = [], [None] * len(args.kwonlyargs)
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if a is not None:
            a.annotation = None
    node.decorator_list, node.returns = [], None
    return node


@functools.lru_cache(maxsize=16)
def _parsed(text: str, file: str) -> ast.Module:
    """The syntax tree of a file, which stays as it is."""
    return ast.parse(text, file)


def _matches(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return (
            code.co_name == "<lambda>"
            and node.lineno == code.co_firstlineno
            and _given(node.args) == _parameters(code)
        )
    if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        given = tuple(_plain(n) for n in _given(node.args))
        return first == code.co_firstlineno and given == tuple(map(_plain, _parameters(code)))
    return False


def _plain(name: str) -> str:
    """A parameter name without the class that Python puts in front of private names."""
    at = name.find("__", 1)
    return name[at:] if name.startswith("_") and not name.startswith("__") and at > 0 else name


def _spans(node: ast.AST, code: CodeType) -> bool:
    """Whether the instructions of a lambda lie in its body."""
    body = node.body if isinstance(node, ast.Lambda) else node
    assert isinstance(body, (ast.expr, ast.FunctionDef))
    places = [p for p in code.co_positions() if p[2] is not None and p[0] is not None]
    starts = [(line, column) for line, _, column, _ in places if column or line]
    inside = [(body.lineno, body.col_offset) <= s for s in starts]  # type: ignore[operator]
    ends = [(e, c) <= (body.end_lineno, body.end_col_offset) for _, e, _, c in places]  # type: ignore[operator]
    return bool(starts) and all(inside[1:]) and all(ends[1:])


def rewritten(fun: FunctionType, runtime: Any) -> FunctionType:
    """The function with staged control flow; same name, defaults, closure and line numbers."""
    code = fun.__code__
    made = _rewritten_code(code, fun)
    cells = dict(zip(code.co_freevars, fun.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(runtime)
    closure = tuple(cells[n] for n in made.co_freevars)
    result = FunctionType(made, fun.__globals__, fun.__name__, fun.__defaults__, closure)
    result.__kwdefaults__ = fun.__kwdefaults__
    result.__qualname__, result.__doc__ = fun.__qualname__, fun.__doc__
    result.__module__, result.__annotations__ = fun.__module__, fun.__annotations__
    result.__dict__.update(fun.__dict__)
    return result


_codes: WeakKeyDictionary[CodeType, CodeType] = WeakKeyDictionary()


def _rewritten_code(code: CodeType, fun: FunctionType) -> CodeType:
    """The code of the changed function, made once for all closures of a definition."""
    made = _codes.get(code)
    if made is None:
        made = _codes[code] = _compile(fun)
    return made


def _compile(fun: FunctionType) -> CodeType:
    code = fun.__code__
    node = definition(fun)
    if not is_plain(node):
        raise _refuse(fun, "generators and coroutines cannot be staged")
    file = code.co_filename
    parts = code.co_qualname.split(".")
    owner = parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else None
    node = Rewriter(node, file, owner, set()).rewrite()
    node.name = "_nl_function"  # its own name in its body is that of the module or the closure
    names = [RUNTIME, *(n for n in code.co_freevars if n != RUNTIME)]
    factory = ast.parse(f"def _nl_factory({', '.join(names)}): pass")
    outer = factory.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [node]
    ast.fix_missing_locations(factory)
    flags = code.co_flags & _FUTURES
    compiled = compile(factory, file, "exec", flags=flags, dont_inherit=True)
    made = _code_named(_code_named(compiled, "_nl_factory"), node.name)
    return made.replace(
        co_name=code.co_name, co_qualname=code.co_qualname, co_firstlineno=code.co_firstlineno
    )


def _code_named(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
