"""What a request asks: its query or its body, checked against the table of questions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from ..hierarchy.names import Names
from .settings import ServeSettings
from .table import LONGEST_NAME, Question, shown, whole_number

__all__ = ["Asked", "from_body", "from_query"]

_MOST_PARAMETERS = 20


@dataclass(frozen=True)
class Asked:
    """The nodes of each question, as they were spelled, and the options by their arguments."""

    rows: list[tuple[Any, ...]]
    options: dict[str, Any]


def from_query(question: Question, query: bytes) -> Asked:
    """The one question of a query; 400 when it is no query, 422 when it is not what the question takes."""
    try:
        pairs = parse_qsl(query.decode("ascii"), True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise HTTPException(400, "the query is not readable: percent-encode names in UTF-8") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            raise HTTPException(422, f"the parameter {shown(name)} is given twice")
        given[name] = value
    _require_known(given, [*question.of, *(option.name for option in question.options)])
    for name in question.of:
        if name not in given:
            raise HTTPException(422, f"the parameter {name!r} is missing: /{question.name}?{name}=...")
    row = tuple(_name(given[name], numbers=False) for name in question.of)
    defaults = {option.argument: option.schema["default"] for option in question.options}
    chosen = {
        option.argument: option.value_of_text(given[option.name]) for option in question.options if option.name in given
    }
    return Asked([row], defaults | chosen)


def from_body(question: Question, body: bytes, names: Names, settings: ServeSettings) -> Asked:
    """All questions of a body; 400 when it is not JSON, 422 when it is not what the question takes."""
    try:
        given = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not valid JSON in UTF-8") from None
    if not isinstance(given, dict):
        raise HTTPException(422, f"the body must be a JSON object with the property {question.many!r}")
    _require_known(given, [question.many, *(option.name for option in question.options)])
    listed = given.get(question.many)
    if not isinstance(listed, list) or not 1 <= len(listed) <= settings.max_nodes:
        raise HTTPException(422, f"{question.many!r} must be a list of 1 to {settings.max_nodes:,}")
    if len(question.of) == 1:
        listed = [[name] for name in listed]
    numbers = names.kind != "str"
    rows = []
    for row in listed:
        if not isinstance(row, list) or len(row) != len(question.of):
            raise HTTPException(422, f"each of 'pairs' must be a list of two names, not {shown(row)}")
        rows.append(tuple(_name(name, numbers) for name in row))
    options = {
        option.argument: option.value(given[option.name]) if option.name in given else option.schema["default"]
        for option in question.options
    }
    return Asked(rows, options)


def _require_known(given: dict[str, Any], known: list[str]) -> None:
    """Refuse a misspelled parameter, which would else be passed over in silence."""
    for name in given:
        if name not in known:
            raise HTTPException(422, f"there is no parameter {shown(name)}; there are {', '.join(known)}")


def _name(given: Any, numbers: bool) -> Any:
    number = whole_number(given) if numbers else None
    if number is not None:
        return number
    if not isinstance(given, str):
        raise HTTPException(422, f"a node is given by its name, a text, not by {shown(given)}")
    if len(given) > LONGEST_NAME:
        raise HTTPException(422, f"a name has at most {LONGEST_NAME:,} characters, not {len(given):,}")
    if not given.isascii():
        try:
            given.encode()
        except UnicodeEncodeError:
            raise HTTPException(422, f"{shown(given)} holds half of a surrogate pair and is no name") from None
    return given


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)  # NaN and Infinity are not JSON
