"""Typed random keys: making, splitting, folding, and their words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import config, errors
from ..core.dtypes import KeyDType
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType
from ..flags import prng_impls
from ..lax.arguments import static_ints
from ..ops.random import (
    RandomClone,
    RandomFoldIn,
    RandomSeed,
    RandomSplit,
    RandomUnwrap,
    RandomWrap,
)
from ..structural.arith import add, convert

_U32 = np.dtype(np.uint32)
_ALIASES = {"threefry": "threefry2x32", "fry": "threefry2x32", "urbg": "unsafe_rbg"}
_unwrap, _fold_in, _clone = RandomUnwrap.of(), RandomFoldIn.of(), RandomClone.of()


def key_dtype(impl_spec: Any = None) -> KeyDType:
    """The dtype of keys of a generator.

    Args:
        impl_spec: None (the flag ``default_prng_impl``), a name such as ``"threefry2x32"``,
            ``"rbg"`` or ``"unsafe_rbg"``, or a key dtype.

    Returns:
        A `KeyDType`, which arrays of such keys have as their dtype.

    Raises:
        ValueArgumentError: no such generator.

    Example:
        >>> from numlift.random import key_dtype
        >>> key_dtype("rbg")
        key<rbg>
    """
    if impl_spec is None:
        impl_spec = config.current().default_prng_impl
    if isinstance(impl_spec, KeyDType):
        return impl_spec
    name = _ALIASES.get(impl_spec, impl_spec) if isinstance(impl_spec, str) else impl_spec
    if name not in prng_impls:
        raise errors.ValueArgumentError(
            errors.explain(
                "random.key", f"{impl_spec!r} is not a generator", {"impl": impl_spec},
                try_="impl=" + " or ".join(repr(n) for n in sorted(prng_impls)),
            )
        )  # fmt: skip
    return KeyDType(name)


def _impl_of(impl: Any, dtype: Any) -> str:
    if dtype is not None:
        if impl is not None:
            raise errors.ArgumentError(
                errors.explain("random.key", "give impl or dtype, not both",
                               {"impl": impl, "dtype": dtype}, try_="leave one out")
            )  # fmt: skip
        impl = dtype
    return key_dtype(impl).impl


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """A typed random key from an integer seed.

    Args:
        seed: an int of at most 64 bits, or an integer array of shape (). Without ``enable_x64``
            only the low 32 bits count.
        impl: generator, see `key_dtype`.
        dtype: a key dtype, instead of ``impl``.

    Returns:
        A key: an array of shape () and dtype ``key<fry>``. Use each key once; `split` makes more.

    Raises:
        DTypeError: the seed is no integer.
        ShapeError: the seed is no scalar.

    Example:
        >>> from numlift.random import key
        >>> key(0).dtype
        key<fry>
    """
    return _new_key("random.key", seed, _impl_of(impl, dtype))


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:  # noqa: N802  (public name of the field)
    """A raw random key from an integer seed: its words, uint32[2] for the default generator.

    New code should use `key`. With the flag ``enable_custom_prng`` it is the same as `key`.

    Args:
        seed: integer, or an array of rank 0 that holds one.
        impl: generator, see `key_dtype`.

    Returns:
        Array uint32 of the words: uint32[2] for threefry2x32, uint32[4] for rbg.

    Example:
        >>> from numlift.random import PRNGKey
        >>> PRNGKey(0).shape
        (2,)
    """
    made = _new_key("random.PRNGKey", seed, _impl_of(impl, None))
    return made if config.current().enable_custom_prng else apply(_unwrap, made)


def _new_key(function: str, seed: Any, impl: str) -> Any:
    x = _seed_value(function, seed)
    offset = config.current().random_seed_offset
    if offset:
        t = type_of(x)
        limit = 64 if t.dtype.itemsize == 8 else 32
        x = apply(add, x, np.asarray(offset % 2**limit, f"u{limit // 8}").astype(t.dtype)[()])
    return apply(RandomSeed.of(impl), x)


def _seed_value(function: str, seed: Any) -> Any:
    """The seed as an integer of 32 or 64 bits."""
    wide = config.current().enable_x64
    if isinstance(seed, (int, np.integer)) or _is_small_integer(seed):
        if isinstance(seed, (np.integer, np.ndarray)):
            number, limit = int(seed), 8 * seed.dtype.itemsize
            if limit < 64:
                return np.uint32(number % 2**32)
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise errors.ValueArgumentError(
                errors.explain(function, "the seed must fit 64 bits", {"seed": seed},
                               try_=f"{function}(seed % 2**63)")
            )  # fmt: skip
        return np.uint64(number % 2**64) if wide else np.uint32(number % 2**32)
    t = type_of(seed)
    if t.kind not in "biu":
        raise errors.DTypeError(
            errors.explain(function, f"the seed must be an integer, not {t.dtype}", {"seed": t},
                           try_=f"{function}(0)")
        )  # fmt: skip
    if t.ndim:
        raise _not_scalar(function, "the seed", t)
    return seed if t.kind != "b" and t.dtype.itemsize >= 4 else convert(seed, _U32)


def _is_small_integer(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in "iu"


def _not_scalar(function: str, what: str, t: ArrayType) -> errors.ShapeError:
    return errors.ShapeError(
        errors.explain(
            function, f"{what} must be a scalar, but it has shape {t.shape}", {what: t},
            try_=f"nl.vmap({function}) for a batch",
        )
    )  # fmt: skip


def check_keys(function: str, keys: Any) -> tuple[Any, bool]:
    """Typed keys, and whether they were given as raw words.

    Raises:
        DTypeError: not keys.
    """
    if isinstance(keys, Value) and keys.type.kind == "k":
        return keys, False
    t = type_of(keys)
    dtype = key_dtype()
    n = len(dtype.key_shape)
    if t.dtype == _U32 and t.ndim >= n and t.shape[t.ndim - n :] == dtype.key_shape:
        return apply(RandomWrap.of(dtype.impl), keys), True
    raise errors.DTypeError(
        errors.explain(
            function,
            "the first argument must be a random key (or raw words of one, uint32"
            f"[{','.join(map(str, dtype.key_shape))}])",
            {"key": t},
            try_="key = nl.random.key(0)",
        )
    )


def check_key(function: str, key: Any) -> tuple[Any, bool]:
    """A single typed key, and whether it was given as raw words.

    Raises:
        DTypeError: not a key.  ShapeError: an array of keys.
    """
    typed, raw = check_keys(function, key)
    t = type_of(typed)
    if t.ndim:
        raise errors.ShapeError(
            errors.explain(
                function, f"takes one key, but was given keys of shape {t.shape}", {"key": t},
                try_=f"nl.vmap(lambda k: nl.{function}(k, ...))(keys), or keys[0]",
            )
        )  # fmt: skip
    return typed, raw


def consumed(function: str, typed: Any) -> Any:
    """A key that a sampler uses up, where the sampler itself only folds numbers into it."""
    return apply(RandomClone.of(function), typed) if config.current().debug_key_reuse else typed


def as_given(keys: Any, raw: bool) -> Any:
    """Keys in the form in which the caller gave theirs."""
    return apply(_unwrap, keys) if raw else keys


def split(key: Any, num: Any = 2) -> Any:
    """Independent new keys from a key.

    Args:
        key: a key, which must not be used for anything else.
        num: how many, or the shape of the array of new keys.

    Returns:
        Keys of shape ``(num,)``, or of shape ``num``.

    Raises:
        ShapeError: `num` is negative.

    Example:
        >>> from numlift.random import key, split
        >>> split(key(0), 3).shape
        (3,)
    """
    typed, raw = check_key("random.split", key)
    shape = static_ints("random.split", "num", num)
    if any(n < 0 for n in shape):
        raise errors.ShapeError(
            errors.explain("random.split", "num must not be negative", {"num": num},
                           try_="random.split(key, 2)")
        )  # fmt: skip
    return as_given(
        apply(RandomSplit.of(shape, config.current().threefry_partitionable), typed), raw
    )


def fold_in(key: Any, data: Any) -> Any:
    """A new key from a key and an integer, such as a step number.

    Args:
        key: a key.
        data: an int of at least 0 and below 2**32, or an integer array of shape ().

    Returns:
        A key; different data give independent keys.

    Raises:
        ValueArgumentError: a Python int out of range.
        DTypeError: `data` is no integer.

    Example:
        >>> from numlift.random import fold_in, key
        >>> fold_in(key(0), 1).shape
        ()
    """
    function = "random.fold_in"
    typed, raw = check_key(function, key)
    if isinstance(data, int):
        if not 0 <= data < 2**32:
            raise errors.ValueArgumentError(
                errors.explain(function, "data must be at least 0 and below 2**32", {"data": data},
                               try_="random.fold_in(key, data % 2**32)")
            )  # fmt: skip
        word: Any = np.uint32(data)
    else:
        t = type_of(data)
        if t.kind not in "biu":
            raise errors.DTypeError(
                errors.explain(function, f"data must be an integer, not {t.dtype}", {"data": t},
                               try_="random.fold_in(key, int(data))")
            )  # fmt: skip
        if t.ndim:
            raise _not_scalar(function, "data", t)
        word = convert(data, _U32)
    return as_given(apply(_fold_in, typed, word), raw)


def key_data(keys: Any) -> Any:
    """The words of keys, uint32 with one more axis.

    Args:
        keys: a key or an array of keys, typed or raw.

    Returns:
        Array uint32 of the shape of `keys` and one more axis, for the words of a key.

    Example:
        >>> from numlift.random import key, key_data
        >>> key_data(key(7)).tolist()
        [0, 7]
    """
    typed, raw = check_keys("random.key_data", keys)
    return keys if raw else apply(_unwrap, typed)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """Typed keys from their words, the inverse of `key_data`.

    Args:
        key_bits_array: uint32 array whose last axis holds the words of a key.
        impl: generator, see `key_dtype`.
        dtype: a key dtype, instead of ``impl``.

    Returns:
        Array of keys, whose shape is that of `key_bits_array` without its last axis.

    Raises:
        ShapeError: not such an array.

    Example:
        >>> import numpy as np
        >>> from numlift.random import wrap_key_data
        >>> wrap_key_data(np.zeros((3, 2), np.uint32)).shape
        (3,)
    """
    return apply(RandomWrap.of(_impl_of(impl, dtype)), key_bits_array)


def key_impl(keys: Any) -> str:
    """Name of the generator of keys, fit for ``key(seed, impl=...)``.

    Args:
        keys: a key or an array of keys, typed or raw.

    Returns:
        The name, such as ``"threefry2x32"``.

    Example:
        >>> from numlift.random import key, key_impl
        >>> key_impl(key(0))
        'threefry2x32'
    """
    return type_of(check_keys("random.key_impl", keys)[0]).dtype.impl


def clone(key: Any) -> Any:
    """The same key, marked as one that may be used again on purpose.

    Only the flag ``debug_key_reuse`` tells a clone from the key itself.

    Args:
        key: a key or an array of keys.

    Returns:
        Array of the shape and dtype of `key`, with the same words.

    Example:
        >>> from numlift.random import clone, key, key_data
        >>> bool((key_data(clone(key(3))) == key_data(key(3))).all())
        True
    """
    typed, raw = check_keys("random.clone", key)
    return key if raw or not config.current().debug_key_reuse else apply(_clone, typed)
