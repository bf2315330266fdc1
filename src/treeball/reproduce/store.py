"""The records of finished runs: where they are, whether they are still true, and what is kept of them in the docs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ..experiments.records import Record, fingerprint, read_json
from ..hierarchy import Hierarchy
from .code_hash import code_hash
from .planner import Job

__all__ = ["identity", "path_of", "read_records", "stored", "why_stale"]


def path_of(job: Job, out: Path) -> Path:
    """The file of its record."""
    return out / "runs" / f"{job.name}.json"


def identity(job: Job, hierarchy: Hierarchy) -> Record:
    """What a record must share with a job to stand for it: settings, data, code, and what was scored."""
    made_of = {
        "settings": job.settings.to_dict(),
        "data": fingerprint(hierarchy),
        "code": code_hash(job.settings.method),
        "sample": job.sample,
    }
    return dict(json.loads(json.dumps(made_of)))


def stored(job: Job, hierarchy: Hierarchy, out: Path) -> tuple[Record | None, str]:
    """The record of an earlier run of this job, or None; and why one that is there is refused."""
    record = read_json(path_of(job, out))
    if record is None:
        return None, ""
    reason = why_stale(record, identity(job, hierarchy))
    kept = record.get("snapshots", [])
    if not reason and not (
        {one["asked"] for one in kept} >= set(job.snapshots) and all((out / one["file"]).is_file() for one in kept)
    ):
        reason = "vectors along the way are missing"
    return (None, reason) if reason else (record, "")


def why_stale(record: Record, wanted: Mapping[str, object]) -> str:
    """Why a record does not stand for what is wanted, in a few words; empty if it does."""
    words = {
        "settings": "made with other settings",
        "data": "made on other data",
        "code": "made by other code",
        "sample": "scored on other nodes",
    }
    return next((why for name, why in words.items() if record.get(name) != wanted[name]), "")


def read_records(out: Path, tree: str) -> list[Record]:
    """All stored runs of a tree that today's code would make, variants included; other files are passed over."""
    records = []
    for path in sorted((out / "runs").glob(f"{tree}-*.json")):
        record = read_json(path)
        if record is not None and record.get("tree") == tree and is_todays(record):
            records.append({**record, "name": path.stem})
    return records


def is_todays(record: Record) -> bool:
    """Whether the code that made a record is the code of today."""
    return record.get("code") == code_hash(record["settings"]["method"])
