"""Why names and arguments of NumPy are left out of `numlift.numpy`."""

from __future__ import annotations

from numlift.numpy.left_out import LEFT_OUT, PLATFORM

_LIKE = "the third argument is `shape`, as in JAX"
_HISTOGRAM = "`weights` comes before `density`, as in JAX"
_JOIN = "`dtype` converts, as in JAX, unless `casting` forbids it"
_MODE = "None and its default are those of JAX: indices are not known in a trace, so none can raise"

ARGUMENTS: dict[str, dict[str, str]] = {
    "numpy": {
        **dict.fromkeys(("empty_like", "full_like", "ones_like", "zeros_like"), _LIKE),
        **dict.fromkeys(("histogram", "histogram2d", "histogramdd"), _HISTOGRAM),
        **dict.fromkeys(("concat", "hstack", "row_stack", "stack", "vstack"), _JOIN),
        "concatenate": _JOIN + "; the third argument is `dtype`",
        "einsum_path": "an argument that NumPy keeps for itself",
        **dict.fromkeys(("put", "take"), _MODE),
    },
    "numpy.linalg": {
        "matrix_rank": "the arguments are `M` and the relative bound `rtol`, as in JAX",
        "pinv": "the second argument is `rtol`, which means the same",
    },
    "numpy.ndarray": {
        "astype": "the second argument is `copy`, as in JAX; copies of immutable values show in "
        "nothing but memory, so none is made unless asked for",
        "take": _MODE,
    },
}
"""Arguments that a caller of NumPy could miss, and why."""

__all__ = ["ARGUMENTS", "LEFT_OUT", "PLATFORM"]
