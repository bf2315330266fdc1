"""Independent parsers of OBO, obographs, OWL in functional syntax and RDF/XML, and what a reader must make of them.

Nothing here imports treeball: `read_published.py` compares its readers with these. A parser gives what the file states;
`expected` applies the rules of docs/formats.md to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Pair = tuple[str, str]
_OBO = "http://purl.obolibrary.org/obo/"
_OWL = "http://www.w3.org/2002/07/owl#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_UNIVERSAL = {"owl:Thing", "owl:Nothing", _OWL + "Thing", _OWL + "Nothing"}


@dataclass
class Stated:
    """What a file states of its classes."""

    classes: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    obsolete: set[str] = field(default_factory=set)
    is_a: set[Pair] = field(default_factory=set)
    genus: set[Pair] = field(default_factory=set)
    alternative: dict[str, str] = field(default_factory=dict)
    replaced: dict[str, set[str]] = field(default_factory=dict)
    only_ids: set[str] = field(default_factory=set)
    """Classes of which nothing but alternative ids is said."""


@dataclass
class Expected:
    """Nodes and edges that a reader must give."""

    nodes: set[str]
    edges: set[Pair]
    by_definition: int


def expected(stated: Stated) -> Expected:
    """Apply the documented rules: obsolete and universal classes, other ids, parents by definition."""
    merged = {other for other in stated.alternative if other in stated.classes and other not in stated.named}
    obsolete = stated.obsolete | merged
    classes = stated.classes - stated.only_ids - _UNIVERSAL
    other_ids = dict(stated.alternative)
    for old, successors in stated.replaced.items():
        if old in obsolete and len(successors) == 1:
            other_ids[old] = next(iter(successors))

    def meant(name: str) -> str:
        found, seen = name, set()
        while found not in classes or found in obsolete:
            seen.add(found)
            if found not in other_ids or other_ids[found] in seen:
                return name
            found = other_ids[found]
        return found

    def usable(pairs: Iterable[Pair]) -> set[Pair]:
        found = {(low, meant(high)) for low, high in pairs}
        return {pair for pair in found if not set(pair) & (obsolete | _UNIVERSAL) and pair[0] != pair[1]}

    is_a = usable(stated.is_a)
    new = usable(stated.genus) - is_a
    everything = parents_of(is_a | new)
    added = {pair for pair in new if not implied(pair, everything)}
    stated_only = parents_of(is_a)
    redundant = {pair for pair in is_a if new and implied(pair, everything) and not implied(pair, stated_only)}
    edges = (is_a - redundant) | added
    return Expected(classes - obsolete | {name for pair in edges for name in pair}, edges, len(added))


def parents_of(pairs: Iterable[Pair]) -> dict[str, set[str]]:
    """Parents of each name."""
    found: dict[str, set[str]] = {}
    for low, high in pairs:
        found.setdefault(low, set()).add(high)
    return found


def implied(pair: Pair, parents: dict[str, set[str]]) -> bool:
    """Whether a longer path leads from the first to the second."""
    low, high = pair
    pending, seen = [one for one in parents[low] if one != high], {low}
    while pending:
        one = pending.pop()
        if one == high:
            return True
        if one not in seen:
            seen.add(one)
            pending.extend(parents.get(one, ()))
    return False


# OBO


def parse_obo(text: str) -> Stated:
    """One stanza after the other, one line after the other."""
    stated = Stated()
    for stanza in re.split(r"(?m)^(?=\[)", text):
        lines = [line.strip() for line in stanza.splitlines()]
        if not lines or lines[0] != "[Term]":
            continue
        pairs = [line.split(":", 1) for line in lines[1:] if ":" in line and not line.startswith("!")]
        tags = [(tag.strip(), value.strip()) for tag, value in pairs]
        term = next(_bare(value) for tag, value in tags if tag == "id")
        stated.classes.add(term)
        if {tag for tag, _ in tags} == {"id", "alt_id"}:
            stated.only_ids.add(term)
        for tag, value in tags:
            if tag == "is_a":
                stated.is_a.add((term, _bare(value)))
            elif tag == "name" and value:
                stated.named.add(term)
            elif tag == "alt_id":
                stated.alternative[_bare(value)] = term
            elif tag == "is_obsolete" and _bare(value) == "true":
                stated.obsolete.add(term)
            elif tag == "replaced_by":
                stated.replaced.setdefault(term, set()).add(_bare(value))
            elif tag == "intersection_of" and len(_bare(value).split()) == 1:
                stated.genus.add((term, _bare(value)))
    return stated


def _bare(value: str) -> str:
    return re.split(r"\s[!{]", value)[0].strip()


# obographs


def parse_obographs(document: Any) -> Stated:
    """The lists of each graph, one after the other."""
    stated = Stated()
    for graph in document["graphs"]:
        for node in graph.get("nodes", ()):
            if node.get("type") != "CLASS":
                continue
            name, meta = as_obo(node["id"]), node.get("meta", {})
            stated.classes.add(name)
            stated.named.add(name)
            if meta.get("deprecated"):
                stated.obsolete.add(name)
            for value in meta.get("basicPropertyValues", ()):
                if value["pred"].endswith("hasAlternativeId"):
                    stated.alternative[as_obo(value["val"])] = name
                elif value["pred"].endswith("IAO_0100001"):
                    stated.replaced.setdefault(name, set()).add(as_obo(value["val"]))
        for edge in graph.get("edges", ()):
            if edge["pred"] == "is_a":
                stated.is_a.add((as_obo(edge["sub"]), as_obo(edge["obj"])))
        for axiom in graph.get("logicalDefinitionAxioms", ()):
            for genus in axiom["genusIds"]:
                stated.genus.add((as_obo(axiom["definedClassId"]), as_obo(genus)))
    return stated


def as_obo(iri: str) -> str:
    """The id that OBO has for an IRI of its namespace."""
    found = re.fullmatch(re.escape(_OBO) + r"(?:([A-Za-z][A-Za-z0-9.\-]*)_([\w.\-]+)|([A-Za-z]\w*)_(\d+))", iri)
    if found is None:
        return iri
    prefix, number, long_prefix, long_number = found.groups()
    if prefix and "_" not in number:
        return f"{prefix}:{number}"
    deep = re.fullmatch(r"(.+)_(\d+)", iri.removeprefix(_OBO))
    return f"{long_prefix}:{long_number}" if long_prefix else f"{deep[1]}:{deep[2]}" if deep else iri


# OWL in functional syntax

_FUNCTIONAL = re.compile(
    r'"(?:\\.|[^"\\])*"(?:@[\w-]+|\^\^\S+?(?=[\s)]))?|<[^>]*>|[()=]|#[^\n]*|[^\s()"<=#][^\s()"<=]*', re.DOTALL
)


def parse_functional(text: str) -> Stated:
    """Parentheses as nested lists, then the axioms inside of the ontology."""
    prefixes = dict(re.findall(r"(?m)^Prefix\(\s*([\w.\-]*:)\s*=\s*<([^>]*)>\s*\)", text))
    stated = Stated()
    for axiom in _axioms(text):
        head, *given = axiom
        values = [_full(value, prefixes) for value in given if not _is_annotation(value)]
        if head == "Declaration" and isinstance(values[0], list) and values[0][0] == "Class":
            stated.classes.add(values[0][1])
        elif head == "SubClassOf" and isinstance(values[0], str):
            stated.is_a |= {(values[0], one) for one in _conjuncts(values[1]) if isinstance(one, str)}
        elif head == "EquivalentClasses":
            names = [one for one in values if isinstance(one, str)]
            for name in names[:1]:
                for other in values:
                    if isinstance(other, list):
                        stated.genus |= {(name, one) for one in _conjuncts(other) if isinstance(one, str)}
        elif head == "AnnotationAssertion" and isinstance(values[1], str):
            _annotate(stated, str(values[0]), values[1], str(values[2]))
    stated.named = set(stated.classes)
    stated.obsolete &= stated.classes
    return stated


def _axioms(text: str) -> Iterator[list[Any]]:
    """The lists directly inside of ``Ontology(...)``."""
    stack: list[list[Any]] = [[]]
    word = ""
    for token in _FUNCTIONAL.finditer(text):
        mark = token.group()
        if mark.startswith("#"):
            continue
        if mark == "(":
            stack[-1].pop()
            stack.append([word])
        elif mark == ")":
            done = stack.pop()
            stack[-1].append(done)
            if len(stack) == 2:
                yield done
                stack[-1].clear()
        else:
            stack[-1].append(mark)
        word = mark


def _is_annotation(value: Any) -> bool:
    return isinstance(value, list) and value[0] == "Annotation"


def _full(value: Any, prefixes: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [value[0], *(_full(one, prefixes) for one in value[1:])]
    if value.startswith("<"):
        return value[1:-1]
    prefix, colon, name = value.partition(":")
    return prefixes[prefix + colon] + name if colon and prefix + colon in prefixes else value


def _conjuncts(value: Any) -> list[Any]:
    """The expression itself, or the members of an intersection, nested ones too."""
    if isinstance(value, list) and value[0] == "ObjectIntersectionOf":
        return [one for member in value[1:] for one in _conjuncts(member)]
    return [value]


def _annotate(stated: Stated, predicate: str, subject: str, value: str) -> None:
    if predicate == _OWL + "deprecated" and value.startswith('"true"'):
        stated.obsolete.add(subject)
    elif predicate == _OBO + "IAO_0100001":
        stated.replaced.setdefault(subject, set()).add(value)


# RDF/XML


def parse_rdf(data: bytes) -> Stated:
    """Statements of rdflib, with class expressions followed from node to node."""
    import rdflib

    graph = rdflib.Graph().parse(data=data, format="xml")
    owl, rdfs = rdflib.OWL, rdflib.RDFS

    def conjuncts(node: Any) -> Iterator[str]:
        members = graph.value(node, owl.intersectionOf) if isinstance(node, rdflib.BNode) else None
        if members is not None:
            for member in graph.items(members):
                yield from conjuncts(member)
        elif isinstance(node, rdflib.URIRef):
            yield str(node)

    stated = Stated()
    for node in graph.subjects(rdflib.RDF.type, owl.Class):
        if isinstance(node, rdflib.URIRef):
            stated.classes.add(str(node))
    for node, above in graph.subject_objects(rdfs.subClassOf):
        if isinstance(node, rdflib.URIRef):
            stated.is_a |= {(str(node), one) for one in conjuncts(above)}
    for node, other in graph.subject_objects(owl.equivalentClass):
        if isinstance(node, rdflib.URIRef) and isinstance(other, rdflib.BNode):
            stated.genus |= {(str(node), one) for one in conjuncts(other)}
    for node, value in graph.subject_objects(owl.deprecated):
        if str(value).lower() == "true":
            stated.obsolete.add(str(node))
    for node, value in graph.subject_objects(rdflib.URIRef(_OBO + "IAO_0100001")):
        stated.replaced.setdefault(str(node), set()).add(str(value))
    stated.named = set(stated.classes)
    return stated


def parse(data: bytes) -> tuple[str, Stated]:
    """Name of the format, told by how the text begins, and what it states."""
    text = data.decode("utf-8", "replace")
    if text.startswith("{"):
        return "obographs", parse_obographs(json.loads(text))
    if text.startswith("<"):
        return "RDF", parse_rdf(data)
    if text.startswith(("Prefix(", "Ontology(")):
        return "OWL", parse_functional(text)
    return "OBO", parse_obo(data.decode("latin-1") if "�" in text else text)
