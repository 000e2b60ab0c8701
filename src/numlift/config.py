"""Every flag of Numlift: what it means, its default, its environment variable, its scope.

Three kinds of flags:

* *state* flags change what is traced or compiled. They live in one interned `State`; every cache
  key contains `current()`.
* *watch* flags only observe or guard (logging, transfer guards). They live in one `Watch` and are
  in no cache key.
* *process* flags are plain values of the whole process (platforms, cache directory, log level).

State and watch flags have a global value, set by `config.update`, and can be overridden for the
current thread or task by a scope (module `scopes`): ``with enable_x64(): ...``.
The environment variable of a flag is ``NUMLIFT_`` and its name in capitals.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from .errors import DeviceError, ValueArgumentError
from .flags import flags

F = TypeVar("F", bound=Callable[..., Any])

_ALIASES = {
    "x64_enabled": "enable_x64",
    "platform_name": "platforms",
    "compilation_cache_max_size": "compilation_cache_max_bytes",
    "logging_level": "log_level",
}
_GUARD_NAMES = tuple(name for name in flags if name.startswith("transfer_guard_"))
_BACKEND_FLAGS = frozenset({"platforms", "num_cpu_devices"})
_STATE_NAMES = tuple(f.name for f in flags.values() if f.kind == "state")
_STATE_DEFAULTS = tuple((f.name, f.default) for f in flags.values() if f.kind == "state")
_WATCH_NAMES = tuple(f.name for f in flags.values() if f.kind == "watch")
_WATCH_SET = frozenset(_WATCH_NAMES)


class State:
    """Values of all flags that change what is traced or compiled.

    Immutable and interned: equal states are the same object, so a cache key may hold it. Read
    flags as attributes: ``current().enable_x64``.
    """

    __slots__ = (*_STATE_NAMES, "__weakref__")

    enable_x64: bool
    default_matmul_precision: str | None
    numpy_rank_promotion: str
    numpy_dtype_promotion: str
    debug_nans: bool
    debug_infs: bool
    debug_key_reuse: bool
    disable_jit: bool
    check_tracer_leaks: bool
    enable_checks: bool
    default_device: Any
    default_prng_impl: str
    threefry_partitionable: bool
    enable_custom_prng: bool
    random_seed_offset: int
    softmax_custom_jvp: bool
    mesh: Any

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"State is immutable: cannot set {name}; use config.update or a scope")

    def values(self) -> dict[str, Any]:
        """Flag name to value."""
        return {name: getattr(self, name) for name in _STATE_NAMES}

    def __repr__(self) -> str:
        changed = (f"{n}={v!r}" for n, v in self.values().items() if v is not flags[n].default)
        return f"State({', '.join(changed)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _state_from, (self.values(),)


class Watch:
    """Values of the flags that observe or guard and change no program."""

    __slots__ = _WATCH_NAMES

    log_compiles: bool
    explain_cache_misses: bool
    transfer_guard_host_to_device: str
    transfer_guard_device_to_device: str
    transfer_guard_device_to_host: str


_interned: weakref.WeakValueDictionary[tuple, State] = weakref.WeakValueDictionary()
_lock = threading.RLock()


def _state_from(values: dict[str, Any]) -> State:
    """The one `State` with these values (missing flags have their default)."""
    get_value = values.get
    key = tuple([get_value(name, default) for name, default in _STATE_DEFAULTS])
    # True == 1 in a tuple key: every value went through its flag's check, so types are uniform.
    with _lock:
        known = _interned.get(key)
        if known is None:
            known = object.__new__(State)
            for name, value in zip(_STATE_NAMES, key, strict=True):
                object.__setattr__(known, name, value)
            _interned[key] = known
        return known


def _watch_from(values: dict[str, Any]) -> Watch:
    made = Watch()
    for name in _WATCH_NAMES:
        setattr(made, name, values.get(name, flags[name].default))
    return made


class _Layer:
    """The global values (no parent), or the overrides of one open scope over those below."""

    __slots__ = ("base", "changes", "parent", "state", "watch")

    state: State
    watch: Watch

    def __init__(self, changes: dict[str, Any], parent: _Layer | None, base: _Layer | None):
        self.changes, self.parent, self.base = changes, parent, base
        values = changes if base is None else {**base.changes, **changes}
        self.state = _state_from(values)
        if base is not None and _WATCH_SET.isdisjoint(changes):
            self.watch = base.watch
        else:
            self.watch = _watch_from(values)

    def rebase(self) -> _Layer:
        """Recompute after a global flag changed while this scope is open."""
        with _lock:  # a scope may be shared by threads that run in copies of one context
            base = _base
            values = {**base.changes, **self.changes}
            self.state, self.watch = _state_from(values), _watch_from(values)
            self.base = base
        return self


def _from_environment() -> dict[str, Any]:
    found = {}
    for flag in flags.values():
        text = os.environ.get("NUMLIFT_" + flag.name.upper())
        if text is not None:
            found[flag.name] = flag.check(flag.name, text)
    guard = os.environ.get("NUMLIFT_TRANSFER_GUARD")
    if guard is not None:
        for name in _GUARD_NAMES:
            found.setdefault(name, flags[name].check("transfer_guard", guard))
    return found


_start = _from_environment()
_process: dict[str, Any] = {
    f.name: _start.get(f.name, f.default) for f in flags.values() if f.kind == "process"
}
_base = _Layer({n: v for n, v in _start.items() if flags[n].kind != "process"}, None, None)
_local: ContextVar[_Layer | None] = ContextVar("numlift_config", default=None)
_backend_made = False


def in_force() -> _Layer:
    """State and watch flags in force here: what `current` and `watch` return, in one look-up.

    Returns:
        An object with the attributes `state` and `watch`.

    Example:
        >>> from numlift.config import current, in_force
        >>> in_force().state is current()
        True
    """
    layer = _local.get()
    if layer is None:
        return _base
    return layer if layer.base is _base else layer.rebase()


def current() -> State:
    """The trace-relevant flags in force here: global values under this thread's open scopes.

    Returns:
        The `State`: equal flags give the same object, so it may be part of a cache key.

    Example:
        >>> from numlift.config import current, replace
        >>> with replace(debug_nans=True):
        ...     current().debug_nans
        True
    """
    layer = _local.get()
    if layer is None:
        return _base.state
    if layer.base is _base:
        return layer.state
    return layer.rebase().state


def watch() -> Watch:
    """The observing flags in force here (logging, transfer guards).

    Returns:
        The `Watch`, whose flags are its attributes.

    Example:
        >>> from numlift.config import watch
        >>> watch().log_compiles
        False
    """
    layer = _local.get()
    if layer is None:
        return _base.watch
    if layer.base is _base:
        return layer.watch
    return layer.rebase().watch


def _known(name: str) -> str:
    """Canonical flag name: ``jax_`` or ``numlift_`` in front and aliases are accepted."""
    short = name.lower() if isinstance(name, str) else name
    if short not in flags:
        for prefix in ("jax_", "numlift_"):
            if isinstance(short, str) and short.startswith(prefix):
                short = short[len(prefix) :]
                break
        short = _ALIASES.get(short, short)
    if short in flags or short == "transfer_guard":
        return short
    import difflib  # only where an error is explained: it takes 5 ms to import

    close = difflib.get_close_matches(str(short), [*flags, *_ALIASES, "transfer_guard"], n=1)
    hint = f"\nTry: config.update({close[0]!r}, ...)" if close else ""
    raise UnknownFlagError(f"config: there is no flag {name!r}{hint}")


class UnknownFlagError(ValueArgumentError, AttributeError):
    """Unknown flag name (an AttributeError as well: it may come from an attribute read)."""


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for given, value in changes.items():
        name = _known(given)
        if name == "transfer_guard":
            found.update({n: flags[n].check("transfer_guard", value) for n in _GUARD_NAMES})
        else:
            found[name] = flags[name].check(name, value)
    return found


def update(name: str, value: Any) -> None:
    """Set the global value of a flag, for all threads.

    Scopes that are open elsewhere keep their own overrides and see the change of all other flags.

    Args:
        name: flag name; ``jax_`` in front is accepted.
        value: its new value.

    Returns:
        None.

    Raises:
        ValueArgumentError: no such flag, or a value that the flag does not take.
        DeviceError: a flag of the backend after devices were first used.

    Example:
        >>> from numlift.config import current, update
        >>> update("numpy_rank_promotion", "raise")
        >>> current().numpy_rank_promotion
        'raise'
        >>> update("numpy_rank_promotion", "allow")
    """
    global _base
    changes = _checked({name: value})
    with _lock:
        for flag_name, new in changes.items():
            if flags[flag_name].kind != "process":
                _base = _Layer({**_base.changes, flag_name: new}, None, None)
            elif _process[flag_name] != new:
                if flag_name in _BACKEND_FLAGS and _backend_made:
                    raise _too_late(flag_name, new)
                _process[flag_name] = new


def _too_late(name: str, new: Any) -> DeviceError:
    return DeviceError(
        f"config.update: {name} cannot change once devices are in use\n"
        f"  now: {_process[name]!r}\n  asked for: {new!r}\n"
        f"Try: call config.update({name!r}, {new!r}) right after `import numlift`, or set the "
        f"environment variable NUMLIFT_{name.upper()}"
    )


def get(name: str) -> Any:
    """The value of a flag in force here.

    Args:
        name: flag name; ``jax_`` in front is accepted. `transfer_guard` is the level of the three
            directions, or None where they differ.

    Returns:
        The value: that of the innermost scope, or the global one.

    Raises:
        ValueArgumentError: no such flag (an AttributeError, too).

    Example:
        >>> from numlift.config import get
        >>> get("jax_disable_jit")
        False
    """
    known = _known(name)
    if known == "transfer_guard":
        values = {getattr(watch(), n) for n in _GUARD_NAMES}
        return values.pop() if len(values) == 1 else None
    kind = flags[known].kind
    if kind == "process":
        return _process[known]
    return getattr(current() if kind == "state" else watch(), known)


def freeze_backend() -> None:
    """Called by the runtime when it makes its client: platform flags are fixed from now on.

    Returns:
        None. `update` of `platforms` and `num_cpu_devices` raises from now on.
    """
    global _backend_made
    _backend_made = True


class replace:
    """Scope that overrides flags for the current thread or task; also a decorator.

    One object may be entered repeatedly, nested, and from several threads.

    Args:
        **changes: state or watch flags and their values.

    Example:
        >>> with replace(enable_x64=True, debug_nans=True):
        ...     current().enable_x64
        True
        >>> current().enable_x64
        False
    """

    __slots__ = ("changes",)

    def __init__(self, **changes: Any) -> None:
        self.changes = _checked(changes)
        for name in self.changes:
            if flags[name].kind == "process":
                raise ValueArgumentError(
                    f"config.replace: {name} is one value for the whole process\n"
                    f"Try: config.update({name!r}, {self.changes[name]!r})"
                )

    def __enter__(self) -> None:
        parent = _local.get()
        changes = self.changes if parent is None else {**parent.changes, **self.changes}
        _local.set(_Layer(changes, parent, _base))

    def __exit__(self, *exc: object) -> None:
        layer = _local.get()
        assert layer is not None, "scope left without being entered in this context"
        _local.set(layer.parent)

    def __call__(self, f: F) -> F:
        @functools.wraps(f)
        def in_scope(*args: Any, **kwargs: Any) -> Any:
            with self:
                return f(*args, **kwargs)

        return in_scope  # type: ignore[return-value]


class Config:
    """What users see as `numlift.config`: flags as attributes, and `update`.

    Example:
        >>> config.enable_x64, config.jax_enable_x64
        (False, False)
    """

    __slots__ = ()

    update = staticmethod(update)
    get = staticmethod(get)
    current = staticmethod(current)
    watch = staticmethod(watch)
    replace = staticmethod(replace)
    freeze_backend = staticmethod(freeze_backend)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"config.{name} = ...: use config.update({name!r}, {value!r})")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *flags]

    @property
    def values(self) -> dict[str, Any]:
        """Every flag and its value in force here."""
        return {name: get(name) for name in flags}


config = Config()
