"""Scopes that set one flag for a `with` block or a decorated function, in this thread or task.

A scope only wins over the global value of its flag (`config.update`, environment variable) while it
is open; scopes nest, and one may be entered again. `config.replace` sets several flags at once.
"""

from __future__ import annotations

from typing import Any

from .config import replace


def enable_x64(new_val: bool = True) -> replace:
    """Scope with 64-bit dtypes available (or not).

    Args:
        new_val: value of the flag `enable_x64` inside.

    Returns:
        A scope for `with`, or a decorator. Inside, Python floats and `numlift.numpy.arange(3.0)`
        are float64, integers int64; without it, dtypes of 64 bits become their halves.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> with nl.enable_x64():
        ...     x = nl.numpy.arange(3.0)
        >>> x.dtype, nl.numpy.arange(3.0).dtype
        (dtype('float64'), dtype('float32'))
    """
    return replace(enable_x64=new_val)


def disable_jit(disable: bool = True) -> replace:
    """Scope in which jitted functions run op by op, so that prints and debuggers see values.

    Args:
        disable: value of the flag `disable_jit` inside.

    Returns:
        A scope for `with`, or a decorator. Control flow (`lax.scan`, `lax.cond` ...) runs as Python
        loops and branches, too.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> f = nl.jit(lambda x: x if print("x =", x) else x + 1)
        >>> with nl.disable_jit():
        ...     y = f(1.0)
        x = 1.0
    """
    return replace(disable_jit=disable)


def default_matmul_precision(precision: Any) -> replace:
    """Scope with this precision for matrix products and convolutions that name none.

    Args:
        precision: value of the flag `default_matmul_precision` inside: ``"default"``, ``"high"``,
            ``"highest"``, a format such as ``"bfloat16"``, ``"tensorfloat32"`` or ``"float32"``, a
            `lax.Precision`, the name of a `lax.DotAlgorithmPreset`, or None for the backend's
            choice.

    Returns:
        A scope for `with`, or a decorator.

    Raises:
        ValueArgumentError: no such precision.

    Example:
        >>> import numlift as nl
        >>> with nl.default_matmul_precision("highest"):
        ...     graph = nl.make_jaxpr(lambda a: a @ a)(nl.numpy.eye(2))
        >>> "Precision.HIGHEST" in str(graph)
        True
    """
    return replace(default_matmul_precision=precision)


def numpy_rank_promotion(mode: str) -> replace:
    """Scope in which broadcasting over new dimensions is ``"allow"``, ``"warn"`` or ``"raise"``.

    Numbers and arrays of rank 0 always broadcast. The warning points at the user's line. Unlike in
    JAX it also concerns `where`.

    Args:
        mode: value of the flag `numpy_rank_promotion` inside.

    Returns:
        A scope for `with`, or a decorator.

    Raises:
        ValueArgumentError: no such mode.

    Example:
        >>> import numlift as nl
        >>> with nl.numpy_rank_promotion("raise"):
        ...     nl.numpy.ones(3) + nl.numpy.ones((2, 3))
        Traceback (most recent call last):
        ...
        numlift.errors.ShapeError: add: operands of different ranks are broadcast, ...
    """
    return replace(numpy_rank_promotion=mode)


def numpy_dtype_promotion(mode: str) -> replace:
    """Scope with ``"standard"``, ``"strict"`` or ``"numpy"`` dtype promotion.

    ``"standard"`` is the promotion of JAX: int64 with float32 is float32. ``"strict"`` refuses
    operands of two dtypes, except for Python numbers. ``"numpy"`` is the promotion of NumPy 2:
    int32 with float32 is float64, and universal functions compute in the dtypes that NumPy's do
    (`sin` of int16 is float32); together with `enable_x64` the dtypes are NumPy's. `lift` uses it.

    Args:
        mode: value of the flag `numpy_dtype_promotion` inside.

    Returns:
        A scope for `with`, or a decorator.

    Raises:
        ValueArgumentError: no such mode.

    Example:
        >>> import numlift as nl
        >>> import numpy as np
        >>> with nl.enable_x64(), nl.numpy_dtype_promotion("numpy"):
        ...     print((np.int32([1]) + nl.numpy.float32([1])).dtype)
        float64
    """
    return replace(numpy_dtype_promotion=mode)


def debug_nans(new_val: bool = True) -> replace:
    """Scope that raises where a NaN first appears.

    Args:
        new_val: value of the flag `debug_nans` inside.

    Returns:
        A scope for `with`, or a decorator. A `FloatingPointError` names the operation, also one
        inside a compiled program, and the line that called it.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> with nl.debug_nans():
        ...     nl.numpy.log(-1.0)
        Traceback (most recent call last):
        ...
        FloatingPointError: log: log made the first NaN...
    """
    return replace(debug_nans=new_val)


def debug_infs(new_val: bool = True) -> replace:
    """Scope that raises where an infinity first appears.

    Args:
        new_val: value of the flag `debug_infs` inside.

    Returns:
        A scope for `with`, or a decorator. It raises a `FloatingPointError`, as `debug_nans` does.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> with nl.debug_infs():
        ...     1 / nl.numpy.zeros(2)
        Traceback (most recent call last):
        ...
        FloatingPointError: div: div made the first infinity...
    """
    return replace(debug_infs=new_val)


def debug_key_reuse(new_val: bool = True) -> replace:
    """Scope that raises `KeyReuseError` where a typed random key is consumed a second time.

    The error names both lines. `split` and samplers consume a key; `fold_in` and `key_data` do
    not; `random.clone` gives one that may be used again. Elements of key arrays are followed
    through slices and other moves, and through compiled functions with their loops and branches.

    Args:
        new_val: value of the flag `debug_key_reuse` inside.

    Returns:
        A scope for `with`, or a decorator.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> key = nl.random.key(0)
        >>> with nl.debug_key_reuse():
        ...     x = nl.random.normal(key)
        ...     y = nl.random.uniform(key)
        Traceback (most recent call last):
        ...
        numlift.errors.KeyReuseError: uniform: a random key was consumed twice...
    """
    return replace(debug_key_reuse=new_val)


def check_tracer_leaks(new_val: bool = True) -> replace:
    """Scope that raises if a traced value outlives its trace.

    The error names the line that made each such value and what holds it. Traces are much slower in
    this scope: the garbage collector is asked at the end of each.

    Args:
        new_val: value of the flag `check_tracer_leaks` inside.

    Returns:
        A scope for `with`, or a decorator. A leak raises an `UnexpectedTracerError`.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> kept = []
        >>> with nl.checking_leaks():
        ...     nl.jit(lambda x: kept.append(x))(1.0)
        Traceback (most recent call last):
        ...
        numlift.errors.UnexpectedTracerError: check_tracer_leaks(<lambda>): traced values ...
    """
    return replace(check_tracer_leaks=new_val)


checking_leaks = check_tracer_leaks


def enable_checks(new_val: bool = True) -> replace:
    """Scope in which every graph is verified when it is made, by tracing or by a pass.

    Args:
        new_val: value of the flag `enable_checks` inside.

    Returns:
        A scope for `with`, or a decorator. A malformed graph, a fault of Numlift or of a rule that
        you wrote, raises a `GraphVerifyError`.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> with nl.enable_checks():
        ...     print(nl.jit(nl.grad(nl.numpy.sin))(0.0))
        1.0
    """
    return replace(enable_checks=new_val)


def default_device(device: Any) -> replace:
    """Scope whose new arrays and computations go to this device (or platform name).

    Args:
        device: value of the flag `default_device` inside: one of `devices()`, a platform such as
            ``"cpu"`` (its first device), or None for the first device of the default platform.

    Returns:
        A scope for `with`, or a decorator. Arrays committed to a device (`device_put(x, device)`)
        stay there, and computations with them run there.

    Raises:
        ValueArgumentError: neither a device nor the name of a platform.

    Example:
        >>> import numlift as nl
        >>> with nl.default_device(nl.devices()[-1]):
        ...     x = nl.numpy.ones(3)
        >>> x.devices() == {nl.devices()[-1]}
        True
    """
    return replace(default_device=device)


def default_prng_impl(impl: str) -> replace:
    """Scope with this generator for new random keys: threefry2x32, rbg or unsafe_rbg.

    Args:
        impl: value of the flag `default_prng_impl` inside; also a generator that you registered.

    Returns:
        A scope for `with`, or a decorator. Keys that exist keep their generator.

    Raises:
        ValueArgumentError: no such generator.

    Example:
        >>> import numlift as nl
        >>> with nl.default_prng_impl("rbg"):
        ...     key = nl.random.key(0)
        >>> nl.random.key_impl(key)
        'rbg'
    """
    return replace(default_prng_impl=impl)


def threefry_partitionable(new_val: bool = True) -> replace:
    """Scope with (or without) random bits that do not depend on how an array is sharded.

    Args:
        new_val: value of the flag `threefry_partitionable` inside; True by default.

    Returns:
        A scope for `with`, or a decorator. The two ways of counting give other numbers for one key.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> draw = lambda: nl.random.bits(nl.random.key(0), (4,))
        >>> with nl.threefry_partitionable(False):
        ...     old = draw()
        >>> bool((old == draw()).all())
        False
    """
    return replace(threefry_partitionable=new_val)


def enable_custom_prng(new_val: bool = True) -> replace:
    """Scope in which `random.PRNGKey` makes typed keys.

    Args:
        new_val: value of the flag `enable_custom_prng` inside.

    Returns:
        A scope for `with`, or a decorator. Outside, `random.PRNGKey` makes raw uint32[2] keys.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> with nl.enable_custom_prng():
        ...     key = nl.random.PRNGKey(0)
        >>> key.dtype, nl.random.PRNGKey(0).dtype
        (key<fry>, dtype('uint32'))
    """
    return replace(enable_custom_prng=new_val)


def softmax_custom_jvp(new_val: bool = True) -> replace:
    """Scope with (or without) softmax's own derivative rule.

    Args:
        new_val: value of the flag `softmax_custom_jvp` inside; True by default.

    Returns:
        A scope for `with`, or a decorator. The rule ``y * (t - sum(y * t))`` needs the result only;
        without it the steps of softmax are differentiated one by one, to the same numbers.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import numlift as nl
        >>> with nl.softmax_custom_jvp(False):
        ...     print(nl.grad(lambda x: nl.nn.softmax(x)[0])(nl.numpy.zeros(2)))
        [ 0.25 -0.25]
    """
    return replace(softmax_custom_jvp=new_val)


def log_compiles(new_val: bool = True) -> replace:
    """Scope that logs every compilation: name of the function, seconds, whether found in a cache.

    Args:
        new_val: value of the flag `log_compiles` inside.

    Returns:
        A scope for `with`, or a decorator. Lines go to the logger ``numlift`` at level WARNING.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import logging
        >>> import numlift as nl
        >>> class Lines(logging.Handler):
        ...     def emit(self, record):
        ...         print("f42" in record.getMessage())
        >>> def f42(x):
        ...     return x * 42
        >>> lines, log = Lines(), logging.getLogger("numlift")
        >>> log.addHandler(lines)
        >>> with nl.log_compiles():
        ...     y = nl.jit(f42)(1.0)
        True
        >>> log.removeHandler(lines)
    """
    return replace(log_compiles=new_val)


def explain_cache_misses(new_val: bool = True) -> replace:
    """Scope that warns at each retrace of a jitted function, and says what changed.

    Args:
        new_val: value of the flag `explain_cache_misses` inside.

    Returns:
        A scope for `with`, or a decorator. The warning is a `RetraceWarning`; `stats()` of a jitted
        function tells the same without it.

    Raises:
        ValueArgumentError: neither True nor False.

    Example:
        >>> import warnings
        >>> import numlift as nl
        >>> f = nl.jit(lambda x: x + 1)
        >>> _ = f(1.0)
        >>> with nl.explain_cache_misses(), warnings.catch_warnings(record=True) as seen:
        ...     warnings.simplefilter("always")
        ...     y = f(nl.numpy.ones(2))
        >>> str(seen[0].message).splitlines()[1]
        '  x: ~float32[] -> float32[2]'
    """
    return replace(explain_cache_misses=new_val)


def transfer_guard(level: str) -> replace:
    """Scope that allows, logs or disallows implicit transfers in all three directions.

    Args:
        level: ``"allow"``, ``"log"``, ``"disallow"``, ``"log_explicit"`` or
            ``"disallow_explicit"``; the last two concern `device_put` and `device_get`, too. It is
            set for the flags `transfer_guard_host_to_device`, `_device_to_device` and
            `_device_to_host`.

    Returns:
        A scope for `with`, or a decorator. A transfer that is not allowed raises a `DeviceError`.

    Raises:
        ValueArgumentError: no such level.

    Example:
        >>> import numlift as nl
        >>> import numpy as np
        >>> with nl.transfer_guard("disallow"):
        ...     x = nl.device_put(np.ones(3))  # asked for: fine
        ...     y = nl.numpy.sin(np.ones(3))
        Traceback (most recent call last):
        ...
        numlift.errors.DeviceError: sin: ...transfer host to device...
    """
    return replace(transfer_guard=level)


def transfer_guard_host_to_device(level: str) -> replace:
    """Scope that allows, logs or disallows implicit transfers from host to device.

    Args:
        level: one of the levels of `transfer_guard`.

    Returns:
        A scope for `with`, or a decorator. NumPy arrays as arguments are such transfers.

    Raises:
        ValueArgumentError: no such level.

    Example:
        >>> import numlift as nl
        >>> import numpy as np
        >>> with nl.transfer_guard_host_to_device("disallow_explicit"):
        ...     nl.device_put(np.ones(3))
        Traceback (most recent call last):
        ...
        numlift.errors.DeviceError: ...
    """
    return replace(transfer_guard_host_to_device=level)


def transfer_guard_device_to_device(level: str) -> replace:
    """Scope that allows, logs or disallows implicit transfers between devices.

    Args:
        level: one of the levels of `transfer_guard`.

    Returns:
        A scope for `with`, or a decorator. A computation that moves an array that is not committed
        to a device is such a transfer.

    Raises:
        ValueArgumentError: no such level.

    Example:
        >>> import numlift as nl
        >>> with nl.transfer_guard_device_to_device("disallow"):
        ...     print(nl.numpy.ones(3) + 1)  # stays on its device
        [2. 2. 2.]
    """
    return replace(transfer_guard_device_to_device=level)


def transfer_guard_device_to_host(level: str) -> replace:
    """Scope that allows, logs or disallows implicit transfers from device to host.

    Args:
        level: one of the levels of `transfer_guard`.

    Returns:
        A scope for `with`, or a decorator. Reading an array (`print`, `float`, `numpy.asarray`) is
        such a transfer, but not on CPU, where arrays are in the memory of the host already.

    Raises:
        ValueArgumentError: no such level.

    Example:
        >>> import numlift as nl
        >>> with nl.transfer_guard_device_to_host("log"):
        ...     x = nl.numpy.ones(3) * 2
        >>> print(x)
        [2. 2. 2.]
    """
    return replace(transfer_guard_device_to_host=level)


__all__ = [
    "check_tracer_leaks",
    "checking_leaks",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "disable_jit",
    "enable_checks",
    "enable_custom_prng",
    "enable_x64",
    "explain_cache_misses",
    "log_compiles",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "softmax_custom_jvp",
    "threefry_partitionable",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
]


def __dir__() -> list[str]:
    return sorted(__all__)
