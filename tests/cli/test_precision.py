"""``--precision`` on the command line."""

from __future__ import annotations

import json

import pytest

import treeball
from treeball.cli.main import run


def test_mammals_in_the_plane_with_two_terms(tmp_path, capsys):
    model = tmp_path / "mammals.parquet"
    assert run(["fit", "example:mammals", "--dim", "2", "--precision", "2", "-o", str(model)]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(model), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["map"], sum(scores["illness"].values())) == (1.0, 0)
    assert scores["max_radius"] > 40
    assert run(["info", str(model)]) == 0
    assert "2 terms a coordinate" in capsys.readouterr().out
    assert run(["neighbors", str(model), "dog.n.01", "-k", "1"]) == 0
    assert "canine.n.02" in capsys.readouterr().out
    assert run(["export", str(model), "-o", str(tmp_path / "v.csv")]) == 0
    assert "rounded to float64" in capsys.readouterr().err
    assert run(["view", str(model), "-o", str(tmp_path / "v.html")]) == 0
    assert treeball.load(model).precision == 2


@pytest.mark.parametrize(
    "wrong", [["--precision", "3"], ["--precision", "2", "--method", "poincare"], ["--precision", "2", "--heal"]]
)
def test_what_makes_no_sense_is_refused(tmp_path, capsys, wrong):
    assert run(["fit", "example:mammals", *wrong, "-o", str(tmp_path / "m.parquet")]) == 2
    assert "precision" in capsys.readouterr().err.lower()
