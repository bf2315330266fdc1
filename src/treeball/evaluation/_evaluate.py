"""Scores of an embedding: MAP, mean rank, hits@1 and the three illnesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import require_choice
from ..engine import DEVICES, Device
from ..errors import InputError
from ..types import Objective
from ..words import json_number
from ..workers import thread_count
from .certificate import Certificate
from .illness import Illness, classify
from .ranking import EXACT_UP_TO_NODES, Ranking, rank
from .scores import Score, rank_by_score

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["EXACT_UP_TO_NODES", "Certificate", "Evaluation", "Illness", "Ranking", "evaluate"]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Scores of an embedding for one objective, with the ranks and ill pairs they come from."""

    nodes: int
    edges: int
    dim: int
    objective: Objective
    max_radius: float
    ranking: Ranking
    illness: Illness

    @property
    def map(self) -> float:
        """Mean average precision over nodes with a positive."""
        return self.ranking.map

    @property
    def mean_rank(self) -> float:
        """Mean filtered 1-based rank over positive pairs."""
        return self.ranking.mean_rank

    @property
    def hits_at_1(self) -> float:
        """Share of nodes whose nearest node is a positive."""
        return self.ranking.hits_at_1

    @property
    def certificate(self) -> Certificate | None:
        """What was shown when distances ranked every node and no pair is ill; None otherwise.

        A certificate speaks of distances, so there is none for a score of one's own.
        """
        ranking = self.ranking
        if not ranking.sources.size or not ranking.is_exact or not ranking.is_by_distance or len(self.illness):
            return None
        pairs = self.ranking.sources.size * (self.nodes - 1)
        return Certificate(pairs, self.ranking.margin, self.objective, self.edges == self.nodes - 1)

    def __repr__(self) -> str:
        ill = ", ".join(f"{count:,} {kind}" for kind, count in self.illness.counts().items())
        return f"<Evaluation ({self.objective}): MAP {self.map:.4f}, mean rank {self.mean_rank:.3f}; ill: {ill}>"

    def to_dict(self) -> dict[str, Any]:
        """The object that ``treeball evaluate --json`` prints.

        `sampled` is there only when nodes were sampled, `certificate` only when distances ranked all of them and no
        pair is ill, `device` only when a card compared them.
        """
        record: dict[str, Any] = {
            "nodes": self.nodes,
            "edges": self.edges,
            "dim": self.dim,
            "objective": self.objective,
            "map": json_number(self.map),
            "mean_rank": json_number(self.mean_rank),
            "hits_at_1": json_number(self.hits_at_1),
            "illness": self.illness.counts(),
            "max_radius": self.max_radius,
        }
        if not self.ranking.is_exact:
            record["sampled"] = {
                "nodes": int(self.ranking.sources.size),
                "of": self.ranking.population,
                "interval_95": {name: list(ends) for name, ends in self.ranking.intervals().items()},
            }
        if self.ranking.device:
            record["device"] = self.ranking.device
        if self.certificate is not None:
            record["certificate"] = self.certificate.to_dict()
        return record


def evaluate(
    embedding: Embedding,
    objective: Objective | None = None,
    *,
    sample: int | None = None,
    seed: int = 0,
    threads: int = 0,
    score: Score | None = None,
    device: Device = "auto",
) -> Evaluation:
    """Score an embedding against its hierarchy.

    Parameters
    ----------
    embedding
        What :func:`treeball.fit` or :func:`treeball.load` returned.
    objective
        ``"parents"`` or ``"ancestors"``; by default the one the embedding was made for.
    sample
        Rank only this many random nodes (against all others); 0 ranks all of them. By default all up to 150,000 nodes,
        and beyond if a trial on a few nodes promises an end within two minutes; else 4,000. Illness counts of a sample
        are those of the sampled nodes.
    seed
        Chooses the sample.
    threads
        0 uses all cores.
    score
        How near other nodes are to some, instead of the distance: takes the embedding and codes (m,) of nodes, and
        gives an array (m, n), smaller for nearer. The energy of an entailment cone is such a score. There is no
        certificate then, as that speaks of distances.
    device
        Where to compare distances: ``"cpu"``, ``"cuda"`` (a graphics card), or ``"auto"``, which takes a card where
        there is one and it is expected to be faster. The ranks are the same.
    """
    from ..embedding import Embedding

    if not isinstance(embedding, Embedding):
        raise InputError(f"evaluate needs an embedding, not {embedding!r}; load a file with treeball.load")
    for name, value in (("sample", sample), ("seed", seed), ("threads", threads)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0):
            raise InputError(f"{name} must be a whole number of at least 0, not {value!r}")
    hierarchy = embedding.hierarchy
    objective = embedding.objective if objective in (None, "distances") else objective
    if objective not in ("parents", "ancestors"):
        raise InputError(f"objective must be parents or ancestors, not {objective!r}")
    require_choice("device", device, DEVICES)
    if score is not None:
        ranking = rank_by_score(embedding, score, objective, sample=sample, seed=seed)
        return _scored(embedding, objective, ranking)
    coordinates, factor = embedding.ranking_coordinates()
    ranking = rank(
        coordinates,
        factor,
        hierarchy,
        objective,
        space=embedding.space,
        sample=sample,
        seed=seed,
        threads=thread_count(threads),
        device=device,
    )
    return _scored(embedding, objective, ranking)


def _scored(embedding: Embedding, objective: Objective, ranking: Ranking) -> Evaluation:
    hierarchy = embedding.hierarchy
    return Evaluation(
        nodes=hierarchy.n_nodes,
        edges=hierarchy.n_edges,
        dim=embedding.dim,
        objective=objective,
        max_radius=float(embedding.radii().max()),
        ranking=ranking,
        illness=classify(ranking, hierarchy),
    )
