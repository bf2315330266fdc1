"""A model folder over HTTP, for this machine: neighbours and relatives as JSON, and pages of its parts.

The first page shows the upper levels, and from there one goes to the pages of what is below a node, or around it, which
are made when somebody asks for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import InputError, TreeballError
from ..geometry import poincare
from ..web.answers import html_response, loaded_from
from .folder import ModelFolder
from .layout import MANIFEST, without_files
from .nearest import nearest
from .pages import Pages
from .verify import damage_named

__all__ = ["FolderService", "application"]


class FolderService:
    """The application over a model folder, which can be read again while requests are answered."""

    def __init__(self, path: Path, max_k: int) -> None:
        self._path = path
        self._max_k = max_k
        self._app = self._open()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; it keeps the model that it began with."""
        await self._app(scope, receive, send)

    def reload(self) -> str:
        """Read the folder again; returns a sentence. What cannot be read leaves the old model."""
        try:
            self._app = self._open()
        except (TreeballError, OSError) as error:
            return f"{str(self._path)!r} was not loaded again, the old model stays: {error}"
        return f"{str(self._path)!r} was loaded again"

    def _open(self) -> Starlette:
        folder = ModelFolder(self._path)
        folder.names([0])
        folder.vectors([0])  # whether shards can be read is known before anybody asks
        return application(Pages(folder), self._max_k, loaded_from(self._path.absolute(), self._path / MANIFEST))


def application(pages: Pages, max_k: int = 1000, loaded: dict[str, str] | None = None) -> Starlette:
    """What answers; a question is GET with the parameter ``node``, a refusal has one sentence.

    `loaded` is what `/info` says of where the model was loaded from.
    """
    folder, one_at_a_time = pages.folder, threading.Lock()

    def asked(answer: Callable[[Request], Any]) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            try:
                with damage_named(folder.path), one_at_a_time:  # Parquet files are read at one place at a time
                    return JSONResponse(answer(request))
            except InputError as error:
                return JSONResponse({"error": str(error)}, 400)

        return respond

    def node(request: Request) -> int:
        name = request.query_params.get("node")
        if not name:
            raise InputError("the parameter node is missing: ask as in /neighbors?node=NAME")
        return folder.find(name)

    def neighbors(request: Request) -> dict[str, Any]:
        wanted = request.query_params.get("k", "10")
        # Python refuses to read a number of thousands of digits.
        if not wanted.isdecimal() or len(wanted) > 9 or not 1 <= int(wanted) <= max_k:
            raise InputError(f"k is {wanted[:20]!r}: give a number from 1 to {max_k}")
        place = node(request)
        places, distances, _ = nearest(folder, folder.vectors([place])[0], int(wanted), (place,))
        found = zip(folder.names(places), distances.tolist(), strict=True)
        return {"node": request.query_params["node"], "neighbors": [{"node": a, "distance": d} for a, d in found]}

    def relatives(which: str) -> Callable[[Request], dict[str, Any]]:
        def answer(request: Request) -> dict[str, Any]:
            found = getattr(folder, which)(node(request))
            return {"node": request.query_params["node"], which: folder.names(found[:max_k]), "count": len(found)}

        return answer

    def info(_: Request) -> dict[str, Any]:
        shown = {name: value for name, value in without_files(folder.manifest).items() if name != "added"}
        return shown | {"model": loaded}

    def distance(request: Request) -> dict[str, Any]:
        ends = {which: request.query_params.get(which) for which in ("a", "b")}
        if not all(ends.values()):
            raise InputError("the parameters a and b are two nodes: ask as in /distance?a=NAME&b=NAME")
        one, other = folder.vectors([folder.find(str(name)) for name in ends.values()])
        return {**ends, "distance": float(poincare.distance(one, other))}

    def vector(request: Request) -> dict[str, Any]:
        return {"node": request.query_params.get("node"), "vector": folder.vectors([node(request)])[0].tolist()}

    def browse(request: Request) -> Response:
        with one_at_a_time:
            status, page = pages.served(request.query_params.get("node") or None)
        return html_response(page, status)

    answers: dict[str, Callable[[Request], Any]] = {
        "info": info, "health": lambda _: {"status": "ok"}, "neighbors": neighbors, "distance": distance,
        "vector": vector, **{which: relatives(which) for which in ("parents", "children", "ancestors")},
    }  # fmt: skip

    def nothing_here(request: Request, _: Exception) -> Response:
        there = ", ".join(f"/{name}" for name in answers)
        return JSONResponse(
            {"error": f"there is nothing at {request.url.path[:80]}: ask {there}, or / for a page"}, 404
        )

    routes = [Route("/", browse), *(Route(f"/{name}", asked(answer)) for name, answer in answers.items())]
    return Starlette(routes=routes, exception_handlers={404: nothing_here})
