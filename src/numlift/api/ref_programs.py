"""Compiled functions that use refs: values go in, last values come out, in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from .. import config, errors
from ..core.refs import Ref, lost_value, peek
from ..runtime.array import Array
from ..runtime.placement import Placement, default_placement
from .program import Program
from .refs import RefUse


def ref_options(
    use: RefUse,
    captured: Sequence[Placement],
    arguments: Sequence[Placement],
    in_shardings: Sequence[Any] | None,
    out_shardings: Sequence[Any] | None,
    donated: Sequence[int],
) -> dict[str, Any]:
    """Arguments of `compile_graph` and `lower_for`, with refs among the inputs and outputs.

    Args:
        use: what the function does with refs.
        captured: where the values of its `captured` refs are.
        arguments: where the argument leaves are, refs included.
        in_shardings, out_shardings, donated: as asked for the arguments and results.
    """
    n = len(captured)
    written = [*use.written, *(n + i for i in use.places_written)]
    placements = [*captured, *arguments]
    asked = [None] * n + list(in_shardings or [None] * len(arguments))
    kept = [asked[i] or (None if placements[i].single else placements[i].sharding) for i in written]
    results = [*(out_shardings or [None] * use.n_out), *kept]
    state = config.current()
    checked = state.debug_nans or state.debug_infs  # looks at the arguments afterwards
    return {
        "arguments": placements,
        "in_shardings": None if in_shardings is None else asked,
        "out_shardings": None if all(s is None for s in results) else results,
        "donated": [n + i for i in donated if i not in use.places],
        "in_place": {} if checked else {i: use.n_out + k for k, i in enumerate(written)},
    }


def placement_of(ref: Ref) -> Placement:
    """Where the value of a ref is, or where it would be if it is traced."""
    value = peek(ref)
    return value.placement if isinstance(value, Array) else default_placement(ref.type)


class RefProgram:
    """Runs a function on arrays and refs; compiled for each placement of the captured refs.

    Attributes:
        use: what the function does with refs.
        compile: placements of the captured refs -> program.
        name: for messages.
    """

    __slots__ = ("use", "compile", "name", "programs", "last")
    last: Program

    def __init__(self, use: RefUse, compile: Callable[[list[Placement]], Program], name: str):
        self.use, self.compile, self.name = use, compile, name
        self.programs: dict[tuple[Placement, ...], Program] = {}
        self.find()

    def find(self) -> Program:
        """The program for the captured refs as they are now."""
        if not self.use.captured and self.programs:
            return self.last
        key = tuple([placement_of(ref) for ref in self.use.captured])
        program = self.programs.get(key)
        if program is None:
            program = self.programs[key] = self.last = self.compile(list(key))
        return program

    @property
    def executable(self) -> Any:
        """The executable that was compiled last."""
        return self.last.executable

    def failure(self, args: Sequence[Any], error: Exception) -> Exception:
        """The exception that says why a run failed."""
        return self.last.failure(args, error)

    def __call__(self, leaves: Sequence[Any]) -> list[Array]:
        """Results for argument leaves, of which some are refs; these get their new values."""
        use = self.use
        refs = [*use.captured, *(leaves[i] for i in use.places)]
        if use.places:
            use.check(self.name, leaves)
        program = self.find()
        if program.callbacks:  # they may read refs, in other threads
            return self.run(program, leaves)
        if len(refs) == 1:
            with refs[0].lock:
                return self.run(program, leaves)
        with ExitStack() as stack:
            for ref in sorted(refs, key=id):
                stack.enter_context(ref.lock)
            return self.run(program, leaves)

    def run(self, program: Program, leaves: Sequence[Any]) -> list[Array]:
        """Run and store; nobody else uses the refs meanwhile."""
        use = self.use
        arrays = [ref.value for ref in use.captured]
        if use.places:
            arrays += [x.value if isinstance(x, Ref) else x for x in leaves]
        else:
            arrays += leaves
        try:
            outs = program(arrays)
        except errors.DeletedBufferError:
            for ref in [*use.captured, *(leaves[i] for i in use.places)]:
                if ref.value.is_deleted():
                    raise lost_value(ref) from None
            raise
        for ref, value in zip(use.changed(leaves), outs[use.n_out :], strict=True):
            ref.value = value
        return outs[: use.n_out]
