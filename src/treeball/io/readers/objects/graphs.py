"""networkx graphs: directed ones by their edges, undirected trees from a root outwards."""

from __future__ import annotations

from collections import deque
from typing import Any

from ....errors import InputError
from ....hierarchy.read_report import short
from ....hierarchy.repairs import RepairKind
from ..hints import setting
from ..relation import MISSING, Relation, RelationBuilder
from ..settings import ReadSettings
from ..tables.records import check_weight, node_or_missing


def is_graph(value: Any) -> bool:
    """Whether ``value`` is a networkx graph (or offers the same methods)."""
    return all(hasattr(value, name) for name in ("is_directed", "edges", "nodes", "adj"))


def read_graph(graph: Any, settings: ReadSettings) -> Relation:
    """Relation of ``graph``; an edge attribute ``weight`` becomes the weight when every edge has it."""
    if graph.number_of_nodes() == 0:
        raise InputError("the graph is empty: a hierarchy needs at least one edge")
    if not graph.is_directed():
        return _undirected(graph, settings)
    builder = RelationBuilder()
    for node in graph.nodes:
        node_or_missing(builder, node)
    edges = list(graph.edges(data="weight"))
    weighted = bool(edges) and all(weight is not None for _, _, weight in edges)
    for first, second, weight in edges:
        amount = check_weight(weight, f"edge {first!r} -> {second!r}") if weighted else None
        builder.edge(node_or_missing(builder, first), node_or_missing(builder, second), amount)
    relation = builder.finish("a directed graph", columns_given=True)
    _describe(relation, graph)
    _note_missing_weights(relation, edges)
    return relation


def _describe(relation: Relation, graph: Any) -> None:
    """Labels and synonyms of the nodes, from their attributes ``label`` and ``synonyms``."""
    names = relation.names if isinstance(relation.names, list) else relation.names.to_pylist()
    of_node = dict(graph.nodes(data=True))
    told = [of_node.get(name, {}) for name in names]
    labels = [one.get("label") for one in told]
    if any(isinstance(label, str) for label in labels):
        relation.labels = [label if isinstance(label, str) else None for label in labels]
    lists = [one.get("synonyms") for one in told]
    if any(isinstance(some, (list, tuple)) for some in lists):
        relation.synonyms = [list(some) if isinstance(some, (list, tuple)) else [] for some in lists]


def _note_missing_weights(relation: Relation, edges: list[tuple[Any, Any, Any]]) -> None:
    missing = sum(weight is None for _, _, weight in edges)
    if 0 < missing < len(edges):
        note = f"the weights are not used, since {missing:,} of {len(edges):,} edges have none"
        relation.notes.append(note)
        relation.record_lines(RepairKind.WEIGHTS_NOT_USED, [None], f"{missing:,} of {len(edges):,} edges have none")


def _undirected(graph: Any, settings: ReadSettings) -> Relation:
    """Every tree of an undirected forest hangs from its first node, or from the node named by ``root``."""
    if any(first == second for first, second in graph.edges()) or graph.is_multigraph():
        raise InputError(
            "an undirected graph must be simple to be read as a tree: give a DiGraph with edges child -> parent"
        )
    builder = RelationBuilder()
    nodes = list(graph.nodes)
    starts = [settings.root, *nodes] if settings.root in graph else nodes
    edges = list(graph.edges(data="weight"))
    weighted = bool(edges) and all(weight is not None for _, _, weight in edges)
    above: dict[Any, Any] = {}
    for start in starts:
        if start in above:
            continue
        above[start] = None
        builder.edge(node_or_missing(builder, start), MISSING, 1.0 if weighted else None)
        pending = deque([start])
        while pending:
            node = pending.popleft()
            for neighbour, attributes in graph.adj[node].items():
                if neighbour == above[node]:
                    continue
                if neighbour in above:
                    raise InputError(
                        "an undirected graph with a cycle has no up and down: give a DiGraph with edges child -> parent"
                    )
                above[neighbour] = node
                pending.append(neighbour)
                weight = attributes.get("weight")
                builder.edge(
                    node_or_missing(builder, neighbour),
                    node_or_missing(builder, node),
                    check_weight(weight, f"edge {neighbour!r} - {node!r}") if weighted else None,
                )
    relation = builder.finish("an undirected graph", direction="child-parent")
    _describe(relation, graph)
    _note_missing_weights(relation, edges)
    if settings.root not in graph:
        relation.notes.append(
            f"the graph is undirected: its first node ({short(nodes[0])}) was taken as the root; {setting('root')} "
            "names another"
        )
        relation.record_nodes(RepairKind.ROOTS_CHOSEN, nodes[:1], "the graph is undirected, and this is its first node")
    return relation
