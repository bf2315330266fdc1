"""A page served on this machine only, for those whose browser cannot open the file itself."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ...errors import InputError

_LOOPBACK = "127.0.0.1"


def page_server(page: str, port: int = 0) -> ThreadingHTTPServer:
    """A server of one page at ``http://127.0.0.1:port/``; the caller starts it. Port 0 takes a free one."""
    body = page.encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, *, with_body: bool) -> None:
            # Another site that names this address as its own must not read the page.
            host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
            if host not in (_LOOPBACK, "localhost"):
                self.send_error(403, "only for this machine")
            elif self.path.partition("?")[0] not in ("/", "/index.html"):
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing: the terminal belongs to the person at it."""

    try:
        return ThreadingHTTPServer((_LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot serve on port {port}: {reason}; choose another --port, or 0 for a free one"
        ) from error


def address(server: ThreadingHTTPServer) -> str:
    """Where the page is."""
    return f"http://{_LOOPBACK}:{server.server_address[1]}/"
