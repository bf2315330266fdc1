"""Model files: mutated bytes, and whole files whose metadata or columns nobody wrote. A command is run on each."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import treeball
from treeball.cli.main import run
from treeball.errors import InputError
from treeball.io.model_columns import METADATA_KEY
from treeball.io.model_file import to_table

from ..case import Case
from ..dice import Dice
from ..examples import drawn, json_values
from ..mutate import mutated

_EDGES = [(f"leaf {i}", f"inner {i % 3}") for i in range(9)] + [(f"inner {i}", "root") for i in range(3)]
_SEVERAL = [*_EDGES, ("leaf 1", "inner 0"), ("leaf 2", "leaf 1")]
_COMMANDS = (
    "info", "info --json", "evaluate", "evaluate --json", "neighbors 'leaf 1'", "ask ancestors 'leaf 1'", "search leaf",
    "distance 'leaf 1' root", "similarity 'leaf 1' root", "export -o out.csv", "heal -o out.parquet",
    "export -o out.npy --coordinates tangent", "insert --name new --near 'leaf 1' -o out.parquet", "diagnose --json",
    "insert --remove 'leaf 1' -o out.parquet", "insert --rename root=top -o out.parquet", "view --html out.html",
    "suggest-parent --near 'leaf 1'",
)  # fmt: skip
_TYPES = (
    pa.string(),
    pa.float64(),
    pa.int64(),
    pa.binary(),
    pa.list_(pa.string()),
    pa.list_(pa.float64(), 1),
    pa.bool_(),
)
_VALUES = (np.nan, np.inf, 1e308, -1e308, 1.0, 0.0, 1e-320, 1.0 - 2.0**-53)
_made: list[pa.Table] = []


def prepare() -> None:
    """Make the models, and run every command on one."""
    labelled = treeball.read([{"id": i, "parent": i // 3 or None, "name": f"leaf {i}"} for i in range(1, 9)])
    models = [
        treeball.fit(_EDGES, method="sarkar", dim=3),
        treeball.fit(_SEVERAL, method="poincare", epochs=2, dim=2, threads=1),
        treeball.fit(_EDGES[:9], method="lorentz", epochs=2, dim=2, threads=1),
        treeball.fit(_EDGES, method="euclidean", epochs=2, dim=4, objective="ancestors", threads=1),
        treeball.fit(labelled, method="sarkar", dim=2),
    ]
    _made[:] = [to_table(model) for model in models]
    with tempfile.TemporaryDirectory() as folder:
        for command in _COMMANDS:
            case = Case("models", {"model.parquet": _written(_made[0])}, {"command": command})
            attempt(case, case.write(Path(folder)))


def make(dice: Dice) -> Case:
    """A model with other bytes, other metadata, or other columns."""
    table = dice.choice(_made)
    kind = dice.random()
    if kind < 0.3:
        data = mutated(_written(table), [_written(one) for one in _made[:2]], dice)
    elif kind < 0.7:
        data = _written(_other_metadata(table, dice))
    else:
        data = _written(_other_columns(table, dice))
    return Case("models", {"model.parquet": data}, {"command": dice.choice(_COMMANDS)})


def attempt(case: Case, folder: Path) -> None:
    """Run a command on the model, as a person would."""
    import shlex

    name, *rest = shlex.split(case.options["command"])
    rest = [str(folder / one) if one.startswith("out.") else one for one in rest]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([name, str(folder / "model.parquet"), *rest])
    said = err.getvalue()
    assert "Traceback" not in said, said
    if code:
        assert said, f"exit code {code} without a word"
        last = said.splitlines()[-1]
        assert last.startswith("treeball: "), said
        raise InputError(last)


def _written(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def _other_metadata(table: pa.Table, dice: Dice) -> pa.Table:
    record = json.loads(table.schema.metadata[METADATA_KEY])
    for _ in range(dice.choice((1, 1, 2))):
        _change_inside(record, dice)
    text = json.dumps(record)
    if dice.random() < 0.05:  # deeper than any parser recurses
        deep = dice.choice((500, 100_000))
        text = text.replace("null", "[" * deep + "]" * deep, 1)
    data = text.encode("utf-8", "surrogatepass")
    if dice.random() < 0.1:
        data = mutated(data, [data], dice)
    return table.replace_schema_metadata({METADATA_KEY: data})


def _change_inside(record: dict[str, Any], dice: Dice) -> None:
    """Replace, drop or add something at a place of the record that may be deep inside it."""
    place: Any = record
    while True:
        key = dice.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if isinstance(place[key], (dict, list)) and place[key] and dice.random() < 0.6:
            place = place[key]
            continue
        if dice.random() < 0.2:
            del place[key]
        elif dice.random() < 0.3 and isinstance(place, dict):
            place[key] = copy.deepcopy(record[dice.choice(list(record))])
        else:
            place[key] = copy.deepcopy(drawn(json_values, dice))  # the same one may be drawn twice
        return


def _other_columns(table: pa.Table, dice: Dice) -> pa.Table:
    """One column dropped, doubled, shuffled, cast, made of other numbers or without values."""
    place = dice.randrange(table.num_columns)
    name, column = table.column_names[place], table.column(place)
    kind = dice.randrange(6)
    if kind == 0:
        return table.drop_columns([name])
    if kind == 1:
        return table.append_column(dice.choice(table.column_names), column)
    if kind == 2:
        order = [dice.randrange(len(column)) for _ in range(len(column))]
        return table.set_column(place, name, column.take(order))
    if kind == 3:
        return table.slice(0, dice.randrange(len(column)))
    if kind == 4 and name in ("vector", "reach"):
        return table.set_column(place, name, _other_numbers(column.combine_chunks(), dice))
    with contextlib.suppress(pa.ArrowException):
        return table.set_column(place, name, column.cast(dice.choice(_TYPES)))
    return table.set_column(place, name, pa.nulls(len(column), dice.choice((column.type, *_TYPES))))


def _other_numbers(column: pa.Array, dice: Dice) -> pa.Array:
    is_list = pa.types.is_fixed_size_list(column.type)
    values = (column.values if is_list else column).to_numpy(zero_copy_only=False).astype(np.float64)
    for _ in range(dice.choice((1, 1, 4, values.size))):
        values[dice.randrange(values.size)] = dice.choice(_VALUES)
    if not is_list:
        return pa.array(values)
    width = column.type.list_size if dice.random() < 0.7 else 1
    return pa.FixedSizeListArray.from_arrays(pa.array(values[: len(column) * width]), width)
