"""The runs of one tree: every line of its table at every radius, on equal epochs and on equal updates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from ..errors import InputError
from ..geometry.spaces import space_of
from ..hierarchy import Hierarchy
from ..limits import LARGEST_RADIUS
from ..methods.registry import find, method_names
from ..methods.training_settings import TrainingSettings
from . import paper
from .datasets import Tree
from .recipes import ALL_METHODS, EQUAL_UPDATES, RADII, RECIPES, REFERENCE, Budget, Row, Terms
from .updates import Work

__all__ = ["PICTURED", "Choices", "Job", "Planner", "variant_name"]

# These count epochs: a run shorter than the full budget shrinks them in proportion, so that every phase takes place.
_COUNTED_IN_EPOCHS = ("burn_in", "n_tc", "dilation_from")
# A quick run of a larger tree is scored on this many random nodes.
QUICK_SAMPLE, QUICK_EXACT_NODES = 4000, 20_000

# The eight moments of the learning process, in sixtieths of all epochs: of 3,000, before and after the dilation at
# 1,000.
TRACES = 60
MOMENTS = (1, 2, 6, 12, 20, 21, 30, 60)
PICTURED = ("poincare", "ga-dl-rw")


@dataclass(frozen=True)
class Job:
    """One run: a tree, settings, and what to keep of it.

    Attributes
    ----------
    terms : what it has in common with the runs that it is compared to, epochs or updates
    label : what tells its line from another one of the method, as in `recipes.Row`
    variant : what differs from the run of the table, for the file name; empty for a run of the table
    updates : positive pairs that it visits, each visit counted
    sample : score this many random nodes; 0 scores all
    snapshots : epochs whose vectors a figure needs
    """

    tree: Tree
    settings: TrainingSettings
    terms: Terms = "epochs"
    label: str = ""
    variant: str = ""
    updates: int = 0
    sample: int = 0
    snapshots: tuple[int, ...] = ()

    @property
    def radius(self) -> float | None:
        """Largest radius of its vectors; None where the space knows no such thing."""
        return _radius(self.settings.method, self.settings.max_radius)

    @property
    def name(self) -> str:
        """Stem of its files."""
        settings = self.settings
        parts = [self.tree.name, settings.method, self.label, f"d{settings.dim}"]
        parts += ["" if self.radius is None else f"r{self.radius:.3g}", f"s{settings.seed}"]
        parts += ["updates" if self.terms == "updates" else "", self.variant]
        return "-".join(filter(None, parts))


@dataclass(frozen=True)
class Choices:
    """What the user asks for instead of the recipe; empty or None takes the recipe."""

    budget: Budget = "full"
    dims: tuple[int, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    radii: tuple[float, ...] = RADII
    epochs: int | None = None

    def __post_init__(self) -> None:
        if self.budget not in get_args(Budget):
            raise InputError(f"the budget must be quick or full, not {self.budget!r}")
        for method in self.methods:
            trains = method in method_names() and issubclass(find(method).settings, TrainingSettings)
            if not trains:
                raise InputError(f"there is no training {method!r}: choose from {', '.join(ALL_METHODS)}, ga-rw")
        if self.epochs is not None and self.epochs < 1:
            raise InputError(f"epochs must be at least 1, not {self.epochs}")
        for radius in self.radii:
            if not 0 < radius <= LARGEST_RADIUS:
                raise InputError(f"max-radius must be above 0 and at most {LARGEST_RADIUS:g}, not {radius:g}")


class Planner:
    """Makes the runs of one tree."""

    def __init__(self, tree: Tree, hierarchy: Hierarchy, choices: Choices) -> None:
        self.tree = tree
        self.choices = choices
        self.recipe = RECIPES[tree.dataset]
        self.work = Work(hierarchy)
        self.epochs = choices.epochs or self.recipe.epochs[choices.budget]
        self.dims = choices.dims or self.recipe.dims
        self.seeds = choices.seeds or (self.recipe.seeds if choices.budget == "full" else self.recipe.seeds[:1])

    def table(self) -> list[Job]:
        """The runs of the table, line by line."""
        jobs: dict[str, Job] = {}
        for dim in self.dims:
            for radius in self.choices.radii:
                for row in self._rows():
                    for terms in get_args(Terms) if row.method in EQUAL_UPDATES else ("epochs",):
                        for seed in self.seeds:
                            job = self.job(row, dim, radius, seed, terms)
                            # Another radius may be no other run, nor equal updates other epochs.
                            if job is not None:
                                jobs.setdefault(job.name, job)
        return list(jobs.values())

    def job(self, row: Row, dim: int, radius: float, seed: int, terms: Terms = "epochs", **changes: Any) -> Job | None:
        """One run; `changes` to its settings make it a variant, unless they change nothing.

        None when equal updates are equal epochs.
        """
        settings = self._settings(row, dim, radius, seed, changes)
        variant = ""
        if settings != self._settings(row, dim, radius, seed, {}):
            variant = variant_name(changes)
        if terms == "updates":
            epochs = self.work.equal_epochs(self._settings(Row(REFERENCE), dim, radius, seed, {}))
            if epochs == settings.epochs:
                return None
            settings = settings.replace(epochs=epochs)
        large = self.tree.shape is not None and self.tree.shape.nodes > QUICK_EXACT_NODES
        sample = QUICK_SAMPLE if large and self.choices.budget == "quick" else 0
        return Job(self.tree, settings, terms, row.label, variant, self.work.updates(settings), sample)

    def with_snapshots(self, job: Job) -> Job:
        """The same job, keeping the vectors that the pictures of the small tree show if it is one of theirs."""
        settings = job.settings
        wanted = (
            job.tree.name == "synthetic-156"
            and settings.method in PICTURED
            and settings.dim == paper.SYNTHETIC_DIM
            and (settings.seed, job.radius, job.terms) == (self.seeds[0], self.choices.radii[0], "epochs")
        )
        if not wanted:
            return job
        moments = sorted({max(1, settings.epochs * moment // TRACES) for moment in MOMENTS})
        return dataclasses.replace(job, snapshots=tuple(moments))

    def _rows(self) -> list[Row]:
        """Those of the recipe that were asked for, and plain ones of methods that it does not have."""
        if not self.choices.methods:
            rows = list(self.recipe.rows)
        else:
            rows = [row for row in self.recipe.rows if row.method in self.choices.methods]
            there = {row.method for row in rows}
            rows += [Row(method) for method in self.choices.methods if method not in there]
        # A labelled line is there for its own settings.
        return [row for row in rows if not row.label or row.changes.keys() <= set(find(row.method).settings.names())]

    def _settings(self, row: Row, dim: int, radius: float, seed: int, changes: Mapping[str, Any]) -> TrainingSettings:
        kind = find(row.method).settings
        assert issubclass(kind, TrainingSettings)
        values: dict[str, Any] = {"eta_tc": paper.ETA_TC, "n_tc": paper.N_TC, "max_radius": radius}
        values |= {**dataclasses.asdict(paper.TRAINING[self.tree.dataset]), **self.recipe.settings}
        values |= {**row.changes, **changes}
        if _radius(row.method, radius) is None:
            del values["max_radius"]
        shrink = min(1.0, self.epochs / self.recipe.epochs["full"])
        for name in _COUNTED_IN_EPOCHS:
            value = values.get(name, getattr(kind, name, 0))
            is_share = 0 < value < 1
            values[name] = value if is_share else max(1, round(value * shrink)) if value else 0
        if self.tree.dataset == "synthetic":
            values["trace_every"] = max(1, self.epochs // TRACES)
        known: dict[str, Any] = {"method": row.method, "dim": dim, "seed": seed, "epochs": self.epochs}
        # A method takes of all this what it has a use for.
        used = {name: value for name, value in values.items() if name in kind.names()}
        return kind(**known, objective=self.tree.objective, **used)


def variant_name(changes: Mapping[str, float]) -> str:
    """What a run is called whose settings differ from those of the table in this."""
    return "-".join(f"{name}{value:g}" for name, value in changes.items())


def _radius(method: str, max_radius: float) -> float | None:
    return None if math.isinf(space_of(find(method).space).bound(max_radius)) else max_radius
