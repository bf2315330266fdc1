"""``diagnose``: which nodes of an embedding are ill, of what, why, and what would treat it."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...embedding import Embedding
from ...errors import InputError
from ...evaluation import Evaluation
from ...io.atomic import atomic_write
from ...methods.sufficiency import Sufficiency
from ...types import Objective
from ...workers import thread_count
from .advice import Advice, Commands, advise
from .groups import Group, RankedPairs, by_children, by_depth, by_offender, by_subtree
from .room import CapacityRow, Dilated, Precision, capacity_table, measure_capacity, measure_precision, try_dilations
from .worst import Examiner, WorstNode, WorstPair

__all__ = ["Advice", "CapacityRow", "Diagnosis", "Dilated", "Group", "Precision", "WorstNode", "WorstPair", "diagnose"]

WORST = 20


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What is wrong with an embedding.

    Attributes
    ----------
    model : name of the model, as the commands in it use it
    method, geometry : what made the embedding, and its space
    evaluation : the scores and ill pairs that everything else comes from
    by_depth : ill pairs by the depth of their node
    by_children : by the number of children of the node it should be close to
    by_subtree : by top-level subtree, the worst first
    by_offender : by who the offender is to the node; all of these pairs are ill
    sufficiency : room around the inner nodes; None in Euclidean space
    capacity : the same by number of children
    worst_nodes : inner nodes that take part in the most ill pairs
    worst_pairs : ill pairs with the highest ranks
    precision : radius and precision used
    dilations : what dilations would change; the first, by 1, is how things are
    advice : what to do, the most promising first
    """

    model: str
    method: str
    geometry: str
    evaluation: Evaluation
    by_depth: tuple[Group, ...]
    by_children: tuple[Group, ...]
    by_subtree: tuple[Group, ...]
    by_offender: tuple[Group, ...]
    sufficiency: Sufficiency | None
    capacity: tuple[CapacityRow, ...]
    worst_nodes: tuple[WorstNode, ...]
    worst_pairs: tuple[WorstPair, ...]
    precision: Precision
    dilations: tuple[Dilated, ...]
    advice: tuple[Advice, ...]

    def __repr__(self) -> str:
        ill, pairs = len(self.evaluation.illness), self.evaluation.ranking.ranks.size
        worst = f"; worst: {', '.join(one.shown(one.node) for one in self.worst_nodes[:3])}" if self.worst_nodes else ""
        return f"<Diagnosis of {self.model}: {ill:,} of {pairs:,} pairs ill{worst}>"

    @property
    def capacity_verdict(self) -> str | None:
        """One sentence about local capacity, as other commands give it; None if it was not measured."""
        if self.sufficiency is None:
            return None
        return self.sufficiency.verdict(self.evaluation.illness.counts()["capacity"], self.evaluation.ranking.is_exact)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``treeball diagnose --json`` prints."""
        found = self.sufficiency
        return {
            "model": self.model,
            "method": self.method,
            "geometry": self.geometry,
            "scores": self.evaluation.to_dict(),
            "by_depth": [group.to_dict() for group in self.by_depth],
            "by_children": [group.to_dict() for group in self.by_children],
            "by_subtree": [group.to_dict() for group in self.by_subtree],
            "by_offender": [group.to_dict() for group in self.by_offender],
            "capacity": {
                "verdict": self.capacity_verdict,
                "inner": None if found is None else found.inner,
                "looked_at": None if found is None else int(found.nodes.size),
                "lacking": None if found is None else int(found.lacking.sum()),
                "rows": [asdict(row) for row in self.capacity],
            },
            "worst_nodes": [one.to_dict() for one in self.worst_nodes],
            "worst_pairs": [one.to_dict() for one in self.worst_pairs],
            "precision": asdict(self.precision) | {"used": self.precision.used},
            "dilations": [
                tried.to_dict() | {"map": None if math.isnan(tried.map) else tried.map} for tried in self.dilations
            ],
            "advice": [asdict(one) for one in self.advice],
        }

    def to_html(self) -> str:
        """The report as one page that needs no network."""
        from .page import make_page

        return make_page(self)

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Write :meth:`to_html` to a file, whole or not at all."""
        path = Path(path)
        with atomic_write(path) as temporary:
            temporary.write_text(self.to_html(), "utf-8", newline="\n")
        return path


def diagnose(
    embedding: Embedding,
    objective: Objective | None = None,
    *,
    sample: int | None = None,
    seed: int = 0,
    worst: int = WORST,
    model: str = "model.parquet",
    threads: int = 0,
) -> Diagnosis:
    """Find out which nodes of an embedding are ill, of what, why, and what would treat it.

    Parameters
    ----------
    embedding
        What :func:`treeball.fit` or :func:`treeball.load` returned.
    objective, sample, seed
        As for :func:`treeball.evaluate`, whose ill pairs are the ones counted here.
    worst
        How many of the worst inner nodes and of the worst pairs to describe.
    model
        Name of the model file, for the commands that are suggested.
    threads
        0 uses all cores.
    """
    if not isinstance(embedding, Embedding):
        raise InputError(f"diagnose needs an embedding, not {embedding!r}; load a file with treeball.load")
    if isinstance(worst, bool) or not isinstance(worst, (int, np.integer)) or worst < 1:
        raise InputError(f"worst must be a whole number of at least 1, not {worst!r}")
    if embedding.keeps_distances:
        raise InputError(
            "diagnose asks why parents are not the nearest nodes, and this model was made for distances: treeball "
            "evaluate says how good those are"
        )
    evaluation = embedding.evaluate(objective, sample=sample, seed=seed, threads=threads)
    hierarchy, workers = embedding.hierarchy, thread_count(threads)
    pairs = RankedPairs.of(evaluation)
    found = measure_capacity(embedding, workers)
    table = capacity_table(found, pairs, np.diff(hierarchy.child_ptr), embedding.dim)
    precision = measure_precision(embedding, evaluation)
    dilations = try_dilations(embedding, evaluation.objective, workers)
    commands = Commands(embedding, model, evaluation)
    examiner = Examiner(embedding, evaluation, commands)
    return Diagnosis(
        model=model,
        method=embedding.provenance.method or "unknown method",
        geometry=embedding.geometry,
        evaluation=evaluation,
        by_depth=by_depth(pairs, hierarchy),
        by_children=by_children(pairs, hierarchy),
        by_subtree=by_subtree(pairs, hierarchy),
        by_offender=by_offender(evaluation, hierarchy),
        sufficiency=found,
        capacity=table,
        worst_nodes=examiner.worst_nodes(worst),
        worst_pairs=examiner.worst_pairs(worst),
        precision=precision,
        dilations=dilations,
        advice=advise(commands, table, precision, dilations),
    )
