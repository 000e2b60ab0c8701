"""Graph -> StableHLO text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Atom, Equation, Graph, Literal
from ..core.types import ArrayType, array_type
from ..hlo.builder import FunctionBuilder, Module, symbol
from ..hlo.locations import without_locations
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..sharding.text import sdy_open_text, sdy_sharding_text, sdy_spec_text, sdy_text
from .simplify import simplify


class Lowering(FunctionBuilder):
    """Builder that also knows graphs: what `Op.lower` receives as `ctx`."""

    path = ""
    """Names of the functions, scopes and operations around the graph being lowered."""
    equation: Equation | None = None

    def inline(self, graph: Graph, operands: Sequence[str]) -> list[str]:
        """Emit the equations of a graph here; returns the names of its outputs."""
        graph = simplify(graph)
        outside = self.path, self.equation, self.location
        path = outside[0]
        if self.equation is not None:
            scope = self.equation.scope
            path += f"{scope}/{self.equation.op.label}/" if scope else f"{self.equation.op.label}/"
            self.path = path
        alias = self.module.locations.alias
        env: dict[Any, str] = dict(zip(graph.inputs, operands, strict=True))
        for eq in graph.equations:
            op = eq.op
            self.equation, self.location = eq, alias(path, eq)
            types = [a.type for a in eq.inputs]
            outs = [v.type for v in eq.outputs]
            if op.broadcasts_scalars and outs[0].shape:
                names = [self._spread(a, outs[0], env) for a in eq.inputs]
                shape = outs[0].shape
                types = [t if t.shape == shape else array_type(shape, t.dtype) for t in types]
            else:
                names = [self._operand(a, env) for a in eq.inputs]
            if any(t.kind == "k" for t in types):
                changed = op.physical(*types)
                if changed is not op:
                    op = changed
                    types = [t.physical for t in types]
                    outs = [t.physical for t in outs]
            result = op.lower(self, names, types, outs)
            if op.multi:
                env.update(zip(eq.outputs, result, strict=True))
            else:
                env[eq.outputs[0]] = result
            if self.module.mesh is not None:
                for v in eq.outputs:
                    sharding = v.type.sharding or getattr(op, "sharding", None)
                    if sharding is not None:
                        env[v] = self.constrain(env[v], v.type, sharding)
        self.path, self.equation, self.location = outside
        return [self._operand(a, env) for a in graph.outputs]

    def _operand(self, atom: Atom, env: dict[Any, str]) -> str:
        if type(atom) is Literal:
            return self.full(atom.value, atom.type)
        return env[atom]

    def _spread(self, atom: Atom, out: ArrayType, env: dict[Any, str]) -> str:
        t = atom.type
        if t.shape == out.shape:
            return self._operand(atom, env)
        wide = array_type(out.shape, t.dtype)
        if type(atom) is Literal:
            return self.full(atom.value, wide)
        # the words of a rank-0 key are its only axes, and stay the last ones
        ndim = len(out.shape)
        dims = range(ndim, ndim + t.physical.ndim)
        return self.broadcast(env[atom], t.physical, wide.physical, dims)

    def constrain(self, name: str, type_: ArrayType, sharding: Any) -> str:
        """Pin the sharding that an Explicit type, or the operation, promises."""
        mesh, ndim = sharding.mesh, type_.physical.ndim
        if mesh.explicit_axes and mesh.auto_axes:
            inner = sdy_open_text(sharding, ndim)
        else:
            inner = sdy_spec_text(sharding.spec, ndim)
        return self.emit(f"sdy.sharding_constraint {name} {inner} : {type_.mlir}")

    def call(self, graph: Graph, operands: Sequence[str]) -> list[str]:
        """Call a graph as a private function of the module; equal graphs share one."""
        name = private_function(self.module, graph)
        ins = ", ".join(t.mlir for t in graph.in_types)
        outs = ", ".join(t.mlir for t in graph.out_types)
        return self.emit_many(
            f"func.call @{name}({', '.join(operands)}) : ({ins}) -> ({outs})", len(graph.outputs)
        )


def private_function(module: Module, graph: Graph) -> str:
    """Symbol of the private function that computes `graph`."""
    signature, body = function_text(module, graph)
    return module.private(signature, body, graph.name)


def function_text(
    module: Module,
    graph: Graph,
    in_attributes: Sequence[str] = (),
    out_attributes: Callable[[], Sequence[str]] | None = None,
    path: str = "",
) -> tuple[str, str]:
    """Signature and body of a function that computes `graph`.

    `out_attributes` is called after the body was written.
    """
    builder = Lowering(module)
    builder.path = path
    names = [f"%arg{i}" for i in range(len(graph.inputs))]
    results = builder.inline(graph, names)
    mesh = module.mesh
    if out_attributes is not None and mesh and mesh.explicit_axes and mesh.auto_axes:
        # Their attributes leave the Auto axes, and so all, to the compiler.
        plain = NamedSharding(mesh, PartitionSpec())
        results = [
            builder.constrain(r, t, t.sharding or plain)
            for r, t in zip(results, graph.out_types, strict=True)
        ]
    pads = in_attributes or [""] * len(names)
    ins = ", ".join(
        f"{n}: {t.mlir}{a}" for n, t, a in zip(names, graph.in_types, pads, strict=True)
    )
    out_pads = out_attributes() if out_attributes is not None else [""] * len(results)
    outs = ", ".join(f"{t.mlir}{a}" for t, a in zip(graph.out_types, out_pads, strict=True))
    end = "return"
    if results:
        end += f" {', '.join(results)} : {', '.join(t.mlir for t in graph.out_types)}"
    return f"({ins}) -> ({outs})", "\n".join([*builder.lines, end])


def lower_graph(
    graph: Graph,
    *,
    platform: str = "cpu",
    mesh: Any = None,
    in_shardings: Sequence[Any] | None = None,
    out_shardings: Sequence[Any] | None = None,
    donated: dict[int, int | None] | None = None,
    in_memories: Sequence[str | None] | None = None,
    out_memories: Sequence[str | None] | None = None,
) -> tuple[str, Module]:
    """The StableHLO module whose main function computes `graph`.

    Args:
        graph: what to compute; its inputs are the parameters of main.
        platform: "cpu", "cuda", "rocm" or "tpu": operations may lower differently.
        mesh: the mesh for programs over several devices, else None.
        in_shardings, out_shardings: one `NamedSharding` or None (left to XLA) each.
        donated: donated input -> output that must take over its memory, or None for any.
        in_memories, out_memories: one name of a memory, or None for the default one, each.

    Returns:
        The text, and the module, whose `located_text` also says where operations come from.
    """
    module = Module(platform, name=module_name(graph.name))
    if mesh is not None:
        module.mesh = mesh
        module.mesh_text = sdy_text(mesh)
    in_attributes = _attributes(graph.in_types, in_shardings, mesh, donated or {}, in_memories)
    for kind in in_memories or ():
        if kind is not None:
            module.memory_kinds[kind] = None
    path = f"jit({graph.name})/"

    def out_attributes() -> list[str]:
        kinds = out_memories
        if module.memory_kinds:  # then a result without one might follow its operand
            kinds = [k or "device" for k in out_memories or [None] * len(graph.outputs)]
        return _attributes(graph.out_types, out_shardings, mesh, {}, kinds)

    signature, body = function_text(module, graph, in_attributes, out_attributes, path)
    text = module.text(f"func.func public @main{signature} {{\n{body}\n}}")
    module.located_text = text
    return without_locations(text[: text.rindex("\n}\n") + 3]), module


def module_name(name: str) -> str:
    """Name of the module of a function."""
    return f"jit_{symbol(name)}"


def _attributes(
    types: Sequence[ArrayType],
    shardings: Sequence[Any] | None,
    mesh: Any,
    donated: dict[int, int | None],
    memories: Sequence[str | None] | None,
) -> list[str]:
    texts = []
    for i, t in enumerate(types):
        found = []
        sharding = shardings[i] if shardings else None
        if mesh is not None and sharding is not None:
            found.append(f"sdy.sharding = {sdy_sharding_text(sharding, t.physical.ndim)}")
        if i in donated:
            target = donated[i]
            found.append(
                "jax.buffer_donor = true"
                if target is None
                else f"tf.aliasing_output = {target} : i32"
            )
        if memories is not None and memories[i] is not None:
            found.append(f'mhlo.memory_kind = "{memories[i]}"')
        texts.append(f" {{{', '.join(found)}}}" if found else "")
    return texts
