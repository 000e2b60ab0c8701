"""examples/tour.py runs to its end, soon, and leaves pictures."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest
from PIL import Image

from tests.examples.pages import ROOT

LONGEST = 90  # seconds
CHAPTERS = ("Derivatives", "Compilation", "Batching", "Eight devices", "Immutable arrays")

pytestmark = pytest.mark.slow


class Tour(NamedTuple):
    """What one run of the tour did."""

    status: int
    said: str
    seconds: float
    folder: Path


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    folder = tmp_path_factory.mktemp("tour")
    environment = {n: v for n, v in os.environ.items() if n != "NUMLIFT_ENABLE_CHECKS"}
    environment |= {"NUMLIFT_TOUR_OUTPUT": str(folder), "COLUMNS": "100"}
    environment |= {"PYTHONIOENCODING": "utf-8", "MPLCONFIGDIR": str(folder / "matplotlib")}
    start = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tour.py")],
        env=environment,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=LONGEST,
    )
    seconds = time.perf_counter() - start
    return Tour(ended.returncode, ended.stdout + ended.stderr, seconds, folder)


def test_all_claims_hold_in_time(tour: Tour) -> None:
    assert tour.status == 0, tour.said
    assert "All claims hold." in tour.said.splitlines()[-1]
    assert "✗" not in tour.said
    assert tour.said.count("✓") >= 16
    assert tour.seconds < LONGEST


@pytest.mark.parametrize("number, title", list(enumerate(CHAPTERS, 1)))
def test_every_chapter_is_shown(tour: Tour, number: int, title: str) -> None:
    assert f"{number}. {title}" in tour.said


def test_it_says_nothing_that_it_should_not(tour: Tour) -> None:
    assert "Warning" not in tour.said
    assert tour.said.count("(this print runs while f is traced)") == 1
    assert "CPU 7" in tour.said  # the picture of the sharding


@pytest.mark.parametrize("name, least", [("loss.png", (700, 400)), ("digits.png", (900, 500))])
def test_pictures_are_pictures(tour: Tour, name: str, least: tuple[int, int]) -> None:
    with Image.open(tour.folder / name) as picture:
        assert picture.format == "PNG"
        assert all(least[i] <= picture.size[i] <= 3 * least[i] for i in (0, 1))
        pixels = numpy.asarray(picture.convert("RGB")).astype(int)
    assert pixels.std() > 20  # neither blank nor a single colour
    assert (pixels < 100).all(axis=2).mean() > 0.005  # something dark is drawn


def test_right_answers_are_green_in_the_picture(tour: Tour) -> None:
    with Image.open(tour.folder / "digits.png") as picture:
        red, green, blue = numpy.moveaxis(numpy.asarray(picture.convert("RGB")).astype(int), 2, 0)
    greenish = ((green > 100) & (red < 80) & (blue < 80)).sum()
    reddish = ((red > 150) & (green < 80) & (blue < 80)).sum()
    assert greenish > 5 * reddish


def test_a_false_claim_stops_the_tour(capsys: pytest.CaptureFixture[str]) -> None:
    module = runpy.run_path(str(ROOT / "examples" / "tour.py"))
    module["check"]("water is wet", 1)
    with pytest.raises(module["ClaimError"], match="water is dry"):
        module["check"]("water is dry", 0)
    assert "✗ water is dry" in capsys.readouterr().out
