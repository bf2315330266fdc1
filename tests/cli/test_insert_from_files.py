"""treeball insert with files of nodes to remove, rename and hang elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run


@pytest.fixture
def model(tmp_path: Path) -> Path:
    edges = [("dog", "mammal"), ("cat", "mammal"), ("@home", "mammal"), ("owl", "bird"), ("hen", "bird")]
    treeball.fit([*edges, ("mammal", "animal"), ("bird", "animal")], dim=5).save(tmp_path / "model.parquet")
    return tmp_path / "model.parquet"


def test_lines_of_files_stand_for_options(model: Path, tmp_path: Path) -> None:
    (tmp_path / "gone.txt").write_text("dog\n\nhen\n")
    (tmp_path / "names.txt").write_bytes("\ufeffcat=kitten\n".encode())
    (tmp_path / "moved.txt").write_text("owl=animal\n")
    options = [f"--{what}=@{tmp_path / file}" for what, file in
               (("remove", "gone.txt"), ("rename", "names.txt"), ("reparent", "moved.txt"))]  # fmt: skip
    assert run(["insert", str(model), *options, "-o", str(tmp_path / "v2.parquet")]) == 0
    made = treeball.load(tmp_path / "v2.parquet")
    assert set(made.names) == {"kitten", "@home", "owl", "mammal", "bird", "animal"}
    assert made.parent_of("owl", "hierarchy") == "animal"


def test_a_node_may_begin_like_a_file_and_what_is_no_text_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["insert", str(model), "--remove", "@home", "-o", str(tmp_path / "v2.parquet")]) == 0
    assert "@home" not in treeball.load(tmp_path / "v2.parquet").names
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00d")
    assert run(["insert", str(model), "--remove", f"@{tmp_path / 'bad.txt'}"]) == 2
    assert "is not text in UTF-8" in capsys.readouterr().err


def test_parents_in_the_model_need_no_rows_of_their_own(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.csv"
    new.write_text("id,parent_id,name\nbat,mammal,Bat\nemu,bird,Emu\nchick,emu,Emu chick\n")
    assert run(["insert", str(model), str(new), "--strict", "-o", str(tmp_path / "v2.parquet")]) == 0
    assert "0 repairs" in capsys.readouterr().err
    assert treeball.load(tmp_path / "v2.parquet").parent_of("chick", "hierarchy") == "emu"
    new.write_text("id,parent_id,name\nbat,nobody,Bat\n")
    assert run(["insert", str(model), str(new), "-o", str(tmp_path / "v3.parquet")]) == 2
    assert "the parent 'nobody' of 'bat' is neither in the model nor a new node" in capsys.readouterr().err
    new.write_text("id,parent_id,name\nbat,mammal,Bat\nbat,mammal,Bat\n")
    assert run(["insert", str(model), str(new), "--strict", "-o", str(tmp_path / "v3.parquet")]) == 2
    assert "line 3: Bat [bat] -> mammal is repeated" in capsys.readouterr().err


def test_each_remark_about_the_new_edges_is_a_line_of_its_own(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line break within a remark would be written out as a backslash and an n."""
    new = tmp_path / "new.csv"
    new.write_text("id,parent_id,name,price\nbat,mammal,Bat,3\nemu,bird,Emu,4\n")
    assert run(["insert", str(model), str(new), "-o", str(tmp_path / "v2.parquet")]) == 0
    said = capsys.readouterr()
    assert "\\n" not in said.out + said.err
    assert "column not used: price" in said.err.splitlines() or "price" in said.err.splitlines()[1]


@pytest.mark.parametrize("option", ["--remove", "--rename", "--reparent"])
def test_a_file_that_is_not_there_is_named(model: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run(["insert", str(model), option, "@nofile.txt"]) == 2
    assert "there is no file 'nofile.txt'" in capsys.readouterr().err


def test_what_begins_like_a_file_may_be_renamed_and_moved(model: Path, tmp_path: Path) -> None:
    options = ["--rename", "@home=pet", "--reparent", "@home=bird"]
    assert run(["insert", str(model), options[0], options[1], "-o", str(tmp_path / "v2.parquet")]) == 0
    assert "pet" in treeball.load(tmp_path / "v2.parquet").names
    assert run(["insert", str(model), options[2], options[3], "-o", str(tmp_path / "v3.parquet")]) == 0
    assert treeball.load(tmp_path / "v3.parquet").parent_of("@home", "hierarchy") == "bird"


def test_a_new_node_without_a_parent_is_not_left_out(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, made = tmp_path / "new.csv", tmp_path / "v2.parquet"
    for above in ("", "0"):
        new.write_text(f"id,parent_id,name\nanimal,,Animal\nbat,mammal,Bat\nelm,{above},Elm\n")
        assert run(["insert", str(model), str(new), "-o", str(made)]) == 2
        assert "'Elm [elm]' is not in the model and has no parent" in capsys.readouterr().err
    new.write_text("id,parent_id,name\nanimal,,Animal\nbat,mammal,Bat\nowl,,Owl\n")  # old nodes need none
    assert run(["insert", str(model), str(new), "-o", str(made)]) == 0
