"""The edges as they come: Parquet or CSV files, here or on any file system of fsspec, read in pieces by DuckDB."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError, MissingExtraError

__all__ = ["Edges", "connect", "is_pattern"]

_PIECE = 1 << 20
_CHILD, _PARENT = ("child", "id", "node", "source"), ("parent", "parent_id", "target")
_READERS = {".parquet": "read_parquet", ".pq": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}


def is_pattern(source: str) -> bool:
    """Whether a source names many files, as ``edges/*.parquet`` does."""
    return any(sign in source for sign in "*?[") and not Path(source).exists()


def connect(memory: int, folder: Path, threads: int) -> Any:
    """A database without a file that keeps to `memory` bytes, and spills what is more into `folder`."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "scale", "a model folder") from None
    base = duckdb.connect()
    folder.mkdir(parents=True, exist_ok=True)
    base.execute(f"SET memory_limit='{max(memory, 1 << 28) // (1 << 20)}MiB'")
    base.execute("SET temp_directory=?", [str(folder)])
    base.execute(f"SET threads={threads}")
    base.execute("SET enable_progress_bar=false")
    return base


@dataclass(frozen=True)
class Edges:
    """A data set of edges.

    Attributes
    ----------
    files : paths, in order
    sizes : bytes of each
    """

    files: tuple[str, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, sources: tuple[str, ...]) -> Edges:
        """Find the files of one or several patterns."""
        files: list[str] = []
        for source in sources:
            found = _remote(source) if "://" in source else sorted(glob.glob(source, recursive=True))
            if not found:
                raise InputError(f"there is no file {source!r}; give Parquet or CSV files, such as 'edges/*.parquet'")
            files += found
        for file in files:
            if _ending(file) not in _READERS:
                raise InputError(f"{file!r} is neither Parquet nor CSV: a model folder is made of such files only")
        if len({_READERS[_ending(file)] for file in files}) > 1:
            raise InputError(f"{files[0]!r} and {files[-1]!r} are of different kinds: give Parquet or CSV, not both")
        return cls(tuple(files), tuple(0 if "://" in file else os.path.getsize(file) for file in files))

    def fingerprint(self) -> str:
        """A hash of names, sizes and times of all files: whether it is still the same input."""
        digest = hashlib.sha256()
        for file, size in zip(self.files, self.sizes, strict=True):
            when = 0 if "://" in file else os.stat(file).st_mtime_ns
            digest.update(f"{file}\0{size}\0{when}\n".encode())
        return digest.hexdigest()

    def scan(self, base: Any) -> str:
        """SQL that gives columns ``child`` and ``parent`` in the order of the files; '' and NULL are no names."""
        if any("://" in file for file in self.files):
            _register(base, self.files[0])
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in self.files)
        reader = _READERS[_ending(self.files[0])]
        options = ", all_varchar=true" if reader == "read_csv" else ""
        table = f"{reader}([{listed}], union_by_name=false{options})"
        try:
            columns = [row[0] for row in base.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()]
        except Exception as error:
            raise InputError(
                f"{self.files[0]!r} cannot be read: {_first_line(error)}; give files with columns child and parent"
            ) from None
        child, parent = _columns(columns, self.files[0])
        blank = "trim" if reader == "read_csv" else ""
        return (
            f"SELECT nullif({blank}(\"{child}\"::VARCHAR), '') AS child, "
            f"nullif({blank}(\"{parent}\"::VARCHAR), '') AS parent FROM {table}"
        )

    def pieces(self, base: Any, select: str) -> Iterator[pa.RecordBatch]:
        """Batches of a query, in the order of the files."""
        try:
            answer = base.sql(select)
            # Versions of DuckDB have different names for it.
            read = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            pieces = read(_PIECE)
        except Exception as error:
            raise InputError(
                f"{self.files[0]!r} cannot be read: {_first_line(error)}; correct or leave it out"
            ) from None
        while True:
            try:
                piece = pieces.read_next_batch()
            except StopIteration:
                return
            except Exception as error:
                raise InputError(
                    f"{self.files[0]!r} or one after it cannot be read: {_first_line(error)}; correct or leave it out"
                ) from None
            yield piece


def _columns(columns: list[str], file: str) -> tuple[str, str]:
    """Names of the columns of child and parent: by their names, else the first two."""
    if len(columns) < 2:
        raise InputError(f"{file!r} has one column: edges need two, child and parent")
    lower = {name.lower(): name for name in columns}
    child = next((lower[name] for name in _CHILD if name in lower), None)
    parent = next((lower[name] for name in _PARENT if name in lower), None)
    if child is None or parent is None:
        child, parent = columns[:2]
    return child.replace('"', '""'), parent.replace('"', '""')


def _ending(file: str) -> str:
    return Path(file.removesuffix(".gz")).suffix.lower()


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:160]


def _remote(source: str) -> list[str]:
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "scale", f"reading {source}") from None
    protocol = source.split("://", 1)[0]
    try:
        return sorted(f"{protocol}://{found}" for found in fsspec.filesystem(protocol).glob(source))
    except Exception as error:
        raise InputError(f"{source!r} cannot be listed: {_first_line(error)}; check the address") from None


def _register(base: Any, file: str) -> None:
    import fsspec

    base.register_filesystem(fsspec.filesystem(file.split("://", 1)[0]))
