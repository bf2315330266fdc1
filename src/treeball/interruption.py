"""Ctrl-C for the command line: never lost, and never inside code that a sudden exception would break.

Python raises KeyboardInterrupt wherever the main thread happens to be. In what LLVM calls back, in code that runs when
an object goes and in compiled code that clears errors it is swallowed, and the program goes on; between two steps of
llvmlite's bookkeeping it leaves compiled code with two owners, and in what compiled code calls to hand back its result
it leaves a result and an error at once: the process dies by a segmentation fault. So Ctrl-C waits until that code is
left, and is raised again until somebody has `answered` it.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = [
    "INTERRUPTED",
    "answered",
    "ctrl_c_came",
    "interrupt",
    "is_interruption",
    "is_pending",
    "note_ctrl_c",
    "on_hang_up",
    "raises_interrupt",
    "take_ctrl_c",
]

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""

_LATER, _LOST = 0.005, 0.25  # seconds until it is raised after bookkeeping, and again where nobody answered
_TENDER = ("llvmlite.binding", "numba.core.serialize")


def take_ctrl_c() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt by `interrupt`; not where somebody else handles or ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        threading.Thread(target=_reminder.run, name="ctrl-c", daemon=True).start()
        signal.signal(signal.SIGINT, interrupt)
        report = sys.unraisablehook
        sys.unraisablehook = lambda lost: None if is_interruption(lost.exc_value) else report(lost)


def raises_interrupt(handler: Any) -> bool:
    """Whether this handler of a signal raises KeyboardInterrupt."""
    return handler in (signal.default_int_handler, interrupt)


def answered() -> None:
    """Ctrl-C has reached who ends the program, or who goes on because of it: it need not be raised again."""
    _reminder.forget()


def note_ctrl_c() -> None:
    """Ctrl-C has come to code that handles it without a KeyboardInterrupt."""
    _reminder.has_come_once = True


def ctrl_c_came() -> bool:
    """Whether Ctrl-C has come since the last time that this was asked, however it was answered."""
    came, _reminder.has_come_once = _reminder.has_come_once, False
    return came


def is_pending() -> bool:
    """Whether Ctrl-C has come and nobody has answered it: what fails then may fail because of it."""
    return _reminder.is_wanted


def is_interruption(error: BaseException | None) -> bool:
    """Whether an error is, or came of, a KeyboardInterrupt: compiled code wraps it into a SystemError, or into two."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt now, after what is tender, or once more if the last was lost on its way.

    A reminder is no second Ctrl-C: it does not disturb the cleaning up after the first.
    """
    is_reminder = _reminder.has_come()
    if is_reminder and not _reminder.is_wanted:
        return
    if _is_tender(frame):
        _reminder.come_in(_LATER)
        return
    _reminder.come_in(_LOST)
    if not (is_reminder and is_interruption(sys.exception())):
        raise KeyboardInterrupt


def on_hang_up(request: Callable[[], object]) -> None:
    """From now on SIGHUP calls `request`, which must be short.

    A terminal that is closed sends the same signal: then the process gets SIGTERM, unless nohup asked to go on.
    """
    if not hasattr(signal, "SIGHUP"):
        return
    ends_with_terminal = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN and _has_terminal()

    def hang_up(*_: object) -> None:
        if ends_with_terminal and not _has_terminal():
            signal.raise_signal(signal.SIGTERM)
        else:
            request()

    signal.signal(signal.SIGHUP, hang_up)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
    return True


class _Reminder:
    """Sends the signal again after some time. A handler of signals may call it: it starts no thread, takes no lock."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[float | None] = queue.SimpleQueue()
        self._has_come = self.is_wanted = self.has_come_once = False

    def come_in(self, seconds: float) -> None:
        self.is_wanted = self.has_come_once = True
        self._calls.put(seconds)

    def forget(self) -> None:
        if self.is_wanted:
            self.is_wanted = False
            self._calls.put(None)

    def has_come(self) -> bool:
        """Whether the signal that is handled is a reminder."""
        has_come, self._has_come = self._has_come, False
        return has_come

    def run(self) -> None:
        seconds: float | None = None
        while True:
            try:
                seconds = self._calls.get(timeout=seconds)
            except queue.Empty:
                seconds, self._has_come = None, True
                _to_main_thread()


_reminder = _Reminder()


def _to_main_thread() -> None:
    # A signal sent to the process may wake another thread only, while the main one waits.
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _is_tender(frame: FrameType | None) -> bool:
    """Whether the program is inside code that must not be left half done."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_TENDER):
            return True
        frame = frame.f_back
    return False
