"""Runs a plan: every finished run is stored at once, and what is stored and still true is not run again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..experiments.records import Record, make_folder, read_json, write_json
from ..experiments.timed_fit import ShowProgress, warm_up
from ..hierarchy import Hierarchy
from ..interruption import is_interruption
from . import datasets
from .estimate import estimate, overview
from .machine import Machine
from .one_run import Say, Watch, run_job
from .planner import Job
from .store import stored

if TYPE_CHECKING:
    from ..methods.run import Run

__all__ = ["Found", "run_plan", "survey", "time_left"]


class Found(NamedTuple):
    """What is stored of a run: its record, or why that is refused, or neither."""

    job: Job
    record: Record | None
    refused: str

    @property
    def words(self) -> str:
        """Its state in a few words."""
        return "done" if self.record is not None else f"stale: {self.refused}" if self.refused else "missing"


def survey(jobs: Sequence[Job], hierarchies: Mapping[str, Hierarchy], out: Path) -> list[Found]:
    """What of a plan is stored below `out`."""
    return [Found(job, *stored(job, hierarchies[job.tree.name], out)) for job in jobs]


def run_plan(
    jobs: Sequence[Job],
    hierarchies: Mapping[str, Hierarchy],
    out: Path,
    *,
    machine: Machine = Machine(),  # noqa: B008
    say: Say = lambda text: None,
    progress: ShowProgress | None = None,
) -> list[Record]:
    """Run what is not stored yet below `out`, and return all records of the plan, in its order.

    Parameters
    ----------
    hierarchies
        Those of the jobs, by the names of their trees.
    machine
        What the runs may use. Several at once are started in order.
    say
        Takes a line when a run starts or ends.
    progress
        Makes a display for a training of so many epochs; of several at once there is none.
    """
    for folder in ("runs", "models", "trees"):
        make_folder(out / folder, "--out")
    for name, hierarchy in hierarchies.items():
        write_json(out / "trees" / f"{name}.json", datasets.shape_of(datasets.TREES[name], hierarchy))
    found = survey(jobs, hierarchies, out)
    say(time_left(found, hierarchies, out, machine))
    for settings in {one.job.settings.method: one.job.settings for one in found if one.record is None}.values():
        warm_up(settings.replace(threads=machine.share, device=machine.device))

    def one(number: int, watch: Watch) -> Record:
        job, record, refused = found[number]
        start = f"[{number + 1}/{len(jobs)}] {job.name}: "
        if record is not None:
            say(f"{start}done before")
            return record
        say(f"{start}{f'{refused}, made again; ' if refused else ''}{job.settings.epochs:,} epochs")
        display = progress if machine.at_once == 1 else None
        record = run_job(job, hierarchies[job.tree.name], out, machine, say=say, progress=display, watch=watch)
        scores = record["scores"]
        done = "    " if machine.at_once == 1 else f"{job.name}: "
        say(f"{done}MAP {scores['map']:.4f}, MR {scores['mean_rank']:.3f} in {record['seconds']['training']:.1f} s")
        return record

    try:
        if machine.at_once == 1:
            return [one(number, lambda run: None) for number in range(len(found))]
        return _at_once(one, len(found), machine.at_once)
    except Exception as error:
        if is_interruption(error):
            raise KeyboardInterrupt from error
        raise


def _at_once(one: Callable[[int, Watch], Record], count: int, most: int) -> list[Record]:
    """All runs, so many at a time; Ctrl-C ends those under way after a few epochs."""
    stopping = threading.Event()

    def watch(run: Run) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt

    with ThreadPoolExecutor(most) as pool:
        runs = [pool.submit(one, number, watch) for number in range(count)]
        try:
            for run in wait(runs, return_when=FIRST_EXCEPTION).done:
                run.result()  # raises what ended it
            return [run.result() for run in runs]
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise


def time_left(found: Sequence[Found], hierarchies: Mapping[str, Hierarchy], out: Path, machine: Machine) -> str:
    """A sentence that says how long the rest of a plan takes. What is refused still tells how long such a run takes."""
    left = [one.job for one in found if one.record is None]
    kept = [record for path in (out / "runs").glob("*.json") if (record := read_json(path)) is not None]
    seconds = estimate(left, hierarchies, kept, machine) / machine.at_once
    return overview(seconds, len(left), len(found) - len(left))
