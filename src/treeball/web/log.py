"""A log that does not grow with what clients do: lines that repeat are counted, not written."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from ..words import printable

__all__ = ["FewLines", "PrintableLines", "log_settings"]

_SECONDS = 60.0
_ALIKE = 5  # lines of one kind in that time
_ALL = 100  # lines of any kind in that time


class FewLines(logging.Filter):
    """Lets a few lines of a kind pass in a minute, and not many in all; the first one later says how many did not.

    Lines are of a kind when they begin alike, whatever numbers are in them, and tell of the same type of error.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._began = clock()
        self._seen: dict[tuple[Any, ...], int] = {}
        self._passed = 0
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        now = self._clock()
        if now - self._began >= _SECONDS:
            self._began, self._passed = now, 0
            self._seen.clear()
        kind = _kind(record)
        seen = self._seen.get(kind, 0)
        if seen >= _ALIKE or self._passed >= _ALL:
            self._left_out += 1
            return False
        self._seen[kind] = seen + 1  # there are at most as many kinds as lines that passed
        self._passed += 1
        if self._left_out:
            lines = "line was" if self._left_out == 1 else "lines were"
            record.msg = f"{record.getMessage().rstrip()}  ({self._left_out:,} more {lines} left out)"
            record.args = ()
            self._left_out = 0
        return True


class PrintableLines(logging.Formatter):
    """Writes out what a terminal would obey or hide, so that a request cannot forge or hide lines of the log."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines of a record."""
        return "\n".join(map(printable, super().format(record).split("\n")))


def _kind(record: logging.LogRecord) -> tuple[Any, ...]:
    text = "".join(letter for letter in str(record.msg)[:80].partition("\n")[0] if not letter.isdigit())
    error = record.exc_info[0] if record.exc_info else None
    return record.name, record.levelno, text, error


def log_settings() -> dict[str, Any]:
    """What servers, and the loop that they run in, write to standard error; for `logging.config.dictConfig`."""
    written = {"handlers": ["few"], "level": "WARNING", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"few": {"()": FewLines}},
        "formatters": {"line": {"()": PrintableLines, "format": "%(levelname)s: %(message)s"}},
        "handlers": {
            "few": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stderr",
                "formatter": "line",
                "filters": ["few"],
            }
        },
        "loggers": {"uvicorn": written, "asyncio": written},
    }
