"""Several files that belong together, for the commands that read a hierarchy."""

from __future__ import annotations

from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run

CATEGORIES = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,1,Garden\n"
PRODUCTS = "sku,category_id,name\np1,2,Pan\np2,3,Rake\n"


@pytest.fixture(autouse=True)
def _in_a_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cats.csv").write_text(CATEGORIES)
    Path("prods.csv").write_text(PRODUCTS)
    treeball.fit([Path("cats.csv"), Path("prods.csv")], dim=5).save("model.parquet")


def test_info_takes_several_files_but_one_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "cats.csv", "prods.csv"]) == 0
    assert "5 (3 inner, 2 leaves)" in capsys.readouterr().out
    assert run(["info", "cats.csv", "model.parquet"]) == 2
    assert "'model.parquet' is a model: describe it alone" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["update", "insert"])
def test_update_and_insert_take_several_files(command: str) -> None:
    Path("cats.csv").write_text(CATEGORIES + "4,1,Office\n")
    Path("prods.csv").write_text(PRODUCTS + "p3,4,Pen\n")
    assert run([command, "model.parquet", "cats.csv", "prods.csv", "-o", "v2.parquet"]) == 0
    made = treeball.load("v2.parquet")
    assert len(made) == 7
    assert made.parent_of("p3", "hierarchy") == "4"


@pytest.mark.parametrize("command", ["update", "insert"])
def test_no_file_that_is_read_is_written(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "model.parquet", "cats.csv", "prods.csv", "-o", "prods.csv"]) == 2
    assert "it is the input" in capsys.readouterr().err
