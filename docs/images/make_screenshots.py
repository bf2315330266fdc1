"""Take the pictures of the browser in docs/view.md:  python docs/images/make_screenshots.py [--chromium PATH]

The shipped mammals, in 10 dimensions by the default method, and in 2 dimensions by the method poincare with seed 0 for
100 epochs, which leaves many pairs ill; and docs/examples/primates.nwk, for distances in 10 dimensions. Needs
playwright and Chromium; the letters are Inter where that is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import treeball
from treeball.report.browser import write_page

HERE = Path(__file__).parent
WINDOW = {"width": 1280, "height": 800}
MOST_BYTES = 400_000


def settle(page: Any) -> None:
    """Wait until nothing moves and the fine picture is drawn."""
    deadline = time.monotonic() + 30
    while not page.evaluate("Boolean(globalThis.treeball && !treeball.camera.flight && treeball.picture.isFine)"):
        if time.monotonic() > deadline:
            raise SystemExit("the page does not come to rest")
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)


def take(
    browser: Any,
    source: Path,
    name: str,
    *,
    address: str = "",
    theme: str = "light",
    script: str = "",
    window: dict[str, int] = WINDOW,
) -> None:
    """Open a page, let a script act on it, and save what is to be seen."""
    page = browser.new_page(viewport=window, color_scheme=theme)
    page.goto(source.as_uri() + address)
    settle(page)
    if script:
        page.evaluate(f"() => {{ {script} }}")
        page.wait_for_timeout(100)
        settle(page)
    target = HERE / f"view-{name}.png"
    page.screenshot(path=target)
    page.close()
    size = target.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{target} has {size:,} bytes: too many for the repository")
    print(f"{target.name}  {size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    options = parser.parse_args()
    good = treeball.fit("example:mammals", dim=10, seed=0)
    ill = treeball.fit("example:mammals", method="poincare", dim=2, epochs=100, seed=0, deterministic=True)
    dated = treeball.fit(HERE.parent / "examples" / "primates.nwk", objective="distances", dim=10, seed=0)
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        mammals = write_page(good, Path(folder) / "mammals.html", title="Mammals of WordNet")
        poincare = write_page(ill, Path(folder) / "poincare.html", title="Mammals, Poincaré 2-d")
        primates = write_page(dated, Path(folder) / "primates.html", title="Primates", layout="rectangular")
        browser = playwright.chromium.launch(executable_path=options.chromium, args=sandbox)
        take(browser, mammals, "whole-tree")
        take(browser, mammals, "subtree", address="#node=carnivore.n.01&in=carnivore.n.01")
        take(browser, mammals, "dark", address="#node=placental.n.01", theme="dark")
        flight = "treeball.chooseTab('illness'); treeball.showPair(treeball.facts.ill.kind.indexOf(2));"
        take(browser, poincare, "illness", script=flight)
        take(browser, primates, "to-scale", address="#node=human", window={"width": 1160, "height": 720})
        browser.close()


if __name__ == "__main__":
    main()
