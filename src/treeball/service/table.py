"""The questions that the service answers: one table of types, from which routes, checks and OpenAPI are made."""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, Strict, create_model

from ..embedding import Embedding
from ..geometry.coordinates import kinds_of
from ..types import Source
from . import answers
from .question import (
    DOUBT_FIELD,
    ERROR_FIELD,
    LABELS_FIELD,
    LONGEST_NAME,
    MOST_NEAR,
    Closed,
    Fields,
    InQuery,
    Question,
    Subject,
    list_of,
)
from .settings import ServeSettings

__all__ = ["questions"]


def _without_point(given: Any) -> Any:
    """A whole number, though JSON may write it as 3.0."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _without_default(schema: Fields) -> None:
    """The description of an option that may be left out but not be null."""
    schema.pop("default", None)


def _whole(least: int, most: int, meant: str, **extra: Any) -> Any:
    """The type of a whole number within limits."""
    limits = Field(ge=least, le=most, description=meant, **extra)
    return Annotated[int, Strict(), limits, BeforeValidator(_without_point)]


def _flag(meant: str) -> Any:
    """The type of an option that is true or false."""
    return Annotated[bool, Strict(), Field(description=meant)]


def _one_of(words: tuple[str, ...]) -> Any:
    """The type of these words and no others."""
    return Literal[words]  # only known when there is a model


_Text = Annotated[str, Field(max_length=LONGEST_NAME)]
_Sought = Annotated[str, Field(max_length=LONGEST_NAME, pattern=r"\S")]
_Integer = Annotated[int, Strict(), BeforeValidator(_without_point)]
_Count = Annotated[int, Field(ge=0)]
_Distance = Annotated[float, Field(ge=0)]
_Score = Annotated[float, Field(ge=0, le=1)]
_Reach = Annotated[float, Field(ge=0, description="Its parents, or ancestors, are the nodes at most so far from it.")]
_MaybeNumber = Annotated[float | None, Field(description="null when only a virtual root joins the two")]
_Depths = Annotated[list[int], Field(description="How many edges below the node each of them is, in the same order.")]
_By = Annotated[Literal["id", "label", "synonym"], Field(description="What the text that matched is of the node.")]
_LABEL: Fields = {"label": (Annotated[str, Field(description="What people call the node.")], "")}

_INSIDE = "Only this node, given by its id, label or synonym, and what is below it."
_A_NODE = "A node, by its id, label or synonym."
_SOME_NODES = "Nodes that the new one is near to, separated by commas, unless all of it is the name of one."
_SOUGHT = "A part of an id, a label or a synonym, in any case."


def questions(embedding: Embedding, settings: ServeSettings) -> tuple[Question, ...]:
    """All questions to a model; what may be asked depends on its names and geometry, and on the limits."""
    made = _Maker(embedding, settings)
    name, names, row = made.name, made.names, made.row
    own, kinds = embedding.space.coordinates, _one_of(kinds_of(embedding.space))
    meant = "Answer from distances alone, or from the hierarchy the model was made from."
    k: Fields = {"k": (_whole(1, settings.max_k, "How many."), min(10, settings.max_k))}
    source: Fields = {"source": (Annotated[Source, Field(alias="from", description=meant)], "geometry")}
    only: Fields = {
        "leaves": (_flag("Only nodes without children."), False),
        "siblings": (_flag("Only nodes that share a parent with the node."), False),
        "unrelated": (_flag("Neither its ancestors nor its descendants."), False),
        "within": (Annotated[name, Field(description=_INSIDE, json_schema_extra=_without_default)], None),
    }
    deep = _whole(0, len(embedding), "How many edges below; by default all.", json_schema_extra=_without_default)
    coordinates: Fields = {"coordinates": (Annotated[kinds, Field(description="How the point is written down.")], own)}

    def relatives(path: str, of: str, summary: str, method: str, kind: Any) -> Question:
        key = path.replace("-", "_")
        return made.question(
            path, of, summary, answers.relatives(method, key), source, {key: kind}, naming=(key,), of_relatives=True
        )

    return (
        made.question(
            "neighbors",
            "node",
            "The nearest other nodes, nearest first",
            answers.neighbors,
            k | source | only,
            {"neighbors": list_of(row("Neighbor", {"distance": _Distance}))},
        ),
        made.question(
            "distance", "a b", "The distance of two nodes", answers.distance, source, {"distance": _MaybeNumber}
        ),
        made.question(
            "similarity",
            "a b",
            "Path, Wu-Palmer, Lin and Resnik similarity of two nodes by the hierarchy, and their distance",
            answers.similarity,
            {},
            {"distance": _Distance, "path": _Score, "wu_palmer": _Score, "lin": _Score, "resnik": _Score}
            | {"most_informative_ancestor": name | None},
            naming=("most_informative_ancestor",),
        ),
        made.question(
            "parent",
            "node",
            "The nearest parent, or the first, and all of them",
            answers.parent,
            source,
            {"parent": name | None, "parents": names},
            naming=("parents",),
            of_relatives=True,
        ),
        relatives("parents", "node", "All parents", "parents_of", names),
        relatives("children", "node", "The children", "children_of", names),
        relatives("ancestors", "node", "All ancestors, the nearest first", "ancestors_of", names),
        made.question(
            "subtree",
            "node",
            "A node and all below it, each after one of its parents",
            answers.subtree(settings.max_answer),
            source | {"depth": (deep, None)},
            {"subtree": names, "depths": _Depths, "other_parents": made.other_parents},
            naming=("subtree", "other_parents"),
            of_relatives=True,
            at_once=1,
        ),
        made.question(
            "is-ancestor",
            "ancestor node",
            "Whether a node is an ancestor of another, and how much of one",
            answers.is_ancestor,
            source,
            {"is_ancestor": bool, "score": _Score},
            of_relatives=True,
        ),
        relatives(
            "common-ancestor", "a b", "The nearest node above both, or one of them", "common_ancestor", name | None
        ),
        relatives("path", "a b", "The way from one node up to a common ancestor and down to the other", "path", names),
        made.question(
            "vector",
            "node",
            "The coordinates of a node, and its reach",
            answers.vector,
            coordinates,
            {"coordinates": kinds, "vector": list[float], "reach": _Reach},
        ),
        made.question(
            "search",
            "text",
            "Nodes whose id, label or synonym holds a text, the best matches first",
            answers.search,
            k,
            {"matches": list_of(row("Match", {"matched": str, "by": _By}))},
            subject="texts",
            at_once=1,
        ),
        made.question(
            "suggest-parent",
            "near",
            "Where a new node could hang that is near to some, the best parents first",
            answers.suggest_parent,
            k,
            {
                "suggestions": list_of(
                    row("Suggestion", {"score": _Distance, "children": _Count, "neighbors_below": _Count})
                )
            },
            subject="near",
            at_once=1,
        ),
    )


class _Maker:
    """Makes questions with the types that fit the names of a model."""

    def __init__(self, embedding: Embedding, settings: ServeSettings) -> None:
        # Where names are integers, their digits as text do too.
        self.name: Any = _Text if embedding.names.kind == "str" else _Text | _Integer
        self.names: Any = list_of(self.name)
        further = "Parents that nodes of the subtree have besides the one they are listed below, by node."
        self.other_parents: Any = Annotated[GenericAlias(dict, (str, self.names)), Field(description=further)]
        self._most = settings.max_nodes
        self._examples = embedding.names.take([embedding.hierarchy.root, len(embedding) - 1])
        self._has_labels = embedding.names.has_labels

    def row(self, title: str, fields: Fields) -> Any:
        """The type of a row about a node, with its label where nodes have any."""
        own = {"node": self.name} | fields | (_LABEL if self._has_labels else {})
        return create_model(title, __base__=Closed, **own)

    def question(
        self,
        path: str,
        of: str,
        summary: str,
        ask: Any,
        options: Fields,
        answer: Fields,
        *,
        naming: tuple[str, ...] = (),
        of_relatives: bool = False,
        subject: Subject | None = None,
        at_once: int = 64,
    ) -> Question:
        """A question and its types; see :class:`Question`."""
        title, given = path.title().replace("-", ""), tuple(of.split())
        about: Subject = subject or ("nodes" if len(given) == 1 else "pairs")
        told = dict.fromkeys(given, {"near": self.names, "texts": str}.get(about, self.name))
        labelled = LABELS_FIELD if self._has_labels and about != "texts" else {}
        doubt = DOUBT_FIELD if of_relatives else {}
        return Question(
            path,
            about,
            given,
            summary,
            ask,
            options,
            create_model(f"{title}InQuery", __base__=InQuery, **(self._in_query(about, given) | options)),
            create_model(f"{title}InBody", __base__=Closed, **({about: self._in_body(about)} | options)),
            create_model(f"{title}Answer", __base__=Closed, **(told | answer | labelled | doubt)),
            create_model(f"{title}Unanswered", __base__=Closed, **(told | ERROR_FIELD)),
            of_relatives,
            naming,
            at_once,
        )

    def _in_query(self, about: Subject, given: tuple[str, ...]) -> Fields:
        examples = [str(example) for example in self._examples]
        if about == "texts":
            return {"text": (_Sought, Field(description=_SOUGHT, examples=examples[:1]))}
        if about == "near":
            return {"near": (str, Field(description=_SOME_NODES, examples=examples[:1]))}
        return {
            node: (_Text, Field(description=_A_NODE, examples=[example]))
            for node, example in zip(given, examples, strict=False)
        }

    def _in_body(self, about: Subject) -> Any:
        each: Any
        example: Any
        match about:
            case "nodes":
                each, example = self.name, self._examples
            case "pairs":
                each, example = Annotated[self.names, Field(min_length=2, max_length=2)], [self._examples]
            case "near":
                each, example = Annotated[self.names, Field(min_length=1, max_length=MOST_NEAR)], [self._examples]
            case "texts":
                each, example = _Text, [str(self._examples[0])]
        return list_of(each), Field(min_length=1, max_length=self._most, examples=[example])
