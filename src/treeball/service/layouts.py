"""The model that is served, and how another takes its place: on SIGHUP the file is read again, and no connection ends.

Each version of the model is laid out in a folder of its own, `1`, `2` and so on, by a process of its own, which also
asks it every question. So a damaged file harms no process that serves. The file `current` names the folder to serve.
Every process that serves looks at it once in a second, opens the new folder beside the old one, and answers from it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, TreeballError
from ..io.atomic import atomic_write
from ..io.model_file import load
from ..web.answers import loaded_from

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ..embedding import Embedding

__all__ = ["CurrentModel", "Layouts", "loaded_record"]

_CURRENT, _RECORD = "current", "loaded.json"
_ATTEMPTS = 3  # to read a file that is replaced meanwhile
_SPAWN = get_context("spawn")

_log = logging.getLogger("uvicorn.error")


def loaded_record(folder: Path) -> dict[str, str] | None:
    """What the model of a layout was loaded from; None where that was not written down."""
    with suppress(FileNotFoundError):
        record: dict[str, str] = json.loads((folder / _RECORD).read_text("utf-8"))
        return record
    return None


class Layouts:
    """All layouts of a model file.

    Parameters
    ----------
    model
    folder
        Where the layouts are.
    lay_out
        Takes a model and ``folder``, and lays it out there. It can be pickled.
    """

    def __init__(self, model: Path, folder: Path, lay_out: Callable[..., None]) -> None:
        self.model = model
        self.folder = folder
        self._lay_out = lay_out
        self._number = 0
        self._is_wanted = False
        self._process: SpawnProcess | None = None
        self._answer: Connection | None = None

    def make_first(self) -> int:
        """Lay the model out in this process; returns how many nodes it has."""
        nodes = _make_layout(self.model, self._next(), self._lay_out)
        self._publish()
        return nodes

    def request(self) -> None:
        """Read the file again, at the next look; a handler of signals may call it."""
        self._is_wanted = True

    def look(self) -> str:
        """Start to read the file if that is wanted; returns a sentence when it was read, else nothing."""
        said = self._outcome()
        if self._is_wanted and self._process is None:
            self._is_wanted = False
            self._answer, theirs = _SPAWN.Pipe(duplex=False)
            arguments = (self.model, self._next(), self._lay_out, theirs)
            self._process = _SPAWN.Process(target=_lay_out_elsewhere, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
        return said

    def end(self) -> None:
        """Give up a reading that is not complete."""
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _next(self) -> Path:
        self._number += 1
        return self.folder / str(self._number)

    def _outcome(self) -> str:
        if self._process is None or self._process.is_alive() or self._answer is None:
            return ""
        process, answer = self._process, self._answer
        self._process = self._answer = None
        wrong = f"the process that read it ended with exit code {process.exitcode}"
        with answer, suppress(EOFError):
            wrong = answer.recv()
        if wrong:
            shutil.rmtree(self.folder / str(self._number), ignore_errors=True)
            return f"{str(self.model)!r} was not loaded again, the old model stays: {wrong}"
        self._publish()
        shutil.rmtree(self.folder / str(self._number - 2), ignore_errors=True)  # the one before may be in use
        return f"{str(self.model)!r} was loaded again"

    def _publish(self) -> None:
        with atomic_write(self.folder / _CURRENT) as temporary:
            temporary.write_text(str(self._number), "utf-8")


def _make_layout(model: Path, folder: Path, lay_out: Callable[..., None]) -> int:
    """Lay a model file out in a new folder; returns how many nodes it has."""
    embedding, record = _load(model)
    folder.mkdir()
    (folder / _RECORD).write_text(json.dumps(record), "utf-8")
    lay_out(embedding, folder=folder)
    return len(embedding)


def _load(model: Path) -> tuple[Embedding, dict[str, str]]:
    """A model, and what it was loaded from; both of one version of the file, which may be replaced meanwhile."""
    for _ in range(_ATTEMPTS):
        before = _version(model)
        embedding = load(model)
        record = loaded_from(model, model)
        if _version(model) == before:
            return embedding, record
    raise InputError(f"{str(model)!r} changes while it is read: try again when it is complete")


def _version(model: Path) -> tuple[int, ...]:
    """What differs between two versions of a file; nothing where there is no file."""
    try:
        found = model.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _lay_out_elsewhere(model: Path, folder: Path, lay_out: Callable[..., None], answer: Connection) -> None:
    """Lay a model out, in a process of its own; answers with what is wrong, or nothing."""
    for name in ("SIGINT", "SIGHUP"):  # of the terminal; the process that started this one ends it
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    try:
        _make_layout(model, folder, lay_out)
        wrong = ""
    except TreeballError as error:
        wrong = str(error)
    except MemoryError:
        wrong = "there is not enough memory for two models at a time"
    except OSError as error:
        wrong = f"{error.strerror}: {error.filename}"
    answer.send(wrong)


class CurrentModel:
    """The application over the layout that is served now; a request is answered by the one that it began with.

    Parameters
    ----------
    folder
        Where the layouts are.
    open_layout
        Makes the application over a layout: takes its folder, and `arguments`.
    """

    def __init__(self, folder: Path, open_layout: Callable[..., ASGIApp], *arguments: Any) -> None:
        self._folder = folder
        self._open_layout = open_layout
        self._arguments = arguments
        self._layout = self._current()
        self._app = self._open(self._layout)
        self._change: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._app(scope, receive, send)

    async def refresh(self) -> None:
        """Begin to change to another layout if there is one; requests are answered meanwhile."""
        current = self._current()
        if current != self._layout and (self._change is None or self._change.done()):
            self._change = asyncio.create_task(self._change_to(current))

    async def _change_to(self, layout: str) -> None:
        try:
            app = await asyncio.to_thread(self._open, layout)
        except Exception:
            _log.exception("the new model could not be opened, the old one stays")
        else:
            self._app = app
            gc.collect()  # what the old model maps
        self._layout = layout

    def _open(self, layout: str) -> ASGIApp:
        return self._open_layout(self._folder / layout, *self._arguments)

    def _current(self) -> str:
        return (self._folder / _CURRENT).read_text("utf-8")
