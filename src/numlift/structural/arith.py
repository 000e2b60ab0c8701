"""Arithmetic that transformations themselves emit: add, sub, neg, mul, convert, select, complex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.op import Linear
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from .families import (
    Binary,
    Elementwise,
    LinearUnary,
    _arith,
    _shape_ops,
    check_kind,
    check_same_dtype,
    common_shape,
    is_linear,
)
from .shape import sum_to


class Neg(LinearUnary):
    """-x."""

    hlo = "stablehlo.negate"

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(neg, ct),)


def spread(x: Any, like: ArrayType) -> Any:
    """Broadcast a rank-0 tangent to the shape of the result it belongs to."""
    if type_of(x).shape == like.shape:
        return x
    return apply(_shape_ops["broadcast"](like.shape, (), like.sharding), x)


class Add(Binary):
    """x + y; for bool operands: or."""

    hlo = "stablehlo.add"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        z = apply(add, *primals)
        dx, dy = tangents
        if dx is None:
            return z, spread(dy, type_of(z))
        if dy is None:
            return z, spread(dx, type_of(z))
        return z, apply(add, dx, dy)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return [sum_to(ct, x.type) if type(x) is Linear else None for x in inputs]


class Sub(Binary):
    """x - y."""

    hlo = "stablehlo.subtract"
    accepts = "iufc"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        z = apply(sub, *primals)
        dx, dy = tangents
        if dx is None:
            return z, spread(apply(neg, dy), type_of(z))
        if dy is None:
            return z, spread(dx, type_of(z))
        return z, apply(sub, dx, dy)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, y = inputs
        return (
            sum_to(ct, x.type) if type(x) is Linear else None,
            sum_to(apply(neg, ct), y.type) if type(y) is Linear else None,
        )


class Mul(Binary):
    """x * y; for bool operands: and."""

    hlo = "stablehlo.multiply"

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        return y

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        return x

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, y = inputs
        if type(x) is Linear:
            return sum_to(apply(mul, ct, y), x.type), None
        return None, sum_to(apply(mul, ct, x), y.type)


class Convert(Elementwise):
    """x with another dtype; complex to real drops the imaginary part, float to int truncates."""

    dtype: Any
    weak: bool = False

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        if x.kind == "k":
            raise errors.DTypeError(
                errors.explain("convert_element_type", "typed PRNG keys have no numbers", {"x": x})
            )
        return array_type(x.shape, self.dtype, self.weak, x.sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = apply(self, primals[0])
        return out, apply(self, tangents[0]) if type_of(out).inexact else None

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        (x,) = inputs
        return (convert(ct, x.type.dtype, x.type.weak_type),)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        operand, source = operands[0], x.mlir
        if x.dtype == out.dtype:
            return operand
        if x.kind == "c" and out.kind != "c":
            part = array_type(out.shape, np.float32 if x.dtype == np.complex64 else np.float64)
            if out.kind == "b":
                zero = ctx.full(0, array_type(out.shape, x.dtype))
                return ctx.emit(
                    f"stablehlo.compare NE, {operand}, {zero} : ({source}, {source}) -> {out.mlir}"
                )
            operand = ctx.emit(f"stablehlo.real {operand} : ({source}) -> {part.mlir}")
            source = part.mlir
            if part.dtype == out.dtype:
                return operand
        if out.kind == "b":
            zero = ctx.full(0, array_type(out.shape, x.dtype))
            kind = {"f": "FLOAT", "i": "SIGNED", "u": "UNSIGNED"}[x.kind]
            return ctx.emit(
                f"stablehlo.compare NE, {operand}, {zero}, {kind} : "
                f"({source}, {source}) -> {out.mlir}"
            )
        return ctx.emit(f"stablehlo.convert {operand} : ({source}) -> {out.mlir}")


class Select(Elementwise):
    """select_n: cases[which], element by element; `which` is bool (two cases) or int32."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        which, *cases = types
        check_same_dtype(self, cases)
        if which.kind != "b" and which.dtype != np.int32:
            check_kind(self, [which], "b")
        if which.kind == "b" and len(cases) > 2:
            raise errors.ArgumentError(
                errors.explain("select_n", "a bool selector takes two cases", {"which": which})
            )
        weak = all(t.weak_type for t in cases)
        sharding = None
        if any(t.sharding is not None for t in types):
            sharding = rules.merge(self.name, types)
        return array_type(common_shape(self, types), cases[0].dtype, weak, sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        which = primals[0]
        out = apply(self, *primals)
        t = type_of(out)
        if not t.inexact:
            return out, None
        zero = t.dtype.type(0)
        return out, spread(apply(self, which, *[zero if d is None else d for d in tangents[1:]]), t)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        which, *cases = inputs
        zero = type_of(ct).dtype.type(0)
        cts: list[Any] = [None]
        for i, case in enumerate(cases):
            if is_linear(case):
                parts = [ct if i == j else zero for j in range(len(cases))]
                cts.append(sum_to(apply(self, which, *parts), case.type))
            else:
                cts.append(None)
        return cts

    def physical(self, *types: ArrayType) -> Any:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        which, *cases = operands
        (out,) = outs
        if len(cases) == 1:
            return cases[0]
        out = out.physical
        which_type = array_type(out.shape, types[0].dtype)
        if out.ndim > outs[0].ndim:
            which = ctx.broadcast(
                which,
                array_type(outs[0].shape, types[0].dtype),
                which_type,
                tuple(range(outs[0].ndim)),
            )
        if types[0].kind == "b":
            on_false, on_true = cases
            return ctx.emit(
                f"stablehlo.select {which}, {on_true}, {on_false} : {which_type.mlir}, {out.mlir}"
            )
        bools = array_type(out.shape, np.bool_)
        result = cases[-1]
        for i in range(len(cases) - 2, -1, -1):
            limit = ctx.full(i, which_type)
            here = ctx.emit(
                f"stablehlo.compare LE, {which}, {limit}, SIGNED : "
                f"({which_type.mlir}, {which_type.mlir}) -> {bools.mlir}"
            )
            result = ctx.emit(
                f"stablehlo.select {here}, {cases[i]}, {result} : {bools.mlir}, {out.mlir}"
            )
        return result


def real_dtype(dtype: Any) -> Any:
    """float32 for complex64, float64 for complex128, else the dtype itself."""
    return {"c8": np.dtype("f4"), "c16": np.dtype("f8")}.get(dtype.str[1:], dtype)


def complex_dtype(dtype: Any) -> Any:
    """complex128 for float64, complex64 for the other floats."""
    return np.dtype("c16") if dtype in (np.dtype("f8"), np.dtype("c16")) else np.dtype("c8")


class Real(LinearUnary):
    """Real part of a complex array."""

    hlo = "stablehlo.real"
    accepts = "c"

    def out_dtype(self, *dtypes: Any) -> Any:
        return real_dtype(dtypes[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(complex_, ct, type_of(ct).dtype.type(0)),)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.emit(f"{self.hlo} {operands[0]} : ({types[0].mlir}) -> {outs[0].mlir}")


class Imag(Real):
    """Imaginary part of a complex array."""

    hlo = "stablehlo.imag"

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(complex_, type_of(ct).dtype.type(0), apply(neg, ct)),)


class Complex(Binary):
    """x + i y from two real arrays."""

    hlo = "stablehlo.complex"
    accepts = "f"

    def out_dtype(self, *dtypes: Any) -> Any:
        return complex_dtype(dtypes[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = apply(self, *primals)
        zero = type_of(primals[0]).dtype.type(0)
        pair = [zero if d is None else d for d in tangents]
        return out, spread(apply(self, *pair), type_of(out))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, y = inputs
        return (
            sum_to(apply(real, ct), x.type) if is_linear(x) else None,
            sum_to(apply(imag, apply(neg, ct)), y.type) if is_linear(y) else None,
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.emit(f"{self.hlo} {', '.join(operands)} : {outs[0].mlir}")


class Conj(LinearUnary):
    """Complex conjugate; linear over the reals only."""

    accepts = "fc"

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(conj, ct),)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,) = types
        if x.kind != "c":
            return operands[0]
        part = array_type(x.shape, real_dtype(x.dtype)).mlir
        re = ctx.emit(f"stablehlo.real {operands[0]} : ({x.mlir}) -> {part}")
        im = ctx.emit(f"stablehlo.imag {operands[0]} : ({x.mlir}) -> {part}")
        minus = ctx.emit(f"stablehlo.negate {im} : {part}")
        return ctx.emit(f"stablehlo.complex {re}, {minus} : {x.mlir}")


neg, add, sub, mul, select = Neg(), Add(), Sub(), Mul(), Select()
real, imag, complex_, conj = Real(), Imag(), Complex(), Conj()
_arith.update(add=add, mul=mul)


def conjugated(x: Any) -> Any:
    """Complex conjugate; real arrays as they are."""
    return apply(conj, x) if type_of(x).kind == "c" else x


def convert(x: Any, dtype: Any, weak: bool = False) -> Any:
    """`x` with another dtype (nothing is emitted if it has it already)."""
    t = type_of(x)
    if t.dtype == dtype and t.weak_type == weak:
        return x
    return apply(Convert.of(np.dtype(dtype), weak), x)
