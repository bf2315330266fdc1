"""Addresses of files on this machine: ``file:///tmp/model.parquet`` is the path ``/tmp/model.parquet``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from .errors import InputError

__all__ = ["as_path", "local_path"]

# pathlib makes one slash of three.
_FILE = re.compile(r"file:(?://([^/]*))?(/.*)?", re.IGNORECASE | re.DOTALL)


def local_path(given: str) -> str:
    """The path that a ``file://`` address names; any other text as it is.

    An address of another machine is refused. ``%20`` and the like are decoded.
    """
    found = _FILE.fullmatch(given)
    if found is None or given[5:6] != "/":
        return given
    host, path = found[1] or "", found[2] or ""
    if host.lower() not in ("", "localhost") or not path:
        raise InputError(f"{given!r} names no file of this machine: write file:///path/to/file, or the path alone")
    return unquote(path)


def as_path(given: str | os.PathLike[str]) -> Path:
    """The path of a file that a path or a ``file://`` address names."""
    return Path(local_path(os.fspath(given)))
