"""What all answers have in common: headers that make them safe to show."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from starlette.responses import Response
from starlette.types import Message, Send

__all__ = ["SAFE_HEADERS", "html_response", "loaded_from", "with_safe_headers"]

_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
SAFE_HEADERS = [*_SAFE, _POLICY]


def with_safe_headers(send: Send) -> Send:
    """`send` with headers that forbid to guess types, to keep a copy and to show the answer inside other pages."""

    async def safe_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message["headers"])
            policy = [] if any(name == _POLICY[0] for name, _ in given) else [_POLICY]
            message = {**message, "headers": [*given, *_SAFE, *policy]}
        await send(message)

    return safe_send


def html_response(page: bytes, status: int = 200) -> Response:
    """A page that itself says what it may load; only that no other page may hold it cannot be said in it."""
    return Response(page, status, media_type="text/html", headers={"Content-Security-Policy": "frame-ancestors 'none'"})


def loaded_from(model: Path, file: Path) -> dict[str, str]:
    """What a service says of a model that it loads now: the model's name, the hash of a file of it, the time in UTC."""
    with open(file, "rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return {"file": model.name, "sha256": digest, "loaded": datetime.now(UTC).isoformat(timespec="seconds")}
