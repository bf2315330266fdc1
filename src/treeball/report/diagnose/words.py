"""Words and tables that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...methods.sufficiency import Sufficiency
from .groups import bin_label, bin_of
from .room import CapacityRow

KIND_WORDS = {"capacity": "capacity", "intra_subtree": "intra-subtree", "inter_subtree": "inter-subtree"}


def capacity_cells(rows: Sequence[CapacityRow], found: Sufficiency) -> list[tuple[str, ...]]:
    """The capacity table in words, by bins of 1, 2, 3-4, 5-8, ... children, with the medians of each bin."""
    numbers = bin_of(np.array([row.children for row in rows], np.int64)).tolist()
    cells = []
    for number in sorted({*numbers}):
        group = [row for row, own in zip(rows, numbers, strict=True) if own == number]
        weights = [row.nodes for row in group]
        middles = [float(np.median(found.radius[bin_of(found.children) == number]))]
        middles += [
            float(np.median(np.repeat(values, weights)))
            for values in ([row.at_least for row in group], [row.enough for row in group])
        ]
        sums = [sum(row.lacking for row in group), sum(row.short for row in group), sum(row.ill for row in group)]
        cells.append(
            (bin_label(number), f"{sum(weights):,}", *(f"{m:.2f}" for m in middles), *(f"{n:,}" for n in sums))
        )
    return cells
