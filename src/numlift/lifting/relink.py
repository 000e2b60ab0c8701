"""Give a user's function a NumPy whose arrays take traced values.

NumPy asks nobody before it converts or creates: `np.asarray(x)` of a traced value must fail, and
no traced value fits into `np.zeros(3)`. So `lift` runs a copy of the function in which the names
that mean NumPy, and NumPy's functions, mean the ones below. Functions that it calls by a global
name or from a closure are copied as well.
"""

from __future__ import annotations

import dis
import functools
import math
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .. import numpy as nlnp
from ..core.tracing import Value
from ..errors import is_internal, is_internal_file
from ..tree import tree_map
from . import iteration
from .builtins import ARRAY_CLASS, BUILTINS, MATH, MATH_FUNCTIONS
from .calls import call, ours_for
from .classes import LIBRARIES, Classes
from .iteration import ITERATION
from .masked import Masked
from .random_numbers import GENERATORS, RANDOM, OutsideGenerator
from .scalars import NUMPY
from .writable import Writable, plain

_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "array": nlnp.array,
    "asarray": nlnp.asarray,
    "asanyarray": nlnp.asarray,
    "asarray_chkfinite": nlnp.asarray,
    "ascontiguousarray": nlnp.asarray,
    "asfortranarray": nlnp.asarray,
    "require": lambda a, dtype=None, requirements=None: nlnp.asarray(a, dtype),
}


def _converting(name: str, theirs: Callable[..., Any], ours: Callable[..., Any]) -> Any:
    """A conversion: traced values have no layout, and an array that needs no change is itself."""

    def converted(a: Any, *args: Any, **kwargs: Any) -> Any:
        for option in ("order", "subok", "like"):
            kwargs.pop(option, None)
        return ours(a, *args, **kwargs)

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return call(name, theirs, converted, args, kwargs)

    return function


def _function(name: str, theirs: Any) -> Any:
    """What a function of NumPy is in lifted code."""
    if name in _CONVERSIONS:
        return _converting(name, theirs, _CONVERSIONS[name])
    ours = ours_for(theirs)

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return call(name, theirs, ours, args, kwargs)

    return function


class _ArrayClass(type):
    """`numpy.ndarray` in lifted code: writable arrays are instances too."""

    def __instancecheck__(cls, x: Any) -> bool:
        return not x.is_scalar() if type(x) is Writable else isinstance(x, np.ndarray)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is Writable or kind is ndarray or issubclass(kind, np.ndarray)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return Writable(np.ndarray(*args, **kwargs))

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ndarray, name)


class ndarray(metaclass=_ArrayClass):
    """Stands for `numpy.ndarray`."""


ARRAY_CLASS[np.ndarray] = ndarray


class _TracedNumPy(ModuleType):
    """A module of NumPy with the functions above."""

    def __init__(self, module: Any):
        super().__init__(module.__name__, module.__doc__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        made = _SUBMODULES.get(id(found)) or _changed_function(found)
        setattr(self, name, made)
        return made


_SUBMODULES: dict[int, Any] = {id(math): MATH, id(np.random): RANDOM}
_STRIDES = np.lib.stride_tricks
for _module in (np, np.linalg, np.fft, np.lib, _STRIDES, np.emath):
    _SUBMODULES[id(_module)] = _TracedNumPy(_module)
_PUBLIC = {
    id(f)
    for m in (np, np.linalg, np.fft, _STRIDES, np.emath)
    for name, f in vars(m).items()
    if callable(f) and str(getattr(f, "__module__", "")).startswith("numpy") and name[0] != "_"
} | {id(np.vectorize), id(np.ndarray)}


_REPLACED: dict[int, Any] = {id(getattr(np, name)): f for name, f in ITERATION.items()}
"""Functions and classes of NumPy that lifted code has its own of."""
_REPLACED[id(_STRIDES.sliding_window_view)] = iteration.sliding_window_view
_REPLACED[id(_STRIDES.as_strided)] = iteration.as_strided


def _changed_function(x: Any) -> Any:
    if x is np.vectorize:
        return nlnp.vectorize
    if x is np.ndarray:
        return ndarray
    if id(x) in MATH_FUNCTIONS:
        return MATH_FUNCTIONS[id(x)]
    if isinstance(x, type) and x in NUMPY:
        return NUMPY[x]
    if id(x) in _REPLACED:
        return _REPLACED[id(x)]
    if id(x) not in _PUBLIC or isinstance(x, (type, np.ufunc)):
        return x  # ufuncs ask their arguments
    return _function(x.__name__, x)


class Namespace:
    """The array API namespace of writable arrays: `numlift.numpy`, with writable results."""

    def __getattr__(self, name: str) -> Any:
        ours, theirs = getattr(nlnp, name), getattr(np, name, None)
        if isinstance(ours, ModuleType):
            return _SUBMODULES[id(theirs)]
        if isinstance(theirs, type):
            return theirs  # a dtype
        if not callable(ours) or theirs is None:
            return ours
        made = functools.partial(call, name, theirs, ours)
        return lambda *args, **kwargs: made(args, kwargs)


_NAMESPACE = Namespace()
Writable.__array_namespace__ = lambda self, *, api_version=None: _NAMESPACE  # type: ignore[attr-defined]


def relink(fun: Any) -> Any:
    """A copy of a user's function that sees the NumPy above.

    So are those of the user's modules, and the methods of classes. Functions of libraries stay as
    they are.
    """
    relinker = _Relinker()
    made = relinker.changed(fun)
    inner = relinker.assigning(made if _is_transformation(fun) else entered(made))

    @functools.wraps(fun)
    def function(*args: Any, **kwargs: Any) -> Any:
        relinker.classes.visit((*args, *kwargs.values()))
        with relinker.classes:
            return inner(*args, **kwargs)

    return function


def _is_transformation(fun: Any) -> bool:
    return isinstance(fun, FunctionType) and is_internal(fun.__code__)


def entered(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun` called from outside: its arguments become writable arrays, its results plain ones."""

    @functools.wraps(fun)
    def function(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map(_argument, (args, kwargs))
        return tree_map(_result, fun(*args, **kwargs))

    return function


def _result(x: Any) -> Any:
    if type(x) is Masked:
        raise x.refused("they were returned")
    return plain(x)


def _argument(x: Any) -> Any:
    if isinstance(x, Value) and not x.type.ndim:
        return Writable(x, scalar=True)
    if isinstance(x, (Value, np.ndarray)):
        return Writable(x, read_only="an argument of the function", layout=True)
    return x


def _names(code: CodeType) -> set[str]:
    """Global names that a code object may use, with the functions defined in it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found


_STORE = dis.opmap["STORE_GLOBAL"]


def _assigned(code: CodeType) -> set[str]:
    """Global names that a code object assigns."""
    found = set()
    if _STORE in code.co_code[::2]:
        found = {x.argval for x in dis.get_instructions(code) if x.opcode == _STORE}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _assigned(constant)
    return found


class _UserModule(ModuleType):
    """A module whose attributes are those for lifted code."""

    def __init__(self, module: ModuleType, changed: Callable[[Any], Any]):
        vars(self).update(_module=module, _changed=changed, __name__=module.__name__)

    def __getattr__(self, name: str) -> Any:
        return self._changed(getattr(self._module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, plain(value))


class _Relinker:
    def __init__(self) -> None:
        self.made: dict[int, Any] = {}
        self.cells: dict[int, CellType] = {}
        self.spaces: dict[int, tuple[dict[str, Any], dict[str, Any], set[str]]] = {}
        self.stored: list[tuple[dict[str, Any], dict[str, Any], str]] = []
        self.classes = Classes(self.changed)

    def changed(self, x: Any) -> Any:
        """What stands in the place of `x`: `x` itself if nothing needs to change."""
        if isinstance(x, FunctionType) and id(x) not in _PUBLIC:
            made = self.made.get(id(x))
            return self._function(x) if made is None else made
        if isinstance(x, MethodType):
            self.classes.visit(x.__self__)
            return MethodType(self.changed(x.__func__), x.__self__)
        if isinstance(x, functools.partial):
            return functools.partial(self.changed(x.func), *x.args, **x.keywords)
        if isinstance(x, ModuleType):
            return _SUBMODULES.get(id(x)) or self._module(x)
        if isinstance(x, GENERATORS):
            return OutsideGenerator()
        if isinstance(x, np.vectorize):
            return nlnp.vectorize(
                self.changed(x.pyfunc), excluded=x.excluded, signature=x.signature
            )
        if type(x) is np.ndarray and x.dtype.kind in "biufc":
            return Writable(x, read_only="an array that is defined outside of the function")
        made = _changed_function(x) if callable(x) else x
        if made is x:
            self.classes.visit(x)
        return made

    def _module(self, x: ModuleType) -> ModuleType:
        """A module of the user, whose functions run as lifted code too."""
        file = getattr(x, "__file__", None) or LIBRARIES[0]
        if file.startswith(LIBRARIES) or is_internal_file(file):
            return x
        return self.made.setdefault(id(x), _UserModule(x, self.changed))

    def assigning(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """`fun`, whose assignments to global names reach their modules."""
        if not self.stored:
            return fun

        @functools.wraps(fun)
        def function(*args: Any, **kwargs: Any) -> Any:
            before = [names.get(name) for names, _, name in self.stored]
            try:
                return fun(*args, **kwargs)
            finally:
                for (names, module, name), old in zip(self.stored, before, strict=True):
                    if names.get(name) is not old:
                        module[name] = plain(names[name])

        return function

    def _function(self, fun: FunctionType) -> Any:
        code = fun.__code__
        internal = is_internal(code)  # a transformation: the user's function is in its closure
        if not internal and code.co_filename.startswith(LIBRARIES):
            return fun
        if internal and not fun.__closure__:
            return fun
        names = fun.__globals__ if internal else self._names(fun.__globals__)
        cells = tuple(self._cell(cell, internal) for cell in fun.__closure__ or ())
        made = FunctionType(code, names, fun.__name__, fun.__defaults__, cells)
        self.made[id(fun)] = self.made[id(made)] = made
        functools.update_wrapper(made, fun)
        made.__kwdefaults__ = fun.__kwdefaults__
        for cell, old in zip(cells, fun.__closure__ or (), strict=True):
            self._fill(cell, old, internal)
        if not internal:
            self._link(code, fun.__globals__)
            if fun.__defaults__:
                made.__defaults__ = tuple(map(self._default, fun.__defaults__))
        return made

    def _default(self, x: Any) -> Any:
        return self.changed(x) if callable(x) or type(x) is np.ndarray else x

    def _names(self, module: dict[str, Any]) -> dict[str, Any]:
        """The copy of a module's names that all functions of the module share."""
        if id(module) not in self.spaces:
            self.spaces[id(module)] = (dict(module), module, set())
        return self.spaces[id(module)][0]

    def _link(self, code: CodeType, module: dict[str, Any]) -> None:
        names, _, done = self.spaces[id(module)]
        for name in _names(code) - done:
            done.add(name)
            if name in names:
                names[name] = self.changed(names[name])
            elif name in BUILTINS:
                names[name] = BUILTINS[name]
        self.stored += [(names, module, name) for name in _assigned(code)]

    def _cell(self, old: CellType, internal: bool) -> CellType:
        """A cell for the changed content; the cell itself if nothing changes, for `nonlocal`."""
        try:
            content = old.cell_contents
        except ValueError:  # a name that is not bound yet
            return old
        changes = callable(content) or isinstance(content, (ModuleType, np.ndarray, *GENERATORS))
        if not changes:
            self.classes.visit(content)
        if internal:
            return CellType()
        return self.cells.setdefault(id(old), CellType()) if changes else old

    def _fill(self, cell: CellType, old: CellType, internal: bool) -> None:
        if cell is old:
            return
        try:
            cell.cell_contents  # noqa: B018  (filled by another function of the same scope)
        except ValueError:
            try:
                content = old.cell_contents
            except ValueError:
                return
            cell.cell_contents = self._in_closure(content, internal)

    def _in_closure(self, content: Any, internal: bool) -> Any:
        if internal and isinstance(content, np.ndarray):
            return content
        made = self.changed(content)
        if internal and made is not content and not _is_transformation(content):
            return entered(made)
        return made


__all__ = ["relink"]
