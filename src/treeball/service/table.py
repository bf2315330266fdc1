"""The questions that the service answers: one table of types, from which routes, checks and OpenAPI are made."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, Strict, create_model, field_validator

from ..embedding import Embedding, _answers
from ..geometry.coordinates import kinds_of, to_kind
from ..types import Source
from .settings import ServeSettings

__all__ = ["DOUBT", "DOUBT_FIELD", "ERROR", "LABELS", "LONGEST_NAME", "Closed", "Question", "list_of", "questions"]

LONGEST_NAME = 1_024  # characters

DOUBT, ERROR, LABELS = "doubt", "error", "labels"
Fields = dict[str, Any]  # a type, or a type and what else there is to say of it, by the name of a field


def _without_default(schema: Fields) -> None:
    """The description of an option that may be left out but not be null."""
    schema.pop("default", None)


class Closed(BaseModel):
    """An object with the properties of its type and no others."""

    model_config = ConfigDict(extra="forbid")


class _InQuery(Closed):
    """A question in a query, where numbers are spelled."""

    @field_validator("k", mode="before", check_fields=False)
    @classmethod
    def _number(cls, text: str) -> int | str:
        return int(text) if re.fullmatch(r"-?[0-9]{1,15}", text) else text

    @field_validator("leaves", "siblings", "unrelated", mode="before", check_fields=False)
    @classmethod
    def _truth(cls, text: str) -> bool | str:
        return {"true": True, "false": False}.get(text, text)


def _without_point(given: Any) -> Any:
    """A whole number, though JSON may write it as 3.0."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def list_of(kind: Any) -> Any:
    """The type of a list, of a type that is only known at run time."""
    return Annotated[GenericAlias(list, (kind,)), FailFast()]  # one error is enough to refuse them all


_Text = Annotated[str, Field(max_length=LONGEST_NAME)]
_Whole = Annotated[int, Strict(), BeforeValidator(_without_point)]
_Distance = Annotated[float, Field(ge=0)]
_Score = Annotated[float, Field(ge=0, le=1)]
_Reach = Annotated[float, Field(ge=0, description="Its parents, or ancestors, are the nodes at most so far from it.")]
_MaybeNumber = Annotated[float | None, Field(description="null when only a virtual root joins the two")]


_INSIDE = "Only this node, given by its id, label or synonym, and what is below it."
_WHY = "Why what geometry answers may be wrong; only where the model has ill pairs."
DOUBT_FIELD: Fields = {DOUBT: (Annotated[str, Field(description=_WHY)], "")}
ERROR_FIELD: Fields = {ERROR: Annotated[str, Field(description="Why there is no answer, in one sentence.")]}
_CALLED = "What people call the nodes of the answer, by their ids; only those that have a label."
LABELS_FIELD: Fields = {LABELS: (Annotated[dict[str, str], Field(description=_CALLED)], {})}


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
        Takes an embedding, a list of names for each of `of`, and the options; gives the properties of each answer.
    options
        Types and defaults of the optional arguments.
    in_query, in_body
        What a GET and a POST send.
    answer
        What a GET is answered; a POST gets a list of them.
    unanswered
        What a POST gets in the place of an answer to a question that has none.
    is_of_relatives
        Whether geometry may be wrong about it where a model has ill pairs; then the answer has a `doubt`.
    relatives
        The property of an answer that is a node or a list of nodes; empty where there is none.
    node_options
        Those options that are nodes.
    """

    name: str
    of: tuple[str, ...]
    summary: str
    ask: Callable[..., Sequence[dict[str, Any]]]
    options: Fields
    in_query: type[Closed]
    in_body: type[Closed]
    answer: type[Closed]
    unanswered: type[Closed]
    is_of_relatives: bool = False
    relatives: str = ""
    node_options: tuple[str, ...] = ()

    def named(self, found: dict[str, Any]) -> list[Any]:
        """The nodes that an answer names besides those it was asked about, rows with a label of their own left out."""
        value = found.get(self.relatives)
        return value if isinstance(value, list) else [] if value is None else [value]

    @property
    def many(self) -> str:
        """The property of a request's body that lists the nodes, or pairs of them, to ask about."""
        return "nodes" if len(self.of) == 1 else "pairs"


def _one_of(words: tuple[str, ...]) -> Any:
    """The type of these words and no others."""
    return Literal[words]  # only known when there is a model


def _flag(meant: str) -> Any:
    """The type of an option that is true or false."""
    return Annotated[bool, Strict(), Field(description=meant)]


def questions(embedding: Embedding, settings: ServeSettings) -> tuple[Question, ...]:
    """All questions to a model; what may be asked depends on its names and geometry, and on the limits."""
    # Where names are integers, their digits as text do too.
    name: Any = _Text if embedding.names.kind == "str" else _Text | _Whole
    names: Any = list_of(name)
    pair: Any = Annotated[names, Field(min_length=2, max_length=2)]
    examples = embedding.names.take([embedding.hierarchy.root, len(embedding) - 1])
    has_labels = embedding.names.has_labels
    in_row: Fields = {"label": (Annotated[str, Field(description="What people call the node.")], "")}
    near_fields: Fields = {"node": name, "distance": _Distance} | (in_row if has_labels else {})
    near: Any = create_model("Neighbor", __base__=Closed, **near_fields)
    labelled = LABELS_FIELD if has_labels else {}

    own, kinds = embedding.space.coordinates, _one_of(kinds_of(embedding.space))
    at_most = Field(ge=1, le=settings.max_k, description="How many.")
    meant = "Answer from distances alone, or from the hierarchy the model was made from."
    k: Fields = {"k": (Annotated[int, Strict(), at_most, BeforeValidator(_without_point)], min(10, settings.max_k))}
    source: Fields = {"source": (Annotated[Source, Field(alias="from", description=meant)], "geometry")}
    only: Fields = {
        "leaves": (_flag("Only nodes without children."), False),
        "siblings": (_flag("Only nodes that share a parent with the node."), False),
        "unrelated": (_flag("Neither its ancestors nor its descendants."), False),
        "within": (Annotated[name, Field(description=_INSIDE, json_schema_extra=_without_default)], None),
    }
    coordinates: Fields = {"coordinates": (Annotated[kinds, Field(description="How the point is written down.")], own)}

    def question(
        path: str, of: str, summary: str, ask: Any, options: Fields, answer: Fields, relatives: str | None = None
    ) -> Question:
        title = path.title().replace("-", "")
        nodes = of.split()
        single = len(nodes) == 1
        parameters: Fields = {
            node: (_Text, Field(description="A node, by its id, label or synonym.", examples=[str(example)]))
            for node, example in zip(nodes, examples, strict=False)
        }
        listed = Field(min_length=1, max_length=settings.max_nodes, examples=[examples if single else [examples]])
        body: Fields = {"nodes" if single else "pairs": (list_of(name if single else pair), listed)}
        return Question(
            path,
            tuple(nodes),
            summary,
            ask,
            options,
            create_model(f"{title}InQuery", __base__=_InQuery, **(parameters | options)),
            create_model(f"{title}InBody", __base__=Closed, **(body | options)),
            create_model(
                f"{title}Answer",
                __base__=Closed,
                **(dict.fromkeys(nodes, name) | answer | labelled | ({} if relatives is None else DOUBT_FIELD)),
            ),
            create_model(f"{title}Unanswered", __base__=Closed, **(dict.fromkeys(nodes, name) | ERROR_FIELD)),
            relatives is not None,
            relatives or "",
            tuple(option for option in options if option == "within"),
        )

    def relatives(path: str, of: str, summary: str, method: str, kind: Any) -> Question:
        key = path.replace("-", "_")
        return question(path, of, summary, _relatives(method, key), source, {key: kind}, key)

    above = "The nearest node above both, or one of them"
    judged: Fields = {"is_ancestor": bool, "score": _Score}
    of_two = "Whether a node is an ancestor of another, and how much of one"
    way = "The way from one node up to a common ancestor and down to the other"
    return (
        question(
            "neighbors",
            "node",
            "The nearest other nodes, nearest first",
            _neighbors,
            k | source | only,
            {"neighbors": list_of(near)},
        ),
        question("distance", "a b", "The distance of two nodes", _distance, source, {"distance": _MaybeNumber}),
        relatives("parent", "node", "The nearest parent, or the first", "parent_of", name | None),
        relatives("parents", "node", "All parents", "parents_of", names),
        relatives("children", "node", "The children", "children_of", names),
        relatives("ancestors", "node", "All ancestors, the nearest first", "ancestors_of", names),
        question("is-ancestor", "ancestor node", of_two, _is_ancestor, source, judged, ""),
        relatives("common-ancestor", "a b", above, "common_ancestor", name | None),
        relatives("path", "a b", way, "path", names),
        question(
            "vector",
            "node",
            "The coordinates of a node, and its reach",
            _vector,
            coordinates,
            {"coordinates": kinds, "vector": list[float], "reach": _Reach},
        ),
    )


# ---- how the answers are made ----


def _neighbors(embedding: Embedding, nodes: list[Any], k: int, source: Source, **only: Any) -> list[dict[str, Any]]:
    answers = []
    for near in embedding.neighbors(nodes, k, source, **only):
        labels = embedding.names.labels_by_name(node for node, _ in near)
        rows = [{"node": node, "distance": far} for node, far in near]
        answers.append({"neighbors": [row | _label_of(labels, row["node"]) for row in rows]})
    return answers


def _label_of(labels: dict[str, str], node: Any) -> dict[str, str]:
    return {"label": labels[str(node)]} if str(node) in labels else {}


def _distance(embedding: Embedding, a: list[Any], b: list[Any], source: Source) -> list[dict[str, Any]]:
    far = embedding.distance(a, b, source).tolist()
    return [{"distance": d if math.isfinite(d) else None} for d in far]


def _relatives(method: str, key: str) -> Callable[..., list[dict[str, Any]]]:
    def ask(embedding: Embedding, *names: list[Any], source: Source) -> list[dict[str, Any]]:
        return [{key: found} for found in getattr(_answers, method)(embedding, *names, source)]

    return ask


def _is_ancestor(embedding: Embedding, ancestors: list[Any], nodes: list[Any], source: Source) -> list[dict[str, Any]]:
    found = _answers.is_ancestor(embedding, ancestors, nodes, source)
    return [{"is_ancestor": one.holds, "score": one.score} for one in found]


def _vector(embedding: Embedding, nodes: list[Any], coordinates: Any) -> list[dict[str, Any]]:
    codes = embedding.names.index_of_many(nodes)
    vectors, kind = to_kind(embedding.vectors[codes], embedding.space, coordinates)
    reach = embedding.reach[codes].tolist()
    return [
        {"coordinates": kind, "vector": vector, "reach": far}
        for vector, far in zip(vectors.tolist(), reach, strict=True)
    ]
