"""Where Numlift answers otherwise than NumPy, on purpose: each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from tests.numpy.properties.comparing import operands


class Difference(NamedTuple):
    """A difference of some functions.

    Attributes:
        names: the functions, "" for all.
        when: whether it applies, from the example, our outcome and NumPy's.
        reason: why.
    """

    names: str
    when: Callable[[Any, Any, Any], bool]
    reason: str


def zero_divisor(example: Any, got: Any, theirs: Any) -> bool:
    """Whether an integer divisor is 0 somewhere."""
    y = numpy.asarray(example.call.args[1])
    return y.dtype.kind in "iu" and not numpy.all(y)


def rank_0(example: Any, got: Any, theirs: Any) -> bool:
    """Whether the first operand has rank 0."""
    return numpy.ndim(example.call.args[0]) == 0


def integer_mean(example: Any, got: Any, theirs: Any) -> bool:
    """Whether a mean is asked for as an integer."""
    return example.call.kwargs.get("dtype") == "int32"


def bools(example: Any, got: Any, theirs: Any) -> bool:
    """Whether all operands are bools where NumPy calculates with int8."""
    return all(x.dtype == bool for x in operands(example.call)) and (
        getattr(theirs, "dtype", None) == "int8" or example.name == "positive"
    )


def nothing(example: Any, got: Any, theirs: Any) -> bool:
    """Whether the first operand has no elements."""
    return numpy.size(example.call.args[0]) == 0


def one_sample(example: Any, got: Any, theirs: Any) -> bool:
    """Whether a step between one sample is asked for."""
    words = example.call.kwargs
    return bool(words.get("retstep")) and words.get("num", 50) in (0, 1)


def outside(example: Any, got: Any, theirs: Any) -> bool:
    """Whether an index array is out of bounds."""
    return isinstance(theirs, (IndexError, ValueError)) and not isinstance(got, Exception)


DIFFERENCES: list[Difference] = [
    Difference("take take_along_axis unravel_index", outside, "documented: filled, or clamped"),
    Difference("fft.fftn fft.ifftn fft.rfftn fft.irfftn", rank_0, "NumPy fails by accident"),
    Difference("linspace", one_sample, "the step, nan, has the dtype of the samples"),
    Difference("nanquantile nanpercentile", nothing, "NumPy forgets the shape of q"),
    Difference("positive square conjugate", bools, "bools pass, or are integers, never int8"),
    Difference(
        "argsort packbits unpackbits cumulative_sum cumulative_prod",
        rank_0,
        "rank 0 has no axis; NumPy adds one",
    ),
    Difference("fft.fftshift fft.ifftshift", rank_0, "NumPy fails by accident"),
    Difference("mean nanmean", integer_mean, "converts first, as JAX; NumPy rounds the quotient"),
    Difference(
        "floor_divide divmod",
        zero_divisor,
        "an integer divided by zero is documented; NumPy gives 0 and warns",
    ),
]


def known(example: Any, got: Any, theirs: Any) -> bool:
    """Whether a difference of the list applies."""
    return any(
        (not d.names or example.name in d.names.split()) and d.when(example, got, theirs)
        for d in DIFFERENCES
    )
