"""Watches the workers: hands out inputs, ends a worker that hangs, and keeps what was found."""

from __future__ import annotations

import hashlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .budget import SECONDS
from .case import Case

__all__ = ["Finding", "Run", "Worker"]

# Compiling is no hang: what seems to hang is tried again with so much time, and then once more.
_PREPARE_SECONDS = 900.0
_PATIENCE_SECONDS = 60.0
# Libraries keep some of the address space that each input took: after so many of them there would be none left.
_INPUTS_PER_WORKER = 50_000


class Worker:
    """A process of `worker.py`, and the folder where its present input lies.

    All that it writes, temporary files included, lies in a place of its own, which goes when it ends: whoever is killed
    tidies nothing up.
    """

    def __init__(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="treeball-fuzz-"))
        self.folder = self.place / "input"
        temporary = self.place / "temporary"
        for folder in (self.folder, temporary):
            folder.mkdir()
        self.errors = open(self.place / "errors.log", "w+b")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONHASHSEED": "0", "TMPDIR": str(temporary)},
        )
        self.ready: set[str] = set()
        self.tried = 0

    def ask(self, asked: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """Its answer, or None when there was none in time; what it died of when it is dead.

        In time is so many seconds of work: on a machine that has other things to do, these take longer.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.poll() is not None:
            return self._died()
        try:
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self._died()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            began, worked = time.monotonic(), self._worked()
            while not selector.select(seconds):
                waited = time.monotonic() - began
                if waited >= max(seconds, _PATIENCE_SECONDS) or self._worked() - worked >= seconds:
                    return None
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else self._died()
        return answer

    def make_ready(self, target: str) -> None:
        """Let it do once what a target takes time for."""
        if target in self.ready:
            return
        prepared = self.ask({"prepare": target}, _PREPARE_SECONDS)
        if prepared is None or "found" in prepared:
            raise RuntimeError(f"{target} could not be made ready:\n{self.said()}")
        self.ready.add(target)

    def try_input(self, target: str, asked: dict[str, Any]) -> dict[str, Any]:
        """What came of an input; a worker that hung or died is of no more use."""
        self.make_ready(target)
        self.tried += 1
        answer = self.ask(asked, SECONDS)
        return self._hung() if answer is None else answer

    def try_patiently(self, case: Case) -> dict[str, Any]:
        """What comes of a case once all that it needs is compiled."""
        self.make_ready(case.target)
        with tempfile.TemporaryDirectory() as folder:
            asked = {"folder": str(case.write(Path(folder)))}
            if self.ask(asked, _PATIENCE_SECONDS) is None:
                return self._hung()
            return self.try_input(case.target, asked)

    def said(self) -> str:
        """The end of what it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read()[-6000:].decode("utf-8", "replace")

    def end(self) -> None:
        """End the process and clean up after it."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                stream.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def _worked(self) -> float:
        """Seconds of the processor that it took so far; where nobody counts them, those that have passed."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _hung(self) -> dict[str, Any]:
        self.process.kill()
        self.process.wait()
        said = self.said()
        return {"found": "hang", "where": _innermost(said), "said": said}

    def _died(self) -> dict[str, Any]:
        code = self.process.wait()
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        said = self.said()
        return {"found": "crash", "where": f"{cause} at {_innermost(said)}", "said": said}


def _innermost(said: str) -> str:
    """The innermost line of treeball's own in what faulthandler wrote last."""
    last = said.rpartition("most recent call first")[2]
    found = re.search(r'File ".*[/\\]treeball[/\\](?:.*[/\\])?(\w+\.py)", line (\d+)', last)
    return ":".join(found.groups()) if found else "unknown"


@dataclass
class Finding:
    """What went wrong, with the first input that did it and how many did."""

    target: str
    found: str
    where: str
    folder: Path
    times: int = 1

    def __str__(self) -> str:
        return f"{self.target}: {self.found}, {self.where} ({self.times} times): {self.folder}"


@dataclass
class Run:
    """One run over some targets: what was tried so far, and what was found."""

    seed: int
    targets: Sequence[str]
    findings_folder: Path
    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    _next: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def go(self, seconds: float, jobs: int, most: int | None = None) -> None:
        """Try inputs for some seconds, not counting those until the first is tried; `most` of each target at most."""
        with ThreadPoolExecutor(jobs) as pool:
            turns = [pool.submit(self._work, seconds, most, job) for job in range(jobs)]
        for turn in turns:
            turn.result()  # a worker that could not work is no run without findings

    def _work(self, seconds: float, most: int | None, job: int) -> None:
        """The turns of one worker: the next is the target that took the least time, so that slow ones delay no other.

        Each worker begins with another target.
        """
        worker = Worker()
        order = [*self.targets[job:], *self.targets[:job]]
        spent = dict.fromkeys(order, 0.0)
        try:
            for target in order:
                worker.make_ready(target)
            deadline = time.monotonic() + seconds
            while spent and (began := time.monotonic()) < deadline:
                target = min(spent, key=spent.__getitem__)
                number = self._take(target)
                if most is not None and number >= most:
                    del spent[target]
                    continue
                answer = worker.try_input(target, {"target": target, "seed": self.seed, "number": number})
                case = Case.read(worker.folder) if "found" in answer else None
                if answer.get("found") in ("hang", "crash") or worker.tried >= _INPUTS_PER_WORKER:
                    worker.end()
                    worker = Worker()
                if answer.get("found") == "hang" and case is not None:
                    answer = worker.try_patiently(case)
                    if "found" in answer:
                        worker.end()
                        worker = Worker()
                self._note(target, number, answer, case)
                spent[target] += time.monotonic() - began
        finally:
            worker.end()

    def _take(self, target: str) -> int:
        with self._lock:
            self._next[target] += 1
            return self._next[target] - 1

    def _note(self, target: str, number: int, answer: dict[str, Any], case: Case | None) -> None:
        with self._lock:
            self.tried[target, answer.get("outcome", "found")] += 1
            if "found" not in answer or case is None:
                return
            key = (target, answer["found"], answer["where"])
            if key in self.findings:
                self.findings[key].times += 1
                return
            name = f"{target}-{hashlib.sha256(repr(key).encode()).hexdigest()[:8]}"
            told = {"seed": self.seed, "number": number, **answer}
            folder = case.write(self.findings_folder / name, **told)
            self.findings[key] = Finding(target, answer["found"], answer["where"], folder)
            print(f"FOUND {self.findings[key]}", flush=True)
