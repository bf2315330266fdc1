"""Connections that no client can hold for ever: how long it may keep us waiting, and how many there may be.

Uvicorn ends a connection that is idle after an answer, and no other: whoever sends nothing, half of a request, or does
not take the answer would stay. When all descriptors are taken nobody else is answered.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from .answers import SAFE_HEADERS
from .heads import unambiguous

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn.protocols.http.flow_control import FlowControl

__all__ = [
    "ADDRESS_TOO_LONG",
    "LONGEST_ADDRESS",
    "MOST_IN_HEAD",
    "Bounds",
    "Connection",
    "Connections",
    "H11Connection",
]

MOST_IN_HEAD = 65_536  # bytes of an address and all headers
LONGEST_ADDRESS = 32_768  # bytes: room for two of the longest names, however they are encoded
ADDRESS_TOO_LONG = f"the address is longer than {LONGEST_ADDRESS:,} bytes: send names in the body of a POST"
_TAKEN = 65_536  # bytes of an answer that a client takes in the time it has
_LINGER_SECONDS = 2.0  # for which a client may go on sending after a refusal; a sender that is reset loses the answer
_MOST_DISCARDED = 8_000_000  # bytes that it may send in that time
_MOST_UNREAD = 128_000_000  # bytes of answers that clients have not taken, of all together

_log = logging.getLogger("uvicorn.error")


@dataclass(frozen=True)
class Bounds:
    """What clients of a server may claim.

    Attributes
    ----------
    seconds
        For the head of a request, from the opening of the connection or the answer before; and for each 64 kB of an
        answer to be taken.
    connections
        Open at a time. For one more the one gives way whose client has kept us waiting longest.
    """

    seconds: float = 10.0
    connections: int = 1_000


class Connections(ServerState):
    """All connections of a server, and which of them wait for their clients, the longest first."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__()
        self.bounds = bounds
        self.waiting: dict[Connection, None] = {}

    def look_after(self, now: float) -> None:
        """End those whose clients took too long, and those who took least while too much waits for all."""
        ours = [connection for connection in self.connections if isinstance(connection, Connection)]
        for connection in ours:
            connection.look(now)
        unread = {one: size for one in ours if (size := one.transport.get_write_buffer_size())}
        total = sum(unread.values())
        while total > _MOST_UNREAD:
            greedy = max(unread, key=lambda one: unread[one])
            total -= unread.pop(greedy)
            greedy.leave()

    def make_room(self, newcomer: Connection) -> None:
        """Keep within the bounds when there is one connection more."""
        if len(self.connections) <= self.bounds.connections:
            return
        gone = next((one for one in self.waiting if one is not newcomer), newcomer)
        _log.warning("there are %d connections: the one that waited longest was closed", self.bounds.connections)
        gone.leave()


class Connection(asyncio.Protocol):
    """What a protocol of uvicorn's lacks; to be named before it among the bases of a class."""

    # of the protocol
    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    server_state: Connections
    flow: FlowControl
    cycle: Any
    app: ASGIApp

    # our own
    _left_since: float | None = None  # when the connection was refused; what comes after is discarded
    _discarded = 0  # bytes
    since = 0.0  # when the wait for a head began
    _unread: int | None = None  # bytes of answers that were not taken, and when that was
    _unread_since = 0.0

    @property
    def is_between_requests(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def look(self, now: float) -> None:
        """End the connection if the client took too long."""
        unread = self.transport.get_write_buffer_size()
        seconds = self.server_state.bounds.seconds
        if self._left_since is not None and now - self._left_since > _LINGER_SECONDS:
            self.leave()
        elif unread == 0:
            self._unread = None
            if self.is_between_requests and now - self.since > seconds:
                self.transport.close()
        elif self._unread is None or self._unread - unread >= _TAKEN:
            self._unread, self._unread_since = unread, now
        elif now - self._unread_since > seconds:
            self.leave()

    def leave(self) -> None:
        """End at once, whatever was not sent yet."""
        self.server_state.waiting.pop(self, None)
        self.server_state.connections.discard(self)
        self.transport.abort()

    def answer_and_leave(self, status: int, sentence: str) -> None:
        """Say why there is no answer, unless one has begun, and end.

        What the client still sends is discarded for a while: the system would answer it with a reset, and a reset
        makes the client lose the answer.
        """
        if self._left_since is not None:
            return
        if not self.is_between_requests:
            if self.cycle.response_started:
                self.leave()
                return
            self.cycle.disconnected = True  # what the application says of it is sent no more
            self.cycle.message_event.set()
        body = json.dumps({"error": sentence}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        headers += [*SAFE_HEADERS, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
        lines += [name + b": " + value for name, value in headers]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self._left_since = self.loop.time()
        self.flow.resume_reading()
        self.transport.write_eof()

    def _note(self) -> None:
        """Whether the client is waited for: its request is not complete, or it does not take the answer."""
        waiting = self.server_state.waiting
        if self.is_between_requests or self.cycle.more_body or self.flow.write_paused:
            waiting.setdefault(self)
        else:
            waiting.pop(self, None)

    # ---- what uvicorn calls ----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait, if there is room."""
        super().connection_made(transport)
        self.app = unambiguous(self.app)
        self.since = self.loop.time()
        self._note()
        self.server_state.make_room(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self.server_state.waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client sent."""
        if self._left_since is not None:
            self._discarded += len(data)
            if self._discarded > _MOST_DISCARDED:
                self.leave()
            return
        super().data_received(data)
        if not self.transport.is_closing():
            self._note()

    def pause_writing(self) -> None:
        """The client does not take the answer."""
        super().pause_writing()
        self._note()

    def resume_writing(self) -> None:
        """The client took most of the answer."""
        super().resume_writing()
        self._unread = None
        self._note()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()  # type: ignore[misc]
        self.since = self.loop.time()
        self.server_state.waiting.pop(self, None)
        if not self.transport.is_closing():
            self._note()

    def send_400_response(self, msg: str) -> None:
        """Say that a request is none; in JSON, as all errors."""
        if self.is_address_too_long():
            self.answer_and_leave(414, ADDRESS_TOO_LONG)
        else:
            self.answer_and_leave(400, "this is no request of HTTP/1.1")

    def is_address_too_long(self) -> bool:
        """Whether no library reads the address of the present request, because of its length."""
        raise NotImplementedError

    def _unsupported_upgrade_warning(self) -> None:
        pass  # the request is answered without it, which is nothing to warn of


class H11Connection(Connection, H11Protocol):  # type: ignore[misc]
    """A connection read by h11, which is always there, and which limits the head of a request itself."""

    def is_address_too_long(self) -> bool:
        """Whether the first line is not complete, and longer than a head may be."""
        waiting = self.conn.trailing_data[0]
        return len(waiting) >= MOST_IN_HEAD and b"\n" not in waiting[:MOST_IN_HEAD]
