"""How good an embedding is: ranks, illness, distortion, link prediction, and what changed between two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ._classification import Classification
    from ._compare import Comparison, compare
    from ._distortion import Distortion, distortion
    from ._evaluate import Evaluation, evaluate
    from ._held_out import HeldOut, evaluate_held_out
    from ._reach import reaches
    from ._split import Split, split
    from .certificate import Certificate
    from .illness import Illness
    from .neighbour_map import map_neighbours
    from .ranking import EXACT_UP_TO_NODES, Ranking

__all__ = [
    "EXACT_UP_TO_NODES",
    "Certificate",
    "Classification",
    "Comparison",
    "Distortion",
    "Evaluation",
    "HeldOut",
    "Illness",
    "Ranking",
    "Split",
    "compare",
    "distortion",
    "evaluate",
    "evaluate_held_out",
    "map_neighbours",
    "reaches",
    "split",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Certificate": "certificate",
        "Classification": "_classification",
        "Comparison": "_compare",
        "Distortion": "_distortion",
        "EXACT_UP_TO_NODES": "ranking",
        "Evaluation": "_evaluate",
        "HeldOut": "_held_out",
        "Illness": "illness",
        "Ranking": "ranking",
        "Split": "_split",
        "compare": "_compare",
        "distortion": "_distortion",
        "evaluate": "_evaluate",
        "evaluate_held_out": "_held_out",
        "map_neighbours": "neighbour_map",
        "reaches": "_reach",
        "split": "_split",
    },
)
