"""NumPy's names that are left out here, and why.

`docs/numpy_parity.md` lists them, and `numlift.numpy` says so to those who ask for one.
"""

from __future__ import annotations

from .. import errors

PLATFORM = frozenset(["float96", "float128", "complex192", "complex256"])
"""NumPy's names that exist on some platforms only: long doubles by their size."""

_DATES = "there are no dates: XLA has no such dtype"
_TEXT = "there is no text: XLA has no such dtype"
_LONG = "there are no long doubles: XLA has no such dtype"
_WRITES = "writes into its argument, and arrays are immutable: "
_RECORDS = "there are no records: a dict or dataclass of arrays is a pytree"
_MATRIX = "there are no matrices beside arrays with two axes"
_ITERATION = "iterates over memory, which immutable arrays do not show: `vmap`, `ndindex`"
_WARNINGS = "floating-point errors give NaN or infinity and no warnings; see `nl.debug_nans`"
_ITSELF = "about NumPy itself: `import numpy`"
_INTERNAL = "no part of NumPy's public interface"
_MEMORY = "about memory, which immutable arrays do not show"

LEFT_OUT: dict[str, dict[str, str]] = {
    "numpy": {
        **dict.fromkeys(("asmatrix", "bmat", "matrix"), _MATRIX),
        **dict.fromkeys(
            ("busday_count", "busday_offset", "busdaycalendar", "datetime64", "timedelta64")
            + ("datetime_as_string", "datetime_data", "is_busday", "isnat"),
            _DATES,
        ),
        **dict.fromkeys(("bytes_", "str_", "char", "strings"), _TEXT),
        **dict.fromkeys(("longdouble", "clongdouble"), _LONG),
        **dict.fromkeys(("copyto", "putmask"), _WRITES + "`where(mask, new, old)`"),
        **dict.fromkeys(("rec", "recarray", "record", "void"), _RECORDS),
        **dict.fromkeys(("flatiter", "nditer", "nested_iters"), _ITERATION),
        **dict.fromkeys(("errstate", "geterr", "seterr", "geterrcall", "seterrcall"), _WARNINGS),
        **dict.fromkeys(("getbufsize", "setbufsize"), _MEMORY),
        **dict.fromkeys(
            ("get_include", "info", "show_config", "show_runtime", "test", "testing", "ctypeslib")
            + ("sctypeDict", "typing"),
            _ITSELF,
        ),
        **dict.fromkeys(("core", "f2py", "lib", "dtypes"), _INTERNAL),
        "ma": "there are no masked arrays: `where=` of reductions, `where(mask, x, other)`",
        "memmap": "files are read once: `load(file, mmap_mode=...)` copies what it needs",
        "poly1d": "an object with coefficients that change: `polyval`, `polyadd`, `roots`, ...",
        "polynomial": "an own package of classes; `polyfit`, `polyval`, ... are here",
        "random": "hidden state cannot be traced: `numlift.random` has keys instead",
    },
    "numpy.linalg": {"test": _ITSELF},
    "numpy.fft": {"test": _ITSELF},
    "numpy.ndarray": {
        **dict.fromkeys(("base", "ctypes", "data", "flags", "strides", "setflags"), _MEMORY),
        "fill": _WRITES + "`full_like(x, value)`",
        "getfield": "there are no fields: `x.view(dtype)`",
        "partition": "sorts in place: `np.partition(x, kth)`",
        "put": _WRITES + "`x.at[indices].set(values)`",
        "resize": "changes its size in place: `np.resize(x, shape)`",
        "setfield": _WRITES + "`x.at[...].set(values)`",
    },
}
"""NumPy's namespaces and classes -> a name that is left out -> why."""


def missing(name: str) -> AttributeError:
    """The error for a name that `numlift.numpy` does not have.

    Args:
        name: what was asked for.
    """
    reason = LEFT_OUT["numpy"].get(name)
    if reason is None and name in PLATFORM:
        reason = _LONG
    return errors.missing_name("numlift.numpy", name, reason)


__all__: list[str] = []
