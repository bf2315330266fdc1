"""Nested data, whether from JSON, YAML or Python: node objects, mappings of mappings, lists, records, links.

A parsed mapping is a dict, or a :class:`Pairs` where a file repeats a key.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ....errors import InputError
from ..path_tree import PathTree
from ..relation import MISSING, Relation, RelationBuilder
from ..settings import ReadSettings
from ..tables.columns import plain, roles_from_header
from ..tables.pairs import several_names
from ..tables.records import are_records, check_weight, node_or_missing, relation_of_records
from .keywords import CHILD_KEYS, ID_KEYS, NAME_KEYS, keywords_of


class Number(str):
    """A number as it was written; below a key it is a property, in a list it is a name."""


class Pairs(list[tuple[Any, Any]]):
    """Items of a mapping whose keys repeat."""

    def items(self) -> Pairs:
        """The items themselves, as a dict would give them."""
        return self

    def keys(self) -> list[Any]:
        """The key of every item."""
        return [key for key, _ in self]

    def values(self) -> list[Any]:
        """The value of every item."""
        return [value for _, value in self]


def mapping_of(items: Sequence[tuple[Any, Any]]) -> dict[Any, Any] | Pairs:
    """A dict, or Pairs when a dict would lose a repeated key."""
    mapping = dict(items)
    return mapping if len(mapping) == len(items) else Pairs(items)


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
    return _relation_of_tree(value, format, label)


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
    if columns and all(_is_name(column) or column is None or column == "" for column in columns):
        # Numbers below keys are properties, unless they refer to keys.
        if not any(_is_name(column) and (not isinstance(column, Number) or column in value) for column in columns):
            return None
        return relation_of_parents(value, f"child: parent in {format}")
    if columns and all(isinstance(column, (list, tuple, set, frozenset)) for column in columns):
        flat = [item for column in columns for item in column]
        if all(_is_name(item) for item in flat) and not value.keys().isdisjoint(flat):
            return relation_of_adjacency(value, f"lists in {format}")
    return None


def _relation_of_tree(value: Any, format: str, label: str) -> Relation:
    """Relation of node objects and mappings, walked without recursion."""
    entries: list[tuple[int, Hashable, Hashable]] = []
    containers: set[int] = set()
    visits = 0
    pending: list[tuple[Any, int, bool]] = [(value, MISSING, True)]
    while pending:
        item, parent, in_list = pending.pop()
        if isinstance(item, (dict, list, tuple, set, frozenset)):
            visits += 1
            containers.add(id(item))
            if visits > 1000 + 20 * len(containers):
                raise InputError(f"{label} refers to itself or repeats its parts without end: write it out as a tree")
        later: list[tuple[Any, int, bool]] = []
        if isinstance(item, (dict, Pairs)):
            later = _open_mapping(item, parent, in_list, entries)
        elif isinstance(item, (list, tuple, set, frozenset)):
            later = [(element, parent, True) for element in item]
        elif isinstance(item, str) and not (isinstance(item, Number) and not in_list):
            entries.append((parent, str(item), None))
        elif in_list and item is not None and not isinstance(item, bool):
            entries.append((parent, _checked(item, label), None))
        if later:
            pending.extend(reversed(later))
    return _relation_of_entries(entries, f"nested {format}")


def _open_mapping(
    item: Any, parent: int, in_list: bool, entries: list[tuple[int, Hashable, Hashable]]
) -> list[tuple[Any, int, bool]]:
    """What is inside a mapping: the children of the node it describes, or a node for each of its keys."""
    pairs = item.items()
    if not pairs:
        return []
    values = list(item.values())
    keywords = keywords_of(tuple(map(str, item.keys())))
    name = _first_name(values, keywords.names) if keywords.names else None
    ident = _first_name(values, keywords.ids) if keywords.ids else None
    children = [values[i] for i in keywords.children] if keywords.children else []
    if (name if name is not None else ident) is not None and (children or in_list):
        entries.append((parent, name if name is not None else ident, ident))
        return [(child, len(entries) - 1, True) for child in children] if children else []
    # Among mappings of mappings a key is a node whatever it is called: only a list below it makes it a keyword.
    nested = len(children) == 1 and isinstance(children[0], list)
    if nested and all(_is_name(values[i]) or values[i] is None for i in keywords.others):
        # An object with children and no name stands for its parent; a nameless top is no node at all.
        if parent != MISSING:
            entries.append((parent, "", None))
        return [(children[0], parent if parent == MISSING else len(entries) - 1, True)]
    later = []
    for key, value in pairs:
        entries.append((parent, "" if key is None else key, None))
        if isinstance(value, bool) or (isinstance(value, (int, float)) and not isinstance(value, str)):
            continue
        later.append((value, len(entries) - 1, False))
    return later


def _first_name(values: Sequence[Any], places: Sequence[int]) -> Any:
    for place in places:
        if _is_name(values[place]):
            return values[place]
    return None


def _relation_of_entries(entries: list[tuple[int, Hashable, Hashable]], format: str) -> Relation:
    """By id when every node has one (a node may then stand in several places), else by path."""
    if entries and all(ident is not None for _, _, ident in entries):
        builder = RelationBuilder()
        labels: dict[int, str] = {}
        codes: list[int] = []
        several: dict[int, None] = {}
        for parent, name, ident in entries:
            codes.append(node_or_missing(builder, ident))
            if codes[-1] != MISSING:
                if labels.setdefault(codes[-1], str(name)) != str(name):
                    several[codes[-1]] = None
                builder.edge(codes[-1], MISSING if parent == MISSING else codes[parent])
        distinct = any(name != ident for _, name, ident in entries)
        ordered = [labels[code] for code in range(len(labels))] if distinct else None
        relation = builder.finish(format, direction="child-parent", labels=ordered)
        if several:
            relation.notes.append(several_names(len(several), builder.names[next(iter(several))]))
        return relation
    tree = PathTree()
    places: list[int] = []
    for parent, name, _ in entries:
        places.append(tree.add(MISSING if parent == MISSING else places[parent], name))
    return tree.to_relation(format)


def _node_name(item: Any) -> Any:
    return _scalar_under(item, NAME_KEYS)


def _node_id(item: Any) -> Any:
    return _scalar_under(item, ID_KEYS)


def _scalar_under(item: Any, keys: tuple[str, ...]) -> Any:
    return _first_of({plain(key): value for key, value in item.items() if _is_name(value)}, keys)


def _first_of(known: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in known:
            return known[key]
    return None


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, (list, tuple))
        and not isinstance(item, Pairs)
        and len(item) in (2, 3)
        and all(value is None or isinstance(value, (str, int, float)) for value in item)
    )


def _checked(item: Any, label: str) -> Hashable:
    if not isinstance(item, Hashable):
        raise InputError(f"{label}: a node cannot be named by {item!r:.80}")
    return item


def _mappings(values: Sequence[Any], label: str) -> list[dict[Any, Any]]:
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
    extra = [name for name in dict.fromkeys(i for i in ids if _is_name(i)) if name not in set(known)]
    if extra:
        relation.names = [*known, *extra]
    labels = {_node_id(node): _node_name(node) for node in nodes if isinstance(node, dict)}
    relation.labels = [labels.get(name) for name in [*known, *extra]]
    return relation
