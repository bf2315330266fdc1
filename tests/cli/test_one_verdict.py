"""Commands that say whether a model is well say the same, and say it no earlier than they know it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import treeball
from treeball.cli.main import run

STAR = [*((f"leaf {i}", "top") for i in range(60)), *((f"twig {i}", f"leaf {i}") for i in range(20))]


def said_by(command: str, model: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What a command writes to standard output."""
    assert run([command, str(model), *options]) == 0
    return capsys.readouterr().out


def verdict_of_info(model: Path, capsys: pytest.CaptureFixture[str]) -> str:
    lines = said_by("info", model, capsys).splitlines()
    return next(line.removeprefix("local capacity").strip() for line in lines if line.startswith("local capacity"))


def test_info_diagnose_and_evaluate_agree_that_a_perfect_model_lacks_no_capacity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = treeball.fit(STAR, dim=10).save(tmp_path / "model.parquet")
    verdict = verdict_of_info(model, capsys)
    assert verdict.startswith("no node lacks capacity, as no pair is capacity-ill; ")
    assert " inner nodes have more children than the lower bound, which is no fault" in verdict
    assert not verdict.split("; ")[1].startswith("0 of ")
    assert verdict in said_by("diagnose", model, capsys)
    assert json.loads(said_by("diagnose", model, capsys, "--json"))["capacity"]["verdict"] == verdict
    assert json.loads(said_by("evaluate", model, capsys, "--json"))["illness"]["capacity"] == 0


def test_they_agree_on_a_model_whose_nodes_lack_capacity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = treeball.fit(STAR, dim=2)
    vectors = np.array(made.vectors) * 0.3
    crowded = treeball.Embedding(vectors, made.hierarchy, made.geometry)
    scores = crowded.evaluate()
    model = crowded.with_provenance(crowded.provenance.with_scores(scores)).save(tmp_path / "model.parquet")
    ill = scores.illness.counts()["capacity"]
    assert ill > 1
    verdict = verdict_of_info(model, capsys)
    assert verdict.startswith(f"{ill:,} pairs are capacity-ill; ")
    assert verdict in said_by("diagnose", model, capsys)
    assert json.loads(said_by("evaluate", model, capsys, "--json"))["illness"]["capacity"] == ill


def test_without_scores_info_leaves_the_verdict_to_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = treeball.fit(STAR, dim=10)
    model = treeball.Embedding(made.vectors, made.hierarchy, made.geometry).save(tmp_path / "model.parquet")
    verdict = verdict_of_info(model, capsys)
    assert "lower bound; whether one of them lacks capacity tells  treeball evaluate" in verdict
    assert "no node" not in verdict


def test_the_construction_of_a_dag_does_not_say_that_no_node_is_ill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = [(f"n{i}", f"n{(i - 1) // 3}") for i in range(1, 60)]
    edges += [(f"n{i}", f"n{(i + 11) // 3}") for i in range(25, 45)]
    (tmp_path / "dag.csv").write_text("child,parent\n" + "".join(f"{a},{b}\n" for a, b in edges))
    output = tmp_path / "model.parquet"
    options = ["--method", "construct", "--dim", "3", "--no-heal"]
    assert run(["fit", str(tmp_path / "dag.csv"), "-o", str(output), *options]) == 0
    said = capsys.readouterr()
    note = next(line for line in (said.err + said.out).splitlines() if "constructed with edges" in line)
    assert "ill" not in note.split("nodes looked at")[0]
    assert "20 further parents, so these pairs may be ill" in note
    assert "verified" not in said.err + said.out


def test_the_construction_of_a_tree_still_says_that_none_is_ill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree.csv").write_text("child,parent\n" + "".join(f"n{i},n{(i - 1) // 3}\n" for i in range(1, 60)))
    output = str(tmp_path / "model.parquet")
    assert run(["fit", str(tmp_path / "tree.csv"), "-o", output, "--method", "construct", "--dim", "5"]) == 0
    said = capsys.readouterr()
    assert "none of 59 nodes looked at ill" in said.err + said.out
