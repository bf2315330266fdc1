"""What lies where in a model folder, and how its small files are written."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..io.atomic import atomic_write
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
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise damaged(path) from None


def without_files(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a manifest says for a person: all but the lists of cuts and files."""
    return {name: value for name, value in manifest.items() if name not in ("cuts", "shards", "arrays")}


def save_array(path: Path, values: Any) -> None:
    """Write a NumPy file, whole or not at all."""
    with atomic_write(path) as temporary, open(temporary, "wb") as file:
        np.save(file, values)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; what is none is refused."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
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
