"""Requests to the service, as the server passes them on: other paths, queries, headers and bodies than anyone means."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

import treeball
from treeball.errors import InputError
from treeball.service.run import mapped_app
from treeball.service.run import prepare as lay_out
from treeball.service.settings import ServeSettings

from ..case import Case
from ..dice import Dice
from ..examples import TEXTS, drawn, json_values
from ..mutate import mutated

_ODD = [
    "a/b",
    "two words",
    "größe ☃",
    "x&y=z",
    "%2e",
    "",
    "'\"<b>",
    "nul\0",
    "tab\t",
    "😀",
    "+",
    "\x1b[31m",
    "12",
    "null",
]
_PATHS = (
    "neighbors", "distance", "similarity", "parent", "parents", "children", "ancestors", "subtree", "is-ancestor",
    "common-ancestor", "path", "vector", "search", "suggest-parent", "health", "info", "openapi.json", "", "nothing",
)  # fmt: skip
_KEYS = (
    "node",
    "a",
    "b",
    "ancestor",
    "near",
    "text",
    "k",
    "from",
    "within",
    "depth",
    "leaves",
    "coordinates",
    "source",
)
_BODY_KEYS = ("nodes", "pairs", "near", "texts", "k", "from", "depth", "within", "leaves")
_WORDS = (
    *_ODD,
    "hierarchy",
    "geometry",
    "1",
    "0",
    "-1",
    "1e9",
    "99999999999999999999",
    "true",
    "tangent",
    "ball",
    "NaN",
)
_METHODS = ("GET", "GET", "GET", "POST", "POST", "POST", "HEAD", "PUT", "OPTIONS", "get", "\x00")
_HEADERS = (("host", "evil.example"), ("content-length", "-1"), ("content-length", "9" * 30), ("origin", "null"))
_REFUSALS = range(400, 500)
_BUSY = (503, 504)
_app: list[Any] = []


def prepare() -> None:
    """Serve a small model, and ask it something."""
    edges = [(name, _ODD[i // 3]) for i, name in enumerate(_ODD) if i]
    folder = Path(tempfile.mkdtemp(prefix="treeball-fuzz-"))
    settings = ServeSettings(max_nodes=20, max_k=50, max_body=100_000)
    hierarchy = treeball.read(edges, direction="child-parent")
    lay_out(treeball.fit(hierarchy, method="sarkar", dim=3), settings, folder)
    _app[:] = [mapped_app(folder, settings, "a title")]
    attempt(
        Case(
            "http", {"body": b""}, {"method": "GET", "path": "/health", "query": "", "headers": [["host", "localhost"]]}
        ),
        folder,
    )


def make(dice: Dice) -> Case:
    """A request."""
    method, path = dice.choice(_METHODS), "/" + dice.choice(_PATHS)
    if dice.random() < 0.1:
        path = mutated(path.encode(), [b"/../..//%00"], dice)[:40_000].decode("latin-1")
    headers = [["host", "localhost"]]
    if method == "POST" or dice.random() < 0.2:
        headers.append(
            ["content-type", dice.choice(("application/json",) * 8 + ("text/plain", "application/json;\xff"))]
        )
    if dice.random() < 0.1:
        headers.append(list(dice.choice(_HEADERS)))
    options = {"method": method, "path": path, "query": _query(dice), "headers": headers}
    return Case("http", {"body": _body(dice) if method != "GET" else b""}, options)


def attempt(case: Case, folder: Path) -> None:
    """Send the request; the answer must be an answer or a refusal, never an error of the service's own."""
    status = require_answer(case.options, *asyncio.run(exchange(_app[0], case.options, case.files["body"])))
    if status in _REFUSALS:
        raise InputError(f"status {status}")


def require_answer(options: dict[str, Any], status: int, headers: dict[bytes, bytes], body: bytes) -> int:
    """The status of an answer that is one: an error has its sentence, and JSON is JSON."""
    assert status < 500 or status in _BUSY, f"status {status}: {body[:300]!r}"
    if status >= 400 and options["method"] != "HEAD":
        sentence = json.loads(body)["error"]
        assert sentence
        assert "\n" not in sentence
    if headers.get(b"content-type") == b"application/json" and body:
        json.loads(body, parse_constant=_no_constant)
    return status


async def exchange(app: Any, options: dict[str, Any], body: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body that an application answers to a request."""
    raw = options["path"].encode("latin-1")
    pieces = [body[:7], body[7:]]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": options["method"], "path": unquote_to_bytes(raw).decode("utf-8", "replace"), "raw_path": raw,
        "root_path": "", "query_string": options["query"].encode("latin-1"), "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in options["headers"]],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not pieces:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


def _no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def _query(dice: Dice) -> str:
    pairs = [(dice.choice(_KEYS), _word(dice)) for _ in range(dice.choice((0, 1, 1, 2, 2, 3)))]
    text = urlencode(pairs, quote_via=quote, errors="surrogatepass")
    return (
        mutated(text.encode(), [b"node=a&node=b%zz"], dice)[:40_000].decode("latin-1") if dice.random() < 0.3 else text
    )


def _word(dice: Dice) -> str:
    return dice.choice(_WORDS) if dice.random() < 0.8 else drawn(_texts, dice)


def _body(dice: Dice) -> bytes:
    if dice.random() < 0.2:
        return json.dumps(drawn(json_values, dice)).encode("utf-8", "surrogatepass")
    names = [_word(dice) for _ in range(dice.choice((0, 1, 3, 30)))]
    record: dict[str, Any] = {
        dice.choice(_BODY_KEYS[:4]): dice.choice(
            (names, [names], [names[:2]] * 3, dict.fromkeys(names), names[:1] or 1)
        )
    }
    if dice.random() < 0.5:
        record[dice.choice(_BODY_KEYS)] = dice.choice(
            (3, 3.0, -1, 1e300, True, None, "hierarchy", drawn(json_values, dice))
        )
    data = json.dumps(record).encode("utf-8", "surrogatepass")
    return mutated(data, [b'{"nodes":[[]],"k":1}'], dice) if dice.random() < 0.3 else data


def _texts() -> Any:
    """Texts of any kind."""
    return TEXTS
