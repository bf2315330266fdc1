"""Formats that are recognised only to be refused by name, since reading them as another would give nonsense."""

from __future__ import annotations

import re

from ...errors import InputError
from .opening import after_code_comments, root_element
from .sample import Sample

_NETWORKX = "read it with networkx.{} and pass the graph, or give an edge list"
_PHYLOGENY = "phyloXML or NeXML: convert to Newick"

_BY_ROOT = {
    "graphml": "GraphML: " + _NETWORKX.format("read_graphml"),
    "gexf": "GEXF: " + _NETWORKX.format("read_gexf"),
    "phyloxml": _PHYLOGENY,
    "nexml": _PHYLOGENY,
    "nex:nexml": _PHYLOGENY,
    "html": "HTML: give the table or list in it as CSV or as an outline (if it was downloaded, a login page may have "
    "come)",
}
"""First element of an XML text -> what to say of it."""
_BY_OPENING: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(?:strict\s++)?(?:di)?graph\b[^{}\n,;]*+\{", re.IGNORECASE),
        "Graphviz DOT: " + _NETWORKX.format("nx_pydot.read_dot"),
    ),
    (
        re.compile(r"(?:Creator\b[^\n]*+\s*+)?graph\s*+\[\s*+(?:(?!node\s*+\[)\w++\s++\S++\s++)*+node\s*+\["),
        "GML: " + _NETWORKX.format("read_gml"),
    ),
    (
        re.compile(r"Prefix:\s++[\w.\-]*+:\s*+<|Ontology:\s*+<"),
        "OWL in Manchester syntax: save it as RDF/XML, Turtle or in functional syntax",
    ),
    (re.compile(r"\*Vertices\s++\d", re.IGNORECASE), "a Pajek network: " + _NETWORKX.format("read_pajek")),
)
"""First words after the comments -> what to say of them. No part of these patterns can match in two ways."""
_XML = re.compile(r"<(?:\?xml\s|!DOCTYPE\s|!--|([A-Za-z][\w:.\-]*+)\s*+(?:>|(?<=\s)[\w:.\-]++\s*+=\s*+[\"'][^<>]*+>))")


def refuse_foreign(sample: Sample, label: str) -> None:
    """Raise InputError when ``sample`` is in a format that is not read; XML is left to the reader of RDF/XML."""
    meaning = _BY_ROOT.get(root_element(sample.text))
    start = after_code_comments(sample.text)
    if meaning is None:
        meaning = next((text for pattern, text in _BY_OPENING if pattern.match(sample.text, start)), None)
    if meaning is not None:
        raise InputError(f"{label} is {meaning}")


def is_xml(sample: Sample) -> bool:
    """Whether ``sample`` opens as XML does and has an element that is closed, unlike a name in angle brackets."""
    found = _XML.match(sample.text.lstrip())
    if found is None:
        return False
    return found.group(1) is None or f"</{found.group(1)}" in sample.text or "/>" in sample.text
