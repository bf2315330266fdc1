"""The saved model: one Parquet file with the columns of its hierarchy, vector, reach, and JSON in its metadata.

The columns of the hierarchy are those of `model_columns`. The column ``reach`` is left out where it is not known, as in
a checkpoint, and files of earlier versions have none: it is computed when it is first asked for. Since format 3 the
metadata also have a SHA-256 of all of it, see `model_hash`.

Coordinates of several terms are in the column ``half_space``: rows of (dim - 1) terms + 1 numbers, the terms of each
coordinate beside each other and the height last. The column ``vector`` then holds what they round to, and the metadata
say under ``precision`` what that loses.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from .._version import __version__
from ..addresses import as_path
from ..embedding import Embedding, Provenance
from ..embedding._precise import loss_of_rounding
from ..engine.cpu.term_search import packed, unpacked
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..hierarchy.names import Names
from ..words import json_value
from ..workers import apart
from .atomic import atomic_write, require_file_name
from .locking import writer_lock
from .memory import memory_budget, require_room
from .model_columns import METADATA_KEY, edges_of, hierarchy_columns, names_of, rows_of
from .model_hash import HASH_KEY, content_hash
from .model_version import FORMAT_VERSION, REMEDY, require_known_version
from .parquet_table import read_columns

_FIRST_WITH_HASH = 3
_COPIES = 2  # of the table, besides itself, while a model is made of it
# What the metadata say of the file itself; the rest is the provenance.
_OF_THE_FILE = ("format", "geometry", "dim", "names", "virtual_root", "precision")


def save(embedding: Embedding, path: Path, *, overwrite: bool = False) -> Path:
    """Write `embedding` to `path` atomically.

    Unless `overwrite` is true, a file that another program has written since this one loaded it is not replaced:
    `embedding` may lack what was written then.
    """
    table = to_table(embedding)
    require_file_name(path)
    with writer_lock(path):
        if not overwrite:
            _require_unchanged(path)
        write(table, path)
        state = _state_of(path)
        if state is not None:
            _seen[os.path.realpath(path)] = state
    return path


# The files that this program has loaded or saved, by their real paths: inode, size and time of what it saw.
_seen: dict[str, tuple[int, int, int]] = {}


def _state_of(path: Path) -> tuple[int, int, int] | None:
    """Inode, size in bytes and time of change in nanoseconds of a file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _require_unchanged(path: Path) -> None:
    """Refuse to replace a file that has changed since this program loaded it."""
    before, now = _seen.get(os.path.realpath(path)), _state_of(path)
    if before is not None and now is not None and before != now:
        raise InputError(
            f"cannot write {str(path)!r}: another program has changed it since it was loaded; load it again and repeat "
            "the change, save to another path, or use save(path, overwrite=True)"
        )


def write(table: pa.Table, path: Path) -> None:
    """Write the table of a model to `path` atomically, with a checksum for every page."""
    with atomic_write(path) as temporary:
        apart(lambda: pq.write_table(table, temporary, compression="zstd", write_page_checksum=True))


def to_table(embedding: Embedding, vectors: NDArray[np.floating] | None = None) -> pa.Table:
    """The Arrow table of a model, metadata included; `vectors` stand for its own, as they are when rounded."""
    hierarchy = embedding.hierarchy
    vectors = embedding.vectors if vectors is None else vectors
    columns = hierarchy_columns(hierarchy)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    if embedding.spare is not None:
        spare = embedding.spare
        columns["spare"] = pa.FixedSizeListArray.from_arrays(pa.array(spare.reshape(-1)), spare.shape[1])
    precision = None
    if embedding.precise is not None:
        rows = packed(embedding.precise)
        columns["half_space"] = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
        precision = loss_of_rounding(embedding.precise, embedding.vectors, embedding.space)
    reach = embedding.known_reach()
    if reach is not None:
        columns["reach"] = pa.array(reach)
    description = {
        **embedding.provenance.to_dict(),
        "format": FORMAT_VERSION,
        "version": __version__,
        "geometry": embedding.geometry,
        "dim": embedding.dim,
        "names": _kind(hierarchy),
        "virtual_root": None if hierarchy.virtual_root is None else str(hierarchy.names[hierarchy.virtual_root]),
    }
    if precision is not None:
        description["precision"] = precision
    text = json.dumps(json_value(description), sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
    table = pa.table(columns)
    return table.replace_schema_metadata({METADATA_KEY: text, HASH_KEY: content_hash(table, text).encode()})


@dataclass(frozen=True)
class ModelFile:
    """A model file that was read and checked.

    Attributes
    ----------
    embedding
        What it holds.
    format
        Version of the format.
    sha256
        The hash that was saved with the content, and is that of what was read; None in files before format 3.
    """

    embedding: Embedding
    format: int
    sha256: str | None


def load(path: str | os.PathLike[str]) -> Embedding:
    """Read a model that :meth:`Embedding.save` wrote; anything else, and what was damaged since, is refused.

    The SHA-256 that was saved with the content is compared: it costs little beside the rest.
    """
    return open_model(as_path(path)).embedding


def open_model(path: Path) -> ModelFile:
    """Read and check a model file; InputError with one sentence for anything else, and for a damaged one.

    It may take as much memory as reading does by default.
    """
    before = _state_of(path)
    with memory_budget("auto", str(path), can_be_set=False):
        found = _open_model(path)
    if before is not None:  # from before the reading: a change during it counts as one after it
        _seen[os.path.realpath(path)] = before
    return found


def _open_model(path: Path) -> ModelFile:
    table = _read_table(path)
    metadata = table.schema.metadata or {}
    if METADATA_KEY not in metadata:
        raise InputError(
            f"{str(path)!r} is a Parquet file but not a treeball model; make one with  treeball fit FILE -o MODEL"
        )
    try:
        return _from_table(table, metadata[METADATA_KEY], metadata.get(HASH_KEY))
    except InputError as error:
        raise InputError(f"{str(path)!r} holds no usable model: {error}") from error
    except RecursionError:
        raise InputError(f"{str(path)!r} holds no usable model: its record is nested too deeply; {REMEDY}") from None
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"{str(path)!r} holds no usable model: its parts do not fit together ({reason}); {REMEDY}"
        ) from error


def is_model(path: Path) -> bool:
    """Whether `path` looks like a saved model: a Parquet file whose metadata says so."""
    try:
        return METADATA_KEY in (pq.read_schema(path).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def _read_table(path: Path) -> pa.Table:
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}; make a model with  treeball fit FILE -o MODEL")
    if (path / "manifest.json").is_file():
        raise InputError(
            f"{str(path)!r} is a model folder, which this command does not take: evaluate, neighbors, ask, info, "
            "verify, export, insert, update, serve and view do"
        )
    if path.is_dir():
        raise InputError(
            f"{str(path)!r} is a directory, not a model file; make a model with  treeball fit FILE -o MODEL"
        )
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
        if magic != b"PAR1":
            raise InputError(
                f"{str(path)!r} is not a treeball model (not a Parquet file); make one with  treeball fit FILE -o MODEL"
            )
        table = read_columns(path)
    except (InputError, MemoryError):
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{str(path)!r} is damaged or cut short and cannot be read; {REMEDY}") from error
    require_room(_COPIES * table.nbytes)
    return table


def _from_table(table: pa.Table, text: bytes, saved_hash: bytes | None) -> ModelFile:
    require_known_version(text)
    if saved_hash is not None and content_hash(table, text).encode() != saved_hash:
        raise InputError(f"it was damaged or changed: its SHA-256 is not the one it was saved with; {REMEDY}")
    description = _record_of(text)
    version: int = description["format"]
    if saved_hash is None and version >= _FIRST_WITH_HASH:
        raise InputError(f"it was damaged or changed: the SHA-256 that it was saved with is gone; {REMEDY}")
    return ModelFile(
        _embedding(table, description), version, None if saved_hash is None else saved_hash.decode("ascii")
    )


def _record_of(text: bytes) -> dict[str, Any]:
    """The record of a file; ValueError for a text in it that UTF-8, and so the next file, cannot hold."""
    description: dict[str, Any] = json.loads(text.decode())
    if b"\\u" in text:
        json.dumps(description, ensure_ascii=False).encode()
    return description


def _embedding(table: pa.Table, description: dict[str, Any]) -> Embedding:
    record = {name: value for name, value in description.items() if name not in _OF_THE_FILE}
    virtual = description.get("virtual_root")
    names = names_of(table, description["names"], virtual)
    child, parent, weights = edges_of(table)
    root = None if virtual is None else names.index_of(virtual)
    if root is not None and len(names) == 1:
        raise ValueError("there is nothing below its virtual root")
    hierarchy = Hierarchy.from_codes(names, child, parent, weights=weights, virtual_root=root)
    spare = rows_of(table, "spare") if "spare" in table.column_names else None
    reach = table["reach"].to_numpy() if "reach" in table.column_names else None
    made_by = Provenance.from_dict(record)
    vectors = rows_of(table, "vector")
    precise = _precise_points(table, description) if "half_space" in table.column_names else None
    embedding = Embedding(
        vectors, hierarchy, description["geometry"], made_by, reach=reach, spare=spare, precise=precise
    )
    if description.get("dim", embedding.dim) != embedding.dim:
        raise ValueError(f"the vectors have dimension {embedding.dim}, and the record says {description['dim']!r}")
    return embedding


def _precise_points(table: pa.Table, description: dict[str, Any]) -> NDArray[np.float64]:
    """The points of several terms, (terms, n, dim)."""
    rows = rows_of(table, "half_space")
    terms = description["precision"]["terms"]
    if not isinstance(terms, int) or terms < 1 or (rows.shape[1] - 1) % terms:
        raise ValueError(f"the column half_space has {rows.shape[1]} numbers a row, which are not of {terms!r} terms")
    return unpacked(rows, terms)


def _kind(hierarchy: Hierarchy) -> str:
    """Whether names are to be read back as text or as integers; a virtual root has a text name either way."""
    names = hierarchy.names
    if hierarchy.virtual_root is None or names.kind == "str":
        return "int" if names.kind == "int" else "str"
    return "int" if Names.of(names.take(hierarchy.real_nodes())).kind == "int" else "str"
