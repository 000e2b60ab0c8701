"""`make fuzz`: random programs until the time is over or one fails, which is shrunk and printed.

python -m tests.random_programs.fuzz [--seconds 600] [--seed 1] [--break NAME] [--no-shrink]
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
import traceback

os.environ.setdefault("NUMLIFT_PLATFORMS", "cpu")
os.environ.setdefault("NUMLIFT_ENABLE_CHECKS", "1")

from tests.random_programs import mutations
from tests.random_programs.examples import check, examples
from tests.random_programs.runs import run

BATCH = 50


def main(argv: list[str] | None = None) -> int:
    """0 if all agree, 1 if an example fails."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--examples", type=int, default=1 << 40, help="at most so many")
    parser.add_argument("--seed", type=int, default=None, help="the first; random by default")
    parser.add_argument("--break", dest="broken", choices=sorted(mutations.MUTATIONS))
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--keep-going", action="store_true", help="after a failure")
    options = parser.parse_args(argv)
    if options.broken:
        mutations.break_rule(options.broken)
    seed = secrets.randbelow(1 << 32) if options.seed is None else options.seed
    stop, done, failed = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < stop and done < options.examples:
        batch = min(BATCH, options.examples - done)
        try:
            run(examples(), check, batch, seed, not options.no_shrink)
        except Exception:
            print(f"seed {seed}:")
            traceback.print_exc(file=sys.stdout)
            failed += 1
            if not options.keep_going:
                break
        done, seed = done + batch, seed + 1
        print(f"{done} examples, next seed {seed}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
