"""OWL, RDFS and SKOS in Turtle, RDF/XML, N-Triples or JSON-LD, by rdflib."""

from __future__ import annotations

import json
import logging
import re
import warnings
from typing import Any

from ....errors import InputError, MissingExtraError
from ....words import count
from ..foreign import is_xml
from ..relation import MISSING, Relation, RelationBuilder
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source

_TRIPLE = re.compile(r"^\s*(?:<[^<>\s]+>|_:\S+)\s+<[^<>\s]+>\s+(?:<[^<>\s]*>|_:\S+|\".*)\s*\.\s*(?:#.*)?$")
_TURTLE = re.compile(r"(?mi)^\s*(?:@prefix|@base|PREFIX|BASE)\s+(?:[\w.\-]*:\s*)?<[^>\s]*>")
_JSON_LD = re.compile(r'"@(?:context|graph)"\s*:|"@id"\s*:\s*"(?:https?|urn):')
_XML = re.compile(r"<(?:\w+:)?RDF[\s>]")


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain when prefixes, an rdf:RDF element or nothing but triples are seen."""
    if _syntax(sample) is not None:
        return 1.0
    return 0.97 if is_xml(sample) else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the named classes and concepts by IRI."""
    try:
        import rdflib
    except ImportError:
        raise MissingExtraError("rdflib", "formats", "reading RDF") from None
    syntax = _syntax(Sample.of(source))
    if syntax is None:
        if source.sample_text.lstrip().startswith("<"):
            raise InputError(
                f"{source.label} is XML but not RDF/XML: save the ontology as RDF/XML or Turtle, or give an edge list"
            )
        syntax = "turtle"
    if syntax == "json-ld":
        _refuse_addresses(source)
    graph = _parse(source, syntax, rdflib)
    names = rdflib.namespace
    above = [(names.RDFS.subClassOf, False), (names.SKOS.broader, False), (names.SKOS.narrower, True)]
    if settings.part_of:
        obo = "http://purl.obolibrary.org/obo/"
        above += [(rdflib.URIRef(obo + "BFO_0000050"), False), (names.DCTERMS.isPartOf, False)]
    return _relation(source, graph, rdflib, above)


def _relation(source: Source, graph: Any, rdflib: Any, above: list[tuple[Any, bool]]) -> Relation:
    owl, rdf, rdfs, skos = (getattr(rdflib.namespace, name) for name in ("OWL", "RDF", "RDFS", "SKOS"))
    deprecated = {
        subject for subject, value in graph.subject_objects(owl.deprecated) if str(value).lower() in ("true", "1")
    }
    builder = RelationBuilder()
    blank = dropped = 0
    pairs: dict[tuple[Any, Any], None] = {}
    for predicate, inverted in above:
        for first, second in graph.subject_objects(predicate):
            child, parent = (second, first) if inverted else (first, second)
            if not (isinstance(child, rdflib.URIRef) and isinstance(parent, rdflib.URIRef)):
                blank += 1
            elif child in deprecated or parent in deprecated:
                dropped += 1
            elif child != parent or not inverted:
                # broader and narrower often state the same pair twice; that is no repair.
                pairs[child, parent] = None
    # rdflib's order changes from run to run; sorted pairs make the same hierarchy every time.
    for child, parent in sorted(pairs):
        builder.edge(builder.node(str(child)), builder.node(str(parent)))
    if not pairs:
        raise InputError(
            f"{source.label} has no rdfs:subClassOf, skos:broader or skos:narrower between named resources: nothing "
            "in it is above anything else"
        )
    declared: set[Any] = set()
    for kind in (owl.Class, rdfs.Class, skos.Concept):
        declared.update(node for node in graph.subjects(rdf.type, kind) if isinstance(node, rdflib.URIRef))
    for node in sorted(declared - deprecated):
        builder.edge(builder.node(str(node)), MISSING)
    labels: dict[str, str] = {}
    for predicate in (skos.prefLabel, rdfs.label):
        for node, text in sorted(graph.subject_objects(predicate), key=_english_first):
            labels.setdefault(str(node), str(text))
    found = [labels.get(str(name)) for name in builder.names]
    relation = builder.finish("RDF", direction="child-parent")
    relation.labels = found if any(found) else None
    if blank:
        relation.notes.append(f"{count(blank, 'relation')} to or from unnamed nodes (restrictions, say) skipped")
    if deprecated:
        relation.notes.append(
            f"{count(len(deprecated), 'deprecated term')} left out, and {count(dropped, 'relation')} with them"
        )
    return relation


def _english_first(pair: tuple[Any, Any]) -> tuple[str, bool, str]:
    node, text = pair
    language = getattr(text, "language", None) or ""
    return str(node), not language.startswith("en") and bool(language), str(text)


def _parse(source: Source, syntax: str, rdflib: Any) -> Any:
    graph = rdflib.Graph(bind_namespaces="none")
    log = logging.getLogger("rdflib")
    level = log.level
    log.setLevel(logging.CRITICAL)  # rdflib reports odd literals and IRIs one by one
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph.parse(data=source.data, format=syntax, publicID="urn:treeball:base")
    except RecursionError:
        raise InputError(f"{source.label} is nested too deeply for rdflib: convert it to N-Triples") from None
    except Exception as error:  # rdflib and its parsers raise whatever they like
        line = getattr(error, "lines", None) or getattr(error, "_linenum", None)
        if hasattr(error, "getLineNumber"):
            line = error.getLineNumber()
        where = f"{source.label}, line {line + 1 if hasattr(error, 'lines') else line}" if line else source.label
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"{where}: not valid {syntax} ({reason}); correct it there") from None
    finally:
        log.setLevel(level)
    return graph


def _refuse_addresses(source: Source) -> None:
    """Refuse JSON-LD that names its context by address: rdflib would fetch it."""
    try:
        pending = [json.loads(source.text)]
    except RecursionError:
        raise InputError(f"{source.label} is nested too deeply for JSON: convert it to N-Triples") from None
    except ValueError as error:
        raise InputError(f"{source.label} is not valid JSON-LD ({error!s:.100}); correct it") from None
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            context = item.get("@context")
            contexts = context if isinstance(context, list) else [context]
            if "@import" in item or any(isinstance(one, str) for one in contexts):
                raise InputError(
                    f"{source.label} is JSON-LD whose @context is an address, and addresses are not fetched: write the "
                    "context out in the file, or convert it to Turtle"
                )
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _syntax(sample: Sample) -> str | None:
    """rdflib's name of the syntax, or None when it is none of them."""
    head = sample.text.lstrip()
    if head.startswith(("{", "[")) and _JSON_LD.search(sample.text):
        return "json-ld"
    if head.startswith("<") and _XML.search(sample.text):
        return "xml"
    if _TURTLE.search(sample.text):
        return "turtle"
    lines = [line for line in sample.lines if not line.lstrip().startswith("#")]
    if lines and all(_TRIPLE.match(line) for line in lines):
        return "nt"
    return None
