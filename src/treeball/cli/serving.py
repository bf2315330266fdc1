"""What a command serves until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ..interruption import INTERRUPTED, answered, on_hang_up
from .console import say

if TYPE_CHECKING:
    from ..web.local import LocalServer

__all__ = ["serve_until_ctrl_c"]


def serve_until_ctrl_c(
    server: LocalServer, opening: Callable[[str], object] | None = None, reload: Callable[[], str] | None = None
) -> int:
    """Say where it is served, open it, wait; returns the exit code. Ctrl-C may come as soon as the address is said.

    At SIGHUP `reload` is called, and the sentence that it returns is said.
    """
    hang_ups: list[None] = []

    def look() -> None:
        if hang_ups and reload is not None:
            hang_ups.clear()
            with suppress(OSError):  # the reader of standard error has gone
                say(reload())

    try:
        if reload is not None:
            on_hang_up(lambda: hang_ups.append(None))
        say(f"serving {server.address}  (Ctrl-C ends)")
        if opening is not None:
            opening(server.address)
        server.wait(look)
    except KeyboardInterrupt:
        answered()
        say("stopped")
        return INTERRUPTED
    return 0
