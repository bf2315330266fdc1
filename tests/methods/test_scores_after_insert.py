"""Scores stay known after insert: computed anew, or kept where nothing changed that they cover, and told as what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run
from treeball.evaluation import Certificate

EDGES = [(f"leaf {i}", f"inner {i % 4}") for i in range(20)] + [(f"inner {i}", "root") for i in range(4)]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = treeball.fit(EDGES, dim=5)
    assert Certificate.of_scores(made.provenance.scores) is not None
    return made


@pytest.mark.parametrize(
    "change",
    [
        {"edges": [("new", "inner 1"), ("newer", "new")]},
        {"remove": ["leaf 1"]},
        {"reparent": {"leaf 2": "inner 3"}},
        {"rename": {"leaf 2": "leaf two"}},
    ],
)
def test_a_certified_model_stays_one(model, change):
    made = model.insert(**change).embedding
    again = treeball.load(made.save("m.parquet"))
    fresh = treeball.Embedding(made.vectors, made.hierarchy, made.geometry)
    assert again.provenance.scores == fresh.evaluate().to_dict()  # the scores of what there is now
    assert Certificate.of_scores(again.provenance.scores) is not None


def test_scores_of_a_sick_model_are_known_too():
    sick = treeball.fit(EDGES, method="poincare", dim=2, epochs=2, seed=1, deterministic=True)
    made = sick.insert([("new", "inner 1")]).embedding
    assert made.provenance.scores == treeball.evaluate(made).to_dict()
    assert made.provenance.scores["map"] < 1


def test_other_names_are_no_reason_to_rank_again(model, monkeypatch):
    loaded = treeball.load(model.save("m.parquet"))
    monkeypatch.setattr("treeball.evaluation._evaluate.rank", None)
    made = loaded.insert(rename={"leaf 2": "leaf two"})
    assert made.embedding.provenance.scores == model.provenance.scores
    assert made.embedding.provenance.log[-1].text == "renamed nodes"
    assert made.embedding.parents_of("leaf two") == ["inner 2"]  # by the reaches that were known
    assert made.embedding.vectors.tobytes() == model.vectors.tobytes()


def test_where_only_a_sample_can_be_ranked_the_record_says_what_was_known(model, monkeypatch):
    monkeypatch.setattr("treeball.evaluation.ranking.EXACT_UP_TO_NODES", 10)
    monkeypatch.setattr("treeball.evaluation.ranking.EXACT_SECONDS", 0.0)
    monkeypatch.setattr("treeball.evaluation.ranking.DEFAULT_SAMPLE", 7)
    loaded = treeball.load(model.save("m.parquet"))
    made = loaded.insert([("new", "inner 1")]).embedding
    assert made.provenance.scores["sampled"]["nodes"] == 7
    assert "certificate" not in made.provenance.scores  # which a sample cannot give
    entry = treeball.load(made.save("n.parquet")).provenance.log[-1]
    assert entry.facts["scores_before"] == model.provenance.scores
    assert entry.text.endswith(
        "its scores are those of 7 sampled nodes, and before it all 25 nodes had MAP 1.0000 and 0 ill pairs"
    )
    assert "scores_before" not in made.insert([("newer", "new")]).embedding.provenance.log[-1].facts


def test_the_commands_tell_them(model, capsys):
    model.save("m.parquet")
    Path("new.csv").write_text("child,parent\nnew,inner 1\n")
    assert run(["insert", "m.parquet", "new.csv", "-o", "n.parquet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["ill", "pairs", "0"] for line in lines)
    assert lines[-1].startswith("every parent is the nearest node: verified exactly over 625 pairs")
    assert run(["insert", "m.parquet", "new.csv", "-o", "n.parquet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == treeball.load("n.parquet").evaluate().to_dict()
    assert run(["info", "n.parquet"]) == 0
    told = capsys.readouterr().out
    assert "MAP 1.0000, mean rank 1.000" in told
    assert "every parent is the nearest node" in told


def test_the_service_tells_them(model, tmp_path):
    pytest.importorskip("pydantic")
    from tests.service.test_serve import application, ask

    made = model.insert([("new", "inner 1")]).embedding
    folder = tmp_path / "mapped"
    folder.mkdir()
    assert ask(application(made, folder), "/info")[1]["scores"] == made.provenance.scores
