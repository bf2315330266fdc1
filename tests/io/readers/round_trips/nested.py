"""Writers of nested data: JSON and YAML in all their shapes, and Python objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from treeball.io.readers.objects.keywords import CHILD_KEYS
from treeball.io.readers.tables.columns import plain, roles_from_header

from .graphs import Graph, random_graph
from .tables import upright_graph
from .written import SOURCE, Facts, Format, Written, facts_of

Shaped = tuple[Any, Facts, bool]
"""Value, what it says, and whether its direction is left to the structure."""

_EXTRA: dict[str, Callable[[Random], Any]] = {
    "price": lambda random: round(random.uniform(0, 99), 2),
    "active": lambda random: random.choice([True, False, None]),
    "notes": lambda random: random.choice(["", "new", None]),
    "tags": lambda random: random.sample(["red", "blue", "green"], random.randint(0, 2)),
    "meta": lambda random: {"source": "import", "version": random.randint(1, 3)},
}


def _extra(random: Random) -> dict[str, Any]:
    """Fields without a role, the same keys for all objects of a file."""
    return {key: _EXTRA[key] for key in random.sample(sorted(_EXTRA), random.choice([0, 0, 1, 2]))}


def _shuffled(random: Random, fields: dict[str, Any]) -> dict[str, Any]:
    keys = list(fields)
    random.shuffle(keys)
    return {key: fields[key] for key in keys}


def _tops(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def objects(random: Random) -> Shaped:
    """{"name": ..., "children": [...]}, with or without ids."""
    kind = random.choice(["names", "ids", "both"])
    graph = random_graph(random, "forest" if kind == "names" else random.choice(["forest", "dag"]), lonely=True)
    while kind == "both" and len(graph.labels) < len(graph.parents):
        graph = random_graph(random, "dag", lonely=True)
    extra = {key: value for key, value in _extra(random).items() if key in ("price", "active")}
    name, children = (
        random.choice(["name", "label", "title"]),
        random.choice(["children", "items", "nodes", "subcategories"]),
    )
    ordered = random.random() < 0.5
    opened: set[str] = set()

    def build(node: str) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if kind != "names":
            fields["id"] = node
        if kind == "names":
            fields[name] = node
        if kind == "both":
            fields[name] = graph.labels[node]
        fields |= {key: make(random) for key, make in extra.items()}
        below = [] if node in opened else [build(child) for child in graph.children[node]]
        opened.add(node)
        if below or random.random() < 0.3:
            fields[children] = below
        return fields if ordered else _shuffled(random, fields)

    return _tops([build(root) for root in graph.roots]), facts_of(graph, labels=kind == "both"), False


def names_in_names(random: Random) -> Shaped:
    """{"animal": {"mammal": {"dog": {}}}}, or lists of leaves."""
    lists = random.random() < 0.5
    graph = random_graph(random, "forest", lambda name: not (lists and plain(name) in CHILD_KEYS), lonely=True)
    nothing: Any = random.choice([{}, None])

    def build(node: str) -> Any:
        below = graph.children[node]
        if not below:
            return nothing
        if lists and not any(graph.children[child] for child in below):
            return list(below)
        return {child: build(child) for child in below}

    return {root: build(root) for root in graph.roots}, facts_of(graph), False


def records(random: Random) -> Shaped:
    """Objects with an id and its parent or parents."""
    several = random.random() < 0.5
    graph = random_graph(random, "dag" if several else "forest", lonely=True)
    named = random.random() < 0.6
    extra = _extra(random)
    ident, above = random.choice([("id", "parent"), ("id", "parent_id"), ("key", "parent"), ("code", "parentCode")])
    rows = []
    for node, parents in graph.parents.items():
        fields: dict[str, Any] = {ident: node}
        if several:
            fields["parents"] = list(parents)
        elif parents or random.random() < 0.7:
            fields[above] = parents[0] if parents else random.choice([None, ""])
        if named and node in graph.labels:
            fields["name"] = graph.labels[node]
        fields |= {key: make(random) for key, make in extra.items()}
        rows.append(_shuffled(random, fields))
    value: Any = {"data": rows} if random.random() < 0.15 else rows
    return value, facts_of(graph, labels=named), False


def pairs(random: Random) -> Shaped:
    """[["dog", "mammal"], ...]."""
    graph = upright_graph(random)
    child_first = random.random() < 0.6
    return [[c, p] if child_first else [p, c] for c, p in graph.edges], facts_of(graph), True


def parent_map(random: Random) -> Shaped:
    """{"dog": "mammal"}."""
    graph = random_graph(random, "forest")
    return dict(graph.edges), facts_of(graph), False


def child_lists(random: Random) -> Shaped:
    """{"mammal": ["dog", "cat"]}."""
    graph = upright_graph(random)
    value = {node: below for node, below in graph.children.items() if below or random.random() < 0.3}
    if set(value).isdisjoint(child for below in value.values() for child in below):
        return pairs(random)
    return value, facts_of(graph), True


def node_link(random: Random) -> Shaped:
    """Nodes and links, as networkx and D3 write them."""
    graph = upright_graph(random)
    child_first = random.random() < 0.6
    nodes = [{"id": node} for node in graph.parents]
    links = [{"source": c, "target": p} if child_first else {"source": p, "target": c} for c, p in graph.edges]
    value: dict[str, Any] = {"directed": True, "multigraph": False, "graph": {}} if random.random() < 0.5 else {}
    return value | {"nodes": nodes, random.choice(["links", "edges"]): links}, facts_of(graph), True


def columns(random: Random) -> Shaped:
    """{"child": [...], "parent": [...]}."""
    graph = random_graph(random, random.choice(["forest", "dag"]))
    return {"parent": [p for _, p in graph.edges], "child": [c for c, _ in graph.edges]}, facts_of(graph), False


def _told_columns(value: Any) -> dict[str, Facts]:
    """The note on lists of children whose few keys are words of a header, and what they say as columns."""
    if not isinstance(value, dict) or len(value) > 3:
        return {}
    roles = roles_from_header(list(value))
    if roles is None or not all(isinstance(one, list) for one in value.values()):
        return {}
    lists = list(value.values())
    edges = frozenset(zip(lists[roles.child], lists[roles.parent], strict=False))
    return {"taken as names of columns": Facts(frozenset(name for edge in edges for name in edge), edges)}


SHAPES: dict[str, Callable[[Random], Shaped]] = {
    "objects": objects,
    "names in names": names_in_names,
    "records": records,
    "pairs": pairs,
    "parent map": parent_map,
    "child lists": child_lists,
    "node-link": node_link,
    "columns": columns,
}


def as_json(shape: str) -> Callable[[Random], Written]:
    def write(random: Random) -> Written:
        value, facts, undirected = SHAPES[shape](random)
        options: dict[str, Any] = {"ensure_ascii": random.random() < 0.5, "indent": random.choice([None, None, 2])}
        settings = {"format": "json"} if random.random() < 0.3 else {}
        told = _told_columns(value)
        return Written({SOURCE: json.dumps(value, **options).encode()}, facts, settings, undirected, told)

    return write


def json_lines(random: Random) -> Written:
    """One record a line."""
    value, facts, _ = records(random)
    rows = value["data"] if isinstance(value, dict) else value
    return Written({SOURCE: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()}, facts)


def as_yaml(shape: str) -> Callable[[Random], Written]:
    def write(random: Random) -> Written:
        import yaml

        value, facts, undirected = SHAPES[shape](random)
        flow = random.choice([False, False, None])
        text = yaml.safe_dump(
            value, allow_unicode=True, default_flow_style=flow, sort_keys=False, explicit_start=random.random() < 0.2
        )
        if random.random() < 0.2:
            text = "# made by hand\n" + text
        settings = {"format": "yaml"} if random.random() < 0.6 else {}
        return Written({SOURCE: text.encode()}, facts, settings, undirected, _told_columns(value))

    return write


def python_objects(random: Random) -> Written:
    """Pairs, mappings, graphs and frames."""
    import networkx
    import pandas
    import polars

    kind = random.choice(["pairs", "dict", "networkx", "pandas", "polars", "paths"])
    graph: Graph
    if kind == "dict":
        graph = random_graph(random, "forest")
        return Written({}, facts_of(graph), object=dict(graph.edges))
    if kind in ("pandas", "polars"):
        graph = random_graph(random, "dag", lonely=True)
        rows = [(n, p, graph.labels.get(n)) for n, above in graph.parents.items() for p in above or [None]]
        content = {"id": [r[0] for r in rows], "parent_id": [r[1] for r in rows], "name": [r[2] for r in rows]}
        frame: Any = pandas.DataFrame(content) if kind == "pandas" else polars.DataFrame(content)
        return Written({}, facts_of(graph, labels=True), object=frame)
    if kind == "networkx":
        graph = upright_graph(random)
        return Written({}, facts_of(graph), object=networkx.DiGraph(graph.edges), undirected=True)
    graph = upright_graph(random)
    return Written({}, facts_of(graph), object=list(graph.edges), undirected=True)


FORMATS = [
    *(Format(f"JSON {shape}", as_json(shape)) for shape in SHAPES),
    Format("JSON lines", json_lines),
    *(Format(f"YAML {shape}", as_yaml(shape)) for shape in SHAPES),
    Format("Python objects", python_objects),
]
