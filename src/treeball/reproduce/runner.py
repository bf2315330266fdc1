"""Runs a plan: every finished run is stored at once, and what is stored and still true is not run again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .. import __version__
from ..experiments.records import Record, make_folder, read_json, write_json
from ..experiments.timed_fit import ShowProgress, is_interruption, timed_fit, warm_up
from ..hierarchy import Hierarchy
from ..workers import thread_count
from . import datasets
from .checkpoints import RunCheckpoints
from .estimate import estimate, overview
from .planner import Job
from .store import identity, path_of, stored

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..methods.run import Run

__all__ = ["Found", "run_plan", "survey", "time_left"]

Say = Callable[[str], None]


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
    threads: int = 0,
    say: Say = lambda text: None,
    progress: ShowProgress | None = None,
) -> list[Record]:
    """Run what is not stored yet below `out`, in order, and return all records of the plan.

    Parameters
    ----------
    hierarchies
        Those of the jobs, by the names of their trees.
    say
        Takes a line when a run starts or ends.
    progress
        Makes a display for a training of so many epochs.
    """
    for folder in ("runs", "models", "trees"):
        make_folder(out / folder, "--out")
    for name, hierarchy in hierarchies.items():
        write_json(out / "trees" / f"{name}.json", datasets.shape_of(datasets.TREES[name], hierarchy))
    found = survey(jobs, hierarchies, out)
    say(time_left(found, hierarchies, out, threads))
    records: list[Record] = []
    warm: set[str] = set()
    for number, (job, record, refused) in enumerate(found, 1):
        start = f"[{number}/{len(jobs)}] {job.name}: "
        if record is not None:
            say(f"{start}done before")
            records.append(record)
            continue
        say(f"{start}{f'{refused}, made again; ' if refused else ''}{job.settings.epochs:,} epochs")
        if job.settings.method not in warm:
            warm_up(job.settings.replace(threads=threads))
            warm.add(job.settings.method)
        try:
            record = _run(job, hierarchies[job.tree.name], out, threads, say, progress)
        except Exception as error:
            if is_interruption(error):
                raise KeyboardInterrupt from error
            raise
        records.append(record)
        scores = record["scores"]
        say(f"    MAP {scores['map']:.4f}, MR {scores['mean_rank']:.3f} in {record['seconds']['training']:.1f} s")
    return records


def time_left(found: Sequence[Found], hierarchies: Mapping[str, Hierarchy], out: Path, threads: int) -> str:
    """A sentence that says how long the rest of a plan takes. What is refused still tells how long such a run takes."""
    left = [one.job for one in found if one.record is None]
    kept = [record for path in (out / "runs").glob("*.json") if (record := read_json(path)) is not None]
    return overview(estimate(left, hierarchies, kept, thread_count(threads)), len(left), len(found) - len(left))


def _run(job: Job, hierarchy: Hierarchy, out: Path, threads: int, say: Say, progress: ShowProgress | None) -> Record:
    """Train, score and store one run, from its checkpoint if it has one."""
    settings = job.settings.replace(threads=threads)
    made_of = identity(job, hierarchy)
    snapshots: dict[int, Embedding] = {}

    def keep(run: Run) -> None:
        # Training stops at multiples of trace_every; in between the next stop stands for the moment asked for.
        due = [epoch for epoch in job.snapshots if epoch <= run.epoch and epoch not in snapshots]
        for epoch in due:
            snapshots[epoch] = run.embedding()

    checkpoints = RunCheckpoints(path_of(job, out), made_of)
    # Vectors along the way would be lost; the runs that keep them take seconds.
    before = None if job.snapshots else checkpoints.resume(say)
    fitted = timed_fit(
        hierarchy,
        settings,
        progress=progress,
        watch=keep,
        resume=before,
        checkpoints=None if job.snapshots else checkpoints,
    )
    embedding = fitted.embedding
    started = time.perf_counter()
    scores = embedding.evaluate(sample=job.sample, threads=threads).to_dict()
    scoring = time.perf_counter() - started
    made = embedding.provenance
    log = [entry.to_dict() for entry in made.log]
    record = {
        "tree": job.tree.name,
        "terms": job.terms,
        "label": job.label,
        "variant": job.variant,
        "radius": job.radius,
        **made_of,
        "scores": scores,
        "updates": job.updates,
        "seconds": {"training": checkpoints.seconds_before + fitted.seconds, "scoring": scoring},
        "threads": thread_count(threads),
        "clamped": {"times": made.clamped.times, "at_radius": made.clamped.at_radius},
        "log": log,
        "dilations": [entry["epoch"] for entry in log if "dilated" in entry],
        "trace": list(made.trace),
        "snapshots": [
            {"epoch": one.provenance.epochs_done, "asked": epoch, "file": _save_snapshot(job, epoch, one, out)}
            for epoch, one in sorted(snapshots.items())
        ],
        "version": __version__,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_json(path_of(job, out), record)
    checkpoints.remove()
    return record


def _save_snapshot(job: Job, epoch: int, embedding: Embedding, out: Path) -> str:
    file = f"models/{job.name}-e{epoch}.parquet"
    embedding.save(out / file)
    return file
