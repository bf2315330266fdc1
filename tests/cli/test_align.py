"""treeball align, from end to end."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from treeball.cli.main import run

A = "child,parent\nLaptops,Computers\nLaptop Bags,Laptops\nMice,Computers\nTrackballs,Mice\nHinges,Laptops\n"
B = "id,parent_id,name\n1,,Computer\n2,1,Laptop\n3,2,Bags\n4,1,Mouse & Keyboard\n5,1,Tablets\n"


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(A, "utf-8")
    Path("b.csv").write_text(B, "utf-8")


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return {row["node_a"]: row for row in csv.DictReader(file)}


def test_a_table_is_written_and_told_of(capsys):
    assert run(["align", "a.csv", "b.csv", "-o", "found.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "6 nodes: 3 matched (50.0%); 3 abstained (confidence below 0.8)" in captured.err
    assert "wrote found.csv" in captured.err
    rows = rows_of("found.csv")
    assert (rows["Laptops"]["node_b"], rows["Laptops"]["label_b"]) == ("2", "Laptop")
    assert rows["Laptop Bags"]["node_b"] == "3"
    assert (rows["Mice"]["node_b"], rows["Mice"]["why"]) == ("", "no name is alike")


def test_anchors_broader_and_candidates(capsys):
    Path("anchors.tsv").write_text("Mice\tMouse & Keyboard\n", "utf-8")
    options = ["--anchors", "anchors.tsv", "--broader", "--candidates", "1", "--confidence", "0.6"]
    assert run(["align", "a.csv", "b.csv", "-o", "found.csv", *options]) == 0
    rows = rows_of("found.csv")
    assert (rows["Mice"]["node_b"], rows["Mice"]["why"], rows["Mice"]["confidence"]) == ("4", "given", "1")
    assert (rows["Trackballs"]["node_b"], rows["Trackballs"]["kind"]) == ("4", "broader")
    assert "1 of them given" in capsys.readouterr().err


def test_without_an_output_it_is_printed(capsys):
    assert run(["align", "a.csv", "b.csv", "--broader", "--candidates", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["node", "counterpart", "confidence", "why", "candidates"]
    (laptops,) = (line for line in lines if line.startswith("Laptops "))
    assert "Laptop [2]" in laptops
    assert "same name, similar children" in laptops
    (hinges,) = (line for line in lines if line.startswith("Hinges "))
    assert "below Laptop [2]" in hinges
    (mice,) = (line for line in lines if line.startswith("Mice "))
    assert "below" not in mice  # that it hangs from the root tells nothing


def test_json_has_a_line_for_each_node(capsys):
    assert run(["align", "a.csv", "b.csv", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["node_a"] for row in rows if row["node_b"] == "2"] == ["Laptops"]
    assert {row["kind"] for row in rows} == {"same", None}
    assert "candidates" not in rows[0]


def test_a_model_and_standard_input(monkeypatch, capsys):
    assert run(["fit", "b.csv", "-o", "b.parquet", "--dim", "2"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(A.encode())))
    assert run(["align", "-", "b.parquet", "-o", "found.csv"]) == 0
    assert rows_of("found.csv")["Laptops"]["node_b"] == "2"
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.csv", "b.csv", "--confidence", "0.3"], "confidence must be a number from 0.5 to 1, not 0.3"),
        (["a.csv", "b.csv", "--candidates", "-1"], "candidates must be a whole number of at least 0"),
        (["a.csv", "b.csv", "-o", "found.txt"], "'found.txt' does not end in one of .csv, .tsv, .json, .parquet"),
        (["a.csv", "b.csv", "-o", "a.csv"], "it is the input"),
        (["a.csv", "b.csv", "--anchors", "no.tsv"], "there is no file 'no.tsv' with anchors"),
        (["a.csv", "none.csv"], "none.csv"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(arguments, said, capsys):
    assert run(["align", *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1
    assert Path("a.csv").read_text("utf-8") == A
    assert not Path("found.csv").exists()
