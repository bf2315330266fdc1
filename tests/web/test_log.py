"""A log that clients cannot fill."""

from __future__ import annotations

import logging
import logging.config

import pytest

from treeball.web.log import FewLines, PrintableLines, log_settings


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(clock):
    """A logger with the filter, and what it wrote."""
    written = []

    class Keep(logging.Handler):
        def emit(self, record):
            written.append(record.getMessage())

    logger = logging.Logger("test")
    handler = Keep()
    handler.addFilter(FewLines(clock))
    logger.addHandler(handler)
    return logger, written


def test_lines_that_repeat_are_counted_and_not_written(log, clock):
    logger, written = log
    for i in range(1_000):
        logger.warning("connection %d is no good", i)
    assert written == [f"connection {i} is no good" for i in range(5)]
    logger.warning("something else")
    assert written[5:] == ["something else  (995 more lines were left out)"]
    clock.now = 61.0
    logger.warning("connection %d is no good", 7)
    assert written[6:] == ["connection 7 is no good"]


def test_numbers_in_the_text_do_not_make_lines_different(log):
    logger, written = log
    for i in range(100):
        logger.error(f"no more descriptors\nsocket: fd={i}")
    assert len(written) == 5


def test_lines_of_all_kinds_are_few(log, clock):
    logger, written = log
    for minute in range(3):
        clock.now = 60.0 * minute
        for i in range(10_000):
            logger.warning("a" * (i % 79) + chr(97 + i % 26) + chr(97 + i // 26 % 26))
        assert len(written) <= 100 * (minute + 1)
    assert "left out" in written[100]


def test_errors_of_different_types_are_different(log):
    logger, written = log
    for error in (ValueError("a"), KeyError("b")) * 10:
        logger.error("failed", exc_info=error)
    assert len(written) == 10


def test_the_settings_are_those_of_logging(capsys):
    logging.config.dictConfig(log_settings())
    try:
        for name in ("uvicorn.error", "asyncio"):
            for _ in range(100):
                logging.getLogger(name).warning("again")
        assert capsys.readouterr().err.count("WARNING: again") == 10
    finally:
        for name in ("uvicorn", "asyncio"):
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True
            logging.getLogger(name).setLevel(logging.NOTSET)


def test_a_line_holds_nothing_that_a_terminal_obeys_or_hides() -> None:
    formatter = PrintableLines("%(levelname)s: %(message)s")
    record = logging.LogRecord("uvicorn", logging.WARNING, "", 0, "GET /%s", ("\x1b[2J\u202ea\u200b",), None)
    assert formatter.format(record) == r"WARNING: GET /\x1b[2J\u202ea\u200b"
    settings = log_settings()
    assert settings["formatters"]["line"]["()"] is PrintableLines
