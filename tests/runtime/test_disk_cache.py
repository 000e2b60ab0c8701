from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from numlift.config import get, update
from numlift.runtime import compile as compiling
from numlift.runtime import devices, disk_cache
from tests.runtime.child import run

TEXT = """module @cached {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.multiply %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"""


@pytest.fixture
def cache(tmp_path):
    return disk_cache.DiskCache(tmp_path / "deep" / "folder", 1000)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache that `compile_module` uses, in a folder of this test."""
    monkeypatch.setenv("NUMLIFT_COMPILATION_CACHE", "1")
    before = {n: get(n) for n in ("compilation_cache_dir", "enable_compilation_cache")}
    update("compilation_cache_dir", tmp_path)
    update("enable_compilation_cache", True)
    yield tmp_path
    for name, value in before.items():
        update(name, value)


def compile_it(text=TEXT, **options):
    return compiling.compile_module(text, devices=(devices.local_devices()[0],), **options)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*" + disk_cache.SUFFIX))


# --- the store ------------------------------------------------------------------------------------


def test_round_trip(cache):
    assert cache.load("a1") is None
    assert cache.size() == (0, 0)
    assert cache.store("a1", b"content")
    assert cache.load("a1") == b"content"
    count, size = cache.size()
    assert count == 1
    assert size > len(b"content")
    assert cache.clear() == 1
    assert cache.load("a1") is None


def test_empty_and_large(cache):
    assert cache.store("a1", b"")
    assert cache.load("a1") == b""
    assert not cache.store("a2", b"x" * 2000)
    assert cache.load("a2") is None


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
def test_folder_is_private(cache):
    cache.store("a1", b"content")
    assert cache.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:-1] + b"?",
        lambda content: b"",
        lambda content: b"something else altogether, from another program",
    ],
)
def test_damaged_entries_are_removed_with_one_warning(cache, damage):
    for key in ("a1", "a2"):
        cache.store(key, b"content")
        path = cache.folder / (key + disk_cache.SUFFIX)
        path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="an entry was removed because") as caught:
        assert [cache.load("a1"), cache.load("a2")] == [None, None]
    assert len(caught) == 1
    assert cache.size() == (0, 0)
    assert cache.store("a1", b"content")
    assert cache.load("a1") == b"content"


def test_folder_that_cannot_be_made_warns_once(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = disk_cache.DiskCache(tmp_path / "file" / "folder", -1)
    with pytest.warns(RuntimeWarning, match="cannot be written") as caught:
        assert [cache.store("a1", b"content") for _ in range(2)] == [False, False]
    assert len(caught) == 1
    assert cache.load("a1") is None
    assert cache.size() == (0, 0)
    assert cache.clear() == cache.evict() == 0


def test_errors_can_be_raised(tmp_path):
    (tmp_path / "file").write_text("in the way")
    update("raise_persistent_cache_errors", True)
    try:
        with pytest.raises(RuntimeError, match="cannot be written"):
            disk_cache.DiskCache(tmp_path / "file" / "folder", -1).store("a1", b"content")
    finally:
        update("raise_persistent_cache_errors", False)


def test_least_recently_used_go_first(cache):
    for i in range(6):
        cache.store(f"a{i}", b"x" * 100)
        os.utime(cache.folder / f"a{i}{disk_cache.SUFFIX}", (time.time(), 1e9 + i))
    assert cache.load("a0") is not None  # an old entry that is read becomes a young one
    for i in range(6, 9):
        cache.store(f"a{i}", b"x" * 100)
    cache.evict()
    kept = {p.stem for p in files(cache.folder)}
    assert cache.size()[1] <= 1000
    assert {"a0", "a6", "a7", "a8"} <= kept
    assert "a1" not in kept


def test_bound_holds_over_many_writes(cache):
    for i in range(100):
        cache.store(f"{i:02x}", b"x" * 50)
    assert cache.size()[1] <= 1000 + 1000 // 16 + 200


def test_no_limit(tmp_path):
    cache = disk_cache.DiskCache(tmp_path, -1)
    for i in range(20):
        cache.store(f"{i:02x}", b"x" * 5000)
    assert cache.evict() == 0
    assert cache.size()[0] == 20


def test_half_written_files_of_dead_processes_go(cache):
    cache.store("a1", b"content")
    old, young = cache.folder / ".part-old", cache.folder / ".part-young"
    old.write_bytes(b"x")
    young.write_bytes(b"x")
    os.utime(old, (1e9, 1e9))
    cache.evict()
    assert not old.exists()
    assert young.exists()


def test_threads_write_and_read_the_same_entries(cache):
    wrong = []

    def work(seed):
        for i in range(100):
            key = f"{(i + seed) % 7:02x}"
            cache.store(key, key.encode() * 40)
            found = cache.load(key)
            if found not in (None, key.encode() * 40):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not wrong
    assert not list(cache.folder.glob(".part-*"))


# --- keys and folders -----------------------------------------------------------------------------


def test_keys_differ_by_all_that_matters(monkeypatch):
    client = devices.backend().client

    def key(text=TEXT, kind="cpu", parts=(1,)):
        return disk_cache.make_key(text, client, kind, parts)

    known = {key(), key(TEXT + " "), key(kind="other"), key(parts=(2,)), key(parts=(1, 1))}
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    known.add(key())
    monkeypatch.delenv("XLA_FLAGS")
    monkeypatch.setattr(disk_cache, "cpu_features", lambda: "another processor")
    known.add(key())
    monkeypatch.undo()
    monkeypatch.setattr(disk_cache.xla, "VERSION", "0.0.1")
    known.add(key())
    monkeypatch.undo()
    assert len(known) == 8
    assert key() in known
    assert key(TEXT.encode()) == key()


def test_cpu_features_name_the_instruction_set():
    if sys.platform == "linux":
        assert len(disk_cache.cpu_features()) > 50


def test_default_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert disk_cache.default_folder() == tmp_path / "numlift" / "xla"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert disk_cache.default_folder() == tmp_path / ".cache" / "numlift" / "xla"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert disk_cache.default_folder() == tmp_path / "Library" / "Caches" / "numlift" / "xla"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert disk_cache.default_folder() == tmp_path / "local" / "numlift" / "xla"


@pytest.mark.parametrize("text", ["0", "false", "OFF"])
def test_switched_off_by_variable(folder, monkeypatch, text):
    monkeypatch.setenv("NUMLIFT_COMPILATION_CACHE", text)
    assert disk_cache.cache() is None
    compile_it()
    assert not files(folder)


def test_switched_off_by_flag(folder):
    update("enable_compilation_cache", False)
    assert disk_cache.cache() is None
    compile_it()
    assert not files(folder)


# --- with the compiler ----------------------------------------------------------------------------


def test_second_compilation_is_a_load(folder):
    assert not compile_it().from_cache
    assert len(files(folder)) == 1
    assert compile_it().from_cache
    assert not compile_it(compiler_options={"xla_backend_optimization_level": 1}).from_cache
    assert not compile_it(cache_key_extra=("other",)).from_cache
    assert len(files(folder)) == 3


def test_damaged_and_foreign_entries_are_compiled_again(folder):
    compile_it()
    (path,) = files(folder)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(RuntimeWarning, match="damaged or was not written by Numlift"):
        assert not compile_it().from_cache
    assert compile_it().from_cache


def test_entry_that_xla_cannot_load(folder):
    compile_it()
    (path,) = files(folder)
    disk_cache.DiskCache(folder, -1).store(path.stem, b"well formed, but no executable")
    with pytest.warns(RuntimeWarning, match="XLA cannot load it"):
        assert not compile_it().from_cache
    assert compile_it().from_cache


def test_small_or_fast_programs_can_be_left_out(folder):
    for name in ("persistent_cache_min_compile_time_secs", "persistent_cache_min_entry_size_bytes"):
        update(name, 10**9)
        try:
            compile_it()
        finally:
            update(name, 0)
        assert not files(folder)


def test_programs_with_callbacks_are_not_kept(folder):
    text = TEXT.replace(
        "stablehlo.multiply %a, %a : tensor<4xf32>",
        "stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {api_version = 4 : i32, "
        "backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> tensor<4xf32>",
    )
    compile_it(text, host_callbacks=[lambda x: (x,)])
    assert not files(folder)


def test_loading_is_fast(folder):
    compile_it()
    best = 1.0
    for _ in range(10):
        start = time.perf_counter()
        assert compile_it().from_cache
        best = min(best, time.perf_counter() - start)
    assert best < 0.02  # about 0.4 ms on a quiet machine; compiling takes 15 to 50


def test_processes_share_a_folder(tmp_path):
    code = f'''
from numlift.runtime import devices, compile as c
print(c.compile_module("""{TEXT}""", devices=tuple(devices.devices())).from_cache)
'''
    on = {"NUMLIFT_COMPILATION_CACHE": "1", "NUMLIFT_COMPILATION_CACHE_DIR": str(tmp_path)}
    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(run(code, **on))) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(said) == 3
    assert run(code, **on).strip() == "True"
    assert len(files(tmp_path)) == 1
