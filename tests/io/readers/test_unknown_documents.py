"""JSON and YAML that are nested and no hierarchy are refused; graphs in the forms of known programs are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.io.readers.helpers import ANIMALS, Edges, edges_of
from treeball.errors import InputError
from treeball.io.readers import read
from treeball.io.readers.objects.documents import DOCUMENTS

POINT = {"type": "Point", "coordinates": [1, 2]}
REPOSITORY = {
    "id": 1,
    "name": "x",
    "full_name": "a/x",
    "owner": {"login": "a", "id": 3},
    "topics": ["t"],
    "fork": False,
}
SEEN: dict[str, tuple[Any, str]] = {
    "GeoJSON": (
        {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": POINT}]},
        "GeoJSON",
    ),
    "a geometry": (POINT, "GeoJSON"),
    "TopoJSON": ({"type": "Topology", "objects": {"a": {}}, "arcs": [[[0, 0], [1, 1]]]}, "TopoJSON"),
    "JSON Schema": (
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"type": "string"}}},
        "JSON Schema",
    ),
    "a schema of lists": (
        {"title": "Tags", "type": "array", "items": {"title": "Tag", "type": "string"}},
        "JSON Schema",
    ),
    "a schema with empty definitions": ({"$defs": {"a": {}, "b": {}}}, "JSON Schema"),
    "OpenAPI": (
        {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": {}}}},
        "OpenAPI",
    ),
    "Swagger": ({"swagger": "2.0", "paths": {}}, "OpenAPI"),
    "a notebook": (
        {"cells": [{"cell_type": "code", "source": ["a"], "metadata": {}}], "metadata": {}, "nbformat": 4},
        "Jupyter notebook",
    ),
    "a package": ({"name": "x", "version": "1.0", "dependencies": {"a": "^1"}, "scripts": {"test": "x"}}, "package"),
    "TypeScript": ({"compilerOptions": {"lib": ["dom"], "paths": {}}, "include": ["src"]}, "TypeScript"),
    "TypeScript, short": ({"include": ["src"], "exclude": ["node_modules"]}, "TypeScript"),
    "HAR": ({"log": {"version": "1.2", "entries": [{"request": {"method": "GET"}}]}}, "HAR"),
    "JSON-stat": (
        {"version": "2.0", "class": "dataset", "id": ["a"], "size": [2], "dimension": {"a": {}}, "value": [1, 2]},
        "JSON-stat",
    ),
    "Kubernetes": ({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}]}, "Kubernetes"),
    "Compose": ({"services": {"web": {"image": "nginx", "ports": ["80:80"]}, "db": {}}}, "Compose"),
    "a workflow": ({"name": "CI", "on": ["push"], "jobs": {"build": {"steps": [{"run": "make"}]}}}, "workflow"),
    "a feed": ({"version": "https://jsonfeed.org/version/1", "title": "x", "items": [{"id": "1"}]}, "JSON feed"),
    "Vega": ({"$schema": "https://vega.github.io/schema/vega/v5.json", "marks": [{"type": "rect"}]}, "another schema"),
    "linked data": ({"@type": "Person", "@id": "x", "knows": []}, "linked data"),
    "statements": ([{"sub": "a", "pred": "is_a", "obj": "b"}, {"sub": "c", "pred": "is_a", "obj": "b"}], "statements"),
    "an error": ({"error": "not found"}, "reports an error"),
    "an error with a code": ({"error": {"code": 404, "message": "not found"}}, "reports an error"),
    "errors": ({"errors": [{"message": "Problems parsing JSON"}], "data": None}, "reports an error"),
    "an error of GitHub": (
        {"message": "Not Found", "documentation_url": "https://docs.github.com", "status": "404"},
        "reports an error",
    ),
    "arcs": ({"vertices": {"a": {}}, "arcs": {"a": {}}}, "graph of a form"),
    "edges": ({"edges": {"a": ["b"]}}, "graph of a form"),
    "two graphs": ({"graphs": [{"nodes": [], "edges": []}, {"nodes": [], "edges": []}]}, "graph of a form"),
    "nodes by name": ({"nodes": {"a": {"label": "A"}, "b": {}}}, "graph of a form"),
}
RECORDS: dict[str, Any] = {
    "a repository": REPOSITORY,
    "repositories": [REPOSITORY, {**REPOSITORY, "id": 2}],
    "a search": {"total_count": 2, "items": [REPOSITORY, {**REPOSITORY, "id": 2}]},
    "commits": [{"sha": "a", "node_id": "x", "parents": [{"sha": "b", "url": "u"}]}, {"sha": "b", "node_id": "y"}],
    "Elasticsearch": {"hits": {"total": {"value": 2}, "hits": [{"_id": "1", "_source": {"a": "b"}}]}},
    "GraphQL": {"data": {"repository": {"issues": {"nodes": [{"title": "a"}, {"title": "b"}]}}}},
    "GraphQL, names": {"data": {"repository": {"nodes": ["a", "b"]}}},
    "JSON:API": {"data": [{"type": "articles", "id": "1", "attributes": {"title": "x"}}], "included": []},
    "a page": {"results": [{"name": "a"}, {"name": "b"}], "next": None},
    "genres": {"genres": [{"id": 28, "name": "Action"}, {"id": 12, "name": "Adventure"}]},
    "Wikipedia": {"batchcomplete": "", "query": {"pages": {"12": {"pageid": 12, "title": "x"}}}},
    "a catalogue of texts": {"menu": {"file": "File", "open": "Open"}, "help": "Help"},
    "flat texts": {"file": "File", "open": "Open", "close": "Close"},
    "flat settings": {"host": "localhost", "port": 80, "debug": True},
    "numbers": {"cpu": {"user": 1.5, "sys": 2}, "memory": {"free": 3}},
    "truth values": {"features": {"a": True, "b": False}},
    "columns of numbers": {"x": [1, 2, 3], "y": [4, 5, 6]},
    "a matrix": {"rows": [["a", "b", "c", "d"], ["e", "f", "g", "h"]]},
    "edges below a key": {"network": {"vertices": ["a", "b"], "edges": []}},
    "objects by id": {"name": "top", "children": {"a": {"name": "A", "children": {}}}},
    "a number of children": {"name": "top", "children": 3},
    "names": ["a", "b", "c"],
    "nodes without links": {"nodes": [{"id": "a"}, {"id": "b"}]},
    "a graph without links": {"nodes": [{"id": "a"}, {"id": "b"}], "links": []},
}


def as_yaml(value: Any) -> bytes:
    yaml = pytest.importorskip("yaml")
    return bytes(yaml.safe_dump(value, sort_keys=False).encode())


@pytest.mark.parametrize("name", SEEN)
def test_a_known_document_is_refused_by_its_name(name: str) -> None:
    value, called = SEEN[name]
    for document in (json.dumps(value).encode(), json.dumps(value, indent=1).encode(), value):
        with pytest.raises(InputError, match=rf"seems to be .*{called}.*, which holds no hierarchy: [a-z]"):
            read(document)


@pytest.mark.parametrize("name", [*SEEN, *RECORDS])
def test_no_document_becomes_a_hierarchy_as_json_or_yaml(name: str) -> None:
    value = SEEN[name][0] if name in SEEN else RECORDS[name]
    for data in (json.dumps(value).encode(), as_yaml(value)):
        with pytest.raises(InputError) as caught:
            read(data)
        assert caught.value.__cause__ is None
        assert str(caught.value).startswith("bytes")


@pytest.mark.parametrize("name", ["GeoJSON", "Kubernetes", "a package", "an error", "a notebook"])
def test_a_list_of_documents_is_refused_like_one(name: str) -> None:
    value, called = SEEN[name]
    for data in (json.dumps([value, value]).encode(), json.dumps(value).encode() + b"\n" + json.dumps(value).encode()):
        with pytest.raises(InputError, match=called):
            read(data)


def test_every_row_of_the_table_of_documents_has_an_example() -> None:
    found = {next(row.called for row in DOCUMENTS if row.is_one(one)) for one in map(_top, SEEN)}
    assert found == {row.called for row in DOCUMENTS}


def _top(name: str) -> Any:
    value = SEEN[name][0]
    return value[0] if isinstance(value, list) else value


def test_a_refusal_names_the_place_and_the_remedy() -> None:
    data = json.dumps({"log": {"creator": {"name": "x"}}}).encode()
    with pytest.raises(InputError, match=r"^bytes is no hierarchy of a known shape: the text 'x' stands below log"):
        read(data)
    with pytest.raises(InputError, match=r"or say format=json \(on the command line: --format json\) to read"):
        read(data)
    with pytest.raises(InputError, match="or say format=yaml"):
        read(b"log:\n  creator:\n    name: x\n")


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_a_named_format_insists_and_the_report_says_what_was_assumed(format: str) -> None:
    value = {"log": {"creator": {"name": "x", "size": 5}, "empty": {}}}
    data = json.dumps(value).encode() if format == "json" else as_yaml(value)
    hierarchy = read(data, format=format)
    assert set(hierarchy.names) == {"log", "creator", "name", "size", "x", "empty"}
    assert hierarchy.report is not None
    note = "read as names inside names since the format was named: 1 text below a key read as names, 1 number below a"
    assert any(one.startswith(note) for one in hierarchy.report.notes)


NESTED: dict[str, Any] = {
    "objects": {"name": "animal", "children": [
        {"name": "mammal", "children": [{"name": "dog"}, {"name": "cat", "size": 3}]},
        {"name": "bird", "children": [{"name": "owl"}]},
    ]},
    "a list of objects": [{"label": "animal", "items": [
        {"label": "mammal", "items": [{"label": "dog"}, {"label": "cat"}]}, {"label": "bird", "items": ["owl"]},
    ]}],
    "an object without a name at the top": {"version": 2, "nodes": [{"text": "animal", "nodes": [
        {"text": "mammal", "nodes": [{"text": "dog"}, {"text": "cat"}]}, {"text": "bird", "nodes": [{"text": "owl"}]},
    ]}]},
    "names": {"animal": {"mammal": {"dog": {}, "cat": None}, "bird": {"owl": []}}},
    "names in lists": {"animal": [{"mammal": ["dog", "cat"]}, {"bird": ["owl"]}]},
    "a list of names in names": [{"animal": [{"mammal": ["dog", {"cat": None}]}, {"bird": ["owl"]}]}],
    "treelib": {"animal": {"children": [{"mammal": {"children": ["dog", "cat"]}}, {"bird": {"children": ["owl"]}}]}},
    "names below children": {"name": "animal", "children": {"mammal": ["dog", "cat"], "bird": {"owl": {}}}},
    "parents": {"dog": "mammal", "cat": "mammal", "owl": "bird", "mammal": "animal", "bird": "animal"},
    "lists": {"animal": ["mammal", "bird"], "mammal": ["dog", "cat"], "bird": ["owl"]},
    "records": [{"id": c, "parent": p} for c, p in sorted({*ANIMALS, ("animal", None)}, key=str)],
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_the_shapes_of_hierarchies_stay_readable(name: str) -> None:
    value = NESTED[name]
    for data in (json.dumps(value).encode(), as_yaml(value), value):
        hierarchy = read(data, strict=True)
        assert edges_of(hierarchy) == ANIMALS
        assert hierarchy.report is not None


def test_fields_of_node_objects_that_are_not_used_are_named() -> None:
    tree = {"name": "r", "size": 1, "children": [{"name": "a", "colour": "red"}, {"name": "b", "size": 2}]}
    hierarchy = read(json.dumps(tree).encode())
    assert hierarchy.report is not None
    assert "fields not used: size, colour" in hierarchy.report.notes


EDGES = [{"source": child, "target": parent} for child, parent in sorted(ANIMALS)]
NODES = [{"id": name} for name in sorted({name for edge in ANIMALS for name in edge})]
PLACES = {node["id"]: place for place, node in enumerate(NODES)}
GRAPHS: dict[str, Any] = {
    "networkx": {"directed": True, "multigraph": False, "graph": {}, "nodes": NODES, "links": EDGES},
    "Cytoscape": {"data": {}, "elements": {
        "nodes": [{"data": node, "position": {"x": 1, "y": 2}} for node in NODES],
        "edges": [{"data": {"id": f"e{place}", **edge}} for place, edge in enumerate(EDGES)],
    }},
    "Cytoscape, one list": {"elements": [*({"data": node} for node in NODES), *({"data": edge} for edge in EDGES)]},
    "Cytoscape, bare": {"nodes": [{"data": node} for node in NODES], "edges": [{"data": edge} for edge in EDGES]},
    "JSON Graph Format": {"graph": {"nodes": {n["id"]: {"label": n["id"]} for n in NODES}, "edges": EDGES}},
    "one of several graphs": {"graphs": [{"nodes": {n["id"]: {} for n in NODES}, "edges": EDGES}]},
    "D3, by place": {
        "nodes": [{"name": node["id"], "group": 1} for node in NODES],
        "links": [{"source": PLACES[e["source"]], "target": PLACES[e["target"]], "value": 1} for e in EDGES],
    },
    "GraphFrames": {"vertices": NODES, "edges": [{"src": e["source"], "dst": e["target"]} for e in EDGES]},
    "pairs": {"nodes": [node["id"] for node in NODES], "edges": [[e["source"], e["target"]] for e in EDGES]},
    "links alone": {"links": EDGES},
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_of_known_forms_are_read(name: str) -> None:
    assert edges_of(read(json.dumps(GRAPHS[name]).encode())) == ANIMALS
    assert edges_of(read(as_yaml(GRAPHS[name]))) == ANIMALS


def test_cytoscape_keeps_labels_and_nodes_inside_of_nodes() -> None:
    nodes = [{"data": {"id": "a", "name": "A"}}, {"data": {"id": "b", "name": "B"}}, {"data": {"id": "c", "name": "C"}}]
    edges = [{"data": {"source": "a", "target": "c"}}, {"data": {"source": "b", "target": "c"}}]
    hierarchy = read(json.dumps({"elements": {"nodes": nodes, "edges": edges}}).encode())
    assert edges_of(hierarchy) == {("a", "c"), ("b", "c")}
    assert dict(zip(hierarchy.names, hierarchy.labels, strict=True)) == {"a": "A", "b": "B", "c": "C"}
    inside: Edges = {("a", "c"), ("b", "c")}
    compound = [{"data": {"id": "c"}}, *({"data": {"id": child, "parent": above}} for child, above in sorted(inside))]
    assert edges_of(read(json.dumps({"elements": compound}).encode())) == inside


def test_a_graph_is_refused_or_reported_where_it_does_not_tell() -> None:
    graph = {**GRAPHS["networkx"], "directed": False}
    with pytest.raises(InputError, match="undirected graph, which has no up and down: read it with networkx"):
        read(json.dumps(graph).encode())
    with pytest.raises(InputError, match="links that refer to no node, such as bird: give the nodes ids"):
        read(json.dumps({"nodes": [{"id": "x"}], "links": EDGES}).encode())
    hierarchy = read(json.dumps({"nodes": NODES[1:], "links": EDGES}).encode())
    assert hierarchy.report is not None
    assert "1 node of the links not among the nodes (animal)" in hierarchy.report.notes


def test_all_documents_of_a_yaml_file_are_read() -> None:
    text = b"---\nanimal:\n  mammal:\n    - dog\n    - cat\n  bird: [owl]\n---\nplant:\n  tree:\n---\n"
    assert edges_of(read(text)) == ANIMALS | {("tree", "plant")}
