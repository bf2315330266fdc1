"""Ctrl-C for the command line: never lost, and never inside code that a sudden exception would break.

Python raises KeyboardInterrupt wherever the main thread happens to be. In what LLVM calls back, and in code that runs
when an object goes, it is swallowed and the program goes on; between two steps of llvmlite's bookkeeping it leaves
compiled code with two owners, and the process dies by a segmentation fault.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["interrupt", "raises_interrupt", "take_ctrl_c"]

_LATER = 0.005  # seconds until it is tried again
_TENDER = "llvmlite.binding"


def take_ctrl_c() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt by `interrupt`; not where somebody else handles or ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
        sys.unraisablehook = _not_lost(sys.unraisablehook)


def raises_interrupt(handler: Any) -> bool:
    """Whether this handler of a signal raises KeyboardInterrupt."""
    return handler in (signal.default_int_handler, interrupt)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or a moment later if the program is inside llvmlite's bookkeeping."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_TENDER):
            return _again()
        frame = frame.f_back
    raise KeyboardInterrupt


def _again() -> None:
    timer = threading.Timer(_LATER, _to_main_thread)
    timer.daemon = True
    timer.start()


def _to_main_thread() -> None:
    # A signal sent to the process may wake another thread only, while the main one waits.
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _not_lost(report: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def hook(lost: Any) -> None:
        if lost.exc_type is not None and issubclass(lost.exc_type, KeyboardInterrupt):
            _again()
        else:
            report(lost)

    return hook
