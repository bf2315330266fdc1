"""Which runs a reproduction consists of: those of the tables, and those that only figures show."""

from __future__ import annotations

from collections.abc import Mapping

from ..hierarchy import Hierarchy
from .ablations import figure_jobs
from .datasets import TREES
from .planner import Choices, Job, Planner

__all__ = ["Choices", "Job", "plan"]


def plan(hierarchies: Mapping[str, Hierarchy], choices: Choices, figures: bool = True) -> list[Job]:
    """All runs for the tables of some trees, by name, and with `figures` those for the figures of the synthetic."""
    jobs: dict[str, Job] = {}
    for name, hierarchy in hierarchies.items():
        planner = Planner(TREES[name], hierarchy, choices)
        planned = planner.table()
        if figures:
            planned = [*map(planner.with_snapshots, planned), *figure_jobs(planner)]
        for job in planned:
            jobs.setdefault(job.name, job)
    return list(jobs.values())
