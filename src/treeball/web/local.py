"""A page beside a job: an application that a thread serves, for this machine only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .answers import with_safe_headers
from .connections import Bounds
from .port import address_of, listen, names_this_machine
from .server import BoundedServer, bounded_config

__all__ = ["LocalServer"]

_MOST_CONNECTIONS = 100  # for one person and a browser


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
        config = bounded_config(
            _for_this_machine(app), loop="asyncio", log_config=None, log_level="critical", timeout_graceful_shutdown=1
        )
        self._server = BoundedServer(config, Bounds(connections=_MOST_CONNECTIONS))
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)  # one that is stopped before it has started would leave its port open

    def wait(self, look: Callable[[], None] = lambda: None) -> None:
        """Wait until it is stopped, or for Ctrl-C; `look` is called twice in a second."""
        while self._thread.is_alive():
            look()
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
