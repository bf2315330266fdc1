"""Which runs a reproduction consists of. Everything that may be tuned is in the table `RECIPES`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, get_args

from ..errors import InputError
from ..methods.registry import find, method_names
from ..methods.settings import TrainingSettings
from . import paper
from .datasets import Tree, trees_of

Budget = Literal["quick", "full"]

ALL_METHODS = ("euclidean", "poincare", "lorentz", "ga-dl", "ga-dl-rw")
CLOSURE_METHODS = ("poincare", "ga-dl", "ga-dl-rw")


@dataclass(frozen=True)
class Recipe:
    """How a data set is run; learning rate, batch and negatives come from `paper.TRAINING`.

    Attributes
    ----------
    epochs : for the budgets full and quick, the same for every method
    seeds : for the budget full; quick takes the first
    overrides : settings that differ from the defaults of the methods, by (method, dim); None stands for any. Later
        entries win.
    """

    dims: tuple[int, ...]
    epochs: dict[Budget, int]
    seeds: tuple[int, ...]
    methods: tuple[str, ...] = ALL_METHODS
    overrides: Mapping[tuple[str | None, int | None], Mapping[str, Any]] = field(default_factory=dict)


# Chosen on the verbs, dimension 10, seed 0 (`_ONCE`) and on the nouns, dimension 5 (`_REPEATEDLY`), among the variants
# that docs/reproduction.md lists; not the best for every row.
_ONCE = {"dilation_from": 1000, "dilation_limit": 1}
_REPEATEDLY = {"dilation_limit": 3}

RECIPES = {
    "synthetic": Recipe(
        dims=(2,), epochs={"full": 3000, "quick": 300}, seeds=(0, 1, 2), overrides={(None, None): _ONCE}
    ),
    "yelp": Recipe(
        dims=(2, 5, 10), epochs={"full": 3000, "quick": 300}, seeds=(0, 1, 2), overrides={(None, None): _ONCE}
    ),
    "verbs": Recipe(
        dims=(2, 5, 10), epochs={"full": 3000, "quick": 100}, seeds=(0, 1, 2), overrides={(None, None): _ONCE}
    ),
    "nouns": Recipe(
        dims=(5, 10),
        epochs={"full": 1000, "quick": 50},
        seeds=(0,),
        overrides={(None, None): {"dilation_limit": 1}, ("ga-dl", None): _REPEATEDLY, ("ga-dl-rw", None): _REPEATEDLY},
    ),
    "catalog": Recipe(
        dims=(5, 10),
        epochs={"full": 200, "quick": 20},
        seeds=(0,),
        overrides={(None, None): {"n_tc": 60, "dilation_from": 60, "dilation_limit": 3}},
    ),
    "closure": Recipe(
        dims=(10,),
        epochs={"full": 1500, "quick": 10},
        seeds=(0,),
        methods=CLOSURE_METHODS,
        overrides={(None, None): {"dilation_limit": 1}},
    ),
}

# These count epochs: a run shorter than the full budget shrinks them in proportion, so that every phase takes place.
_COUNTED_IN_EPOCHS = ("burn_in", "n_tc", "dilation_from")
# A quick run of a larger tree is scored on this many random nodes.
QUICK_SAMPLE, QUICK_EXACT_NODES = 4000, 20_000

# The eight moments of Figure 3, in sixtieths of all epochs: of 3,000, before and after the dilation at 1,000.
TRACES = 60
MOMENTS = (1, 2, 6, 12, 20, 21, 30, 60)
PICTURED = ("poincare", "ga-dl-rw")
ETAS = (0.0, 0.1, 0.2, 0.5, 1.0)
TC_EPOCHS = (100, 300, 1000, 3000)


@dataclass(frozen=True)
class Job:
    """One run: a tree, settings, and what to keep of it.

    Attributes
    ----------
    variant : what differs from the run of the table, for the file name; empty for a run of the table
    sample : score this many random nodes; 0 scores all
    snapshots : epochs whose vectors a figure needs
    """

    tree: Tree
    settings: TrainingSettings
    variant: str = ""
    sample: int = 0
    snapshots: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Stem of its files."""
        settings = self.settings
        name = f"{self.tree.name}-{settings.method}-d{settings.dim}-s{settings.seed}"
        return f"{name}-{self.variant}" if self.variant else name


@dataclass(frozen=True)
class Choices:
    """What the user asks for instead of the recipe; empty or None takes the recipe."""

    budget: Budget = "full"
    dims: tuple[int, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
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


def plan(datasets: Iterable[str], choices: Choices, figures: bool = True) -> list[Job]:
    """All runs for the tables of `datasets`, and with `figures` those for the figures of the synthetic trees."""
    jobs: dict[str, Job] = {}
    for dataset in datasets:
        for tree in trees_of(dataset):
            planned = _table_jobs(tree, choices)
            if figures:
                planned = [_with_snapshots(job, choices) for job in planned]
                for bars in figure_jobs(tree, choices).values():
                    planned += chain.from_iterable(bars.values())
            for job in planned:
                jobs.setdefault(job.name, job)
    return list(jobs.values())


def figure_jobs(tree: Tree, choices: Choices) -> dict[str, dict[str, list[Job]]]:
    """The runs behind Figures 5 and 6 of a synthetic tree: figure -> label of a setting -> one run per seed.

    Figure 5 varies the weight of closure edges in the whole algorithm, so that weight 0 is dilation alone; Figure 6
    takes the algorithm apart.
    """
    recipe = RECIPES[tree.dataset]
    if tree.dataset != "synthetic" or paper.SYNTHETIC_DIM not in (choices.dims or recipe.dims):
        return {}
    figures: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
        "figure-5": [
            ("base", "poincare", {}),
            *((f"{eta:g}", "ga-dl-rw", {"eta_tc": eta}) for eta in ETAS),
        ],
        "figure-6": [
            ("base", "poincare", {}),
            ("DL", "ga-dl", {}),
            *((f"RW {epochs:,}", "ga-rw", {"n_tc": epochs}) for epochs in TC_EPOCHS),
            ("GA", "ga-dl-rw", {}),
        ],
    }
    asked = {*choices.methods, *(["ga-rw"] if "ga-dl-rw" in choices.methods else [])}
    return {
        figure: {
            label: [
                make_job(tree, method, paper.SYNTHETIC_DIM, seed, choices, **changes)
                for seed in _seeds(recipe, choices)
            ]
            for label, method, changes in bars
            if not asked or method in asked
        }
        for figure, bars in figures.items()
    }


def make_job(tree: Tree, method: str, dim: int, seed: int, choices: Choices, **changes: Any) -> Job:
    """The run of one method; `changes` to its settings make it a variant, unless they change nothing."""
    settings = _settings(tree, method, dim, seed, choices, changes)
    usual = _settings(tree, method, dim, seed, choices, {})
    variant = "" if settings == usual else "-".join(f"{name}{value:g}" for name, value in changes.items())
    large = tree.shape is not None and tree.shape.nodes > QUICK_EXACT_NODES
    return Job(tree, settings, variant, QUICK_SAMPLE if large and choices.budget == "quick" else 0)


def _table_jobs(tree: Tree, choices: Choices) -> list[Job]:
    recipe = RECIPES[tree.dataset]
    return [
        make_job(tree, method, dim, seed, choices)
        for dim in choices.dims or recipe.dims
        for method in choices.methods or recipe.methods
        for seed in _seeds(recipe, choices)
    ]


def _seeds(recipe: Recipe, choices: Choices) -> tuple[int, ...]:
    return choices.seeds or (recipe.seeds if choices.budget == "full" else recipe.seeds[:1])


def _settings(
    tree: Tree, method: str, dim: int, seed: int, choices: Choices, changes: Mapping[str, Any]
) -> TrainingSettings:
    recipe, kind = RECIPES[tree.dataset], find(method).settings
    assert issubclass(kind, TrainingSettings)
    epochs = choices.epochs or recipe.epochs[choices.budget]
    values = {"eta_tc": paper.ETA_TC, "n_tc": paper.N_TC, **dataclasses.asdict(paper.TRAINING[tree.dataset])}
    for (for_method, for_dim), overrides in recipe.overrides.items():
        if for_method in (None, method) and for_dim in (None, dim):
            values |= overrides
    values |= changes
    shrink = min(1.0, epochs / recipe.epochs["full"])
    for name in _COUNTED_IN_EPOCHS:
        value = values.get(name, getattr(kind, name, 0))
        values[name] = max(1, round(value * shrink)) if value else 0
    if tree.dataset == "synthetic":
        values["trace_every"] = max(1, epochs // TRACES)
    known: dict[str, Any] = {"method": method, "dim": dim, "seed": seed, "epochs": epochs}
    # A method takes of all this what it has a use for.
    used = {name: value for name, value in values.items() if name in kind.names()}
    return kind(**known, objective=tree.objective, **used)


def _with_snapshots(job: Job, choices: Choices) -> Job:
    """The same job, keeping the vectors that Figures 2 and 3 show if it is one of theirs."""
    settings = job.settings
    wanted = job.tree.name == "synthetic-156" and settings.method in PICTURED and settings.dim == paper.SYNTHETIC_DIM
    if not wanted or settings.seed != _seeds(RECIPES[job.tree.dataset], choices)[0]:
        return job
    moments = sorted({max(1, settings.epochs * moment // TRACES) for moment in MOMENTS})
    return dataclasses.replace(job, snapshots=tuple(moments))
