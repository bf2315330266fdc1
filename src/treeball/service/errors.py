"""Errors as clients see them: one JSON object with one sentence, and the right status."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from .settings import ServeSettings

__all__ = ["HANDLERS", "REFUSALS", "error_response", "json_response", "too_late"]

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
    503: "Too many requests at a time, or the answer takes too long.",
}


def json_response(record: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A record as JSON."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode(), status, headers, "application/json")


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
