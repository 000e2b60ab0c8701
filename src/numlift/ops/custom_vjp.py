"""`VjpTangent`: the tangent of a function whose derivative is given by a reverse-mode rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.op import Linear, Op
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..structural.constant import closed
from ..transforms.jvp import instantiate, jvp_flat, tangent_type
from ..transforms.transpose import transpose_graph
from ..transforms.vmap import place_batch, vmap_flat
from .flat_functions import Flat


class VjpTangent(Op):
    """Tangents of results from residuals and tangents of arguments.

    It is made to be transposed, which calls the user's backward rule. Forward mode takes the user's
    forward rule, if there is one; else it transposes the backward rule, which must be linear in the
    cotangents for that.

    Attributes:
        backward: (residuals, cotangents) -> one cotangent an argument; None is zero.
        arg_types: types of all arguments.
        active: which arguments have a tangent, i.e. are inputs.
        result_types: types of all results; those that are inexact have a tangent.
        pushed: (residuals, one tangent an argument) -> one tangent a result; None is zero.
    """

    name = "custom_vjp_tangent"
    multi = True
    memoise_type = False
    backward: Flat
    arg_types: tuple[ArrayType, ...]
    active: tuple[bool, ...]
    result_types: tuple[ArrayType, ...]
    n_residuals: int
    function_name: str
    pushed: Flat | None = None

    def __repr__(self) -> str:
        return f"{self.name}[{self.function_name}]"

    def physical(self, *types: ArrayType) -> Op:
        return self

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return [tangent_type(t) for t in self.result_types if t.inexact]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        n, found = self.n_residuals, iter(ct)
        cts = [next(found) if t.inexact else None for t in self.result_types]
        in_cts = self.backward(*inputs[:n], *cts)
        wanted = [c for c, a in zip(in_cts, self.active, strict=True) if a]
        return [None] * n + [
            c if type(x) is Linear else None for c, x in zip(wanted, inputs[n:], strict=True)
        ]

    # ---- forward mode ------------------------------------------------------------------------

    def forward(self, *inputs: Any) -> list[Any]:
        """Tangents of the results."""
        n = self.n_residuals
        residuals, tangents = inputs[:n], inputs[n:]
        if self.pushed is not None:
            rest = iter(tangents)
            pushed = self.pushed(*residuals, *[next(rest) if a else None for a in self.active])
            pairs = zip(pushed, self.result_types, strict=True)
            return [instantiate(d, t) for d, t in pairs if t.inexact]
        ct_types = self.out_type()
        nonzero: list[bool] = []

        def flat(*args: Any) -> list[Any]:
            given = iter(args[n:])
            cts = [next(given) if t.inexact else None for t in self.result_types]
            found = self.backward(*args[:n], *cts)
            wanted = [c for c, a in zip(found, self.active, strict=True) if a]
            nonzero[:] = [c is not None for c in wanted]
            return [c for c in wanted if c is not None]

        types = [*(type_of(x) for x in residuals), *ct_types]
        graph, captured = trace_to_graph(flat, types, label=self.function_name)
        linear = (False,) * (len(captured) + n) + (True,) * len(ct_types)
        try:
            back, active = transpose_graph(graph, linear, (True,) * len(graph.outputs))
        except errors.GradError as error:
            raise self._not_linear() from error
        given = [d for d, used in zip(tangents, nonzero, strict=True) if used]
        found = iter(back.run(current.get().apply, [*captured, *residuals, *given]))
        return [
            instantiate(next(found) if a else None, t)
            for a, t in zip(active, ct_types, strict=True)
        ]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return jvp_flat(self.forward, primals, tangents)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        graph, captured = trace_to_graph(self.forward, list(types), name=self.function_name)
        return ctx.inline(closed(graph, captured), operands)

    def _not_linear(self) -> errors.GradError:
        return errors.GradError(
            errors.explain(
                f"jvp of {self.function_name}",
                "forward mode was asked of a function with a custom_vjp rule, and its backward "
                "rule is not linear in the cotangent, so it cannot be turned round",
                try_="use reverse mode (nl.grad, nl.vjp, nl.jacrev), or add a rule with defjvp",
            )
        )

    # ---- batching ----------------------------------------------------------------------------

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        n = self.n_residuals
        # Tangents that are not batched are repeated, so that every cotangent has a batch axis.
        tangents = [place_batch(x, d, size, 0) for x, d in zip(args[n:], dims[n:], strict=True)]
        res_dims = list(dims[:n])

        op = VjpTangent(
            _lanes(self.backward, size, res_dims),
            tuple([_wide(t, size) for t in self.arg_types]),
            self.active,
            tuple([_wide(t, size) for t in self.result_types]),
            n,
            self.function_name,
            None if self.pushed is None else _lanes(self.pushed, size, res_dims),
        )
        found = apply(op, *args[:n], *tangents)
        return found, [0] * len(found)


def _lanes(function: Flat, size: int, dims: list[int | None]) -> Flat:
    """A rule for batches: residuals have their batch axes at `dims`, other values in front."""

    def run(*given: Any) -> list[Any]:
        all_dims = [*dims, *([0] * (len(given) - len(dims)))]
        present = [(x, d) for x, d in zip(given, all_dims, strict=True) if x is not None]
        holes: list[bool] = []

        def flat(*xs: Any) -> list[Any]:
            rest = iter(xs)
            found = function(*[None if x is None else next(rest) for x in given])
            holes[:] = [c is None for c in found]
            return [c for c in found if c is not None]

        found, out_dims = vmap_flat(flat, size, [x for x, _ in present], [d for _, d in present])
        placed = iter([place_batch(c, d, size, 0) for c, d in zip(found, out_dims, strict=True)])
        return [None if hole else next(placed) for hole in holes]

    return run


def _wide(t: ArrayType, size: int) -> ArrayType:
    return t.update(shape=(size, *t.shape), sharding=None)
