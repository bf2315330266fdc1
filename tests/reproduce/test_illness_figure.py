"""The schematic of the three illnesses shows embeddings that have them."""

from __future__ import annotations

import pytest

from treeball.evaluation.illness import KINDS
from treeball.reproduce.illness_figure import EXAMPLES, example, three_illnesses


@pytest.mark.parametrize(("kind", "offender"), [("capacity", "B₁"), ("intra_subtree", "B₂"), ("inter_subtree", "B₃")])
def test_an_example_has_one_ill_pair_of_its_kind(kind, offender):
    embedding = example(kind)
    illness = embedding.evaluate().illness
    names = embedding.hierarchy.names
    assert [KINDS[one] for one in illness.kind] == [kind]
    assert [names[one] for one in (*illness.node, *illness.positive, *illness.offender)] == ["A", "B", offender]


def test_the_figure_has_a_disk_for_each():
    pytest.importorskip("matplotlib")
    figure = three_illnesses()
    assert [axes.get_title("center").split()[0].lower().replace("-", "_") for axes in figure.axes] == list(EXAMPLES)
