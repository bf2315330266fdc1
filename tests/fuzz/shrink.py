"""Makes the input of a finding smaller, as long as the same is found."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .case import Case
from .drive import Worker

__all__ = ["replayed", "shrunk"]


def replayed(case: Case) -> dict[str, Any]:
    """What comes of a case in a process of its own."""
    worker = Worker()
    try:
        return worker.try_patiently(case)
    finally:
        worker.end()


def shrunk(case: Case, tries: int) -> Case:
    """The case with as few bytes as could be found, and no option that does not matter."""
    judge = _Judge(case, tries)
    try:
        for name in list(case.options):
            smaller = replace(case, options={key: value for key, value in case.options.items() if key != name})
            case = smaller if judge.is_same(smaller) else case
        for name in case.files:
            case = _with_less(case, name, judge.is_same)
    finally:
        judge.end()
    return case


def _with_less(case: Case, name: str, is_same: Callable[[Case], bool]) -> Case:
    """Leave out parts of a file, the largest first."""
    size = len(case.files[name])
    while size:
        size //= 2
        start = 0
        while size and start < len(case.files[name]):
            data = case.files[name]
            smaller = replace(case, files={**case.files, name: data[:start] + data[start + size :]})
            if is_same(smaller):
                case = smaller
            else:
                start += size
    return case


class _Judge:
    """Says whether a case still does what the first did, by a worker that lasts as long as it can."""

    def __init__(self, case: Case, tries: int) -> None:
        self.left = tries
        self.worker = Worker()
        self.due = self._what(case)
        if self.due is None:
            raise SystemExit("nothing is found with this input any more")

    def is_same(self, case: Case) -> bool:
        """Whether the same is found; False when enough was tried."""
        self.left -= 1
        return self.left > 0 and self._what(case) == self.due

    def end(self) -> None:
        """End the worker."""
        self.worker.end()

    def _what(self, case: Case) -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            answer = self.worker.try_input(case.target, {"folder": str(case.write(Path(folder)))})
        if answer.get("found") in ("hang", "crash"):
            self.worker.end()
            self.worker = Worker()
        if "found" not in answer:
            return None
        # Where memory goes or time passes differs from run to run, and what faulthandler saw as well.
        told: str = answer["found"]
        return told + answer["where"] if told == "traceback" else told
