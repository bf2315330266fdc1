"""treeball update, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run

FIRST = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,1,Garden\n4,2,Pans\n5,2,Pots\n6,4,Iron pans\n"
SECOND = "id,parent_id,name\n1,,Home\n2,1,Kitchens\n3,1,Garden\n4,3,Pans\n7,2,Woks\n6,4,Iron pans\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.csv").write_text(FIRST)
    (tmp_path / "second.csv").write_text(SECOND)
    treeball.fit(tmp_path / "first.csv", dim=5).save(tmp_path / "model.parquet")
    return tmp_path


def test_a_dry_run_says_what_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(["update", str(folder / "model.parquet"), str(folder / "second.csv"), "--dry-run"]) == 0
    said = capsys.readouterr()
    for line in ("new             1 (Woks [7])", "removed         1 (Pots [5])", "hung elsewhere  1 (Pans [4])"):
        assert line in said.out
    assert "other label     1 (2: Kitchen -> Kitchens)" in said.out
    assert "nothing was written" in said.err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_new_model_has_the_new_version(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["update", str(folder / "model.parquet"), str(folder / "second.csv"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["changes"]["moved"] == ["4"]
    assert facts["placed"] == facts["parent_nearest"] == 3
    made, old = treeball.load(folder / "model.updated.parquet"), treeball.load(folder / "model.parquet")
    assert made.hierarchy.names.labels_by_name(["2"]) == {"2": "Kitchens"}
    for name in ("1", "2", "3"):
        assert (made.vectors[made.names.index_of(name)] == old.vectors[old.names.index_of(name)]).all()


def test_what_cannot_be_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "part.csv").write_text("id,parent_id,name\n1,,Home\n2,1,Kitchen\n")
    assert run(["update", str(folder / "model.parquet"), str(folder / "part.csv")]) == 2
    assert "only 2 of the 6 nodes" in capsys.readouterr().err
    (folder / "root.csv").write_text(SECOND.replace("1,,Home", "1,0,Home\n0,,All"))
    assert run(["update", str(folder / "model.parquet"), str(folder / "root.csv")]) == 2
    assert "fit the new version" in capsys.readouterr().err
    assert not (folder / "model.updated.parquet").exists()
