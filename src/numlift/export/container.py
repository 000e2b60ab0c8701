"""The file format of exported functions and executables.

=========  ==========================================================================
bytes      meaning
=========  ==========================================================================
8          kind of the file: ``NLEXPORT`` (function) or ``NLBINARY`` (executable)
4          version of the format, little-endian: 1, or 2 if sizes are symbolic
4          length of the header, little-endian
...        header: JSON in UTF-8; its key ``blobs`` lists [length, SHA-256] of the blobs, its key
           ``check`` is the SHA-256 of the header without it
...        the blobs, one after the other
=========  ==========================================================================

Nothing is pickled: reading a file from elsewhere runs no code of it. Versions to come read all
files of versions before.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any

from .. import errors

FUNCTION = b"NLEXPORT"
EXECUTABLE = b"NLBINARY"
VERSION = 2
_START = struct.Struct("<8sII")


def pack(kind: bytes, header: dict[str, Any], blobs: Sequence[bytes], version: int = 1) -> bytes:
    """A file of a header and blobs; `version` is the oldest format that can hold it."""
    listed = [[len(b), hashlib.sha256(b).hexdigest()] for b in blobs]
    header = {**header, "blobs": listed}
    text = json.dumps({**header, "check": _digest(header)}, sort_keys=True).encode()
    return b"".join([_START.pack(kind, version, len(text)), text, *blobs])


def _digest(header: dict[str, Any]) -> str:
    """What the key ``check`` of a header holds: the SHA-256 of the header without it."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


def unpack(kind: bytes, data: bytes, function: str) -> tuple[dict[str, Any], list[bytes]]:
    """Header and blobs of a file.

    Raises:
        ValueArgumentError: another kind of file, a newer version, or damaged bytes.
    """
    data = bytes(data)
    if len(data) < _START.size or not data.startswith(kind):
        raise _refused(function, "these bytes are not such a file", data)
    _, version, length = _START.unpack_from(data)
    if version > VERSION:
        raise _refused(
            function, f"the file has format {version}, this release reads up to {VERSION}", data
        )
    end = _START.size + length
    try:
        header = json.loads(data[_START.size : end])
        listed = header["blobs"]
        check = header.pop("check", None)  # files of the first releases have none
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _refused(function, "the header of the file is damaged", data) from None
    if check is not None and check != _digest(header):
        raise _refused(function, "the header of the file is damaged", data)
    blobs = []
    for size, digest in listed:
        blob = data[end : end + size]
        if hashlib.sha256(blob).hexdigest() != digest:
            raise _refused(function, "the file is damaged or cut off", data)
        blobs.append(blob)
        end += size
    return header, blobs


def _refused(function: str, reason: str, data: bytes) -> errors.ValueArgumentError:
    return errors.ValueArgumentError(
        errors.explain(function, reason, {"begins with": repr(data[:8]), "length": len(data)})
    )
