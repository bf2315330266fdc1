"""Running the service: a port, a model that all processes map, and uvicorn."""

from __future__ import annotations

import contextlib
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.supervisors import Multiprocess

from ..errors import MissingExtraError, TreeballError
from ..io.model_file import load
from ..web import address_of, listen
from .mapped import open_mapped, write_mapped
from .settings import ServeSettings

try:
    from .app import make_app
    from .table import questions
except ImportError as error:
    raise MissingExtraError(error.name or "pydantic", "serve", "treeball serve") from None

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ..embedding import Embedding

__all__ = ["mapped_app", "prepare", "serve"]

_PATIENCE = 120.0  # seconds that a process may take to start


def serve(model: Path, settings: ServeSettings, say: Callable[[str], None]) -> None:
    """Serve a model until Ctrl-C, SIGTERM or, with one process, SIGHUP; `say` tells when it is ready."""
    embedding = load(model)
    nodes = len(embedding)
    listening = listen(settings.port, settings.host)
    # A signal to end is treated as Ctrl-C, so that what was laid out is removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # which nohup asks for
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    with listening, tempfile.TemporaryDirectory(prefix="treeball-") as name:
        folder = Path(name)
        prepare(embedding, settings, folder)
        del embedding  # from here on the mapped one answers

        def tell() -> None:
            say(f"serving {nodes:,} nodes at {address_of(listening, settings.host)}  (Ctrl-C ends)")
            say("limits: " + ", ".join(f"{limit} {value:,}" for limit, value in settings.limits().items()))

        config = uvicorn.Config(
            partial(mapped_app, folder, settings, model.stem),
            factory=True,
            workers=settings.workers,
            lifespan="off",
            ws="none",
            access_log=False,
            server_header=False,
            log_level="warning",
            timeout_graceful_shutdown=3,
        )
        # Uvicorn ends cleanly on Ctrl-C, and only then passes it on.
        with contextlib.suppress(KeyboardInterrupt):
            if settings.workers == 1:
                _Server(config, tell).run([listening])
            else:
                _Workers(config, [listening], tell).run()


class _Server(uvicorn.Server):
    """The only process, which tells when it is ready."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self.tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.tell()


class _Workers(Multiprocess):
    """Several processes, which have started when all of them are ready."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], tell: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self.tell = tell

    def init_processes(self) -> None:
        if hasattr(signal, "pthread_sigmask"):
            # A terminal sends Ctrl-C to all, and one that still imports would end with a traceback: this one ends them.
            resource_tracker.ensure_running()  # else the first process starts it, which lifts the block
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            super().init_processes()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        else:
            super().init_processes()
        deadline = time.monotonic() + _PATIENCE
        while not all(process.is_ready(0.1) for process in self.processes):
            alive = all(process.process.is_alive() for process in self.processes)
            self.handle_signals()
            if self.should_exit.is_set() or not alive or time.monotonic() > deadline:
                self._give_up()
                return
            time.sleep(0.1)
        self.tell()

    def _give_up(self) -> None:
        """End the processes at once, for they answer nobody yet; an error, unless a signal asked for it."""
        for process in self.processes:
            process.kill()
        self.join_all()
        if not self.should_exit.is_set():
            raise TreeballError(
                f"not all of the {self.processes_num} processes could start: see what they said, or try fewer --workers"
            )


def prepare(embedding: Embedding, settings: ServeSettings, folder: Path) -> None:
    """Ask every question once, so that kernels are compiled and all that answers need is computed; then lay it out."""
    _ = embedding.search_tree
    _warm_up(embedding, settings)
    write_mapped(embedding, folder)


def mapped_app(folder: Path, settings: ServeSettings, title: str) -> ASGIApp:
    """The application over a model that was laid out in a folder; ready to answer at once."""
    embedding = open_mapped(folder)
    _warm_up(embedding, settings)
    return make_app(embedding, settings, title=title, page=folder / "page.html")


def _warm_up(embedding: Embedding, settings: ServeSettings) -> None:
    names = embedding.names.take([embedding.hierarchy.root, len(embedding) - 1])
    for question in questions(embedding, settings):
        columns = question.columns([("a",) if question.subject == "texts" else tuple(names[: len(question.of)])])
        options = {name: default for name, (_, default) in question.options.items()}
        for source in ("geometry", "hierarchy"):
            question.ask(embedding, *columns, **options | ({"source": source} if "source" in options else {}))
