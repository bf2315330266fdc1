"""Changes of a model that was valid: of its record, of its columns, and of the hierarchy that they say."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from treeball.io.model_columns import METADATA_KEY
from treeball.io.model_hash import HASH_KEY, content_hash

from .dice import Dice
from .examples import TEXTS, drawn, json_values
from .mutate import mutated

__all__ = ["changed", "sealed"]

_TYPES = (
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.float64(), pa.float32(), pa.float16(), pa.int64(),
    pa.uint8(), pa.bool_(), pa.null(), pa.timestamp("ns"), pa.decimal128(38, 5), pa.list_(pa.string()),
    pa.large_list(pa.string()), pa.list_(pa.float64()), pa.list_(pa.float64(), 1), pa.list_(pa.float32(), 3),
    pa.list_(pa.list_(pa.float64(), 1), 3), pa.dictionary(pa.int32(), pa.string()), pa.struct([("a", pa.string())]),
)  # fmt: skip
_NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1.0, 0.0, -1.0, 1e-320, 1.0 - 2.0**-53, 40.0)
_WIDTHS = (0, 1, 2, 3, 65, 5_000)
_COLUMNS = ("label", "synonyms", "weight", "other_parents", "other_weights", "spare", "reach", "vector", "extra", "")
_NAMES = (
    "",
    " ",
    "leaf 1",
    "leaf  1",
    "1",
    "+1",
    "01",
    "1_0",
    "٣",
    "-0",
    "9" * 30,
    "<root>",
    "\x1b[31m",
    "=cmd()",
    "a\nb",
)
# What the record says of the file itself and of the training, by name: values that are almost right.
_ALMOST: dict[str, tuple[Any, ...]] = {
    "format": (1, 2, 3, 4, -1, 3.0, True, "3", None, 10**30),
    "record": (0, 1, 2, 3, 2.0, None, 10**30),
    "geometry": ("poincare", "lorentz", "euclidean", "sphere", "", None, 1, ["poincare"], {}),
    "dim": (0, 1, 2, 3, 4, 2.0, True, "2", None, -1, 10**30),
    "names": ("int", "str", "", None, 1, []),
    "virtual_root": (None, "root", "<root>", "nobody", "", 0, 3, ["root"], {}),
    "objective": ("parents", "ancestors", "", None, 1, ["parents"], {}),
    "method": (
        "auto", "sarkar", "poincare", "lorentz", "euclidean", "ga-dl", "construct", "imported", "", "x\ny", None, 1,
    ),
    "settings": (None, {}, [], {"epochs": "2"}, {"dim": -1, "epochs": 10**30}, {"": {}}, {"seed": None}),
    "scores": (None, {}, [], {"map": 2}, {"illness": {}}, {"illness": {"capacity": -1}}, {"map": None}),
    "epochs_done": (0, 1, 2, 10**9, 2**63 - 1, 2**63, -1, 1.5, None),
    "seed": (0, 2**32, 2**63 - 1, 2**64, -1, "1", None),
    "clamped": (None, {}, {"times": 3}, {"times": 3, "at_radius": "far"}, {"times": 1, "at_radius": -1}),
    "log": (None, [], [{}], [{"epoch": 1, "text": ""}], [{"epoch": 1, "text": "a\n\x1b[31mb", "facts": {"text": 1}}]),
    "trace": (None, [], [{}], [{"epoch": 0}], [{"epoch": 1, "map": None}, {"epoch": 0, "loss": -1e299}]),
    "input": (None, {}, {"source": 1}, {"repairs": "x", "nodes": -1}, {"sha256": ""}),
    "version": ("", "0", "99.0", "x\ny", None, 1),
}  # fmt: skip


def changed(table: pa.Table, dice: Dice) -> pa.Table:
    """The table of a model after one change, or a few."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        with contextlib.suppress(pa.ArrowException):  # Arrow does not do everything with every type
            table = dice.choice(_CHANGES)(table, dice)
    return table


def sealed(table: pa.Table) -> pa.Table:
    """The table with the hash of what it holds now; where none can be computed, with the one it had."""
    metadata = table.schema.metadata or {}
    try:
        digest = content_hash(table, metadata[METADATA_KEY]).encode()
    except (KeyError, TypeError, ValueError, NotImplementedError, pa.ArrowException):
        return table
    return table.replace_schema_metadata({**metadata, HASH_KEY: digest})


# ---- the record ----


def _other_record(table: pa.Table, dice: Dice) -> pa.Table:
    try:
        record = json.loads(table.schema.metadata[METADATA_KEY])
        if dice.random() < 0.5:
            name = dice.choice(list(_ALMOST))
            record[name] = dice.choice(_ALMOST[name])
        else:
            _change_inside(record, dice)
        text = json.dumps(record)
    except (ValueError, RecursionError):  # the change before has seen to that, or made it too deep to be copied
        return table
    if dice.random() < 0.05:  # deeper than any parser recurses
        deep = dice.choice((15, 500, 100_000))
        text = text.replace("null", dice.choice(("[", '{"a":')) * deep + "null" + dice.choice("]}") * deep, 1)
    data = text.encode("utf-8", "surrogatepass")
    return _with_record(table, mutated(data, [data], dice) if dice.random() < 0.1 else data)


def _with_record(table: pa.Table, data: bytes) -> pa.Table:
    return table.replace_schema_metadata({**table.schema.metadata, METADATA_KEY: data})


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


# ---- the columns ----


def _no_column(table: pa.Table, dice: Dice) -> pa.Table:
    return table.remove_column(dice.randrange(table.num_columns)) if table.num_columns > 1 else table


def _one_more_column(table: pa.Table, dice: Dice) -> pa.Table:
    """A column that is there already, under its name or another, or one without values."""
    name = dice.choice((*_COLUMNS, *table.column_names))
    if dice.random() < 0.5 and table.num_columns:
        return table.append_column(name, table.column(dice.randrange(table.num_columns)))
    return table.append_column(name, pa.nulls(table.num_rows, dice.choice(_TYPES)))


def _other_type(table: pa.Table, dice: Dice) -> pa.Table:
    place, kind = dice.randrange(table.num_columns), dice.choice(_TYPES)
    column = table.column(place)
    with contextlib.suppress(pa.ArrowException):
        return table.set_column(place, table.column_names[place], column.cast(kind))
    return table.set_column(place, table.column_names[place], pa.nulls(len(column), kind))


def _other_rows(table: pa.Table, dice: Dice) -> pa.Table:
    """Fewer rows, some of them twice, in another order, or in pieces."""
    count = table.num_rows
    rows = [dice.randrange(count) for _ in range(dice.choice((1, 2, count, 2 * count)))] if count else []
    kind = dice.randrange(3)
    if kind == 0:
        return table.slice(0, dice.choice((0, 1, 2, count // 2)))
    if kind == 1:
        return table.take(pa.array(rows, pa.int64()))
    return pa.concat_tables([table.slice(count // 2), table.slice(0, count // 2)])


def _other_values(table: pa.Table, dice: Dice) -> pa.Table:
    """Some numbers, texts or lists of a column are others; or missing."""
    place = dice.randrange(table.num_columns)
    column = table.column(place)
    values, kind = column.to_pylist(), column.type
    for _ in range(dice.choice((1, 1, 2, len(values)))):
        if values:
            values[dice.randrange(len(values))] = None if dice.random() < 0.2 else _value(kind, table, dice)
    with contextlib.suppress(pa.ArrowException, UnicodeEncodeError, TypeError, OverflowError):
        return table.set_column(place, table.column_names[place], pa.array(values, kind))
    return table


def _value(kind: pa.DataType, table: pa.Table, dice: Dice) -> Any:
    """A value of a type: a number, a name of the hierarchy or another, or a list of such."""
    if pa.types.is_fixed_size_list(kind):
        return [_value(kind.value_type, table, dice) for _ in range(kind.list_size)]
    if pa.types.is_list(kind):
        return [_value(kind.value_type, table, dice) for _ in range(dice.choice((0, 1, 1, 2, 9)))]
    if pa.types.is_floating(kind):
        return dice.choice(_NUMBERS)
    if pa.types.is_string(kind):
        names = table["node"].to_pylist() if table.column_names.count("node") == 1 else []
        return dice.choice((dice.choice(names or [None]), dice.choice(_NAMES), drawn(_texts, dice)))
    return None


def _texts() -> Any:
    return TEXTS


def _other_width(table: pa.Table, dice: Dice) -> pa.Table:
    """Vectors, spare dimensions or none, of other lengths or in other numbers."""
    name, width = dice.choice(("vector", "vector", "spare")), dice.choice(_WIDTHS)
    scale = dice.choice((0.0, 1e-300, 0.01, 0.5, 2.0, 1e308))
    values = scale * np.linspace(-1, 1, table.num_rows * width) / max(width, 1) ** 0.5
    with np.errstate(over="ignore"):
        numbers = pa.array(values.astype(dice.choice(("<f8", "<f8", "<f4", "<f2"))))
    if width:
        lists: pa.Array = pa.FixedSizeListArray.from_arrays(numbers, width)
    else:
        lists = pa.array([[]] * table.num_rows, pa.list_(pa.float64(), 0))
    kept = [place for place, one in enumerate(table.column_names) if one != name]
    return table.select(kept).append_column(name, lists)


# ---- the hierarchy ----


def _other_parents(table: pa.Table, dice: Dice) -> pa.Table:
    """A cycle, a node that is its own parent, none without a parent, or all without."""
    if any(table.column_names.count(name) != 1 for name in ("node", "parent")) or not table.num_rows:
        return table
    names, parents = table["node"].to_pylist(), table["parent"].to_pylist()
    kind = dice.randrange(4)
    if kind == 0:
        parents = [*names[1:], dice.choice((names[0], None))]
    elif kind == 1:
        node = dice.randrange(len(names))
        parents[node] = names[node]
    elif kind == 2:
        parents = [dice.choice(names) if one is None else one for one in parents]
    else:
        parents = [None] * len(names)
    return table.set_column(table.column_names.index("parent"), "parent", pa.array(parents, pa.string()))


_CHANGES: tuple[Callable[[pa.Table, Dice], pa.Table], ...] = (
    _other_record, _other_record, _other_record, _no_column, _one_more_column, _other_type, _other_rows, _other_values,
    _other_values, _other_values, _other_width, _other_parents,
)  # fmt: skip
