"""The benchmark of random configurations, small: numbers, our own errors, and the scores of the definition."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import configurations


def test_no_configuration_ends_in_anything_but_scores_or_a_sentence(capsys):
    assert configurations.main(["--first", "0", "--count", "40"]) == 0, capsys.readouterr().out
    told = capsys.readouterr().out
    assert "40 tried" in told
    assert "0 failed" in told


@pytest.mark.parametrize(
    ("fault", "said"), [(np.linalg.LinAlgError("singular"), "singular"), (None, "vectors that are not finite")]
)
def test_a_failure_is_counted_and_its_number_told(monkeypatch, capsys, fault, said):
    def fault_of(number: int) -> str | None:
        if fault is not None:
            raise fault
        return "vectors that are not finite" if number == 8 else None

    monkeypatch.setattr(configurations, "fault_of", fault_of)
    assert configurations.main(["--first", "8", "--count", "1"]) == 1
    told = capsys.readouterr().out
    assert "configuration 8 failed" in told
    assert said in told
