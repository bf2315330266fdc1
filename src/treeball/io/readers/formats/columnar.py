"""Parquet and Arrow files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ....errors import InputError
from ...memory import held, watched
from ...model_columns import COLUMNS, METADATA_KEY, VECTORS_KEY, edges_of, names_of
from ...model_hash import HASH_KEY, content_hash
from ...model_version import require_known_version
from ...parquet_table import read_columns
from ..relation import MISSING, Relation
from ..settings import ReadSettings
from ..source import Source
from ..tables.arrow_table import choose_roles, names_no_parents, relation_of_table
from ..tables.columns import Roles


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of a Parquet or Arrow file."""
    if not source.is_container:
        raise InputError(f"{source.label} is neither Parquet nor an Arrow file: leave the format to be recognised")
    kind = "Parquet" if source.data.startswith(b"PAR1") else "Arrow"
    roles = None
    try:
        if kind == "Parquet":
            made_here = None if settings.columns else _relation_of_model(source)
            if made_here is not None:
                return made_here
            table, roles = _parquet(source, settings)
        else:
            table = _arrow(source)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # damaged containers raise many kinds
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"{source.label} is a truncated or damaged {kind} file ({reason}); copy or write it again"
        ) from None
    return relation_of_table(table, f"a {kind} table", source.label, settings, roles)


def _relation_of_model(source: Source) -> Relation | None:
    """Relation of a model, or of vectors exported from one: all parents, weights, labels and synonyms; else None."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(source.data))
    metadata, there = file.schema_arrow.metadata or {}, file.schema_arrow.names
    if not (METADATA_KEY in metadata or VECTORS_KEY in metadata) or not {"node", "parent"} <= set(there):
        return None
    if METADATA_KEY in metadata:
        try:
            require_known_version(metadata[METADATA_KEY])
        except InputError as error:
            raise InputError(f"{source.label} is a model that cannot be read: {error}") from None
    wanted = [name for name in COLUMNS if name in there]
    if HASH_KEY in metadata:  # of all that the file says, so all of it is needed
        table = read_columns(source.data, there)
        if content_hash(table, metadata.get(METADATA_KEY, b"")).encode() != metadata[HASH_KEY]:
            raise InputError(f"{source.label} is a model that was damaged or changed: restore it, or fit it again")
        table = table.select(wanted)
    else:
        table = read_columns(source.data, wanted)
    described = json.loads(metadata.get(METADATA_KEY, b"{}"))
    virtual = described.get("virtual_root")
    names = names_of(table, described.get("names", "str"), virtual)
    child, parent, weights = edges_of(table)
    kept = np.arange(len(names)) if virtual is None else np.delete(np.arange(len(names)), names.index_of(virtual))
    code = np.full(len(names), MISSING, np.int32)
    code[kept] = np.arange(kept.size)
    edge = (code[child] != MISSING) & (code[parent] != MISSING)
    own = names.subset(kept)
    return Relation(
        "a model" if METADATA_KEY in metadata else "exported vectors",
        own.to_arrow() if own.kind == "str" else list(own),
        code[child[edge]],
        code[parent[edge]],
        weights=None if weights is None else weights[edge],
        labels=own.labels.to_arrow() if own.has_labels else None,
        synonyms=own.synonyms,
        direction="child-parent",
    )


def _arrow(source: Source) -> pa.Table:
    """The table of an Arrow file, batch by batch: compressed ones may be far larger than the file."""
    with held():
        file = pa.ipc.open_file(source.data)
        batches = watched((file.get_batch(i) for i in range(file.num_record_batches)), every=1)
        table = pa.Table.from_batches(list(batches), file.schema)
        table.validate(full=True)
    return table


def _parquet(source: Source, settings: ReadSettings) -> tuple[pa.Table, Roles | None]:
    """The columns that have a role, and the roles by their place in this smaller table; all where none has one."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(source.data))
    header = file.schema_arrow.names
    if names_no_parents(header, settings):
        return read_columns(source.data, header), None
    roles = choose_roles(header, [file.schema_arrow.field(i).type for i in range(len(header))], settings, source.label)
    used = [i for i in (roles.child, roles.parent, roles.weight, roles.label) if i is not None]
    wanted = list(dict.fromkeys(header[i] for i in sorted(used)))
    place = {i: wanted.index(header[i]) for i in used}
    chosen = replace(
        roles,
        child=place[roles.child],
        parent=place[roles.parent],
        weight=None if roles.weight is None else place[roles.weight],
        label=None if roles.label is None else place[roles.label],
    )
    return read_columns(source.data, wanted), chosen
