"""`library`: makes a public array function one compiled program when it is called eagerly."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.dtypes import python_scalar_dtype, result_type_of
from ..core.exact import exact, is_ambiguous
from ..core.integers import fits, plain_integer
from ..core.tracing import EVAL, Tracer, Value, current, leaked, type_of
from ..runtime import xla
from ..runtime.array import Array
from ..runtime.transfer import as_array, constant, learn_quick_array, quick_array, quick_operands
from ..tree import raw_flatten
from .bad_calls import explained
from .dispatch import Entry, HostEntry, arrays_of
from .door import door
from .eager import concrete
from .host_program import HostProgram, Plan, result_placements
from .program import Program, compile_graph
from .program_checks import program_check
from .tracing import trace_function

_is = operator.is_
_new: Callable[[type[Array]], Array] = object.__new__
_state = config.current
_current = current.get
_LEAF = raw_flatten(0)[1]
_ONE = raw_flatten((0,))[1]
_LIMIT = 1024
_INT32 = range(-(2**31), 2**31)
_NUMBERS = frozenset((bool, int, float, complex))
_FLAT = _NUMBERS | {str, type, type(None)}
_LEAVES = _NUMBERS | {Array, np.ndarray}
_ARRAYS = (Value, np.ndarray, np.generic)


def run(entry: Entry, buffers: list[Any]) -> Any:
    """Run a plain entry on buffers."""
    try:
        outs = entry.run(buffers).consume_with_handlers(entry.handlers)
    except xla.JaxRuntimeError as error:
        raise entry.program.failure(buffers, error) from error
    where = entry.only
    if where is None:
        return entry.unflatten(arrays_of(outs, entry.placements))  # type: ignore[misc]
    made = _new(Array)
    made.buffer, made.placement, made.type = outs[0], where, where.type
    return made


def on_device(x: Any) -> Any:
    """A number, or a NumPy array of a kind seen before, as an array; everything else stays."""
    kind = type(x)
    if kind in _NUMBERS:
        return constant(x)
    if kind is np.ndarray:
        made = quick_array(x)
        return x if made is None else made
    return x


def _with_integers(leaves: Sequence[Any]) -> list[Any]:
    """Leaves with Python ints as numbers of the integer dtype of the arrays beside them.

    An int beside floats or beside arrays of the default integer dtype stays: it is weakly typed.

    Raises:
        OverflowError: one does not fit, or fits no integer dtype beside floats.
    """
    dtype = None
    for x in leaves:
        if type(x) is Array or isinstance(x, _ARRAYS):
            t = type_of(x)
            if t.inexact:
                return _beside_floats(leaves)
            if t.kind in "iu":
                own = (t.dtype, False)
                dtype = t.dtype if dtype is None else result_type_of(((dtype, False), own))[0]
        elif type(x) is float or type(x) is complex:
            return _beside_floats(leaves)
    if dtype is None:
        return list(leaves)
    if not all(fits(x, dtype) for x in leaves if type(x) is int):
        raise OverflowError
    if dtype is python_scalar_dtype(int):
        return list(leaves)
    return [concrete(dtype.type(x), "asarray") if type(x) is int else x for x in leaves]


def _beside_floats(leaves: Sequence[Any]) -> list[Any]:
    for x in leaves:
        if type(x) is int and x not in _INT32 and not fits(x, python_scalar_dtype(int)):
            raise OverflowError
    return list(leaves)


def library(
    arrays: int = 1, in_place: bool = False, host: Plan | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: run a function as one cached program on concrete arrays.

    Under a transformation the function is simply called, so that it traces straight into the
    caller's graph. On concrete arrays it is traced and compiled once for each combination of
    array types and values of its other arguments.

    Args:
        arrays: the first `arrays` positional parameters hold arrays or pytrees (also numbers); the
            others are options: part of the cache key, unless an array is passed for one.
        in_place: the first array, which is on a device, gives its memory to the one result.
        host: asked for a NumPy kernel that gives what the program gives, only faster; see
            `host_program`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _dispatched(function, _Slow(function, arrays, in_place, host))

    return decorate


def _dispatched(function: Callable[..., Any], slow: _Slow) -> Callable[..., Any]:
    """The function that users call: the shorter the way of a call, the earlier it is tried."""
    arrays, entries, quick = slow.arrays, slow.entries, slow.quick
    call_slowly = door(slow.explained)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _current() is not EVAL:
            try:
                return function(*args, **kwargs)
            except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
                if (found := explained(function, error, args, kwargs)) is not error:
                    raise found from error
                raise
        if quick and not kwargs and len(args) <= arrays:
            buffers: list[Any] = []
            try:
                # Written out for the most frequent calls: a comprehension takes as long as
                # all of the rest.
                if len(args) == 1:
                    x = args[0]
                    entry = quick.get((_state(), x.placement))
                    buffers = [x.buffer]
                elif args and type(args[-1]) in _NUMBERS:  # an exception would cost more
                    entry, buffers = slow.quickly(args)
                elif len(args) == 2:
                    x, y = args
                    entry = quick.get((_state(), x.placement, y.placement))
                    buffers = [x.buffer, y.buffer]
                else:
                    entry = quick.get((_state(), *[x.placement for x in args]))
                    buffers = [x.buffer for x in args]
            except AttributeError:  # numbers, NumPy arrays or trees
                entry, buffers = slow.quickly(args)
            if entry is not None:
                return run(entry, buffers)
        try:
            if len(args) == 1 and type(args[0]) is Array:
                leaves, tree = args, _ONE
            else:
                leaves, tree = raw_flatten(args[:arrays])
            options, kinds = _with_kinds(args[arrays:], kwargs)
            try:
                places, buffers = [x.placement for x in leaves], [x.buffer for x in leaves]
            except AttributeError:  # numbers or NumPy arrays; None, and so TypeError, if new
                places, buffers = slow.operands(leaves)  # type: ignore[misc]
            entry = entries[(tree, _state(), options, *kinds, *places)]
        except (KeyError, TypeError, ValueError, AttributeError):
            entry = None
        if entry is None:
            return call_slowly(args, kwargs)
        if not entry.plain:
            made = zip(leaves, buffers, places, strict=True)
            return slow.run(entry, [x if type(x) is Array else Array(b, p) for x, b, p in made])
        if not options and len(leaves) == len(args) and all(map(_is, leaves, args)):
            _remember(quick, leaves, entry)
        return run(entry, buffers)

    return call


def _with_kinds(options: Any, kwargs: dict[str, Any]) -> tuple[Any, Sequence[type]]:
    """Options and their types: to a dictionary 1 is True and 1.0."""
    kinds: Sequence[type] = [*map(type, options), *map(type, kwargs.values())]
    if kwargs:
        options += (*kwargs.items(),)
    if not _FLAT.issuperset(kinds):
        kinds = [*kinds, *map(type, raw_flatten(options)[0])]
    return options, kinds


def _remember(quick: dict[Any, Entry], arrays: Sequence[Any], entry: Entry) -> None:
    """Let a call with these arrays alone find its program by their placements."""
    if len(quick) >= _LIMIT:
        quick.clear()
    quick[(_state(), *[x.placement for x in arrays])] = entry


class _Slow:
    """Calls that are not in the table: first calls, numbers, NumPy arrays, arrays as options."""

    def __init__(
        self,
        function: Callable[..., Any],
        arrays: int,
        in_place: bool = False,
        host: Plan | None = None,
    ):
        self.function, self.arrays, self.host = function, arrays, host
        self.entries: dict[Any, Entry] = {}
        self.quick: dict[Any, Entry] = {}
        """Calls with arrays only, by position: (flags, placements)."""
        self.in_place = {0: 0} if in_place else {}

    def explained(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call, with errors of Python in our form."""
        try:
            return self(args, kwargs)
        except Exception as error:
            if (found := explained(self.function, error, args, kwargs)) is not error:
                raise found from error
            raise

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        known = self._known(args, kwargs)
        if known is not None:
            return self.run(*known)
        state = _state()
        if state.disable_jit:
            return self.function(*args, **kwargs)
        try:
            dynamic = [_prepared(x) for x in args[: self.arrays]]
        except ValueError:  # ragged lists: the function itself says so
            return self.function(*args, **kwargs)
        options, extra = _frozen_options(args[self.arrays :], kwargs)
        leaves, tree = raw_flatten((dynamic, extra))
        leaves = [plain_integer(x) for x in leaves]
        if int in map(type, leaves):
            try:
                leaves = _with_integers(leaves)
            except OverflowError:  # the function itself says what that number means
                return self.function(*args, **kwargs)
        for i, x in enumerate(leaves):
            if type(x) is not Array:
                if isinstance(x, Tracer):
                    raise leaked(x)
                if not isinstance(x, (bool, int, float, complex, *_ARRAYS)) and not hasattr(
                    x, "__array__"
                ):
                    # The function itself knows which argument this is and gives the error.
                    return self.function(*args, **kwargs)
                leaves[i] = made = as_array(x)
                if type(x) is np.ndarray:
                    learn_quick_array(x, made)
        placements = [x.placement for x in leaves]
        key: tuple[Any, ...] = ("slow", tree, state, exact(options), *placements)
        entry = self.entries.get(key)
        if entry is None:
            entry = self._compile(tree, leaves, options, placements)
            if len(self.entries) >= _LIMIT:
                self.entries.clear()
            self.entries[key] = entry
        self._remember_fast_key(args, kwargs, entry, placements)
        return self.run(entry, leaves)

    def operands(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
        """Placements and buffers of arrays, numbers and NumPy arrays; None if one is new."""
        try:
            return quick_operands(_with_integers(values) if int in map(type, values) else values)
        except (OverflowError, MemoryError, RuntimeError):  # explained where all is looked at
            return None

    def quickly(self, args: Sequence[Any]) -> tuple[Entry | None, list[Any]]:
        """The entry of a call with arrays and numbers by position, and their buffers."""
        found = self.operands(args)
        if found is None:
            return None, []
        placements, buffers = found
        return self.quick.get((_state(), *placements)), buffers

    def _compile(self, tree: Any, leaves: list[Any], options: Any, placements: list[Any]) -> Entry:
        name, types = self.function.__name__, [x.type for x in leaves]
        wrapped = raw_flatten(((dynamic_of(tree, leaves)), {}))[1]
        traced = trace_function(_with_options(self.function, options), wrapped, types, label="call")
        captured = traced.captured_arrays()
        check = program_check(name, traced.graph, captured, eager=True)
        if self.host is not None and not captured and check is None:
            found = result_placements(name, placements, traced.out_types)
            if found is not None:
                kernel = _with_options(self.host, options)(*dynamic_of(tree, types))
                if kernel is not None:
                    return HostEntry(HostProgram(name, kernel, placements, found), traced.out_tree)
        program: Program = compile_graph(
            traced.graph,
            placements,
            captured,
            in_place=self.in_place,
            use_context_mesh=False,
        )
        program.check = check
        return Entry(program, traced.out_tree, _LEAF)

    def _fast_key(self, args: Any, kwargs: Any) -> tuple[Any, list[Any]]:
        """The key that the fast path builds, with numbers as arrays; and the arrays."""
        leaves, tree = raw_flatten(args[: self.arrays])
        if int in map(type, leaves):
            leaves = _with_integers(leaves)
        leaves = [x if type(x) is Array else on_device(x) for x in leaves]
        options, kinds = _with_kinds(args[self.arrays :], kwargs)
        placements = [x.placement for x in leaves]
        tree = _ONE if tree == _ONE else tree  # the very object, so that keys compare quickly
        return (tree, _state(), options, *kinds, *placements), leaves

    def _known(self, args: Any, kwargs: Any) -> tuple[Entry, list[Any]] | None:
        """Entry and arrays of a call with arrays and Python numbers only, if it is in the table."""
        try:
            key, leaves = self._fast_key(args, kwargs)
            return self.entries[key], leaves
        except (KeyError, AttributeError, TypeError, ValueError, OverflowError):
            return None

    def _remember_fast_key(
        self, args: Any, kwargs: Any, entry: Entry, placements: list[Any]
    ) -> None:
        """Enter the key that the fast path builds, if it can build one for this call.

        Not if the program takes other arrays than those the fast path would pass: lists of
        numbers are one array, and arrays among the options are arguments too. Nor if an option
        is a number that the table would take for another one, such as 0.0 for -0.0.
        """
        if is_ambiguous(args[self.arrays :]) or is_ambiguous((*kwargs.values(),)):
            return
        try:
            key, leaves = self._fast_key(args, kwargs)
            if [x.placement for x in leaves] == placements:
                self.entries[key] = entry
                by_position = not kwargs and len(args) == len(leaves) <= self.arrays
                if by_position and entry.plain and all(type(x) in _LEAVES for x in args):
                    _remember(self.quick, leaves, entry)
        except (AttributeError, TypeError, ValueError, OverflowError):
            pass

    def run(self, entry: Entry, leaves: list[Any]) -> Any:
        """Run an entry on arrays."""
        outs = entry.program(leaves)
        return outs[0] if entry.unflatten is None else entry.unflatten(outs)


def _with_options(function: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """The function of (dynamic arguments, arrays among the options) with these options."""
    positional, named = options

    def call(dynamic: list[Any], extra: dict[Any, Any]) -> Any:
        rest = [extra.get((0, i), value) for i, (_, value) in enumerate(positional)]
        keywords = {name: value for name, _, value in named}
        keywords.update((n, v) for (named, n), v in extra.items() if named)
        return function(*dynamic, *rest, **keywords)

    call.__name__ = function.__name__
    return call


def dynamic_of(tree: Any, leaves: list[Any]) -> tuple[Any, Any]:
    """(dynamic arguments, arrays among the options) from their leaves."""
    dynamic, extra = tree.unflatten(leaves)
    return dynamic, extra


def _prepared(x: Any) -> Any:
    """Nested lists of numbers become one array; everything else stays."""
    if isinstance(x, (list, tuple)) and x and _is_numbers(x):
        return np.asarray(x)
    return x


def _is_numbers(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return all(_is_numbers(y) for y in x)
    return isinstance(x, (bool, int, float, complex))


def _frozen_options(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Hashable options with their types, and the arrays that were passed as options."""
    extra: dict[Any, Any] = {}
    positional = []
    for i, x in enumerate(args):
        if _is_array(x):
            extra[0, i] = x
            x = None
        positional.append((type(x), freeze(x)))
    named = []
    for name in sorted(kwargs):
        x = kwargs[name]
        if _is_array(x):
            extra[1, name] = x
        else:
            named.append((name, type(x), freeze(x)))
    return (tuple(positional), tuple(named)), extra


def _is_array(x: Any) -> bool:
    """Whether an option is an array; NumPy's integers are axes and sizes, as Python's are."""
    return isinstance(x, _ARRAYS) and not isinstance(x, (np.integer, np.bool_))


def freeze(x: Any) -> Any:
    """`x` with lists as tuples, so that it can be hashed."""
    if isinstance(x, (list, tuple)):
        return tuple(freeze(y) for y in x)
    try:
        hash(x)
    except TypeError:
        raise errors.ArgumentError(
            errors.explain(
                "option",
                f"an option of type {type(x).__name__} is neither an array nor hashable",
                {"option": repr(x)},
            )
        ) from None
    return x
