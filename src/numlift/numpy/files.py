"""Arrays from memory, text and iterators; arrays in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..runtime.dlpack import from_dlpack as import_dlpack
from .creation import asarray


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
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
    return asarray(np.frombuffer(buffer, np.dtype(dtype), count, offset))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
    """An array from numbers in a text.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromstring("1 2 3", dtype=int, sep=" ")
        Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, np.dtype(dtype), count, sep=sep))


def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0) -> Any:
    """An array from a file, read once, now; arguments as for `numpy.fromfile`."""
    return asarray(np.fromfile(file, np.dtype(dtype), count, sep, offset))


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    """An array from an iterator of numbers, read once, now.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromiter((i * i for i in range(3)), int)
        Array([0, 1, 4], dtype=int32)
    """
    return asarray(np.fromiter(iter, np.dtype(dtype), count))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of another library by DLPack, without a copy where that is possible.

    Args:
        x: object with ``__dlpack__``.
        device: device of the result.
        copy: True copies; False raises if a copy would be needed.
    """
    return import_dlpack(x, device=device, copy=copy)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's ``.npy`` format.

    Args:
        file: path or open binary file.
        arr: array; bfloat16 and other small types are stored as raw bytes, see `load`.
        allow_pickle: as for `numpy.save`.
    """
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to one ``.npz`` file; arguments as for `numpy.savez`."""
    np.savez(
        file,
        *map(np.asarray, args),
        allow_pickle=allow_pickle,
        **{name: np.asarray(x) for name, x in kwds.items()},
    )


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Read what `save` or `savez` wrote; arguments as for `numpy.load`.

    Returns:
        An array for ``.npy``; for ``.npz`` NumPy's lazy mapping from names to NumPy arrays. Raw
        bytes (bfloat16 was saved) come back as NumPy's void type: ``.view("bfloat16")``.
    """
    found = np.load(file, *args, **kwargs)
    if not isinstance(found, np.ndarray):
        return found
    if found.dtype.kind == "V":
        raise errors.DTypeError(
            errors.explain(
                "load",
                f"the file holds raw elements of {found.dtype.itemsize} bytes",
                {"file": str(file)},
                try_="np.asarray(numpy.load(file).view('bfloat16')), with the dtype that was saved",
            )
        )
    return asarray(found)


__all__ = [
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromstring",
    "load",
    "save",
    "savez",
]
