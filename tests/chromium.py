"""Looks at a page in Chromium, in a process of its own, and tells what it saw as JSON.

Playwright allows one running copy per process, and other tests keep one for the whole session.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest


def look(address: str, *, wait_for: str = "body", picture: str | None = None, dark: bool = False) -> dict[str, Any]:
    """Open an address, wait for a selector; -> the text, what was asked of others, and what went wrong."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser is tested")
    if _chromium() is None:
        pytest.skip("Chromium is not installed (apt-get install chromium): no browser is tested")
    order = json.dumps({"address": address, "wait_for": wait_for, "picture": picture, "dark": dark})
    done = subprocess.run([sys.executable, __file__, order], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def _chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("TREEBALL_CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


def _main(address: str, wait_for: str, picture: str | None, dark: bool) -> None:
    from playwright.sync_api import Dialog, sync_playwright

    flags = [] if not hasattr(os, "geteuid") or os.geteuid() else ["--no-sandbox"]
    problems: list[str] = []
    requests: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=flags)
        page = browser.new_page(viewport={"width": 1200, "height": 800}, color_scheme="dark" if dark else "light")

        def dismiss(dialog: Dialog) -> None:
            problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", dismiss)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_selector(wait_for, timeout=60_000)
        page.wait_for_timeout(600)
        if picture is not None:
            page.screenshot(path=picture)
        answer = {
            "text": page.inner_text("body"),
            "requests": requests,
            "problems": problems,
            "wide": page.evaluate("document.documentElement.scrollWidth > innerWidth"),
            "ground": page.evaluate("getComputedStyle(document.body).backgroundColor"),
        }
        browser.close()
    print(json.dumps(answer))


if __name__ == "__main__":
    _main(**json.loads(sys.argv[1]))
