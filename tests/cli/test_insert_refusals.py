"""What treeball insert refuses rather than guesses."""

from __future__ import annotations

from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run

TERMS = [("1", "body", None), ("2", "heart", "1"), ("3", "biceps", "1"), ("4", "pump", "1"), ("5", "valve", "2")]


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "format-version: 1.2\n"
    for id, name, above in TERMS:
        text += f"\n[Term]\nid: A:{id}\nname: {name}\n" + (f"is_a: A:{above}\n" if above else "")
        text += 'alt_id: A:22\nsynonym: "Herz" EXACT []\n' if name == "heart" else ""
    Path("body.obo").write_text(text)
    treeball.fit("body.obo", dim=5).save("model.parquet")


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The last line of what is said; nothing else is, and nothing is written."""
    assert run(["insert", "model.parquet", *options, "-o", "v2.parquet"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert not Path("v2.parquet").exists()
    assert len(said.err.splitlines()) == 1
    return said.err


@pytest.mark.parametrize("synonym", ["Herz", "A:22"])
def test_a_synonym_is_not_renamed(capsys: pytest.CaptureFixture[str], synonym: str) -> None:
    said = refused(capsys, "--rename", f"{synonym}=Cardia")
    assert f"'{synonym}' is a synonym of 'heart [A:2]'" in said
    assert run(["insert", "model.parquet", "--rename", "heart=Cardia", "-o", "v2.parquet"]) == 0
    names = treeball.load("v2.parquet").names
    assert names.shown(names.find("Herz")) == "Cardia [A:2]"


def test_a_node_gets_one_new_parent_and_one_new_name(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "--reparent", "biceps=pump", "--reparent", "A:3=heart")
    assert "--reparent gives 'biceps [A:3]' two new parents, 'pump [A:4]' and 'heart [A:2]'" in said
    said = refused(capsys, "--rename", "biceps=arm", "--rename", "biceps=muscle")
    assert "--rename gives 'biceps' two new names, 'arm' and 'muscle'" in said
    twice = ["--reparent", "biceps=pump", "--reparent", "A:3=A:4"]
    assert run(["insert", "model.parquet", *twice, "-o", "v2.parquet"]) == 0


@pytest.mark.parametrize("old", ["A:5", "valve"])
def test_a_node_near_to_others_is_new(capsys: pytest.CaptureFixture[str], old: str) -> None:
    said = refused(capsys, "--near", "heart,pump", "--name", old)
    assert f"--name '{old}' is in the model already, as 'valve [A:5]'" in said
    near = ["--near", "heart,pump", "--name", old, "--remove", "valve"]
    assert run(["insert", "model.parquet", *near, "-o", "v2.parquet"]) == 0
    assert len(treeball.load("v2.parquet")) == len(TERMS)
