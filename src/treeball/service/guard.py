"""The outermost layer of the service: who is answered, limits on head, body, time and number, and safe headers."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..web import ADDRESS_TOO_LONG, LONGEST_ADDRESS, LOOPBACK, names_this_machine, with_safe_headers
from .errors import error_response, too_late
from .settings import ServeSettings

__all__ = ["Guard"]

_MOST_IN_HEADERS = 32_768  # bytes
_MOST_BODIES = 16  # of the largest size, that are held together while the rest of them is awaited


class Guard:
    """Passes requests on to `app` within the limits of the settings, and answers the others itself.

    Attributes
    ----------
    running
        Requests that are worked on, until their answers begin.
    held
        Bytes of the bodies of these requests.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self.app = app
        self.settings = settings
        self.running = 0
        self.held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it before anything of it is read."""
        if scope["type"] != "http":
            return  # no other protocol is spoken here
        refusal = self._refusal(scope)
        if refusal is None:
            refusal = await _Passage(self, scope, receive, send).go()
        if refusal is not None:
            await error_response(refusal)(scope, receive, with_safe_headers(send))

    def _refusal(self, scope: Scope) -> HTTPException | None:
        """Why a request is not even begun."""
        headers = dict(scope["headers"])
        if self.settings.host in LOOPBACK and not names_this_machine(headers.get(b"host", b"")):
            return HTTPException(403, "only this machine is answered, by the names 127.0.0.1 and localhost")
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > LONGEST_ADDRESS:
            return HTTPException(414, ADDRESS_TOO_LONG)
        if not _is_utf8(scope["query_string"]):
            return HTTPException(400, "the address is no UTF-8: write what is not ASCII in it as %C3%A4 and the like")
        if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > _MOST_IN_HEADERS:
            return HTTPException(431, f"the headers are longer than {_MOST_IN_HEADERS:,} bytes: send fewer")
        length = headers.get(b"content-length", b"0")
        if len(length) > 18 or (length.isdigit() and int(length) > self.settings.max_body):
            return self.too_large()
        if self.running >= self.settings.max_concurrent and scope["path"] != "/health":
            return HTTPException(503, f"{self.running:,} requests are being answered already: try again in a moment")
        return None

    def too_large(self) -> HTTPException:
        """The error of a body that is too large."""
        return HTTPException(413, f"a body has at most {self.settings.max_body:,} bytes: ask in several requests")


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Passage:
    """One request on its way to the application, and the answer on its way back."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self.guard = guard
        self.scope = scope
        self.receive = receive
        self.safe_send = with_safe_headers(send)
        self.patience = asyncio.timeout(guard.settings.timeout)
        self.received = 0
        self.is_read = scope["method"] == "POST"  # no other method has a body that counts
        self.is_complete = not self.is_read
        self.has_begun = False  # the answer

    async def go(self) -> HTTPException | None:
        """Let the application answer; the refusal instead when it did not begin to in time."""
        settings = self.guard.settings
        self.guard.running += 1
        try:
            async with self.patience:
                await self.guard.app(self.scope, self._limited_receive, self._patient_send)
        except TimeoutError:
            if self.has_begun:
                return None
            if self.is_complete:
                return too_late(settings)
            return HTTPException(408, f"the body was not there within {settings.timeout:g} seconds: send it at once")
        finally:
            self._is_done()
        return None

    async def _limited_receive(self) -> Message:
        message = await self.receive()
        if self.has_begun or not self.is_read:  # what comes of a body is nothing to the answer
            return {**message, "body": b""}
        size = len(message.get("body", b""))
        settings = self.guard.settings
        if self.received + size > settings.max_body:
            raise self.guard.too_large()
        if self.guard.held + size > _MOST_BODIES * settings.max_body:
            raise HTTPException(503, "too many large bodies are being received already: try again in a moment")
        self.received += size
        self.guard.held += size
        self.is_complete = not message.get("more_body", False)
        return message

    async def _patient_send(self, message: Message) -> None:
        if not self.has_begun:
            self._is_done()
            self.has_begun = True
        # Whoever reads slowly has the same time again for every piece.
        self.patience.reschedule(asyncio.get_running_loop().time() + self.guard.settings.timeout)
        await self.safe_send(message)

    def _is_done(self) -> None:
        """There is nothing more to work on, though a client may take its time to read the answer."""
        if not self.has_begun:
            self.guard.running -= 1
            self.guard.held -= self.received
            self.received = 0
