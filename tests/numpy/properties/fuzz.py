"""`make fuzz-numpy`: random calls of every function against NumPy until the time is over.

python -m tests.numpy.properties.fuzz [--seconds 600] [--seed 1] [--only sum,max] [--keep-going]
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
import traceback
import warnings

os.environ.setdefault("NUMLIFT_PLATFORMS", "cpu")
os.environ.setdefault("NUMLIFT_ENABLE_CHECKS", "1")

from tests.numpy.properties.checking import check, check_derivatives, examples
from tests.numpy.properties.table.all import ROWS
from tests.random_programs.runs import run

BATCH = 10


def main(argv: list[str] | None = None) -> int:
    """0 if all agree, 1 if a call fails."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None, help="the first; random by default")
    parser.add_argument("--only", default="", help="functions, separated by commas")
    parser.add_argument("--keep-going", action="store_true", help="after a failure")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    names = options.only.split(",") if options.only else sorted(ROWS)
    seed = secrets.randbelow(1 << 32) if options.seed is None else options.seed
    stop, done, failed = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < stop:
        name = names[(seed + done // BATCH) % len(names)]
        try:
            run(examples(name, ROWS[name]), check, BATCH, seed)
            if ROWS[name].smooth:
                run(examples(name, ROWS[name], smooth=True), check_derivatives, BATCH // 4, seed)
        except Exception:
            print(f"{name}, seed {seed}:")
            traceback.print_exc(file=sys.stdout)
            failed += 1
            if not options.keep_going:
                break
        done += BATCH
        if done % (BATCH * len(names)) == 0:
            seed += 1
    print(f"{done} calls, next seed {seed + 1}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
