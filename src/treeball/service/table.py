"""The questions that the service answers: one table, from which routes, checks and the OpenAPI description are made."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from starlette.exceptions import HTTPException

from ..embedding import Embedding
from ..geometry.coordinates import kinds_of, to_kind
from ..geometry.spaces import SPACES
from ..types import Objective, Source
from .settings import ServeSettings

__all__ = [
    "LONGEST_NAME",
    "RESOURCES",
    "Option",
    "Question",
    "Resource",
    "closed_object",
    "name_schema",
    "questions",
    "shown",
    "whole_number",
]

Schema = dict[str, Any]

LONGEST_NAME = 1_024  # characters


def closed_object(properties: Schema) -> Schema:
    """The schema of an object with these properties, all of them and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


@dataclass(frozen=True)
class Option:
    """An optional parameter: a whole number between limits, or one of some words."""

    name: str
    argument: str
    description: str
    schema: Schema

    def value(self, given: Any) -> Any:
        """`given` if it is allowed, from JSON or, numbers too, as text of a query; else 422."""
        words = self.schema.get("enum")
        if words is not None:
            if given in words:
                return given
            raise HTTPException(422, f"{self.name} must be one of {', '.join(words)}, not {shown(given)}")
        least, most = self.schema["minimum"], self.schema["maximum"]
        number = whole_number(given)
        if number is not None and least <= number <= most:
            return number
        raise HTTPException(422, f"{self.name} must be a whole number between {least} and {most:,}, not {shown(given)}")

    def value_of_text(self, text: str) -> Any:
        """The value that a query spells."""
        is_number = "enum" not in self.schema and re.fullmatch(r"-?[0-9]{1,15}", text)
        return self.value(int(text) if is_number else text)


@dataclass(frozen=True)
class Question:
    """Something to ask about one node or two.

    Attributes
    ----------
    name
        The path is /name.
    of
        Parameters that name the nodes of a question.
    ask
        Takes an embedding, a list of names for each of `of`, and the options by their arguments; gives the properties
        of each answer.
    answer
        Schemas of these properties.
    """

    name: str
    of: tuple[str, ...]
    summary: str
    options: tuple[Option, ...]
    ask: Callable[..., Sequence[Schema]]
    answer: Schema

    @property
    def many(self) -> str:
        """The property of a request's body that lists the nodes, or pairs of them, to ask about."""
        return "nodes" if len(self.of) == 1 else "pairs"


@dataclass(frozen=True)
class Resource:
    """Something that takes no parameters; the service has a method of the same name."""

    name: str
    path: str
    summary: str
    media_type: str
    schema: Schema


_MAYBE_TEXT = {"type": ["string", "null"]}
_COUNT = {"type": "integer", "minimum": 1}

RESOURCES = (
    Resource("page", "/", "A page to browse the model", "text/html", {"type": "string"}),
    Resource(
        "health", "/health", "Whether the service is up", "application/json", closed_object({"status": {"const": "ok"}})
    ),
    Resource(
        "info",
        "/info",
        "What is served: the size of the model, its scores, and the limits on requests",
        "application/json",
        closed_object(
            {
                "nodes": _COUNT,
                "edges": {"type": "integer", "minimum": 0},
                "dim": _COUNT,
                "geometry": {"enum": list(SPACES)},
                "objective": {"enum": list(get_args(Objective))},
                "method": _MAYBE_TEXT,
                "scores": {"type": ["object", "null"]},
                "version": {"type": "string"},
                "limits": {"type": "object", "additionalProperties": {"type": "number"}},
            }
        ),
    ),
    Resource("openapi", "/openapi.json", "This description", "application/json", {"type": "object"}),
)


def questions(embedding: Embedding, settings: ServeSettings) -> tuple[Question, ...]:
    """All questions to a model; what may be asked depends on its geometry and on the limits."""
    name = name_schema(embedding)
    names = {"type": "array", "items": name}
    maybe_name = {"anyOf": [name, {"type": "null"}]}
    maybe_number = {"type": ["number", "null"], "description": "null when only an added root joins the two"}
    near = closed_object({"node": name, "distance": {"type": "number", "minimum": 0}})
    score = {"type": "number", "minimum": 0, "maximum": 1}
    source = Option(
        "from",
        "source",
        "Answer from distances alone, or from the hierarchy the model was made from.",
        {"type": "string", "enum": list(get_args(Source)), "default": "geometry"},
    )
    k = Option(
        "k",
        "k",
        "How many.",
        {"type": "integer", "minimum": 1, "maximum": settings.max_k, "default": min(10, settings.max_k)},
    )
    own, kinds = embedding.space.coordinates, list(kinds_of(embedding.space))
    coordinates = Option(
        "coordinates",
        "coordinates",
        "How the point is written down.",
        {"type": "string", "enum": kinds, "default": own},
    )
    one, two = ("node",), ("a", "b")
    return (
        Question(
            "neighbors",
            one,
            "The nearest other nodes, nearest first",
            (k, source),
            _neighbors,
            {"neighbors": {"type": "array", "items": near}},
        ),
        Question("distance", two, "The distance of two nodes", (source,), _distance, {"distance": maybe_number}),
        Question("parent", one, "The parent", (source,), _relatives("parent_of", "parent"), {"parent": maybe_name}),
        Question(
            "children", one, "The children", (source,), _relatives("children_of", "children"), {"children": names}
        ),
        Question(
            "ancestors",
            one,
            "All ancestors, the nearest first",
            (source,),
            _relatives("ancestors_of", "ancestors"),
            {"ancestors": names},
        ),
        Question(
            "is-ancestor",
            ("ancestor", "node"),
            "Whether a node is an ancestor of another, and how much of one",
            (source,),
            _is_ancestor,
            {"is_ancestor": {"type": "boolean"}, "score": score},
        ),
        Question(
            "common-ancestor",
            two,
            "The nearest node above both, or one of them",
            (source,),
            _relatives("common_ancestor", "common_ancestor"),
            {"common_ancestor": maybe_name},
        ),
        Question(
            "path",
            two,
            "The way from one node up to a common ancestor and down to the other",
            (source,),
            _relatives("path", "path"),
            {"path": names},
        ),
        Question(
            "vector",
            one,
            "The coordinates of a node",
            (coordinates,),
            _vector,
            {
                "coordinates": {"type": "string", "enum": kinds},
                "vector": {"type": "array", "items": {"type": "number"}},
            },
        ),
    )


def name_schema(embedding: Embedding) -> Schema:
    """What a name of a node is in JSON; where names are integers, their digits as text do too."""
    if embedding.names.kind == "str":
        return {"type": "string", "maxLength": LONGEST_NAME}
    return {"type": ["string", "integer"], "maxLength": LONGEST_NAME}


def whole_number(given: Any) -> int | None:
    """A whole number as JSON may write it, 3 or 3.0; None for anything else."""
    if isinstance(given, float) and given.is_integer():
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def shown(given: Any) -> str:
    """What was given, short enough for a sentence."""
    text = repr(given)
    return text if len(text) <= 80 else text[:77] + "..."


# ---- how the answers are made ----


def _neighbors(embedding: Embedding, nodes: list[Any], k: int, source: Source) -> list[Schema]:
    return [
        {"neighbors": [{"node": node, "distance": far} for node, far in near]}
        for near in embedding.neighbors(nodes, k, source)
    ]


def _distance(embedding: Embedding, a: list[Any], b: list[Any], source: Source) -> list[Schema]:
    far = embedding.distance(a, b, source).tolist()
    return [{"distance": d if math.isfinite(d) else None} for d in far]


def _relatives(method: str, key: str) -> Callable[..., list[Schema]]:
    def ask(embedding: Embedding, *names: list[Any], source: Source) -> list[Schema]:
        return [{key: found} for found in getattr(embedding, method)(*names, source)]

    return ask


def _is_ancestor(embedding: Embedding, ancestors: list[Any], nodes: list[Any], source: Source) -> list[Schema]:
    found = embedding.is_ancestor(ancestors, nodes, source)
    return [{"is_ancestor": one.holds, "score": one.score} for one in found]


def _vector(embedding: Embedding, nodes: list[Any], coordinates: Any) -> list[Schema]:
    codes = embedding.names.index_of_many(nodes)
    vectors, kind = to_kind(embedding.vectors[codes], embedding.space, coordinates)
    return [{"coordinates": kind, "vector": vector} for vector in vectors.tolist()]
