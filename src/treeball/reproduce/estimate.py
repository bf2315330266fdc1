"""How long the runs that are left will take, before they begin."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..experiments.records import Record
from ..experiments.timed_fit import warm_up
from ..hierarchy import Hierarchy
from ..methods._fit import fit
from ..words import count
from .machine import Machine
from .planner import Job

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..methods.descent import Epochs

__all__ = ["duration", "estimate", "overview"]

# Updates and scored nodes of a short timing: a fraction of a second.
_TRAINED, _SCORED = 200_000, (100, 500)

_Key = tuple[str, str, int]


def overview(seconds: float, runs: int, done: int) -> str:
    """What a person wants to know before it starts: "about 3 h 40 min for 214 runs, 120 done before"."""
    if not runs:
        return f"nothing to run, {count(done, 'run')} done before"
    return f"about {duration(seconds)} for {count(runs, 'run')}, {done:,} done before"


def duration(seconds: float) -> str:
    """Hours and minutes, or as many seconds as there are."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def estimate(
    jobs: Sequence[Job], hierarchies: Mapping[str, Hierarchy], records: Iterable[Record], machine: Machine
) -> float:
    """Seconds that some runs take, one after the other: from `records` of their like, else from a short timing.

    Runs are alike when tree, method and dimension are the same.
    """
    known: dict[_Key, list[tuple[float, float]]] = {}
    for record in records:
        if _where(record) == (machine.share, machine.at_once) and record.get("updates"):
            settings, seconds = record["settings"], record["seconds"]
            alike = known.setdefault((record["tree"], settings["method"], settings["dim"]), [])
            alike.append((seconds["training"] / record["updates"], seconds["scoring"]))
    costs: dict[_Key, tuple[float, float]] = {}
    total = 0.0
    for job in jobs:
        key = (job.tree.name, job.settings.method, job.settings.dim)
        if key not in costs:
            alike = known.get(key, [])
            costs[key] = (
                (statistics.median(one for one, _ in alike), statistics.median(two for _, two in alike))
                if alike
                else _measured(job, hierarchies[job.tree.name], machine)
            )
        a_pair, scoring = costs[key]
        total += job.updates * a_pair + scoring
    return total


def _where(record: Record) -> tuple[int | None, int]:
    return record.get("threads"), record.get("at_once", 1)


def _measured(job: Job, hierarchy: Hierarchy, machine: Machine) -> tuple[float, float]:
    """Seconds of one update and of a scoring, from a short training, half of it with closure edges."""
    a_pass = hierarchy.positives(job.tree.objective)[1].size
    epochs = max(2, min(job.settings.epochs, _TRAINED // max(1, a_pass)))
    brief = {"epochs": epochs, "n_tc": epochs // 2, "trace_every": 0, "burn_in": 0}
    settings = job.settings.replace(**{name: value for name, value in brief.items() if name in job.settings.names()})
    settings = settings.replace(threads=machine.share, device=machine.device)
    warm_up(settings)
    # What comes before the first epoch is left out: a short training is half of that, a long one next to nothing.
    spent: list[Epochs] = []
    embedding = fit(hierarchy, settings, watch=lambda run, done: spent.append(done), scores=False)
    a_pair = sum(done.seconds for done in spent) / max(1, sum(done.pairs for done in spent))
    # Nor does the scoring of every node prepare anew.
    few, more = (_seconds_to_score(embedding, sample, machine.share) for sample in _SCORED)
    a_node = max(0.0, more - few) / (_SCORED[1] - _SCORED[0])
    return a_pair, few + a_node * (job.sample or hierarchy.n_nodes)


def _seconds_to_score(embedding: Embedding, sample: int, threads: int) -> float:
    started = time.perf_counter()
    embedding.evaluate(sample=sample, threads=threads)
    return time.perf_counter() - started
