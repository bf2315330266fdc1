"""Scores after an edit of a model: kept where nothing that they cover has changed, else computed and told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..embedding import Embedding
from ..evaluation import Evaluation
from ..hierarchy import Hierarchy
from ..hierarchy._edit import Edit

__all__ = ["renamed", "scores_before"]


def renamed(embedding: Embedding, edit: Edit) -> Embedding | None:
    """The embedding by the names of an edit that changes nothing else: with its scores and reaches; None for others."""
    if not _has_the_edges_of(embedding.hierarchy, edit):
        return None
    reach = embedding.known_reach()
    return Embedding(embedding.vectors, edit.hierarchy, embedding.geometry, embedding.provenance, reach=reach)


def _has_the_edges_of(before: Hierarchy, edit: Edit) -> bool:
    after = edit.hierarchy
    return (
        not edit.loose.any()
        and np.array_equal(edit.origin, np.arange(before.n_nodes))
        and np.array_equal(after.parent_ptr, before.parent_ptr)
        and np.array_equal(after.parent_idx, before.parent_idx)
    )


def scores_before(scores: Mapping[str, Any] | None, evaluation: Evaluation) -> tuple[str, dict[str, Any]]:
    """What the log keeps of scores of all nodes where now only a sample could be ranked: a sentence, and the facts."""
    if scores is None or "sampled" in scores or evaluation.ranking.is_exact:
        return "", {}
    if any(scores.get(name) is None for name in ("map", "nodes", "illness")):
        return "", {}
    ill = sum(scores["illness"].values())
    sampled = evaluation.ranking.sources.size
    sentence = (
        f"; its scores are those of {sampled:,} sampled nodes, and before it all {scores['nodes']:,} nodes had MAP "
        f"{scores['map']:.4f} and {ill:,} ill pairs"
    )
    return sentence, {"scores_before": dict(scores)}
