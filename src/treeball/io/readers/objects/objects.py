"""Python objects: mappings, graphs, tables, iterables of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ....errors import InputError
from ..paths import mark_of, relation_of_paths
from ..relation import Relation
from ..settings import ReadSettings
from ..tables.arrow_table import relation_of_table
from ..tables.columns import roles_from_header
from ..tables.records import are_records, relation_of_records
from . import graphs, nested
from .documents import refuse_document


def read_object(value: Any, settings: ReadSettings) -> Relation:
    """Relation of ``value``, by what it can do rather than by its class."""
    label = f"the {type(value).__name__}"
    kind = type(value).__name__
    if kind == "LazyFrame" and hasattr(value, "collect"):
        raise InputError("the LazyFrame holds no rows yet: pass frame.collect()")
    if kind == "Series" and hasattr(value, "dtype"):
        texts = value.to_list()
        if all(isinstance(text, str) for text in texts) and mark_of(texts, settings) is not None:
            return _paths(texts, label, settings)
        raise InputError(
            "the Series is one column, and a hierarchy needs child and parent: pass a DataFrame with both columns, or "
            "dict(zip(children, parents))"
        )
    if graphs.is_graph(value):
        return graphs.read_graph(value, settings)
    if isinstance(value, Mapping):
        if not value:
            raise InputError(f"{label} is empty: a hierarchy needs at least one edge")
        return _mapping(dict(value), label, settings)
    if hasattr(value, "__arrow_c_stream__") or isinstance(value, (pa.Table, pa.RecordBatch)):
        return _table(value, label, settings)
    if isinstance(value, Iterable):
        return _items(list(value), label, settings)
    raise InputError(
        f"{label} cannot be read as a hierarchy: give a path, a graph, a table, a mapping or an iterable of pairs"
    )


def _mapping(value: dict[Any, Any], label: str, settings: ReadSettings) -> Relation:
    values = list(value.values())
    if _tuples_name_nodes(value):
        return nested.relation_of_parents(value, "{child: parent}")
    if not nested.is_insisted(settings) and not isinstance(value.get("nodes"), list):
        refuse_document(value, label)
    if all(not isinstance(item, (dict, list, tuple, set, frozenset)) for item in values):
        return nested.relation_of_parents(value, "{child: parent}")
    if all(isinstance(item, (list, tuple, set, frozenset)) for item in values):
        flat = [item for several in values for item in several]
        if not any(isinstance(item, (dict, list, set)) for item in flat):
            return nested.relation_of_adjacency(value, "{node: [nodes]}")
    return nested.interpret(value, "mappings", label, settings)


def _tuples_name_nodes(value: dict[Any, Any]) -> bool:
    """Whether tuples below tuple keys are parents, not lists of children: each is itself a key, or built like one."""
    values = [item for item in value.values() if item is not None]
    if not values or not all(type(key) is tuple for key in value) or not all(type(item) is tuple for item in values):
        return False
    built = {_built(key) for key in value}
    return all(item in value or _built(item) in built for item in values)


def _built(names: tuple[Any, ...]) -> tuple[type, ...]:
    return tuple(type(name) for name in names)


def _with_index(frame: Any, settings: ReadSettings) -> Any:
    """A pandas frame whose index is a column where it is needed: it has a name and no column tells the nodes."""
    names = list(frame.index.names)
    columns = [str(column) for column in frame.columns]
    named = all(name is not None and str(name) not in columns for name in names)
    if settings.columns or settings.name_column:
        wanted = any(str(name) in (*settings.columns, settings.name_column) for name in names)
        return frame.reset_index(drop=not (wanted and named))
    roles, whole = roles_from_header(columns), roles_from_header([*map(str, names), *columns])
    needed = roles is None or (whole is not None and whole.child < len(names))
    if named and needed and (whole is not None or len(columns) == 1):
        return frame.reset_index()
    return frame if len(columns) == 1 else frame.reset_index(drop=True)


def _table(value: Any, label: str, settings: ReadSettings) -> Relation:
    if hasattr(value, "reset_index") and hasattr(value, "index") and hasattr(value, "columns"):
        value = _with_index(value, settings)
    try:
        table = pa.table(value)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError) as error:
        # Columns of mixed Python objects have no Arrow type; records keep any hashable.
        if hasattr(value, "to_dict") and hasattr(value, "columns"):
            records = value.to_dict("records")
            return relation_of_records(records, "a table", label, settings)
        raise InputError(f"{label} cannot be read as a table: {error!s:.100}") from None
    return relation_of_table(table, "a table", label, settings)


def _items(items: list[Any], label: str, settings: ReadSettings) -> Relation:
    if not items:
        raise InputError(f"{label} is empty: a hierarchy needs at least one pair of child and parent")
    if isinstance(items[0], Mapping):
        if are_records(items) or settings.columns:
            return relation_of_records(items, "records", label, settings)
        return nested.interpret(items, "mappings", label, settings)
    if all(isinstance(item, str) for item in items) and mark_of(items, settings) is not None:
        return _paths(items, label, settings)
    pairs = []
    for number, item in enumerate(items, start=1):
        if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
            raise InputError(
                f"{label}, item {number}: {item!r:.60} is not a pair of child and parent, nor a path such as 'A > B'"
            )
        pair = tuple(item)
        if len(pair) not in (2, 3):
            raise InputError(
                f"{label}, item {number}: {len(pair)} entries where a pair (child, parent) or a triple with a weight "
                "belongs"
            )
        pairs.append(pair)
    return nested.relation_of_pairs(pairs, "pairs", label)


def _paths(texts: list[str], label: str, settings: ReadSettings) -> Relation:
    """Texts such as "A > B > C", of which the list or column holds one an item."""
    relation = relation_of_paths(texts, settings, label, mark_of(texts, settings), count_repeats=False)
    relation.line_of = None
    return relation
