"""Model files that treeball would not write today: changed by somebody who means harm, or of an earlier version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from treeball.io.model_columns import METADATA_KEY
from treeball.io.model_hash import HASH_KEY, content_hash


def rewritten(path: Path, change: Any = None, **columns: Any) -> Path:
    """The same model file with some columns and fields of its record replaced, as somebody who means harm would."""
    table = pq.read_table(path)
    text = table.schema.metadata[METADATA_KEY]
    for name, column in columns.items():
        place = table.column_names.index(name)
        table = table.remove_column(place) if column is None else table.set_column(place, name, column)
    if change is not None:
        text = change(json.loads(text))
        text = text if isinstance(text, bytes) else json.dumps(text).encode()
    digest = content_hash(table, text).encode()
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: text, HASH_KEY: digest}), path)
    return path


def earlier(path: Path) -> Path:
    """As it was written before there was a hash."""
    table = pq.read_table(path)
    record = json.loads(table.schema.metadata[METADATA_KEY]) | {"format": 2}
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(record).encode()}), path)
    return path
