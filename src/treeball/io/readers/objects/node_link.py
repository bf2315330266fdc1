"""Graphs as documents hold them: nodes beside links, as networkx, D3, Cytoscape and JSON Graph Format write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .keywords import ID_KEYS, NAME_KEYS, value_under
from .values import Number

__all__ = ["Graph", "graph_in", "node_name"]

_NODES, _LINKS = ("nodes", "vertices"), ("links", "edges", "arcs")
_ENDS = ("source", "target")


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of a document.

    Attributes
    ----------
    nodes
        What the document says of each node: its name, or a mapping.
    links
        Each link: a pair of names, or a mapping.
    is_directed
        False if the document says that its links have no direction.
    """

    nodes: Sequence[Any]
    links: Sequence[Any]
    is_directed: bool = True


def graph_in(document: Mapping[Any, Any]) -> Graph | None:
    """The graph that a document holds beside nothing else that counts, or None."""
    inner = _inner(document)
    nodes = next((inner[key] for key in _NODES if key in inner), None)
    links = next((inner[key] for key in _LINKS if key in inner), None)
    if isinstance(nodes, Mapping) and all(isinstance(node, Mapping) for node in nodes.values()):
        nodes = [{"id": key, **node} for key, node in nodes.items()]
    if nodes is None and not any(
        isinstance(value, (list, Mapping)) for key, value in inner.items() if key not in _LINKS
    ):
        nodes = []
    if not isinstance(nodes, list) or not (isinstance(links, list) or (links is None and inner is not document)):
        return None
    nodes, links = [_data(node) for node in nodes], [_data(link) for link in links or ()]
    is_directed = str(inner.get("directed", document.get("directed"))).lower() != "false"
    return Graph(nodes, _by_name(links, nodes), is_directed)


def node_name(node: Any) -> Any:
    """What the links of a document call one of its nodes."""
    if not isinstance(node, Mapping):
        return node
    ident = value_under(node, ID_KEYS)
    return value_under(node, NAME_KEYS) if ident is None else ident


def _inner(document: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The part of a document that holds nodes and links: Cytoscape and JSON Graph Format have one around it."""
    elements, graph, graphs = (document.get(key) for key in ("elements", "graph", "graphs"))
    if isinstance(elements, list) and elements and all(_is_element(one) for one in elements):
        is_link = [all(end in one["data"] for end in _ENDS) for one in elements]
        return {
            "nodes": [one for one, link in zip(elements, is_link, strict=True) if not link],
            "links": [one for one, link in zip(elements, is_link, strict=True) if link],
        }
    if isinstance(graphs, list) and len(graphs) == 1:
        graph = graphs[0]
    for inner in (elements, graph):
        if isinstance(inner, Mapping) and any(key in inner for key in _NODES):
            return inner
    return document


def _is_element(item: Any) -> bool:
    """Whether it is an element of Cytoscape: ``{"data": {"id": "a"}}``."""
    return isinstance(item, Mapping) and isinstance(item.get("data"), Mapping)


def _data(item: Any) -> Any:
    return item["data"] if _is_element(item) else item


def _by_name(links: Sequence[Any], nodes: Sequence[Any]) -> Sequence[Any]:
    """Links by the names of nodes: D3 writes the places of nodes that have no id."""
    if not nodes or not all(isinstance(node, Mapping) and value_under(node, ID_KEYS) is None for node in nodes):
        return links
    names = [node_name(node) for node in nodes]
    ends = [link.get(end) for link in links if isinstance(link, Mapping) for end in _ENDS]
    are_places = all(type(end) in (int, Number) and str(end).isdecimal() and int(str(end)) < len(names) for end in ends)
    if not are_places or len(ends) < 2 * len(links) or not {str(end) for end in ends}.isdisjoint(map(str, names)):
        return links
    return [{**link, **{end: names[int(str(link[end]))] for end in _ENDS}} for link in links]
