"""HTTP for all parts of treeball that serve something: a port, whom to answer, safe headers, and pages beside a job.

The service of a model takes the pieces; a page of a command is an application that `LocalServer` runs in a thread.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from types import TracebackType
from typing import Self

import uvicorn
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import InputError

__all__ = [
    "LOOPBACK",
    "LocalServer",
    "address_of",
    "html_response",
    "listen",
    "names_this_machine",
    "with_safe_headers",
]

LOOPBACK = ("127.0.0.1", "localhost", "::1")

_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


def listen(port: int, host: str = LOOPBACK[0], *, what: str = "", option: str = "--port") -> socket.socket:
    """A socket that listens at a port, 0 for a free one.

    Parameters
    ----------
    what
        What is served, for the sentence that says it cannot be.
    option
        The option by which a person chooses the port.
    """
    serve = f"cannot serve {what}".rstrip()
    if not 0 <= port <= 65535:
        raise InputError(f"{serve} on port {port}: choose a {option} between 0 and 65535, 0 for a free one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"{serve} at {host!r}: {error.strerror}; choose another --host") from error
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise InputError(
            f"{serve} on port {port}: {error.strerror}; choose another {option}, or 0 for a free one"
        ) from error
    return listening


def address_of(listening: socket.socket, host: str = LOOPBACK[0]) -> str:
    """Where a browser finds what is served at a socket."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"


def names_this_machine(header: bytes) -> bool:
    """Whether a Host header names the loopback.

    Another site that gives this machine's address as its own must not read what is served here.
    """
    text = header.decode("latin-1").lower()
    return (text[1:].partition("]") if text.startswith("[") else text.partition(":"))[0] in LOOPBACK


def with_safe_headers(send: Send) -> Send:
    """`send` with headers that forbid to guess types, to keep a copy and to show the answer inside other pages."""

    async def safe_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message["headers"])
            policy = [] if any(name == _POLICY[0] for name, _ in given) else [_POLICY]
            message = {**message, "headers": [*given, *_SAFE, *policy]}
        await send(message)

    return safe_send


def html_response(page: bytes) -> Response:
    """A page that itself says what it may load; only that no other page may hold it cannot be said in it."""
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": "frame-ancestors 'none'"})


class LocalServer:
    """Runs an application in a thread, for this machine only, until it is stopped; a context manager that stops it.

    Parameters
    ----------
    app
    port
        0 takes a free one.
    what, option
        As for `listen`.
    """

    def __init__(self, app: ASGIApp, port: int = 0, *, what: str = "", option: str = "--port") -> None:
        listening = listen(port, what=what, option=option)
        self.address = address_of(listening)
        # Nothing is logged: the terminal belongs to the job beside.
        config = uvicorn.Config(
            _for_this_machine(app),
            loop="asyncio",
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)  # one that is stopped before it has started would leave its port open

    def wait(self) -> None:
        """Wait until it is stopped, or for Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(0.5)  # without a limit, Windows would not let Ctrl-C through

    def stop(self) -> None:
        """Close the port, as soon as requests that are being answered have their answers."""
        self._server.should_exit = True
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _for_this_machine(app: ASGIApp) -> ASGIApp:
    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        is_local = names_this_machine(dict(scope["headers"]).get(b"host", b""))
        answer = app if is_local else PlainTextResponse("only for this machine", 403)
        await answer(scope, receive, with_safe_headers(send))

    return guarded
