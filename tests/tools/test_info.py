from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from numlift.__main__ import main
from numlift.config import get, update
from numlift.runtime import disk_cache
from numlift.tools import info


@pytest.fixture
def folder(tmp_path):
    before = get("compilation_cache_dir")
    update("compilation_cache_dir", tmp_path)
    yield tmp_path
    update("compilation_cache_dir", before)


def test_info_for_people(capsys):
    assert main(["info"]) == 0
    said = capsys.readouterr().out
    for word in ("jaxlib", "numpy", "python", "default backend", "cpu:0", "Accelerators",
                 "cuda:", "rocm:", "tpu:", "Compilation cache", "Environment"):  # fmt: skip
        assert word in said
    assert not any(line.endswith(" ") for line in said.splitlines())


def test_info_as_json(capsys):
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["devices"]["default_backend"] == "cpu"
    assert facts["devices"]["list"][0]["id"] == 0
    assert facts["versions"]["jaxlib"]
    assert {p["platform"] for p in facts["plugins"]} == {"cuda", "rocm", "tpu"}
    assert all("numlift[" in p["install"] for p in facts["plugins"] if p["status"] == "missing")


def test_flags_that_were_changed_are_shown():
    update("numpy_rank_promotion", "warn")
    try:
        assert info.collect()["flags"]["numpy_rank_promotion"] == "warn"
        assert re.search(r"numpy_rank_promotion +warn", info.render(info.collect()))
    finally:
        update("numpy_rank_promotion", "allow")


def test_cache_report_and_clear(folder, capsys):
    disk_cache.cache_at(folder).store("a1", b"content")
    assert main(["cache"]) == 0
    said = capsys.readouterr().out
    assert str(folder) in said
    assert "programs  1" in said
    assert main(["cache", "--clear", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["removed"], facts["entries"], facts["bytes"]) == (1, 0, 0)
    assert main(["cache", "--clear"]) == 0
    assert "Removed 0 programs" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["nothing"], ["info", "--clear"]])
def test_wrong_words(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert "usage: numlift" in capsys.readouterr().err


@pytest.mark.parametrize(
    "size, text",
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2 << 30, "2.0 GiB"), (3 << 50, "3072.0 TiB"),
     (None, "unknown"), (-1, "no limit")],
)  # fmt: skip
def test_sizes(size, text):
    assert info.in_bytes(size) == text


@pytest.mark.parametrize("words", [["info"], ["info", "--json"]])
def test_the_reader_leaves(words):
    """``python -m numlift info | head -1`` ends without a traceback."""
    command = [sys.executable, "-m", "numlift", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (1, b"")
