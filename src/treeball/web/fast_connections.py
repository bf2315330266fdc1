"""Connections read by httptools, which is fast and limits nothing: what a client may send is counted here."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .connections import MOST_IN_HEAD, Connection

__all__ = ["HttpToolsConnection"]

_MOST_WAITING = 16  # requests that a client sends without waiting for answers
_WRAPPING = 8  # bytes around each byte of a body that comes in chunks


class HttpToolsConnection(Connection, HttpToolsProtocol):  # type: ignore[misc]
    """A connection whose requests have a largest head, also in pieces, and what is around a body is in proportion."""

    _received = 0  # bytes of the present request
    _of_body = 0
    _in_body = False

    def data_received(self, data: bytes) -> None:
        """Take what the client sent, unless it is too much."""
        self._received += len(data)
        super().data_received(data)
        is_too_much = self._received - self._of_body > MOST_IN_HEAD + _WRAPPING * self._of_body
        if is_too_much and not self.transport.is_closing():
            if self.is_address_too_long():
                self.send_400_response("")
            self.answer_and_leave(431, f"a request has at most {MOST_IN_HEAD:,} bytes before its body")

    def is_address_too_long(self) -> bool:
        """Whether the address is longer than the parser takes; more of the head may be missing."""
        return len(self.url or b"") >= MOST_IN_HEAD - 1

    # ---- what the parser calls; an exception in it ends the connection ----

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, but none that follows a body: there is no end to them."""
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin a request, unless many others wait."""
        if len(self.pipeline) >= _MOST_WAITING:
            raise ValueError("too many requests at once")
        super().on_headers_complete()
        self._in_body = True

    def on_body(self, body: bytes) -> None:
        """Count and keep a piece of a body."""
        self._of_body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The next request begins."""
        super().on_message_complete()
        self._received = self._of_body = 0
        self._in_body = False
