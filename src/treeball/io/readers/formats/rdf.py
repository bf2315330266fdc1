"""OWL, RDFS and SKOS in Turtle, RDF/XML, N-Triples, N-Quads, TriG or JSON-LD, streamed by pyoxigraph."""

from __future__ import annotations

import io
import json
import re
import sys
from functools import partial
from typing import Any
from xml.parsers import expat

from ....errors import InputError, MissingExtraError
from ...memory import require_room, watched
from ..doctype import without_doctype
from ..foreign import is_xml
from ..opening import after_code_comments, root_element
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..triples import Triples

_TRIPLE = re.compile(r"\s*(?:<[^<>\s]+>|_:\S+)\s+<[^<>\s]+>\s+(?:<[^<>\s]*>|_:\S+|\").*\.")
_DIRECTIVE = re.compile(r"(?i)(?:@prefix|@base|PREFIX|BASE)\s+(?:[\w.\-]*:\s*)?<[^>\s]*>")
_DIRECTIVE_LATER = re.compile(r"(?mi)^[ \t]*(?:@prefix|@base|PREFIX|BASE)[ \t]+(?:[\w.\-]*:\s*)?<[^>\s]*>")
_STATEMENT = re.compile(r"(?:<[^<>\s]*>|_:\S+)\s+(?:a|<[^<>\s]*>)\s")
_FULL_STATEMENT = re.compile(r"<[a-z][\w+.\-]*+:[^<>\s]*>\s+(?:a|<[a-z][\w+.\-]*+:[^<>\s]*>)\s")
_JSON = re.compile(r"\s*+(?:\{|\[\s*+[\[{])")
_JSON_LD = re.compile(r'"@(?:context|graph)"\s*:|"@id"\s*:\s*"(?:https?|urn):')
_FORMATS = {"json-ld": "JSON_LD", "xml": "RDF_XML", "turtle": "TRIG", "nt": "N_QUADS"}
"""Turtle is TriG, and N-Triples are N-Quads, with one graph."""
_SPOKEN = {"json-ld": "JSON-LD", "xml": "RDF/XML", "turtle": "Turtle", "nt": "N-Triples"}
_BYTES_PER_VALUE = 100
_BASE = "urn:treeball:base"
_DEEPEST = 1_000  # nested elements; the parser takes 2 s/MB at this depth, and longer in proportion to it
_PIECE = 1 << 20  # bytes


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain when prefixes, an rdf:RDF element or nothing but triples are seen."""
    if _syntax(sample) is not None:
        return 1.0
    return 0.97 if is_xml(sample) else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the named classes and concepts by IRI."""
    syntax = _syntax(Sample.of(source))
    if syntax is None:
        if source.sample_text.lstrip().startswith("<"):
            raise InputError(
                f"{source.label} is XML but not RDF/XML: save the ontology as RDF/XML or Turtle, or give an edge list"
            )
        syntax = "turtle"
    if syntax == "json-ld":
        _refuse_addresses(source)
    return _triples(source, syntax, settings).finish(source.label)


def _triples(source: Source, syntax: str, settings: ReadSettings) -> Triples:
    """The statements, taken in one by one. IRIs are not validated: published files have blanks in theirs."""
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError("pyoxigraph", "formats", "reading RDF") from None
    named, unnamed, literal = pyoxigraph.NamedNode, pyoxigraph.BlankNode, pyoxigraph.Literal
    format = getattr(pyoxigraph.RdfFormat, _FORMATS[syntax])
    triples = Triples(settings)
    data = source.data
    if syntax == "xml":
        data = without_doctype(data, source.label)
        _check_xml(data, source.label)
    try:
        parsed = pyoxigraph.parse(io.BytesIO(data), format, base_iri=_BASE, lenient=True)
        for subject, predicate, value, _ in watched(parsed):
            kind = type(value)
            if type(subject) is unnamed:
                node = f"_:{subject.value}"
            elif type(subject) is named:
                node = subject.value
            else:
                continue  # a statement about a statement
            if kind is literal:
                triples.add_literal(node, predicate.value, value.value, value.language or "")
            elif kind in (named, unnamed):
                triples.add(node, predicate.value, value.value if kind is named else f"_:{value.value}")
    except (SyntaxError, ValueError, OSError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f"{source.label}, line {line}" if line else source.label
        reason = " ".join(str(getattr(error, "msg", None) or error).split())[:120] or type(error).__name__
        raise InputError(f"{where}: not valid {_SPOKEN[syntax]} ({reason}); correct it there") from None
    return triples


def _check_xml(data: bytes, label: str) -> None:
    """Refuse XML that is not well-formed or nests too deeply; pyoxigraph accepts a file that is cut off."""
    depth = 0

    def open_element(name: str, attributes: list[str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise InputError(
                f"{label}, line {parser.CurrentLineNumber} is nested more than {_DEEPEST:,} elements deep: convert it "
                "to Turtle or N-Triples"
            )

    def close_element(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("utf-8")
    parser.ordered_attributes = True  # a list is cheaper than a dict
    parser.StartElementHandler, parser.EndElementHandler = open_element, close_element
    try:
        for start in range(0, len(data), _PIECE):
            parser.Parse(data[start : start + _PIECE])
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(
            f"{label}, line {error.lineno}: not valid RDF/XML ({reason}); correct it there, or download it again"
        ) from None


def _refuse_addresses(source: Source) -> None:
    """Refuse JSON-LD that names a context by address, however deep in lists and scopes: addresses are not fetched."""
    text = source.text
    require_room(sys.getsizeof(text) + _BYTES_PER_VALUE * sum(text.count(mark) for mark in ",:[{"))
    try:
        json.loads(text, object_pairs_hook=partial(_refuse_address, label=source.label))
    except RecursionError:
        raise InputError(f"{source.label} is nested too deeply for JSON: convert it to N-Triples") from None
    except ValueError as error:
        raise InputError(f"{source.label} is not valid JSON-LD ({error!s:.100}); correct it") from None


def _refuse_address(pairs: list[tuple[str, Any]], label: str) -> None:
    """Refuse an object with a context that is a text; every key counts, also one that a later one repeats."""
    pending = [value for key, value in pairs if key == "@context"]
    is_text = any(key == "@import" for key, _ in pairs)
    while pending and not is_text:
        context = pending.pop()
        is_text = isinstance(context, str)
        pending.extend(context if isinstance(context, list) else ())
    if is_text:
        raise InputError(
            f"{label} is JSON-LD whose @context is an address, and addresses are not fetched: write the context out in "
            "the file, or convert it to Turtle"
        )


def _syntax(sample: Sample) -> str | None:
    """Our name of the syntax, or None when it is none of them.

    The first statement decides: annotations of other formats may hold lines of Turtle.
    """
    if _JSON.match(sample.text) and _JSON_LD.search(sample.text):
        return "json-ld"
    if root_element(sample.text).rpartition(":")[2] == "rdf":
        return "xml"
    start = after_code_comments(sample.text)
    if _DIRECTIVE.match(sample.text, start):
        return "turtle"
    lines = [line for line in sample.lines if not line.lstrip().startswith("#")]
    if lines and all(_TRIPLE.match(line) for line in lines):
        return "nt"
    if _FULL_STATEMENT.match(sample.text, start):
        return "turtle"
    if _STATEMENT.match(sample.text, start) and _DIRECTIVE_LATER.search(sample.text, start):
        return "turtle"
    return None
