"""Dispatch of jitted functions: from arguments to a compiled program."""

from __future__ import annotations

import functools
import operator
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..config import current as current_flags
from ..core.refs import Ref, load
from ..core.tracing import EVAL, Tracer, apply, current, named_axes, type_of
from ..core.types import ArrayType
from ..ops.call import call_of
from ..runtime import xla
from ..runtime.array import Array
from ..runtime.placement import Placement, default_placement, placement, sharded_type
from ..runtime.transfer import as_array, learn_quick_array, quick_operands, to_sharding
from ..tree import raw_flatten, tree_broadcast, tree_flatten, tree_leaves
from .door import door
from .host_program import HostProgram
from .program import Program, Recent, compile_graph
from .program_checks import program_check
from .ref_programs import RefProgram, placement_of, ref_options
from .refs import RefUse, operands, ref_places, results
from .shapes import abstract_type
from .signature import Statics
from .stats import Call, Record, RefType
from .tracing import (
    TracedFunction,
    argument_path,
    check_argument,
    name_of,
    trace_function,
)

_is = operator.is_
_new: Callable[[type[Array]], Array] = object.__new__
_state = current_flags
_current = current.get


class Entry:
    """What a call with a known key runs."""

    program: Program | RefProgram | HostProgram

    __slots__ = (
        "program", "run", "handlers", "placements", "unflatten", "plain", "arrange", "only"
    )  # fmt: skip

    def __init__(self, program: Program, out_tree: Any, leaf_tree: Any):
        self.program = program
        self.run, self.handlers, self.placements = program.run, program.handlers, program.placements
        self.unflatten = None if out_tree == leaf_tree else out_tree.unflatten
        self.plain = program.plain and program.check is None
        self.arrange = _arranger(program)
        # Placement of the result if there is one and nothing else to be done, else None.
        self.only = self.placements[0] if self.plain and self.unflatten is None else None


def _arranger(program: Program) -> Callable[[list[Any]], Sequence[Any]] | None:
    """How buffers of arguments become those of the executable; None where more is to be done."""
    if program.check is not None or program.moves or program.callbacks:
        return None
    leading, kept = program.leading, program.kept
    if kept is None:
        return leading.__add__

    def chosen(buffers: list[Any]) -> list[Any]:
        every = leading + buffers
        return [every[i] for i in kept]

    return chosen


class RefEntry(Entry):
    """What a call of a function that uses refs runs."""

    __slots__ = ()

    def __init__(self, program: RefProgram, out_tree: Any):
        self.program, self.plain, self.arrange, self.only = program, False, None, None
        self.unflatten = None if out_tree == _LEAF else out_tree.unflatten


class HostEntry(Entry):
    """What an eager call runs that a NumPy kernel answers."""

    __slots__ = ()

    def __init__(self, program: HostProgram, out_tree: Any):
        self.program, self.plain, self.arrange = program, True, None
        self.run, self.handlers, self.placements = program.run, [], program.placements
        self.unflatten = None if out_tree == _LEAF else out_tree.unflatten
        self.only = self.placements[0] if self.unflatten is None else None


_LEAF = raw_flatten(0)[1]
_alive: weakref.WeakSet[Jitted] = weakref.WeakSet()


class Jitted:
    """State of one jitted function: options, traced graphs, compiled programs."""

    def __init__(self, fun: Callable[..., Any], statics: Statics, options: dict[str, Any]):
        self.fun, self.statics, self.name = fun, statics, name_of(fun)
        self.donate_argnums: tuple[int, ...] = options["donate_argnums"]
        self.donate_argnames: tuple[str, ...] = options["donate_argnames"]
        self.in_shardings, self.out_shardings = options["in_shardings"], options["out_shardings"]
        self.keep_unused, self.inline = options["keep_unused"], options["inline"]
        self.compiler_options = options["compiler_options"]
        self.entries: dict[Any, Entry] = {}
        self.quick: dict[Any, Entry] = {}
        """Calls with arrays and numbers as positional arguments: (statics, flags, placements)."""
        self.hosts = False  # whether the last of these calls had numbers or NumPy arrays
        self.traces = Recent(options.get("cache_size", 2048))
        self.record = Record(self.name, fun, statics)
        _alive.add(self)

    def clear(self) -> None:
        """Forget everything traced and compiled."""
        self.entries.clear()
        self.quick.clear()
        self.traces.clear()

    # ---- tracing -----------------------------------------------------------------------------

    def trace(
        self,
        statics: tuple[Any, ...],
        tree: Any,
        types: Sequence[ArrayType],
        refs: tuple[int, ...] = (),
    ) -> TracedFunction:
        """The graph for these static values, structure and types; remembered.

        `refs` are the positions of the leaves that are refs.
        """
        axes = {} if _current() is EVAL else named_axes()
        key = (self.statics.key(statics), tree, _state(), tuple(types), tuple(axes.items()), refs)
        found = self.traces.get(key)
        if found is None:
            start = time.perf_counter()
            found = trace_function(self.statics.bind(self.fun, statics), tree, types, refs=refs)
            self.record.traced(time.perf_counter() - start)
            if found.reusable:
                self.traces.put(key, found)
                shown = tuple([RefType(t) if i in refs else t for i, t in enumerate(types)])
                self.record.explain(Call(statics, tree, shown, _state(), dict(axes)))
        return found

    # ---- calling -----------------------------------------------------------------------------

    def call_slowly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is not (yet) in the table of entries."""
        if _state().disable_jit:
            return self.fun(*args, **kwargs)
        statics, args, kwargs = self.statics.split(args, kwargs)
        leaves, tree = tree_flatten((args, kwargs))
        staged = _current() is not EVAL
        refs = False
        for i, x in enumerate(leaves):
            if type(x) is not Array:
                if hasattr(type(x), "__numlift_array__"):
                    x = leaves[i] = x.__numlift_array__()
                if isinstance(x, Ref):
                    refs = True
                    continue
                staged = staged or isinstance(x, Tracer)
                check_argument(x, lambda x=x: argument_path(args, kwargs, x), f"jit({self.name})")
        if refs:
            return self.call_with_refs(statics, tree, leaves, staged)
        if staged:
            return self.stage(statics, tree, leaves)
        arrays = [x if type(x) is Array else as_array(x) for x in leaves]
        for x, made in zip(leaves, arrays, strict=True):
            if type(x) is np.ndarray:
                learn_quick_array(x, made)
        entry = self.entry(statics, tree, [x.placement for x in arrays])
        return self.run(entry, arrays)

    def call_with_refs(
        self, statics: tuple[Any, ...], tree: Any, leaves: list[Any], staged: bool
    ) -> Any:
        """A call with refs among the argument leaves."""
        places = ref_places(leaves)
        if staged:
            return self.stage(statics, tree, leaves, places)
        leaves = [x if isinstance(x, (Array, Ref)) else as_array(x) for x in leaves]
        where = [placement_of(x) if isinstance(x, Ref) else x.placement for x in leaves]
        return self.run(self.entry(statics, tree, where, places), leaves)

    def operands(self, values: Sequence[Any]) -> tuple[list[Placement], list[Any]] | None:
        """Placements and buffers of arrays, numbers and NumPy arrays; None if one is new.

        Numbers become shared arrays, which must not be donated: None then as well.
        """
        if self.donate_argnums or self.donate_argnames:
            return None
        try:
            return quick_operands(values)
        except (OverflowError, MemoryError, RuntimeError):  # explained where all is looked at
            return None

    def find_quick(self, key: Any, args: Sequence[Any]) -> tuple[Entry | None, list[Any]]:
        """The entry of a call with arrays, numbers and NumPy arrays, and their buffers."""
        found = self.operands(args)
        if found is None:
            return None, []
        placements, buffers = found
        return self.quick.get((key, _state(), *placements)), buffers

    def find(
        self, key: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Entry | None, Sequence[Any]]:
        """The entry of any call without static arguments, and its leaves as arrays.

        None as entry if the call was not seen yet, or has leaves that need a closer look.
        """
        try:
            leaves, tree = raw_flatten((args, kwargs))
        except (AttributeError, ValueError):  # a container of the user's, keys that do not sort
            return None, args
        arrays: Sequence[Any] = leaves
        try:
            placements = [x.placement for x in leaves]
            self.hosts = False
        except AttributeError:
            found = self.operands(leaves)
            if found is None:
                return None, args
            placements, buffers = found
            arrays, self.hosts = arrays_of(buffers, placements), True
        state = _state()
        entry = self.entries.get((key, tree, state, *placements))
        if (
            entry is not None
            and entry.arrange is not None
            and not kwargs
            and len(leaves) == len(args)
            and all(map(_is, leaves, args))
        ):
            if len(self.quick) >= self.traces.limit:
                self.quick.clear()
            self.quick[(key, state, *placements)] = entry
        return entry, arrays

    def stage(
        self,
        statics: tuple[Any, ...],
        tree: Any,
        leaves: Sequence[Any],
        refs: tuple[int, ...] = (),
    ) -> Any:
        """A call inside another transformation: one `call` operation."""
        values = [load(x) if isinstance(x, Ref) else x for x in leaves] if refs else leaves
        traced = self.trace(statics, tree, [type_of(x) for x in values], refs)
        if traced.refs is None:
            outs = apply(call_of(traced.graph, self.inline), *traced.captured, *values)
            return traced.out_tree.unflatten(outs)
        traced.refs.check(f"jit({self.name})", leaves)
        outs = apply(call_of(traced.graph, self.inline), *operands(traced), *values)
        return traced.out_tree.unflatten(results(traced, outs, leaves))

    def entry(
        self,
        statics: tuple[Any, ...],
        tree: Any,
        placements: list[Placement],
        refs: tuple[int, ...] = (),
    ) -> Entry:
        """The entry for a call; traced and compiled if need be."""
        key: Any = (self.statics.key(statics), tree, _state(), *placements)
        if refs:
            key = ("refs", refs, *key)
        found = self.entries.get(key)
        if found is None:
            wanted_in = self.shardings_in(tree)
            types = [p.type for p in placements]
            if wanted_in is not None:
                types = [
                    t if s is None else sharded_type(t, s)
                    for t, s in zip(types, wanted_in, strict=True)
                ]
            traced = self.trace(statics, tree, types, refs)
            options = {
                "arguments": placements,
                "in_shardings": wanted_in,
                "out_shardings": self.shardings_out(traced.out_tree),
                "donated": self.donated(tree),
            }
            if traced.refs is None:
                found = Entry(self.compiled(traced, options), traced.out_tree, _LEAF)
            else:
                found = RefEntry(self.with_refs(traced, traced.refs, options), traced.out_tree)
            if len(self.entries) >= self.traces.limit:
                for oldest in list(self.entries)[:1]:  # a copy: other threads may add and clear
                    self.entries.pop(oldest, None)
            self.entries[key] = found
        return found

    def compiled(self, traced: TracedFunction, options: dict[str, Any]) -> Program:
        """The program of a traced function."""
        leading = traced.captured_arrays()
        program = compile_graph(
            traced.graph,
            leading=leading,
            keep_unused=self.keep_unused,
            compiler_options=self.compiler_options,
            **options,
        )
        self.record.compiled(program)
        program.check = program_check(f"jit({self.name})", traced.graph, leading)
        return program

    def with_refs(self, traced: TracedFunction, use: RefUse, options: dict[str, Any]) -> RefProgram:
        """The program of a traced function that uses refs."""

        def compile_for(captured: list[Placement]) -> Program:
            return self.compiled(traced, ref_options(use, captured, **options))

        return RefProgram(use, compile_for, f"jit({self.name})")

    def run(self, entry: Entry, arrays: Sequence[Array]) -> Any:
        """Run an entry on arrays."""
        if entry.arrange is not None:
            return run_entry(entry, [x.buffer for x in arrays])
        outs = entry.program(arrays)
        return outs[0] if entry.unflatten is None else entry.unflatten(outs)

    # ---- options -----------------------------------------------------------------------------

    def shardings_in(self, tree: Any) -> list[Any] | None:
        """One sharding or None an argument leaf, from in_shardings."""
        if self.in_shardings is None:
            return None
        args, kwargs = tree.unflatten([object()] * tree.num_leaves)
        spread = self.spread("in_shardings", self.in_shardings, args, "the arguments")
        found = tree_leaves(spread, is_leaf=_is_sharding)
        found = [None if s is None else to_sharding(s, "jit") for s in found]
        return found + [None] * (tree.num_leaves - len(found))

    def shardings_out(self, tree: Any) -> list[Any] | None:
        """One sharding or None a result, from out_shardings."""
        if self.out_shardings is None:
            return None
        outs = tree.unflatten([object()] * tree.num_leaves)
        spread = self.spread("out_shardings", self.out_shardings, outs, "the result")
        found = tree_leaves(spread, is_leaf=_is_sharding)
        return [None if s is None else to_sharding(s, "jit") for s in found]

    def spread(self, option: str, shardings: Any, tree: Any, what: str) -> Any:
        """A prefix tree of shardings spread over a whole tree."""
        try:
            return tree_broadcast(shardings, tree, is_leaf=_is_sharding)
        except errors.TreeError as error:
            reason = str(error).partition("\n")[0].partition(": ")[2]
            raise errors.TreeError(
                errors.explain(
                    f"jit({self.name})",
                    f"{option} must have the structure of {what}, or be a prefix of it",
                    {option: shardings, "reason": reason},
                    try_="one sharding (or None) for each, or one for all",
                )
            ) from None

    def donated(self, tree: Any) -> list[int]:
        """Leaf positions of donated arguments."""
        if not self.donate_argnums and not self.donate_argnames:
            return []
        args, kwargs = tree.unflatten(range(tree.num_leaves))
        moved = self.statics.dynamic_positions(self.donate_argnums)
        chosen = [args[i] for i in moved if i < len(args)]
        chosen += [kwargs[n] for n in self.donate_argnames if n in kwargs]
        return tree_leaves(chosen)


def _is_sharding(x: Any) -> bool:
    return x is None or not isinstance(x, (tuple, list, dict)) or hasattr(x, "padded")


def clear_jitted() -> None:
    """Forget what all jitted functions traced and compiled."""
    for info in list(_alive):
        info.clear()


def run_entry(entry: Entry, buffers: list[Any]) -> Any:
    """Run an entry on buffers of the arguments; it must have `arrange`."""
    try:
        if not entry.plain:
            buffers = entry.arrange(buffers)  # type: ignore[misc, assignment]
        outs = entry.run(buffers).consume_with_handlers(entry.handlers)
    except xla.JaxRuntimeError as error:
        raise entry.program.failure(buffers, error) from error
    if entry.unflatten is None:
        return Array(outs[0], entry.placements[0])
    return entry.unflatten(arrays_of(outs, entry.placements))


def arrays_of(buffers: Sequence[Any], placements: Sequence[Placement]) -> list[Array]:
    """An `Array` of each buffer; for many of them quicker than calls of the class."""
    made = []
    for buffer, where in zip(buffers, placements, strict=True):
        x = _new(Array)
        x.buffer, x.placement, x.type = buffer, where, where.type
        made.append(x)
    return made


def make_jitted(info: Jitted) -> Callable[..., Any]:
    """The function that users call: dispatch on (structure, flags, placements)."""
    made = _with_statics(info) if info.statics else _without_statics(info)
    try:
        functools.update_wrapper(made, info.fun)
    except (AttributeError, TypeError):
        made.__name__ = info.name
    return made


def _without_statics(info: Jitted) -> Callable[..., Any]:
    quick, slow = info.quick, door(info.call_slowly)

    def call(*args: Any, **kwargs: Any) -> Any:
        entry: Entry | None = None
        buffers: list[Any] = []
        if quick and not kwargs:
            if info.hosts:
                entry, buffers = info.find_quick(None, args)
            else:
                try:
                    # One array is the most frequent call, and comprehensions cost as much as
                    # all of the rest.
                    if len(args) == 1:
                        x = args[0]
                        entry = quick.get((None, _state(), x.placement))
                        buffers = [x.buffer]
                    else:
                        entry = quick.get((None, _state(), *[x.placement for x in args]))
                        buffers = [x.buffer for x in args]
                except AttributeError:
                    entry, buffers = info.find_quick(None, args)
        if entry is None or _current() is not EVAL:
            entry, leaves = info.find(None, args, kwargs)
            if entry is None or _current() is not EVAL:
                return slow(args, kwargs)
            return info.run(entry, leaves)
        where = entry.only
        if where is None:
            return run_entry(entry, buffers)
        try:
            (out,) = entry.run(buffers).consume_with_handlers(entry.handlers)
        except xla.JaxRuntimeError as error:
            raise entry.program.failure(buffers, error) from error
        made = _new(Array)
        made.buffer, made.placement, made.type = out, where, where.type
        return made

    return call


def _with_statics(info: Jitted) -> Callable[..., Any]:
    quick, statics, slow = info.quick, info.statics, door(info.call_slowly)

    def call(*args: Any, **kwargs: Any) -> Any:
        if _current() is not EVAL:
            return slow(args, kwargs)
        key, rest, named = statics.keyed(args, kwargs)
        try:
            if quick and not named:
                entry, buffers = info.find_quick(key, rest)
                if entry is not None:
                    return run_entry(entry, buffers)
            entry, leaves = info.find(key, rest, named)
        except TypeError:  # static values that have no hash
            entry = None
        return slow(args, kwargs) if entry is None else info.run(entry, leaves)

    return call


def abstract_placements(leaves: Sequence[Any]) -> list[Placement]:
    """Placements of arrays, or those that stand-ins such as ShapeDtypeStruct would have."""
    found = []
    for x in leaves:
        if isinstance(x, (Array, Ref)):
            found.append(placement_of(x) if isinstance(x, Ref) else x.placement)
            continue
        t = abstract_type(x)
        sharding = getattr(x, "sharding", None)
        if sharding is None or not hasattr(sharding, "device_order"):
            found.append(default_placement(t))
        else:
            found.append(placement(t, sharding, True))
    return found
