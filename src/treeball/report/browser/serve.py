"""A page served on this machine only, for those whose browser cannot open the file itself."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from ...web import LocalServer, html_response


def page_server(page: str, port: int = 0) -> LocalServer:
    """A running server of one page at ``http://127.0.0.1:port/``. Port 0 takes a free one."""
    body = page.encode()

    async def answer(request: Request) -> Response:
        return html_response(body)

    return LocalServer(Router([Route("/", answer), Route("/index.html", answer)], redirect_slashes=False), port)
