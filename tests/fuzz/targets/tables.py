"""Parquet and Arrow files, mutated, or whole ones with columns of any type in any order."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc
import pyarrow.parquet as pq

import treeball
from treeball.errors import TreeballError

from ..case import Case
from ..dice import Dice
from ..examples import TEXTS, drawn
from ..mutate import mutated
from . import readers

_NAMES = ("child", "parent", "id", "parent_id", "name", "level 1", "level 2", "path", "weight", "", "node", "vector")
_TYPES: tuple[pa.DataType, ...] = (
    pa.string(), pa.large_string(), pa.binary(), pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(),
    pa.bool_(), pa.null(), pa.date32(), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.duration("ns"),
    pa.time64("ns"), pa.decimal128(38, 5), pa.list_(pa.string()), pa.list_(pa.int64(), 2),
    pa.struct([("a", pa.string())]), pa.dictionary(pa.int8(), pa.string()), pa.string_view(),
    pa.dictionary(pa.int32(), pa.large_string()),
    pa.map_(pa.string(), pa.int32()), pa.binary(3), pa.float16(),
)  # fmt: skip


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _arrow_file(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _arrow_stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _feather(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    feather.write_feather(table, sink, compression="zstd")
    return sink.getvalue()


_WRITERS: tuple[Callable[[pa.Table], bytes], ...] = (_parquet, _arrow_file, _arrow_file, _arrow_stream, _feather)
_PLAIN = pa.table(
    {"child": ["dog", "cat", "owl", "bird", "mammal"], "parent": ["mammal"] * 2 + ["bird"] + ["animal"] * 2}
)
_CODED = pa.table(
    {name: column.dictionary_encode() for name, column in zip(_PLAIN.column_names, _PLAIN.columns, strict=True)}
)
_NUMBERS = pa.table({"id": [1, 2, 3, 4], "parent_id": [None, 1, 1, 2], "name": ["a", "b", "c", "d"]})
_SEEDS = [write(table) for table in (_PLAIN, _CODED, _NUMBERS) for write in dict.fromkeys(_WRITERS)]


def prepare() -> None:
    """Read what is valid."""
    for data in _SEEDS:
        try:
            treeball.read(data)
        except TreeballError:
            assert not data.startswith((b"PAR1", b"ARROW1")), "only a stream may be refused"


def make(dice: Dice) -> Case:
    """A file of bytes that were changed, or a whole one of a table that nobody meant."""
    data = dice.choice(_SEEDS) if dice.random() < 0.6 else dice.choice(_WRITERS)(_any_table(dice))
    if dice.random() < 0.6:
        data = mutated(data, _SEEDS, dice)
    return Case("tables", {"input": data}, readers.options(dice))


def attempt(case: Case, folder: Path) -> None:
    """Read it as any other file."""
    readers.attempt(case, folder)


def _any_table(dice: Dice) -> pa.Table:
    """A table of up to four columns; where values do not fit a type, they are missing."""
    rows = dice.choice((0, 1, 3, 10))
    names = dice.choices(_NAMES, k=dice.randint(1, 4))
    columns = [_column(dice.choice(_TYPES), rows, dice) for _ in names]
    try:
        return pa.Table.from_arrays(columns, names=names)
    except pa.ArrowException:
        return _PLAIN


def _column(kind: pa.DataType, rows: int, dice: Dice) -> pa.Array:
    try:
        return pa.array([_value(dice) for _ in range(rows)]).cast(kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    try:
        small = pa.array([dice.randrange(5) for _ in range(rows)])
        return small.cast(kind if not pa.types.is_dictionary(kind) else pa.string())
    except (pa.ArrowException, TypeError):
        return pa.nulls(rows, kind)


def _value(dice: Dice) -> Any:
    return dice.choice(("a", "b", "c", "a > b", "", None, drawn(_texts, dice)))


def _texts() -> Any:
    return TEXTS.filter(lambda text: text.isascii() or "\ud800" not in text)
