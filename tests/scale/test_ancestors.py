"""Model folders for the objective ancestors: a trunk that stays where it is, and branches that are trained below it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests.scale.hierarchies import random_edges, write
from treeball import Embedding
from treeball.cli.main import run
from treeball.errors import NumericalError
from treeball.scale import trained_branch
from treeball.scale.anchors import Anchors, choose_anchors
from treeball.scale.contracted import Edges, contracted
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.settings import ScaleSettings
from treeball.scale.shard import make_shard
from treeball.scale.trunk import Shape

SETTINGS: dict[str, Any] = {"dim": 8, "branch_nodes": 256, "epochs": 200, "objective": "ancestors"}


def quiet(_):
    pass


@pytest.fixture(scope="module")
def edges():
    return random_edges(1500, several=0.03)


@pytest.fixture(scope="module")
def made(edges, tmp_path_factory):
    home = tmp_path_factory.mktemp("ancestors")
    pattern = write(edges, home / "edges")
    fit_folder((pattern,), home / "model", ScaleSettings(**SETTINGS, workers=1), quiet)
    return home


@pytest.fixture(scope="module")
def folder(made):
    return ModelFolder(made / "model")


def tasks_of(folder):
    """What a worker is told, as the manifest has it."""
    manifest = folder.manifest
    return {
        "key": manifest["key"], "how": manifest["method"], "seed": manifest["seed"],
        "cuts": manifest["cuts"], "plan": manifest["plan"],
        "several_parents": True, "objective": "ancestors", "virtual_root": False,
    }  # fmt: skip


def test_ancestors_are_nearer_than_a_construction_puts_them(folder, made, tmp_path):
    fit_folder(
        (f"{made}/edges/*.parquet",),
        tmp_path / "built",
        ScaleSettings(method="construct", dim=8, branch_nodes=256, workers=1),
        quiet,
    )
    ours, built = (evaluate_folder(one, "ancestors", 0) for one in (folder, ModelFolder(tmp_path / "built")))
    assert ours.precision.mean() > 0.9
    assert ours.precision.mean() > built.precision.mean() + 0.2
    assert ours.ranks.mean() < 0.2 * built.ranks.mean()
    manifest = folder.manifest
    assert manifest["map_in_branches"] > manifest["map_before_training"]
    assert manifest["objective"] == "ancestors"
    assert len(manifest["shards"]) == 6


def test_scores_are_those_of_the_same_vectors_in_one_process(folder, edges):
    hierarchy = treeball.read(edges)
    vectors = folder.vectors([folder.find(str(name)) for name in hierarchy.names])
    theirs = Embedding(vectors, hierarchy, "poincare").evaluate("ancestors", sample=0).to_dict()
    ours = evaluate_folder(folder, "ancestors", 0).to_dict()
    for name in ("map", "mean_rank", "hits_at_1"):
        assert ours[name] == pytest.approx(theirs[name], abs=2e-6), name
    # Ranks of a sample are among all nodes, too, and not among the branch.
    everyone = evaluate_folder(folder, "ancestors", 0)
    some = evaluate_folder(folder, "ancestors", 300)
    assert some.nodes == 300
    assert set(some.precision.round(9)) <= set(everyone.precision.round(9))


def test_the_trunk_stays_where_it_was_trained(folder):
    anchors = Anchors.load(folder.path / "work")
    trunk = anchors.places[anchors.fixed]
    assert trunk.size > 10
    assert folder.vectors(trunk).tobytes() == anchors.vectors[anchors.fixed].tobytes()
    stand_ins = anchors.places[~anchors.fixed]
    assert not (folder.vectors(stand_ins) == anchors.vectors[~anchors.fixed]).all(axis=1).any()


def test_a_branch_and_the_trunk_have_all_ancestors_of_its_nodes(folder):
    shape, edges, cuts = Shape.load(folder.path), Edges.load(folder.path), np.array(folder.manifest["cuts"])
    places, fixed, left_out = choose_anchors(shape, edges, cuts, 256, 0)
    assert left_out == 0
    assert places.size == 256
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        known = np.union1d(places[fixed], np.arange(first, last))
        hierarchy = contracted(edges, known, virtual=False)
        ptr, idx = hierarchy.positives("ancestors")
        for place in range(first, last, 7):
            row = int(np.searchsorted(known, place))
            assert known[idx[ptr[row] : ptr[row + 1]]].tolist() == sorted(folder.ancestors(place))


def test_nodes_that_are_passed_over_keep_those_below_under_those_above(folder):
    edges = Edges.load(folder.path)
    some = np.union1d([0], np.random.default_rng(3).choice(len(folder), 200, replace=False))
    ptr, idx = contracted(edges, some, virtual=False).positives("ancestors")
    for row, place in enumerate(some.tolist()):
        assert some[idx[ptr[row] : ptr[row + 1]]].tolist() == sorted(set(folder.ancestors(place)) & set(some.tolist()))


def test_the_bytes_do_not_depend_on_the_workers(made, folder, tmp_path):
    other = fit_folder((f"{made}/edges/*.parquet",), tmp_path / "model", ScaleSettings(**SETTINGS, workers=2), quiet)
    assert [one["sha256"] for one in other["shards"]] == [one["sha256"] for one in folder.manifest["shards"]]


def test_what_is_one_branch_is_trained_once(tmp_path):
    pattern = write(random_edges(300, several=0.03), tmp_path / "edges")
    settings = ScaleSettings(dim=8, branch_nodes=400, epochs=200, objective="ancestors", workers=1)
    manifest = fit_folder((pattern,), tmp_path / "model", settings, quiet)
    folder = ModelFolder(tmp_path / "model")
    assert len(manifest["shards"]) == 1
    assert folder.vectors(np.arange(300)).tobytes() == Anchors.load(folder.path / "work").vectors.tobytes()
    scores = evaluate_folder(folder, "ancestors", 0)
    assert scores.precision.mean() > 0.95
    assert scores.precision.mean() == pytest.approx(manifest["map_in_branches"])


def test_a_run_that_was_stopped_goes_on_with_what_is_left(made):
    model = made / "model"
    shards = sorted((model / "shards").iterdir())
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in shards}
    (model / "manifest.json").unlink()
    shards[3].unlink()
    told: list[str] = []
    fit_folder((f"{made}/edges/*.parquet",), model, ScaleSettings(**SETTINGS, workers=1), told.append)
    assert not any("training" in line for line in told)  # the trunk was there
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in shards}
    assert {path for path in shards if before[path][0] != after[path][0]} == {shards[3]}
    assert all(before[path][1] == after[path][1] for path in shards)
    assert run(["verify", str(model)]) == 0


def test_a_training_that_ends_worse_than_it_began_is_not_kept(folder, made, tmp_path, monkeypatch):
    def scramble(start, *_):
        mixed = start.vectors.copy()
        mixed[start.movers] = np.random.default_rng(0).permutation(mixed[start.movers])
        return replace(start, vectors=mixed)

    monkeypatch.setattr(trained_branch, "train_below", scramble)
    settings = ScaleSettings(**SETTINGS, workers=1)
    manifest = fit_folder((f"{made}/edges/*.parquet",), tmp_path / "model", settings, quiet)
    assert manifest["trainings_not_kept"] == 6
    assert manifest["map_in_branches"] == manifest["map_before_training"]


def test_what_is_no_number_ends_in_a_sentence(folder, made):
    work = made / "model" / "work"
    kept, shard = (work / "anchors.npy").read_bytes(), made / "model" / "shards" / "trained-000002.parquet"
    anchors, bytes_of_shard = Anchors.load(work), shard.read_bytes()
    anchors.vectors[1:] = np.nan
    anchors.save(work)
    shard.unlink()
    try:
        with pytest.raises(NumericalError, match=r"^the training of branch 2 stopped giving numbers: fit with"):
            make_shard(str(made / "model"), 2, tasks_of(folder))
        assert not shard.exists()
    finally:
        (work / "anchors.npy").write_bytes(kept)
        shard.write_bytes(bytes_of_shard)


def test_commands_follow_the_objective(made, capsys):
    model, pattern = str(made / "model"), f"{made}/edges/*.parquet"
    assert run(["evaluate", model, "--sample", "200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["objective"] == "ancestors"
    assert found["mean_rank"] >= 1.0
    assert run(["info", model]) == 0
    text = capsys.readouterr().out
    assert "ancestors" in text
    assert "softmax" in text
    assert run(["neighbors", model, "n900", "-k", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["neighbors"]) == 3
    assert run(["ask", model, "ancestors", "n900", "--from", "hierarchy"]) == 0
    capsys.readouterr()
    seconds = []
    for more in ([], ["--objective", "ancestors"], ["--objective", "ancestors", "--epochs", "5"]):
        assert run(["plan", pattern, "--branch-nodes", "256", "--json", *more]) == 0
        seconds.append(json.loads(capsys.readouterr().out)["seconds"])
    assert seconds[0] < seconds[2] < seconds[1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["fit", "{edges}", "-o", "m", "--objective", "distances"], "--objective distances"),
        (["fit", "{edges}", "-o", "m", "--objective", "ancestors", "--method", "construct"], "--method construct"),
        (["fit", "{edges}", "-o", "m", "--objective", "ancestors", "--sharpness", "9"], "sharpness"),
        (["fit", "{edges}", "-o", "m", "--objective", "ancestors", "--epochs", "0"], "--epochs"),
        (["plan", "{edges}", "--epochs", "9"], "--objective ancestors"),
        (["insert", "{model}", "{new}"], "objective ancestors"),
        (["update", "{model}", "{edges}"], "objective ancestors"),
        (["ask", "{model}", "parent", "n9"], "--from hierarchy"),
        (["fit", "{edges}", "-o", "{model}", "--objective", "ancestors", "--dim", "9"], "other edges or settings"),
    ],
)
def test_what_such_a_folder_cannot_do_is_refused_in_a_sentence(made, tmp_path, monkeypatch, capsys, arguments, named):
    monkeypatch.chdir(tmp_path)
    Path("new.csv").write_text("child,parent\nfresh,n3\n")
    names = {"edges": f"{made}/edges/*.parquet", "model": made / "model", "new": "new.csv"}
    assert run([one.format(**names) for one in arguments]) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert sentence.startswith("treeball: ")
    assert named in sentence
    assert not Path("m").exists()
