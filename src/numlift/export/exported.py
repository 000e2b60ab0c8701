"""`export`: a jitted function as versioned bytes that need no Python source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from .._version import __version__
from ..api.autodiff import vjp
from ..api.custom import custom_vjp
from ..api.jit import jit
from ..api.shapes import ShapeDtypeStruct, struct_of
from ..api.stages import trace_arguments
from ..api.tracing import argument_path, check_argument
from ..core.dim_scope import SymbolicScope
from ..core.dim_text import marked_dims
from ..core.graph import Graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..hlo.builder import Module
from ..hlo.locations import without_locations
from ..runtime import xla
from ..runtime.array import Array
from ..runtime.devices import default_backend
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..sharding.text import sdy_text
from ..transforms.lower import Lowering, module_name
from ..tree import tree_flatten
from .container import FUNCTION, pack, unpack
from .operation import CallExported, CallTemplate
from .sizes import check_solvable, scope_of_types, solve, symbols_of
from .spread import Spread, Texts, on_mesh, spread_of, texts_of
from .template import packed_template, template_text
from .trees import tree_from_json, tree_to_json, type_from_json, type_to_json

_MOST_SIZES = 1024
"""So many sizes of an exported function stay compiled."""
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


class Exported:
    """An exported function.

    Attributes:
        fun_name: name of the function.
        in_tree: structure of (args, kwargs), without static arguments.
        out_tree: structure of the result.
        platforms: where it can run.
        nr_devices: on how many devices one call runs.
        in_shardings_hlo, out_shardings_hlo: how XLA splits arguments and results over them, as
            text; None for those that are left to the compiler, and for programs on one device.
        ordered_effects, unordered_effects: always empty: programs with effects are not exported.
        module_kept_var_idx: which arguments the program takes: all.
        stablehlo_version: version of the programs inside; this compiler and later ones read it.
    """

    ordered_effects: tuple[Any, ...] = ()
    unordered_effects: tuple[Any, ...] = ()

    def __init__(
        self,
        fun_name: str,
        trees: tuple[Any, Any],
        types: tuple[Sequence[ArrayType], Sequence[ArrayType]],
        modules: dict[str, bytes],
        stablehlo_version: str,
        source: tuple[Graph, list[Array]] | None = None,
        derivative: Exported | None = None,
        scope: SymbolicScope | None = None,
        nr_devices: int = 1,
        shardings: tuple[Texts, Texts] | None = None,
        spread: Spread | None = None,
    ):
        self.fun_name, self.stablehlo_version = fun_name, stablehlo_version
        self.in_tree, self.out_tree = trees
        self._in_types, self._out_types = [[_plain(t) for t in side] for side in types]
        self._modules, self._source, self._derivative = modules, source, derivative
        self.platforms = tuple(modules)
        self._scope, self._spread, self.nr_devices = scope, spread, nr_devices
        unsplit = ((None,) * len(types[0]), (None,) * len(types[1]))
        self.in_shardings_hlo, self.out_shardings_hlo = shardings or unsplit
        self.module_kept_var_idx = tuple(range(len(types[0])))
        self._flats: dict[tuple[Any, ...], Callable[..., list[Any]]] = {}

    @property
    def in_avals(self) -> tuple[ShapeDtypeStruct, ...]:
        """Types of the argument leaves."""
        return tuple(map(struct_of, self._in_types))

    @property
    def out_avals(self) -> tuple[ShapeDtypeStruct, ...]:
        """Types of the result leaves."""
        return tuple(map(struct_of, self._out_types))

    @property
    def mlir_module_serialized(self) -> bytes:
        """The program for the first platform, as a portable artifact of StableHLO.

        With symbolic sizes it is a compressed text (`numlift.export.template`).
        """
        return self._modules[self.platforms[0]]

    def mlir_module(self, platform: str | None = None) -> str:
        """The program for a platform (by default the first) as StableHLO text."""
        chosen = self.platforms[0] if platform is None else platform
        if chosen not in self._modules:
            raise errors.ValueArgumentError(
                errors.explain(
                    self._title,
                    f"there is no program for the platform {chosen!r}",
                    {"platforms": ", ".join(self.platforms)},
                )
            )
        if self._scope is None:
            return xla.artifact_text(self._modules[chosen])
        return template_text(self._modules[chosen])

    def in_shardings_jax(self, mesh: Any) -> tuple[Any, ...]:
        """Shardings of the argument leaves on a mesh of `nr_devices` devices; None if free."""
        return on_mesh(self.in_shardings_hlo, self._in_types, mesh, self.nr_devices, self._title)

    def out_shardings_jax(self, mesh: Any) -> tuple[Any, ...]:
        """Shardings of the result leaves on a mesh of `nr_devices` devices; None if free."""
        return on_mesh(self.out_shardings_hlo, self._out_types, mesh, self.nr_devices, self._title)

    @property
    def _title(self) -> str:
        return f"exported {self.fun_name}"

    # ---- calls -------------------------------------------------------------------------------

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: at once, or as part of a function that is traced.

        It works under `jit` and, if there is a derivative (`serialize(vjp_order=...)`), under
        reverse differentiation. It cannot be vectorised: export the vectorised function.

        Raises:
            TreeError: the arguments have another structure than at export.
            ArgumentError: an argument is no array, or has another shape or dtype.
            ShapeError: no sizes of the symbols fit the shapes of the arguments.
            ValueArgumentError: the sizes break a constraint.
            DeviceError: the function was not exported for this platform, or for another number of
                devices.

        A program over several devices is called with arguments on a mesh of as many devices (or
        under `set_mesh`); names of mesh axes do not matter. Donation is up to the caller:
        ``jit(exported.call, donate_argnums=0)``.
        """
        function = self._title
        leaves, tree = tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise errors.TreeError(
                errors.explain(
                    function,
                    "the arguments have another structure than at export",
                    {"expected": self.in_tree, "got": tree},
                )
            )
        for x, t in zip(leaves, self._in_types, strict=True):
            check_argument(x, lambda x=x: argument_path(args, kwargs, x), function)
            u = type_of(x)
            same = u.shape == t.shape if self._scope is None else u.ndim == t.ndim
            if not same or u.dtype != t.dtype:
                wide = t.dtype.itemsize == 8 and same
                raise errors.ArgumentError(
                    errors.explain(
                        function,
                        f"{argument_path(args, kwargs, x)} has another type than at export",
                        {"expected": t, "got": u},
                        try_="enable_x64, or x.astype(...)" if wide else None,
                    )
                )
        flat = self._flat_for(
            list(map(type_of, leaves)), lambda i: argument_path(args, kwargs, leaves[i])
        )
        return self.out_tree.unflatten(flat(*leaves))

    def _flat_for(
        self, types: Sequence[ArrayType], where: Callable[[int], str]
    ) -> Callable[..., list[Any]]:
        """What to call with argument leaves of these types: one function for the same sizes."""
        scope, sizes = self._scope, {}
        if scope is not None:
            sizes = solve(self._title, scope, self._in_types, types, where)
        key = tuple(sizes.values())
        flat = self._flats.get(key)
        if flat is None:
            op = (
                CallExported(self.fun_name, self._modules, self._out_types, self.nr_devices)
                if scope is None
                else CallTemplate(self.fun_name, self._modules, self._out_types, scope, sizes)
            )
            if len(self._flats) >= _MOST_SIZES:
                self._flats.clear()
            flat = self._flats[key] = self._make_flat(op)
        return flat

    def _make_flat(self, op: CallExported) -> Callable[..., list[Any]]:
        def flat(*leaves: Any) -> list[Any]:
            return apply(op, *leaves)

        flat.__name__ = self.fun_name
        made = custom_vjp(flat)

        def backward(leaves: Any, cts: Any) -> tuple[Any, ...]:
            known = [ct for ct, t in zip(cts, self._out_types, strict=True) if t.inexact]
            found = iter(self.vjp().call(*leaves, *known))
            return tuple([next(found) if t.inexact else None for t in self._in_types])

        # Not `flat`: an outer derivative must meet the rule again.
        made.defvjp(lambda *leaves: (made(*leaves), leaves), backward)
        return made

    # ---- derivative --------------------------------------------------------------------------

    def has_vjp(self) -> bool:
        """Whether the derivative can be had: it is in the file, or the function was just made."""
        return self._derivative is not None or self._source is not None

    def vjp(self) -> Exported:
        """The exported derivative.

        Its arguments are those of this function as a flat list, then one cotangent for each
        result leaf with an inexact dtype. Its result is a tuple with one cotangent for each
        argument leaf with an inexact dtype.

        Raises:
            GradError: the file holds no derivative.
        """
        if self._derivative is None:
            if self._source is None:
                raise errors.GradError(
                    errors.explain(
                        self._title,
                        "the derivative was not serialised",
                        try_="serialize(vjp_order=1) where the function is exported",
                    )
                )
            graph, captured = self._source
            cts = [t for t in self._out_types if t.inexact]
            pull = _pullback(graph, captured, self._in_types, self.fun_name)
            jitted = jit(pull) if self._spread is None else self._spread_pullback(pull, cts)
            structs = [struct_of(t) for t in (*self._in_types, *cts)]
            self._derivative = export(jitted, platforms=self.platforms)(*structs)
        return self._derivative

    def _spread_pullback(self, pull: Callable[..., Any], cts: Sequence[ArrayType]) -> Any:
        """The derivative on the same devices, with the same shardings of the same values."""
        assert self._spread is not None
        mesh, ins, outs = self._spread
        free = NamedSharding(mesh, PartitionSpec())
        pairs = zip(outs, self._out_types, strict=True)
        given = [*ins, *(s for s, t in pairs if t.inexact)]
        found = tuple([s for s, t in zip(ins, self._in_types, strict=True) if t.inexact])
        return jit(pull, in_shardings=tuple([s or free for s in given]), out_shardings=found)

    # ---- files -------------------------------------------------------------------------------

    def serialize(self, vjp_order: int = 0) -> bytes:
        """The function as bytes (format: `numlift.export.container`).

        Args:
            vjp_order: how often the function can be differentiated (in reverse) after reading.

        Raises:
            TreeError: arguments or results contain classes that have no form in files.
        """
        blobs = list(self._modules.values())
        header: dict[str, Any] = {
            "numlift": __version__,
            "fun_name": self.fun_name,
            "platforms": list(self._modules),
            "nr_devices": self.nr_devices,
            "stablehlo_version": self.stablehlo_version,
            "in_tree": tree_to_json(self.in_tree),
            "out_tree": tree_to_json(self.out_tree),
            "in_types": list(map(type_to_json, self._in_types)),
            "out_types": list(map(type_to_json, self._out_types)),
            "has_vjp": vjp_order > 0,
        }
        if self.nr_devices > 1:
            header["in_shardings"] = self.in_shardings_hlo
            header["out_shardings"] = self.out_shardings_hlo
        if vjp_order > 0:
            blobs.append(self.vjp().serialize(vjp_order - 1))
        if self._scope is None:
            return pack(FUNCTION, header, blobs)
        header["constraints"] = list(self._scope.constraints)
        return pack(FUNCTION, header, blobs, version=2)

    def __repr__(self) -> str:
        ins = ", ".join(map(repr, self._in_types))
        outs = ", ".join(map(repr, self._out_types))
        many = f", nr_devices={self.nr_devices}" if self.nr_devices > 1 else ""
        return f"Exported({self.fun_name}: ({ins}) -> ({outs}), platforms={self.platforms}{many})"


def deserialize(data: bytes | bytearray) -> Exported:
    """The function that `Exported.serialize` wrote. Reading runs no code of the file.

    Args:
        data: the bytes.

    Returns:
        The exported function.

    Raises:
        ValueArgumentError: other bytes, damaged ones, or a format that is newer than this release.
        TreeError: a class in the arguments or results is not registered here.

    Example:
        >>> import numlift as nl
        >>> from numlift import export
        >>> f = nl.jit(lambda x: x * 2)
        >>> data = export.export(f)(nl.ShapeDtypeStruct((3,), "float32")).serialize()
        >>> print(export.deserialize(data).call(nl.numpy.ones(3)))
        [2. 2. 2.]
    """
    if not isinstance(data, (bytes, bytearray)):
        raise errors.ArgumentError(
            errors.explain(
                "export.deserialize",
                f"expected bytes, got a {type(data).__name__}",
                try_='open(path, "rb").read()',
            )
        )
    header, blobs = unpack(FUNCTION, bytes(data), "export.deserialize")
    platforms = header["platforms"]
    constraints = header.get("constraints")
    scope = None if constraints is None else SymbolicScope(constraints)
    return Exported(
        header["fun_name"],
        (tree_from_json(header["in_tree"]), tree_from_json(header["out_tree"])),
        (
            [type_from_json(t, scope) for t in header["in_types"]],
            [type_from_json(t, scope) for t in header["out_types"]],
        ),
        dict(zip(platforms, blobs, strict=False)),
        header["stablehlo_version"],
        derivative=deserialize(blobs[len(platforms)]) if header["has_vjp"] else None,
        scope=scope,
        nr_devices=header["nr_devices"],
        shardings=(tuple(header["in_shardings"]), tuple(header["out_shardings"]))
        if header["nr_devices"] > 1
        else None,
    )


def default_export_platform() -> str:
    """The platform that functions are exported for if none is named.

    Returns:
        One of "cpu", "cuda", "rocm" and "tpu".

    Example:
        >>> from numlift import export
        >>> export.default_export_platform() in ("cpu", "cuda", "rocm", "tpu")
        True
    """
    return _checked_platforms(None)[0]


def export(
    fun_jit: Callable[..., Any], *, platforms: Sequence[str] | None = None
) -> Callable[..., Exported]:
    """A function that exports `fun_jit` for the types of the arguments that it is called with.

    Arrays that the function closes over become part of the program. Sizes of `symbolic_shape` in
    the shapes of `ShapeDtypeStruct`s stay open: the exported function takes arrays of all sizes
    that satisfy the constraints. Other sizes are fixed.

    Functions over several devices (shardings of jit or of the arguments on a mesh) keep how their
    values are split; they are called in programs over as many devices.

    Args:
        fun_jit: a jitted function. Its static arguments are fixed by the call, and are not
            arguments of the exported function.
        platforms: any of "cpu", "cuda", "rocm", "tpu"; by default the one in use. Devices of them
            need not be present.

    Returns:
        (arrays, numbers or `ShapeDtypeStruct`s) -> `Exported`.

    Raises:
        ArgumentError: no jitted function.
        ValueArgumentError: unknown platforms; a program that calls Python (callbacks), or that
            has symbolic sizes and runs on several devices.

    Example:
        >>> import numlift as nl
        >>> from numlift import export
        >>> exported = export.export(nl.jit(nl.numpy.sin))(1.0)
        >>> exported
        Exported(sin: (~float32[]) -> (~float32[]), platforms=('cpu',))
    """
    info = getattr(fun_jit, "_info", None)
    if info is None:
        raise errors.ArgumentError(
            errors.explain(
                "export", "expected a jitted function", {"fun_jit": fun_jit}, try_="export(jit(f))"
            )
        )
    chosen = _checked_platforms(platforms)

    def exporter(*args: Any, **kwargs: Any) -> Exported:
        staged = trace_arguments(info, args, kwargs)
        traced, graph = staged.traced, staged.jaxpr
        if traced.refs is not None:
            traced.refs.refuse(f"export of {info.name}")
        captured = traced.captured_arrays()
        asked = (info.shardings_in(staged.in_tree), info.shardings_out(staged.out_tree))
        spread = spread_of(info.name, graph, captured, staged.placements, asked)
        constants = [x._words() for x in captured]
        types = graph.in_types[len(captured) :]
        scope = scope_of_types(f"export of {info.name}", types)
        if scope is not None:
            check_solvable(f"export of {info.name}", types, graph.out_types)
            _check_one_device(info.name, spread)
        with marked_dims():
            texts = {p: module_text(graph, constants, p, info.name, spread) for p in chosen}
        version = xla.portable_version()
        made = {
            text: xla.portable_artifact(text, version)
            if scope is None
            else packed_template(text, scope, symbols_of(types), version)
            for text in set(texts.values())
        }
        return Exported(
            info.name,
            (staged.in_tree, staged.out_tree),
            (types, graph.out_types),
            {p: made[text] for p, text in texts.items()},
            version,
            source=(graph, captured),
            scope=scope,
            nr_devices=1 if spread is None else spread.mesh.size,
            shardings=None
            if spread is None
            else (texts_of(spread.ins, types), texts_of(spread.outs, graph.out_types)),
            spread=spread,
        )

    return exporter


def _checked_platforms(platforms: Sequence[str] | None) -> tuple[str, ...]:
    found = (default_backend(),) if platforms is None else tuple(platforms)
    found = tuple(dict.fromkeys("cuda" if p == "gpu" else p for p in found))
    if isinstance(platforms, str) or not found or not set(found) <= set(PLATFORMS):
        raise errors.ValueArgumentError(
            errors.explain(
                "export",
                f"platforms must be some of {', '.join(PLATFORMS)}",
                {"platforms": platforms},
                try_='platforms=["cpu", "cuda"]',
            )
        )
    return found


def _check_one_device(name: str, spread: Spread | None) -> None:
    if spread is not None:
        raise errors.ValueArgumentError(
            errors.explain(
                f"export of {name}",
                "a program with symbolic sizes cannot run on several devices",
                {"devices": spread.mesh.size},
                try_="fixed sizes, or export it for one device",
            )
        )


def module_text(
    graph: Graph,
    constants: Sequence[np.ndarray],
    platform: str,
    name: str,
    spread: Spread | None = None,
) -> str:
    """StableHLO of a graph whose leading inputs are constants."""
    module = Module(platform, name=module_name(name))
    if spread is not None:
        module.mesh, module.mesh_text = spread.mesh, sdy_text(spread.mesh)
    builder = Lowering(module)
    types, outs = graph.in_types[len(constants) :], graph.out_types
    names = [f"%arg{i}" for i in range(len(types))]
    given = names if spread is None else _split(builder, names, types, spread.ins)
    results = builder.inline(graph, [*map(builder.array, constants), *given])
    if spread is not None:
        results = _split(builder, results, outs, spread.outs)
    if module.callbacks:
        raise errors.ValueArgumentError(
            errors.explain(
                f"export of {name}",
                "the function calls Python (a callback or debug.print), which bytes cannot hold",
                try_="remove the callback before exporting",
            )
        )
    ins = ", ".join(f"{n}: {t.mlir}" for n, t in zip(names, types, strict=True))
    out_text = ", ".join(t.mlir for t in outs)
    end = f"return {', '.join(results)} : {out_text}" if results else "return"
    body = "\n".join([*builder.lines, end])
    text = module.text(f"func.func public @main({ins}) -> ({out_text}) {{\n{body}\n}}")
    return without_locations(text[: text.rindex("\n}\n") + 3])


def _plain(t: ArrayType) -> ArrayType:
    """The type without a sharding: it belongs to the mesh of the export."""
    return t if t.sharding is None else t.update(sharding=None)


def _split(
    builder: Lowering, names: Sequence[str], types: Sequence[ArrayType], shardings: Sequence[Any]
) -> list[str]:
    """Values with their shardings pinned."""
    return [
        n if s is None else builder.constrain(n, t, s)
        for n, t, s in zip(names, types, shardings, strict=True)
    ]


def _pullback(
    graph: Graph, captured: Sequence[Any], types: Sequence[ArrayType], name: str
) -> Callable[..., Any]:
    """(argument leaves, cotangents of inexact results) -> cotangents of inexact arguments."""
    n = len(types)
    active = [i for i, t in enumerate(types) if t.inexact]
    wanted = [i for i, t in enumerate(graph.out_types) if t.inexact]

    def pull(*flat: Any) -> tuple[Any, ...]:
        leaves, cts = list(flat[:n]), flat[n:]

        def primal(*xs: Any) -> list[Any]:
            full = list(leaves)
            for i, x in zip(active, xs, strict=True):
                full[i] = x
            outs = graph.run(current.get().apply, [*captured, *full])
            return [outs[i] for i in wanted]

        if not active:
            return ()
        _, back = vjp(primal, *[leaves[i] for i in active])
        return tuple(back(list(cts)))

    pull.__name__ = f"{name}_vjp"
    return pull
