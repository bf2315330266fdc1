from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

# A shared machine may stall for longer than hypothesis' 200 ms; what we test is the value, not the time.
settings.register_profile("explore", deadline=None)
# Where a change is judged, the same examples every time: a new find belongs to the person who explores.
settings.register_profile("judge", deadline=None, derandomize=True)
settings.load_profile("judge" if os.environ.get("CI") else "explore")

LEFT_OUT = "slow tests left out"
_left_out = pytest.StashKey[int]()
_config: pytest.Config


def pytest_configure(config: pytest.Config) -> None:
    global _config
    _config = config
    config.stash[_left_out] = 0


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    _config.stash[_left_out] += sum(item.get_closest_marker("slow") is not None for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Whoever works for xdist tells its count, since nobody else knows it; every worker collects all tests.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[LEFT_OUT] = session.config.stash[_left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _config.stash[_left_out] = getattr(node, "workeroutput", {}).get(LEFT_OUT, 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[_left_out]:
        terminalreporter.write_line(f"{config.stash[_left_out]} slow tests were left out; make test-all runs them too")
