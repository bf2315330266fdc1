"""A page in Chromium, as a person uses it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

WINDOW = {"width": 1280, "height": 800}
PATIENCE = 20.0


class View:
    """One window that shows a page; it keeps what was asked of the network and what the console complained about.

    A page is a file, or the address of one that is served: that server may be asked for documents and nothing else.
    """

    def __init__(self, browser: Any, path: Path | str, address: str = "", **options: Any) -> None:
        options = {"viewport": WINDOW, "color_scheme": "light", "accept_downloads": True, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self._server = path if isinstance(path, str) else None
        self.page.on("request", self._note_request)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._note_dialog)
        started = time.monotonic()
        self.page.goto((path if isinstance(path, str) else path.as_uri()) + address)
        self.has_opened()
        self.seconds_to_open = time.monotonic() - started

    def has_opened(self) -> None:
        """Wait until the page is there and nothing moves."""
        self.wait("globalThis.treeball !== undefined && treeball.frames > 0")
        self.settle()

    def _note_request(self, request: Any) -> None:
        served = self._server and request.url.startswith(self._server) and request.resource_type == "document"
        if not served and not request.url.startswith(("file:", "data:", "blob:")):
            self.problems.append(f"asked for {request.url}")

    def _note_message(self, message: Any) -> None:
        # Taking a screenshot makes the graphics driver remark on its own speed.
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.problems.append(f"{message.type}: {message.text}")

    def _note_dialog(self, dialog: Any) -> None:
        self.problems.append(f"a script opened a dialog: {dialog.message}")
        dialog.dismiss()

    def do(self, script: str, argument: Any = None) -> Any:
        """The value of an expression or function in the page."""
        return self.page.evaluate(script, argument)

    def wait(self, condition: str) -> None:
        # Playwright's own waiting evaluates text in the page, which the page's policy forbids.
        deadline = time.monotonic() + PATIENCE
        while not self.do(f"Boolean({condition})"):
            assert time.monotonic() < deadline, f"never came true: {condition}"
            self.page.wait_for_timeout(20)

    def settle(self) -> None:
        """Wait until nothing moves and the fine picture is drawn."""
        self.wait("treeball.camera.flight === null && treeball.picture.isFine")

    @property
    def focus(self) -> str:
        return str(self.do("treeball.tree.names.of(treeball.focus)"))

    def node(self, name: str) -> int:
        return int(self.do("name => treeball.tree.names.find(name)", name))

    def place(self, name: str) -> tuple[float, float]:
        """Where a shown node is, in pixels of the window."""
        x, y = self.do(
            """name => {
              const { tree, picture, camera } = treeball;
              const i = picture.where[tree.names.find(name)];
              const box = document.getElementById('stage').getBoundingClientRect();
              return [box.left + camera.x + picture.scene.x[i] * camera.radius,
                box.top + camera.y - picture.scene.y[i] * camera.radius];
            }""",
            name,
        )
        return float(x), float(y)

    def from_middle(self, name: str) -> float:
        """Distance of a node from the middle of the disk, as a share of its radius."""
        return float(
            self.do(
                """name => {
                  const { tree, picture } = treeball;
                  const i = picture.where[tree.names.find(name)];
                  return i < 0 ? 1 : Math.hypot(picture.scene.x[i], picture.scene.y[i]);
                }""",
                name,
            )
        )

    def shown(self) -> list[tuple[str, float, float]]:
        """Names and places in the disk of all nodes of the picture."""
        found = self.do(
            """() => {
              const { scene } = treeball.picture;
              return Array.from({ length: scene.count }, (_, i) =>
                [treeball.tree.names.of(scene.node[i]), scene.x[i], scene.y[i]]);
            }"""
        )
        return [(str(name), float(x), float(y)) for name, x, y in found]
