"""Running the service: a port, a model that all processes map, and uvicorn."""

from __future__ import annotations

import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from ..interruption import answered, on_hang_up
from ..web import BoundedServer, Bounds, address_of, bounded_config, listen, log_settings
from .descriptors import within_descriptors
from .folder import temporary_folder
from .layouts import CurrentModel, Layouts
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
    from uvicorn import Config

    from ..embedding import Embedding

__all__ = ["mapped_app", "prepare", "serve"]

_PATIENCE = 120.0  # seconds that a process may take to start


def serve(model: Path, settings: ServeSettings, say: Callable[[str], None]) -> bool:
    """Serve a model until Ctrl-C or SIGTERM; `say` tells when it is ready. SIGHUP reads the model file again.

    Returns whether it was Ctrl-C that ended it.
    """
    settings = within_descriptors(settings)
    listening = listen(settings.port, settings.host)
    was_interrupted = False
    with listening, temporary_folder() as folder:
        layouts = Layouts(model, folder, partial(prepare, settings=settings))
        was_told_to_end = _note_sigterm()
        on_hang_up(layouts.request)
        try:
            nodes = layouts.make_first()

            def tell() -> None:
                say(f"serving {nodes:,} nodes at {address_of(listening, settings.host)}  (Ctrl-C ends)")
                say("limits: " + ", ".join(f"{limit} {value:,}" for limit, value in settings.limits().items()))

            _serve(layouts, settings, listening, say, tell)
        except KeyboardInterrupt:  # uvicorn has ended cleanly, and only then passes it on
            answered()
            was_interrupted = not was_told_to_end
        finally:
            layouts.end()
    return was_interrupted


def _note_sigterm() -> list[int]:
    """From now on SIGTERM ends as Ctrl-C does, so that the layouts are removed; it is noted in the list."""
    noted: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    return noted


def _serve(
    layouts: Layouts,
    settings: ServeSettings,
    listening: socket.socket,
    say: Callable[[str], None],
    tell: Callable[[], None],
) -> None:
    """Serve with one process, which is this one, or with several, which this one watches."""
    make = partial(CurrentModel, layouts.folder, mapped_app, settings, layouts.model.stem)
    bounds = Bounds(settings.timeout, settings.max_connections)
    if settings.workers > 1:
        work = Work(partial(_config, settings), make, bounds, layouts.folder)
        watch = Watch(work, listening, settings.workers, say, layouts)
        watch.run(tell, _PATIENCE)
        if signal.SIGINT in watch.signals:
            raise KeyboardInterrupt
        return
    app = make()

    async def look() -> None:
        said = layouts.look()
        if said:
            with suppress(OSError):  # the reader of standard error has gone
                say(said)
        await app.refresh()

    BoundedServer(_config(settings, app, look), bounds, tell).run([listening])


def _config(settings: ServeSettings, app: CurrentModel, look: Callable[[], Awaitable[None]]) -> Config:
    """How an application is served; `look` is awaited once in a second."""
    return bounded_config(
        app,
        workers=settings.workers,
        log_config=log_settings(),
        timeout_graceful_shutdown=3,
        callback_notify=look,
        timeout_notify=0,
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
