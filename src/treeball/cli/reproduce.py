"""``treeball reproduce``: the paper's tables and figures from one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..methods.progress import TrainingProgress
from .console import say
from .lists import Listed, items, whole_numbers

Dataset = Literal["synthetic", "yelp", "verbs", "nouns", "catalog", "closure", "all"]


def reproduce(
    datasets: Annotated[list[Dataset], Parameter(name="DATASET")],
    /,
    *,
    data: Path | None = None,
    budget: Literal["quick", "full"] = "full",
    dims: Listed = None,
    methods: Listed = None,
    seeds: Listed = None,
    epochs: int | None = None,
    out: Annotated[Path | None, Parameter(alias="-o")] = None,
    threads: int = 0,
    figures: Annotated[bool, Parameter(negative="--no-figures")] = True,
) -> int:
    """Regenerate the tables and figures of the paper, next to what it prints.

    Every finished run is kept: after Ctrl-C or a crash the same command goes on where it stopped, and a run whose
    settings have changed is made again.

    Parameters
    ----------
    datasets
        Which: synthetic, yelp, verbs, nouns, catalog, closure, or all.
    data
        Folder with the data files; verbs, nouns and closure can do with an installed WordNet, synthetic needs nothing.
    budget
        full trains as long as the tables in the documentation did; quick is a try of about a minute a data set.
    dims
        Dimensions instead of the paper's, as in --dims 2 5.
    methods
        Methods instead of all, as in --methods poincare ga-dl.
    seeds
        Seeds of the random numbers, as in --seeds 0 1 2.
    epochs
        Epochs instead of those of the budget.
    out
        Folder for runs, tables and figures; by default reproduction/full or reproduction/quick.
    threads
        Workers; 0 uses all cores.
    figures
        Draw the figures of the synthetic trees; this takes runs of its own.
    """
    from ..reproduce.datasets import DATASETS, TREES
    from ..reproduce.figures import draw_figures, require_plotting
    from ..reproduce.plan import Choices, plan
    from ..reproduce.runner import run_plan
    from ..reproduce.tables import write_tables

    chosen = [name for name in DATASETS if "all" in datasets or name in datasets]
    figures = figures and "synthetic" in chosen
    if figures:
        require_plotting()
    choices = Choices(
        budget=budget,
        dims=whole_numbers("dims", dims),
        methods=tuple(items(methods)),
        seeds=whole_numbers("seeds", seeds),
        epochs=epochs,
    )
    out = out or Path("reproduction") / budget
    jobs = plan(chosen, choices, figures)
    stopped = False
    try:
        run_plan(jobs, out, data=data, threads=threads, say=say, progress=TrainingProgress)
    except KeyboardInterrupt:
        stopped = True
    tables = write_tables(out, [tree for tree in TREES.values() if tree.dataset in chosen])
    drawn = draw_figures(out, choices) if figures and not stopped else []
    for path in tables + drawn:
        print(path)
    if stopped:
        say(f"stopped; finished runs are kept in {out}, and the same command goes on from there")
        return 1
    return 0
