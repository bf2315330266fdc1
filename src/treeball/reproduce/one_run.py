"""One run of a plan: trained, scored, stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..experiments.records import Record, write_json
from ..experiments.timed_fit import ShowProgress, timed_fit
from ..hierarchy import Hierarchy
from .checkpoints import RunCheckpoints
from .machine import Machine
from .planner import Job
from .store import identity, path_of

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..methods.run import Run

__all__ = ["Say", "Watch", "run_job"]

Say = Callable[[str], None]
Watch = Callable[["Run"], None]


def run_job(
    job: Job,
    hierarchy: Hierarchy,
    out: Path,
    machine: Machine,
    *,
    say: Say,
    progress: ShowProgress | None,
    watch: Watch,
) -> Record:
    """Train, score and store one run, from its checkpoint if it has one.

    Parameters
    ----------
    watch
        Called after every few epochs; what it raises ends the run.
    """
    threads = machine.share
    settings = job.settings.replace(threads=threads, device=machine.device)
    made_of = identity(job, hierarchy)
    snapshots: dict[int, Embedding] = {}

    def keep(run: Run) -> None:
        watch(run)
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
        "threads": threads,
        "at_once": machine.at_once,
        "device": next((entry["device"] for entry in log if "device" in entry), "cpu"),
        "clamped": {"times": made.clamped.times, "at_radius": made.clamped.at_radius},
        "log": log,
        "dilations": [] if made.dilations is None else list(made.dilations.epochs),
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
