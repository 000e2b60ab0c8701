"""Eager evaluation: every operation on concrete arrays is one cached program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .. import config, errors
from ..core.graph import Equation, Graph, Var, checks
from ..core.op import Op
from ..core.staging import infer_type
from ..core.tracing import EVAL, Tracer, current, leaked
from ..core.verify import verify
from ..runtime import xla
from ..runtime.array import Array
from ..runtime.transfer import as_array, constant
from .program import Program, compile_graph
from .program_checks import program_check

_programs: dict[tuple, Program] = {}
_LIMIT = 4096
_new: Callable[[type[Array]], Array] = object.__new__
_state = config.current


def execute(op: Op, args: Sequence[Any]) -> Any:
    """Run one operation on concrete values."""
    try:
        state = _state()
        programs = _programs if op.memoise_type else op.__dict__["programs"]
        if len(args) == 2:  # written out: a comprehension takes as long as all of the rest
            x, y = args
            program = programs[op, state, x.placement, y.placement]
            buffers = [x.buffer, y.buffer]
        elif len(args) == 1:
            x = args[0]
            program = programs[op, state, x.placement]
            buffers = [x.buffer]
        else:
            program = programs[(op, state, *[x.placement for x in args])]
            buffers = [x.buffer for x in args]
    except (KeyError, AttributeError):
        program = None
    if program is None:
        return _execute_slowly(op, args)
    if not program.plain or program.check is not None:
        results = program(args)
        return results if op.multi else results[0]
    try:
        outs = program.run(buffers).consume_with_handlers(program.handlers)
    except xla.JaxRuntimeError as error:
        raise program.failure([x.buffer for x in args], error) from error
    if op.multi:
        return list(map(Array, outs, program.placements))
    where = program.placements[0]
    made = _new(Array)
    made.buffer, made.placement, made.type = outs[0], where, where.type
    return made


def _execute_slowly(op: Op, args: Sequence[Any]) -> Any:
    arrays = [x if type(x) is Array else concrete(x, op.name) for x in args]
    if op.run_eagerly is not None:
        return op.run_eagerly(arrays)
    placements = [x.placement for x in arrays]
    key = (op, config.current(), *placements)
    programs: Any = _programs if op.memoise_type else op.__dict__.setdefault("programs", {})
    program = programs.get(key)
    if program is None:
        types = [p.type for p in placements]
        found = infer_type(op, types)
        inputs = [Var(t) for t in types]
        outputs = [Var(t) for t in (found if op.multi else [found])]
        graph = Graph(inputs, [Equation(op, inputs, outputs)], outputs, op.name)
        program = compile_graph(graph, placements, keep_unused=True, use_context_mesh=False)
        program.check = program_check(op.name, graph, eager=True)
        if len(programs) >= _LIMIT:
            programs.clear()
        programs[key] = program
    results = program(arrays)
    return results if op.multi else results[0]


def concrete(x: Any, function: str) -> Any:
    """`x` as an array on a device (an object that converts itself may be a traced value instead).

    Raises:
        UnexpectedTracerError: `x` is a tracer whose trace has ended.
    """
    if isinstance(x, Tracer):
        if not x.owner.alive:
            raise leaked(x)
        raise errors.UnexpectedTracerError(
            errors.explain(
                function,
                f"a traced value of {x.owner.describe()} was used outside the function that is "
                "being traced (in another thread, or in a callback)",
                {"value": x.type},
            )
        )
    kind = type(x)
    if kind is float or kind is int or kind is bool or kind is complex:
        return constant(x)
    convert = getattr(kind, "__numlift_array__", None)
    if convert is not None:
        found = convert(x)
        return found if isinstance(found, Tracer) and current.get() is not EVAL else as_array(found)
    if isinstance(x, np.generic):
        return _typed_scalar(x.dtype, x.tobytes(), config.current())
    return as_array(x)


@lru_cache(maxsize=4096)
def _typed_scalar(dtype: Any, data: bytes, state: config.State) -> Array:
    """A typed NumPy scalar as a shared array; -0.0 and 0.0 have different bytes."""
    return as_array(np.frombuffer(data, dtype)[0])


def kept(x: np.ndarray) -> Any:
    """A small NumPy array as an array on a device that later calls share; large ones stay.

    The same few indices come again and again, and a copy takes longer than the program that reads
    it. Never donate the result.
    """
    if x.nbytes > 256 or current.get() is not EVAL or not x.dtype.isnative:
        return x
    if config.watch().transfer_guard_host_to_device != "allow":
        return x
    return _kept_array(x.dtype, x.shape, x.tobytes(), config.current())


@lru_cache(maxsize=1024)
def _kept_array(dtype: Any, shape: Any, data: bytes, state: config.State) -> Array:
    return as_array(np.frombuffer(data, dtype).reshape(shape))


def clear_caches() -> None:
    """Forget the programs of eager operations."""
    _programs.clear()
    _kept_array.cache_clear()
    _typed_scalar.cache_clear()


EVAL.execute = execute
checks.append(verify)

__all__ = ["clear_caches", "concrete", "execute", "kept"]
