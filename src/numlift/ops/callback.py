"""Python functions called from inside a program: pure, with effects, or only to look at values.

A callback gets NumPy arrays and returns them. Eagerly it is simply called; in a compiled program it
is a custom call of XLA with an index into the module's list of host functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.graph import Equation, Graph
from ..core.op import NO_EFFECTS, Op
from ..core.tracing import EVAL, apply, interpreting, type_of
from ..core.types import ArrayType, array_type
from ..runtime.array import Array
from ..runtime.transfer import as_array, retype
from ..structural.families import batch_first, move_batch
from ..structural.shape import Reshape
from .reductions import replicated

IO = "io"
"""Effect of a callback whose calls count: none may be dropped, repeated or made up."""
DEBUG = "debug"
"""Effect of a callback that only looks at values: gradients do not repeat it."""
ORDERED = "ordered"
"""Effect of callbacks that happen in the order of the program."""

VMAP_METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)
_SAFE = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128)


def host_results(name: str, found: Sequence[Any], types: Sequence[ArrayType]) -> tuple[Any, ...]:
    """Results of a callback as arrays of exactly the declared types.

    XLA copies as many bytes as it was told there are, so anything else must not get there.

    Raises:
        ShapeError, DTypeError: a result has not the declared shape or dtype.
    """
    return tuple([_host_result(name, i, x, t) for i, (x, t) in enumerate(zip(found, types))])


def _host_result(name: str, i: int, x: Any, t: ArrayType) -> np.ndarray:
    if t.kind == "k":  # keys, or their words
        if isinstance(x, Array) and x.type.dtype == t.dtype:
            x = x._words()
        t = t.physical
    value = np.asarray(x)
    shown = {f"result {i}": f"{value.dtype}{list(value.shape)}", "declared": t}
    if value.shape != t.shape:
        rule = "the callback returned an array of another shape than it declared"
        hint = "correct the shape in result_shape_dtypes, or reshape the result"
        raise errors.ShapeError(errors.explain(name, rule, shown, try_=hint))
    if value.dtype != t.dtype and not _casts(x, value.dtype, t.dtype):
        rule = "the callback returned an array of another dtype than it declared"
        raise errors.DTypeError(
            errors.explain(name, rule, shown, try_=f"result.astype({str(t.dtype)!r})")
        )
    return np.asarray(value, t.dtype, order="C")


def _casts(x: Any, have: np.dtype, wanted: np.dtype) -> bool:
    """Whether a result may be converted: Python numbers, and 64-bit numbers to their narrow kin."""
    if type(x) in (bool, int, float, complex):
        return have in _SAFE and np.can_cast(have, wanted, "same_kind")
    return have.kind == wanted.kind and have.itemsize == 2 * wanted.itemsize and have in _SAFE


class HostCallback(Op):
    """Base: results = function(*inputs), computed by Python on the host.

    Attributes:
        function: NumPy arrays -> sequence of arrays.
        result_types: what it returns.
        ordered: whether its calls happen in the order of the program.
        vmap_method: how it treats batches.
        device: on which device of a program over several it is called; None is the first.
        partitioned: every device of such a program calls it with its part of the inputs.
    """

    multi = True
    memoise_type = False
    title: ClassVar[str] = ""
    effect: ClassVar[frozenset[str]] = NO_EFFECTS
    function: Callable[..., Sequence[Any]]
    result_types: tuple[ArrayType, ...]
    ordered: bool = False
    vmap_method: str | None = None
    device: Any = None
    partitioned: bool = False

    def __init__(self, *values: Any, **named: Any):
        super().__init__(*values, **named)
        self.effects = self.effect | {ORDERED} if self.ordered else self.effect

    def __repr__(self) -> str:
        function = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{self.name}[{function}]"

    def physical(self, *types: ArrayType) -> Op:
        return self

    def shard(self, *types: ArrayType) -> Any:
        return None

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return list(self.result_types)

    def host(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Call the function on NumPy arrays and check what it returns."""
        with interpreting(EVAL):
            found = self.function(*values)
        return host_results(self.title, found, self.result_types)

    def run_eagerly(self, args: Sequence[Array]) -> list[Array]:
        """Evaluation without a program."""
        found = self.host([_host_value(x) for x in args])
        places = {x.sharding for x in args if x.placement.committed}
        where = places.pop() if len(places) == 1 else None
        if where is not None and len(where.device_set) > 1:
            where = None
        made = [
            as_array(x, t.physical, where) for x, t in zip(found, self.result_types, strict=True)
        ]
        pairs = zip(made, self.result_types, strict=True)
        return [retype(x, t) if t.kind == "k" else x for x, t in pairs]

    # ---- transformations ---------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise errors.GradError(
            errors.explain(
                self.title,
                "a Python function has no derivative rule",
                try_="give the function that calls it a rule with nl.custom_jvp or nl.custom_vjp, "
                "or wrap the argument in lax.stop_gradient",
            )
        )

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        raise errors.GradError(
            errors.explain(
                f"transpose of {self.title}",
                "a callback inside a derivative rule cannot be transposed",
                try_="define the rule with nl.custom_vjp, whose bwd may call it",
            )
        )

    def batched(self, function: Any, size: int) -> HostCallback:
        """The callback of batches, with the batch axis in front of every result."""
        types = tuple([_wide(t, size) for t in self.result_types])
        return type(self)(
            function, types, self.ordered, self.vmap_method, self.device, self.partitioned
        )

    def lanes(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        """One host call that calls the function for each example in turn."""
        function = EachLane(self, size, tuple([d is not None for d in dims]))
        moved = [move_batch(x, d, 0) for x, d in zip(args, dims, strict=True)]
        return apply(self.batched(function, size), *moved), [0] * len(self.result_types)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return self.lanes(size, args, dims)

    # ---- lowering ----------------------------------------------------------------------------

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        module = ctx.module
        errors_, several = module.callback_errors, module.mesh is not None
        module.host_calls += 1
        index = module.host_function(self, lambda op: HostFunction(op, errors_, several))
        inputs = [t.physical for t in types]
        results: list[Any] = [t.physical for t in self.result_types]
        names = list(operands)
        if self.ordered:
            names.insert(0, ctx.take_token())
            inputs.insert(0, TOKEN)
            results.insert(0, TOKEN)
        text = (
            f"stablehlo.custom_call @{self._target(ctx)}({', '.join(names)}) "
            f"{{{self._attributes(ctx, index, inputs, results)}}} : "
            f"({', '.join(t.mlir for t in inputs)}) -> {_result_text(results)}"
        )
        found = ctx.emit_many(text, len(results))
        if self.ordered:
            ctx.token, found = found[0], found[1:]
        if _in_partitions(ctx) and not self.partitioned:
            pairs = zip(found, self.result_types, strict=True)
            found = [replicated(ctx, x, t.physical) for x, t in pairs]
        return found

    def _target(self, ctx: Any) -> str:
        platform = "gpu" if ctx.platform in ("cuda", "rocm", "gpu") else ctx.platform
        if platform not in ("cpu", "gpu"):
            raise errors.DeviceError(
                errors.explain(self.title, f"callbacks do not run on platform {ctx.platform!r}")
            )
        part = "partitioned_" if self.partitioned and _in_partitions(ctx) else ""
        return f"xla_ffi_{part}python_{platform}_callback"

    def _attributes(
        self, ctx: Any, index: int, inputs: Sequence[Any], results: Sequence[Any]
    ) -> str:
        parts = [
            "api_version = 4 : i32",
            f"backend_config = {{index = {index} : ui64}}",
            f"operand_layouts = [{', '.join(_layout(t) for t in inputs)}]",
            f"result_layouts = [{', '.join(_layout(t) for t in results)}]",
        ]
        if self.effects:
            parts.append("has_side_effect = true")
        if _in_partitions(ctx) and not self.partitioned:
            parts.append(_one_device(ctx, self.device, max(1, len(results))))
        return ", ".join(parts)


class PureCallback(HostCallback):
    """A function without effects: its calls may be dropped, merged or repeated."""

    name = "pure_callback"
    title = "pure_callback"

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        method = self.vmap_method
        if method is None:
            raise errors.VmapError(
                errors.explain(
                    "vmap of pure_callback",
                    "vmap_method was not given, so it is not known whether the function takes "
                    "batches",
                    try_=f"pure_callback(..., vmap_method=...) with one of "
                    f"{', '.join(map(repr, VMAP_METHODS))}",
                )
            )
        if method in ("sequential", "sequential_unrolled"):
            return self.lanes(size, args, dims)
        moved = []
        for x, d in zip(args, dims, strict=True):
            if d is not None:
                moved.append(move_batch(x, d, 0))
            elif method == "broadcast_all":
                moved.append(batch_first(x, None, size))
            elif method == "expand_dims":
                moved.append(apply(Reshape.of((1, *type_of(x).shape), None), x))
            else:
                moved.append(x)
        found = apply(self.batched(self.function, size), *moved)
        return found, [0] * len(found)


class IoCallback(HostCallback):
    """A function with effects: it is called exactly as often as the program says."""

    name = "io_callback"
    title = "io_callback"
    effect = frozenset((IO,))

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        if self.ordered:
            raise errors.VmapError(
                errors.explain(
                    "vmap of io_callback",
                    "an ordered callback has no order among the examples of a batch",
                    try_="io_callback(..., ordered=False), or lax.map instead of vmap",
                )
            )
        return self.lanes(size, args, dims)


class DebugCallback(HostCallback):
    """A function that looks at values and returns nothing; it has no derivative."""

    name = "debug_callback"
    title = "debug.callback"
    effect = frozenset((DEBUG,))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), []


class EachLane:
    """Calls a callback for each example of a batch; results are stacked in front."""

    __slots__ = ("op", "size", "batched")

    def __init__(self, op: HostCallback, size: int, batched: tuple[bool, ...]):
        self.op, self.size, self.batched = op, size, batched

    @property
    def __name__(self) -> str:
        return getattr(self.op.function, "__name__", "callback")

    def __call__(self, *args: np.ndarray) -> list[np.ndarray]:
        pairs = list(zip(args, self.batched, strict=True))
        columns = [
            self.op.host([np.asarray(x[i]) if b else x for x, b in pairs]) for i in range(self.size)
        ]
        return [
            np.stack([c[k] for c in columns]) if columns else np.empty((0, *t.shape), t.dtype)
            for k, t in enumerate([t.physical for t in self.op.result_types])
        ]


class HostFunction:
    """What XLA calls: takes tokens off, keeps an exception so that the caller gets it as it is.

    In a program over several devices an exception must not stop one of them, because the others
    would wait for it for ever: calls then give zeros, loops end (`emit_running`), and the caller
    raises when all have ended.

    Attributes:
        op: the callback.
        errors: exceptions that were raised and not handed on yet; shared by the program.
        several: whether the program runs on several devices.
    """

    __slots__ = ("op", "errors", "several")

    def __init__(self, op: HostCallback, errors: list[BaseException], several: bool):
        self.op, self.errors, self.several = op, errors, several

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        if self.op.ordered:
            return (None, *self.results(args[1:]))
        return self.results(args)

    def results(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Results of the function, or zeros after a failure elsewhere."""
        if not (self.several and self.errors):
            try:
                return self.op.host(args)
            except BaseException as error:
                self.errors.append(error)
                if not self.several:
                    raise
        types = [t.physical for t in self.op.result_types]
        return tuple([np.zeros(t.shape, t.dtype) for t in types])


_running = IoCallback(lambda: [np.True_], (array_type((), np.dtype(bool)),))
"""Gives True, and False after a failure, as every callback of a program over several devices."""


def emit_running(ctx: Any) -> str:
    """Whether no callback of a program over several devices has failed."""
    return _running.lower(ctx, [], [], _running.result_types)[0]


class TokenType:
    """Stands where types of operands are listed."""

    mlir = "!stablehlo.token"
    ndim = 0


TOKEN = TokenType()


def quiet(graph: Graph) -> Graph:
    """The graph without debug callbacks: for a second run of the same computation."""
    return without_effect(graph, DEBUG)


def without_effect(graph: Graph, effect: Any) -> Graph:
    """The graph without the operations without results that have an effect."""
    if effect not in graph.effects:
        return graph
    return graph.cached(("without", effect), lambda: _without(graph, effect))


def _without(graph: Graph, effect: Any) -> Graph:
    equations = []
    for eq in graph.equations:
        op: Any = eq.op
        if effect in op.effects:
            graphs = op.graphs() if hasattr(op, "graphs") else ()
            if not graphs:
                if eq.outputs:
                    raise NotImplementedError(f"{op.name} has results that are needed")
                continue
            op = op.with_graphs([without_effect(g, effect) for g in graphs])
            eq = Equation(op, eq.inputs, eq.outputs, eq.source, eq.scope)
        equations.append(eq)
    return Graph(graph.inputs, equations, graph.outputs, graph.name)


def _wide(t: ArrayType, size: int) -> ArrayType:
    return array_type((size, *t.shape), t.dtype)


def _host_value(x: Array) -> np.ndarray:
    """The value of an array; of PRNG keys, their words."""
    return x._words()


def _layout(t: Any) -> str:
    """Row-major layout of an operand, as an attribute."""
    if not t.ndim:
        return "dense<> : tensor<0xindex>"
    return f"dense<[{', '.join(map(str, reversed(range(t.ndim))))}]> : tensor<{t.ndim}xindex>"


def _result_text(results: Sequence[Any]) -> str:
    texts = [t.mlir for t in results]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _in_partitions(ctx: Any) -> bool:
    """Whether the compiler splits the program over devices here (not in manual regions)."""
    return ctx.module.mesh is not None and not ctx.manual


def _one_device(ctx: Any, device: Any, count: int) -> str:
    """Attribute that makes one device call; the declaration of that device goes to the module."""
    order = ctx.module.mesh.device_tuple
    if device is not None and device not in order:
        raise errors.ShardingError(
            errors.explain(
                "callback", f"device {device} of `sharding` is not one of the program's devices"
            )
        )
    i = 0 if device is None else order.index(device)
    ctx.module.declare(f"sdy.mesh @maximal_mesh_{i} = <[], device_ids=[{i}]>")
    inner = ", ".join([f"<@maximal_mesh_{i}, []>"] * count)
    return f"sdy.sharding = #sdy.sharding_per_value<[{inner}]>"
