"""einsum: sums of products, written with a letter for each axis."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import known
from ..core.dtypes import as_dtype, user_dtype
from ..core.tracing import Value, apply, type_of
from ..lax.dot import as_sharding
from ..ops.reductions import ReduceOr
from ..sharding.rules import named
from ..structural.arith import convert, mul
from ..structural.shape import ReduceSum, Reshape, broadcast
from .creation import unused
from .diagonals import diagonal
from .dtypes_api import can_cast
from .pieces import permute, reshape_to
from .products import contract
from .util import as_value, promote

Path = tuple[tuple[int, ...], ...]


def _planner() -> Any:
    """opt_einsum, which takes 12 ms to import and serves einsum only."""
    return importlib.import_module("opt_einsum")


@explains
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    dtype: Any = None,
    order: str | None = "K",
    casting: str = "safe",
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Sum of products, with a letter for each axis: ``"ij,jk->ik"`` is the matrix product.

    A letter that several operands share multiplies along that axis; one that is not in the output
    is summed. A letter twice in an operand takes the diagonal. ``...`` stands for further axes,
    which are broadcast. Without ``->`` the output has the letters that occur once, sorted.

    Args:
        subscripts: the expression; or the first operand, with the operands and lists of axes in
            turns: ``einsum(x, [0, 1], y, [1, 2], [0, 2])``.
        *operands: arrays, of as many axes as their subscripts.
        out: must be None: arrays are immutable.
        dtype: dtype to compute in and to return; operands are converted to it first.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        casting: which conversions to `dtype` are allowed, as for `can_cast`.
        optimize: how the order of products is found: a strategy of opt_einsum ("auto", "optimal",
            "greedy" ...), True, False (from left to right), or a path from `einsum_path`.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        The result. Two operands become one dot_general.

    Raises:
        ValueArgumentError: a malformed expression, order or casting.  ShapeError: a letter has two
        sizes.  DTypeError: `casting` forbids the conversion of an operand.

    Differences from NumPy: products are taken in an optimised order by default; no ``out``.
    Python numbers have no dtype of their own: with "safe" they are cast as with "same_kind".

    Example:
        >>> import numlift.numpy as np
        >>> a = np.arange(6.0).reshape(2, 3)
        >>> print(np.einsum("ij,kj->ik", a, a))
        [[ 5. 14.]
         [14. 50.]]
    """
    if out is not None:
        raise errors.ArgumentError(
            errors.explain("einsum", "out is not supported: arrays are immutable")
        )
    unused("einsum", order)
    found, text = _arguments("einsum", subscripts, operands)
    xs = promote(*(found if dtype is None else _cast(found, dtype, casting)))
    shapes = tuple([type_of(x).shape for x in xs])
    if preferred_element_type is not None:
        preferred_element_type = user_dtype(preferred_element_type, "einsum")
    if len(xs) == 2 and out_sharding is None:
        numbers = _one_dot(text, shapes)
        if numbers is not None:
            return contract(xs[0], xs[1], numbers, precision, preferred_element_type)
    path = None if len(xs) <= 2 else _frozen_path(optimize)
    inputs, output, path = _expression(text, xs, shapes, path)
    return _evaluate(
        tuple(xs), inputs, output, path, precision, preferred_element_type, out_sharding
    )


def _cast(operands: Sequence[Any], dtype: Any, casting: str) -> list[Any]:
    """Operands in the dtype that the user asked for."""
    wanted = user_dtype(dtype, "einsum")
    asked = as_dtype(dtype)  # 64 bits wide if so: what is safe does not depend on the mode
    for i, x in enumerate(operands):
        t = type_of(x)
        rule = "same_kind" if t.weak_type and casting == "safe" else casting
        if not can_cast(t.dtype, asked, rule):
            raise errors.DTypeError(
                errors.explain(
                    "einsum",
                    f"cannot cast operand {i} to {wanted} according to the rule {casting!r}",
                    {f"operand {i}": t},
                    try_="casting='same_kind' or 'unsafe'",
                )
            )
    return [convert(x, wanted) for x in operands]


@explains
def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto"
) -> tuple[list[tuple[int, ...]], Any]:
    """The order in which `einsum` would take products, and a report of what it costs.

    Only shapes count: nothing is computed, and operands may be traced.

    Args:
        subscripts: the expression, such as "ij,jk->ik"; or the first operand, with lists of axes
            after each operand.
        *operands: the operands.
        optimize: "auto", "optimal", "greedy", another strategy of opt_einsum, a path, or a bool.

    Returns:
        A path for ``einsum(..., optimize=path)``: pairs of operands, each replaced by its product
        at the end of the list; and opt_einsum's report.

    Raises:
        ValueArgumentError: no operands, or subscripts that do not fit them.

    Differences from NumPy: the path does not begin with 'einsum_path', as in JAX.

    Example:
        >>> import numlift.numpy as np
        >>> a, b, c = np.ones((2, 30)), np.ones((30, 4)), np.ones((4, 5))
        >>> np.einsum_path("ij,jk,kl->il", a, b, c)[0]
        [(0, 1), (0, 1)]
    """
    found, text = _arguments("einsum_path", subscripts, operands)
    shapes = tuple([type_of(x).shape for x in found])
    inputs, output, _ = _expression(text, found, shapes, None)
    given = _frozen_path(optimize)
    given = list(given) if isinstance(given, tuple) else given
    path, info = _planned(f"{','.join(inputs)}->{output}", shapes, given)
    return list(path), info


def _planned(text: str, shapes: Sequence[Any], optimize: Any) -> tuple[Any, Any]:
    """The path of opt_einsum, and its report."""
    try:
        path, info = _planner().contract_path(text, *shapes, shapes=True, optimize=optimize)
    except (IndexError, KeyError, TypeError) as error:
        raise errors.ArgumentError(
            errors.explain(
                "einsum",
                f"optimize is no strategy and no path of these operands: {error}",
                {"optimize": optimize, "subscripts": text},
                try_="optimize='auto', or a path of einsum_path",
            )
        ) from error
    return path, info


def _arguments(function: str, first: Any, rest: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """Operands, and the expression: a string, or a tuple of lists of axes."""
    if isinstance(first, str):
        if not rest:
            raise errors.ValueArgumentError(
                errors.explain(function, "no operands are given", {"subscripts": first})
            )
        return [as_value(x, function, f"operand {i}") for i, x in enumerate(rest)], first
    everything = (first, *rest)
    count = len(everything) // 2
    operands = [
        as_value(x, function, f"operand {i}") for i, x in enumerate(everything[::2][:count])
    ]
    lists = everything[1::2] + (everything[-1:] if len(everything) % 2 else ())
    if not count or any(isinstance(axes, (Value, np.ndarray, str)) for axes in lists):
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "the arguments must be an expression and operands, or operands and lists of axes "
                "in turns",
                {"arguments": [type(x).__name__ for x in everything]},
            )
        )
    return operands, tuple(tuple(axes) for axes in lists)


def _frozen_path(optimize: Any) -> Any:
    if optimize is True:
        return "optimal"
    fine = optimize is None or isinstance(optimize, (bool, str, list, tuple))
    if not fine and not callable(optimize):
        raise errors.ArgumentError(
            errors.explain(
                "einsum",
                f"optimize must be a bool, a name or a path, not a {type(optimize).__name__}",
                {"optimize": optimize},
                try_="optimize='auto'",
            )
        )
    if isinstance(optimize, (list, tuple)):
        steps = optimize[1:] if optimize and optimize[0] == "einsum_path" else optimize
        return tuple(tuple(int(i) for i in step) for step in steps)
    return optimize


class _Malformed(Exception):
    """What is wrong with an expression for operands of which only the shapes are known."""

    def __init__(
        self,
        rule: str,
        kind: type[errors.NumliftError] = errors.ValueArgumentError,
        hint: str = 'one term an operand, one letter an axis: "ij,jk->ik"',
    ):
        self.rule, self.kind, self.hint = rule, kind, hint


def _expression(
    text: Any, operands: Sequence[Any], shapes: tuple[tuple[int, ...], ...], optimize: Any
) -> tuple[tuple[str, ...], str, Path]:
    """`_parsed`, with messages that show the operands."""
    try:
        return _parsed(text, shapes, optimize)
    except _Malformed as wrong:
        shown = {f"operand {i}": type_of(x) for i, x in enumerate(operands)}
        raise wrong.kind(
            errors.explain("einsum", wrong.rule, {"subscripts": text} | shown, try_=wrong.hint)
        ) from None


@lru_cache(maxsize=1024)
def _parsed(
    text: Any, shapes: tuple[tuple[int, ...], ...], optimize: Any
) -> tuple[tuple[str, ...], str, Path]:
    """Letters of each operand, letters of the output, order of the products."""
    arguments: list[Any] = [text, *shapes]
    if not isinstance(text, str):
        arguments = [x for pair in zip(shapes, map(list, text), strict=False) for x in pair]
        arguments += [list(axes) for axes in text[len(shapes) :]]
    try:
        joined, output, _ = _planner().parser.parse_einsum_input(arguments, shapes=True)
    except (ValueError, TypeError, KeyError) as error:
        raise _Malformed(str(error)) from None
    inputs = tuple(joined.split(","))
    if len(inputs) != len(shapes):
        raise _Malformed(f"{len(inputs)} terms for {len(shapes)} operands")
    sizes = _sizes(inputs, shapes)
    if len(set(output)) != len(output):
        raise _Malformed("a letter is twice in the output")
    for letter in output:
        if letter not in sizes:
            raise _Malformed(f"the output letter {letter!r} is in no operand")
    return inputs, output, _path(inputs, output, shapes, optimize)


@lru_cache(maxsize=1024)
def _one_dot(text: Any, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """Dimension numbers if the expression is one dot_general and nothing else, else None."""
    try:
        (a, b), output, _ = _parsed(text, shapes, None)
    except _Malformed:
        return None  # `_expression` says why
    batch = [x for x in a if x in b and x in output]
    shared = [x for x in a if x in b and x not in output]
    made = batch + [x for x in a if x not in b] + [x for x in b if x not in a]
    plain = len(set(a)) == len(a) and len(set(b)) == len(b)
    if not shared or not plain or "".join(made) != output:
        return None
    numbers = tuple(
        tuple([side.index(x) for x in letters])
        for letters, side in ((shared, a), (shared, b), (batch, a), (batch, b))
    )
    pairs = zip(numbers[0] + numbers[2], numbers[1] + numbers[3], strict=True)
    return numbers if all(shapes[0][i] == shapes[1][j] for i, j in pairs) else None


_GUESS = 64
"""Size that the order of products supposes for symbolic axes."""


def _path(
    inputs: tuple[str, ...], output: str, shapes: tuple[tuple[int, ...], ...], optimize: Any
) -> Path:
    n = len(inputs)
    if n <= 2 or optimize is False:
        return (tuple(range(n)),)
    given = list(optimize) if isinstance(optimize, tuple) else optimize
    shapes = tuple([tuple([known(d, _GUESS) for d in shape]) for shape in shapes])
    path, _ = _planned(f"{','.join(inputs)}->{output}", shapes, given)
    return tuple(tuple(step) for step in path)


def _sizes(inputs: tuple[str, ...], shapes: tuple[tuple[int, ...], ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for i, (letters, shape) in enumerate(zip(inputs, shapes, strict=True)):
        if len(letters) != len(shape):
            raise _Malformed(
                f"term {i} has {len(letters)} letters, but operand {i} has {len(shape)} axes"
            )
        for letter, n in zip(letters, shape, strict=True):
            known = sizes.get(letter, 1)
            if n not in (1, known) and known != 1:
                raise _Malformed(
                    f"letter {letter!r} has size {n} in operand {i} and size {known} before",
                    errors.ShapeError,
                    f"another letter than {letter!r}, or the transpose of an operand",
                )
            sizes[letter] = n if known == 1 else known
    return sizes


@library()
def _evaluate(
    operands: tuple[Any, ...],
    inputs: tuple[str, ...],
    output: str,
    path: Path,
    precision: Any,
    preferred: Any,
    out_sharding: Any,
) -> Any:
    sizes = _sizes(inputs, tuple([type_of(x).shape for x in operands]))
    terms = [_Term(x, letters).squeezed(sizes) for x, letters in zip(operands, inputs, strict=True)]
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, operands, "einsum")
    how = (precision, preferred)
    for step in path:
        chosen = [terms[i] for i in step]
        terms = [t for i, t in enumerate(terms) if i not in step]
        kept = set(output).union(*[t.letters for t in terms])
        while len(chosen) > 1:
            last = len(chosen) == 2
            needed = kept.union(*[t.letters for t in chosen[2:]])
            final = output if last and not terms else None
            product = _multiply(chosen[0], chosen[1], needed, final, how, out_sharding)
            chosen = [product, *chosen[2:]]
        terms.append(chosen[0])
    return _finish(terms, output, sizes, how, out_sharding)


def _finish(
    terms: list[_Term], output: str, sizes: dict[str, int], how: tuple[Any, Any], sharding: Any
) -> Any:
    """The output from the terms that are left (several only for a path that stops early)."""
    while len(terms) > 1:
        kept = set(output).union(*[t.letters for t in terms[2:]])
        terms = [_multiply(terms[0], terms[1], kept, output, how, sharding), *terms[2:]]
    term = terms[0].summed(set(output), how[1])
    missing = [letter for letter in output if letter not in term.letters]
    x, letters = term.x, "".join(missing) + term.letters
    if missing:
        dims = range(len(missing), len(letters))
        x = broadcast(x, (*[sizes[m] for m in missing], *type_of(x).shape), dims)
    x = permute(x, [letters.index(letter) for letter in output])
    x = x if how[1] is None else convert(x, how[1])
    if sharding is not None and type_of(x).sharding != sharding:
        return apply(Reshape.of(type_of(x).shape, sharding), x)
    return x


class _Term:
    """An operand and the letters of its axes."""

    __slots__ = ("x", "letters")

    def __init__(self, x: Any, letters: str):
        self.x, self.letters = x, letters

    def places(self, letters: Sequence[str]) -> tuple[int, ...]:
        """The axes that these letters stand for."""
        return tuple([self.letters.index(x) for x in letters])

    def squeezed(self, sizes: dict[str, int]) -> _Term:
        """Without axes of size 1 that are broadcast, and with one axis for a repeated letter."""
        shape = type_of(self.x).shape
        gone = [i for i, n in enumerate(shape) if n == 1 and sizes[self.letters[i]] != 1]
        term = self
        if gone:
            kept = [i for i in range(len(shape)) if i not in gone]
            x = reshape_to(self.x, tuple([shape[i] for i in kept]))
            term = _Term(x, "".join([self.letters[i] for i in kept]))
        while len(set(term.letters)) < len(term.letters):
            term = term._diagonal()
        return term

    def _diagonal(self) -> _Term:
        letter = next(x for x in self.letters if self.letters.count(x) > 1)
        i = self.letters.index(letter)
        j = self.letters.index(letter, i + 1)
        x = diagonal(self.x, 0, i, j)
        rest = "".join([x for k, x in enumerate(self.letters) if k not in (i, j)])
        return _Term(x, rest + letter)

    def summed(self, kept: set[str], preferred: Any) -> _Term:
        """Summed over the letters that are not kept."""
        axes = tuple([i for i, letter in enumerate(self.letters) if letter not in kept])
        if not axes:
            return self
        x = self.x if preferred is None else convert(self.x, preferred)
        op = ReduceOr if type_of(x).kind == "b" else ReduceSum
        letters = "".join([letter for letter in self.letters if letter in kept])
        return _Term(apply(op.of(axes), x), letters)


def _multiply(
    a: _Term, b: _Term, kept: set[str], final: str | None, how: tuple[Any, Any], sharding: Any
) -> _Term:
    """Product of two terms, summed over the letters that are not kept."""
    precision, preferred = how
    a = a.summed(kept | set(b.letters), preferred)
    b = b.summed(kept | set(a.letters), preferred)
    both = [x for x in a.letters if x in b.letters]
    batch = "".join([x for x in both if x in kept])
    shared = "".join([x for x in both if x not in kept])
    free_a = "".join([x for x in a.letters if x not in both])
    free_b = "".join([x for x in b.letters if x not in both])
    if not shared:
        return _elementwise(a, b, final or batch + free_a + free_b, preferred)
    made = batch + free_a + free_b
    if final is not None and made != final and batch + free_b + free_a == final:
        a, b, made = b, a, final
        precision = precision[::-1] if type(precision) is tuple else precision
    numbers = (a.places(shared), b.places(shared), a.places(batch), b.places(batch))
    wanted = None
    if final is not None and sharding is not None:
        spec = sharding.spec.padded(len(final))
        wanted = named(sharding.mesh, [spec[final.index(x)] for x in made])
    return _Term(contract(a.x, b.x, numbers, precision, preferred, wanted), made)


def _elementwise(a: _Term, b: _Term, letters: str, preferred: Any) -> _Term:
    """Product without a sum, as a multiplication of broadcast operands."""
    shape_of = dict(
        zip(a.letters + b.letters, type_of(a.x).shape + type_of(b.x).shape, strict=True)
    )
    order = [x for x in letters if x in shape_of]
    shape = tuple([shape_of[x] for x in order])
    sides = []
    for t in (a, b):
        x = t.x if preferred is None else convert(t.x, preferred)
        mine = [letter for letter in order if letter in t.letters]
        x = permute(x, [t.letters.index(letter) for letter in mine])
        sides.append(broadcast(x, shape, [order.index(letter) for letter in mine]) if mine else x)
    return _Term(apply(mul, *sides), "".join(order))


__all__ = [
    "einsum",
    "einsum_path",
]
