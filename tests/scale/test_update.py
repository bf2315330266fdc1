"""A model folder brought to the next version of its edges."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.scale.hierarchies import random_edges, write
from treeball.cli.main import run
from treeball.hierarchy._update_limits import UpdateLimits
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.nearest import nearest
from treeball.scale.settings import ScaleSettings
from treeball.scale.update import update_folder


def quiet(_):
    pass


EDGES = random_edges(1500)
MEMORY = 1 << 28


@pytest.fixture
def model(tmp_path):
    cycle = [("n0", "n9")]  # closes a cycle, and is left out each time
    fit_folder(
        (write(EDGES + cycle, tmp_path / "edges"),), tmp_path / "model",
        ScaleSettings(method="construct", dim=6, branch_nodes=500, workers=1), quiet,
    )  # fmt: skip
    return tmp_path / "model"


def childless() -> list[str]:
    return sorted({child for child, _ in EDGES} - {parent for _, parent in EDGES})


def test_the_same_version_changes_nothing(model, tmp_path):
    before = (model / "manifest.json").read_bytes()
    changes = update_folder(ModelFolder(model), (f"{tmp_path}/edges/*.parquet",), MEMORY).changes
    assert (changes.new, changes.removed.size, changes.moved.size) == (0, 0, 0)
    assert (model / "manifest.json").read_bytes() == before


def test_roots_without_children_are_not_removed_by_the_same_version(tmp_path):
    edges = [*random_edges(200), ("alone", None), (None, "above nobody"), ("self", "self")]
    pattern = write(edges, tmp_path / "edges")
    fit_folder(
        (pattern,), tmp_path / "model", ScaleSettings(method="construct", dim=6, branch_nodes=500, workers=1), quiet
    )
    changes = update_folder(ModelFolder(tmp_path / "model"), (pattern,), MEMORY).changes
    assert (changes.new, changes.removed.size, changes.moved.size) == (0, 0, 0)


def test_new_nodes_get_places_removed_ones_are_gone_and_moved_ones_are_told(model, tmp_path, capsys):
    gone, moved = childless()[:20], childless()[20:23]
    kept = [(child, "n1" if child in moved else parent) for child, parent in EDGES if child not in gone]
    new = [(f"new {i}", f"n{i}") for i in range(40)] + [(f"below {i}", f"new {i}") for i in range(5)]
    pattern = write(kept + new, tmp_path / "next")
    shards = {path: path.read_bytes() for path in (model / "shards").iterdir()}
    assert run(["update", str(model), pattern, "--dry-run"]) == 0
    assert len(ModelFolder(model)) == 1500
    assert run(["update", str(model), pattern, "--json"]) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out[captured.out.index("{") :])
    assert (said["new"], said["removed"], said["moved"]) == (45, 20, 3)
    assert sorted(said["first_moved"]) == sorted(moved)
    assert "treeball fit" in captured.err
    assert all(path.read_bytes() == content for path, content in shards.items())
    folder = ModelFolder(model)
    assert not any(folder.has(name) for name in gone)
    assert folder.names(folder.parents(folder.find("below 3"))) == ["new 3"]
    places = {folder.find(name) for name, _ in new}
    near = [nearest(folder, folder.vectors([one])[0], 1, (one,))[0].tolist() == folder.parents(one) for one in places]
    assert sum(near) >= 45 - said["without_place"] - 1
    # What is removed is nobody's neighbour, child or row any more, and is not ranked.
    removed = set(folder.removed.tolist())
    above = folder.primary_parent(min(removed))
    assert not removed & set(folder.children(above))
    assert not removed & set(nearest(folder, folder.vectors([above])[0], 200, (above,))[0].tolist())
    scores = evaluate_folder(folder, sample=0)
    assert scores.nodes == 1500 + 45 - 20 - 1
    assert run(["export", str(model), "-o", str(tmp_path / "all.csv")]) == 0
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 1 + 1500 + 45 - 20
    # And what comes back, comes back where it was.
    update_folder(folder, (write(kept + new + [(gone[0], dict(EDGES)[gone[0]])], tmp_path / "back"),), MEMORY)
    assert ModelFolder(model).has(gone[0])
    assert run(["verify", str(model)]) == 0


def test_removed_nodes_do_not_count_in_ranks(model, tmp_path):
    folder = ModelFolder(model)
    some = np.array([folder.find(name) for name in childless()[:300]])
    pattern = write([edge for edge in EDGES if edge[0] not in set(childless()[:300])], tmp_path / "next")
    update_folder(folder, (pattern,), MEMORY, limits=UpdateLimits(max_removed=0.25))
    after = evaluate_folder(ModelFolder(model), sample=0)
    before = evaluate_folder(folder, sample=0)
    left = np.setdiff1d(np.arange(1, 1500), some)
    assert after.nodes == left.size
    assert after.ranks.mean() <= before.ranks[np.isin(before.owner, left - 1)].mean()


@pytest.mark.parametrize(
    ("edges", "named"),
    [
        ([("x", "n0")], "1,499 nodes of 1,500 would be removed"),
        ([*EDGES, ("x", "y"), ("z", "x")], "below none of the model folder"),
    ],
)
def test_what_an_update_cannot_do_is_refused_in_a_sentence(model, tmp_path, capsys, edges, named):
    before = (model / "manifest.json").read_bytes()
    assert run(["update", str(model), write(edges, tmp_path / "next")]) == 2
    assert named in capsys.readouterr().err.splitlines()[-1]
    assert (model / "manifest.json").read_bytes() == before


def test_more_removed_or_moved_than_allowed_is_refused_and_writes_nothing(model, tmp_path, capsys):
    before = (model / "manifest.json").read_bytes()
    gone = set(childless()[:100])
    pattern = write([edge for edge in EDGES if edge[0] not in gone], tmp_path / "next")
    assert run(["update", str(model), pattern]) == 2
    said = capsys.readouterr()
    assert "removed         100 (" in said.out
    assert "100 nodes of 1,500 would be removed (6.7%; at most 75 without --max-removed 0.067)" in said.err
    moved = set(childless()[100:200])
    other = write([(child, "n0" if child in moved else parent) for child, parent in EDGES], tmp_path / "other")
    assert run(["update", str(model), other]) == 2
    assert "would be moved" in capsys.readouterr().err
    assert (model / "manifest.json").read_bytes() == before
    assert run(["update", str(model), pattern, "--max-removed", "0.067"]) == 0
    assert not any(ModelFolder(model).has(name) for name in gone)


def test_a_dry_run_as_json_lists_all_that_would_be_removed_and_ends_like_the_update(model, tmp_path, capsys):
    gone = childless()[:100]
    pattern = write([edge for edge in EDGES if edge[0] not in set(gone)], tmp_path / "next")
    assert run(["update", str(model), pattern, "--dry-run", "--json"]) == 2
    assert sorted(json.loads(capsys.readouterr().out)["removed_nodes"]) == gone


def test_a_parent_that_is_not_defined_is_refused_unless_new_roots_are_allowed(model, tmp_path, capsys):
    before = (model / "manifest.json").read_bytes()
    edges = [*EDGES, ("stranger", None)]
    assert run(["update", str(model), write(edges, tmp_path / "next")]) == 2
    assert "1 node of the new version is without a parent and not in the model: stranger" in capsys.readouterr().err
    assert (model / "manifest.json").read_bytes() == before
    assert run(["update", str(model), f"{tmp_path}/next/*.parquet", "--allow-new-roots"]) == 0
    assert "1 new roots have no place in a model folder" in capsys.readouterr().err


def test_rows_without_a_child_are_counted(model, tmp_path, capsys):
    assert run(["update", str(model), write([*EDGES, (None, "n5"), (None, "n6")], tmp_path / "next"), "--json"]) == 0
    said = capsys.readouterr()
    assert "warning: 2 rows without a child left out" in said.err
    assert json.loads(said.out)["rows_without_child"] == 2
