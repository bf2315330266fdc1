"""Writers of ontologies and of the dumps of taxonomies: OBO, OWL, RDF, SKOS, obographs, NCBI, WordNet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from tests.io.readers import helpers
from treeball.io.readers import formats as readers

from .graphs import Graph, random_graph
from .tables import one_line
from .written import SOURCE, Facts, Format, Written

_BASE = "https://example.org/onto/"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_COMMENT = "http://www.w3.org/2000/01/rdf-schema#comment"


def _named(graph: Graph, id_of: Callable[[str], str]) -> tuple[dict[str, str], Facts]:
    """Ids of the nodes, and the facts by id: the names become labels."""
    ids = {name: id_of(name) for name in graph.parents}
    facts = Facts(
        frozenset(ids.values()),
        frozenset((ids[low], ids[high]) for low, high in graph.edges),
        {ids[name]: name for name in ids if ids[name] != name},
    )
    return ids, facts


def _dag(random: Random, lonely: bool = True) -> Graph:
    return random_graph(random, random.choice(["tree", "forest", "dag"]), _printable, lonely=lonely)


def _printable(name: str) -> bool:
    return one_line(name) and name.isprintable()


# ---- OBO ----


def _obo_escaped(text: str) -> str:
    return "".join("\\" + letter if letter in '\\!{}"' else letter for letter in text)


def obo(random: Random) -> Written:
    """Terms in OBO; comments, qualifiers, synonyms and obsolete terms say nothing of the hierarchy."""
    graph = _dag(random)
    ids, facts = _named(graph, lambda name: f"T:{quote(name, safe='')}")
    lines = ["format-version: 1.4", "ontology: test", ""] if random.random() < 0.8 else ["! no header", ""]
    for name, above in graph.parents.items():
        stanza = [f"name: {_obo_escaped(name)}"]
        comment = random.choice(["", "", f" ! {random.choice(above)}" if above and random.random() < 0.5 else " ! x"])
        qualifier = random.choice(["", ' {source="X:1"}'])
        stanza += [f"is_a: {ids[one]}{qualifier}{comment}" for one in above]
        stanza += random.sample(
            [
                'def: "A thing: {with} marks! and a \\"quote\\"." [X:1, X:2]',
                'synonym: "other" EXACT []',
                'xref: Y:1 {a="b"}',
                "comment: is_a: nothing",
                "namespace: test",
                "relationship: regulates T:none",
            ],
            random.randint(0, 3),
        )
        random.shuffle(stanza)
        lines += ["[Term]", f"id: {ids[name]}", *stanza, ""]
    if random.random() < 0.3:
        lines += ["[Term]", "id: T:old", "name: gone", f"is_a: {ids[next(iter(ids))]}", "is_obsolete: true", ""]
    if random.random() < 0.3:
        lines += ["[Typedef]", "id: part_of", "name: part of", "is_transitive: true", ""]
    return Written({SOURCE: "\n".join(lines).encode()}, facts)


# ---- OWL ----


def _iri(name: str) -> str:
    return _BASE + quote(name, safe="")


def functional(random: Random) -> Written:
    """OWL in functional syntax."""
    graph = _dag(random, lonely=False)
    ids, facts = _named(graph, _iri)
    brief = random.random() < 0.5 and all(name.isalnum() and name.isascii() for name in graph.parents)
    refer = {name: f":{name}" if brief else f"<{ids[name]}>" for name in ids}
    axioms = [f"Declaration(Class({refer[name]}))" for name in ids if random.random() < 0.7]
    for name in ids:
        text = name.replace("\\", "\\\\").replace('"', '\\"')
        axioms.append(
            f'AnnotationAssertion(rdfs:label {refer[name]} "{text}"{random.choice(["", "@en", "^^xsd:string"])})'
        )
        if random.random() < 0.2:
            axioms.append(f'AnnotationAssertion(rdfs:comment {refer[name]} "SubClassOf(:a :b) # (no")')
    note = random.choice(["", 'Annotation(rdfs:comment "why") '])
    axioms += [f"SubClassOf({note}{refer[low]} {refer[high]})" for low, high in graph.edges]
    if random.random() < 0.3:
        axioms.append(f"SubClassOf({refer[next(iter(ids))]} ObjectSomeValuesFrom(<urn:p> {refer[next(iter(ids))]}))")
    random.shuffle(axioms)
    head = [f"Prefix(:=<{_BASE}>)", f"Prefix(owl:=<{_OWL}>)", "Prefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)"]
    head += ["Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>)", "# a comment", f"Ontology(<{_BASE}o>"]
    return Written({SOURCE: "\n".join([*head, *axioms, ")"]).encode()}, facts)


def owl_xml(random: Random) -> Written:
    """OWL as XML."""
    graph = _dag(random, lonely=False)
    ids, facts = _named(graph, _iri)
    axioms = []
    for name in ids:
        label = f'<Literal xml:lang="en">{escape(name)}</Literal>'
        axioms.append(
            f'<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>{ids[name]}</IRI>{label}'
            "</AnnotationAssertion>"
        )
    axioms += [
        f"<SubClassOf><Class IRI={quoteattr(ids[low])}/><Class IRI={quoteattr(ids[high])}/></SubClassOf>"
        for low, high in graph.edges
    ]
    random.shuffle(axioms)
    opening = f'<?xml version="1.0"?>\n<Ontology xmlns="{_OWL}" ontologyIRI="{_BASE}o">'
    return Written({SOURCE: "\n".join([opening, "<!-- made -->", *axioms, "</Ontology>"]).encode()}, facts)


# ---- RDF ----


def _triples(random: Random) -> tuple[list[tuple[str, str, Any]], Facts]:
    """Statements of classes or concepts, in any order; a text value is a pair (text, language)."""
    graph = _dag(random, lonely=False)
    ids, facts = _named(graph, _iri)
    how = random.choice(["classes", "broader", "narrower", "both"])
    found: list[tuple[str, str, Any]] = []
    for low, high in graph.edges:
        if how == "classes":
            found.append((ids[low], _SUBCLASS, ids[high]))
        if how in ("broader", "both"):
            found.append((ids[low], _SKOS + "broader", ids[high]))
        if how in ("narrower", "both"):
            found.append((ids[high], _SKOS + "narrower", ids[low]))
    label = _LABEL if how == "classes" or random.random() < 0.3 else _SKOS + "prefLabel"
    for name, iri in ids.items():
        found.append((iri, label, (name, random.choice(["", "en"]))))
        if random.random() < 0.7:
            found.append((iri, _TYPE, _OWL + "Class" if how == "classes" else _SKOS + "Concept"))
        if random.random() < 0.3:
            found.append((iri, label, (f"auf Deutsch {name}", "de")))
        if random.random() < 0.2:
            found.append((iri, _COMMENT, ("a comment; with <marks> . @prefix x: <y> .", "")))
        if random.random() < 0.1:
            found.append((iri, "https://example.org/p/seeAlso", "https://example.org/elsewhere"))
    random.shuffle(found)
    return found, facts


def n_triples(random: Random) -> Written:
    """One statement a line."""
    statements, facts = _triples(random)

    def value(one: Any) -> str:
        if isinstance(one, str):
            return f"<{one}>"
        text = one[0].replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"' + (f"@{one[1]}" if one[1] else "")

    lines = [f"<{subject}> <{predicate}> {value(one)} ." for subject, predicate, one in statements]
    if random.random() < 0.2:
        lines.insert(0, "# exported")
    return Written({SOURCE: "\n".join(lines).encode()}, facts)


def serialized(syntax: str) -> Callable[[Random], Written]:
    """Turtle, RDF/XML or JSON-LD as rdflib writes it."""

    def write(random: Random) -> Written:
        import rdflib

        statements, facts = _triples(random)
        graph = rdflib.Graph()
        for subject, predicate, one in statements:
            value = rdflib.URIRef(one) if isinstance(one, str) else rdflib.Literal(one[0], lang=one[1] or None)
            graph.add((rdflib.URIRef(subject), rdflib.URIRef(predicate), value))
        graph.bind("ex", _BASE)
        return Written({SOURCE: graph.serialize(format=syntax).encode()}, facts)

    return write


# ---- obographs ----


def obographs(random: Random) -> Written:
    """The JSON of the OBO Foundry."""
    graph = _dag(random)
    ids, facts = _named(graph, _iri)
    nodes: list[dict[str, Any]] = [
        {"id": ids[name], "lbl": name, "type": "CLASS", "meta": {"definition": {"val": "A thing.", "xrefs": []}}}
        for name in ids
    ]
    edges: list[dict[str, Any]] = [{"sub": ids[low], "pred": "is_a", "obj": ids[high]} for low, high in graph.edges]
    if random.random() < 0.3:
        nodes.append({"id": _BASE + "old", "lbl": "gone", "type": "CLASS", "meta": {"deprecated": True}})
    if random.random() < 0.3:
        nodes.append({"id": "http://purl.obolibrary.org/obo/RO_0002211", "lbl": "regulates", "type": "PROPERTY"})
        edges.append(
            {"sub": nodes[0]["id"], "pred": "http://purl.obolibrary.org/obo/RO_0002211", "obj": nodes[1]["id"]}
        )
    random.shuffle(nodes)
    random.shuffle(edges)
    one = {"id": _BASE + "o", "meta": {"version": "1"}, "nodes": nodes, "edges": edges, "equivalentNodesSets": []}
    return Written({SOURCE: json.dumps({"graphs": [one]}, indent=random.choice([None, 2])).encode()}, facts)


def _reads_obographs() -> bool:
    return any("obograph" in file.name for file in Path(readers.__file__).parent.glob("*.py"))


# ---- dumps ----


def taxdump(random: Random) -> Written:
    """nodes.dmp, and names.dmp beside it."""
    graph = random_graph(random, "tree", lambda name: _printable(name) and "|" not in name, lonely=False)
    number = {
        name: str(i + 1) for i, name in enumerate([*graph.roots, *(n for n in graph.parents if graph.parents[n])])
    }
    nodes = [(number[name], number[above[0]] if above else number[name]) for name, above in graph.parents.items()]
    names = [f"{number[name]}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for name in graph.parents]
    names += [f"{number[name]}\t|\tauthority {name}\t|\t\t|\tauthority\t|\n" for name in graph.parents]
    random.shuffle(names)
    files = {"nodes.dmp": "".join(f"{i}\t|\t{p}\t|\tno rank\t|\t\t|\n" for i, p in nodes).encode()}
    facts = Facts(frozenset(number.values()), frozenset((number[c], number[p]) for c, p in graph.edges))
    if random.random() < 0.8:
        files["names.dmp"] = "".join(names).encode()
        facts = Facts(facts.nodes, facts.edges, {i: name for name, i in number.items() if name != i})
    return Written(files, facts, whole_folder=True)


def wordnet(random: Random) -> Written:
    """data.noun and index.noun."""
    graph = random_graph(
        random, random.choice(["tree", "dag"]), lambda name: name.isascii() and name.isalpha() and name.islower()
    )
    with TemporaryDirectory() as folder:
        made = helpers.wordnet(set(graph.edges), Path(folder) / "wn")
        files = {path.name: path.read_bytes() for path in made.iterdir()}
    sense = {name: f"{name}.n.01" for name in graph.parents}
    facts = Facts(frozenset(sense.values()), frozenset((sense[low], sense[high]) for low, high in graph.edges))
    return Written(files, facts, {"relation": "dag", "reduce": "never"}, whole_folder=True)


FORMATS = [
    Format("OBO", obo),
    Format("OWL functional", functional),
    Format("OWL/XML", owl_xml),
    Format("RDF N-Triples", n_triples),
    Format("RDF Turtle", serialized("turtle")),
    Format("RDF/XML", serialized("xml")),
    Format("JSON-LD", serialized("json-ld")),
    *([Format("obographs", obographs)] if _reads_obographs() else []),
    Format("taxdump", taxdump),
    Format("WordNet", wordnet),
]
