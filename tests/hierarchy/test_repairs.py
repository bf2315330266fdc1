"""Repairs are a sequence whose rows are made when they are read."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas
import pyarrow as pa
import pytest

from treeball.hierarchy.read_report import ReadReport
from treeball.hierarchy.repairs import Repair, RepairGroup, RepairKind, Repairs

NAMES = pa.array(["dog", "mammal", "{child}"])


def _group(kind: RepairKind = RepairKind.DUPLICATE_EDGES) -> RepairGroup:
    codes = np.array([0, 2, -1], np.int32), np.array([1, 1, 1], np.int32)
    lines = np.array([4, 0, 9])
    return RepairGroup(kind, 3, "{child} -> {parent} is repeated", "a.csv", lines, *codes, NAMES)


def test_rows_have_kind_file_line_node_and_what_was_done() -> None:
    repairs = Repairs([_group(), replace(RepairGroup.of_lines(RepairKind.COMMENT_LINES, [7]), file="b.csv")])
    done = RepairKind.DUPLICATE_EDGES.done
    assert list(repairs) == [
        Repair("duplicate edges", "a.csv", 4, "dog", f"dog -> mammal is repeated: {done}"),
        Repair("duplicate edges", "a.csv", None, "{child}", f"{{child}} -> mammal is repeated: {done}"),
        Repair("duplicate edges", "a.csv", 9, None, f" -> mammal is repeated: {done}"),
        Repair("comment lines", "b.csv", 7, None, "the line is skipped"),
    ]
    assert repairs.counts("fault") == {"duplicate edges": 3}
    assert repairs.counts("decision") == {"comment lines": 1}


def test_it_is_a_sequence() -> None:
    repairs = Repairs([_group(), _group(RepairKind.CYCLE_EDGES)])
    assert isinstance(repairs, Sequence)
    rows = list(repairs)
    assert len(repairs) == len(rows) == 6
    assert [repairs[place] for place in range(-6, 6)] == rows + rows
    assert repairs[1:5:2] == rows[1:5:2]
    with pytest.raises(IndexError, match="there are 6 repairs"):
        repairs[6]
    assert list(pandas.DataFrame(repairs).columns) == ["kind", "file", "line", "node", "done"]
    assert list(pickle.loads(pickle.dumps(repairs))) == rows
    assert not Repairs()


def test_a_kind_that_is_not_declared_cannot_be_recorded() -> None:
    with pytest.raises(TypeError, match="no RepairKind"):
        RepairGroup("new kind", 1)  # type: ignore[arg-type]


def test_names_of_kinds_are_distinct() -> None:
    names = [name for kind in RepairKind for name in (kind.plural, kind.singular)]
    assert len(set(names)) == len(names) == 2 * len(RepairKind.__members__)


def test_a_report_of_an_older_version_loads() -> None:
    report = ReadReport.from_dict({"source": "a", "format": "b", "n_nodes": 3, "n_edges": 2, "repairs": {"x": 4}})
    assert (report.repair_counts, report.n_repairs, len(report.repairs)) == ({"x": 4}, 4, 0)


def test_a_report_keeps_the_first_repairs_of_each_kind() -> None:
    repairs = Repairs([_group(), RepairGroup.of_lines(RepairKind.COMMENT_LINES, range(1, 9))])
    report = ReadReport("a.csv", "edges", 3, 2, repair_counts={"duplicate edges": 3}, repairs=repairs)
    record = report.to_dict()
    assert record["repairs"] == {"duplicate edges": 3}
    assert len(record["repair_examples"]) == 6
    kept = ReadReport.from_dict(record)
    assert kept == report
    assert list(kept.repairs) == [*repairs[:3], *repairs[3:6]]
    record["repair_examples"][0]["kind"] = "a kind of a later version"
    assert len(ReadReport.from_dict(record).repairs) == 5
