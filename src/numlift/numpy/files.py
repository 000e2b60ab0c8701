"""Arrays from memory, text and iterators; arrays in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..core.dtype_kinds import is_native
from ..core.dtype_table import DTYPES, KeyDType
from ..core.tracing import apply
from ..ops.random import RandomUnwrap, RandomWrap
from ..runtime.dlpack import from_dlpack as import_dlpack
from .creation import asarray
from .text import check_known, values_of

_BFLOAT16 = DTYPES["bfloat16"]


def _told(function: str, read: Any, *args: Any, **kwargs: Any) -> Any:
    """NumPy's result; its complaints as errors of Numlift with the name of the function."""
    try:
        return read(*args, **kwargs)
    except ValueError as error:
        raise errors.ValueArgumentError(errors.explain(function, str(error))) from error
    except TypeError as error:
        raise errors.ArgumentError(errors.explain(function, str(error))) from error


@explains
def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: None = None
) -> Any:
    """An array from the bytes of a buffer, which are copied.

    Args:
        buffer: bytes, bytearray, memoryview or anything else with a buffer.
        dtype: how to read the bytes; the default `float` is 8 bytes long, as in NumPy.
        count: number of elements, -1 for all.
        offset: bytes to skip first.
        like: must be None.

    Returns:
        Array (count,); 64-bit dtypes become 32 bits wide after reading, unless x64 is on.

    Raises:
        ValueArgumentError: the bytes are no whole number of elements, or too few.  ArgumentError:
        no buffer.

    Example:
        >>> import numlift.numpy as np
        >>> np.frombuffer(b"abcd", dtype="uint8", count=2, offset=1)
        Array([98, 99], dtype=uint8)
    """
    return asarray(
        _told("frombuffer", np.frombuffer, buffer, np.dtype(dtype), count, offset), like=like
    )


@explains
def fromstring(
    string: str, dtype: Any = float, count: int = -1, *, sep: str, like: None = None
) -> Any:
    """An array from numbers in a text.

    Args:
        string: the text.
        dtype: dtype of the numbers.
        count: how many to read, -1 for all.
        sep: what stands between numbers; spaces match any white space.
        like: must be None.

    Returns:
        Array (count,); 64-bit dtypes become 32 bits wide after reading, unless x64 is on.

    Raises:
        ValueArgumentError: something in the text is no number, or `sep` is empty.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromstring("1, 2, 3", dtype=int, sep=",")
        Array([1, 2, 3], dtype=int32)
    """
    return asarray(
        _told("fromstring", np.fromstring, string, np.dtype(dtype), count, sep=sep), like=like
    )


@explains
def fromfile(
    file: Any,
    dtype: Any = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: None = None,
) -> Any:
    """An array from a file of raw elements or of numbers as text, which is read once, now.

    Args:
        file: path or open file.
        dtype: how to read the elements; the default `float` is 8 bytes long, as in NumPy.
        count: number of elements, -1 for all.
        sep: what stands between numbers in a text; empty: the file is binary.
        offset: bytes to skip first, in binary files only.
        like: must be None.

    Returns:
        Array (count,); 64-bit dtypes become 32 bits wide after reading, unless x64 is on.

    Raises:
        OSError: the file cannot be read.

    Differences from JAX: it exists; within `jit` the values at the time of tracing are constants.

    Example:
        >>> import pathlib, tempfile, numlift.numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "numbers")
        ...     _ = path.write_bytes(bytes([1, 0, 2, 0]))
        ...     np.fromfile(path, dtype="int16")
        Array([1, 2], dtype=int16)
    """
    return asarray(
        _told("fromfile", np.fromfile, file, np.dtype(dtype), count, sep, offset), like=like
    )


@explains
def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: None = None) -> Any:
    """An array from an iterator of numbers, which is read once, now.

    Args:
        iter: iterable of numbers.
        dtype: dtype of the result.
        count: how many to take, -1 for all.
        like: must be None.

    Returns:
        Array (count,); 64-bit dtypes become 32 bits wide after reading, unless x64 is on.

    Raises:
        ValueArgumentError: fewer than `count` numbers.  ArgumentError: `iter` is not iterable.

    Differences from JAX: it exists; within `jit` the values at the time of tracing are constants.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromiter((i * i for i in range(3)), int)
        Array([0, 1, 4], dtype=int32)
    """
    return asarray(_told("fromiter", np.fromiter, iter, np.dtype(dtype), count), like=like)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of another library by DLPack, without a copy where that is possible.

    Args:
        x: object with ``__dlpack__`` and ``__dlpack_device__``.
        device: device of the result.
        copy: True copies; False raises if a copy would be needed; None copies where it must.

    Returns:
        Array of the shape and dtype of `x`; 64-bit dtypes become 32 bits wide unless x64 is on.

    Raises:
        ArgumentError: `x` does not speak DLPack.

    Example:
        >>> import numpy, numlift.numpy as np
        >>> np.from_dlpack(numpy.ones(2, "float32"))
        Array([1., 1.], dtype=float32)
    """
    return import_dlpack(x, device=device, copy=copy)


@explains
def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's ``.npy`` format; `load` reads every dtype back.

    The format has no bfloat16: it is stored as raw elements of two bytes. Other small dtypes and
    PRNG keys are stored as records with one field of the dtype's name.

    Args:
        file: path (``.npy`` is appended where it is missing), or open binary file.
        arr: array, number or nested lists; its values must be known.
        allow_pickle: as for `numpy.save`; numbers need no pickle.

    Returns:
        None.

    Raises:
        TracerArrayConversionError: `arr` is traced.  OSError: the file cannot be written.

    Example:
        >>> import io, numlift.numpy as np
        >>> file = io.BytesIO()
        >>> np.save(file, np.asarray([1, 2], "bfloat16"))
        >>> _ = file.seek(0)
        >>> np.load(file)
        Array([1, 2], dtype=bfloat16)
    """
    np.save(file, stored(arr, "save"), allow_pickle=allow_pickle)


@explains
def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to one ``.npz`` file; `load` reads every dtype back, as for `save`.

    Args:
        file: path (``.npz`` is appended where it is missing), or open binary file.
        *args: arrays, stored by the names arr_0, arr_1, ...; their values must be known.
        allow_pickle: as for `numpy.savez`; numbers need no pickle.
        **kwds: arrays by name.

    Returns:
        None.

    Raises:
        TracerArrayConversionError: an array is traced.  OSError: the file cannot be written.

    Example:
        >>> import io, numlift.numpy as np
        >>> file = io.BytesIO()
        >>> np.savez(file, np.arange(2), weights=np.ones(2))
        >>> _ = file.seek(0)
        >>> found = np.load(file)
        >>> found.files
        ['weights', 'arr_0']
        >>> found["weights"]
        Array([1., 1.], dtype=float32)
    """
    np.savez(
        file,
        *[stored(x, "savez") for x in args],
        allow_pickle=allow_pickle,
        **{name: stored(x, "savez") for name, x in kwds.items()},
    )


@explains
def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to one compressed ``.npz`` file; `savez` writes faster.

    Args:
        file: path (``.npz`` is appended where it is missing), or open binary file.
        *args: arrays, stored by the names arr_0, arr_1, ...; their values must be known.
        allow_pickle: as for `numpy.savez_compressed`; numbers need no pickle.
        **kwds: arrays by name.

    Returns:
        None.

    Raises:
        TracerArrayConversionError: an array is traced.  OSError: the file cannot be written.

    Example:
        >>> import io, numlift.numpy as np
        >>> file = io.BytesIO()
        >>> np.savez_compressed(file, zeros=np.zeros(100_000))
        >>> len(file.getvalue()) < 1000
        True
    """
    np.savez_compressed(
        file,
        *[stored(x, "savez_compressed") for x in args],
        allow_pickle=allow_pickle,
        **{name: stored(x, "savez_compressed") for name, x in kwds.items()},
    )


def stored(x: Any, function: str) -> Any:
    """An array as NumPy's file format can hold it."""
    check_known(x, function)
    x = asarray(x)
    dtype = x.type.dtype
    if isinstance(dtype, KeyDType):
        words = np.asarray(apply(RandomUnwrap.of(), x))
        record = np.dtype([(f"key<{dtype.impl}>", words.dtype, dtype.key_shape)])
        return np.ascontiguousarray(words).view(record).reshape(x.shape)
    found = np.asarray(x)
    if is_native(dtype):
        return found
    if dtype == _BFLOAT16:
        return found.view("V2")
    octets = np.ascontiguousarray(found).view(np.uint8)
    return octets.view(np.dtype([(dtype.name, f"V{dtype.itemsize}")])).reshape(x.shape)


def restored(x: Any, file: Any) -> Any:
    """The array that `stored` made `x` of."""
    if x.dtype.kind != "V":
        return asarray(x)
    names = x.dtype.names
    if names is None and x.dtype.itemsize == 2:
        return asarray(x.view(_BFLOAT16))
    if names is not None and len(names) == 1:
        if names[0].startswith("key<"):
            words = np.ascontiguousarray(x[names[0]])
            return apply(RandomWrap.of(names[0][4:-1]), asarray(words))
        if names[0] in DTYPES:
            return asarray(np.ascontiguousarray(x).view(DTYPES[names[0]]).reshape(x.shape))
    raise errors.DTypeError(
        errors.explain(
            "load",
            f"the file holds elements of {x.dtype.itemsize} bytes of an unknown dtype",
            {"file": str(file)},
            try_="np.asarray(numpy.load(file).view(dtype)), with the dtype that was saved",
        )
    )


class Archive(Mapping[str, Any]):
    """The arrays of an ``.npz`` file by name; each is read when it is asked for.

    A context manager that closes the file, as NumPy's.
    """

    def __init__(self, archive: Any):
        self._archive = archive
        self.files: list[str] = archive.files

    def __getitem__(self, name: str) -> Any:
        return restored(self._archive[name], name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._archive)

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


@explains
def load(
    file: Any,
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10000,
) -> Any:
    """Read what `save`, `savez` or `savez_compressed` wrote, or NumPy's functions of these names.

    Args:
        file: path or open binary file.
        mmap_mode: as for `numpy.load`: map the file into memory; the values are copied from there.
        allow_pickle: whether files may hold pickled objects. Numbers need none; reading a pickle
            from a stranger can run any code.
        fix_imports: for pickles of Python 2.
        encoding: for pickles of Python 2.
        max_header_size: longest header that is taken from files that are not trusted.

    Returns:
        An array for ``.npy``; for ``.npz`` a mapping from names to arrays, which are read when they
        are asked for, and a context manager that closes the file. 64-bit dtypes become 32 bits wide
        unless x64 is on.

    Raises:
        DTypeError: the file holds raw bytes whose dtype it does not tell.  OSError: the file cannot
        be read.

    Example:
        >>> import io, numpy, numlift.numpy as np
        >>> file = io.BytesIO()
        >>> numpy.save(file, numpy.asarray([1.5, 2.5]))
        >>> _ = file.seek(0)
        >>> np.load(file)
        Array([1.5, 2.5], dtype=float32)
    """
    found = np.load(
        file,
        mmap_mode,
        allow_pickle,
        fix_imports,
        encoding,
        max_header_size=max_header_size,  # type: ignore[arg-type, call-overload]
    )
    if isinstance(found, np.lib.npyio.NpzFile):
        return Archive(found)
    return restored(found, file)


@explains
def savetxt(
    fname: Any,
    X: Any,
    fmt: Any = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    """Write an array with one or two axes as text, one row a line.

    Args:
        fname: path (``.gz`` is compressed) or open file.
        X: array (m,) or (m, n); its values must be known.
        fmt: how to print a number, such as ``"%.3f"``, or a sequence of these, one a column.
        delimiter: text between the numbers of a line.
        newline: text after each line.
        header: text at the beginning of the file.
        footer: text at its end.
        comments: text before every line of header and footer.
        encoding: encoding of the file.

    Returns:
        None.

    Raises:
        TracerArrayConversionError: `X` is traced.  ValueArgumentError: more than two axes.

    Example:
        >>> import io, numlift.numpy as np
        >>> file = io.StringIO()
        >>> np.savetxt(file, np.asarray([[1.0, 2.0], [3.0, 4.0]]), fmt="%.1f", delimiter=",")
        >>> print(file.getvalue())
        1.0,2.0
        3.0,4.0
    """
    values = np.asarray(values_of(X, "savetxt"))
    np.savetxt(fname, values, fmt, delimiter, newline, header, footer, comments, encoding)


@explains
def loadtxt(
    fname: Any,
    dtype: Any = float,
    comments: Any = "#",
    delimiter: str | None = None,
    converters: Any = None,
    skiprows: int = 0,
    usecols: Any = None,
    unpack: bool = False,
    ndmin: int = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    like: None = None,
) -> Any:
    """An array from lines of numbers in a text file, which is read once, now.

    Args:
        fname: path, open file, or iterable of lines.
        dtype: dtype of all numbers.
        comments: text, or sequence of texts, that begins a comment.
        delimiter: character between the numbers of a line; None is white space.
        converters: function of a text, or dict from columns to functions, that gives the number.
        skiprows: lines to skip first.
        usecols: column or columns to read.
        unpack: give the columns as rows, so that ``x, y = loadtxt(...)`` works.
        ndmin: least number of axes, 0, 1 or 2.
        encoding: encoding of the file.
        max_rows: greatest number of lines to read.
        quotechar: character around fields that hold delimiters.
        like: must be None.

    Returns:
        Array (lines, columns), without axes of length 1 unless `ndmin` asks for them. 64-bit dtypes
        become 32 bits wide after reading, unless x64 is on.

    Raises:
        ValueArgumentError: a text is no number, or lines differ in length.
        OSError: the file cannot be read.

    Differences from NumPy: one dtype for all columns, because there are no records.

    Example:
        >>> import io, numlift.numpy as np
        >>> np.loadtxt(io.StringIO("1 2  # first\\n3 4"), dtype=int)
        Array([[1, 2],
               [3, 4]], dtype=int32)
    """
    found = np.loadtxt(
        fname, np.dtype(dtype), comments, delimiter, converters, skiprows, usecols, False, ndmin,  # type: ignore[arg-type]
        encoding, max_rows, quotechar=quotechar,
    )  # fmt: skip
    return asarray(found.T if unpack else found, like=like)


@explains
def genfromtxt(fname: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
    """An array from lines of numbers in a text file of which some may be missing.

    Args:
        fname: path, open file, or iterable of lines.
        dtype: dtype of all numbers.
        *args: further arguments of `numpy.genfromtxt`, in its order.
        **kwargs: the same by name: `delimiter`, `filling_values`, `usecols`, ...

    Returns:
        Array (lines, columns), without axes of length 1. Missing numbers are nan, or what
        `filling_values` says. 64-bit dtypes become 32 bits wide after reading, unless x64 is on.

    Raises:
        ValueArgumentError: lines differ in length.  OSError: the file cannot be read.

    Differences from NumPy: one dtype for all columns (no names, no records).

    Example:
        >>> import numlift.numpy as np
        >>> np.genfromtxt(["1,,3"], delimiter=",")
        Array([ 1., nan,  3.], dtype=float32)
    """
    return asarray(np.genfromtxt(fname, np.dtype(dtype), *args, **kwargs))


@explains
def fromregex(file: Any, regexp: Any, dtype: Any, encoding: str | None = None) -> Any:
    """Columns of numbers from a text, found by a regular expression.

    Args:
        file: path or open file.
        regexp: pattern (text or compiled) with one group a field.
        dtype: structured dtype: a list of pairs (name, dtype), one a group.
        encoding: encoding of the file.

    Returns:
        Dict from the names of the fields to arrays (matches,).

    Raises:
        ArgumentError: `dtype` is not structured.  OSError: the file cannot be read.

    Differences from NumPy: there are no records here, hence the dict; fields must be numbers.

    Example:
        >>> import io, numlift.numpy as np
        >>> text = io.StringIO("1312 foo; 1534 bar")
        >>> np.fromregex(text, r"(\\d+) ...", [("num", int)])["num"]
        Array([1312, 1534], dtype=int32)
    """
    found = np.fromregex(file, regexp, dtype, encoding)
    return {name: asarray(found[name]) for name in found.dtype.names or ()}


__all__ = [
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromregex",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]
