"""Arrays from memory, text and iterators; arrays in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import errors
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


def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: None = None
) -> Any:
    """An array from the bytes of a buffer. The bytes are copied.

    Args:
        buffer: bytes, bytearray, memoryview, ...
        dtype: how to read the bytes; the default `float` is 8 bytes long, as in NumPy.
        count: number of elements, -1 for all.
        offset: bytes to skip.

    Example:
        >>> import numlift.numpy as np
        >>> np.frombuffer(b"ab", dtype="uint8")
        Array([97, 98], dtype=uint8)
    """
    return asarray(
        _told("frombuffer", np.frombuffer, buffer, np.dtype(dtype), count, offset), like=like
    )


def fromstring(
    string: str, dtype: Any = float, count: int = -1, *, sep: str, like: None = None
) -> Any:
    """An array from numbers in a text.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromstring("1 2 3", dtype=int, sep=" ")
        Array([1, 2, 3], dtype=int32)
    """
    return asarray(
        _told("fromstring", np.fromstring, string, np.dtype(dtype), count, sep=sep), like=like
    )


def fromfile(
    file: Any,
    dtype: Any = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: None = None,
) -> Any:
    """An array from a file, read once, now; arguments as for `numpy.fromfile`."""
    return asarray(
        _told("fromfile", np.fromfile, file, np.dtype(dtype), count, sep, offset), like=like
    )


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: None = None) -> Any:
    """An array from an iterator of numbers, read once, now.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromiter((i * i for i in range(3)), int)
        Array([0, 1, 4], dtype=int32)
    """
    return asarray(_told("fromiter", np.fromiter, iter, np.dtype(dtype), count), like=like)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of another library by DLPack, without a copy where that is possible.

    Args:
        x: object with ``__dlpack__``.
        device: device of the result.
        copy: True copies; False raises if a copy would be needed.
    """
    return import_dlpack(x, device=device, copy=copy)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's ``.npy`` format; `load` reads every dtype back.

    Args:
        file: path or open binary file.
        arr: array. The format has no bfloat16: it is stored as raw elements of two bytes. Other
            small dtypes and PRNG keys are stored as records with one field of the dtype's name.
        allow_pickle: as for `numpy.save`.

    Example:
        >>> import io, numlift.numpy as np
        >>> file = io.BytesIO()
        >>> np.save(file, np.asarray([1, 2], "bfloat16"))
        >>> _ = file.seek(0)
        >>> np.load(file)
        Array([1, 2], dtype=bfloat16)
    """
    np.save(file, stored(arr, "save"), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to one ``.npz`` file; arguments as for `numpy.savez`."""
    np.savez(
        file,
        *[stored(x, "savez") for x in args],
        allow_pickle=allow_pickle,
        **{name: stored(x, "savez") for name, x in kwds.items()},
    )


def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to one compressed ``.npz`` file; see `numpy.savez_compressed`."""
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
    if dtype.isbuiltin == 1:
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


def load(
    file: Any,
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10000,
) -> Any:
    """Read what `save`, `savez` or `savez_compressed` wrote; arguments as for `numpy.load`.

    Returns:
        An array for ``.npy``; for ``.npz`` a mapping from names to arrays, which are read when
        they are asked for.

    Raises:
        DTypeError: the file holds raw bytes whose dtype it does not tell.
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
    """Write an array with one or two axes as text; arguments as for `numpy.savetxt`.

    Example:
        >>> import io, numlift.numpy as np
        >>> file = io.StringIO()
        >>> np.savetxt(file, np.asarray([1.0, 2.0]), fmt="%.1f")
        >>> file.getvalue()
        '1.0\\n2.0\\n'
    """
    values = np.asarray(values_of(X, "savetxt"))
    np.savetxt(fname, values, fmt, delimiter, newline, header, footer, comments, encoding)


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
    """An array from numbers in a text file; arguments as for `numpy.loadtxt`.

    Example:
        >>> import io, numlift.numpy as np
        >>> np.loadtxt(io.StringIO("1 2\\n3 4"), dtype=int)
        Array([[1, 2],
               [3, 4]], dtype=int32)
    """
    found = np.loadtxt(
        fname, np.dtype(dtype), comments, delimiter, converters, skiprows, usecols, False, ndmin,  # type: ignore[arg-type]
        encoding, max_rows, quotechar=quotechar,
    )  # fmt: skip
    return asarray(found.T if unpack else found, like=like)


def genfromtxt(fname: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
    """An array from numbers in a text file, with missing values; as `numpy.genfromtxt`.

    Differences from NumPy: one dtype for all columns (no names, no records).

    Example:
        >>> import numlift.numpy as np
        >>> np.genfromtxt(["1,,3"], delimiter=",")
        Array([ 1., nan,  3.], dtype=float32)
    """
    return asarray(np.genfromtxt(fname, np.dtype(dtype), *args, **kwargs))


def fromregex(file: Any, regexp: Any, dtype: Any, encoding: str | None = None) -> Any:
    """Columns of numbers from a text by a regular expression; as `numpy.fromregex`.

    Differences from NumPy: there are no records here, so the result is a dict from the names of
    the fields of `dtype` to arrays.

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
