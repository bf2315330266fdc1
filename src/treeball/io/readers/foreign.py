"""Formats that are recognised only to be refused by name, since reading them as another would give nonsense."""

from __future__ import annotations

import re

from ...errors import InputError
from .sample import Sample

_NETWORKX = "read it with networkx.{} and pass the graph, or give an edge list"

_FOREIGN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\s*(?:<[?!][^>]*>\s*)*<graphml[\s>]"), "GraphML: " + _NETWORKX.format("read_graphml")),
    (re.compile(r"\s*(?:<[?!][^>]*>\s*)*<gexf[\s>]"), "GEXF: " + _NETWORKX.format("read_gexf")),
    (
        re.compile(r"\s*(?:<[?!][^>]*>\s*)*<(?:phyloxml|nex:nexml|nexml)[\s>]", re.IGNORECASE),
        "phyloXML or NeXML: convert to Newick",
    ),
    (
        re.compile(
            r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE
        ),
        "HTML: give the table or list in it as CSV or as an outline (if it was downloaded, a login page may have come)",
    ),
    (
        re.compile(
            r"(?:\s*(?://[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/))*\s*(?:strict\s+)?(?:di)?graph\b[^{}\n,;]*\{",
            re.IGNORECASE,
        ),
        "Graphviz DOT: " + _NETWORKX.format("nx_pydot.read_dot"),
    ),
    (
        re.compile(r"(?:\s*Creator\b[^\n]*)?\s*graph\s*\[\s*(?:\w+\s+\S+\s+)*?node\s*\["),
        "GML: " + _NETWORKX.format("read_gml"),
    ),
    (
        re.compile(r"\s*(?:Prefix:\s+[\w.\-]*:\s*<|Ontology:\s*<)"),
        "OWL in Manchester syntax: save it as RDF/XML, Turtle or in functional syntax",
    ),
    (re.compile(r"\s*\*Vertices\s+\d", re.IGNORECASE), "a Pajek network: " + _NETWORKX.format("read_pajek")),
)
_XML = re.compile(r"\s*(?:<\?xml\s|<!DOCTYPE\s|<!--|<([A-Za-z][\w:.\-]*)(?:\s+[\w:.\-]+\s*=\s*[\"'][^<]*|\s*)>)")


def refuse_foreign(sample: Sample, label: str) -> None:
    """Raise InputError when ``sample`` is in a format that is not read; XML is left to the reader of RDF/XML."""
    for pattern, meaning in _FOREIGN:
        if pattern.match(sample.text):
            raise InputError(f"{label} is {meaning}")


def is_xml(sample: Sample) -> bool:
    """Whether ``sample`` opens as XML does and has an element that is closed, unlike a name in angle brackets."""
    found = _XML.match(sample.text)
    if found is None:
        return False
    return found.group(1) is None or f"</{found.group(1)}" in sample.text or "/>" in sample.text
