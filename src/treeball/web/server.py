"""Uvicorn, with an eye on its connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import uvicorn

from .connections import MOST_IN_HEAD, Bounds, Connections, H11Connection
from .port import WAITING_ROOM

__all__ = ["BoundedServer", "bounded_config"]

_ACCEPTED_AT_ONCE = 8  # connections that are taken before any of them is looked at


def bounded_config(app: Any, **options: Any) -> uvicorn.Config:
    """How `BoundedServer` serves an application; HTTP and nothing else, and no word about single requests."""
    return uvicorn.Config(
        app,
        http=_connection_class(),
        h11_max_incomplete_event_size=MOST_IN_HEAD,
        backlog=_ACCEPTED_AT_ONCE,
        lifespan="off",
        ws="none",
        access_log=False,
        server_header=False,
        **options,
    )


def _connection_class() -> type[asyncio.Protocol]:
    if find_spec("httptools") is None:
        return H11Connection
    from .fast_connections import HttpToolsConnection

    return HttpToolsConnection


class BoundedServer(uvicorn.Server):
    """A server that ends connections beyond its bounds, and tells when it is ready."""

    def __init__(self, config: uvicorn.Config, bounds: Bounds, tell: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self.server_state: Connections = Connections(bounds)
        self.tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. What is accepted in one go is one number with how many may wait outside, for asyncio, not for us."""
        await super().startup(sockets)
        for listening in sockets or []:
            listening.listen(WAITING_ROOM)
        self.tell()

    async def on_tick(self, counter: int) -> bool:
        """Every tenth of a second; connections are looked after once in a second."""
        if counter % 10 == 0:
            self.server_state.look_after(asyncio.get_running_loop().time())
        return await super().on_tick(counter)
