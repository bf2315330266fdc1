"""Chromium for the tests of the page; where there is none, they are skipped and say why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import treeball

from .driver import View


def _chromium() -> str | None:
    given = os.environ.get("TREEBALL_CHROMIUM")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return given or next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[..., Any]]:
    """Start Chromium with further flags; it ends with the session."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser is tested")
    path = _chromium()
    if path is None:
        pytest.skip("Chromium is not installed (apt-get install chromium): no browser is tested")
    # Chromium refuses to sandbox itself for root, which is who runs tests in a container.
    sandbox = [] if not hasattr(os, "geteuid") or os.geteuid() else ["--no-sandbox"]
    with driver.sync_playwright() as playwright:
        started: list[Any] = []

        def start(*flags: str) -> Any:
            started.append(playwright.chromium.launch(executable_path=path, args=[*sandbox, *flags]))
            return started[-1]

        yield start
        for browser in started:
            browser.close()


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Any]) -> Any:
    return launch()


@pytest.fixture
def open_view(browser: Any) -> Iterator[Callable[..., View]]:
    """Open a page, a file or an address, in a window; at the end nothing may have been asked of others or be wrong."""
    views: list[View] = []

    def start(path: Path | str, *, address: str = "", browser: Any = browser, **options: Any) -> View:
        view = View(browser, path, address, **options)
        views.append(view)
        return view

    yield start
    for view in views:
        problems = view.problems
        view.context.close()
        assert not problems


@pytest.fixture(scope="session")
def disk_model() -> treeball.Embedding:
    """Mammals in two dimensions, trained so briefly that many pairs are ill."""
    return treeball.fit("example:mammals", method="poincare", dim=2, epochs=60, seed=0, deterministic=True)


@pytest.fixture(scope="session")
def disk_page(disk_model: treeball.Embedding, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from treeball.report.browser import write_page

    return write_page(disk_model, tmp_path_factory.mktemp("disk") / "mammals.html")


@pytest.fixture(scope="session")
def companion_model() -> treeball.Embedding:
    """Mammals in five dimensions: the picture is a companion."""
    return treeball.fit("example:mammals", method="poincare", dim=5, epochs=60, seed=0, deterministic=True)


@pytest.fixture(scope="session")
def companion_page(companion_model: treeball.Embedding, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from treeball.report.browser import write_page

    return write_page(companion_model, tmp_path_factory.mktemp("companion") / "mammals-5.html")
