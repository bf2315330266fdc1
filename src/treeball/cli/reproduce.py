"""``treeball reproduce``: the paper's tables and figures from one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..errors import InputError
from ..interruption import INTERRUPTED, answered
from ..limits import PUBLISHED_RADIUS
from ..methods.progress import TrainingProgress
from ..reproduce.recipes import RADII
from ..types import Device
from .console import print_line, say
from .lists import Listed, items, whole_numbers

Dataset = Literal["synthetic", "yelp", "verbs", "catalog", "nouns", "closure", "all"]


def reproduce(
    datasets: Annotated[list[Dataset], Parameter(name="DATASET")],
    /,
    *,
    data: Path | None = None,
    budget: Literal["quick", "full"] = "full",
    dims: Listed = None,
    methods: Listed = None,
    seeds: Listed = None,
    max_radius: Listed = None,
    epochs: int | None = None,
    out: Annotated[Path | None, Parameter(alias="-o")] = None,
    threads: int = 0,
    device: Device = "auto",
    at_once: int = 1,
    figures: Annotated[bool, Parameter(negative="--no-figures")] = True,
    docs: Path | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Regenerate the tables and figures of the paper, next to what it prints.

    Every finished run is kept, and an unfinished one as far as it is: after Ctrl-C, SIGTERM or a crash the same command
    goes on where it stopped. A run whose settings, data or code have changed is made again.

    Parameters
    ----------
    datasets
        Which: synthetic, yelp, verbs, catalog, nouns, closure, or all; they are run in this order, the cheapest first.
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
    max_radius
        Largest radii instead of both, 12.2, that of published trainers, and 30, what float64 carries; all methods have
        the same.
    epochs
        Epochs instead of those of the budget.
    out
        Folder for runs, tables and figures; by default reproduction/full or reproduction/quick.
    threads
        Workers; 0 uses all cores.
    device
        Where to train: cpu, cuda (a graphics card), or auto, which takes a card where there is one and it pays.
    at_once
        Runs at the same time, each with its share of the threads: on a card, or on many cores, some are faster so.
    figures
        Draw the figures of the synthetic trees; this takes runs of its own.
    docs
        Page to put tables, records and figures into, such as docs/reproduction.md.
    dry_run
        Say of every run whether it is done, stale or missing, and how long the rest takes; run nothing.
    """
    from ..experiments.sigterm import SigtermLikeCtrlC
    from ..reproduce.datasets import DATASETS, load_all
    from ..reproduce.figures import draw_figures, require_plotting
    from ..reproduce.machine import Machine
    from ..reproduce.page import require_marks, write_page
    from ..reproduce.plan import Choices, plan
    from ..reproduce.runner import run_plan, survey, time_left
    from ..reproduce.tables import write_tables

    chosen = [name for name in DATASETS if "all" in datasets or name in datasets]
    figures = figures and "synthetic" in chosen
    if figures:
        require_plotting()
    if docs is not None:
        require_marks(docs)
    choices = Choices(
        budget=budget,
        dims=whole_numbers("dims", dims),
        methods=tuple(items(methods)),
        seeds=whole_numbers("seeds", seeds),
        radii=_radii(max_radius),
        epochs=epochs,
    )
    machine = Machine(threads, device, at_once)
    out = out or Path("reproduction") / budget
    hierarchies = load_all(chosen, data)
    jobs = plan(hierarchies, choices, figures)
    if dry_run:
        found = survey(jobs, hierarchies, out)
        for one in found:
            print_line(f"{one.job.name}  {one.words}")
        say(time_left(found, hierarchies, out, machine))
        return 0
    stopped = False
    with SigtermLikeCtrlC():
        try:
            run_plan(jobs, hierarchies, out, machine=machine, say=say, progress=TrainingProgress)
        except KeyboardInterrupt:
            answered()
            stopped = True
    written = write_tables(out)
    if figures and not stopped:
        written += draw_figures(out)
    for path in written:
        print_line(str(path))
    if stopped:
        say(f"stopped; what there is is kept in {out}, and the same command goes on from there")
        return INTERRUPTED
    if docs is not None:
        say(f"put into {docs}: {', '.join(write_page(docs, out))}")
    return 0


def _radii(given: list[str] | None) -> tuple[float, ...]:
    """Radii as the user writes them; 12.2 stands for the one of published trainers, a margin of 1e-5 to the rim."""
    if not items(given):
        return RADII
    try:
        numbers = [float(word) for word in items(given)]
    except ValueError as error:
        raise InputError(
            f"--max-radius takes numbers, as in --max-radius 12.2 30, not {' '.join(items(given))!r}"
        ) from error
    return tuple(dict.fromkeys(PUBLISHED_RADIUS if number == 12.2 else number for number in numbers))
