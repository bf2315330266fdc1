"""Files of compiled kernels that are checked before they are used: what is damaged is made anew, and said.

Numba takes them for what it wrote: a damaged one ends in an error without a word of its file, or in a crash of the
machine code in it, and a disk that is full ends the program that wanted to save one.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import pickle
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["check_files_of"]

_LOG = logging.getLogger("treeball")
_DIGEST = 32
_told: set[str] = set()


def check_files_of(dispatcher: Any) -> Any:
    """Let a function that numba has decorated keep its compiled code in checked files; gives the function."""
    cache = getattr(dispatcher, "_cache", None)
    files = getattr(cache, "_cache_file", None)
    if isinstance(files, IndexDataCacheFile):
        files.__class__ = CheckedFiles
    return dispatcher


class CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and code of a kernel, each behind its SHA-256."""

    def load(self, key: Any) -> Any:
        """What was saved for this key; None, and the files are gone, where they are damaged."""
        try:
            return super().load(key)
        except Exception as error:  # pickle raises anything
            self._begin_anew(error)
            return None

    def save(self, key: Any, data: Any) -> None:
        """Save compiled code; where that cannot be done it is compiled again next time."""
        try:
            try:
                super().save(key, data)
            except (OSError, MemoryError):
                raise
            except Exception as error:
                self._begin_anew(error)
                super().save(key, data)
        except OSError as error:
            _tell_once(f"compiled code cannot be kept in {self._cache_path} ({error}): it is compiled anew each time")

    def _begin_anew(self, error: Exception) -> None:
        _tell_once(f"compiled code in {self._cache_path} is damaged ({_short(error)}): it is compiled anew")
        with contextlib.suppress(OSError):
            Path(self._index_path).unlink(missing_ok=True)

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return hashlib.sha256(data).digest() + data

    def _load_data(self, name: str) -> Any:
        return _checked(Path(self._data_path(name)).read_bytes())

    def _load_index(self) -> dict[Any, str]:
        try:
            with open(self._index_path, "rb") as file:
                version, data = pickle.load(file), file.read()
        except FileNotFoundError:
            return {}
        if version != self._version:
            return {}
        stamp, overloads = _checked(data)
        return overloads if stamp == self._source_stamp else {}


def _checked(data: bytes) -> Any:
    if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
        raise ValueError("its SHA-256 is another")
    return pickle.loads(data[_DIGEST:])


def _short(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:120]


def _tell_once(text: str) -> None:
    if text not in _told:
        _told.add(text)
        _LOG.warning("%s", text)
