"""The application: routes made from the table of questions, and how a question is answered."""

from __future__ import annotations

import asyncio
import mmap
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from ..embedding import Embedding
from ..embedding._questions import doubt_of
from ..errors import InputError
from ..hierarchy.search_names import require_sought
from ..io.atomic import atomic_write
from ..workers import Throttle, available_cores
from .asked import Asked, from_body, from_query
from .errors import HANDLERS, json_response, too_late
from .guard import Guard
from .layouts import loaded_record
from .openapi import describe
from .question import DOUBT, ERROR, LABELS, Question
from .resources import RESOURCES, Info
from .settings import ServeSettings
from .table import questions

__all__ = ["make_app"]

# Answers that take less processor time than this do not wait for a thread of the pool.
_QUICK_SECONDS = 0.005
_GUESSED_SECONDS = 0.0005  # for the first question of a kind
# Sentences about names that do not exist: how many are kept, and how long one waits for close names.
_REMEMBERED = 1_024
_SEARCH_SECONDS = 1.0
_PIECE = 65_536  # bytes of the page that are sent at a time


def make_app(embedding: Embedding, settings: ServeSettings, *, title: str, page: Path) -> ASGIApp:
    """The service of a model as an ASGI application.

    Parameters
    ----------
    embedding
    settings
    title
        Heading of the page to browse the model.
    page
        Where that page is kept; it is made when it is first asked for.
    """
    service = _Service(embedding, settings, title, page)
    routes = [Route(f"/{one.name}", service.endpoint(one), methods=["GET", "POST"]) for one in service.table]
    routes += [Route(one.path, getattr(service, one.name)) for one in RESOURCES]
    routes.append(Route("/openapi.json", service.openapi))
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    guarded = Guard(app, settings)
    if settings.cors:
        return CORSMiddleware(guarded, settings.cors, allow_methods=["GET", "POST"], allow_headers=["Content-Type"])
    return guarded


class _UnknownNode(Exception):
    """Carries a name that no node has."""


_Found: TypeAlias = dict[str, Any] | Exception  # the answer to a question, or why there is none


class _Service:
    """The endpoints, and what they share."""

    def __init__(self, embedding: Embedding, settings: ServeSettings, title: str, page: Path) -> None:
        self.embedding = embedding
        self.settings = settings
        self.title = title
        self.page_file = page
        self.loaded = loaded_record(page.parent)
        self.page_map: mmap.mmap | None = None
        self.table = questions(embedding, settings)
        self.pool = ThreadPoolExecutor(available_cores())
        self.making_page: asyncio.Future[None] | None = None
        self.suggestions = Throttle(0.0)
        self.search: asyncio.Task[None] | None = None
        self.suggested: dict[Any, str] = {}
        self.pace: dict[tuple[str, ...], float] = {}

    # ---- questions ----

    def endpoint(self, question: Question) -> Callable[[Request], Awaitable[Response]]:
        """What answers a question: one in the query of a GET, many in the body of a POST."""

        async def answer(request: Request) -> Response:
            if request.method == "POST":
                asked = await self._bulk(question, request)
            else:
                asked = from_query(question, request.scope["query_string"], self.embedding.names)
            try:
                if self._is_quick(question, asked):
                    records = self._answers(question, asked)
                else:
                    loop = asyncio.get_running_loop()
                    records = await loop.run_in_executor(self.pool, self._answers, question, asked)
            except (_UnknownNode, InputError) as error:
                raise await self._refusal(error) from None
            except TimeoutError:
                raise too_late(self.settings) from None
            if request.method == "POST":
                pairs = zip(asked.rows, records, strict=True)
                answered = {"answers": [await self._told(question, row, found) for row, found in pairs]}
            elif isinstance(records[0], Exception):
                raise await self._refusal(records[0])
            else:
                answered = records[0]
            return json_response(answered | self._doubt(question, asked))

        return answer

    async def _told(self, question: Question, row: tuple[Any, ...], found: _Found) -> dict[str, Any]:
        """What is told of one question of many: its answer, or why there is none."""
        if isinstance(found, dict):
            return found
        return {**question.told(row), ERROR: (await self._refusal(found)).detail}

    async def _refusal(self, error: Exception) -> HTTPException:
        """The error of a question about what is no node, or may be any of several, or that cannot be answered."""
        if isinstance(error, _UnknownNode):
            return HTTPException(404, await self._no_such_node(error.args[0]))
        return HTTPException(422, str(error))

    def _doubt(self, question: Question, asked: Asked) -> dict[str, str]:
        """What to say of an answer that illness may spoil; nothing otherwise."""
        doubt = doubt_of(self.embedding, asked.options["source"]) if question.is_of_relatives else ""
        return {DOUBT: doubt} if doubt else {}

    async def _bulk(self, question: Question, request: Request) -> Asked:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, "the body must be of the type application/json: send that Content-Type")
        return from_body(question, await request.body())

    def _answers(self, question: Question, asked: Asked) -> list[_Found]:
        """An answer to each of the questions; nobody waits for it any longer when the time is over."""
        began, deadline = time.thread_time(), time.monotonic() + self.settings.timeout
        chosen = {name: asked.options[name] for name in question.node_options if asked.options[name] is not None}
        options = asked.options | {name: self._known(given) for name, given in chosen.items()}
        meant = [self._meant(question, row) for row in asked.rows]
        rows = [row for row in meant if isinstance(row, tuple)]
        answers: list[dict[str, Any]] = []
        size = 0
        for begin in range(0, len(rows), question.at_once):
            part = rows[begin : begin + question.at_once]
            records = question.ask(self.embedding, *question.columns(part), **options)
            for row, found in zip(part, records, strict=True):
                labels = self.embedding.names.labels_by_name(question.named(row, found))
                answers.append({**question.told(row), **found, **({LABELS: labels} if labels else {})})
                size += max(map(_entries, found.values()))
            if size > self.settings.max_answer:
                raise InputError(f"the answer has more than {self.settings.max_answer:,} entries: ask for less")
            if time.monotonic() > deadline:
                raise TimeoutError
        self._remember_pace(question, asked, time.thread_time() - began)
        in_turn = iter(answers)
        return [next(in_turn) if isinstance(row, tuple) else row for row in meant]

    def _is_quick(self, question: Question, asked: Asked) -> bool:
        """Whether such questions took so little time so far that one more may hold up all others."""
        pace = self.pace.get(_kind(question, asked), _GUESSED_SECONDS)
        return pace * _size(asked) < _QUICK_SECONDS

    def _remember_pace(self, question: Question, asked: Asked, seconds: float) -> None:
        kind, pace = _kind(question, asked), seconds / _size(asked)
        self.pace[kind] = pace + 0.9 * (self.pace.get(kind, pace) - pace)

    def _meant(self, question: Question, row: tuple[Any, ...]) -> tuple[Any, ...] | Exception:
        """The nodes of a question by their names, or why it cannot be answered; a text is what it is."""
        try:
            if question.subject == "texts":
                require_sought(*row)
                return row
            return tuple(self._known(name) for name in row)
        except (_UnknownNode, InputError) as error:
            return error

    def _known(self, given: Any) -> Any:
        """The name of the node that a text means, see `Names.meant`; InputError when it may be any of several."""
        names = self.embedding.names
        codes = names.meant(given).codes
        if not codes:
            raise _UnknownNode(given)
        if len(codes) > 1:
            raise InputError(names.several_nodes(given, codes))
        return names[codes[0]]

    async def _no_such_node(self, name: Any) -> str:
        """A sentence with close names, if they are found in time; searches get a tenth of the time at most."""
        searching = self.search is not None and not self.search.done()
        if name not in self.suggested and not searching and self.suggestions.is_due():
            self.search = asyncio.create_task(self._search_close_names(name))
            await asyncio.wait([self.search], timeout=_SEARCH_SECONDS)
        return self.suggested.get(name) or f"no node named {name!r}"

    async def _search_close_names(self, name: Any) -> None:
        began = time.monotonic()
        sentence = await asyncio.get_running_loop().run_in_executor(self.pool, self._with_close_names, name)
        self.suggestions.worked(began)
        if len(self.suggested) >= _REMEMBERED:
            self.suggested.pop(next(iter(self.suggested)))
        self.suggested[name] = sentence

    def _with_close_names(self, name: Any) -> str:
        try:
            self.embedding.names.find(name)
        except InputError as error:
            return str(error)
        return ""

    # ---- resources, by the names they have in the table ----

    async def health(self, request: Request) -> Response:
        return json_response({"status": "ok"})

    async def info(self, request: Request) -> Response:
        return json_response(Info.of(self.embedding, self.settings, self.loaded))

    async def openapi(self, request: Request) -> Response:
        return json_response(describe(self.table, self.embedding))

    async def page(self, request: Request) -> Response:
        if self.page_map is None:
            if not self.page_file.exists():
                if self.making_page is None or self.making_page.done():
                    self.making_page = asyncio.get_running_loop().run_in_executor(None, self._make_page)
                await asyncio.shield(self.making_page)  # who waits may give up; the page is made all the same
            # Mapped once: a file that is open for each of those who read slowly would be a descriptor for each.
            with self.page_file.open("rb") as file:
                self.page_map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        # The page itself says what it may do; only this cannot be said in it.
        headers = {"Content-Security-Policy": "frame-ancestors 'none'", "Content-Length": str(len(self.page_map))}
        return StreamingResponse(_pieces(self.page_map), media_type="text/html", headers=headers)

    def _make_page(self) -> None:
        from ..report.browser import make_page

        text = make_page(self.embedding, title=self.title)
        with atomic_write(self.page_file) as temporary:
            temporary.write_text(text, "utf-8", newline="\n")


async def _pieces(page: mmap.mmap) -> AsyncIterator[bytes]:
    for begin in range(0, len(page), _PIECE):
        yield page[begin : begin + _PIECE]


def _entries(value: Any) -> int:
    """Entries of a property of an answer."""
    if isinstance(value, dict):
        return sum(map(len, value.values()))
    return len(value) if isinstance(value, list) else 1


def _kind(question: Question, asked: Asked) -> tuple[str, ...]:
    """Questions that take about the same time: those with the same options, whatever nodes and numbers they have."""
    chosen = [
        f"{name}={value}" if name == "source" else name
        for name, value in asked.options.items()
        if name != "k" and value != question.options[name][1]
    ]
    return question.name, *chosen


def _size(asked: Asked) -> int:
    return len(asked.rows) * int(asked.options.get("k", 1))
