"""Folders of DAGs by auto: never below construct or softmax, the same for all workers, and it goes on where it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

import treeball
from tests.scale.hierarchies import random_edges, write
from treeball.cli.main import run
from treeball.errors import NumericalError
from treeball.methods.auto import softmax_for
from treeball.scale import choice, trained_branch
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.settings import ScaleSettings

EPOCHS = 200


def quiet(_):
    pass


def settings_of(method, **more):
    return ScaleSettings(**{"method": method, "dim": 8, "branch_nodes": 256, "workers": 1} | more)


@pytest.fixture(scope="module", autouse=True)
def _few_epochs():
    """So small a hierarchy would be trained for thousands; it is the driver that says how many."""
    with pytest.MonkeyPatch.context() as patch:
        few = "treeball.scale.trained_branch.softmax_for"
        patch.setattr(few, lambda nodes, given: softmax_for(nodes, {"epochs": EPOCHS} | given))
        yield


@pytest.fixture(scope="module", params=[0.25, 0.01], ids=["many with several parents", "few"])
def folders(request, tmp_path_factory):
    """By each method, and the edges they are of."""
    home = tmp_path_factory.mktemp("choice")
    pattern = write(random_edges(900, several=request.param), home / "edges")
    return {
        method: fit_folder((pattern,), home / method, settings_of(method), quiet) | {"home": home}
        for method in ("construct", "softmax", "auto")
    }


def test_auto_is_never_below_construct_and_says_what_it_compared(folders):
    home = folders["auto"]["home"]
    found = {name: evaluate_folder(ModelFolder(home / name), sample=0) for name in folders}
    # The sample is all nodes of so few, so that the choice cannot err.
    assert found["auto"].map >= found["construct"].map
    chosen = json.loads((home / "auto" / "work" / "choice.json").read_text())
    assert chosen["method"] == folders["auto"]["method"]
    assert chosen["compared"]["construct"]["map"] == pytest.approx(found["construct"].map)
    if chosen["method"] == "softmax":
        assert chosen["compared"]["softmax"]["map"] == pytest.approx(found["auto"].map)
        assert found["auto"].map > found["construct"].map


def test_many_with_several_parents_are_trained_and_better(folders, request):
    if "many" not in request.node.callspec.id:
        pytest.skip("of the other hierarchy")
    home = folders["auto"]["home"]
    assert folders["auto"]["method"] == "softmax"
    trained, built = (evaluate_folder(ModelFolder(home / name), sample=0) for name in ("auto", "construct"))
    assert trained.map > built.map + 0.02
    assert trained.mean_rank < built.mean_rank
    # No branch of the construction is left, and all answer from those that were trained.
    assert {path.name.split("-")[0] for path in (home / "auto" / "shards").iterdir()} == {"trained"}
    assert run(["verify", str(home / "auto")]) == 0


def test_the_bytes_do_not_depend_on_the_workers(folders, tmp_path):
    home = folders["auto"]["home"]
    other = fit_folder((f"{home}/edges/*.parquet",), tmp_path / "two", settings_of("auto", workers=2), quiet)
    assert [one["sha256"] for one in other["shards"]] == [one["sha256"] for one in folders["auto"]["shards"]]


def test_a_run_that_was_stopped_goes_on_by_the_method_that_was_chosen(folders):
    home = folders["auto"]["home"]
    shards = sorted((home / "auto" / "shards").iterdir())
    before = {path: path.read_bytes() for path in shards}
    shards[1].unlink()
    told: list[str] = []
    manifest = fit_folder((f"{home}/edges/*.parquet",), home / "auto", settings_of("auto"), told.append)
    assert manifest["method"] == folders["auto"]["method"]
    assert {path: path.read_bytes() for path in shards} == before
    assert not any("to see if that is better" in line for line in told)


def test_what_is_too_large_to_be_trained_unasked_is_constructed(tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "TRAINED_UP_TO_NODES", 100)
    pattern = write(random_edges(600, several=0.25), tmp_path / "edges")
    told: list[str] = []
    manifest = fit_folder((pattern,), tmp_path / "m", settings_of("auto"), told.append)
    assert manifest["method"] == "construct"
    assert any("--method softmax would train for long" in line for line in told)


def test_one_branch_of_a_dag_is_as_good_as_a_model_file(tmp_path):
    edges = random_edges(300, several=0.2)
    pattern = write(edges, tmp_path / "edges")
    manifest = fit_folder((pattern,), tmp_path / "m", settings_of("auto", branch_nodes=1000), quiet)
    assert len(manifest["shards"]) == 1
    single = treeball.fit(treeball.read(edges), dim=8, seed=0).evaluate().to_dict()
    ours = evaluate_folder(ModelFolder(tmp_path / "m"), sample=0)
    assert ours.map > single["map"] - 0.002


@pytest.mark.parametrize("fails", ["train_together", "train_below", "some of train_below"])
def test_a_training_that_stops_giving_numbers_leaves_the_construction(tmp_path, monkeypatch, fails):
    train, calls = getattr(trained_branch, fails.split()[-1]), []

    def no_numbers(*given):
        calls.append(given)
        if fails.startswith("some") and len(calls) <= choice._TRIED:
            return train(*given)
        raise NumericalError("training left the range of float64")

    monkeypatch.setattr(trained_branch, fails.split()[-1], no_numbers)
    pattern = write(random_edges(900, several=0.25), tmp_path / "edges")
    told: list[str] = []
    found = fit_folder((pattern,), tmp_path / "auto", settings_of("auto"), told.append)
    assert calls
    assert found["method"] == "construct"
    assert any("softmax training was given up: the training of" in text for text in told)
    built = fit_folder((pattern,), tmp_path / "construct", settings_of("construct"), quiet)
    assert [one["sha256"] for one in found["shards"]] == [one["sha256"] for one in built["shards"]]
    assert not list((tmp_path / "auto" / "shards").glob("trained-*"))
    # The same fit again is done already, and one that asks for the training says why it fails.
    fit_folder((pattern,), tmp_path / "auto", settings_of("auto"), told.append)
    assert "done already" in told[-1]
    with pytest.raises(NumericalError, match="stopped giving numbers"):
        fit_folder((pattern,), tmp_path / "softmax", settings_of("softmax"), quiet)


def test_such_a_folder_refuses_new_leaves_in_a_sentence(folders, tmp_path, capsys):
    home = folders["softmax"]["home"]
    new = tmp_path / "new.csv"
    new.write_text("child,parent\nfresh,n3\n")
    assert run(["insert", str(home / "softmax"), str(new)]) == 2
    assert "that was trained" in capsys.readouterr().err
    assert run(["evaluate", str(home / "softmax"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["objective"] == "parents"
    assert np.isfinite(found["mean_rank"])
