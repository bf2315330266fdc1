"""What a request asks: its query or its body, read to the letter and checked against the types of a question."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ..hierarchy.names import Names
from .errors import sentence, shown
from .question import MOST_NEAR, Closed, Question

__all__ = ["Asked", "from_body", "from_query"]

_MOST_PARAMETERS = 20


@dataclass(frozen=True)
class Asked:
    """The nodes, or the text, of each question, as they were spelled, and the options by their arguments."""

    rows: list[tuple[Any, ...]]
    options: dict[str, Any]


def from_query(question: Question, query: bytes, names: Names) -> Asked:
    """The one question of a query, to a model with these names.

    400 when it is no query, 422 when it is not what the question takes.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise HTTPException(400, "the query is not readable: percent-encode names in UTF-8") from None
    given = dict(pairs)
    if len(given) < len(pairs):
        parameters = [name for name, _ in pairs]
        twice = next(name for name in parameters if parameters.count(name) > 1)
        raise HTTPException(422, f"the parameter {shown(twice)} is given twice")
    fit = _fit(question, question.in_query, given)
    row = tuple(getattr(fit, name) for name in question.of)
    if question.subject == "near":
        row = tuple(names.listed(row[0]))
        if len(row) > MOST_NEAR:
            raise HTTPException(422, f"near has at most {MOST_NEAR} names, not {len(row):,}")
    return Asked([row], _options(question, fit))


def from_body(question: Question, body: bytes) -> Asked:
    """All questions of a body; 400 when it is not JSON, 422 when it is not what the question takes."""
    try:
        given = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not valid JSON in UTF-8") from None
    fit = _fit(question, question.in_body, given)
    listed = getattr(fit, question.subject)
    rows = [tuple(one) if isinstance(one, list) else (one,) for one in listed]
    return Asked(rows, _options(question, fit))


def _fit(question: Question, kind: type[Closed], given: Any) -> Closed:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise HTTPException(422, sentence(question, kind, given, error)) from None


def _options(question: Question, fit: Closed) -> dict[str, Any]:
    return {argument: getattr(fit, argument) for argument in question.options}


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)  # NaN and Infinity are not JSON
