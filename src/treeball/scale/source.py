"""The edges as they come: Parquet or CSV files, here or on any file system of fsspec, read in pieces by DuckDB."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

import pyarrow as pa

from ..addresses import local_path
from ..errors import InputError, MissingExtraError
from ..io.readers.settings import ReadSettings
from .columns import Columns, Input, columns_of, ending, unreadable

__all__ = ["Edges", "connect", "is_pattern"]

_PIECE = 1 << 20
_KINDS = {".parquet": "Parquet", ".pq": "Parquet", ".csv": "CSV", ".tsv": "CSV"}
# Files whose content is hashed at the same time.
_HASHED_AT_ONCE = 4


def is_pattern(source: str) -> bool:
    """Whether a source names many files, as ``edges/*.parquet`` does."""
    source = local_path(source)
    return any(sign in source for sign in "*?[") and not Path(source).exists()


def connect(memory: int, folder: Path, threads: int) -> Any:
    """A database without a file that keeps to `memory` bytes, and spills what is more into `folder`."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "scale", "a model folder") from None
    # The files are data that is not trusted: none of them may make DuckDB fetch or load an extension.
    base = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    folder.mkdir(parents=True, exist_ok=True)
    base.execute(f"SET memory_limit='{max(memory, 1 << 28) // (1 << 20)}MiB'")
    base.execute("SET temp_directory=?", [str(folder)])
    base.execute(f"SET threads={threads}")
    base.execute("SET enable_progress_bar=false")
    base.execute("SET lock_configuration=true")
    return base


@dataclass(frozen=True)
class Edges:
    """A data set of edges.

    Attributes
    ----------
    files : paths, in order
    sizes : bytes of each
    reading : the user's choices of how to read them
    """

    files: tuple[str, ...]
    sizes: tuple[int, ...]
    reading: ReadSettings = field(default_factory=ReadSettings)

    @classmethod
    def of(cls, sources: tuple[str, ...], reading: ReadSettings = ReadSettings()) -> Edges:  # noqa: B008
        """Find the files of one or several patterns."""
        files: list[str] = []
        for given in sources:
            source = local_path(given)
            if "://" in source:
                found = _remote(source)
            else:
                found = [source] if os.path.exists(source) else sorted(glob.glob(source, recursive=True))
            if not found:
                raise InputError(f"there is no file {source!r}; give Parquet or CSV files, such as 'edges/*.parquet'")
            files += found
        for file in files:
            if os.path.isdir(file):
                raise InputError(f"{file!r} is a folder: give the files in it, as in '{file.rstrip('/')}/*.parquet'")
            if ending(file) not in _KINDS:
                raise InputError(f"{file!r} is neither Parquet nor CSV: a model folder is made of such files only")
        if len({_KINDS[ending(file)] for file in files}) > 1:
            raise InputError(f"{files[0]!r} and {files[-1]!r} are of different kinds: give Parquet or CSV, not both")
        sizes = tuple(0 if "://" in file else os.path.getsize(file) for file in files)
        return cls(tuple(files), sizes, reading)

    def fingerprint(self) -> str:
        """SHA-256 of the content of all files, in order: whether it is still the same input.

        Names and times are no part of it. All files are read once for it, addresses as well.
        """
        digest = hashlib.sha256()
        with ThreadPoolExecutor(_HASHED_AT_ONCE) as pool:
            for file, content in zip(self.files, pool.map(_content_hash, self.files), strict=True):
                digest.update(f"{_KINDS[ending(file)]} {content}\n".encode())
        return digest.hexdigest()

    def columns(self, base: Any, is_node: Callable[[str], bool] | None = None) -> Columns:
        """Find the columns of child and parent; see `columns.columns_of`."""
        if any("://" in file for file in self.files):
            _register(base, self.files[0])
        return columns_of(base, Input(self.files, self.is_text, self.reading), is_node)

    @property
    def is_text(self) -> bool:
        """Whether the files are CSV, and not Parquet."""
        return _KINDS[ending(self.files[0])] == "CSV"

    def edges(self, base: Any, columns: Columns) -> Iterator[pa.RecordBatch]:
        """Batches of columns ``child`` and ``parent``, in the order of the files; '' and NULL are no names."""
        for piece in self.pieces(base, columns.select):
            columns.check(piece, self.files[0])
            yield piece

    def pieces(self, base: Any, select: str) -> Iterator[pa.RecordBatch]:
        """Batches of a query, in the order of the files."""
        try:
            answer = base.sql(select)
            # Versions of DuckDB have different names for it.
            read = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            pieces = read(_PIECE)
        except Exception as error:
            raise InputError(unreadable(repr(self.files[0]), error, "correct or leave it out")) from None
        while True:
            try:
                piece = pieces.read_next_batch()
            except StopIteration:
                return
            except Exception as error:
                what = repr(self.files[0]) + (" or one after it" if len(self.files) > 1 else "")
                raise InputError(unreadable(what, error, "correct or leave it out")) from None
            yield piece


def _content_hash(file: str) -> str:
    try:
        if "://" not in file:
            with open(file, "rb") as opened:
                return hashlib.file_digest(opened, "sha256").hexdigest()
        import fsspec

        with fsspec.open(file, "rb").open() as remote:
            return hashlib.file_digest(remote, "sha256").hexdigest()
    except Exception as error:
        raise InputError(unreadable(repr(file), error, "correct or leave it out")) from None


def _remote(source: str) -> list[str]:
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "scale", f"reading {source}") from None
    protocol = source.split("://", 1)[0]
    try:
        return sorted(f"{protocol}://{found}" for found in fsspec.filesystem(protocol).glob(source))
    except Exception as error:
        raise InputError(
            f"{source!r} cannot be listed: {shorten(str(error), 160, placeholder=' ...')}; check the address"
        ) from None


def _register(base: Any, file: str) -> None:
    import fsspec

    base.register_filesystem(fsspec.filesystem(file.split("://", 1)[0]))
