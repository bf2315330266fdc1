"""Documents that are nested and no hierarchy, by the keys that tell them: they are refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....errors import InputError
from ..tables.columns import plain
from .keywords import CHILD_KEYS

__all__ = ["DOCUMENTS", "Document", "refuse_document"]

_EXPORT = "give the hierarchy itself, as records with an id and a parent or as names inside names"
_AGAIN = "check what came instead of the file, and download it again"


@dataclass(frozen=True, slots=True)
class Document:
    """One kind of document.

    Attributes
    ----------
    called
        What messages call it.
    is_one
        Whether the mapping at its top has the keys that tell it.
    remedy
        What to do instead.
    """

    called: str
    is_one: Callable[[Mapping[Any, Any]], bool]
    remedy: str = _EXPORT


def _has(*keys: str) -> Callable[[Mapping[Any, Any]], bool]:
    """Whether all keys are there."""
    return lambda top: all(key in top for key in keys)


def _any_of(*tests: Callable[[Mapping[Any, Any]], bool]) -> Callable[[Mapping[Any, Any]], bool]:
    return lambda top: any(test(top) for test in tests)


def _all_of(*tests: Callable[[Mapping[Any, Any]], bool]) -> Callable[[Mapping[Any, Any]], bool]:
    return lambda top: all(test(top) for test in tests)


def _is(key: str, *values: str) -> Callable[[Mapping[Any, Any]], bool]:
    """Whether a key holds one of the texts."""
    return lambda top: isinstance(top.get(key), str) and top[key] in values


def _text(key: str, part: str = "") -> Callable[[Mapping[Any, Any]], bool]:
    """Whether a key holds a text with this part."""
    return lambda top: isinstance(top.get(key), str) and part in top[key]


def _below(key: str, *keys: str) -> Callable[[Mapping[Any, Any]], bool]:
    """Whether the mapping below a key has all keys."""
    return lambda top: isinstance(top.get(key), Mapping) and all(one in top[key] for one in keys)


def _is_answer(top: Mapping[Any, Any]) -> bool:
    """Whether the few keys speak of a failure, and one of them has a text, a number or details."""
    words = [key for key in ("error", "errors", "message", "detail", "fault") if key in top]
    few = len(top) <= 6 and not any(plain(key) in CHILD_KEYS for key in top)
    return few and any(_says_something(top[word]) for word in words)


def _is_graph(top: Mapping[Any, Any]) -> bool:
    """Whether a key speaks of links or nodes, and no key of children."""
    children = any(plain(key) in CHILD_KEYS and key != "nodes" for key in top)
    return not children and (not _GRAPH_KEYS.isdisjoint(top) or isinstance(top.get("nodes"), Mapping))


def _says_something(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(isinstance(one, (str, int, float)) for one in value.values())
    if isinstance(value, (list, tuple)):
        return any(map(_says_something, value[:1]))
    return isinstance(value, (str, int, float))


_GRAPH_KEYS = frozenset(["edges", "links", "vertices", "arcs", "graphs", "adjacency"])
_GEOMETRIES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection")
_PACKAGE = ("dependencies", "devDependencies", "peerDependencies", "scripts", "license", "lockfileVersion", "main")

DOCUMENTS: tuple[Document, ...] = (
    Document("GeoJSON", _is("type", "FeatureCollection", "Feature", *_GEOMETRIES)),
    Document("TopoJSON", _is("type", "Topology")),
    Document(
        "a JSON Schema",
        _any_of(
            _text("$schema", "json-schema.org"),
            _all_of(_is("type", "object", "array"), _any_of(_has("properties"), _has("items"))),
            _any_of(_has("$defs"), _has("$ref")),
        ),
    ),
    Document("a description of an interface (OpenAPI)", _any_of(_text("openapi"), _text("swagger"), _text("asyncapi"))),
    Document("a Jupyter notebook", _any_of(_has("nbformat"), _has("cells", "metadata"))),
    Document(
        "the description of a package",
        _all_of(_text("version"), _text("name"), _any_of(*map(_has, _PACKAGE))),
    ),
    Document("a configuration of TypeScript", _any_of(_has("compilerOptions"), _has("include", "exclude"))),
    Document("an HTTP archive (HAR)", _below("log", "entries")),
    Document("JSON-stat", _any_of(_is("class", "dataset", "dimension", "collection"), _has("dimension", "size"))),
    Document("a resource of Kubernetes", _has("apiVersion", "kind")),
    Document(
        "a configuration of containers (Compose)",
        lambda top: (
            isinstance(top.get("services"), Mapping)
            and any(isinstance(one, Mapping) and ("image" in one or "build" in one) for one in top["services"].values())
        ),
    ),
    Document("a workflow of continuous integration", _any_of(_has("jobs", "on"), _has("jobs", "version"))),
    Document("a JSON feed", _text("version", "jsonfeed.org")),
    Document("a document of another schema", _text("$schema")),
    Document("linked data without its context", _any_of(_has("@type"), _has("@id"), _has("@graph"))),
    Document(
        "a list of statements (sub, pred, obj)",
        _any_of(_has("sub", "obj"), _has("subj", "obj"), _has("s", "p", "o")),
        "keep those of one predicate, and name the columns of child and parent, for instance columns=sub,obj",
    ),
    Document("the answer of a server that reports an error", _is_answer, _AGAIN),
    Document("a graph of a form that is not known", _is_graph, "give its links as records with a child and a parent"),
)
"""Of several that match, the first is named."""


def refuse_document(value: Any, label: str) -> None:
    """Raise InputError when ``value`` is a document of another kind, or a list of such."""
    top = value[0] if isinstance(value, (list, tuple)) and value else value
    if not isinstance(top, Mapping):
        return
    found = next((document for document in DOCUMENTS if document.is_one(top)), None)
    if found is not None:
        raise InputError(f"{label} seems to be {found.called}, which holds no hierarchy: {found.remedy}")
