"""Several processes that serve one port: started, watched, replaced when they die, and ended together.

Each tells once in a second that its loop turns; what it tells first is that it is ready. One that dies is told of and
replaced, after a pause that grows while this goes on. One that cannot start is given up in the end. When the process
that watches goes, however it goes, the others end too: nobody holds the port whom nobody can find.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

import uvicorn

from ..web import BoundedServer, Bounds
from .layouts import CurrentModel

__all__ = ["FAREWELL", "Place", "Work"]

FAREWELL = 6.0  # seconds to end in; uvicorn gives three of them to requests
_SPAWN = get_context("spawn")


@dataclass(frozen=True)
class Work:
    """What each process does: serve an application at a socket.

    Attributes
    ----------
    config
        How the application is served; it takes that, and what is awaited once in a second.
    make
        Makes the application.
    bounds
    folder
        It is removed if the watching process dies.
    """

    config: Callable[[CurrentModel, Callable[[], Awaitable[None]]], uvicorn.Config]
    make: Callable[[], CurrentModel]
    bounds: Bounds
    folder: Path

    def run(self, listening: socket.socket, life: Connection) -> None:
        """Serve until SIGTERM, or the end of the process that started this one; in a process of its own."""
        _end_with_parent(self.folder)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the process that watches answers it
        app = self.make()
        if os.name == "posix":
            os.set_blocking(life.fileno(), False)  # whoever watches may be stopped for hours

        async def tell() -> None:
            with contextlib.suppress(OSError):  # nobody listens
                life.send_bytes(b".")
            await app.refresh()

        with contextlib.suppress(KeyboardInterrupt):
            BoundedServer(self.config(app, tell), self.bounds).run([listening])


def _end_with_parent(folder: Path) -> None:
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        shutil.rmtree(folder, ignore_errors=True)  # what is mapped stays readable
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(FAREWELL)
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


class Place:
    """Where a process is, or is to be; it remembers how those went that were there before.

    Attributes
    ----------
    process
        None while the next one is waited for, which is started when it is `due`.
    heard
        When it last told that it lives; None until it is ready.
    deaths
        In a row, each soon after the one before.
    failures
        Starts in a row that came to nothing.
    """

    def __init__(self) -> None:
        self.process: SpawnProcess | None = None
        self.began = 0.0
        self.heard: float | None = None
        self.due = 0.0
        self.deaths = 0
        self.failures = 0
        self._life: Connection | None = None

    def start(self, work: Work, listening: socket.socket) -> None:
        """Start a process."""
        self._life, theirs = _SPAWN.Pipe(duplex=False)
        self.process = _SPAWN.Process(target=work.run, args=(listening, theirs))
        self.began, self.heard = time.monotonic(), None
        if hasattr(signal, "pthread_sigmask"):
            # A terminal sends Ctrl-C to all, and one that still imports would end with a traceback: this one ends them.
            resource_tracker.ensure_running()  # else the first process starts it, which lifts the block
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()

    def is_ready(self) -> bool:
        """Whether the process has told that it serves."""
        with contextlib.suppress(OSError, EOFError):
            while self._life is not None and self._life.poll():
                self._life.recv_bytes(1)
                self.heard = time.monotonic()
        return self.heard is not None

    def trouble(self, patience: float, silence: float) -> str:
        """What is wrong with the process: it is dead, or it hangs and is killed; nothing if it is well.

        Parameters
        ----------
        patience
            Seconds that it may take until it is ready.
        silence
            Seconds that it may say nothing after that.
        """
        assert self.process is not None
        is_ready, now = self.is_ready(), time.monotonic()
        if not self.process.is_alive():
            return _ending(self.process.exitcode)
        if is_ready and now - (self.heard or 0.0) > silence:
            wrong = f"said nothing for {silence:g} seconds and was killed"
        elif not is_ready and now - self.began > patience:
            wrong = f"was not ready within {patience:g} seconds and was killed"
        else:
            return ""
        self.clear()
        return wrong

    def terminate(self) -> None:
        """Ask the process to end."""
        if self.process is not None:
            self.process.terminate()

    def clear(self, seconds: float = 0.0) -> None:
        """Give the process some time to end, and end it."""
        if self.process is not None and self.process.pid is not None:
            self.process.join(seconds)
            if self.process.exitcode is None:
                self.process.kill()
                self.process.join()
        if self._life is not None:
            self._life.close()
        self.process = self._life = None


def _ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
