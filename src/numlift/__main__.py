"""Command line: ``python -m numlift info`` and ``python -m numlift cache``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from .errors import NumliftError
from .runtime import disk_cache
from .tools import info


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="numlift", description="Reports about this installation of Numlift."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    about = commands.add_parser(
        "info", help="versions, devices, flags, cache, and why an accelerator is not used"
    )
    about.add_argument("--json", action="store_true", help="print as JSON")
    cache = commands.add_parser("cache", help="where compiled programs are kept, and how many")
    cache.add_argument("--clear", action="store_true", help="remove all of them")
    cache.add_argument("--json", action="store_true", help="print as JSON")
    return parser


def _cache_report(clear: bool, as_json: bool) -> str:
    removed = disk_cache.cache_at(disk_cache.folder()).clear() if clear else None
    facts = info.cache_facts()
    if as_json:
        return json.dumps(facts if removed is None else {**facts, "removed": removed}, indent=2)
    lines = info.cache_lines(facts)
    if removed is not None:
        lines.insert(0, f"Removed {removed} programs.")
    return "\n".join(lines).rstrip()


def _printed(text: str) -> int:
    """Print; the exit status, which is not 0 if the reader (such as ``head``) has left."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more when it ends, and would complain about the closed pipe then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status.

    Args:
        arguments: words after the program's name; those of the process by default.
    """
    given = _parser().parse_args(arguments)
    try:
        if given.command == "cache":
            return _printed(_cache_report(given.clear, given.json))
        facts = info.collect()
        return _printed(json.dumps(facts, indent=2) if given.json else info.render(facts).rstrip())
    except NumliftError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
