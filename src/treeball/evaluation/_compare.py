"""compare: what moved, what fell ill and what was healed between two models."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..geometry.alignment import align_euclidean, align_hyperbolic
from ..hierarchy import Hierarchy
from ..hierarchy._diff import Changes, diff
from ..io.model_file import is_model, load
from ..io.readers import read
from ..limits import BALL_RADIUS_GONE
from ..types import Objective
from ..words import json_number
from ._distortion import distortion

if TYPE_CHECKING:
    from ..embedding import Embedding
    from . import Evaluation

__all__ = ["Comparison", "compare"]

Pair = tuple[Hashable, Hashable]

_QUANTILES = (0.1, 0.5, 0.9, 0.99)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two models of the same or of two versions of a hierarchy.

    Attributes
    ----------
    changes
        How the hierarchies differ.
    names, moved
        The nodes of both models, and how far apart their two places are once the second model has been laid on the
        first by the best isometry (:mod:`treeball.geometry.alignment`); None when dimension or kind of space differ.
    edge
        Median distance of a node to its parent in the first model, to judge `moved` by.
    scores
        MAP, mean rank, hits@1, average and worst distortion and Spearman's correlation of both, by name; the last three
        against path lengths, by weights where edges have them.
    fell_ill, healed
        Pairs (node, positive) that both models have and that are ill only in the second, only in the first.
    """

    changes: Changes
    names: list[Hashable]
    moved: NDArray[np.float64] | None
    edge: float
    objective: Objective
    scores: dict[str, tuple[float, float]]
    fell_ill: list[Pair]
    healed: list[Pair]

    def __repr__(self) -> str:
        old, new = self.scores["map"]
        return (
            f"<Comparison of {len(self.names):,} nodes: MAP {old:.4f} -> {new:.4f}, {len(self.fell_ill):,} fell ill, "
            f"{len(self.healed):,} healed>"
        )

    def top_movers(self, count: int = 10) -> list[tuple[Hashable, float]]:
        """The nodes that moved farthest."""
        if self.moved is None:
            return []
        order = np.argsort(-self.moved, kind="stable")[:count]
        return [(self.names[place], float(self.moved[place])) for place in order.tolist()]

    def quantiles(self) -> dict[str, float]:
        """How far the nodes moved: some quantiles and the largest."""
        if self.moved is None:
            return {}
        record = {f"{share:g}": float(np.quantile(self.moved, share)) for share in _QUANTILES}
        return record | {"1": float(self.moved.max())}

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return {
            "hierarchy": self.changes.to_dict(),
            "objective": self.objective,
            "scores": {name: [json_number(value) for value in both] for name, both in self.scores.items()},
            "moved": None
            if self.moved is None
            else {
                "nodes": len(self.names),
                "quantiles": self.quantiles(),
                "median_edge": json_number(self.edge),
                "top": [{"node": str(name), "distance": far} for name, far in self.top_movers()],
            },
            "fell_ill": [[str(name) for name in pair] for pair in self.fell_ill],
            "healed": [[str(name) for name in pair] for pair in self.healed],
        }


@overload
def compare(
    first: Embedding, second: Embedding, objective: Objective | None = None, *, threads: int = 0
) -> Comparison: ...
@overload
def compare(
    first: Any, second: Any, objective: Objective | None = None, *, threads: int = 0
) -> Comparison | Changes: ...
def compare(first: Any, second: Any, objective: Objective | None = None, *, threads: int = 0) -> Comparison | Changes:
    """Compare two embeddings node by node, or two versions of a hierarchy.

    Parameters
    ----------
    first, second
        Embeddings, files with models, hierarchies, or anything :func:`treeball.read` takes. Unless both are or hold
        embeddings, only the hierarchies are compared.
    objective
        What makes a pair ill; by default what the first model was trained for.
    threads
        0 uses all cores.
    """
    first, second = _opened(first), _opened(second)
    if isinstance(first, Hierarchy) or isinstance(second, Hierarchy):
        before, after = (one if isinstance(one, Hierarchy) else one.hierarchy for one in (first, second))
        return diff(before, after)
    changes = diff(first.hierarchy, second.hierarchy)
    places = [
        (code, second.names.index_of(name))
        for code, name in enumerate(first.names)
        if code != first.hierarchy.virtual_root and name in second.names
    ]
    places = [(a, b) for a, b in places if b != second.hierarchy.virtual_root]
    if not places:
        raise InputError(
            f"the two models have no node in common (such as {first.names[0]!r} and {second.names[0]!r}): "
            "there is nothing to compare"
        )
    codes = np.array(places, np.int64)
    objective = objective or first.objective
    before, after = (model.evaluate(objective, threads=threads) for model in (first, second))
    old_lengths, new_lengths = (distortion(model) for model in (first, second))
    old, new = _pairs(before, first), _pairs(after, second)
    both = old.keys() & new.keys()
    child, parent = first.hierarchy.edges()
    return Comparison(
        changes=changes,
        names=first.names.take(codes[:, 0]),
        moved=_moved(first, second, codes),
        edge=float(np.median(first.distances_between(child, parent))) if child.size else float("nan"),
        objective=objective,
        scores={
            "map": (before.map, after.map),
            "mean_rank": (before.mean_rank, after.mean_rank),
            "hits_at_1": (before.hits_at_1, after.hits_at_1),
            "spearman": (old_lengths.spearman, new_lengths.spearman),
            "average_distortion": (old_lengths.average, new_lengths.average),
            "worst_distortion": (old_lengths.worst, new_lengths.worst),
        },
        fell_ill=[pair for pair in new if pair in both and new[pair] and not old[pair]],
        healed=[pair for pair in old if pair in both and old[pair] and not new[pair]],
    )


def _opened(given: Any) -> Embedding | Hierarchy:
    """An embedding, or else a hierarchy, from whatever holds one."""
    from ..embedding import Embedding

    if isinstance(given, (Embedding, Hierarchy)):
        return given
    if isinstance(given, (str, os.PathLike)):
        is_file = Path(given).is_file() and is_model(Path(given))
        if is_file or (Path(given) / "manifest.json").is_file():  # a model folder is refused as one
            return load(given)
    return read(given)


def _moved(first: Embedding, second: Embedding, codes: NDArray[np.int64]) -> NDArray[np.float64] | None:
    if first.dim != second.dim or first.space.is_hyperbolic != second.space.is_hyperbolic:
        return None
    if first.space is second.space and _is_same(first, second, codes):
        return np.zeros(len(codes))
    # Vectors that are laid on each other are those of the hyperboloid, which keeps no places farther out.
    if any(
        model.space.is_hyperbolic and model.radii().max(initial=0.0) > BALL_RADIUS_GONE for model in (first, second)
    ):
        return None
    if not first.space.is_hyperbolic:
        return align_euclidean(second.vectors[codes[:, 1]], first.vectors[codes[:, 0]])[2]
    lifted = [model.space.to_hyperboloid(model.vectors) for model in (first, second)]
    return align_hyperbolic(lifted[1][codes[:, 1]], lifted[0][codes[:, 0]])[2]


def _is_same(first: Embedding, second: Embedding, codes: NDArray[np.int64]) -> bool:
    """Whether nodes lie where they lay, in all terms that coordinates have."""
    if first.precision != second.precision:
        return False
    if first.precise is not None and second.precise is not None:
        return np.array_equal(first.precise[:, codes[:, 0]], second.precise[:, codes[:, 1]])
    return np.array_equal(first.vectors[codes[:, 0]], second.vectors[codes[:, 1]])


def _pairs(evaluation: Evaluation, embedding: Embedding) -> dict[Pair, bool]:
    """Every positive pair that was ranked, and whether it is ill."""
    ranking = evaluation.ranking
    names = list(embedding.names)
    node = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
    return {
        (names[a], names[b]): ill
        for a, b, ill in zip(node.tolist(), ranking.positive_idx.tolist(), (ranking.ranks > 1).tolist(), strict=True)
    }
