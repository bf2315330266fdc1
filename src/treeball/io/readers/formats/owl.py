"""OWL in functional syntax, as editors keep it (``SubClassOf(obo:CL_1 obo:CL_2)``), and the same as XML."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable

from ....errors import InputError
from ....hierarchy.repairs import RepairKind
from ....words import count
from ...memory import watched
from ..axioms import Axioms, Text
from ..doctype import without_doctype
from ..opening import after_code_comments, root_element
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..terms import kinds_of, record_skipped

_FIRST = re.compile(
    r"Prefix\s*\(\s*[\w.\-]*:\s*=\s*<[^<>\s]*>\s*\)|Ontology\s*\(\s*(?:<|\)|[A-Z][A-Za-z]+\s*\(|[\w.\-]*:\w)"
)
_XML_NAMESPACE = "{http://www.w3.org/XML/1998/namespace}"
_NAMESPACE = "{http://www.w3.org/2002/07/owl#}"
# A text always matches to its end or to that of the file, so that no quote is looked at twice.
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.|\\\Z)*+)(?P<end>"|\Z)(?:@(?P<language>[A-Za-z0-9\-]+)|\^\^(?:<[^<>\s]*>|[^\s()"<>=]+))?'
    r"|<(?P<iri>[^<>]*)>|(?P<mark>[()=])|#[^\n]*|(?P<word>[^\s()\"<>=]+)",
    re.DOTALL,
)
_WELL_KNOWN = {
    "owl:": "http://www.w3.org/2002/07/owl#",
    "rdf:": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd:": "http://www.w3.org/2001/XMLSchema#",
}


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain if the first function or the first element opens an ontology."""
    if root_element(sample.text).rpartition(":")[2] == "ontology":
        return 1.0 if _NAMESPACE[1:-1] in sample.text else 0.0
    return 1.0 if _FIRST.match(sample.text, after_code_comments(sample.text)) else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the named classes by IRI."""
    axioms, undeclared = Axioms(settings), Counter[str]()
    is_xml = source.sample_text.lstrip().startswith("<")
    (_read_xml if is_xml else _read_functional)(source, axioms, undeclared)
    relation = axioms.triples.finish(source.label)
    relation.format = "OWL"
    if axioms.unused:
        unused = axioms.unused
        relation.notes.append(f"{count(unused.total(), 'axiom')} of other kinds passed over ({kinds_of(unused)})")
        record_skipped(relation, unused)
    if undeclared:
        names = f"{count(undeclared.total(), 'name')} with a prefix that is not declared"
        relation.notes.append(f"{names} taken as written ({kinds_of(undeclared)})")
        relation.record_nodes(RepairKind.PREFIXES_UNDECLARED, list(undeclared))
    return relation


def _read_functional(source: Source, axioms: Axioms, undeclared: Counter[str]) -> None:
    """Take in all axioms, without recursion: expressions wait on a list for their end."""
    prefixes = dict(_WELL_KNOWN)
    iri_of = _expander(prefixes, undeclared)
    open_calls: list[tuple[str, list[str]]] = []
    word, text = "", source.text
    for token in watched(_TOKEN.finditer(text)):
        mark = token["mark"]
        if mark == "(":
            open_calls.append((word, []))
            word = ""
            continue
        if word:
            _put(open_calls, iri_of(word), source, token.start())
            word = ""
        if mark == ")":
            if not open_calls:
                raise _wrong(source, token.start(), "a parenthesis closes that was never opened")
            name, inside = open_calls.pop()
            if name == "Prefix" and len(inside) == 2:
                prefixes[inside[0]] = inside[1]
            value = axioms.close(name, inside)
            if value and open_calls and open_calls[-1][0] not in ("Ontology", ""):
                open_calls[-1][1].append(value)
        elif token["text"] is not None:
            if not token["end"]:
                raise _wrong(source, token.start(), "a quotation mark opens and is never closed")
            _put(open_calls, _literal(token["text"], token["language"]), source, token.start())
        elif token["iri"] is not None:
            _put(open_calls, token["iri"], source, token.start())
        elif token["word"] is not None:
            word = token["word"]
    if open_calls:
        raise _wrong(source, len(text), f"{len(open_calls):,} of the parentheses that open never close")


def _put(open_calls: list[tuple[str, list[str]]], value: str, source: Source, position: int) -> None:
    if not open_calls:
        raise _wrong(source, position, f"{value!r:.40} stands outside of all parentheses")
    open_calls[-1][1].append(value)


def _expander(prefixes: dict[str, str], undeclared: Counter[str]) -> Callable[[str], str]:
    def iri_of(word: str) -> str:
        """``obo:CL_1`` written out; what has no prefix, such as a number, or one that is `undeclared`, as it is."""
        before, colon, after = word.partition(":")
        known = prefixes.get(before + colon) if colon and after else None
        if known is None and colon and after and before != "_":
            undeclared[before + colon] += 1
        return word if known is None else known + after

    return iri_of


def _literal(text: str, language: str | None) -> Text:
    literal = Text(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text)
    literal.language = language or ""
    return literal


def _wrong(source: Source, position: int, reason: str) -> InputError:
    line = source.text.count("\n", 0, position) + 1
    return InputError(f"{source.label}, line {line}: not valid OWL in functional syntax ({reason}); correct it there")


def _read_xml(source: Source, axioms: Axioms, undeclared: Counter[str]) -> None:
    """Take in the elements as they end."""
    prefixes = dict(_WELL_KNOWN)
    iri_of = _expander(prefixes, undeclared)
    open_elements: list[tuple[str, list[str]]] = [("", [])]
    base = ""
    data = without_doctype(source.data, source.label)
    try:
        for event, element in watched(ElementTree.iterparse(io.BytesIO(data), events=("start", "end"))):
            name = element.tag.removeprefix(_NAMESPACE)
            if event == "start":
                base = element.get(f"{_XML_NAMESPACE}base", "") if name == "Ontology" else base
                open_elements.append((name, []))
                continue
            _, inside = open_elements.pop()
            outer, values = open_elements[-1]
            if name == "Prefix":
                prefixes[f"{element.get('name', '')}:"] = element.get("IRI", "")
                continue
            value = _named(name, element, base, iri_of)
            if value is None:
                cardinality = element.get("cardinality")
                value = axioms.close(name, inside if cardinality is None else [cardinality, *inside])
            elif outer == "Declaration":
                value = axioms.close(name, [value])
            if value and outer != "Ontology":
                values.append(value)
            element.clear()
    except ElementTree.ParseError as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            f"{source.label}, line {error.position[0]}: not valid OWL in XML ({reason}); correct it"
        ) from None


def _named(name: str, element: ElementTree.Element, base: str, iri_of: Callable[[str], str]) -> str | None:
    """The IRI or literal that an element is, or None for one that is an axiom or an expression."""
    if name == "Literal":
        literal = Text(element.text or "")
        literal.language = element.get(f"{_XML_NAMESPACE}lang") or ""
        return literal
    if name == "AnonymousIndividual":
        return "_:" + element.get("nodeID", "").removeprefix("_:")
    text = (element.text or "").strip()
    full = text if name == "IRI" else element.get("IRI")
    brief = text if name == "AbbreviatedIRI" else element.get("abbreviatedIRI")
    if full is not None:
        return base + full if full.startswith("#") or ":" not in full else full
    return None if brief is None else iri_of(brief)
