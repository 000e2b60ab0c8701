"""XLA's own generator of random bits."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import dtype_of, user_dtype
from ..core.tracing import apply
from ..core.types import dtype_kind
from ..ops.random import RngBitGenerator, RngUniform
from .arguments import static_ints
from .operands import numbers


class RandomAlgorithm(enum.IntEnum):
    """Algorithms of `rng_bit_generator`; the default depends on the platform."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


_HLO_NAMES = {
    RandomAlgorithm.RNG_DEFAULT: "DEFAULT",
    RandomAlgorithm.RNG_THREE_FRY: "THREE_FRY",
    RandomAlgorithm.RNG_PHILOX: "PHILOX",
}


def rng_bit_generator(
    key: Any,
    shape: Any,
    dtype: Any = np.uint32,
    algorithm: Any = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Any, Any]:
    """Random bits, and the state to go on from, straight from XLA.

    Args:
        key: state, uint32[4] or uint64[2].
        shape: shape of the bits.
        dtype: unsigned integer dtype of the bits.
        algorithm: a `RandomAlgorithm` or its number. The default gives other numbers on other
            platforms.
        out_sharding: must be None: the bits of one state are made on one device.

    Returns:
        (new state, bits).

    Differences from JAX: a batch of states gives the same bits as a loop over them.

    Raises:
        ShapeError: the key has not the words of the algorithm.
        DTypeError: the key or `dtype` is no unsigned integer.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import rng_bit_generator
        >>> state, bits = rng_bit_generator(np.zeros(4, np.uint32), (3,))
        >>> state.shape, bits.shape
        ((4,), (3,))
    """
    name = "rng_bit_generator"
    dtype = user_dtype(dtype, name)
    if dtype_kind(dtype) != "u" or dtype.itemsize == 1 and "8" not in dtype.name:
        raise errors.DTypeError(
            errors.explain(name, f"dtype must be an unsigned integer, not {dtype}",
                           {"dtype": dtype}, try_="dtype='uint32'")
        )  # fmt: skip
    if out_sharding is not None:
        raise errors.ShardingError(
            errors.explain(name, "out_sharding is not supported", {"out_sharding": out_sharding},
                           try_="nl.reshard(bits, spec) afterwards, or random.bits")
        )  # fmt: skip
    if dtype_of(key) not in (np.dtype(np.uint32), np.dtype(np.uint64)):
        raise errors.DTypeError(
            errors.explain(name, "the key must be uint32[4] or uint64[2]", {"key": key},
                           try_="random.key_data(random.key(0, impl='rbg'))")
        )  # fmt: skip
    hlo = _HLO_NAMES[RandomAlgorithm(algorithm)]
    state, bits = apply(RngBitGenerator.of(static_ints(name, "shape", shape), dtype, hlo), key)
    return state, bits


def rng_uniform(a: Any, b: Any, shape: Any) -> Any:
    """Random numbers in [a, b) from the device's own hidden state: other ones at each call.

    Args:
        a, b: scalars of one dtype, floats or integers: the lowest number, and the end.
        shape: shape of the result.

    Returns:
        An array of this shape and of the dtype of `a`.

    Raises:
        ShapeError: `a` or `b` is no scalar.  DTypeError: their dtypes differ.

    No seed makes it repeatable, and programs that call it are not pure. Use `numlift.random`.

    Example:
        >>> from numlift.lax import rng_uniform
        >>> rng_uniform(0.0, 1.0, (3,)).shape
        (3,)
    """
    a, b = numbers("rng_uniform", a, b)
    return apply(RngUniform.of(static_ints("rng_uniform", "shape", shape)), a, b)


__all__ = ["RandomAlgorithm", "rng_bit_generator", "rng_uniform"]
