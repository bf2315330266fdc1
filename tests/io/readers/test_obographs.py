"""obographs: the same hierarchy as the same ontology in OBO, and one sentence for each fault."""

from __future__ import annotations

import json
import time
from copy import deepcopy
from random import Random
from typing import Any

import pytest
import yaml

from tests.io.readers.helpers import Edges, edges_of
from tests.io.readers.test_fuzz import attempt
from treeball.errors import InputError
from treeball.hierarchy import Hierarchy
from treeball.hierarchy.lookup_keys import obo_curie, other_obo_spelling
from treeball.io.readers import read
from treeball.io.readers.formats import obographs
from treeball.io.readers.sample import Sample
from treeball.io.readers.settings import ReadSettings
from treeball.io.readers.source import open_source

OBO = "http://purl.obolibrary.org/obo/"
OIO = "http://www.geneontology.org/formats/oboInOwl#"


def _node(name: str, label: str | None = None, kind: str | None = "CLASS", **meta: Any) -> dict[str, Any]:
    node: dict[str, Any] = {"id": f"{OBO}{name}", "lbl": label, "type": kind, "meta": meta}
    return {key: value for key, value in node.items() if value}


def _edge(low: str, predicate: str, high: str) -> dict[str, str]:
    return {"sub": OBO + low, "pred": predicate, "obj": OBO + high}


def _properties(**values: str | list[str]) -> list[dict[str, str]]:
    texts = {key: value if isinstance(value, list) else [value] for key, value in values.items()}
    return [
        {"pred": (OBO if key.startswith("IAO") else OIO) + key, "val": text} for key in texts for text in texts[key]
    ]


GRAPH: dict[str, Any] = {
    "id": f"{OBO}x.owl",
    "meta": {
        "version": "1",
        "basicPropertyValues": [{"pred": "http://www.w3.org/2002/07/owl#versionInfo", "val": "1"}],
    },
    "nodes": [
        _node("X_1", "cell", definition={"val": "A cell.", "xrefs": ["A:1"]}, subsets=["x#slim"], comments=["a", "b"]),
        _node(
            "X_2",
            "neuron",
            synonyms=[
                {"pred": "hasExactSynonym", "val": "nerve cell", "xrefs": []},
                {"pred": "hasRelatedSynonym", "val": "neurone", "synonymType": f"{OBO}OMO_1"},
                {"pred": "hasNarrowSynonym", "val": "brain cell"},
                {"pred": "hasBroadSynonym", "val": "excitable cell"},
                {"pred": "hasBroadSynonym"},
            ],
            xrefs=[{"val": "MESH:D1"}, {"val": "FMA:1"}],
            basicPropertyValues=_properties(hasAlternativeId=["X:22", f"{OBO}X_23"], hasOBONamespace="x", id="X:2"),
        ),
        _node("X_3", "glial cell"),
        _node("X_4", "microglial cell"),
        _node("X_5", "old cell", deprecated=True, basicPropertyValues=_properties(IAO_0100001=f"{OBO}X_2")),
        _node("X_6", "lost cell", deprecated=True),
        _node("X_7", "brain"),
        _node("BFO_0000050", "part of", "PROPERTY", deprecated=True),
        _node("RO_1", "develops from", "PROPERTY"),
        _node("I_1", "my cell", "INDIVIDUAL"),
        _node("IAO_1", "a property of annotations", None),
        {"id": "http://www.w3.org/2002/07/owl#Thing", "lbl": "Thing", "type": "CLASS"},
    ],
    "edges": [
        _edge("X_2", "is_a", "X_1"),
        _edge("X_3", "http://www.w3.org/2000/01/rdf-schema#subClassOf", "X_23"),
        _edge("X_4", "is_a", "X_1"),
        _edge("X_4", f"{OBO}BFO_0000050", "X_7"),
        _edge("X_4", "UNDEFINED_part_of", "X_5"),
        _edge("X_4", f"{OBO}RO_1", "X_2"),
        _edge("X_5", "is_a", "X_1"),
        _edge("X_6", "is_a", "X_1"),
        _edge("X_7", "is_a", "X_5"),
        _edge("RO_1", "is_a", "BFO_0000050"),
        _edge("RO_1", "subPropertyOf", "BFO_0000050"),
        _edge("I_1", "type", "X_1"),
        {"sub": f"{OBO}X_1", "pred": "is_a", "obj": "http://www.w3.org/2002/07/owl#Thing"},
    ],
    "equivalentNodesSets": [{"representativeNodeId": f"{OBO}X_1", "nodeIds": [f"{OBO}X_1", "http://e/Cell"]}],
    "logicalDefinitionAxioms": [
        {
            "definedClassId": f"{OBO}X_4",
            "genusIds": [f"{OBO}X_3"],
            "restrictions": [{"propertyId": f"{OBO}BFO_0000050", "fillerId": f"{OBO}X_7"}],
        }
    ],
    "domainRangeAxioms": [{"predicateId": f"{OBO}RO_1", "domainClassIds": [f"{OBO}X_1"]}],
    "propertyChainAxioms": [{"predicateId": f"{OBO}RO_1", "chainPredicateIds": [f"{OBO}RO_1", f"{OBO}BFO_0000050"]}],
}
AS_OBO = """format-version: 1.2

[Term]
id: X:1
name: cell
is_a: owl:Thing

[Term]
id: X:2
name: neuron
alt_id: X:22
alt_id: X:23
synonym: "nerve cell" EXACT []
synonym: "neurone" RELATED []
synonym: "brain cell" NARROW []
synonym: "excitable cell" BROAD []
is_a: X:1 ! cell

[Term]
id: X:3
name: glial cell
is_a: X:23

[Term]
id: X:4
name: microglial cell
is_a: X:1
intersection_of: X:3
intersection_of: part_of X:7
relationship: part_of X:7
relationship: UNDEFINED_part_of X:5
relationship: develops_from X:2

[Term]
id: X:5
name: old cell
is_a: X:1
is_obsolete: true
replaced_by: X:2

[Term]
id: X:6
name: lost cell
is_a: X:1
is_obsolete: true

[Term]
id: X:7
name: brain
is_a: X:5

[Typedef]
id: part_of
"""
EDGES = {("X:2", "X:1"), ("X:3", "X:2"), ("X:4", "X:3"), ("X:7", "X:2")}


def _json(*graphs: Any, **dump: Any) -> bytes:
    return json.dumps({"graphs": list(graphs)}, **dump).encode()


def _content(hierarchy: Hierarchy) -> tuple[Edges, dict[Any, Any], dict[Any, set[str]]]:
    """Edges, labels and synonyms of all nodes but the virtual root."""
    synonyms = hierarchy.names.synonyms
    lists = [None] * hierarchy.n_nodes if synonyms is None else synonyms.to_pylist()
    pairs = zip(hierarchy.names, hierarchy.labels, lists, strict=True)
    rows = [row for code, row in enumerate(pairs) if code != hierarchy.virtual_root]
    return (
        edges_of(hierarchy),
        {name: label for name, label, _ in rows},
        {name: set(texts or ()) for name, _, texts in rows},
    )


def test_obographs_with_all_features() -> None:
    hierarchy = read(_json(GRAPH))
    assert edges_of(hierarchy) == EDGES
    assert sorted(map(str, hierarchy.names)) == ["X:1", "X:2", "X:3", "X:4", "X:7"]
    assert [hierarchy.names.shown(code) for code in range(2)] == ["cell [X:1]", "neuron [X:2]"]
    neuron = hierarchy.names.index_of("X:2")
    for key in ("nerve cell", "neurone", "brain cell", "excitable cell", "X:22", "X:23", "X:5", "neuron", "X:2"):
        assert hierarchy.names.look_up(key) == [neuron], key
    report = hierarchy.report
    assert report is not None
    assert report.format == "obographs"
    assert report.repair_counts == {}
    for said in (
        "2 obsolete terms left out, and 2 relations with them",
        "1 parent added by definition, the genus of an equivalence (0 terms without a stated parent)",
        "1 stated edge that the added ones imply left out",
        "2 part_of relations passed over; part_of=True",
        "6 other relations passed over (",
        "RO_1 1",
        "is_a of PROPERTY 1",
        "subPropertyOf of PROPERTY 1",
        "type of INDIVIDUAL 1",
        "restrictions of definitions 1",
        "1 relation to owl:Thing or owl:Nothing passed over",
        "3 references by an alternative id taken for the term itself",
        "4 nodes that are no classes passed over (PROPERTY 2, INDIVIDUAL 1, without a type 1)",
        "8 annotations of other kinds passed over (",
        "comments 2",
        "definition 1",
        "xrefs 2",
        "2 axioms of other kinds passed over (domainRangeAxioms 1, propertyChainAxioms 1)",
    ):
        assert said in report.summary(), said
    parts = edges_of(read(_json(GRAPH), part_of=True))
    assert parts == EDGES | {("X:4", "X:7"), ("X:4", "X:2")}


@pytest.mark.parametrize("options", [{}, {"part_of": True}, {"reduce": "never"}, {"names": "label"}])
def test_obographs_and_obo_of_one_ontology_are_equal(options: dict[str, Any]) -> None:
    assert _content(read(_json(GRAPH), **options)) == _content(read(AS_OBO.encode(), **options))


@pytest.mark.parametrize("key", ["GO:0005634", f"{OBO}GO_0005634"])
def test_an_iri_and_an_id_of_obo_find_the_same_node(key: str) -> None:
    graph = {"nodes": [_node("GO_0005634", "nucleus"), _node("GO_1")], "edges": [_edge("GO_0005634", "is_a", "GO_1")]}
    iri = f"<{OBO}GO_0005634> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{OBO}GO_1> .\n"
    stanzas = "[Term]\nid: GO:0005634\nis_a: GO:1\n\n[Term]\nid: GO:1\n"
    for source, name in (
        (_json(graph), "GO:0005634"),
        (iri.encode(), f"{OBO}GO_0005634"),
        (stanzas.encode(), "GO:0005634"),
    ):
        names = read(source).names
        assert names.find(key) == names.index_of(name)
        assert names.find_many([key]).tolist() == [names.index_of(name)]
    assert read(_json(graph)).names.look_up("GO:0005635") == []


def test_ids_of_obo_are_told_by_the_namespace_of_obo() -> None:
    spelled = {
        f"{OBO}GO_0005634": "GO:0005634",
        f"{OBO}NCBITaxon_Union_0000023": "NCBITaxon_Union:0000023",
        f"{OBO}HP_abc": "HP:abc",
    }
    for iri, curie in spelled.items():
        assert obo_curie(iri) == curie
        assert other_obo_spelling(curie) == iri
        assert other_obo_spelling(iri) == curie
    for other in (
        f"{OBO}so#part_of",
        f"{OBO}a_b_c",
        f"{OBO}x.owl",
        f"{OBO}GO_",
        f"{OBO}_1",
        "http://e/GO_1",
        "GO:1",
        "plain",
        f"{OBO}go/GO_1",
    ):
        assert obo_curie(other) == other


# Recognition


def _sure(source: bytes) -> float:
    return obographs.sniff(Sample.of(open_source(source)), ReadSettings())


def _variants() -> dict[str, bytes]:
    bare = {"nodes": GRAPH["nodes"], "edges": GRAPH["edges"]}
    turned = {key: GRAPH[key] for key in reversed(GRAPH)}
    turned["nodes"] = [dict(reversed(node.items())) for node in GRAPH["nodes"]]
    context = {"@context": {"obo": OBO, "@vocab": "http://e/"}, "graphs": [GRAPH]}
    return {
        "one line": _json(GRAPH),
        "indented": _json(GRAPH, indent=2),
        "spaced": _json(GRAPH, indent=1, separators=(" ,", " : ")),
        "other order": _json(turned),
        "a meta of a megabyte": _json(
            {**GRAPH, "nodes": [*GRAPH["nodes"], _node("X_9", "big", comments=["x" * 10**6])]}
        ),
        "the bare graph": json.dumps(bare).encode(),
        "the bare graph, edges first": json.dumps(dict(reversed(bare.items()))).encode(),
        "a list of graphs": json.dumps([GRAPH]).encode(),
        "with a context": json.dumps(context).encode(),
        "meta before the graphs": json.dumps({"meta": {"xrefs": [{"val": "A"}]}, "graphs": [GRAPH]}).encode(),
        "with a byte order mark": b"\xef\xbb\xbf" + _json(GRAPH),
        "YAML": yaml.safe_dump({"graphs": [GRAPH]}).encode(),
        "YAML with a mark": b"---\n# by hand\n" + yaml.safe_dump({"graphs": [turned]}, sort_keys=False).encode(),
        "YAML, indented": yaml.dump({"graphs": [GRAPH]}, indent=4).encode(),
    }


@pytest.mark.parametrize("variant", _variants())
def test_obographs_are_recognised_however_they_are_laid_out(variant: str) -> None:
    content = _variants()[variant]
    assert _sure(content) == 1.0
    hierarchy = read(content)
    assert hierarchy.report is not None
    assert hierarchy.report.format == "obographs"
    assert edges_of(hierarchy) >= EDGES - {("X:4", "X:3")}


def test_a_large_file_is_recognised_by_its_beginning() -> None:
    nodes = [_node(f"X_{number}", f"term {number}") for number in range(5_000)]
    edges = [_edge(f"X_{number}", "is_a", f"X_{number // 2}") for number in range(1, 5_000)]
    content = _json({"nodes": nodes, "edges": edges})
    assert content.index(b'"edges"') > 1 << 18
    assert read(content).report.headline() == (
        "5,000 nodes, 4,999 edges read from obographs, 1 root (term 0 [X:0]), 0 repairs"
    )


@pytest.mark.parametrize(
    "other",
    [
        {"graphs": [{"nodes": {"a": {"label": "A"}}, "edges": [{"source": "a", "target": "b"}]}]},
        {"graphs": [{"nodes": [{"id": "a", "label": "A"}], "edges": [{"source": "a", "target": "b"}]}]},
        {"nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "b"}]},
        {"nodes": [{"id": "a", "type": "x"}], "links": [{"source": "a", "target": "b"}]},
        {"nodes": [{"data": {"id": "a"}}], "edges": [{"data": {"source": "a", "target": "b"}}]},
        {"graphs": {"bar": {}, "pie": {"nodes": {}}}},
        {"name": "edges", "children": [{"name": '"graphs": ["nodes", "sub", "obj"]'}]},
        [{"sub": "a", "obj": "b"}],
        ["graphs", "nodes"],
    ],
)
def test_other_graphs_are_no_obographs(other: Any) -> None:
    assert _sure(json.dumps(other).encode()) == 0.0
    assert _sure(yaml.safe_dump(other).encode()) == 0.0


@pytest.mark.parametrize(
    "text", ['{"graphs":' * 30_000, '{"nodes":' + "[" * 90_000, '{"graphs": "' + '\\"' * 90_000, '"nodes":{"' * 30_000]
)
def test_recognition_takes_linear_time(text: str) -> None:
    began = time.perf_counter()
    _sure(text.encode())
    assert time.perf_counter() - began < 5


# Several graphs, nodes without a type, ids as CURIEs


def test_graphs_of_one_file_are_joined() -> None:
    edges = [_edge("X_2", "is_a", "X_1")]
    first = {"nodes": [_node("X_1", "cell"), _node("X_2", "neuron")], "edges": edges}
    second = {"nodes": [_node("X_2"), _node("X_1", "another label")], "edges": [*edges, _edge("X_2", "part_of", "X_1")]}
    hierarchy = read(_json(first, second), strict=True)
    assert edges_of(hierarchy) == {("X:2", "X:1")}
    assert list(hierarchy.labels) == ["cell", "neuron"]
    assert hierarchy.report is not None
    assert "2 graphs of the file joined" in hierarchy.report.notes
    assert "1 part_of relation passed over" in hierarchy.report.summary()
    with pytest.raises(InputError, match=r"X:2.* -> .*X:1.* is repeated"):
        read(_json(first | {"edges": edges * 2}), strict=True)


def test_nodes_without_a_type_are_classes_if_none_has_one() -> None:
    nodes: list[Any] = [{"id": "X:1", "lbl": "cell"}, {"id": "X:2"}, {"id": "X:3", "meta": {"deprecated": True}}]
    graph: dict[str, Any] = {"nodes": nodes, "edges": [{"sub": "X:2", "pred": "rdfs:subClassOf", "obj": "X:1"}]}
    hierarchy = read(_json(graph), strict=True)
    assert edges_of(hierarchy) == {("X:2", "X:1")}
    assert list(hierarchy.names) == ["X:1", "X:2"]
    typed = deepcopy(graph)
    typed["nodes"] += [_node("X_4"), {"id": "X:5"}]
    typed["edges"] += [_edge("X_4", "is_a", "X_1")]
    hierarchy = read(_json(typed))
    assert edges_of(hierarchy) == {("X:2", "X:1"), ("X:4", "X:1")}
    assert hierarchy.report is not None
    assert "without a type" in hierarchy.report.summary()
    assert "X:5" not in hierarchy.names


def test_an_end_of_an_edge_without_a_node_is_a_node_and_counted() -> None:
    report = read(_json({"edges": [_edge("X_2", "is_a", "X_1"), _edge("X_3", "is_a", "X_2")]})).report
    assert report is not None
    assert report.n_nodes == 3
    assert report.repair_counts == {"undefined parents": 1}


@pytest.mark.parametrize("predicate", ["part_of", "BFO:0000050", f"{OBO}BFO_0000050", "UNDEFINED_part_of", "x#part_of"])
def test_part_of_has_many_names_in_obographs(predicate: str) -> None:
    graph = {"nodes": [_node("X_1"), _node("X_2")], "edges": [_edge("X_2", predicate, "X_1")]}
    assert edges_of(read(_json(graph), part_of=True)) == {("X:2", "X:1")}
    with pytest.raises(InputError, match=r"is a flat list of 2 terms: .* part_of=True .* follows its 1 part_of"):
        read(_json(graph))


def test_a_flat_list_in_obographs_is_refused_as_one() -> None:
    with pytest.raises(InputError, match="is a flat list of 2 terms: no term is below another"):
        read(_json({"nodes": [_node("X_1", "a"), _node("X_2", "b")], "edges": []}))


# Merged terms: OBO keeps their ids as alternative ids, and their axioms in a stanza without a name


def test_a_merged_term_is_obsolete_in_obo_and_in_obographs() -> None:
    merged = _properties(IAO_0100001=f"{OBO}X_2", IAO_0000231=f"{OBO}IAO_0000227")
    outside = _properties(IAO_0100001=f"{OBO}Y_9", IAO_0000231=f"{OBO}IAO_0000227")
    graph = {
        "nodes": [
            _node("X_1", "a"),
            _node("X_2", "b"),
            _node("X_3", "c"),
            _node("X_4", "gone", deprecated=True, basicPropertyValues=merged),
            _node("X_5", "away", deprecated=True, basicPropertyValues=outside),
        ],
        "edges": [_edge(*pair) for pair in (("X_2", "is_a", "X_1"), ("X_3", "is_a", "X_4"), ("X_4", "is_a", "X_1"))]
        + [_edge("X_5", "is_a", "X_1"), _edge("X_3", "is_a", "X_5")],
    }
    stanzas = (
        "id: X:1\nname: a",
        "id: X:2\nname: b\nalt_id: X:4\nis_a: X:1",
        "id: X:3\nname: c\nis_a: X:4\nis_a: X:5",
        "id: X:4\nis_a: X:1",
        "id: X:5\nis_a: X:1",
        "id: Y:9\nalt_id: X:5",
    )
    stanzas_of_obo = "".join(f"[Term]\n{one}\n\n" for one in stanzas).encode()
    found = read(stanzas_of_obo, strict=True)
    assert edges_of(found) == {("X:2", "X:1"), ("X:3", "X:2")}
    assert _content(found) == _content(read(_json(graph), strict=True))
    assert found.report is not None
    assert "2 obsolete terms left out, and 3 relations with them" in found.report.summary()
    assert "1 stanza with nothing but ids passed over" in found.report.summary()


@pytest.mark.parametrize("syntax", ["obo", "turtle"])
def test_an_obsolete_term_finds_its_only_successor(syntax: str) -> None:
    pytest.importorskip("pyoxigraph")
    texts = {
        "obo": "[Term]\nid: T:1\n\n[Term]\nid: T:2\nis_a: T:3\n\n[Term]\nid: T:3\nis_obsolete: true\nreplaced_by: T:4\n"
        "\n[Term]\nid: T:4\nis_obsolete: true\nreplaced_by: T:1\n\n[Term]\nid: T:5\nis_obsolete: true\n"
        "replaced_by: T:1\nreplaced_by: T:2\n",
        "turtle": "@prefix T: <T:> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix obo: <" + OBO + "> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\nT:1 a owl:Class . T:2 a owl:Class ; rdfs:subClassOf "
        "T:3 .\nT:3 a owl:Class ; owl:deprecated true ; obo:IAO_0100001 T:4 .\nT:4 a owl:Class ; owl:deprecated true ;"
        " obo:IAO_0100001 T:1 .\nT:5 a owl:Class ; owl:deprecated true ; obo:IAO_0100001 T:1, T:2 .\n",
    }
    hierarchy = read(texts[syntax].encode())
    assert edges_of(hierarchy) == {("T:2", "T:1")}
    assert hierarchy.names.look_up("T:4") == [hierarchy.names.index_of("T:1")]
    assert hierarchy.names.look_up("T:5") == []


def test_a_term_that_replaces_its_own_parent_is_not_below_itself() -> None:
    stanzas = "[Term]\nid: T:1\n\n[Term]\nid: T:2\nis_a: T:1\nis_a: T:3\n\n[Term]\nid: T:3\nis_obsolete: true\n"
    report = read((stanzas + "replaced_by: T:2\n").encode(), strict=True).report
    assert report is not None
    assert report.headline() == "2 nodes, 1 edge read from OBO, 1 root (T:1), 0 repairs"
    assert "1 obsolete term left out, and 1 relation with them" in report.summary()


# Random ontologies in both formats


@pytest.mark.parametrize("seed", range(40))
def test_random_ontologies_are_equal_in_obo_and_obographs(seed: int) -> None:
    random = Random(seed)
    n = random.randint(3, 12)
    terms = [f"X_{number}" for number in range(n)]
    obsolete = {term for term in terms[1:] if random.random() < 0.15}
    successor = {term: random.choice(terms) for term in obsolete if random.random() < 0.7}
    predicates = ["is_a"] * 4 + ["part_of", "develops_from"]
    edges = [
        (low, random.choice(predicates), random.choice(terms[:at]))
        for at, low in enumerate(terms)
        if at
        for _ in range(random.randint(0, 3))
    ]
    edges = list(dict.fromkeys([*edges, (terms[-1], "is_a", terms[0])]))
    genera = [(low, random.choice(terms[:at])) for at, low in enumerate(terms) if at and random.random() < 0.4]
    nodes, stanzas = [], []
    for term in terms:
        curie = term.replace("_", ":")
        meta: dict[str, Any] = {"deprecated": True} if term in obsolete else {}
        lines = [f"id: {curie}", f"name: name of {term}"]
        if term in obsolete:
            lines.append("is_obsolete: true")
        if term in successor:
            meta["basicPropertyValues"] = _properties(IAO_0100001=OBO + successor[term])
            lines.append("replaced_by: " + successor[term].replace("_", ":"))
        if random.random() < 0.5:
            meta["synonyms"] = [{"pred": "hasExactSynonym", "val": f'the "{term}"'}]
            lines.append(f'synonym: "the \\"{term}\\"" EXACT []')
        for low, predicate, high in edges:
            if low == term:
                tag = "is_a:" if predicate == "is_a" else f"relationship: {predicate}"
                lines.append(f"{tag} {high.replace('_', ':')}")
        for low, genus in genera:
            if low == term:
                lines += [f"intersection_of: {genus.replace('_', ':')}", "intersection_of: has x"]
        nodes.append(_node(term, f"name of {term}", **meta))
        stanzas.append("[Term]\n" + "\n".join(lines) + "\n")
    definitions = [{"definedClassId": OBO + low, "genusIds": [OBO + genus]} for low, genus in genera]
    random.shuffle(definitions)
    graph = {"nodes": nodes, "edges": [_edge(*edge) for edge in edges], "logicalDefinitionAxioms": definitions}
    for part_of in (False, True):
        one, other = (_outcome(content, part_of) for content in (_json(graph), "\n".join(stanzas).encode()))
        assert one == other


def _outcome(content: bytes, part_of: bool) -> Any:
    try:
        return _content(read(content, part_of=part_of))
    except InputError as error:
        return str(error)


# Faults


@pytest.mark.parametrize("seed", range(30))
def test_no_value_of_another_type_ends_in_a_traceback(seed: int) -> None:
    random = Random(seed)
    graph = deepcopy(GRAPH)
    for _ in range(random.randint(1, 3)):
        place: Any = graph
        while True:
            key = random.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], (dict, list)) or not place[key] or random.random() < 0.2:
                place[key] = random.choice([None, 5, -1.5, True, "", "x", [], {}, [[]], [None], {"id": 1}, ["\ud800"]])
                break
            place = place[key]
    attempt(_json(graph), format="obographs")


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"nodes": [{"lbl": "a"}]}, "the graph, nodes[0], has no id"),
        ({"nodes": [_node("X_1"), {"id": 5, "lbl": "a"}]}, "the graph, nodes[1], has no id"),
        ({"nodes": [_node("X_1"), "X_2"]}, "the graph, nodes[1], is no object"),
        ({"nodes": {"X_1": {"lbl": "a"}}}, "the graph, has nodes that are no list"),
        ({"nodes": [], "edges": [{"sub": "a", "obj": "b"}]}, "the graph, edges[0], has no pred"),
        ({"nodes": [], "edges": [{"sub": "a", "pred": "is_a"}]}, "the graph, edges[0], has no obj"),
        ({"nodes": [], "edges": [{"sub": " ", "pred": "is_a", "obj": "b"}]}, "the graph, edges[0], has no sub"),
        ({"nodes": [_node("X_1"), _node("X_1", None, "PROPERTY")]}, "nodes[1], is X:1 of type PROPERTY, and another"),
        ({"nodes": [{"id": "a", "meta": ["deprecated"]}]}, "nodes[0], has a meta that is no object"),
        (
            {"nodes": [], "logicalDefinitionAxioms": [{"definedClassId": "a", "genusIds": "b"}]},
            "logicalDefinitionAxioms[0], has genusIds that are no list of ids",
        ),
        ({"nodes": [{"id": "a", "lbl": ["b"]}]}, "nodes[0], has a lbl that is no text"),
        ({"nodes": []}, "has no node of type CLASS that is not deprecated"),
        ({"id": "x"}, "graph 1 has neither nodes nor edges"),
    ],
)
def test_faults_are_named_with_their_place(graph: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(_json(graph), format="obographs")
    assert said in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"graphs": []}', "it has no list of graphs"),
        (b'"graphs"', "it has no list of graphs"),
        (_json(GRAPH)[:-40], "line 1: not valid JSON at column"),
        (b'{"graphs": [{"nodes": [], "edges": [], "nodes": []}]}', "an object has the key 'nodes' twice"),
        (_json({"nodes": [_node("X_1", "a \ud800")], "edges": [_edge("X_2", "is_a", "X_1")]}), "a lone surrogate"),
        (
            _json({"nodes": [_node("X_1", synonyms=[{"val": "\udc00"}])], "edges": [_edge("X_2", "is_a", "X_1")]}),
            "a lone surrogate",
        ),
        (b"[" * 100_000, "is nested too deeply for JSON"),
        (b"graphs: [{nodes: [a: b: c]}]", "line 1: not valid YAML"),
    ],
)
def test_text_that_is_no_obographs_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content, format="obographs")
    assert said in str(caught.value)
    assert caught.value.__cause__ is None
