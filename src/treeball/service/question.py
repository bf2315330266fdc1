"""What a question to the service is: its subject, its options, and the types of requests and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, field_validator

__all__ = [
    "DOUBT",
    "DOUBT_FIELD",
    "ERROR",
    "ERROR_FIELD",
    "LABELS",
    "LABELS_FIELD",
    "LONGEST_NAME",
    "MOST_NEAR",
    "Closed",
    "Fields",
    "InQuery",
    "Question",
    "Subject",
    "list_of",
]

LONGEST_NAME = 1_024  # characters
MOST_NEAR = 50  # nodes that a new one is said to be near to: each is compared with all others

DOUBT, ERROR, LABELS = "doubt", "error", "labels"
Fields = dict[str, Any]  # a type, or a type and what else there is to say of it, by the name of a field

_WHY = "Why what geometry answers may be wrong; only where the model has ill pairs."
DOUBT_FIELD: Fields = {DOUBT: (Annotated[str, Field(description=_WHY)], "")}
ERROR_FIELD: Fields = {ERROR: Annotated[str, Field(description="Why there is no answer, in one sentence.")]}
_CALLED = "What people call the nodes of the answer, by their ids; only those that have a label."
LABELS_FIELD: Fields = {LABELS: (Annotated[dict[str, str], Field(description=_CALLED)], {})}


class Closed(BaseModel):
    """An object with the properties of its type and no others."""

    model_config = ConfigDict(extra="forbid")


class InQuery(Closed):
    """A question in a query, where numbers and truth values are spelled."""

    @field_validator("k", "depth", mode="before", check_fields=False)
    @classmethod
    def _number(cls, text: str) -> int | str:
        return int(text) if re.fullmatch(r"-?[0-9]{1,15}", text) else text

    @field_validator("leaves", "siblings", "unrelated", mode="before", check_fields=False)
    @classmethod
    def _truth(cls, text: str) -> bool | str:
        return {"true": True, "false": False}.get(text, text)


def list_of(kind: Any) -> Any:
    """The type of a list, of a type that is only known at run time."""
    return Annotated[GenericAlias(list, (kind,)), FailFast()]  # one error is enough to refuse them all


Subject = Literal["nodes", "pairs", "near", "texts"]
"""What a question is about, by the property of a body that lists them: nodes, pairs, groups of nodes, texts."""


@dataclass(frozen=True)
class Question:
    """Something to ask about a node, two, several that something is near to, or about a text.

    Attributes
    ----------
    name
        The path is /name.
    subject
        What it is about; also the property of a request's body that lists what to ask about.
    of
        Parameters of a query, and properties of an answer, that name the subject.
    ask
        Takes an embedding, a list for each of `of`, and the options; gives the properties of each answer.
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
    naming
        Properties of an answer that are a node, a list of nodes, or lists of nodes by name.
    at_once
        How many are answered between two looks at the clock.
    """

    name: str
    subject: Subject
    of: tuple[str, ...]
    summary: str
    ask: Callable[..., Sequence[dict[str, Any]]]
    options: Fields
    in_query: type[Closed]
    in_body: type[Closed]
    answer: type[Closed]
    unanswered: type[Closed]
    is_of_relatives: bool = False
    naming: tuple[str, ...] = ()
    at_once: int = 64

    @property
    def node_options(self) -> tuple[str, ...]:
        """Those options that are nodes."""
        return tuple(option for option in self.options if option == "within")

    def told(self, row: tuple[Any, ...]) -> dict[str, Any]:
        """What an answer says of what was asked about."""
        return {self.of[0]: list(row)} if self.subject == "near" else dict(zip(self.of, row, strict=True))

    def columns(self, rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        """What `ask` takes for many questions."""
        if self.subject == "near":
            return [[list(row) for row in rows]]
        return [list(column) for column in zip(*rows, strict=True)]

    def named(self, row: tuple[Any, ...], found: dict[str, Any]) -> list[Any]:
        """The nodes that an answer names, rows with a label of their own left out."""
        named: list[Any] = [] if self.subject == "texts" else list(row)
        for value in (found.get(key) for key in self.naming):
            lists = value.values() if isinstance(value, dict) else [value if isinstance(value, list) else [value]]
            named += [name for some in lists for name in some if name is not None]
        return named
