"""Pairs across the borders of branches: what the pass finds ill is what a comparison of all pairs finds, and it heals."""

from __future__ import annotations

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.scale.hierarchies import random_edges, write
from treeball.cli.main import run
from treeball.engine.cpu import counting
from treeball.limits import TIE
from treeball.scale import border_stage, other_places, patch, shard
from treeball.scale.fit import ScaleSettings, fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.layout import sha256_of

SETTINGS = {"dim": 3, "branch_nodes": 90}


def quiet(_):
    pass


def tall_edges(nodes: int) -> list[tuple[str, str]]:
    """Edges of a tree in which many nodes are far from the root, so that edges are short."""
    rng = np.random.default_rng(3)
    return [(f"n{child}", f"n{int(child * (1.0 - 0.12 * rng.random()))}") for child in range(1, nodes)]


def ill_pairs(folder: ModelFolder) -> set[tuple[int, int]]:
    """Nodes and parents that a stranger of another branch is as near as, by comparing all with all."""
    n, cuts = len(folder), np.array(folder.manifest["cuts"])
    vectors, branch = folder.vectors(np.arange(n)), np.searchsorted(cuts, np.arange(n), "right")
    found = set()
    for place in range(n):
        parents = folder.parents(place)
        keys = counting.keys_to(vectors, vectors[place])
        strangers = branch != branch[place]
        strangers[parents] = False
        if folder.has_virtual_root:
            strangers[0] = False
        nearest = keys[strangers].min(initial=np.inf)
        found |= {(place, parent) for parent in parents if nearest <= keys[parent] * (1.0 + TIE)}
    return found


def hopeless(ill: set[tuple[int, int]], folder: ModelFolder) -> set[int]:
    """Nodes all of whose pairs are ill."""
    count: dict[int, int] = {}
    for place, _ in ill:
        count[place] = count.get(place, 0) + 1
    return {place for place, pairs in count.items() if pairs == len(folder.parents(place))}


@pytest.fixture(scope="module", params=["tall tree", "several parents", "several roots"])
def made(request, tmp_path_factory):
    """A folder as it was placed, what the pass found there, and the same folder when it was healed."""
    home = tmp_path_factory.mktemp("borders")
    edges = random_edges(1500, several=0.0 if request.param == "several roots" else 0.1)
    if request.param == "tall tree":
        edges = tall_edges(1500)
    if request.param == "several roots":
        edges = [(child, parent) for child, parent in edges if child not in ("n1", "n2")]
    pattern = write(edges, home / "edges")
    found = {}
    ask = border_stage.found_in

    def watched(folder, name, tasks):
        found.update(ask(folder, name, tasks))
        return found

    before = {}

    def planted(folder, cuts, found, seed, threads):
        before["ill"] = ill_pairs(folder)
        return moving(folder, cuts, found, seed, threads)

    moving = border_stage.find_other_places
    patched = pytest.MonkeyPatch()
    patched.setattr(border_stage, "found_in", watched)
    patched.setattr(border_stage, "find_other_places", planted)
    manifest = fit_folder((pattern,), home / "model", ScaleSettings(workers=1, **SETTINGS), quiet)
    patched.undo()
    return pattern, home, before["ill"], found, manifest


def test_what_is_found_ill_is_what_a_comparison_of_all_pairs_finds(made):
    _, home, before, found, manifest = made
    folder = ModelFolder(home / "model")
    assert len(manifest["cuts"]) > 10
    assert before
    assert set(found["places"].tolist()) == {place for place, _ in before}
    assert dict(zip(found["places"].tolist(), found["pairs"].tolist(), strict=True)) == {
        place: sum(one == place for one, _ in before) for place, _ in before
    }
    assert set(found["places"][found["all_ill"]].tolist()) == hopeless(before, folder)
    said = manifest["borders"]
    assert said["ill"] == len(before)
    assert said["ill_nearest"] == len(hopeless(before, folder))
    judged = sum(bool(folder.parents(place)) for place in range(len(folder)))
    assert said["nodes"] == judged == said["decided_by_bounds"] + said["compared"]


def test_what_is_left_ill_is_what_a_comparison_of_all_pairs_finds(made):
    _, home, before, _, manifest = made
    folder, said = ModelFolder(home / "model"), manifest["borders"]
    after = ill_pairs(folder)
    assert said["left"] == len(after)
    assert said["left_nearest"] == len(hopeless(after, folder))
    assert said["healed"] == len(before) - len(after)
    assert after <= before
    assert said["moved"] > 0
    assert len(after) < len(before)
    assert run(["verify", str(home / "model")]) == 0
