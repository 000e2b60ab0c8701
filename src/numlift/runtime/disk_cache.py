"""Compiled programs kept on disk between runs: bounded, checked, shared by processes and threads.

An entry is one file, named by the hash of everything that its machine code depends on: the text of
the program, the options, the version of jaxlib, the kind of device, the features of the CPU, and
the flags of XLA in the environment. Entries are written to a temporary file and renamed, so readers
never see half of one; each carries a checksum, so damaged ones are dropped.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import struct
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from .. import config
from . import xla

MAGIC = b"NUMLIFT1"
SUFFIX = ".xla"
_HEADER = struct.Struct("<8s32sQ")
_TOUCH_AFTER = 3600.0
"""Seconds after which a read refreshes the time of an entry, which eviction orders by."""

_STALE_AFTER = 3600.0
"""Seconds after which a temporary file must belong to a process that died."""


class DiskCache:
    """The entries of one folder.

    Every method may be called by many threads and processes at once, and none raises for what the
    file system does: a folder that cannot be written gives one warning and no cache.

    Args:
        folder: where entries lie; made on first write.
        max_bytes: bound on the sum of sizes; least recently used entries go first. -1 for none.
    """

    __slots__ = ("_lock", "_unscanned", "_warned", "folder", "max_bytes", "writable")

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder, self.max_bytes = folder, max_bytes
        self.writable = True
        self._lock = threading.Lock()
        self._unscanned = 0
        self._warned: set[str] = set()

    # --- reading and writing ------------------------------------------------------------------

    def load(self, key: str) -> bytes | None:
        """The bytes stored under a key, or None. A damaged entry is removed with one warning."""
        path = self.folder / (key + SUFFIX)
        try:
            with open(path, "rb") as file:
                content = file.read()
                modified = os.fstat(file.fileno()).st_mtime
        except OSError:
            return None
        blob = _unpack(content)
        if blob is None:
            self.discard(key, "it is damaged or was not written by Numlift")
            return None
        if time.time() - modified > _TOUCH_AFTER:
            with contextlib.suppress(OSError):
                os.utime(path)
        return blob

    def store(self, key: str, blob: bytes) -> bool:
        """Keep bytes under a key; whether that worked."""
        size = len(blob) + _HEADER.size
        if not self.writable or 0 <= self.max_bytes < size:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(self.folder / (key + SUFFIX), _pack(blob))
        except OSError as error:
            self.writable = False
            self._warn(
                "write",
                f"compilation cache: {self.folder} cannot be written ({error.strerror or error})\n"
                "  programs are compiled again in every process\n"
                "Try: NUMLIFT_COMPILATION_CACHE_DIR=/some/folder, or NUMLIFT_COMPILATION_CACHE=0",
            )
            return False
        self._bound(key, size)
        return True

    def _write(self, path: Path, content: bytes) -> None:
        import tempfile  # only where an entry is written: it brings four compression modules

        handle, temporary = tempfile.mkstemp(prefix=".part-", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def discard(self, key: str, reason: str) -> None:
        """Remove an entry that cannot be used; warns once for each folder."""
        path = self.folder / (key + SUFFIX)
        with contextlib.suppress(OSError):
            path.unlink()
        self._warn(
            "damaged",
            f"compilation cache: an entry was removed because {reason}\n"
            f"  entry: {path}\n"
            "  the program is compiled again; further ones are removed silently",
        )

    def _warn(self, kind: str, message: str) -> None:
        if config.get("raise_persistent_cache_errors"):
            raise RuntimeError(message)
        with self._lock:
            if kind in self._warned:
                return
            self._warned.add(kind)
        warnings.warn(message, RuntimeWarning, stacklevel=2)

    # --- size ---------------------------------------------------------------------------------

    def _bound(self, key: str, size: int) -> None:
        """Now and then after a write, remove what is over the limit.

        Listing a big folder takes longer than writing one entry, so it is done for one key in 16,
        and whenever this process alone has written a sixteenth of the limit since the last time.
        """
        if self.max_bytes < 0:
            return
        with self._lock:
            self._unscanned += size
            if key[0] != "0" and self._unscanned * 16 < self.max_bytes:
                return
            self._unscanned = 0
        self.evict()

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """All entries, in no order."""
        try:
            with os.scandir(self.folder) as found:
                yield from (e for e in found if e.name.endswith(SUFFIX))
        except OSError:
            return

    def evict(self) -> int:
        """Remove least recently used entries until 15/16 of the limit is kept; how many went."""
        self._remove_stale()
        known: list[tuple[float, int, str]] = []
        for entry in self.entries():
            with contextlib.suppress(OSError):
                info = entry.stat()
                known.append((info.st_mtime, info.st_size, entry.path))
        total, removed = sum(size for _, size, _ in known), 0
        if self.max_bytes < 0 or total <= self.max_bytes:
            return 0
        goal = self.max_bytes - self.max_bytes // 16
        for _, size, path in sorted(known):
            if total <= goal:
                break
            with contextlib.suppress(FileNotFoundError, PermissionError):
                os.unlink(path)
                removed += 1
            total -= size
        return removed

    def _remove_stale(self) -> None:
        """Remove temporary files of processes that died while writing."""
        now = time.time()
        with contextlib.suppress(OSError), os.scandir(self.folder) as found:
            for entry in found:
                if not entry.name.startswith(".part-"):
                    continue
                with contextlib.suppress(OSError):
                    if now - entry.stat().st_mtime > _STALE_AFTER:
                        os.unlink(entry.path)

    def size(self) -> tuple[int, int]:
        """Number of entries and the sum of their sizes in bytes."""
        count = total = 0
        for entry in self.entries():
            with contextlib.suppress(OSError):
                total += entry.stat().st_size
                count += 1
        return count, total

    def clear(self) -> int:
        """Remove all entries; how many there were."""
        removed = 0
        for entry in list(self.entries()):
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
                removed += 1
        return removed


def _pack(blob: bytes) -> bytes:
    return _HEADER.pack(MAGIC, hashlib.sha256(blob).digest(), len(blob)) + blob


def _unpack(content: bytes) -> bytes | None:
    if len(content) < _HEADER.size:
        return None
    magic, digest, length = _HEADER.unpack_from(content)
    blob = content[_HEADER.size :]
    if magic != MAGIC or len(blob) != length or hashlib.sha256(blob).digest() != digest:
        return None
    return blob


# --- which folder ---------------------------------------------------------------------------------


def default_folder() -> Path:
    """The user's cache folder for compiled programs, by the convention of the system."""
    if os.environ.get("XDG_CACHE_HOME"):
        root = Path(os.environ["XDG_CACHE_HOME"])
    elif sys.platform == "darwin":
        root = Path("~/Library/Caches").expanduser()
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser())
    else:
        root = Path("~/.cache").expanduser()
    return root / "numlift" / "xla"


def enabled() -> bool:
    """Whether compiled programs are kept: the flag, and ``NUMLIFT_COMPILATION_CACHE`` is not 0."""
    text = os.environ.get("NUMLIFT_COMPILATION_CACHE", "1").strip().lower()
    return text not in ("0", "false", "no", "off") and config.get("enable_compilation_cache")


_caches: dict[tuple[Path, int], DiskCache] = {}
_lock = threading.Lock()


def cache() -> DiskCache | None:
    """The cache that the flags describe now; None if it is switched off."""
    if not enabled():
        return None
    return cache_at(folder(), config.get("compilation_cache_max_bytes"))


def folder() -> Path:
    """The folder that the flags describe now."""
    named = config.get("compilation_cache_dir")
    return Path(named).expanduser() if named else default_folder()


def cache_at(where: Path, max_bytes: int = -1) -> DiskCache:
    """The one `DiskCache` of this process for a folder and limit."""
    found = _caches.get((where, max_bytes))
    if found is None:
        with _lock:
            found = _caches.setdefault((where, max_bytes), DiskCache(where, max_bytes))
    return found


# --- keys -----------------------------------------------------------------------------------------


@functools.cache
def cpu_features() -> str:
    """What the machine code of this CPU may depend on: model and instruction set extensions."""
    parts = [platform.machine(), platform.system()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(16384).split("\n\n", 1)[0]
    except OSError:
        return "|".join([*parts, platform.processor(), os.environ.get("PROCESSOR_IDENTIFIER", "")])
    wanted = {
        "vendor_id", "cpu family", "model", "flags", "Features",
        "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "isa",
    }  # fmt: skip
    for line in first.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in wanted:
            parts.append(value.strip())
    return "|".join(parts)


@functools.cache
def _allowed_cpus() -> int:
    """Number of CPUs of this process: XLA splits loops by it."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _environment() -> str:
    names = ("XLA_FLAGS", "LIBTPU_INIT_ARGS", "PJRT_NPROC", "TF_CPP_XLA_FLAGS", "XLA_FLAGS_FILE")
    return "|".join(f"{n}={os.environ.get(n, '')}" for n in names)


def make_key(text: str | bytes, client: xla.Client, kind: str, parts: Iterable[object]) -> str:
    """Name of the entry of a program.

    Args:
        text: the StableHLO module.
        client: the client that compiles it.
        kind: `device_kind` of its devices.
        parts: options and other values whose `repr` is stable between processes.
    """
    digest = hashlib.sha256(text.encode() if isinstance(text, str) else text)
    facts = [
        xla.VERSION,
        client.platform,
        client.platform_version,
        kind,
        _environment(),
        *(map(repr, parts)),
    ]
    if client.platform == "cpu":
        facts += [cpu_features(), str(_allowed_cpus())]
    for fact in facts:
        digest.update(b"\0" + fact.encode())
    return digest.hexdigest()
