"""Transformations as data: their Numlift code, and the slow reference of each.

A step knows the types of the function that it transforms (`before`) and of what it makes
(`after`). Steps only stack where their result exists: `generator` draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy

from tests.random_programs.reference import Reference, is_float, named_lanes, scan
from tests.random_programs.trees import (
    Leaf,
    Ref,
    leaves,
    paths,
    tree_map,
    unflatten,
)

INDENT = "    "


@dataclass(frozen=True)
class Signature:
    """Types of a function, and what may be done with it.

    Attributes:
        params: a tree of `Leaf` for each parameter.
        result: a tree of `Leaf`.
        forward: whether forward mode is defined (not for `custom_vjp`).
        reverse: whether reverse mode is defined (not for `while_loop` without `max_steps`).
        consumed: all of it is a `custom_vjp`: reverse mode makes forward mode defined again.
        closed: the function has no closure over values of other functions.
        cost: assignments of one evaluation by the reference.
    """

    params: tuple[Any, ...]
    result: Any
    forward: bool = True
    reverse: bool = True
    consumed: bool = False
    closed: bool = True
    cost: int = 1

    def names(self) -> list[str]:
        """Names for the parameters."""
        return [f"x{i}" for i in range(len(self.params))]


def is_scalar(tree: Any) -> bool:
    """Whether a tree of types is one float of rank 0."""
    return isinstance(tree, Leaf) and tree.shape == () and tree.kind == "float"


def inserted(axis: int, size: int) -> Callable[[Leaf], Leaf]:
    """The type with an axis of `size` inserted."""

    def change(leaf: Leaf) -> Leaf:
        at = axis % (len(leaf.shape) + 1)
        return replace(leaf, shape=(*leaf.shape[:at], size, *leaf.shape[at:]))

    return change


@dataclass(frozen=True)
class Step:
    """One transformation of a function of type `before`."""

    before: Signature

    def lines(self, new: str, old: str) -> Iterator[str]:
        """Source lines that define `new` from `old`."""
        raise NotImplementedError

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        """The same on NumPy arrays."""
        raise NotImplementedError

    def after(self) -> Signature:
        """Types of the new function."""
        raise NotImplementedError


@dataclass(frozen=True)
class Wrap(Step):
    """A transformation that changes nothing: `jit`, `checkpoint`."""

    code: str

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"{new} = {self.code.format(old)}"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        return f

    def after(self) -> Signature:
        return self.before


WRAPPERS = (
    "nl.jit({})",
    "nl.jit({}, inline=True)",
    "nl.checkpoint({})",
    "nl.checkpoint({}, policy=nl.checkpoint_policies.dots_saveable)",
    "nl.checkpoint({}, policy=nl.checkpoint_policies.everything_saveable)",
    "nl.named_call({})",
)


@dataclass(frozen=True)
class CustomJvp(Step):
    """`custom_jvp`: the primal hides its operands, so only the rule can give derivatives."""

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"{new} = nl.custom_jvp(lambda *a: nl.tree.map(lax.stop_gradient, {old}(*a)))"
        yield f"{new}.defjvp(lambda primals, tangents: nl.jvp({old}, primals, tangents))"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        return f

    def after(self) -> Signature:
        return self.before


@dataclass(frozen=True)
class CustomVjp(Step):
    """`custom_vjp`: the primal hides its operands, so only the rule can give derivatives."""

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"{new} = nl.custom_vjp(lambda *a: nl.tree.map(lax.stop_gradient, {old}(*a)))"
        backward = f"lambda saved, ct: nl.vjp({old}, *saved)[1](ct)"
        yield f"{new}.defvjp(lambda *a: ({old}(*a), a), {backward})"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        return f

    def after(self) -> Signature:
        return replace(self.before, forward=False, consumed=True)


# ---- batches ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vmap(Step):
    """`vmap(f, in_axes, out_axes)`, maybe with a name for the axis."""

    in_axes: tuple[int | None, ...]
    out_axes: int
    size: int
    axis_name: str | None = None

    def lines(self, new: str, old: str) -> Iterator[str]:
        named = f", axis_name={self.axis_name!r}" if self.axis_name else ""
        axes = f"in_axes={self.in_axes}, out_axes={self.out_axes}"
        yield f"{new} = nl.vmap({old}, {axes}{named})"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        def lane(args: Any, i: int) -> Any:
            taken = [
                arg if axis is None else tree_map(lambda x, a=axis: numpy.take(x, i, axis=a), arg)
                for arg, axis in zip(args, self.in_axes, strict=True)
            ]
            return f(*taken)

        def batched(*args: Any) -> Any:
            if self.axis_name is None:
                results = [lane(args, i) for i in range(self.size)]
            else:
                lanes = [lambda i=i: lane(args, i) for i in range(self.size)]
                results = named_lanes(reference, self.axis_name, lanes)
            return tree_map(lambda *row: numpy.stack(row, axis=self.out_axes), *results)

        return batched

    def after(self) -> Signature:
        b = self.before
        params = tuple(
            p if axis is None else tree_map(inserted(axis, self.size), p)
            for p, axis in zip(b.params, self.in_axes, strict=True)
        )
        result = tree_map(inserted(self.out_axes, self.size), b.result)
        more = 1 if self.axis_name is None else 3
        return replace(b, params=params, result=result, cost=b.cost * self.size * more)


@dataclass(frozen=True)
class ScanOf(Step):
    """`lax.scan` over leading axes of some parameters; the carry collects part of the result."""

    mapped: tuple[int, ...]
    size: int
    reverse: bool

    def lines(self, new: str, old: str) -> Iterator[str]:
        names = self.before.names()
        first = self.first_float()
        yield f"def {new}({', '.join(names)}):"
        yield f"{INDENT}def body(carry, row):"
        xs = "".join(names[i] + ", " for i in self.mapped)
        yield f"{INDENT * 2}{xs.rstrip(' ')} = row"
        yield f"{INDENT * 2}r = {old}({', '.join(names)})"
        yield f"{INDENT * 2}return 0.5 * carry + np.sum({Ref('r', first).text}), r"
        start = "np.zeros((), FLOAT)"
        rows = f"({xs.rstrip(' ')})"
        yield f"{INDENT}return lax.scan(body, {start}, {rows}, reverse={self.reverse})"

    def first_float(self) -> tuple[Any, ...]:
        """Path of the first float of the result."""
        pairs = zip(paths(self.before.result), leaves(self.before.result), strict=True)
        return next(path for path, leaf in pairs if leaf.kind == "float")

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        kinds = [leaf.kind for leaf in leaves(self.before.result)]
        at = kinds.index("float")

        def scanned(*args: Any) -> Any:
            def body(carry: Any, row: Any) -> Any:
                own = list(args)
                for i, x in zip(self.mapped, row, strict=True):
                    own[i] = x
                r = f(*own)
                return reference.checked(carry / 2 + numpy.sum(leaves(r)[at])), r

            rows = tuple(args[i] for i in self.mapped)
            start = numpy.zeros((), numpy.longdouble)
            return scan(body, start, rows, self.size, self.reverse)

        return scanned

    def after(self) -> Signature:
        b = self.before
        params = tuple(
            tree_map(inserted(0, self.size), p) if i in self.mapped else p
            for i, p in enumerate(b.params)
        )
        result = (Leaf(()), tree_map(inserted(0, self.size), b.result))
        return replace(b, params=params, result=result, cost=b.cost * self.size)


@dataclass(frozen=True)
class Map(Step):
    """`lax.map` over leading axes of all parameters."""

    size: int
    batch_size: int | None

    def lines(self, new: str, old: str) -> Iterator[str]:
        names = ", ".join(self.before.names())
        more = f", batch_size={self.batch_size}" if self.batch_size else ""
        yield f"def {new}({names}):"
        yield f"{INDENT}return lax.map(lambda a: {old}(*a), ({names},){more})"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        axes = (0,) * len(self.before.params)
        return Vmap(self.before, axes, 0, self.size).reference(f, reference)

    def after(self) -> Signature:
        axes = (0,) * len(self.before.params)
        return Vmap(self.before, axes, 0, self.size).after()


# ---- derivatives -----------------------------------------------------------------------------


def loss_lines(new: str, old: str, before: Signature) -> Iterator[str]:
    """Lines that define `new` as a scalar made of the floats of the result of `old`."""
    pairs = list(zip(paths(before.result), leaves(before.result), strict=True))
    floats = [path for path, leaf in pairs if leaf.kind == "float"]
    names = ", ".join(before.names())
    yield f"def {new}({names}):"
    yield f"{INDENT}r = {old}({names})"
    terms = [f"np.sum(np.sin({k}.5 * {Ref('r', path).text}))" for k, path in enumerate(floats)]
    yield f"{INDENT}return {' + '.join(terms)}"


def loss_reference(f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
    """The same in NumPy."""

    def loss(*args: Any) -> Any:
        floats = [x for x in leaves(f(*args)) if is_float(x)]
        terms = [numpy.sum(numpy.sin((k + 0.5) * x)) for k, x in enumerate(floats)]
        return reference.checked(sum(terms))

    return loss


def chosen(params: tuple[Any, ...], argnums: Any) -> Any:
    """The parameters that `argnums` selects: one, or a tuple."""
    return tuple(params[i] for i in argnums) if isinstance(argnums, tuple) else params[argnums]


def as_tuple(argnums: Any) -> tuple[int, ...]:
    """argnums as a tuple."""
    return argnums if isinstance(argnums, tuple) else (argnums,)


def elements(tree: Any) -> int:
    """Number of elements of a tree of types."""
    return sum(leaf.size for leaf in leaves(tree))


def after_reverse(b: Signature) -> dict[str, Any]:
    """Flags of a function whose derivative has been taken in reverse mode."""
    return {"forward": b.forward or b.consumed, "consumed": False}


@dataclass(frozen=True)
class Grad(Step):
    """`grad` or `value_and_grad` of a scalar made of the result."""

    argnums: Any
    value: bool

    def lines(self, new: str, old: str) -> Iterator[str]:
        if not is_scalar(self.before.result):
            yield from loss_lines(f"{new}_loss", old, self.before)
            old = f"{new}_loss"
        name = "value_and_grad" if self.value else "grad"
        yield f"{new} = nl.{name}({old}, argnums={self.argnums})"

    def loss(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        """The scalar function."""
        return f if is_scalar(self.before.result) else loss_reference(f, reference)

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        loss = self.loss(f, reference)

        def gradient(*args: Any) -> Any:
            wrt = as_tuple(self.argnums)
            grads = [numpy.zeros_like(x) if is_float(x) else x for x in leaves(args)]
            for at, element, derivative in reference.partials(loss, args, wrt):
                grads[at][element] = derivative
            grads = chosen(unflatten(args, grads), self.argnums)
            return (loss(*args), grads) if self.value else grads

        return gradient

    def after(self) -> Signature:
        b = self.before
        result = chosen(b.params, self.argnums)
        n = 6 * elements(result)
        if self.value:
            result = (Leaf(()), result)
        return replace(b, result=result, cost=b.cost * n + 1, **after_reverse(b))


@dataclass(frozen=True)
class Jacobian(Step):
    """`jacfwd` or `jacrev`."""

    argnums: Any
    name: str

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"{new} = nl.{self.name}({old}, argnums={self.argnums})"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        def jacobian(*args: Any) -> Any:
            wrt = as_tuple(self.argnums)
            out = leaves(f(*args))
            flat = leaves(args)
            blocks = [[numpy.zeros(y.shape + x.shape, y.dtype) for x in flat] for y in out]
            for at, element, derivative in reference.partials(f, args, wrt):
                for block, d in zip(blocks, leaves(derivative), strict=True):
                    block[at][(..., *element)] = d
            rows = [chosen(unflatten(args, block), self.argnums) for block in blocks]
            return unflatten(self.before.result, rows)

        return jacobian

    def after(self) -> Signature:
        b = self.before
        wrt = chosen(b.params, self.argnums)
        result = tree_map(lambda y: tree_map(lambda x: Leaf(y.shape + x.shape), wrt), b.result)
        flags = after_reverse(b) if self.name == "jacrev" else {}
        return replace(b, result=result, cost=b.cost * (1 + 6 * elements(wrt)), **flags)


@dataclass(frozen=True)
class Hessian(Step):
    """`hessian` of a scalar made of the result."""

    argnums: Any

    def parts(self) -> tuple[Grad, Jacobian]:
        """The gradient, and its Jacobian."""
        inner = Grad(self.before, self.argnums, False)
        return inner, Jacobian(inner.after(), self.argnums, "jacfwd")

    def lines(self, new: str, old: str) -> Iterator[str]:
        if not is_scalar(self.before.result):
            yield from loss_lines(f"{new}_loss", old, self.before)
            old = f"{new}_loss"
        yield f"{new} = nl.hessian({old}, argnums={self.argnums})"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        inner, outer = self.parts()
        return outer.reference(inner.reference(f, reference), reference)

    def after(self) -> Signature:
        return self.parts()[1].after()


@dataclass(frozen=True)
class Directional(Step):
    """A derivative along tangents that become parameters: `jvp`, `linearize` or `hvp`."""

    wrt: tuple[int, ...]
    name: str

    def lines(self, new: str, old: str) -> Iterator[str]:
        if self.name == "hvp" and not is_scalar(self.before.result):
            yield from loss_lines(f"{new}_loss", old, self.before)
            old = f"{new}_loss"
        names = self.before.names()
        x = ", ".join(names[i] for i in self.wrt)
        t = ", ".join(f"t{i}" for i in self.wrt)
        f = (
            old
            if self.wrt == tuple(range(len(names)))
            else f"lambda {x}: {old}({', '.join(names)})"
        )
        yield f"def {new}({', '.join(names)}, {t}):"
        if self.name == "linearize":
            yield f"{INDENT}out, linear = nl.linearize({f}, {x})"
            yield f"{INDENT}return out, linear({t})"
        else:
            yield f"{INDENT}return nl.{self.name}({f}, ({x},), ({t},))"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        if self.name == "hvp":
            argnums = self.wrt if len(self.wrt) > 1 else self.wrt[0]
            f = Grad(self.before, argnums, False).reference(f, reference)
        count = len(self.before.params)

        def directional(*args: Any) -> Any:
            primals, tangents = args[:count], list(args[count:])
            along: list[Any] = []
            for i, arg in enumerate(primals):
                along += leaves(tangents.pop(0)) if i in self.wrt else [None] * len(leaves(arg))
            moved = reference.along(f, primals, along)
            return moved if self.name == "hvp" else (f(*primals), moved)

        return directional

    def after(self) -> Signature:
        b = self.before
        params = b.params + tuple(b.params[i] for i in self.wrt)
        if self.name == "hvp":
            n = elements([b.params[i] for i in self.wrt])
            argnums = self.wrt if len(self.wrt) > 1 else self.wrt[0]
            result, cost = chosen(b.params, argnums), b.cost * 36 * n
            return replace(b, params=params, result=result, cost=cost, **after_reverse(b))
        return replace(b, params=params, result=(b.result, b.result), cost=b.cost * 7)


@dataclass(frozen=True)
class Pullback(Step):
    """Cotangents of a result that becomes a parameter: `vjp`, or `linear_transpose`."""

    wrt: tuple[int, ...]
    name: str

    def lines(self, new: str, old: str) -> Iterator[str]:
        names = self.before.names()
        x = ", ".join(names[i] for i in self.wrt)
        f = (
            old
            if self.wrt == tuple(range(len(names)))
            else f"lambda {x}: {old}({', '.join(names)})"
        )
        yield f"def {new}({', '.join(names)}, ct):"
        if self.name == "vjp":
            yield f"{INDENT}out, back = nl.vjp({f}, {x})"
            yield f"{INDENT}return out, back(ct)"
        else:
            yield f"{INDENT}out, linear = nl.linearize({f}, {x})"
            yield f"{INDENT}return out, nl.linear_transpose(linear, {x})(ct)"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        def pullback(*args: Any) -> Any:
            primals, ct = args[:-1], leaves(args[-1])
            cts = [numpy.zeros_like(x) if is_float(x) else x for x in leaves(primals)]
            for at, element, derivative in reference.partials(f, primals, self.wrt):
                pairs = zip(ct, leaves(derivative), strict=True)
                cts[at][element] = sum(numpy.sum(c * d) for c, d in pairs)
            return f(*primals), chosen(unflatten(primals, cts), self.wrt)

        return pullback

    def after(self) -> Signature:
        b = self.before
        n = elements([b.params[i] for i in self.wrt])
        params, result = (*b.params, b.result), (b.result, chosen(b.params, self.wrt))
        return replace(
            b, params=params, result=result, cost=b.cost * (6 * n + 1), **after_reverse(b)
        )


@dataclass(frozen=True)
class Jet(Step):
    """`jet`: first and second derivative along a curve."""

    def lines(self, new: str, old: str) -> Iterator[str]:
        names = self.before.names()
        x, n = ", ".join(names), len(names)
        series = ", ".join(f"(u{i}, v{i})" for i in range(n))
        more = ", ".join(f"{k}{i}" for k in "uv" for i in range(n))
        yield f"def {new}({x}, {more}):"
        yield f"{INDENT}return jet({old}, ({x},), ({series},))"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        count = len(self.before.params)

        def terms(*args: Any) -> Any:
            x, u, v = args[:count], args[count : 2 * count], args[2 * count :]

            def at(t: Any) -> Any:
                moved = (
                    a + t * b + t * t * c / 2
                    for a, b, c in zip(leaves(x), leaves(u), leaves(v), strict=True)
                )
                return f(*unflatten(x, list(moved)))

            zero, unit = numpy.zeros((), numpy.longdouble), [numpy.ones((), numpy.longdouble)]

            def slope(t: Any) -> Any:
                return reference.along(at, (t,), unit)

            first, second = slope(zero), reference.along(slope, (zero,), unit)
            return f(*x), tree_map(lambda a, b: [a, b], first, second)

        return terms

    def after(self) -> Signature:
        b = self.before
        result = (b.result, tree_map(lambda leaf: [leaf, leaf], b.result))
        return replace(b, params=b.params * 3, result=result, cost=b.cost * 43)


# ---- other ways to evaluate ------------------------------------------------------------------


@dataclass(frozen=True)
class GraphOf(Step):
    """The function traced to a graph, which is then evaluated, also on tracers."""

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"def {new}(*args):"
        yield f"{INDENT}converted, captured = nl.closure_convert({old}, *args)"
        yield f"{INDENT}return converted(*args, *captured)"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        return f

    def after(self) -> Signature:
        return self.before


@dataclass(frozen=True)
class AheadOfTime(Step):
    """Compiled for the types of the arguments, then called."""

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"def {new}(*args):"
        yield f"{INDENT}return nl.jit({old}).lower(*args).compile()(*args)"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        return f

    def after(self) -> Signature:
        return self.before


@dataclass(frozen=True)
class ExportRoundTrip(Step):
    """`export` to bytes and back, for arguments of the types of `before`."""

    def lines(self, new: str, old: str) -> Iterator[str]:
        yield f"def {new}(*args):"
        yield f"{INDENT}types = nl.tree.map(nl.typeof, args)"
        yield f"{INDENT}data = nl.export.export(nl.jit({old}))(*types).serialize()"
        yield f"{INDENT}return nl.export.deserialize(data).call(*args)"

    def reference(self, f: Callable[..., Any], reference: Reference) -> Callable[..., Any]:
        return f

    def after(self) -> Signature:
        return self.before
