"""treeball evaluate as a test in a pipeline: exit codes by what is required."""

from __future__ import annotations

from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run


def test_scores_that_are_required_decide_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = str(tmp_path / "good.parquet"), str(tmp_path / "bad.parquet")
    tree = [(str(i), str((i - 1) // 3)) for i in range(1, 60)]
    treeball.fit(tree, dim=5).save(good)
    treeball.fit(tree, method="poincare", dim=2, epochs=3).save(bad)
    assert run(["evaluate", good, "--require-map", "1", "--require-ill", "0"]) == 0
    capsys.readouterr()
    assert run(["evaluate", bad, "--require-map", "1", "--require-ill", "0", "--json"]) == 1
    said = capsys.readouterr()
    assert "below the 1 that --require-map asks for" in said.err
    assert "more than the 0 that --require-ill allows" in said.err
    assert said.out.startswith("{")
    assert run(["evaluate", bad, "--require-map", "0"]) == 0
    assert run(["evaluate", bad, "--require-map", "1.5"]) == 2
    assert run(["evaluate", bad, "--require-ill", "-1"]) == 2
