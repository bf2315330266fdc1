"""docs/repairs.md lists every kind of repair that the code can record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from treeball.hierarchy.repairs import RepairKind

PAGE = Path(__file__).parents[2] / "docs" / "repairs.md"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
HEADINGS = {"fault": "Faults", "repair": "Repairs that `--strict` accepts", "decision": "Decisions"}


def rows_below(heading: str) -> dict[str, str]:
    """Kind -> what is done, of the table below a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return {kind: done for kind, done, _, _ in ROW.findall(section) if kind != "kind"}


@pytest.mark.parametrize("level", HEADINGS)
def test_the_page_lists_each_kind_below_its_level(level: str) -> None:
    declared = {kind.plural: kind.done for kind in RepairKind if kind.level == level}
    assert rows_below(HEADINGS[level]) == declared


def test_the_page_is_in_the_navigation() -> None:
    assert "repairs.md" in (PAGE.parents[1] / "mkdocs.yml").read_text(encoding="utf-8")
