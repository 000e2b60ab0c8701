"""A graph compiled for given argument placements: what dispatch runs."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from .. import config, errors
from ..core.collector import collecting_less
from ..core.graph import Graph
from ..core.source import describe
from ..ops.placing import fetch_inputs, result_memories
from ..runtime import buffers, xla
from ..runtime.array import Array
from ..runtime.compile import Executable, compile_module
from ..runtime.failures import failure
from ..runtime.guards import guard
from ..runtime.memories import check_kind, other_kind
from ..runtime.placement import (
    Placement,
    placement,
    sharded_type,
    sharding_from_hlo,
)
from ..sharding.mesh import Mesh
from ..transforms.lower import lower_graph
from ..transforms.simplify import mark_clean, simplify
from .program_places import (
    choose_devices,
    constraint_mesh,
    match_donated,
    result_sharding,
    target_placement,
)

_logger = logging.getLogger("numlift")


class Recent:
    """A dictionary that forgets the entries that were used least recently."""

    __slots__ = ("limit", "items")

    def __init__(self, limit: int):
        self.limit, self.items = limit, OrderedDict[Any, Any]()

    def get(self, key: Any) -> Any:
        """The value, which becomes the most recent one, or None."""
        found = self.items.get(key)
        if found is not None:
            with suppress(KeyError):  # another thread may have dropped it meanwhile
                self.items.move_to_end(key)
        return found

    def put(self, key: Any, value: Any) -> None:
        """Add an entry, dropping the oldest if there are too many."""
        self.items[key] = value
        while len(self.items) > self.limit:
            with suppress(KeyError):
                self.items.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self.items.clear()


_executables = Recent(512)
"""Executables by module text and devices: a graph traced anew often has the same text."""


class Program:
    """A compiled graph.

    Attributes:
        run: `execute_sharded` of the executable.
        handlers: builders of the result buffers.
        placements: what the results are.
        kept: indices of the arguments that the executable takes, or None for all.
        moves: (position among the kept, placement it must be moved to) pairs; often empty.
        leading: buffers of captured arrays, passed before the arguments.
        plain: True if kept, moves, leading and callbacks need no attention.
        callbacks: host functions that the program calls; it is then run to its end at once.
        check: None, or a function called with results and arguments (debug_nans).
        name: of the function, for messages.
        origin: where the executable came from: "compiler", "memory" or "disk".
        lower_seconds, compile_seconds: time to make the text, and the executable.
    """

    __slots__ = (
        "run",
        "handlers",
        "placements",
        "kept",
        "moves",
        "leading",
        "plain",
        "callbacks",
        "turn",
        "check",
        "executable",
        "arg_placements",
        "name",
        "origin",
        "lower_seconds",
        "compile_seconds",
    )

    def __init__(
        self,
        executable: Executable,
        arg_placements: Sequence[Placement],
        placements: Sequence[Placement],
        kept: Sequence[int] | None,
        moves: Sequence[tuple[int, Placement]],
        leading: Sequence[Any],
        callbacks: Sequence[Any] = (),
    ):
        self.executable, self.arg_placements = executable, arg_placements
        self.run = executable.execute
        self.placements = list(placements)
        self.handlers = [p.handler for p in placements]
        self.kept, self.moves, self.leading = kept, list(moves), list(leading)
        self.callbacks, self.turn = list(callbacks), threading.Lock()
        self.plain = kept is None and not moves and not leading and not callbacks
        self.check: Any = None
        self.name = "jit"
        self.origin = "compiler"
        self.lower_seconds = self.compile_seconds = 0.0

    def __call__(self, leaves: Sequence[Array]) -> list[Array]:
        """Run on arrays whose placements are those that the program was compiled for."""
        args = [x.buffer for x in leaves]
        if self.callbacks:
            results = self.run_to_end(args)
            if self.check is not None:
                self.check(results, leaves)
            return results
        try:
            outs = self.run(args if self.plain else self.arrange(args))
            results = list(map(Array, outs.consume_with_handlers(self.handlers), self.placements))
        except xla.JaxRuntimeError as error:
            raise self.failure(args, error) from error
        if self.check is not None:
            self.check(results, leaves)
        return results

    def run_to_end(self, args: Sequence[Any]) -> list[Array]:
        """Run a program with callbacks and wait until all of them have happened.

        Raises:
            Exception: what a callback raised, with its own traceback.
        """
        several = self.callbacks[0].several
        results: list[Array] = []
        # Calls of a program over several devices share what failed: one run at a time.
        with self.turn if several else nullcontext():
            try:
                found = self.executable.loaded.execute_sharded(self.arrange(args), with_tokens=True)
                token = found.consume_token()
                buffers_ = found.consume_with_handlers(self.handlers)
                results = list(map(Array, buffers_, self.placements))
                token.block_until_ready()
                for x in results:
                    x.block_until_ready()
                error = self.callback_error() if several else None
            except xla.JaxRuntimeError as failed:
                error = self.callback_error()
                if error is None:
                    raise self.failure(args, failed) from failed
        if error is None:
            return results
        # Raised outside of the handler, so that the error keeps its own context and cause.
        try:
            raise error
        finally:
            del error

    def callback_error(self) -> BaseException | None:
        """The first exception of a callback that the caller has not got yet."""
        waiting = self.callbacks[0].errors
        found = waiting[0] if waiting else None
        waiting.clear()
        return found

    def failure(self, args: Sequence[Any], error: Exception) -> Exception:
        """The exception that says why a run failed.

        Raises:
            DeletedBufferError, DonationError: if that is the reason.
        """
        self.check_alive(args)
        found = {f"argument {i}": p.type for i, p in enumerate(self.arg_placements)}
        if len(self.placements) == 1:
            found["result"] = self.placements[0].type
        else:
            found |= {f"result {i}": p.type for i, p in enumerate(self.placements)}
        devices = self.executable.devices
        where = str(devices[0]) if len(devices) == 1 else f"{len(devices)} devices"
        return failure(error, self.name, found, where)

    def check_alive(self, args: Sequence[Any]) -> None:
        """Explain why a run failed: a buffer was deleted, or is donated and used otherwise too.

        Raises:
            DeletedBufferError, DonationError: if that is the reason.
        """
        chosen = self.chosen(args)
        for buffer, where in zip(chosen, self.arg_placements, strict=True):
            buffers.check_alive(buffer, where)
        text = self.executable.text
        if "tf.aliasing_output" in text or "jax.buffer_donor" in text:
            for i, buffer in enumerate(chosen):
                if any(buffer is other for other in chosen[:i]):
                    raise errors.DonationError(
                        errors.explain(
                            "jit",
                            "an array was passed twice in a call that donates it",
                            {"array": self.arg_placements[i].type},
                            try_="pass a copy (np.copy(x)) in one of the places",
                        )
                    )

    def chosen(self, args: Sequence[Any]) -> list[Any]:
        """Buffers that the executable takes: captured arrays first, unused ones left out."""
        args = [*self.leading, *args]
        return args if self.kept is None else [args[i] for i in self.kept]

    def arrange(self, args: Sequence[Any]) -> list[Any]:
        """Buffers in the order and on the devices that the executable wants."""
        args = self.chosen(args)
        for i, target in self.moves:
            source = self.arg_placements[i]
            if config.watch().transfer_guard_device_to_device != "allow":
                guard("device_to_device", source.type)
            args[i] = buffers.move(args[i], source, target, xla.ArrayCopySemantics.REUSE_INPUT)
        return args


def compile_graph(
    graph: Graph,
    arguments: Sequence[Placement],
    leading: Sequence[Array] = (),
    *,
    in_shardings: Sequence[Any] | None = None,
    out_shardings: Sequence[Any] | None = None,
    donated: Sequence[int] = (),
    in_place: Mapping[int, int] | None = None,
    keep_unused: bool = False,
    compiler_options: Mapping[str, Any] | None = None,
    use_context_mesh: bool = True,
) -> Program:
    """Compile a graph for arguments at these placements.

    Args:
        graph: its inputs are the captured arrays (`leading`) and then the arguments.
        arguments: one placement an argument.
        leading: captured arrays.
        in_shardings, out_shardings: one sharding or None each, as the user asked.
        donated: indices of arguments whose memory may be reused.
        in_place: argument -> the output that takes over its memory.
        keep_unused: pass arguments that the graph does not use.
        compiler_options: flags for XLA.
        use_context_mesh: without committed arguments, run on the mesh of `set_mesh`, if any.
    """
    start = time.perf_counter()
    module, plan = lower_for(
        graph,
        [x.placement for x in leading],
        arguments,
        in_shardings=in_shardings,
        out_shardings=out_shardings,
        donated=donated,
        in_place=in_place,
        keep_unused=keep_unused,
        use_context_mesh=use_context_mesh,
    )
    seconds = time.perf_counter() - start
    program = plan.compile(module, [x.buffer for x in leading], compiler_options)
    program.lower_seconds = seconds
    return program


class Plan:
    """Decisions made when a graph was lowered: devices, shardings, kept arguments."""

    __slots__ = (
        "graph",
        "order",
        "mesh",
        "kept",
        "placements",
        "targets",
        "out_shardings",
        "out_memories",
        "committed",
        "callbacks",
        "located_text",
    )

    def __init__(self, graph: Graph, order: tuple[Any, ...], mesh: Mesh | None):
        self.graph, self.order, self.mesh = graph, order, mesh
        self.kept: list[int] | None = None
        self.placements: list[Placement] = []
        self.targets: list[Placement] = []
        self.out_shardings: list[Any] = []
        self.out_memories: list[str | None] = []
        self.committed = False
        self.callbacks: list[Any] = []
        self.located_text = ""

    def compile(
        self,
        text: str,
        leading: Sequence[Any] = (),
        compiler_options: Mapping[str, Any] | None = None,
    ) -> Program:
        """Compile the module and prepare dispatch."""
        spmd = len(self.order) > 1
        start = time.perf_counter()
        options = tuple(sorted((compiler_options or {}).items()))
        free = tuple(s is None for s in self.out_shardings) or (True,)
        key = (text, self.order, options, free)
        executable = None if self.callbacks else _executables.get(key)
        origin = "memory"
        if executable is None:
            executable = compile_module(
                text,
                located_text=self.located_text,
                devices=self.order,
                num_partitions=len(self.order),
                spmd=spmd,
                compiler_options=compiler_options,
                host_callbacks=self.callbacks,
                propagate_to_outputs=free,
            )
            origin = "disk" if executable.from_cache else "compiler"
            if not self.callbacks:
                _executables.put(key, executable)
        seconds = time.perf_counter() - start
        if config.watch().log_compiles:
            words = "compiled" if origin == "compiler" else f"found in the {origin} cache"
            _logger.warning("%s: %s in %.3f s", self.graph.name, words, seconds)
        moves = [
            (i, target)
            for i, (have, target) in enumerate(zip(self.placements, self.targets, strict=True))
            if have.sharding != target.sharding
        ]
        program = Program(
            executable,
            self.placements,
            self._results(executable),
            self.kept,
            moves,
            leading,
            self.callbacks,
        )
        program.name = self.graph.name
        program.origin, program.compile_seconds = origin, seconds
        return program

    def _results(self, executable: Executable) -> list[Placement]:
        found = executable.output_shardings() if len(self.order) > 1 else None
        results = []
        for i, t in enumerate(self.graph.out_types):
            sharding = self.out_shardings[i]
            if sharding is None:
                hlo = found[i] if found else None
                sharding = sharding_from_hlo(
                    hlo, self.order, t.physical.ndim, self.mesh, self.out_memories[i]
                )
            results.append(placement(sharded_type(t, sharding), sharding, self.committed))
        return results


@collecting_less
def lower_for(
    graph: Graph,
    leading: Sequence[Placement],
    arguments: Sequence[Placement],
    *,
    in_shardings: Sequence[Any] | None = None,
    out_shardings: Sequence[Any] | None = None,
    donated: Sequence[int] = (),
    in_place: Mapping[int, int] | None = None,
    keep_unused: bool = False,
    use_context_mesh: bool = True,
) -> tuple[str, Plan]:
    """StableHLO text of a graph for arguments at these placements, and the plan to run it."""
    n = len(leading)
    wanted = [None] * n + list(in_shardings or [None] * len(arguments))
    plan = _planned(
        simplify(graph), [*leading, *arguments], in_shardings, out_shardings, use_context_mesh
    )
    kept = _keep_used(plan, range(n, n + len(arguments)) if keep_unused else ())
    in_memories = _place(plan, kept, wanted, out_shardings)
    gifts: dict[int, int | None] = {
        kept.index(n + i): o for i, o in (in_place or {}).items() if n + i in kept
    }
    given = [kept.index(n + i) for i in donated if n + i in kept]
    first = plan.order[0]
    text, module = lower_graph(
        plan.graph,
        platform=first.client.platform if hasattr(first, "client") else "cpu",
        mesh=plan.mesh if len(plan.order) > 1 else None,
        in_shardings=[p.sharding for p in plan.targets],
        out_shardings=plan.out_shardings,
        donated=match_donated(plan.graph, given, gifts, plan.mesh),
        in_memories=in_memories,
        out_memories=plan.out_memories,
    )
    named = dict.fromkeys(filter(None, plan.out_memories)) | module.memory_kinds
    for kind, source in named.items():
        check_kind("memory", kind, first, describe(source) if source is not None else None)
    plan.callbacks, plan.located_text = module.callbacks, module.located_text
    return text, plan


def _planned(
    graph: Graph,
    placements: Sequence[Placement],
    in_shardings: Sequence[Any] | None,
    out_shardings: Sequence[Any] | None,
    use_context_mesh: bool,
) -> Plan:
    """A plan with the devices, and the placements of all inputs.

    Raises:
        DeviceError: the inputs are on other devices than a sharding constraint names.
    """
    explicit = use_context_mesh or any(t.sharding is not None for t in graph.out_types)
    inside = constraint_mesh(graph)
    context = (config.current().mesh if explicit else None) or inside
    order, mesh = choose_devices(graph.name, placements, in_shardings, out_shardings, context)
    if mesh is None and inside is not None and inside.device_tuple != order:
        raise errors.DeviceError(
            errors.explain(
                graph.name,
                f"with_sharding_constraint names a mesh of {inside.size} devices, but an argument "
                f"is committed to {order[0]}",
                {f"argument {i}": p.type for i, p in enumerate(placements) if p.committed},
                try_="nl.device_put(x, NamedSharding(mesh, P())) the arguments first",
            )
        )
    plan = Plan(graph, order, mesh)
    plan.placements = list(placements)
    plan.committed = any(p.committed for p in placements) or mesh is not None
    return plan


def _keep_used(plan: Plan, always: Sequence[int]) -> list[int]:
    """Drop inputs that the graph does not use, except those to be kept `always`."""
    graph = plan.graph
    used = {a for eq in graph.equations for a in eq.inputs} | set(graph.outputs)
    kept = [i for i, v in enumerate(graph.inputs) if v in used or i in always]
    if len(kept) < len(plan.placements):
        plan.kept = kept
        plan.placements = [plan.placements[i] for i in kept]
        plan.graph = mark_clean(
            Graph([graph.inputs[i] for i in kept], graph.equations, graph.outputs, graph.name)
        )
    return kept


def _place(
    plan: Plan, kept: Sequence[int], wanted: Sequence[Any], out_shardings: Sequence[Any] | None
) -> list[str | None]:
    """Decide where inputs and results lie; the memory of each input, None for the device's own."""
    order, mesh = plan.order, plan.mesh
    plan.targets = [
        target_placement(p, order, mesh, wanted[i])
        for p, i in zip(plan.placements, kept, strict=True)
    ]
    in_memories = [other_kind(p.sharding) for p in plan.targets]
    if any(in_memories):
        plan.graph = mark_clean(fetch_inputs(plan.graph, in_memories))
    left = result_memories(plan.graph)
    plan.out_shardings = [
        result_sharding(t, order, mesh, out_shardings[i] if out_shardings else None, left[i])
        for i, t in enumerate(plan.graph.out_types)
    ]
    plan.out_memories = [
        kind if s is None else other_kind(s)
        for s, kind in zip(plan.out_shardings, left, strict=True)
    ]
    return in_memories


def clear_executables() -> None:
    """Forget executables that are shared by module text."""
    _executables.clear()
