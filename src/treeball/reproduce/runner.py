"""Runs a plan: every finished run is stored at once, and what is stored is not run again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..experiments.records import Record, fingerprint, make_folder, read_json, write_json
from ..experiments.timed_fit import ShowProgress, timed_fit, warm_up
from ..hierarchy import Hierarchy
from ..workers import thread_count
from . import datasets
from .plan import Job

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..methods.run import Run


def run_plan(
    jobs: Sequence[Job],
    out: Path,
    *,
    data: Path | None = None,
    threads: int = 0,
    say: Callable[[str], None] = lambda text: None,
    progress: ShowProgress | None = None,
) -> list[Record]:
    """Run what is not stored yet below `out`, in order, and return all records of the plan.

    Parameters
    ----------
    data
        Folder of the data files.
    say
        Takes a line when a run starts or ends.
    progress
        Makes a display for a training of so many epochs.
    """
    # All files are looked for now, not after an hour of work on the first data set.
    for tree in {job.tree.name: job.tree for job in jobs}.values():
        datasets.locate(tree, data)
    for folder in ("runs", "models", "trees"):
        make_folder(out / folder, "--out")
    records: list[Record] = []
    hierarchy: Hierarchy | None = None
    loaded = ""
    warm: set[str] = set()
    for number, job in enumerate(jobs, 1):
        if hierarchy is None or loaded != job.tree.name:
            hierarchy, loaded = datasets.load(job.tree, data), job.tree.name
            write_json(out / "trees" / f"{loaded}.json", datasets.shape_of(job.tree, hierarchy))
        stored = _stored(job, hierarchy, out)
        if stored is not None:
            say(f"[{number}/{len(jobs)}] {job.name}: done before")
            records.append(stored)
            continue
        say(f"[{number}/{len(jobs)}] {job.name}: {job.settings.epochs:,} epochs")
        if job.settings.method not in warm:
            warm_up(job.settings.replace(threads=threads))
            warm.add(job.settings.method)
        record = _run(job, hierarchy, out, threads, progress)
        write_json(_path(job, out), record)
        records.append(record)
        scores = record["scores"]
        say(f"    MAP {scores['map']:.4f}, MR {scores['mean_rank']:.3f} in {record['seconds']['training']:.1f} s")
    return records


def read_records(out: Path, tree: str) -> list[Record]:
    """All stored runs of a tree, variants included; files that are no such records are passed over."""
    records = []
    for path in sorted((out / "runs").glob(f"{tree}-*.json")):
        record = read_json(path)
        if record is not None and record.get("tree") == tree:
            records.append(record)
    return records


def _run(
    job: Job,
    hierarchy: Hierarchy,
    out: Path,
    threads: int,
    progress: ShowProgress | None,
) -> Record:
    settings = job.settings.replace(threads=threads)
    snapshots: dict[int, Embedding] = {}

    def keep(run: Run) -> None:
        # Training stops at multiples of trace_every; in between the next stop stands for the moment asked for.
        due = [epoch for epoch in job.snapshots if epoch <= run.epoch and epoch not in snapshots]
        for epoch in due:
            snapshots[epoch] = run.embedding()

    fitted = timed_fit(hierarchy, settings, progress=progress, watch=keep)
    embedding = fitted.embedding
    started = time.perf_counter()
    scores = embedding.evaluate(sample=job.sample, threads=threads).to_dict()
    scoring = time.perf_counter() - started
    made = embedding.provenance
    return {
        "tree": job.tree.name,
        "variant": job.variant,
        "settings": job.settings.to_dict(),
        "data": fingerprint(hierarchy),
        "scores": scores,
        "pairs": int(hierarchy.positives(settings.objective)[1].size),
        "sample": job.sample,
        "seconds": {"training": fitted.seconds, "scoring": scoring},
        "threads": thread_count(threads),
        "clamped": {"times": made.clamped.times, "at_radius": made.clamped.at_radius},
        "log": [entry.to_dict() for entry in made.log],
        "trace": list(made.trace),
        "snapshots": [
            {"epoch": one.provenance.epochs_done, "asked": epoch, "file": _save_snapshot(job, epoch, one, out)}
            for epoch, one in sorted(snapshots.items())
        ],
        "version": __version__,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _save_snapshot(job: Job, epoch: int, embedding: Embedding, out: Path) -> str:
    file = f"models/{job.name}-e{epoch}.parquet"
    embedding.save(out / file)
    return file


def _stored(job: Job, hierarchy: Hierarchy, out: Path) -> Record | None:
    """The record of an earlier run of this job on this data, or None."""
    record = read_json(_path(job, out))
    if record is None:
        return None
    same = (
        record.get("settings") == json.loads(json.dumps(job.settings.to_dict()))
        and record.get("data") == fingerprint(hierarchy)
        and record.get("sample") == job.sample
        and {one["asked"] for one in record.get("snapshots", [])} >= set(job.snapshots)
        and all((out / one["file"]).is_file() for one in record.get("snapshots", []))
    )
    return record if same else None


def _path(job: Job, out: Path) -> Path:
    return out / "runs" / f"{job.name}.json"
