"""Errors as clients see them: one JSON object with one sentence, and the right status."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from .question import LONGEST_NAME, Closed, Question
from .settings import ServeSettings

__all__ = ["HANDLERS", "REFUSALS", "Error", "error_response", "json_response", "sentence", "shown", "too_late"]

# What may happen to a request, for the description of the service.
REFUSALS = {
    400: "The query or the body is not readable.",
    403: "The request does not come from this machine.",
    404: "There is no such node, or nothing at this path.",
    405: "This method is not allowed here.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body is not of the type application/json.",
    422: "A parameter is missing, unknown or out of its limits.",
    431: "The headers are too long.",
    503: "Too many requests at a time, or the answer takes too long.",
}


class Error(Closed):
    """Why a request is refused."""

    error: Annotated[str, Field(description="One sentence.")]


def json_response(record: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A record as JSON."""
    return Response(to_json(record, inf_nan_mode="null"), status, headers, "application/json")


def error_response(error: HTTPException) -> Response:
    """The sentence of an error as JSON."""
    headers = dict(error.headers or {})
    if error.status_code in (408, 413):
        headers["Connection"] = "close"  # the rest of the body may still be on its way
    if error.status_code == 503:
        headers["Retry-After"] = "1"
    return json_response({"error": error.detail}, error.status_code, headers)


def too_late(settings: ServeSettings) -> HTTPException:
    """The error of an answer that took too long."""
    return HTTPException(503, f"no answer within {settings.timeout:g} seconds: ask for less, or try again")


def shown(given: Any) -> str:
    """What was given, short enough for a sentence."""
    text = repr(given)
    return text if len(text) <= 80 else text[:77] + "..."


def sentence(question: Question, kind: type[Closed], given: Any, error: ValidationError) -> str:
    """Why what was given does not fit a type of a question."""
    properties = _properties(kind)
    if not isinstance(given, dict):
        return f"the body must be a JSON object with the property {question.subject!r}"
    for parameter in given:
        if parameter not in properties:
            return f"there is no parameter {shown(parameter)}; there are {', '.join(properties)}"
    first = error.errors(include_url=False, include_context=False)[0]
    what, place, wrong = first["type"], first["loc"], shown(first["input"])
    parameter = str(place[0])
    schema = properties[parameter]
    if what == "missing" and kind is question.in_query:
        return f"the parameter {parameter!r} is missing: /{question.name}?{parameter}=..."
    if "enum" in schema:
        return f"{parameter} must be one of {', '.join(schema['enum'])}, not {wrong}"
    if "const" in schema:
        return f"{parameter} must be {schema['const']}, not {wrong}"
    if schema.get("type") == "boolean":
        return f"{parameter} must be true or false, not {wrong}"
    if "maximum" in schema:
        return f"{parameter} must be a whole number between {schema['minimum']} and {schema['maximum']:,}, not {wrong}"
    if parameter == question.subject and len(place) == 1:
        return f"{parameter!r} must be a list of 1 to {schema['maxItems']:,}"
    if parameter == "pairs" and len(place) == 2:
        return f"each of 'pairs' must be a list of two names, not {wrong}"
    if parameter == "near" and len(place) == 2:
        return f"each of 'near' must be a list of 1 to {schema['items']['maxItems']} names, not {wrong}"
    if what == "string_pattern_mismatch":
        return f"there is nothing to search for in {wrong}: give a part of an id, a label or a synonym"
    if what == "string_too_long":
        return f"a name has at most {LONGEST_NAME:,} characters, not {len(first['input']):,}"
    if what == "string_unicode":
        return f"{wrong} holds half of a surrogate pair and is no name"
    if question.subject == "texts":
        return f"what to search for is a text, not {wrong}"
    return f"a node is given by its name, a text, not by {wrong}"


@cache
def _properties(kind: type[Closed]) -> dict[str, Any]:
    properties: dict[str, Any] = kind.model_json_schema()["properties"]
    return properties


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.detail == HTTPStatus(error.status_code).phrase:  # raised by the router, which knows no more
        path = ascii(request.url.path[:80])
        error.detail = {
            404: f"there is nothing at {path}; /openapi.json lists what there is",
            405: f"{request.method} is not allowed at {path}, only {(error.headers or {}).get('Allow', 'GET')}",
        }.get(error.status_code, error.detail)
    return error_response(error)


async def _failed(request: Request, error: Exception) -> Response:
    return json_response({"error": "the service failed on this request; its log says how"}, 500)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # the server sends nothing to a client that has hung up


HANDLERS: dict[Any, Any] = {HTTPException: _refused, ClientDisconnect: _gone, Exception: _failed}
