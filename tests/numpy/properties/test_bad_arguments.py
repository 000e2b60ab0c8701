"""One bad argument in a valid call of each public function: which errors come of it.

The outcome is NumPy's class of error, with our message that begins with the name of the function;
or one of the differences below, each with its reason. Errors of Python itself and crashes are
never right, nor are values where a valid part of the call was ignored.
By default a fixed sample is tried; `BAD_ARGUMENTS=10` tries every tenth of about 55,000 calls, and
finds more pairs of TypeError and ValueError than the list below explains.
"""

from __future__ import annotations

import os
import warnings
import zlib
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift.errors import DeletedBufferError, ImmutableArrayError, NumliftError
from tests.numpy.properties.bad_arguments import OURS, BadCall, bad_calls, functions
from tests.numpy.properties.checking import find
from tests.numpy.properties.comparing import as_error, leaves, outcome

EVERY = int(os.environ.get("BAD_ARGUMENTS", "40"))
"""One of so many calls is tried."""

NO_NUMBERS = frozenset(
    ["objects", "strs", "dates", "records", "str", "bytes", "None", "list of str", "list of None",
     "generator", "dict", "set", "function", "type", "ellipsis", "slice", "object", "self nested",
     "masked", "matrix", "ragged"]
)  # fmt: skip
"""No arrays of numbers: NumPy makes object arrays of some, and fails later, of varying classes."""

CLASSES = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)
"""Classes of NumPy's errors that are meant; AttributeError, KeyError, SystemError are accidents."""

NAMES: dict[str, str] = {
    "dtype": "functions that take a dtype alone are about dtypes, as isdtype and iinfo",
    "result_type": "as above",
    "array": "a value is converted where NumPy's own code asks for it",
    "index": "as above",
    "int": "as above",
    "float": "as above",
    "bool": "as above",
}
"""First words of messages that are not the name of the function."""

RAW: dict[tuple[str, type], str] = {
    ("require", KeyError): "NumPy's class for an unknown requirement; no class of ours has it",
    ("fromfunction", TypeError): "raised by the user's function, which was given other arguments",
    ("tensordot", TypeError): "the call has too many arguments by its signature",
}
"""Errors that are not ours."""


ENDLESS = {("diff", "huge"), ("polyint", "huge")}
"""Calls that take as many steps as they are told, here and in NumPy."""

SIMPLE = frozenset(["float", "nan", "inf", "large axis", "negative"])
"""Numbers, which break one rule at most places, so that classes must be equal. Where an array is
given for an axis, a flag or a mode, several rules are broken; each library finds another first."""

CLASS_DIFFERS: dict[str, str] = {
    "all any min max amin amax sum prod mean nanmean nansum": "`where` is looked at before `axis`",
    "cov": "weights of rank 0: NumPy's IndexError is an accident",
    "array_split": "a number has no axis: AxisError, where NumPy asks for its length",
    "hsplit vsplit dsplit split": "NumPy divides by a fraction first",
    "ifftn fftn ifft2 fft2 rfftn irfftn rfft2 irfft2": "NumPy takes a number for axes as its index",
    "einsum": "a number for the subscripts: an expression is missing, which is a ValueError here",
    "tensorinv": "NumPy compares the number with 0 first",
}
"""Functions whose class of error is another one, with the reason."""


def check(bad: BadCall) -> str:
    """What is wrong with the outcome of a call, or ""."""
    got = outcome(find(np, bad.function), bad.arguments(True))
    short = bad.function.split(".")[-1]
    if not isinstance(got, Exception):
        return readable(got)
    if not isinstance(got, NumliftError):
        return "" if raw_is_known(short, got) else f"not ours: {type(got).__name__}: {got}"
    first = str(got).partition(":")[0].split(".")[-1]
    names = {short, getattr(find(np, bad.function), "__name__", short), *NAMES}
    if first not in names:
        return f"does not name {short}: {got}"
    if bad.spoiler in OURS or bad.spoiler.name in NO_NUMBERS:
        return ""
    if isinstance(got, ImmutableArrayError) or not hasattr_numpy(bad.function):
        return ""
    theirs = outcome(find(numpy, bad.function), bad.arguments(False))
    if not isinstance(theirs, CLASSES) or isinstance(got, as_error(theirs)):
        return ""
    if "unexpected keyword" in str(theirs):
        return ""
    if bad.spoiler.name in SIMPLE and not any(short in names.split() for names in CLASS_DIFFERS):
        return f"{type(got).__name__}: {got}\nNumPy: {type(theirs).__name__}: {theirs}"
    return ""


def raw_is_known(name: str, error: Exception) -> bool:
    """Whether a raw error is listed, or is that of memory that no machine has."""
    return isinstance(error, MemoryError) or (name, type(error)) in RAW


def hasattr_numpy(name: str) -> bool:
    """Whether NumPy has the function."""
    try:
        find(numpy, name)
    except AttributeError:
        return False
    return True


def readable(result: Any) -> str:
    """The programs that made the results ran."""
    try:
        nl.block_until_ready(leaves(result))
    except DeletedBufferError:  # an argument that was returned as it is
        pass
    return ""


@pytest.mark.parametrize("name", functions())
def test_bad_arguments(name: str) -> None:
    problems = []
    for bad in bad_calls(name):
        if (name, bad.spoiler.name) in ENDLESS:
            continue
        if zlib.crc32(f"{bad.function} {bad.argument} {bad.spoiler.name}".encode()) % EVERY:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check(bad)
        if found:
            problems.append(f"{bad!r}\n{found}")
    assert not problems, "\n\n".join(problems)
