"""The folder of a bench: its plan and its finished runs, so that the next call goes on where the last one stopped."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from .._version import __version__
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..words import printable
from .bench_settings import BenchPlan, Job
from .records import Record, fingerprint, make_folder, read_json, write_json

__all__ = ["BenchFolder"]

_FORMAT = 1


class BenchFolder:
    """Keeps the runs of a plan: in files where there is a folder, else in memory.

    A folder has one hierarchy and one set of terms. A call with other methods, dimensions or seeds adds to it; one with
    other terms or another hierarchy is refused, because a mean over both would mean nothing.

    Parameters
    ----------
    path
        The folder; it is made if need be. None keeps everything in memory.
    """

    def __init__(self, path: Path | None, hierarchy: Hierarchy, plan: BenchPlan) -> None:
        self.path = path
        self.data = {**fingerprint(hierarchy), "content": _content(hierarchy)}
        self.source = "the hierarchy" if hierarchy.report is None else hierarchy.report.source
        self.plan = plan
        self._records: dict[Job, Record] = {}
        if path is not None:
            self._open(path)

    def _open(self, path: Path) -> None:
        file = path / "bench.json"
        if path.is_dir() and any(path.iterdir()) and not file.exists():
            raise InputError(f"the folder {str(path)!r} holds something else, and no bench.json: choose another folder")
        if file.exists():
            self.plan = self._joined(read_json(file))
        make_folder(path / "runs", "another output")
        record = {"bench": _FORMAT, "source": self.source, "data": self.data, "terms": self.plan.terms}
        record |= {name: list(getattr(self.plan, name)) for name in ("methods", "dims", "seeds")}
        write_json(file, record | {"version": __version__})

    def _joined(self, before: Record | None) -> BenchPlan:
        """The plan with what the folder has in addition; InputError where they do not go together."""
        try:
            if before is None or before["bench"] != _FORMAT:
                raise ValueError
            terms, data, plan = before["terms"], before["data"], self.plan
            lists: dict[str, Any] = {
                name: (*before[name], *getattr(plan, name)) for name in ("methods", "dims", "seeds")
            }
            was = {**terms, **terms["settings"]}
            joined = dataclasses.replace(plan, **lists)
            content, sha256 = data["content"], data["sha256"]
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"{str(self.path)!r} has a bench.json that cannot be read: choose another folder, or remove it"
            ) from None
        if content != self.data["content"]:
            changed = (
                f"{self.source} has changed" if sha256 != self.data["sha256"] else f"{self.source} is read otherwise"
            )
            raise InputError(
                f"{changed} since the bench in {str(self.path)!r} ({data['nodes']:,} nodes then, "
                f"{self.data['nodes']:,} now): choose another folder for it"
            )
        if sha256 != self.data["sha256"]:
            told = "%s is another file than before, but holds the same hierarchy: going on"
            logging.getLogger("treeball").warning(told, printable(self.source))
        now = {**plan.terms, **plan.terms["settings"]}
        names = [name for name in {**was, **now} if name != "settings" and was.get(name) != now.get(name)]
        if names:
            differ = "; ".join(
                f"{name} was {_spoken(was.get(name))} and is now {_spoken(now.get(name))}" for name in names
            )
            raise InputError(
                f"the bench in {str(self.path)!r} has other terms: {differ}; choose another folder for these"
            )
        return joined

    def get(self, job: Job) -> Record | None:
        """The record of a finished run, or None."""
        if self.path is None:
            return self._records.get(job)
        record = read_json(self._file(job))
        same = record is not None and record.get("job") == job._asdict() and record.get("terms") == self.plan.terms
        return record if same else None

    def put(self, job: Job, record: Record) -> None:
        """Keep the record of a run that has just finished."""
        self._records[job] = record
        if self.path is not None:
            write_json(self._file(job), record)

    def records(self) -> list[Record]:
        """Of all finished runs, also of those that an earlier call asked for."""
        found = (self.get(job) for job in self.plan.jobs())
        return [record for record in found if record is not None]

    def _file(self, job: Job) -> Path:
        assert self.path is not None
        return self.path / "runs" / f"{quote(job.method, safe='')}-d{job.dim}-s{job.seed}.json"


def _content(hierarchy: Hierarchy) -> str:
    """A hash of names, edges and weights: two files may hold the same hierarchy, and one file be read in two ways."""
    digest = hashlib.sha256()
    for name in hierarchy.names:
        digest.update(repr(name).encode() + b"\n")
    for codes in hierarchy.edges():
        digest.update(np.asarray(codes, np.int64).tobytes())
    if hierarchy.parent_weight is not None:
        digest.update(np.asarray(hierarchy.parent_weight, np.float64).tobytes())
    return digest.hexdigest()


def _spoken(value: object) -> str:
    return "not set" if value is None else str(value)
