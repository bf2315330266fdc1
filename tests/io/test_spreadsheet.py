"""Names that a spreadsheet would compute: written as text where one asks for it, and read back as they were."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import treeball
from tests.healthy import healthy
from treeball import Hierarchy, InputError
from treeball.cli.main import run
from treeball.io.spreadsheet import escaped, restored

FORMULAS = ["=cmd()", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "=1,2\n3"]
OTHERS = ["root", "-5", "'=quoted", "''=twice", "'plain'", "a=b", "+1.5e3"]
NAMES = [*OTHERS, *FORMULAS]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = len(NAMES)
    labels = [None if place % 3 else f"=label {place}" for place in range(count)]
    parents = [0] * 7 + [7] * (count - 8)
    hierarchy = Hierarchy.from_codes(NAMES, range(1, count), parents, labels=labels)
    embedding = healthy(hierarchy, "parents", "poincare")
    vectors = np.array(embedding.vectors)
    vectors[[8, 2]] = vectors[[2, 8]]  # so that something is ill
    treeball.Embedding(vectors, hierarchy).save("model.parquet")
    return NAMES


def cells(path: str) -> list[str]:
    separator = "\t" if path.endswith("tsv") else ","
    with open(path, newline="", encoding="utf-8") as file:
        return [cell for row in csv.reader(file, delimiter=separator) for cell in row]


def computed(path: str) -> list[str]:
    """Cells that a spreadsheet would compute: text that begins with the wrong character and is no number."""
    wrong = [cell for cell in cells(path) if cell[:1] in tuple("=+-@\t\r\n＝＋－＠")]
    return [cell for cell in wrong if not _is_number(cell)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("escape", [True, False])
def test_an_export_comes_back_with_the_names_it_had(model, ending, escape):
    output = f"vectors.{ending}"
    assert run(["export", "model.parquet", "-o", output, *(["--escape-formulas"] if escape else [])]) == 0
    assert bool(computed(output)) != escape
    assert run(["import", output, "-o", "back.parquet"]) == 0
    before, after = treeball.load("model.parquet"), treeball.load("back.parquet")
    assert list(after.names) == model
    assert list(after.labels) == list(before.labels)
    assert [after.hierarchy.parents_of(code).tolist() for code in range(len(model))] == [
        before.hierarchy.parents_of(code).tolist() for code in range(len(model))
    ]


def test_ill_pairs_and_alignments_can_be_opened_in_a_spreadsheet(model):
    assert run(["evaluate", "model.parquet", "--ill-pairs", "ill.csv"]) == 0
    assert computed("ill.csv")
    assert run(["evaluate", "model.parquet", "--ill-pairs", "ill.csv", "--escape-formulas"]) == 0
    assert not computed("ill.csv")
    assert "'=cmd()" in cells("ill.csv")
    for output in ("same.csv", "same.tsv"):
        options = ["--candidates", "2", "-o", output, "--escape-formulas"]
        assert run(["align", "model.parquet", "model.parquet", *options]) == 0
        assert not computed(output)


def test_pairs_that_were_escaped_are_found_as_anchors(model, capsys):
    Path("anchors.csv").write_text("node_a,node_b\n'=cmd(),'@SUM(A1)\n''=quoted,-5\n", "utf-8")
    arguments = ["align", "model.parquet", "model.parquet", "--anchors", "anchors.csv", "--json"]
    assert run(arguments) == 0
    answers = {record["node_a"]: record["node_b"] for record in map(json.loads, capsys.readouterr().out.splitlines())}
    assert answers["=cmd()"] == "@SUM(A1)"
    assert answers["'=quoted"] == "-5"


def test_the_option_is_refused_where_it_has_no_meaning(model, capsys):
    for arguments, words in (
        (["export", "model.parquet", "-o", "out.npy", "--escape-formulas"], "csv and tsv alone"),
        (["evaluate", "model.parquet", "--escape-formulas"], "goes with --ill-pairs"),
        (["align", "model.parquet", "model.parquet", "-o", "out.json", "--escape-formulas"], ".csv and .tsv alone"),
        (["align", "model.parquet", "model.parquet", "--escape-formulas"], "goes with --output"),
    ):
        assert run(arguments) == 2
        assert words in capsys.readouterr().err
    assert not Path("out.npy").exists()
    with pytest.raises(InputError, match="csv and tsv alone"):
        treeball.load("model.parquet").export("out.parquet", escape_formulas=True)


@pytest.mark.parametrize("text", NAMES)
@pytest.mark.parametrize("formulas", [True, False])
def test_what_is_escaped_is_restored(text, formulas):
    cell = escaped(text, formulas)
    assert restored(cell) == text
    assert (cell != text) == ((text in FORMULAS and formulas) or text.startswith(("'=", "''=")))
