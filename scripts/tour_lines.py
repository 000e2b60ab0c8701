"""Count the lines of the files that docs/tour.md lists, and write the counts into its table.

python scripts/tour_lines.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tour.md"
ROW = re.compile(r"^(\| \d+ \| )(.+?)( \| )(\d+)( \|)", re.MULTILINE)


def lines_of(files: str) -> int:
    """Lines of the files named in a cell, together."""
    paths = [ROOT / "src" / "numlift" / name for name in re.findall(r"`([^`]+)`", files)]
    return sum(len(path.read_text().splitlines()) for path in paths)


def updated(text: str) -> str:
    """The page with counts as they are now."""
    return ROW.sub(lambda row: f"{row[1]}{row[2]}{row[3]}{lines_of(row[2])}{row[5]}", text)


def main() -> int:
    """Rewrite the page; the exit status."""
    PAGE.write_text(updated(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
