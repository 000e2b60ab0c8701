"""The stages of a jitted function: traced, lowered, compiled."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..core.dim_text import marked_dims
from ..core.graph import Graph
from ..core.refs import Ref
from ..core.tracing import Tracer
from ..core.types import ArrayType
from ..runtime import xla
from ..runtime.array import Array
from ..runtime.compile import Executable, MemoryAnalysis
from ..runtime.placement import Placement
from ..runtime.transfer import as_array
from ..tree import explain_structure_mismatch, tree_flatten
from .dispatch import Jitted, abstract_placements
from .program import Plan, Program, lower_for
from .ref_programs import RefProgram, placement_of, ref_options
from .refs import RefUse, ref_places
from .shapes import struct_of
from .signature import Statics
from .stats import Stats
from .tracing import TracedFunction, abstract_types, argument_path, check_argument


class Traced:
    """A function traced for given argument types.

    Attributes:
        jaxpr: the graph.
        out_info: `ShapeDtypeStruct`s in the structure of the result.
        fun_name: name of the function.
        traced: graph with what the function closes over.
        placements: of the argument leaves.
    """

    def __init__(
        self,
        info: Jitted,
        traced: TracedFunction,
        statics: tuple[Any, ...],
        tree: Any,
        placements: list[Placement],
    ):
        self._info, self.traced, self._tree = info, traced, tree
        self._statics, self.placements = statics, placements
        self.fun_name = info.name

    @property
    def jaxpr(self) -> Graph:
        """The graph; `print` shows it."""
        return self.traced.graph

    @property
    def out_info(self) -> Any:
        """Types of the results."""
        return out_info(self.traced)

    @property
    def in_tree(self) -> Any:
        """Structure of (args, kwargs)."""
        return self._tree

    @property
    def out_tree(self) -> Any:
        """Structure of the result."""
        return self.traced.out_tree

    def lower(self) -> Lowered:
        """Translate to StableHLO."""
        info, traced = self._info, self.traced
        start = time.perf_counter()
        options: dict[str, Any] = {
            "arguments": self.placements,
            "in_shardings": info.shardings_in(self._tree),
            "out_shardings": info.shardings_out(traced.out_tree),
            "donated": info.donated(self._tree),
        }
        if traced.refs is not None:
            where = [placement_of(ref) for ref in traced.refs.captured]
            options = ref_options(traced.refs, where, **options)
        with marked_dims():
            text, plan = lower_for(
                traced.graph,
                [x.placement for x in traced.captured_arrays()],
                keep_unused=info.keep_unused,
                **options,
            )
        seconds = time.perf_counter() - start
        return Lowered(info, traced, self._statics, self._tree, text, plan, seconds)


def out_info(traced: TracedFunction) -> Any:
    """`ShapeDtypeStruct`s in the structure of the result."""
    return traced.out_tree.unflatten([struct_of(t) for t in traced.out_types])


class Lowered:
    """A function as StableHLO."""

    def __init__(
        self,
        info: Jitted,
        traced: TracedFunction,
        statics: tuple[Any, ...],
        tree: Any,
        text: str,
        plan: Plan,
        seconds: float,
    ):
        self._info, self._traced, self._statics = info, traced, statics
        self._tree, self._text, self._plan = tree, text, plan
        self._seconds = seconds

    @property
    def in_tree(self) -> Any:
        """Structure of (args, kwargs)."""
        return self._tree

    @property
    def out_tree(self) -> Any:
        """Structure of the result."""
        return self._traced.out_tree

    @property
    def out_info(self) -> Any:
        """Types of the results."""
        return out_info(self._traced)

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program; dialect "stablehlo" (default) or "hlo" (before optimisation).

        With `debug_info`, it also says from where operations come: named scopes, file and line.
        """
        text = self._plan.located_text if debug_info else self._text
        if dialect in (None, "stablehlo"):
            return text
        if dialect == "hlo":
            return xla.stablehlo_to_hlo_text(text, debug_info)
        raise errors.ValueArgumentError(
            errors.explain("as_text", f'dialect must be "stablehlo" or "hlo", not {dialect!r}')
        )

    def compiler_ir(self, dialect: str | None = None) -> str:
        """The program as text."""
        return self.as_text(dialect)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of the work, such as ``flops``."""
        return self.compile().cost_analysis()

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled:
        """Compile with XLA."""
        leading = self._traced.captured_arrays()
        options = {**(self._info.compiler_options or {}), **(compiler_options or {})}
        program = self._plan.compile(self._text, [x.buffer for x in leading], options)
        program.lower_seconds = self._seconds
        self._info.record.compiled(program)
        traced, use = self._traced, self._traced.refs
        first = len(leading) + (0 if use is None else len(use.captured))
        return Compiled(
            self._info.name,
            self._info.statics,
            (self._tree, traced.out_tree),
            (traced.graph.in_types[first:], traced.out_types),
            program,
            use,
        )


class Compiled:
    """A compiled function; call it with arguments of the types it was compiled for.

    Attributes:
        fun_name: name of the function.
        in_tree, out_tree: structures of (args, kwargs), without static ones, and of the result.
        in_types, out_types: types of the argument and result leaves.
        program: what a call runs.
        refs: what the function does with refs; None if nothing.
    """

    def __init__(
        self,
        fun_name: str,
        statics: Statics,
        trees: tuple[Any, Any],
        types: tuple[Sequence[ArrayType], Sequence[ArrayType]],
        program: Program,
        refs: RefUse | None = None,
    ):
        self.fun_name, self.program, self._statics = fun_name, program, statics
        self.refs = refs
        self._run: Any = program
        if refs is not None:
            self._run = RefProgram(refs, lambda _: program, f"compiled {fun_name}")
        self.in_tree, self.out_tree = trees
        self.in_types, self.out_types = types

    @property
    def out_info(self) -> Any:
        """Types of the results."""
        return self.out_tree.unflatten(map(struct_of, self.out_types))

    @property
    def input_shardings(self) -> list[Any]:
        """Shardings of the arguments that the program takes."""
        return [p.sharding for p in self.program.arg_placements]

    @property
    def output_shardings(self) -> Any:
        """Shardings in the structure of the result."""
        found = [p.sharding for p in self.program.placements]
        return self.out_tree.unflatten(found[: self.out_tree.num_leaves])

    def as_text(self) -> str:
        """The HLO that XLA made of the program."""
        return self.program.executable.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimate of the work, such as ``flops``."""
        return self.program.executable.cost_analysis()

    def memory_analysis(self) -> MemoryAnalysis:
        """Bytes of arguments, results and scratch space."""
        return self.program.executable.memory_analysis()

    def runtime_executable(self) -> Executable:
        """The executable itself."""
        return self.program.executable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        statics, args, kwargs = self._statics.split(args, kwargs)
        leaves, tree = tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise errors.ArgumentError(
                errors.explain(
                    f"compiled {self.fun_name}",
                    "the arguments have another structure than at compile time: "
                    + _difference(self.in_tree, tree),
                    try_="nl.jit(f), which compiles again for other arguments",
                )
            )
        if any(isinstance(x, Tracer) for x in leaves):
            raise errors.ArgumentError(
                errors.explain(
                    f"compiled {self.fun_name}",
                    "a compiled function cannot be transformed",
                    try_="transform the function before compiling it",
                )
            )
        places = ref_places(leaves)
        if places != (() if self.refs is None else self.refs.places):
            raise errors.ArgumentError(
                errors.explain(
                    f"compiled {self.fun_name}",
                    "refs are not where they were at compile time",
                    {"leaves that are refs": places},
                )
            )
        for x in leaves:
            if isinstance(x, Ref):
                continue
            check_argument(
                x, lambda x=x: argument_path(args, kwargs, x), f"compiled {self.fun_name}"
            )
        arrays = [x if isinstance(x, (Array, Ref)) else as_array(x) for x in leaves]
        for i, (x, t) in enumerate(zip(arrays, self.in_types, strict=True)):
            if x.type.shape != t.shape or x.type.dtype != t.dtype:
                raise errors.ArgumentError(
                    errors.explain(
                        f"compiled {self.fun_name}",
                        f"{argument_path(args, kwargs, leaves[i])} has another type than at "
                        "compile time",
                        {"expected": t, "got": x.type},
                        try_="x.astype(...) or a reshape, or nl.jit(f), which compiles again",
                    )
                )
        return self.out_tree.unflatten(self._run(arrays))


def _difference(expected: Any, got: Any) -> str:
    """Where the structures of two calls (args, kwargs) differ."""
    for i, name in enumerate(("arguments", "keywords")):
        a, b = expected.children()[i], got.children()[i]
        if a != b:
            return str(explain_structure_mismatch(a, b, f"expected {name}", f"given {name}"))
    return ""


def trace_arguments(info: Jitted, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Traced:
    """Trace for concrete or abstract arguments."""
    statics, rest, named = info.statics.split(tuple(args), dict(kwargs))
    leaves, tree = tree_flatten((rest, named))
    types = abstract_types(leaves, tuple(args), dict(kwargs), f"jit({info.name})")
    placements = abstract_placements(leaves)
    traced = info.trace(statics, tree, types, ref_places(leaves))
    return Traced(info, traced, statics, tree, placements)


def attach_stages(made: Any, info: Jitted) -> Callable[..., Any]:
    """Give a jitted function its public attributes."""

    def trace(*args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments (arrays or `ShapeDtypeStruct`s)."""
        return trace_arguments(info, args, kwargs)

    def lower(*args: Any, **kwargs: Any) -> Lowered:
        """Trace and translate to StableHLO."""
        return trace(*args, **kwargs).lower()

    def eval_shape(*args: Any, **kwargs: Any) -> Any:
        """Types of the results, without computing them."""
        return trace(*args, **kwargs).out_info

    def clear_cache() -> None:
        """Forget everything traced and compiled."""
        info.clear()

    def stats() -> Stats:
        """Traces, compilations, cache hits and seconds of this function so far."""
        return info.record.stats([entry.program for entry in info.entries.values()])

    made.trace, made.lower, made.eval_shape, made.clear_cache = (
        trace,
        lower,
        eval_shape,
        clear_cache,
    )
    made.stats = stats
    made._cache_size = lambda: len(info.entries)
    made._info = info
    return made
