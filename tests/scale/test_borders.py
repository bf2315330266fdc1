"""Pairs across the borders of branches: what is found ill is what a comparison of all pairs finds, and it heals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scale.hierarchies import random_edges, write
from treeball.cli.main import run
from treeball.engine.cpu import counting
from treeball.limits import TIE
from treeball.scale import border_stage, borders, branch, other_places, patch, shard, tiles
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.layout import write_json
from treeball.scale.settings import ScaleSettings

SETTINGS: dict[str, Any] = {"method": "construct", "dim": 3, "branch_nodes": 90}


def quiet(_):
    pass


def tall_edges(nodes: int) -> list[tuple[str, str]]:
    """Edges of a tree in which many nodes are far from the root, so that edges are short."""
    rng = np.random.default_rng(3)
    return [(f"n{child}", f"n{int(child * (1.0 - 0.12 * rng.random()))}") for child in range(1, nodes)]


def ill_pairs(folder: ModelFolder, everywhere: bool = False) -> set[tuple[int, int]]:
    """Nodes and parents that a stranger of another branch, or of any, is as near as, by comparing all with all."""
    n, cuts = len(folder), np.array(folder.manifest["cuts"])
    vectors, branch = folder.vectors(np.arange(n)), np.searchsorted(cuts, np.arange(n), "right")
    found = set()
    for place in range(n):
        parents = folder.parents(place)
        keys = counting.keys_to(vectors, vectors[place])
        strangers = (branch != branch[place]) | everywhere
        strangers[[place, *parents]] = False
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
    ask, moving = borders.found_in, other_places.find_other_places

    def watched(folder, name, tasks):
        found.update(ask(folder, name, tasks))
        return found

    before = {}

    def moved(folder, cuts, found, seed, threads):
        before["ill"], before["everywhere"] = ill_pairs(folder), ill_pairs(folder, True)
        return moving(folder, cuts, found, seed, threads)

    patched = pytest.MonkeyPatch()
    patched.setattr(border_stage, "found_in", watched)
    patched.setattr(border_stage, "find_other_places", moved)
    manifest = fit_folder((pattern,), home / "model", ScaleSettings(workers=1, **SETTINGS), quiet)
    patched.undo()
    # Nobody becomes ill, within branches neither.
    assert ill_pairs(ModelFolder(home / "model"), True) <= before["everywhere"]
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


def test_parents_that_are_nobody_s_primary_parent_are_compared_where_they_are(tmp_path):
    # By height they are leaves: all that hang below them have a deeper parent elsewhere.
    edges = tall_edges(1500)
    child_of = {parent for _, parent in edges}
    leaves = [f"n{node}" for node in range(1, 1500) if f"n{node}" not in child_of]
    edges += [(leaves[-1 - i], leaves[i]) for i in range(0, len(leaves) // 2, 3)]
    manifest = fit_folder(
        (write(edges, tmp_path / "edges"),), tmp_path / "model", ScaleSettings(workers=1, **SETTINGS), quiet
    )
    folder = ModelFolder(tmp_path / "model")
    height = np.load(tmp_path / "model" / "topology" / "height.npy")
    further = np.load(tmp_path / "model" / "topology" / "other_parent.npy")
    assert (height[further] == 0).any()
    after = ill_pairs(folder)
    assert manifest["borders"]["left"] == len(after)
    assert manifest["borders"]["left_nearest"] == len(hopeless(after, folder))


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


def test_an_illness_that_is_planted_across_a_border_is_found_and_healed(tmp_path, monkeypatch):
    """A leaf of one branch is put next to a node of another: both have a stranger nearer than their parent."""
    pattern = write(random_edges(1500, several=0.0), tmp_path / "edges")
    settings = ScaleSettings(method="construct", workers=1, dim=5, branch_nodes=90)
    sound = fit_folder((pattern,), tmp_path / "sound", settings, quiet)
    assert sound["borders"]["ill"] == 0
    cuts, shape = sound["cuts"], ModelFolder(tmp_path / "sound").shape
    leaves = np.flatnonzero(shape.height == 0)
    mine = int(leaves[leaves >= cuts[-2]][0])  # in the last branch
    other = int(leaves[(leaves >= cuts[2]) & (leaves < cuts[3])][-1])
    beside = ModelFolder(tmp_path / "sound").vectors([other])[0] * (1.0 - 1e-9)
    place = branch.place_branch

    def planting(shape, fans, plan, trunk, first, last, work):
        placed = place(shape, fans, plan, trunk, first, last, work)
        if first <= mine < last and first > 0:
            placed.vectors[placed.above.size + mine - first] = beside
        return placed

    monkeypatch.setattr(shard, "place_branch", planting)
    manifest = fit_folder((pattern,), tmp_path / "planted", settings, quiet)
    said = manifest["borders"]
    assert said["ill_nearest"] == 2
    assert (said["healed"], said["left"]) == (2, 0)
    healed = ModelFolder(tmp_path / "planted")
    assert not ill_pairs(healed)
    changed = [i for i, one in enumerate(manifest["shards"]) if one["sha256"] != sound["shards"][i]["sha256"]]
    assert len(cuts) - 2 in changed
    assert set(changed) <= {2, len(cuts) - 2}
    assert run(["verify", str(tmp_path / "planted")]) == 0


def records_of(model: Path) -> list[dict[str, Any]]:
    """What the branches say of their shards."""
    return [json.loads(path.read_text()) for path in sorted((model / "work" / "records").glob("*.json"))]


def files_of(model: Path) -> dict[str, bytes]:
    """The files of a folder by which its answers are given."""
    return {
        str(path.relative_to(model)): path.read_bytes()
        for path in sorted(model.rglob("*"))
        if path.is_file() and "work" not in path.relative_to(model).parts
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with moved nodes that was made without a stop, and its edges."""
    home = tmp_path_factory.mktemp("whole")
    pattern = write(tall_edges(1500), home / "edges")
    manifest = fit_folder((pattern,), home / "model", ScaleSettings(workers=1, **SETTINGS), quiet)
    assert sum("placed_sha256" in one for one in records_of(home / "model")) > 3
    assert manifest["borders"]["moved"]
    assert not (home / "model" / "work" / "borders").exists()
    return pattern, files_of(home / "model")


def test_the_bytes_do_not_depend_on_the_workers(whole, tmp_path):
    pattern, expected = whole
    fit_folder((pattern,), tmp_path / "model", ScaleSettings(workers=2, **SETTINGS), quiet)
    assert files_of(tmp_path / "model") == expected


@pytest.mark.parametrize(
    ("module", "name", "calls"),
    [
        (tiles, "lay_tiles", 4), (borders, "ask_others", 7), (other_places, "find_other_places", 0),
        (patch, "move_in_shard", 1), (borders, "ask_others", 18), (shard, "save_array", 19),
    ],
)  # fmt: skip
def test_a_run_that_is_stopped_goes_on_where_it_was(whole, tmp_path, monkeypatch, module, name, calls):
    pattern, expected = whole
    settings, model = ScaleSettings(workers=1, **SETTINGS), tmp_path / "model"
    does = getattr(module, name)
    done: list[Any] = []

    def stopping(*arguments, **named):
        if len(done) == calls:
            raise KeyboardInterrupt
        done.append(arguments)
        return does(*arguments, **named)

    with monkeypatch.context() as patched:
        for where in (module, border_stage, patch):
            if hasattr(where, name):
                patched.setattr(where, name, stopping)
        with pytest.raises(KeyboardInterrupt):
            fit_folder((pattern,), model, settings, quiet)
    assert not (model / "manifest.json").exists()
    placed = []
    place = branch.place_branch

    def counted(*arguments):
        placed.append(arguments)
        return place(*arguments)

    monkeypatch.setattr(shard, "place_branch", counted)
    fit_folder((pattern,), model, settings, quiet)
    # A shard that had just been written, and not its record, is made once more.
    assert len(placed) <= 1
    assert files_of(model) == expected
    told: list[str] = []
    fit_folder((pattern,), model, settings, told.append)
    assert "done already" in told[-1]


def test_a_shard_that_is_damaged_gets_its_moves_again(whole, tmp_path):
    pattern, expected = whole
    settings, model = ScaleSettings(workers=1, **SETTINGS), tmp_path / "model"
    manifest = fit_folder((pattern,), model, settings, quiet)
    for shard_of in manifest["shards"][:3]:
        (model / shard_of["file"]).write_bytes(b"PAR1 and then nothing")
    fit_folder((pattern,), model, settings, quiet)
    assert files_of(model) == expected


def test_a_folder_of_an_earlier_version_is_read_and_checked_when_it_is_made_again(whole, tmp_path, monkeypatch, capsys):
    pattern, expected = whole
    settings, model = ScaleSettings(workers=1, **SETTINGS), tmp_path / "model"
    with monkeypatch.context() as patched:
        patched.setattr(border_stage.BorderStage, "run", lambda _: None)
        patched.setattr("treeball.scale.fit.borders_sentence", str)
        manifest = fit_folder((pattern,), model, settings, quiet)
    del manifest["borders"]
    write_json(model / "manifest.json", manifest)
    assert run(["info", str(model)]) == 0
    assert "not checked" in capsys.readouterr().out
    assert len(ModelFolder(model)) == 1500
    fit_folder((pattern,), model, settings, quiet)
    assert files_of(model) == expected
    assert run(["info", str(model)]) == 0
    assert "healed" in capsys.readouterr().out


def test_siblings_in_different_branches_are_kept_apart_by_their_fan(tmp_path, monkeypatch):
    """What the fan decides is what comparing finds: with it and without it the same is ill."""
    monkeypatch.setattr("treeball.scale.trunk.MANY_CHILDREN", 200)
    rng = np.random.default_rng(4)
    edges = [(f"n{i}", f"n{i // 3}") for i in range(1, 60)] + [(f"leaf {i}", "n20") for i in range(1500)]
    edges += [(f"other {i}", f"n{rng.integers(60)}") for i in range(300)]
    settings = ScaleSettings(method="construct", workers=1, dim=4, branch_nodes=150)
    pattern, by_fan = write(edges, tmp_path / "edges"), []
    ask = borders.ask_others

    def asked(*arguments):
        record = ask(*arguments)
        by_fan.append(record["tiles_by_fan"])
        return record

    monkeypatch.setattr(border_stage, "ask_others", asked)
    manifest = fit_folder((pattern,), tmp_path / "model", settings, quiet)
    assert sum(by_fan) > 50
    assert manifest["borders"]["left"] == len(ill_pairs(ModelFolder(tmp_path / "model")))
