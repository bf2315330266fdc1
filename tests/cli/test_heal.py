"""treeball heal, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run

EDGES = [(f"n{i}", f"n{(i - 1) // 3}") for i in range(1, 40)]


@pytest.fixture
def healthy(tmp_path: Path) -> Path:
    return treeball.fit(EDGES, dim=5).save(tmp_path / "model.parquet")


@pytest.mark.parametrize("output", [[], ["-o", "out.parquet"], ["-o", "model.parquet"]])
def test_a_model_without_ill_nodes_is_not_written_again(
    healthy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, output: list[str]
) -> None:
    monkeypatch.chdir(healthy.parent)
    before = healthy.read_bytes()
    assert run(["heal", "model.parquet", *output]) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    target = output[1] if output else "model.healed.parquet"
    assert said == f"no node is ill, so there is nothing to heal: nothing was written to {target}"
    assert [path.name for path in healthy.parent.iterdir()] == ["model.parquet"]
    assert healthy.read_bytes() == before


def test_json_says_whether_a_file_was_written(healthy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["heal", str(healthy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is None
    model = treeball.load(healthy)
    vectors = model.vectors.copy()
    vectors[[5, 30]] = vectors[[30, 5]]
    sick = treeball.Embedding(vectors, model.hierarchy).save(healthy.with_name("sick.parquet"))
    assert run(["heal", str(sick), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["written"] == str(healthy.with_name("sick.healed.parquet"))
    assert treeball.load(record["written"]).evaluate().map == 1.0


def test_a_model_may_be_healed_in_place(healthy: Path) -> None:
    model = treeball.load(healthy)
    vectors = model.vectors.copy()
    vectors[[5, 30]] = vectors[[30, 5]]
    sick = treeball.Embedding(vectors, model.hierarchy).save(healthy.with_name("sick.parquet"))
    assert run(["heal", str(sick), "-o", str(sick)]) == 0
    assert treeball.load(sick).evaluate().map == 1.0
