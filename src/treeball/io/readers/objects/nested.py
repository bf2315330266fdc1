"""Nested data, whether from JSON, YAML or Python: node objects, mappings of mappings, lists, records, links.

A parsed mapping is a dict, or :class:`values.Pairs` where a file repeats a key. Which shape it is, is decided here;
node objects and mappings of mappings are walked through by `walk`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import InputError
from ..relation import Relation, RelationBuilder
from ..settings import ReadSettings
from ..tables.columns import plain, roles_from_header
from ..tables.records import are_records, check_weight, node_or_missing, relation_of_records
from .keywords import CHILD_KEYS, ID_KEYS, NAME_KEYS
from .values import Number, Pairs, is_name
from .walk import relation_of_tree


def interpret(value: Any, format: str, label: str, settings: ReadSettings) -> Relation:
    """Relation of nested ``value``, in whichever of the usual shapes it is."""
    if isinstance(value, (list, tuple)) and not isinstance(value, Pairs):
        if are_records(value) or (settings.columns and value and isinstance(value[0], Mapping)):
            return relation_of_records(_mappings(value, label), f"records in {format}", label, settings)
        if value and all(_is_pair(item) for item in value):
            return relation_of_pairs(value, f"pairs in {format}", label)
    if isinstance(value, dict):
        found = _mapping_shape(value, format, label, settings)
        if found is not None:
            return found
    if not isinstance(value, (dict, list, tuple)):
        raise InputError(f"{label} holds a single value: nest the names, as in {{'animal': {{'dog': {{}}}}}}")
    return relation_of_tree(value, format, label)


def relation_of_pairs(pairs: Sequence[Any], format: str, label: str, lines: Sequence[int] | None = None) -> Relation:
    """Relation of pairs (first, second) or triples (first, second, weight), direction unknown."""
    builder = RelationBuilder()
    weighted = len(pairs[0]) == 3
    for number, pair in enumerate(pairs):
        if len(pair) != 2 + weighted:
            raise InputError(
                f"{label}, item {number + 1}: {len(pair)} entries where the first has {2 + weighted}; give all pairs a "
                "weight or none"
            )
        line = lines[number] if lines is not None else None
        first, second = node_or_missing(builder, pair[0]), node_or_missing(builder, pair[1])
        weight = check_weight(pair[2], f"{label}, item {number + 1}") if weighted else None
        builder.edge(first, second, weight, line)
    return builder.finish(format, columns_given=True)


def relation_of_parents(mapping: Mapping[Any, Any], format: str) -> Relation:
    """Relation of ``{child: parent}``."""
    builder = RelationBuilder()
    for child, parent in mapping.items():
        builder.edge(node_or_missing(builder, child), node_or_missing(builder, parent))
    return builder.finish(format, direction="child-parent")


def relation_of_adjacency(mapping: Mapping[Any, Any], format: str) -> Relation:
    """Relation of ``{node: [nodes]}``; normally the children of a parent, but the structure may say otherwise."""
    builder = RelationBuilder()
    for first, several in mapping.items():
        code = node_or_missing(builder, first)
        for second in several:
            builder.edge(code, node_or_missing(builder, second))
    return builder.finish(format, columns_given=True, default_direction="parent-child")


def _mapping_shape(value: dict[Any, Any], format: str, label: str, settings: ReadSettings) -> Relation | None:
    """Relation of a mapping that is not itself the tree, or None."""
    links = value.get("links", value.get("edges"))
    if isinstance(links, list) and links and isinstance(value.get("nodes"), list):
        relation = (
            relation_of_pairs(links, f"links in {format}", label)
            if all(_is_pair(link) for link in links)
            else relation_of_records(_mappings(links, label), f"links in {format}", label, settings)
        )
        return _with_isolated(relation, value["nodes"])
    keys = [str(key) for key in value]
    columns = list(value.values())
    if all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1:
        words = roles_from_header(keys)
        if len(keys) > 1 and words is not None and words.direction is not None and columns[0]:
            records = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
            return relation_of_records(records, f"columns in {format}", label, settings)
    if len(columns) == 1 and isinstance(columns[0], list) and are_records(columns[0]):
        return relation_of_records(_mappings(columns[0], label), f"records in {format}", label, settings)
    if _node_name(value) is not None and any(plain(key) in CHILD_KEYS for key in value):
        return None
    if columns and all(is_name(column) or column is None or column == "" for column in columns):
        # Numbers below keys are properties, unless they refer to keys.
        if not any(is_name(column) and (not isinstance(column, Number) or column in value) for column in columns):
            return None
        return relation_of_parents(value, f"child: parent in {format}")
    if columns and all(isinstance(column, (list, tuple, set, frozenset)) for column in columns):
        flat = [item for column in columns for item in column]
        if all(is_name(item) for item in flat) and not value.keys().isdisjoint(flat):
            return relation_of_adjacency(value, f"lists in {format}")
    return None


def _node_name(item: Any) -> Any:
    return _scalar_under(item, NAME_KEYS)


def _node_id(item: Any) -> Any:
    return _scalar_under(item, ID_KEYS)


def _scalar_under(item: Any, keys: tuple[str, ...]) -> Any:
    return _first_of({plain(key): value for key, value in item.items() if is_name(value)}, keys)


def _first_of(known: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in known:
            return known[key]
    return None


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, (list, tuple))
        and not isinstance(item, Pairs)
        and len(item) in (2, 3)
        and all(value is None or isinstance(value, (str, int, float)) for value in item)
    )


def _mappings(values: Sequence[Any], label: str) -> list[dict[Any, Any]]:
    if set(map(type, values)) == {dict}:
        return list(values)
    for number, value in enumerate(values, start=1):
        if not isinstance(value, (Mapping, Pairs)):
            raise InputError(
                f"{label}, item {number}: {value!r:.80} is not a record like the others; correct or remove it"
            )
    return [dict(value.items()) for value in values]


def _with_isolated(relation: Relation, nodes: Sequence[Any]) -> Relation:
    """``relation`` with the nodes of a node-link document that have no link, and the labels of all."""
    known = relation.names if isinstance(relation.names, list) else relation.names.to_pylist()
    ids = [_node_id(node) or _node_name(node) if isinstance(node, dict) else node for node in nodes]
    extra = [name for name in dict.fromkeys(i for i in ids if is_name(i)) if name not in set(known)]
    if extra:
        relation.names = [*known, *extra]
    labels = {_node_id(node): _node_name(node) for node in nodes if isinstance(node, dict)}
    relation.labels = [labels.get(name) for name in [*known, *extra]]
    return relation
