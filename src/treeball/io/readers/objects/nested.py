"""Nested data, whether from JSON, YAML or Python: node objects, mappings of mappings, lists, records, links.

A parsed mapping is a dict, or :class:`values.Pairs` where a file repeats a key. Which shape it is, is decided here;
node objects and mappings of mappings are walked through by `walk`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....errors import InputError
from ....hierarchy.read_report import listed, short
from ....hierarchy.repairs import RepairKind
from ....words import count
from ..relation import Relation, RelationBuilder
from ..settings import ReadSettings
from ..tables.columns import plain, roles_from_header
from ..tables.records import are_records, check_weight, node_or_missing, relation_of_records
from .documents import refuse_document
from .keywords import CHILD_KEYS, NAME_KEYS, value_under
from .node_link import Graph, graph_in, node_name
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
    insisted = is_insisted(settings)
    if isinstance(value, (list, tuple)) and not insisted:
        refuse_document(value, label)
    return relation_of_tree(value, format, label, insisted)


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
    return builder.finish(format, columns_given=True, words_mark_roots=True)


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
    graph = graph_in(value)
    if graph is not None:
        return _relation_of_graph(graph, format, label, settings)
    keys = [str(key) for key in value]
    columns = list(value.values())
    if all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1:
        words = None if _refer_to_keys(value) else roles_from_header(keys)
        if len(keys) > 1 and words is not None and words.direction is not None and columns[0]:
            records = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
            relation = relation_of_records(records, f"columns in {format}", label, settings)
            if not value.keys().isdisjoint(item for column in columns for item in column if is_name(item)):
                relation.notes.append(
                    f"the keys {listed(keys, len(keys))} were taken as names of columns, not of nodes"
                )
            return relation
    if len(columns) == 1 and isinstance(columns[0], list) and are_records(columns[0]):
        return relation_of_records(_mappings(columns[0], label), f"records in {format}", label, settings)
    if not is_insisted(settings):
        refuse_document(value, label)
    has_children = any(plain(key) in CHILD_KEYS for key in value)
    if has_children and value_under(value, NAME_KEYS) is not None and not _are_parents(value):
        return None
    if columns and all(is_name(column) or column is None or column == "" for column in columns):
        # Numbers below keys are properties, unless they refer to keys.
        if not any(is_name(column) and (not isinstance(column, Number) or column in value) for column in columns):
            return None
        if not is_insisted(settings) and not _are_parents(value):
            return None
        return relation_of_parents(value, f"child: parent in {format}")
    if columns and all(isinstance(column, (list, tuple, set, frozenset)) for column in columns):
        flat = [item for column in columns for item in column]
        if all(is_name(item) for item in flat) and not value.keys().isdisjoint(flat):
            return relation_of_adjacency(value, f"lists in {format}")
    return None


def is_insisted(settings: ReadSettings) -> bool:
    """Whether the user named the format, so that any shape is read as names inside names."""
    return settings.format in ("json", "yaml")


def _refer_to_keys(value: dict[Any, Any]) -> bool:
    """Whether most keys stand in a list below another key, as they do where each has the list of its children."""
    listed = {item for column in value.values() for item in column if is_name(item)}
    return len(value) > 3 and 2 * len(listed & value.keys()) > len(value)


def _are_parents(mapping: Mapping[Any, Any]) -> bool:
    """Whether texts below keys are parents rather than properties: they are keys, too, or come again."""
    parents = [value for value in mapping.values() if value is not None and value != ""]
    if not all(map(is_name, parents)):
        return False
    return any(parent in mapping for parent in parents) or 2 * len(set(parents)) <= len(parents)


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


def _relation_of_graph(graph: Graph, format: str, label: str, settings: ReadSettings) -> Relation:
    """Relation of the links, with the nodes that have none, and the labels of all."""
    links = graph.links
    if not links and are_records(graph.nodes):  # Cytoscape: nodes inside of nodes
        return relation_of_records(_mappings(graph.nodes, label), f"nodes in {format}", label, settings)
    if not links:
        raise InputError(f"{label} is a graph without links: a hierarchy needs at least one child with a parent")
    if not graph.is_directed:
        raise InputError(
            f"{label} is an undirected graph, which has no up and down: read it with networkx and pass the graph, or "
            "write each link from child to parent and say directed: true in it"
        )
    relation = (
        relation_of_pairs(links, f"links in {format}", label)
        if all(_is_pair(link) for link in links)
        else relation_of_records(_mappings(links, label), f"links in {format}", label, settings)
    )
    known = relation.names if isinstance(relation.names, list) else relation.names.to_pylist()
    ids = dict.fromkeys(name for name in map(node_name, graph.nodes) if is_name(name))
    strange = [name for name in known if name not in ids]
    if ids and len(strange) == len(known):
        raise InputError(f"{label} has links that refer to no node, such as {short(strange[0])}: give the nodes ids")
    if ids and strange:
        number = count(len(strange), "node")
        relation.notes.append(f"{number} of the links not among the nodes ({listed(strange, len(strange), 3)})")
        relation.record_nodes(RepairKind.UNDEFINED_PARENTS, strange, "a link names it, and it is not among the nodes")
    there = set(known)
    relation.names = [*known, *(name for name in ids if name not in there)]
    labels = {node_name(node): value_under(node, NAME_KEYS) for node in graph.nodes if isinstance(node, Mapping)}
    relation.labels = [labels.get(name) for name in relation.names]
    relation.words_mark_roots = not ids  # every name is a node that the document declares
    return relation
