"""Writes one StableHLO function line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import dtype_mlir
from ..core.types import ArrayType, array_type
from .literals import array_text, number_text
from .locations import Locations, without_locations


def symbol(name: str) -> str:
    """`name` made fit for an MLIR symbol."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)


class Module:
    """A module being written: private functions (equal bodies are shared), mesh, platform."""

    def __init__(self, platform: str = "cpu", name: str = "numlift"):
        self.platform, self.name = platform, name
        self.mesh_text = ""
        self.mesh: Any = None
        self.functions: list[str] = []
        self._name_of_body: dict[str, str] = {}
        self._used: dict[str, int] = {}
        self.callbacks: list[Any] = []
        self.host_calls = 0
        """Number of calls of host functions that were written."""
        self.memory_kinds: dict[str, Any] = {}
        """Memories that values are moved to, and the source of the first move to each."""
        self.callback_errors: list[BaseException] = []
        self.locations = Locations()
        self.located_text = ""

    def host_function(self, op: Any, make: Callable[[Any], Any]) -> int:
        """Index among the module's host functions of the one that `make(op)` gives."""
        for i, known in enumerate(self.callbacks):
            if known.op is op:
                return i
        self.callbacks.append(make(op))
        return len(self.callbacks) - 1

    def declare(self, text: str) -> None:
        """Add an operation at the level of the module, once."""
        if text not in self.functions:
            self.functions.append(text)

    def private(self, signature: str, body: str, hint: str) -> str:
        """Add a private function (or find one with the same text); returns its symbol name."""
        text = f"{signature} {{\n{body}\n}}"
        key = without_locations(text)
        known = self._name_of_body.get(key)
        if known is not None:
            return known
        base = symbol(hint) or "f"
        if base == "main":
            base = "main_"
        count = self._used.get(base, 0)
        self._used[base] = count + 1
        name = f"{base}_{count}" if count else base
        self._name_of_body[key] = name
        self.functions.append(f"func.func private @{name}{text}")
        return name

    def text(self, main: str) -> str:
        """The whole module with locations, given the text of its main function."""
        parts = [self.mesh_text] if self.mesh_text else []
        body = "\n".join([*parts, main, *self.functions])
        places = "".join(f"{line}\n" for line in self.locations.lines)
        return f"module @{self.name} {{\n{body}\n}}\n{places}"


class FunctionBuilder:
    """Emits operations; every result gets a fresh name.

    Attributes:
        token: the last token of ordered effects in this region, or None.
        manual: whether each device runs this region on its own part (`shard_map`).
    """

    manual = False

    def __init__(self, module: Module):
        self.module = module
        self.platform = module.platform
        self.lines: list[str] = []
        self._count = 0
        self._constants: dict[tuple[str, str], str] = {}
        self.token: str | None = None
        self.location = ""
        """Alias that ends the lines of the equation being lowered."""

    def take_token(self) -> str:
        """The token that the next ordered effect of this region must wait for."""
        if self.token is None:
            self.token = self.emit("stablehlo.create_token : !stablehlo.token")
        return self.token

    def fresh(self) -> str:
        """A name that is not used yet in this function."""
        self._count += 1
        return f"%{self._count}"

    def emit(self, rhs: str) -> str:
        """Add ``%n = rhs``; returns ``%n``."""
        self._count += 1
        name = f"%{self._count}"
        self.lines.append(f"{name} = {rhs}{self.location}")
        return name

    def emit_many(self, rhs: str, n: int) -> list[str]:
        """Add an operation with n results; returns their names."""
        if n == 0:
            self.lines.append(rhs + self.location)
            return []
        if n == 1:
            return [self.emit(rhs)]
        name = self.fresh()
        self.lines.append(f"{name}:{n} = {rhs}{self.location}")
        return [f"{name}#{i}" for i in range(n)]

    def full(self, value: Any, type_: ArrayType) -> str:
        """A constant array with one value everywhere."""
        return self._constant(number_text(value, type_.dtype), type_.mlir)

    def array(self, value: np.ndarray) -> str:
        """A constant array."""
        value = np.asarray(value)
        return self._constant(array_text(value), array_type(value.shape, value.dtype).mlir)

    def integers(self, values: Sequence[Any], type_: ArrayType) -> str:
        """A constant vector of integers, of which some may be symbolic sizes."""
        texts = [number_text(v, type_.dtype) for v in values]
        return self._constant(f"[{', '.join(texts)}]", type_.mlir)

    def _constant(self, text: str, mlir: str) -> str:
        key = (text, mlir)
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = self.emit(f"stablehlo.constant dense<{text}> : {mlir}")
        return known

    def broadcast(
        self, name: str, from_: ArrayType, to: ArrayType, dims: Sequence[int] = ()
    ) -> str:
        """broadcast_in_dim of an operand; dims[i] is where its axis i goes."""
        if from_.shape == to.shape:
            return name
        inner = ", ".join(map(str, dims))
        return self.emit(
            f"stablehlo.broadcast_in_dim {name}, dims = [{inner}] : ({from_.mlir}) -> {to.mlir}"
        )

    def convert(self, name: str, from_: ArrayType, to: ArrayType) -> str:
        """Another dtype, by StableHLO's convert."""
        if from_.dtype == to.dtype:
            return name
        return self.emit(f"stablehlo.convert {name} : ({from_.mlir}) -> {to.mlir}")

    def reshape(self, name: str, from_: ArrayType, to: ArrayType) -> str:
        """Another shape, by StableHLO's reshape."""
        if from_.shape == to.shape:
            return name
        return self.emit(f"stablehlo.reshape {name} : ({from_.mlir}) -> {to.mlir}")

    def reduce(
        self, op: str, name: str, init: Any, x: ArrayType, out: ArrayType, axes: Sequence[int]
    ) -> str:
        """Reduce over axes with a StableHLO binary operation; small floats add up in float32."""
        if not axes:
            return name
        dtype = x.dtype
        narrow = dtype.itemsize <= 2 and x.kind == "f" and op.endswith(("add", "multiply"))
        acc = np.dtype("f4") if narrow else dtype
        wide_x, wide_out = array_type(x.shape, acc), array_type(out.shape, acc)
        name = self.convert(name, x, wide_x)
        start = self.full(init, array_type((), acc))
        dims = ", ".join(map(str, axes))
        scalar = f"tensor<{dtype_mlir(acc)}>"
        result = self.emit(
            f"stablehlo.reduce({name} init: {start}) applies {op} across dimensions = [{dims}] : "
            f"({wide_x.mlir}, {scalar}) -> {wide_out.mlir}"
        )
        return self.convert(result, wide_out, array_type(out.shape, dtype))

    def region(
        self,
        types: Sequence[ArrayType],
        body: Callable[[Any, list[str]], Sequence[str]],
        result_types: Sequence[ArrayType],
        terminator: str = "stablehlo.return",
    ) -> str:
        """Text of a region ``{ ^bb0(...): ... }`` whose lines `body(self, names)` emits."""
        names = [self.fresh() for _ in types]
        outer, self.lines = self.lines, []
        constants, self._constants = self._constants, {}
        token, self.token = self.token, None
        results = body(self, names)
        end = terminator
        if results:
            end += f" {', '.join(results)} : {', '.join(t.mlir for t in result_types)}"
        lines, self.lines, self._constants = [*self.lines, end], outer, constants
        self.token = token
        head = ", ".join(f"{n}: {t.mlir}" for n, t in zip(names, types, strict=True))
        label = f"^bb0({head}):\n" if types else ""
        return f"{{\n{label}{chr(10).join(lines)}\n}}"
