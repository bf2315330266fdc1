"""What reviewers and strangers found wrong in model folders: each stays mended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.scale.hierarchies import random_edges, write
from tests.scale.test_borders import hopeless, ill_pairs, tall_edges
from treeball.cli.main import run
from treeball.engine.cpu import counting
from treeball.errors import InputError
from treeball.hierarchy._update_limits import UpdateLimits
from treeball.limits import TIE
from treeball.scale import border_stage, fit, other_places, patch, second_parents, shard
from treeball.scale.engines import Workers
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.layout import read_json, write_json
from treeball.scale.settings import ScaleSettings
from treeball.scale.update import update_folder

MEMORY = 1 << 28
SETTINGS = ScaleSettings(workers=1, method="construct", dim=5, branch_nodes=100)
EDGES = random_edges(300, several=0.0)
PARENT = dict(EDGES)


def quiet(_):
    pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The pattern of some edges, and a folder that is never changed."""
    home = tmp_path_factory.mktemp("second")
    pattern = write(EDGES, home / "edges")
    fit_folder((pattern,), home / "model", SETTINGS, quiet)
    return pattern, home / "model"


@pytest.fixture
def model(whole, tmp_path):
    """A copy of it."""
    return shutil.copytree(whole[1], tmp_path / "model")


def bytes_of(model):
    return {path.name: path.read_bytes() for path in (model / "shards").iterdir()}


def inserted(model, tmp_path, rows):
    path = tmp_path / "new.csv"
    path.write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in rows))
    return run(["insert", str(model), str(path), "--json"])


def refused(capsys, arguments):
    """The sentence with which a command is refused."""
    capsys.readouterr()
    assert run(arguments) == 2
    *before, said = capsys.readouterr().err.splitlines()
    assert said.startswith("treeball: ")
    assert not any("Traceback" in line for line in before)
    return said


# ---- what is kept ----


def test_what_was_added_outlives_the_loss_of_the_working_files(whole, model, tmp_path):
    assert inserted(model, tmp_path, [("fresh", "n3")]) == 0
    before = bytes_of(model)
    shutil.rmtree(model / "work")
    fit_folder((whole[0],), model, SETTINGS, quiet)
    assert bytes_of(model) == before
    folder = ModelFolder(model)
    assert folder.names(folder.parents(folder.find("fresh"))) == ["n3"]
    assert run(["verify", str(model)]) == 0


@pytest.mark.parametrize(
    "name", ["index/boxes.npy", "index/hash.npy", "topology/size.npy", "topology/other_parent.npy"]
)
def test_a_damaged_array_is_told_and_made_anew(whole, model, capsys, name):
    before = (model / name).read_bytes()
    (model / name).write_bytes(before[:-8])
    assert name in refused(capsys, ["verify", str(model)])
    told: list[str] = []
    fit_folder((whole[0],), model, SETTINGS, told.append)
    assert not any("done already" in line for line in told)
    assert (model / name).read_bytes() == before
    assert run(["verify", str(model)]) == 0
    fit_folder((whole[0],), model, SETTINGS, told.append)
    assert "done already" in told[-1]


def test_of_what_was_added_no_fit_is_promised(model, tmp_path, capsys):
    assert inserted(model, tmp_path, [("fresh", "n3")]) == 0
    (model / "index" / "added-000000-parents.npy").unlink()
    assert "take it from a copy" in refused(capsys, ["verify", str(model)])


@pytest.mark.parametrize("killed_at", [1, 2])
def test_a_run_that_is_killed_at_its_very_beginning_can_be_done_again(whole, tmp_path, monkeypatch, killed_at):
    model = tmp_path / "model"
    calls = []

    def killed(path, content):
        calls.append(path)
        if len(calls) == killed_at:
            raise KeyboardInterrupt
        write_json(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(fit, "write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            fit_folder((whole[0],), model, SETTINGS, quiet)
    fit_folder((whole[0],), model, SETTINGS, quiet)
    assert bytes_of(model) == bytes_of(whole[1])


def test_moves_that_are_written_twice_are_written_once(tmp_path):
    pattern = write(tall_edges(600), tmp_path / "edges")
    settings = ScaleSettings(workers=1, method="construct", dim=3, branch_nodes=90)
    manifest = fit_folder((pattern,), tmp_path / "model", settings, quiet)
    records = tmp_path / "model" / "work" / "records"
    moved = [path for path in sorted(records.glob("branch-*.json")) if "placed_sha256" in read_json(path)]
    assert moved
    before = read_json(moved[0])
    patch.move_in_shard(str(tmp_path / "model"), before["task"], {"cuts": manifest["cuts"]})
    assert read_json(moved[0]) == before


def test_a_task_is_not_lost_when_a_pool_breaks_as_it_takes_it(tmp_path, monkeypatch):
    broken: list[bool] = []

    class Pool:
        """Does what it gets at once; the first one breaks when it is given its third task."""

        def __init__(self, *_):
            self.taken = 0

        def submit(self, work, *arguments):
            self.taken += 1
            if not broken and self.taken == 3:
                broken.append(True)
                raise BrokenProcessPool
            future: Future[dict[str, Any]] = Future()
            future.set_result(work(*arguments))
            return future

        def shutdown(self, **_):
            pass

    monkeypatch.setattr("treeball.scale.engines.ProcessPoolExecutor", Pool)
    with Workers(tmp_path, "local", 2, None) as workers:
        records = workers.records(lambda _, task, __: {"task": task}, list(range(7)), {}, quiet, "tasks")
    assert broken
    assert [record["task"] for record in records] == list(range(7))


# ---- borders ----


def test_a_node_beside_the_parent_of_a_further_parent_is_found(tmp_path, monkeypatch):
    """What is looked at first decides that it is ill with all its parents: it was neither counted nor moved."""
    pattern = write(random_edges(600, several=0.05), tmp_path / "edges")
    settings = ScaleSettings(workers=1, method="construct", dim=5, branch_nodes=60)
    cuts = np.array(fit_folder((pattern,), tmp_path / "sound", settings, quiet)["cuts"])
    folder = ModelFolder(tmp_path / "sound")
    child, further = next(
        (child, grandparent)
        for child, parent in zip(*(side.tolist() for side in folder.others), strict=True)
        if (grandparent := folder.primary_parent(parent)) >= 0
        and grandparent not in folder.parents(child)
        and folder.shape.size[child] == 1
        and len(set(np.searchsorted(cuts, [child, grandparent], "right").tolist())) == 2
    )
    beside = folder.vectors([further])[0] * (1.0 - 1e-6) + 1e-7
    before: dict[str, Any] = {}

    def planting(branch, *arguments):
        moved = second_parents.move_between_parents(branch, *arguments)
        if branch.first <= child < branch.last:
            branch.vectors[branch.above.size + child - branch.first] = beside
        return moved

    def seen(folder, cuts, found, *arguments):
        before["ill"], before["hopeless"] = ill_pairs(folder), found["places"][found["all_ill"]].tolist()
        return other_places.find_other_places(folder, cuts, found, *arguments)

    monkeypatch.setattr(shard, "move_between_parents", planting)
    monkeypatch.setattr(border_stage, "find_other_places", seen)
    said = fit_folder((pattern,), tmp_path / "planted", settings, quiet)["borders"]
    folder = ModelFolder(tmp_path / "planted")
    assert child in hopeless(before["ill"], folder)
    assert said["nodes"] == sum(bool(folder.parents(place)) for place in range(len(folder)))
    assert (said["ill"], said["ill_nearest"]) == (len(before["ill"]), len(hopeless(before["ill"], folder)))
    assert sorted(before["hopeless"]) == sorted(hopeless(before["ill"], folder))
    assert said["left"] == len(ill_pairs(folder))


# ---- the second week ----


def test_leaves_that_come_one_by_one_find_places_as_well(model, tmp_path, capsys):
    without = 0
    for number in range(16):
        capsys.readouterr()
        assert inserted(model, tmp_path, [(f"one {number}", "n3")]) == 0
        without += json.loads(capsys.readouterr().out)["without_place"]
    folder = ModelFolder(model)
    vectors = folder.vectors([folder.find(f"one {number}") for number in range(16)])
    assert without == 0
    assert np.unique(vectors, axis=0).shape == vectors.shape


def test_ranks_do_not_count_parents_that_were_removed(tmp_path, capsys):
    edges = tall_edges(600)
    parent = dict(edges)
    model = tmp_path / "model"
    settings = ScaleSettings(workers=1, method="construct", dim=3, branch_nodes=100)
    fit_folder((write(edges, tmp_path / "edges"),), model, settings, quiet)
    gone = sorted(set(parent.values()) - {"n0"})[:40]

    def above(node):
        return above(parent[node]) if node in gone else node

    kept = [(child, above(up)) for child, up in edges if child not in gone]
    update_folder(ModelFolder(model), (write(kept, tmp_path / "next"),), MEMORY, limits=UpdateLimits().forced())
    folder = ModelFolder(model)
    there = np.setdiff1d(np.arange(len(folder)), folder.removed)
    vectors, expected = folder.vectors(np.arange(len(folder))), []
    for place in there.tolist():
        for up in folder.parents(place):
            keys = counting.keys_to(vectors, vectors[place])
            keys[[place, up, *folder.removed.tolist()]] = np.inf
            limit = counting.keys_to(vectors[[up]], vectors[place])[0] * (1.0 + TIE)
            expected.append(1 + int((keys <= limit).sum()))
    assert evaluate_folder(folder, sample=0).ranks.tolist() == expected
    child = next(child for child, up in edges if up in gone and child not in gone)
    capsys.readouterr()
    assert run(["ask", str(model), "parent", child, "--from", "hierarchy"]) == 0
    assert capsys.readouterr().out.split()[-1] == above(parent[child])
    assert not set(gone) & set(folder.names(folder.ancestors(folder.find(child))))


def test_a_node_that_was_removed_and_came_again_elsewhere_stays_there(model, tmp_path):
    leaf = sorted(set(PARENT) - set(PARENT.values()))[0]
    without = [edge for edge in EDGES if edge[0] != leaf]
    other = "n3" if PARENT[leaf] != "n3" else "n4"
    update_folder(ModelFolder(model), (write(without, tmp_path / "without"),), MEMORY)
    assert inserted(model, tmp_path, [(leaf, other)]) == 0
    same = write([*without, (leaf, other)], tmp_path / "same")
    changes = update_folder(ModelFolder(model), (same,), MEMORY).changes
    assert (changes.new, changes.removed.size, changes.moved.size) == (0, 0, 0)
    folder = ModelFolder(model)
    assert folder.names(folder.parents(folder.find(leaf))) == [other]


def test_what_is_gone_is_told_once_and_new_roots_are_told(model, tmp_path, capsys):
    leaves = sorted(set(PARENT) - set(PARENT.values()))[:200]
    fewer = [edge for edge in EDGES if edge[0] not in leaves[:120]]
    first = update_folder(
        ModelFolder(model),
        (write(fewer, tmp_path / "fewer"),),
        MEMORY,
        limits=UpdateLimits(allow_new_roots=True, max_removed=0.4),
    )
    assert first.changes.removed.size == 120
    again = update_folder(
        ModelFolder(model), (f"{tmp_path}/fewer/*.parquet",), MEMORY, limits=UpdateLimits(allow_new_roots=True)
    )
    assert again.changes.removed.size == 0
    fewest = [edge for edge in EDGES if edge[0] not in leaves[:180]]
    # More than half of all there ever were, but a third of those that were left.
    pattern = write([*fewest, ("a root", None), ("n5", "above n5")], tmp_path / "fewest")
    capsys.readouterr()
    assert run(["update", str(model), pattern, "--json", "--allow-new-roots", "--max-removed", "0.34"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["removed"] == 60
    assert json.loads(said.out)["new_roots_left_out"] == ["a root", "above n5"]
    assert "2 new roots have no place in a model folder" in said.err
    assert ModelFolder(model).n_present == 120


# ---- sentences ----


def test_what_cannot_be_is_refused_in_a_sentence(whole, model, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = next((whole[1].parent / "edges").iterdir())
    (tmp_path / "half").mkdir()
    shutil.copy(good, tmp_path / "half" / "a.parquet")
    (tmp_path / "half" / "b.parquet").write_bytes(b"PAR1 and then nothing")
    many = "child,parent\n" + "".join(f"y{i},n1\n" for i in range(30_000))
    (tmp_path / "uneven.csv").write_text(many + "a,b,c,d\n")
    (tmp_path / "latin.csv").write_bytes(many.encode() + b"\xe9t\xe9,n1\n")
    (tmp_path / "new.csv").write_text("child,parent\nx,n1\n")
    name = str(model)
    for arguments, said in (
        (["plan", "half/*.parquet"], "cannot be read"),
        (["plan", whole[0], "-o", "not/there/model"], "there is no folder"),
        (["insert", name, "uneven.csv"], "line 30,002 of 'uneven.csv' has more columns"),
        (["fit", "uneven.csv", "--engine", "local", "-o", "m"], "line 30,002 of 'uneven.csv'"),
        (["fit", "half", "--engine", "local", "-o", "m"], "half/*.parquet"),
        (["fit", whole[0], "-o", "m", "--memory", "foo"], "--memory 'foo'"),
        (["fit", whole[0], "-o", "m", "--epochs", "9"], "--epochs goes with --method softmax"),
        (["insert", name, "latin.csv"], "no UTF-8"),
        (["evaluate", name, "--sample", "-5"], "from 0 on"),
        (["evaluate", name, "--seed", "-1"], "from 0 on"),
        (["evaluate", name, "--device", "cuda"], "--device"),
        (["evaluate", name, "--require-map", "7"], "between 0 and 1"),
        (["neighbors", name, "\udcff"], "there is no node"),
        (["insert", name, "new.csv", "--no-make-room"], "--no-make-room"),
        (["insert", name, "new.csv", "--direction", "parent-child"], "--columns child,parent"),
        (["insert", name, "new.csv", "--names", "label"], "--names"),
        (["update", name, "new.csv", "--columns", "a,b"], "no column 'a'"),
        (["fit", whole[0], "-o", "m", "--checkpoint-seconds", "5"], "--checkpoint-seconds"),
    ):
        assert said in refused(capsys, arguments)
    next((model / "shards").iterdir()).write_bytes(b"PAR1 and then nothing")
    assert "missing or damaged" in refused(capsys, ["export", name, "-o", "all.csv"])
    assert not (tmp_path / "not").exists()
    assert not (tmp_path / "m").exists()


def test_a_sample_of_nodes_without_parents_has_no_scores(whole):
    folder = ModelFolder(whole[1])
    seeds = range(2000)
    rooted = next(seed for seed in seeds if np.random.default_rng(seed).choice(len(folder), 1, replace=False)[0] == 0)
    with pytest.raises(InputError, match="has a parent: give a larger --sample"):
        evaluate_folder(folder, sample=1, seed=rooted)


def test_threads_of_a_fit_are_workers_of_a_folder(whole, tmp_path):
    assert run(["fit", whole[0], "-o", str(tmp_path / "m"), "--dim", "5", "--branch-nodes", "100", "--method",
                "construct", "--threads", "1", "--resume"]) == 0  # fmt: skip
    assert bytes_of(tmp_path / "m") == bytes_of(whole[1])


@pytest.mark.parametrize("content", [b"", b'{"cuts": [0'])
def test_a_damaged_manifest_is_made_anew_unless_it_knew_of_more(whole, model, tmp_path, capsys, content):
    (model / "manifest.json").write_bytes(content)
    assert "run the same treeball fit again" in refused(capsys, ["info", str(model)])
    fit_folder((whole[0],), model, SETTINGS, quiet)
    assert run(["verify", str(model)]) == 0
    assert inserted(model, tmp_path, [("fresh", "n3")]) == 0
    (model / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match="knew what was added"):
        fit_folder((whole[0],), model, SETTINGS, quiet)


# ---- questions ----


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    """Two trees below an added root: r, a to d in a chain, and s."""
    home = tmp_path_factory.mktemp("forest")
    edges = [("a", "r"), ("b", "a"), ("c", "b"), ("d", "c"), ("x", "s"), ("y", "s"), ("z", "x")]
    model = home / "model"
    fit_folder((write(edges, home / "edges"),), model, ScaleSettings(workers=1, dim=3, branch_nodes=16), quiet)
    return edges, model


def answer(capsys, model, question, *nodes, source="hierarchy"):
    capsys.readouterr()
    assert run(["ask", str(model), question, *nodes, "--from", source, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_added_root_joins_nobody_and_roots_have_no_parent(forest, capsys):
    _, model = forest
    assert answer(capsys, model, "path", "d", "z")["path"] == []
    assert answer(capsys, model, "path", "d", "r")["path"] == ["d", "c", "b", "a", "r"]
    assert answer(capsys, model, "parent", "r", source="geometry")["parent"] == []
    assert answer(capsys, model, "subtree", "s") == {
        "node": "s", "depths": answer(capsys, model, "subtree", "s")["depths"], "subtree": ["s", "x", "z", "y"],
        "other_parents": {},
    }  # fmt: skip
    assert answer(capsys, model, "subtree", "s")["depths"] == [0, 1, 2, 1]


def test_who_hung_below_a_removed_node_hangs_below_the_next_above(forest, tmp_path, capsys):
    edges, original = forest
    model = shutil.copytree(original, tmp_path / "model")
    kept = [edge for edge in edges if "b" not in edge] + [("c", "a")]
    update_folder(ModelFolder(model), (write(kept, tmp_path / "next"),), MEMORY, limits=UpdateLimits().forced())
    assert answer(capsys, model, "parents", "c")["parents"] == ["a"]
    assert answer(capsys, model, "ancestors", "d")["ancestors"] == ["c", "a", "r"]
    assert answer(capsys, model, "children", "a")["children"] == ["c"]
    assert answer(capsys, model, "path", "d", "r")["path"] == ["d", "c", "a", "r"]
    assert answer(capsys, model, "subtree", "r")["subtree"] == ["r", "a", "c", "d"]
    assert run(["export", str(model), "-o", str(tmp_path / "all.parquet")]) == 0
    rows = {row["node"]: row["parent"] for row in pq.read_table(tmp_path / "all.parquet").to_pylist()}
    assert rows["c"] == "a"
    assert set(rows) == {"r", "a", "c", "d", "s", "x", "y", "z"}
    capsys.readouterr()
    assert run(["info", str(model)]) == 0
    assert "1 of all these nodes" in capsys.readouterr().out


def test_geometry_is_doubted_where_pairs_are_ill(tmp_path, capsys):
    pattern = write(random_edges(600, several=0.4), tmp_path / "edges")
    manifest = fit_folder((pattern,), tmp_path / "m", SETTINGS, quiet)
    assert manifest["scores"]["ill_pairs"]
    assert run(["ask", str(tmp_path / "m"), "parent", "n500"]) == 0
    assert "ill pairs among the nodes that were ranked" in capsys.readouterr().err


def test_rows_that_name_nobody_are_told(model, tmp_path, capsys):
    capsys.readouterr()
    assert inserted(model, tmp_path, [("z20", "n5"), ("", "n5"), ("z21", ""), ("z20", "n5")]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"added": 1, "without_place": 0, "rounds": 1, "rows_left_out": 2}
    assert "2 rows without a child or a parent left out" in said.err


def test_a_row_that_comes_twice_is_no_further_parent(model, tmp_path):
    pattern = write([*EDGES, ("new", "n5"), ("new", "n5"), ("new", "n6")], tmp_path / "next")
    assert update_folder(ModelFolder(model), (pattern,), MEMORY).changes.other_parents == 1


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of processes")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path, how):
    pattern = write(random_edges(6000), tmp_path / "edges")
    command = [sys.executable, "-m", "treeball", "fit", pattern, "-o", str(tmp_path / "m"), "--branch-nodes", "150"]
    process = subprocess.Popen([*command, "--workers", "2"], stderr=subprocess.PIPE, start_new_session=True, text=True)
    end = time.monotonic() + 120.0
    while not list((tmp_path / "m" / "shards").glob("*.parquet")):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.05)
    # As a terminal does, to all; they hold its stream for what went wrong until they end.
    os.killpg(process.pid, how) if how == signal.SIGINT else process.kill()
    said = process.communicate(timeout=30.0)[1]
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in said
