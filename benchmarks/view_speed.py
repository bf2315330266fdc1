"""Size, first paint and frames per second of the page of a large tree, in Chromium without a graphics card.

    python benchmarks/view_speed.py [FILE] [--seconds 5] [--chromium PATH]

FILE is a model or any hierarchy; by default a random tree of 82,115 nodes. A hierarchy is embedded by the method sarkar
in 10 dimensions, which is quick. The mouse drags in circles, from the root and from the largest subtree of level 4; a
frame counts when the page has drawn it, by WebGL2 and by Canvas, which the page chooses where there is no card.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import treeball
from train_speed import noun_tree
from treeball.io.model_file import is_model
from treeball.report.browser import write_page

READY = "Boolean(globalThis.treeball && treeball.frames > 0)"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"

LARGEST = """() => {
  const { depth, size } = treeball.tree;
  return depth.reduce((best, level, i) => (level === 4 && (best === 0 || size[i] > size[best]) ? i : best), 0);
}"""


def model_of(source: Path | None) -> treeball.Embedding:
    """The model in a file, or a quick embedding of the hierarchy in it."""
    if source is not None and is_model(source):
        return treeball.load(source)
    hierarchy = noun_tree(None) if source is None else treeball.read(source)
    return treeball.fit(hierarchy, method="sarkar", dim=10)


def drag(page: Any, seconds: float) -> float:
    """Frames per second while the mouse drags in circles about the middle of the disk."""
    box = page.locator("#stage").bounding_box()
    x, y = page.evaluate("[treeball.camera.x, treeball.camera.y]")
    x, y = x + box["x"], y + box["y"]
    page.mouse.move(x, y)
    page.mouse.down()
    frames, started, moves = page.evaluate("treeball.frames"), time.monotonic(), 0
    while time.monotonic() - started < seconds:
        moves += 1
        page.mouse.move(x + 160 * math.sin(0.05 * moves), y + 160 * math.sin(0.035 * moves))
    rate = (page.evaluate("treeball.frames") - frames) / (time.monotonic() - started)
    page.mouse.up()
    return float(rate)


def measure(browser: Any, address: str, seconds: float) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    started = time.monotonic()
    page.goto(address)
    while not page.evaluate(READY):
        page.wait_for_timeout(10)
    ready = time.monotonic() - started
    kind, paint = page.evaluate("treeball.renderer.kind"), page.evaluate(PAINT) / 1000
    print(f"{kind:7} first paint {paint:5.2f} s   tree shown {ready:5.2f} s", flush=True)
    for name, node in (("root", 0), ("level 4", page.evaluate(LARGEST))):
        page.evaluate("node => treeball.goTo(node)", node)
        page.wait_for_timeout(2500)
        print(f"{kind:7} dragging from the {name:8}{drag(page, seconds):6.1f} frames/s", flush=True)
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    options = parser.parse_args()
    embedding = model_of(options.source)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        started = time.monotonic()
        page = write_page(embedding, Path(folder) / "page.html")
        made = time.monotonic() - started
        print(f"{len(embedding):,} nodes, page {page.stat().st_size / 1e6:.1f} MB, made in {made:.1f} s", flush=True)
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=options.chromium, args=sandbox)
        for query in ("?renderer=webgl", "?renderer=canvas"):
            measure(browser, page.as_uri() + query, options.seconds)
        browser.close()


if __name__ == "__main__":
    main()
