"""Heads of requests that two readers may understand differently are refused, whichever library reads the connection.

A proxy in front that understands one otherwise could be made to pass on a request that it has not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .answers import with_safe_headers

__all__ = ["ambiguity", "unambiguous"]

_ONCE = (b"host", b"content-length", b"transfer-encoding")


def ambiguity(headers: Iterable[tuple[bytes, bytes]], http_version: str) -> str:
    """Why a head has no single meaning, as a sentence; empty if it has one."""
    found = [(name, value) for name, value in headers if name in _ONCE]
    for wanted in _ONCE:
        if sum(name == wanted for name, _ in found) > 1:
            return f"the request has two headers {wanted.decode().title()}: send one"
    given = dict(found)
    if b"transfer-encoding" in given:
        if b"content-length" in given:
            return "the request has both Content-Length and Transfer-Encoding: send one of them"
        if http_version != "1.1" or given[b"transfer-encoding"].strip().lower() != b"chunked":
            return "the only Transfer-Encoding is chunked, in HTTP/1.1: send the body with Content-Length"
    elif not given.get(b"content-length", b"0").isdigit():
        return "Content-Length must be one whole number"
    return ""


def unambiguous(app: ASGIApp) -> ASGIApp:
    """`app` for requests whose heads have one meaning; others get 400, and their connection ends."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        wrong = ambiguity(scope["headers"], scope["http_version"]) if scope["type"] == "http" else ""
        answer: Any = app
        if wrong:
            answer = JSONResponse({"error": wrong}, HTTPStatus.BAD_REQUEST, {"Connection": "close"})
            send = with_safe_headers(send)
        await answer(scope, receive, send)

    return guarded
