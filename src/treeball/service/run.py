"""Running the service: a port, a model that all processes map, and uvicorn."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from ..interruption import answered
from ..io.model_file import load
from ..web import BoundedServer, Bounds, address_of, bounded_config, listen, log_settings
from .descriptors import within_descriptors
from .folder import temporary_folder
from .mapped import open_mapped, write_mapped
from .processes import Work
from .settings import ServeSettings
from .watch import Watch

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
    settings = within_descriptors(settings)
    embedding = load(model)
    nodes = len(embedding)
    listening = listen(settings.port, settings.host)
    # A signal to end is treated as Ctrl-C, so that what was laid out is removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # which nohup asks for
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    with listening, temporary_folder() as folder:
        prepare(embedding, settings, folder)
        del embedding  # from here on the mapped one answers

        def tell() -> None:
            say(f"serving {nodes:,} nodes at {address_of(listening, settings.host)}  (Ctrl-C ends)")
            say("limits: " + ", ".join(f"{limit} {value:,}" for limit, value in settings.limits().items()))

        config = bounded_config(
            partial(mapped_app, folder, settings, model.stem),
            factory=True,
            workers=settings.workers,
            log_config=log_settings(),
            timeout_graceful_shutdown=3,
        )
        bounds = Bounds(settings.timeout, settings.max_connections)
        try:
            if settings.workers == 1:
                BoundedServer(config, bounds, tell).run([listening])
            else:
                work = Work(config, bounds, folder)
                Watch(work, listening, settings.workers, _PATIENCE, say).run(tell)
        except KeyboardInterrupt:  # uvicorn has ended cleanly, and only then passes it on
            answered()


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
