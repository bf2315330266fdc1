"""A tree as large as the nouns of WordNet: the page stays small, and following the mouse stays fluid."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import treeball
from treeball.report.browser import write_page

from .driver import View
from .test_browsing import drawn, pixels

Open = Callable[..., View]
NODES = 82_115
SECONDS = 2.0


def large_model() -> treeball.Embedding:
    """A random tree with vectors that take a step from parent to child: quick to make and to measure."""
    rng = np.random.default_rng(0)
    parent = (rng.random(NODES - 1) ** 2 * np.arange(1, NODES)).astype(np.int64)
    hierarchy = treeball.Hierarchy.from_codes([f"node {i}" for i in range(NODES)], np.arange(1, NODES), parent)
    vectors = np.zeros((NODES, 3))
    steps = rng.normal(size=(NODES, 3))
    for code in range(1, NODES):
        vectors[code] = vectors[parent[code - 1]] + steps[code]
    return treeball.Embedding(vectors, hierarchy, "euclidean")


@pytest.mark.slow
def test_large_trees_open_and_follow_the_mouse(open_view: Open, tmp_path: Path) -> None:
    page = write_page(large_model(), tmp_path / "large.html")
    size = page.stat().st_size
    assert size < 12e6
    view = open_view(page)
    assert drawn(pixels(view)) > 20_000
    x, y = view.place("node 0")
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    frames, started, moves = view.do("treeball.frames"), time.monotonic(), 0
    while time.monotonic() - started < SECONDS:
        moves += 1
        view.page.mouse.move(x + 150 * math.sin(0.05 * moves), y + 150 * math.sin(0.035 * moves))
    rate = (view.do("treeball.frames") - frames) / (time.monotonic() - started)
    view.page.mouse.up()
    view.settle()
    print(
        f"{NODES:,} nodes: page {size / 1e6:.1f} MB, shown after {view.seconds_to_open:.2f} s, "
        f"{rate:.0f} frames/s while dragging ({view.do('treeball.renderer.kind')})"
    )
    assert rate > 0
    assert view.do("treeball.picture.scene.count") > 1_000
    view.page.fill("#search", "node 82114")
    view.page.keyboard.press("Enter")
    view.settle()
    assert view.focus == "node 82114"
