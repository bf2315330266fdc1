"""`--repairs` writes the repairs of whatever a command reads."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from treeball.cli.main import run

DIRTY = "child,parent\na,r\nb,r\na,r\nb,b\n"
HEADER = ["kind", "file", "line", "node", "done"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dirty.csv").write_text(DIRTY)
    Path("clean.csv").write_text("child,parent\na,r\nb,r\nc,a\n")


def rows(path="out.csv"):
    with open(path, newline="", encoding="utf-8") as file:
        header, *found = csv.reader(file)
    assert header == HEADER
    return found


@pytest.mark.parametrize(
    "command",
    [
        ["info", "dirty.csv"],
        ["fit", "dirty.csv", "-o", "m.parquet", "--method", "sarkar"],
        ["split", "dirty.csv", "-o", ".", "--leaves", "0.5"],
        ["align", "dirty.csv", "clean.csv", "-o", "pairs.csv"],
        ["compare", "clean.csv", "dirty.csv"],
        ["capacity", "dirty.csv", "--dim", "5"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_reads_a_hierarchy_lists_its_repairs(command):
    assert run([*command, "--repairs", "out.csv"]) == 0
    assert [row[:4] for row in rows()] == [
        ["self-loops", "dirty.csv", "5", "b"],
        ["duplicate edges", "dirty.csv", "4", "a"],
    ]


def test_insert_and_update_list_theirs(capsys):
    assert run(["fit", "clean.csv", "-o", "m.parquet", "--method", "sarkar"]) == 0
    Path("new.csv").write_text("child,parent\nd,a\nd,a\n")
    assert run(["insert", "m.parquet", "new.csv", "-o", "v2.parquet", "--repairs", "out.csv"]) == 0
    assert [row[:4] for row in rows()] == [["duplicate edges", "new.csv", "3", "d"]]
    Path("all.csv").write_text("child,parent\na,r\nb,r\nc,a\nc,a\n")
    assert run(["update", "m.parquet", "all.csv", "-o", "v3.parquet", "--repairs", "out.csv"]) == 0
    assert [row[:4] for row in rows()] == [["duplicate edges", "all.csv", "5", "c"]]


def test_a_refused_input_lists_all_its_faults(capsys):
    assert run(["info", "dirty.csv", "--strict", "--repairs", "out.csv"]) == 2
    first, *listed = capsys.readouterr().err.splitlines()
    assert first.startswith("treeball: dirty.csv has 2 faults (1 self-loop, 1 duplicate edge): correct them")
    assert listed == ["  dirty.csv, line 5: b is its own parent", "  dirty.csv, line 4: a -> r is repeated"]
    assert len(rows()) == 2


def test_a_clean_input_gives_a_list_without_rows():
    assert run(["info", "clean.csv", "--repairs", "out.csv"]) == 0
    assert rows() == []


def test_the_list_never_takes_the_place_of_the_input(capsys):
    assert run(["info", "dirty.csv", "--repairs", "dirty.csv"]) == 2
    assert "it is the input" in capsys.readouterr().err
    assert Path("dirty.csv").read_text() == DIRTY


def test_a_model_has_no_repairs_to_list(capsys):
    assert run(["fit", "clean.csv", "-o", "m.parquet", "--method", "sarkar"]) == 0
    for command in (["info", "m.parquet"], ["compare", "m.parquet", "m.parquet"], ["insert", "m.parquet"]):
        assert run([*command, "--repairs", "out.csv"]) == 2
        assert "--repairs" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("out.csv").exists()
