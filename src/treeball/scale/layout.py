"""What lies where in a model folder, and how its small files are written."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..io.atomic import atomic_write, cannot_write, is_disk_full
from ..words import json_value

__all__ = [
    "ADDED",
    "BLOCK",
    "FORMAT",
    "GROUP",
    "MANIFEST",
    "array",
    "damaged",
    "is_folder",
    "new_array",
    "read_json",
    "save_array",
    "sha256_of",
    "without_files",
    "write_json",
]

MANIFEST = "manifest.json"
FORMAT = 1
GROUP = 8192
"""Rows of a row group of a shard, which are read at once."""
ADDED = "added"
"""What files of nodes that were added begin with."""
BLOCK = 256
"""Nodes that one box of the bounds is around."""


def is_folder(path: str | Path) -> bool:
    """Whether there is a model folder, or one that is being made, at this path."""
    return (Path(path) / MANIFEST).is_file() or (Path(path) / "work" / "input.json").is_file()


def damaged(file: Path) -> InputError:
    """What is said of a file that is missing or damaged: a fit makes it anew, but not what was added after it."""
    remedy = "run the same  treeball fit  again to make it anew"
    if file.name.startswith(f"{ADDED}-"):
        remedy = "it holds nodes that were added: take it from a copy, or make a new folder of all edges"
    return InputError(f"{str(file)!r} is missing or damaged; {remedy}")


def array(path: Path) -> Any:
    """A NumPy file, mapped and not read; what is never written to."""
    try:
        with open(path, "rb") as file:
            if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
                raise damaged(path)
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except InputError:
        raise
    except Exception:  # a damaged header fails in many ways, also as Python text
        raise damaged(path) from None
    if found.dtype.hasobject or not isinstance(found, np.ndarray):
        raise damaged(path)
    return found


def without_files(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says for a person: all but the lists of cuts and files."""
    return {name: value for name, value in manifest.items() if name not in ("cuts", "shards", "arrays")}


def save_array(path: Path, values: Any) -> None:
    """Write a NumPy file, whole or not at all."""
    values = np.ascontiguousarray(values)
    with atomic_write(path) as temporary, open(temporary, "wb") as file:
        # np.save hands the bytes to the C library, which loses the last ones on a full disk without a word.
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        file.write(values.data)


def new_array(path: Path, kind: type, shape: tuple[int, ...]) -> Any:
    """A NumPy file that is mapped and written to; its room on the disk is taken first.

    Without room a write to mapped memory ends the process.
    """
    try:
        found = np.lib.format.open_memmap(path, "w+", kind, shape)
        if hasattr(os, "posix_fallocate"):  # not on macOS and Windows
            with open(path, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, max(1, os.fstat(file.fileno()).st_size))
    except OSError as error:
        if is_disk_full(error):
            raise cannot_write(path, error) from error
        raise
    return found


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; what is none is refused."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        raise damaged(path) from None
    if not isinstance(content, dict):
        raise InputError(f"{str(path)!r} is no JSON object; run the same  treeball fit  again to make it anew")
    return content


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object, whole or not at all; the same content gives the same bytes."""
    text = json.dumps(json_value(content), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    with atomic_write(path) as temporary:
        temporary.write_text(text + "\n", "utf-8", newline="\n")


def sha256_of(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
