"""An operation is a value: its class is the primitive, its fields are the static parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from .. import errors
from .types import ArrayType

if TYPE_CHECKING:
    from typing import Self

NO_EFFECTS: frozenset[Any] = frozenset()


class Linear:
    """Stands for a linear input in `Op.transpose`: it has a type, but no value."""

    __slots__ = ("type",)

    def __init__(self, type_: ArrayType):
        self.type = type_

    def __repr__(self) -> str:
        return f"Linear({self.type})"


@dataclass_transform(frozen_default=True, eq_default=False)
class Op:
    """Base of all primitives.

    A subclass annotates its static parameters as class-level fields and defines the rules that it
    supports. `Reshape.of(sizes)` returns the interned instance, so that equal operations are one
    object and dictionaries hash them by identity. Fields must be hashable and are never changed.
    """

    name: ClassVar[str] = "op"
    fields: ClassVar[tuple[str, ...]] = ()
    multi: ClassVar[bool] = False
    """Whether the operation returns a list of results."""
    effects: frozenset[Any] = NO_EFFECTS
    axis_names: tuple[Any, ...] = ()
    """Named axes that the operation communicates over (collectives only)."""
    open_ended: bool = False
    """Whether it holds a loop whose number of steps depends on values."""
    broadcasts_scalars: ClassVar[bool] = False
    """Whether rank-0 operands stand for arrays of the result's shape."""
    memoise_type: ClassVar[bool] = True
    """Whether `out_type` is remembered for (operation, input types)."""
    linearize: ClassVar[Callable[..., Any] | None] = None
    """Own linearisation rule (higher-order operations), else `jvp` is used."""
    prune: ClassVar[Callable[..., Any] | None] = None
    """which results are used -> None, or (operation, inputs, results): an operation that takes
    these of the inputs only and gives at least the results that are used."""
    run_eagerly: ClassVar[Callable[..., Any] | None] = None
    """Evaluation on arrays without a program (calls of Python functions)."""

    if TYPE_CHECKING:
        of: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        own = inspect.get_annotations(cls)
        added = tuple(n for n, a in own.items() if "ClassVar" not in str(a) and n not in _RESERVED)
        cls.fields = tuple(f for f in cls.fields if f not in added) + added
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        cls.of = lru_cache(maxsize=8192, typed=True)(cls)

    def __init__(self, *values: Any, **named: Any):
        if len(values) > len(self.fields) or not named.keys() <= set(self.fields):
            raise TypeError(f"{type(self).__name__}: its parameters are {', '.join(self.fields)}")
        for field, value in zip(self.fields, values, strict=False):
            setattr(self, field, value)
        for field in self.fields[len(values) :]:
            if field in named:
                setattr(self, field, named[field])
            elif not hasattr(type(self), field):
                raise TypeError(f"{type(self).__name__}: missing parameter {field!r}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{f}={getattr(self, f)!r}" for f in self.fields)
        return f"{self.name}[{shown}]" if shown else self.name

    def replace(self, **changes: Any) -> Self:
        """The same operation with some parameters changed."""
        return type(self).of(*(changes.get(f, getattr(self, f)) for f in self.fields))

    @property
    def label(self) -> str:
        """Name in profiles: that of the primitive, or of the function that is called."""
        return self.name

    # ---- rules -------------------------------------------------------------------------------

    def out_type(self, *types: ArrayType) -> Any:
        """Type of the result (a list of types if `multi`)."""
        raise NotImplementedError(f"{self.name}: no out_type rule")

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Result and its tangent; a tangent None is zero."""
        raise errors.GradError(
            errors.explain(
                f"jvp of {self.name}",
                "this operation has no derivative rule",
                try_="wrap its input in lax.stop_gradient(x) if the derivative is not needed",
            )
        )

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        """Cotangents of the inputs; `Linear` inputs get one, values get None."""
        raise errors.GradError(
            errors.explain(
                f"transpose of {self.name}",
                "reverse-mode differentiation is not defined for this operation",
                try_="use forward mode: nl.jvp or nl.jacfwd",
            )
        )

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        """Apply to a batch: args[i] has its batch axis at dims[i], or none."""
        raise errors.VmapError(
            errors.explain(f"vmap of {self.name}", "this operation has no batching rule")
        )

    def guard(self, on: Any, args: Sequence[Any]) -> Any:
        """Apply, but let no loop inside take a step unless the bool scalar `on` is true.

        Only operations that are `open_ended` need it.
        """
        raise NotImplementedError(f"{self.name}: no guard rule")

    def shard(self, *types: ArrayType) -> Any:
        """Sharding of the result when some input has one (Explicit mesh axes)."""
        raise errors.ShardingError(
            errors.explain(
                f"{self.name}",
                "no sharding rule under a mesh with Explicit axes",
                dict(zip((f"operand {i}" for i in range(len(types))), types, strict=False)),
                try_="pass out_sharding=, or nl.reshard(x, P()) the operands first",
            )
        )

    def physical(self, *types: ArrayType) -> Op:
        """The operation to lower instead when operands are PRNG keys (arrays of uint32)."""
        raise errors.DTypeError(
            errors.explain(
                self.name,
                "is not defined for typed PRNG keys",
                dict(zip((f"operand {i}" for i in range(len(types))), types, strict=False)),
                try_="use nl.random functions on keys, or nl.random.key_data(key)",
            )
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        """Emit StableHLO; returns the operand text of the result (a list if `multi`)."""
        raise NotImplementedError(f"{self.name}: no lowering rule")


_RESERVED = frozenset(inspect.get_annotations(Op))
