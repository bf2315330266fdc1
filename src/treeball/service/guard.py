"""The outermost layer of the service: who is answered, limits on address, body, time and number, and safe headers."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..web import LOOPBACK, names_this_machine, with_safe_headers
from .errors import error_response, too_late
from .settings import ServeSettings

__all__ = ["Guard"]

_LONGEST_ADDRESS = 32_768  # room for two of the longest names, however they are encoded


class Guard:
    """Passes requests on to `app` within the limits of the settings, and answers the others itself."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self.app = app
        self.settings = settings
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it before anything of it is read."""
        if scope["type"] != "http":
            return  # no other protocol is spoken here
        refusal = self._refusal(scope)
        if refusal is None:
            self.running += 1
            try:
                refusal = await self._pass_on(scope, receive, send)
            finally:
                self.running -= 1
        if refusal is not None:
            await error_response(refusal)(scope, receive, with_safe_headers(send))

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> HTTPException | None:
        """Let the application answer; the refusal instead when it did not begin to in time."""
        safe_send = with_safe_headers(send)
        seconds = self.settings.timeout
        received = 0
        complete = scope["method"] != "POST"  # no other method has a body that is read
        started = False

        async def limited_receive() -> Message:
            nonlocal received, complete
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.settings.max_body:
                raise self._too_large()
            complete = not message.get("more_body", False)
            return message

        async def patient_send(message: Message) -> None:
            nonlocal started
            started = True
            # Whoever reads slowly has the same time again for every piece.
            patience.reschedule(asyncio.get_running_loop().time() + seconds)
            await safe_send(message)

        try:
            async with asyncio.timeout(seconds) as patience:
                await self.app(scope, limited_receive, patient_send)
        except TimeoutError:
            if started:
                return None
            if complete:
                return too_late(self.settings)
            return HTTPException(408, f"the body was not there within {seconds:g} seconds: send it at once")
        return None

    def _refusal(self, scope: Scope) -> HTTPException | None:
        """Why a request is not even begun."""
        headers = dict(scope["headers"])
        if self.settings.host in LOOPBACK and not names_this_machine(headers.get(b"host", b"")):
            return HTTPException(403, "only this machine is answered, by the names 127.0.0.1 and localhost")
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > _LONGEST_ADDRESS:
            return HTTPException(
                414, f"the address is longer than {_LONGEST_ADDRESS:,} bytes: send names in the body of a POST"
            )
        length = headers.get(b"content-length", b"0")
        if len(length) > 18 or (length.isdigit() and int(length) > self.settings.max_body):
            return self._too_large()
        if self.running >= self.settings.max_concurrent and scope["path"] != "/health":
            return HTTPException(503, f"{self.running:,} requests are being answered already: try again in a moment")
        return None

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"a body has at most {self.settings.max_body:,} bytes: ask in several requests")
