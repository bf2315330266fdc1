"""A page that a command serves until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..interruption import answered
from .console import say

if TYPE_CHECKING:
    from ..web.local import LocalServer

__all__ = ["serve_until_ctrl_c"]


def serve_until_ctrl_c(server: LocalServer, opening: Callable[[str], object] | None = None) -> int:
    """Say where it is served, open it, wait; whoever has read the address may press Ctrl-C, however early."""
    try:
        say(f"serving {server.address}  (Ctrl-C ends)")
        if opening is not None:
            opening(server.address)
        server.wait()
    except KeyboardInterrupt:
        answered()
        say("stopped")
    return 0
