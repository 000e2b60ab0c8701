"""Calls with one bad argument: valid calls of every public function, and what spoils them."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy

import numlift as nl
import numlift.numpy as np
from tests.numpy.properties.checking import find
from tests.numpy.properties.comparing import outcome
from tests.numpy.properties.drawing import Call, Draw, call
from tests.numpy.properties.table.all import ROWS

A = numpy.arange(1.0, 7.0).reshape(2, 3)
V = numpy.arange(1.0, 4.0)
S = numpy.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])

LINALG: dict[str, Call] = {
    **dict.fromkeys(
        ("inv", "det", "slogdet", "cholesky", "qr", "svd", "svdvals", "eig", "eigh", "eigvals",
         "eigvalsh", "pinv", "matrix_rank", "cond", "norm", "vector_norm", "matrix_norm",
         "matrix_transpose", "trace", "diagonal"), call(S),
    ),
    **dict.fromkeys(("matmul", "outer", "cross", "vecdot"), call(V, V)),
    **dict.fromkeys(("solve", "lstsq"), call(S, V)),
    "matrix_power": call(S, 2), "multi_dot": call([S, S]), "tensordot": call(S, S, axes=1),
    "tensorinv": call(S, ind=1), "tensorsolve": call(S, V),
}  # fmt: skip

MORE: dict[str, Call] = {
    **dict.fromkeys(("finfo",), call("float32")),
    "iinfo": call("int32"), "result_type": call("int32", V), "promote_types": call("i4", "f4"),
    "put_along_axis": call(A, numpy.array([[0], [1]]), 9.0, 1), "fill_diagonal": call(S, 0.0),
    "place": call(V, V > 1, [1.0]), "put": call(V, [0], [1.0]), "argpartition": call(V, 1),
    "einsum_path": call("ij,jk", S, S), "vectorize": call(abs), "frompyfunc": call(abs, 1, 1),
    "common_type": call(V), "min_scalar_type": call(5), "ascontiguousarray": call(V),
    "asfortranarray": call(V), "asarray_chkfinite": call(V), "require": call(V),
}  # fmt: skip


class Fixed(Draw):
    """Draws valid arguments from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        super().__init__(lambda strategy: None, x64=True, smooth=True)

    def pick(self, options: Sequence[Any]) -> Any:
        return self.random.choice(list(options))

    def chance(self, n: int) -> bool:
        return n == 1

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def shape(self, shapes: Sequence[Any] = (), rank: int = 0) -> tuple[int, ...]:
        return ((3,), (3,), (2, 3), (4, 1, 2))[rank]


def valid_call(name: str) -> Call | None:
    """A call that NumPy and Numlift accept, with small arrays of floats; None if none is found."""
    if name.startswith("linalg."):
        return LINALG.get(name[7:])
    if name in MORE:
        return MORE[name]
    for seed in range(20):
        try:
            c = ROWS[name].draw(Fixed(seed))
        except (ValueError, IndexError, KeyError):
            continue
        if not any(isinstance(outcome(find(module, name), c), Exception) for module in (numpy, np)):
            return c
    return None


class Spoiler(NamedTuple):
    """A bad value of an argument: made anew for each library, from the valid argument."""

    name: str
    make: Callable[[Any, bool], Any]


def same(value: Any) -> Callable[[Any, bool], Any]:
    """The same value for both libraries."""
    return lambda valid, ours: value


def masked(valid: Any, ours: bool) -> Any:
    return numpy.ma.masked_array(numpy.arange(3.0), [0, 1, 0])


class Nothing:
    """An object that is no array."""

    def __repr__(self) -> str:
        return "Nothing()"


SPOILERS = [
    Spoiler("None", same(None)),
    Spoiler("str", same("foo")),
    Spoiler("bytes", same(b"foo")),
    Spoiler("float", same(1.5)),
    Spoiler("whole float", same(1.0)),
    Spoiler("nan", same(numpy.nan)),
    Spoiler("inf", same(numpy.inf)),
    Spoiler("complex", same(1 + 2j)),
    Spoiler("True", same(True)),
    Spoiler("large axis", same(9)),
    Spoiler("negative", same(-7)),
    Spoiler("huge", same(2**40)),
    Spoiler("beyond", same(2**70)),
    Spoiler("empty list", same([])),
    Spoiler("empty tuple", same(())),
    Spoiler("empty array", same(numpy.zeros((0,)))),
    Spoiler("empty matrix", same(numpy.zeros((0, 3)))),
    Spoiler("ragged", same([[1, 2], [3]])),
    Spoiler("list of str", same(["a", "b"])),
    Spoiler("list of None", same([None, 1])),
    Spoiler("twice", same((0, 0))),
    Spoiler("floats", same((0.5, 1.5))),
    Spoiler("negatives", same((-1, -2))),
    Spoiler("misfit", same(numpy.ones((7, 5)))),
    Spoiler("rank 4", same(numpy.ones((2, 1, 1, 2)))),
    Spoiler("rank 0", same(numpy.float64(2.5))),
    Spoiler("complex array", same(numpy.ones(3) * (1 + 1j))),
    Spoiler("complex matrix", same(numpy.ones((3, 3)) * (1 + 1j))),
    Spoiler("bools", same(numpy.array([True, False, True]))),
    Spoiler("NaNs", same(numpy.full(3, numpy.nan))),
    Spoiler("zeros", same(numpy.zeros(3, int))),
    Spoiler("negative ints", same(numpy.array([-9, 0, 9]))),
    Spoiler("uint8", same(numpy.array([1, 2, 3], "uint8"))),
    Spoiler("objects", same(numpy.array([1, None], object))),
    Spoiler("strs", same(numpy.array(["a", "b"]))),
    Spoiler("dates", same(numpy.array(["2020-01-01"], "datetime64[D]"))),
    Spoiler("records", same(numpy.zeros(2, [("x", "f4"), ("y", "i4")]))),
    Spoiler("65 axes", same(numpy.ones((1,) * 64))),
    Spoiler("masked", masked),
    Spoiler("matrix", lambda valid, ours: numpy.matrix([[1.0, 2.0], [3.0, 4.0]])),
    Spoiler("generator", lambda valid, ours: (i for i in range(3))),
    Spoiler("dict", lambda valid, ours: {"a": 1.0}),
    Spoiler("set", lambda valid, ours: {1.0, 2.0}),
    Spoiler("function", same(len)),
    Spoiler("type", same(list)),
    Spoiler("ellipsis", same(...)),
    Spoiler("slice", same(slice(2))),
    Spoiler("object", same(Nothing())),
    Spoiler("self nested", same([[[]]])),
]


def key(valid: Any) -> Any:
    return nl.random.key(0)


def ref(valid: Any) -> Any:
    return nl.new_ref(np.ones(3))


def deleted(valid: Any) -> Any:
    x = np.asarray(numpy.arange(3.0) + 0.5)
    x.delete()
    return x


OURS = [
    Spoiler("random key", lambda valid, ours: key(valid)),
    Spoiler("Ref", lambda valid, ours: ref(valid)),
    Spoiler("deleted", lambda valid, ours: deleted(valid)),
]
"""Values that NumPy does not know: Numlift works, or raises a NumliftError."""


class BadCall(NamedTuple):
    """A call with one bad argument."""

    function: str
    argument: str
    spoiler: Spoiler
    base: Call

    def arguments(self, ours: bool) -> Call:
        """The arguments for Numlift or NumPy."""
        if self.argument.isdigit():
            args = list(self.base.args)
            i = int(self.argument)
            args[i] = self.spoiler.make(args[i], ours)
            return Call(tuple(args), self.base.kwargs)
        return Call(
            self.base.args, {**self.base.kwargs, self.argument: self.spoiler.make(None, ours)}
        )

    def __repr__(self) -> str:
        return f"{self.function}[{self.argument}={self.spoiler.name}]{self.base!r}"


_UNLIKE_NUMPY = {"out_sharding", "device", "out", "order_", "subok", "like", "fill_value", "size"}


def arguments_of(name: str, base: Call) -> list[str]:
    """Positions and names of the arguments that are spoiled."""
    places = [str(i) for i in range(len(base.args))]
    try:
        ours = inspect.signature(find(np, name)).parameters
    except (ValueError, TypeError):
        return places
    words = [
        p
        for i, (p, q) in enumerate(ours.items())
        if q.kind in (q.POSITIONAL_OR_KEYWORD, q.KEYWORD_ONLY)
        and (i >= len(base.args) or q.kind is q.KEYWORD_ONLY)
        and p not in _UNLIKE_NUMPY
    ]
    return places + words


def bad_calls(name: str) -> Iterator[BadCall]:
    """All bad calls of a function."""
    base = valid_call(name)
    if base is None:
        return
    for argument in arguments_of(name, base):
        for spoiler in SPOILERS + OURS:
            yield BadCall(name, argument, spoiler, base)


_WRITES_FILES = frozenset(
    ["fromfile", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt",
     "fromregex", "set_printoptions", "printoptions"]
)  # fmt: skip


def functions() -> list[str]:
    """Names of the functions that are called: each function once."""
    found: dict[int, str] = {}
    for name in [*ROWS, *MORE, *(f"linalg.{n}" for n in LINALG)]:
        if name not in _WRITES_FILES:
            found.setdefault(id(find(np, name)), name)
    return list(found.values())
