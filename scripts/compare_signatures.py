"""Compare signatures of public functions with those of the peer, where both have them.

Run with the peer's interpreter of the benchmarks, once a package, then compare:

    python scripts/compare_signatures.py describe jax peer.json
    python scripts/compare_signatures.py describe numlift own.json
    python scripts/compare_signatures.py compare peer.json own.json

The first two import one package each, so they may run in different environments. The last prints
one line a difference that a caller can meet: a parameter that is missing, of another kind, at
another place, or with another default; and parameters that are ours only.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

MODULES = (
    "", "lax", "lax.linalg", "numpy", "numpy.linalg", "numpy.fft", "nn", "nn.initializers",
    "random", "tree", "tree_util", "sharding", "custom_batching", "custom_derivatives", "debug",
    "experimental.checkify", "flatten_util", "test_util", "export", "dtypes",
)  # fmt: skip


def describe(package: str) -> dict[str, dict[str, Any]]:
    """Module -> function -> parameters as (name, kind, default)."""
    found: dict[str, dict[str, Any]] = {}
    for module in MODULES:
        try:
            loaded = importlib.import_module(".".join(filter(None, (package, module))))
        except ImportError:
            continue
        found[module] = {
            name: shown
            for name in dir(loaded)
            if not name.startswith("_") and (shown := parameters(getattr(loaded, name))) is not None
        }
    return found


def parameters(function: Any) -> list[tuple[str, str, str]] | None:
    """Parameters of a function; None for other things and unknown signatures."""
    if not callable(function) or inspect.ismodule(function):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind.name, default_text(p.default)) for p in signature.parameters.values()]


def default_text(value: Any) -> str:
    """A default as text that is equal in both packages."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, type):
        return value.__name__
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    text = re.sub(r"^dtype\('(\w+)'\)$", r"\1", text)
    return re.sub(r"\b(jax|numlift|jnp|np)\.(_src\.)?[\w.]*\b", "", text)


def differences(peer: list[Any], own: list[Any]) -> list[str]:
    """What differs, in words."""
    found = []
    mine = {name: (kind, default) for name, kind, default in own}
    open_ended = any(kind.startswith("VAR_") for _, kind, _ in own)
    for name, kind, default in peer:
        if kind.startswith("VAR_"):
            continue
        if name not in mine:
            if kind != "POSITIONAL_ONLY" and not open_ended:
                found.append(f"missing {name}={default}" if default else f"missing {name}")
            continue
        if mine[name][1] != default:
            found.append(f"{name}: default {mine[name][1] or 'none'}, peer {default or 'none'}")
        if mine[name][0] != kind and mine[name][0] != "POSITIONAL_OR_KEYWORD":
            found.append(f"{name}: {mine[name][0]}, peer {kind}")
    order = [n for n, k, _ in peer if k.startswith("POSITIONAL")]
    ours = [n for n, k, _ in own if k.startswith("POSITIONAL")]
    both = [n for n in order if n in ours]
    if both != [n for n in ours if n in order]:
        found.append(f"order {ours}, peer {order}")
    return found


def main() -> None:
    """Command line."""
    command, first, second = sys.argv[1:4]
    if command == "describe":
        Path(second).write_text(json.dumps(describe(first)))
        return
    peer, own = (json.loads(Path(p).read_text()) for p in (first, second))
    count = same = 0
    for module in peer:
        for name in sorted(set(peer[module]) & set(own.get(module, {}))):
            count += 1
            found = differences(peer[module][name], own[module][name])
            same += not found
            for line in found:
                print(f"{module}.{name}: {line}".lstrip("."))
    print(f"{same} of {count} signatures are equal", file=sys.stderr)


if __name__ == "__main__":
    main()
