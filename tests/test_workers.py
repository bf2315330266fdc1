"""Work on other threads: the main one stays free to notice Ctrl-C."""

from __future__ import annotations

import _thread
import hashlib
import threading

import pytest

from treeball.workers import apart


def busy() -> bytes:
    """A second or so in one call of compiled code, which holds no lock and looks at no signal."""
    return hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 2_000_000)


def test_an_interruption_does_not_wait_for_the_end_of_the_work() -> None:
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        apart(busy)
    assert [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]


def test_what_the_work_returns_or_raises_comes_back() -> None:
    assert apart(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)
