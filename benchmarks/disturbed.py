"""Commands that write files, run in children of this process, and what is on the disk afterwards; for `faults.py`."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import treeball
from treeball.cli.main import run

__all__ = ["COMMANDS", "OUTCOMES", "Command", "Sabotage", "Workshop", "wait"]

Sabotage = Callable[[], None]
OUTCOMES = ("old", "new", "resumable", "LOST")
PATIENCE = 120.0  # seconds; commands take one


def same_bytes(a: Path, b: Path) -> bool:
    """Whether two files are the same."""
    return a.read_bytes() == b.read_bytes()


def same_vectors(a: Path, b: Path) -> bool:
    """Whether two files of vectors hold the same; DuckDB never writes the same bytes twice."""
    try:
        one, two = (treeball.import_vectors(path) for path in (a, b))
    except treeball.TreeballError:
        return False
    return bool(list(one.names) == list(two.names) and (one.vectors == two.vectors).all())


@dataclass(frozen=True)
class Command:
    """A command, the files that it writes, and whether it can go on where it stopped."""

    name: str
    arguments: str
    outputs: tuple[str, ...]
    resumes: bool = False
    is_same: Callable[[Path, Path], bool] = same_bytes


TRAINING = "--method poincare --dim 3 --epochs 4 --deterministic --seed 1 --checkpoint-seconds 0 --threads 1"
COMMANDS = (
    Command("fit", f"fit new.csv -o out.parquet {TRAINING}", ("out.parquet",), resumes=True),
    Command("fit auto", "fit new.csv -o out.parquet --threads 1", ("out.parquet",)),
    Command("fit snapshots", f"fit new.csv -o out.parquet --snapshots 2 {TRAINING}", ("out.parquet",), resumes=True),
    Command("heal", "heal ill.parquet -o out.parquet --threads 1", ("out.parquet",)),
    Command("insert", "insert model.parquet more.csv -o out.parquet --threads 1", ("out.parquet",)),
    Command("update", "update model.parquet new.csv -o out.parquet --threads 1 --force", ("out.parquet",)),
    Command("import", "import vectors.csv -o out.parquet", ("out.parquet",)),
    Command("export csv", "export model.parquet -o out.csv", ("out.csv",)),
    Command("export npy", "export model.parquet -o out.npy", ("out.npy", "out.names.txt")),
    Command("export duckdb", "export model.parquet -o out.duckdb", ("out.duckdb",), is_same=same_vectors),
    Command(
        "split", "split new.csv -o . --leaves 0.2 --validation 0.1", ("train.tsv", "heldout.tsv", "validation.tsv")
    ),
    Command("align", "align old.csv new.csv -o out.csv", ("out.csv",)),
    Command("view", "view model.parquet --html out.html", ("out.html",)),
    Command("diagnose", "diagnose ill.parquet --html out.html --threads 1", ("out.html",)),
)
# What an earlier run of the same command read instead, as other-NAME: as many nodes with other names.
OTHERS = ("old.csv", "new.csv", "more.csv", "model.parquet", "ill.parquet", "vectors.csv")


@dataclass
class Workshop:
    """A folder with the inputs, and for each command one with its earlier result and one with its new one."""

    folder: Path
    rng: random.Random
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    @property
    def said(self) -> Path:
        """Where the last command wrote what it said."""
        return self.folder / "said"

    def of(self, command: Command, what: str) -> Path:
        """The folder of a command that holds its old, its new or its present files."""
        return self.folder / f"{command.name.replace(' ', '-')}.{what}"

    def prepare(self, commands: list[Command]) -> None:
        """Make inputs, an old result of each command, and its new one."""
        inputs = self.folder / "inputs"
        inputs.mkdir()
        for kind, base in (("node", 4), ("other", 3)):
            edges = [(f"{kind} {i}", f"{kind} {(i - 1) // base}") for i in range(1, 120)]
            more = [(f"more {i}", f"{kind} {i}") for i in range(20)]
            for name, some in {"old.csv": edges, "new.csv": edges + more, "more.csv": more}.items():
                text = "child,parent\n" + "".join(f"{a},{b}\n" for a, b in some)
                (inputs / (name if kind == "node" else f"other-{name}")).write_text(text, "utf-8")
        for kind, source in (("", "old.csv"), ("other-", "other-old.csv")):
            self._must(f"fit {source} -o {kind}model.parquet --threads 1", inputs)
            self._must(f"fit {source} -o {kind}ill.parquet {TRAINING}", inputs)
            self._must(f"export {kind}model.parquet -o {kind}vectors.csv", inputs)
        for command in commands:
            self._prepare(command, inputs)

    def _prepare(self, command: Command, inputs: Path) -> None:
        old, new = self.of(command, "old"), self.of(command, "new")
        shutil.copytree(inputs, new)
        self._must(command.arguments, new)
        shutil.copytree(inputs, old)
        for name in OTHERS:
            shutil.copy(inputs / f"other-{name}", old / name)
        shutil.copytree(old, self.of(command, "rival"))
        self._must(command.arguments, old)
        shutil.copytree(inputs, old, dirs_exist_ok=True)
        began = time.monotonic()
        if wait(self.start(command.arguments, self.fresh(command))):
            raise SystemExit(f"treeball {command.arguments} failed in a child: {self.said.read_text('utf-8')}")
        self.seconds[command.name] = time.monotonic() - began
        if self._state(command, self.of(command, "now")) != "new":
            raise SystemExit(f"treeball {command.arguments} does not write the same each time")

    def fresh(self, command: Command, place: Path | None = None) -> Path:
        """A folder with the inputs and the old result, where the command may be disturbed."""
        folder = place or self.of(command, "now")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.of(command, "old"), folder)
        return folder

    def start(self, arguments: str, folder: Path, sabotage: Sabotage | None = None) -> int:
        """Start a command in a child, in a folder."""
        return start(arguments, folder, self.said, sabotage)

    def start_rival(self, command: Command, folder: Path) -> int:
        """Start the command that made the old result, elsewhere, to write its outputs to this folder."""
        words = command.arguments.split(" ")
        place = words.index("-o" if "-o" in words else "--html") + 1
        words[place] = str(folder / words[place])
        return self.start(" ".join(words), self.of(command, "rival"))

    def judge(
        self,
        fault: str,
        command: Command,
        folder: Path,
        code: int,
        again: Path | None = None,
        either: bool = False,
    ) -> None:
        """Count what is there now; where it is neither old nor new, whether the command brings it there.

        It is done again in the folder itself, or in a copy of it at `again` where the folder cannot be written. A
        command that succeeded must have written what is new, unless `either` will do.
        """
        self.left[fault] += sum(path.name.startswith(".") for path in folder.iterdir())
        outcome, said = self._state(command, folder), self.said.read_text("utf-8", "replace")
        found = self._details(command, folder)
        checkpoint = folder / (command.outputs[0] + ".checkpoint")
        if outcome == "incomplete" or (outcome == "old" and not either and command.resumes and checkpoint.exists()):
            if again is not None:
                shutil.copytree(folder, again)
            place = again or folder
            arguments = command.arguments + (" --resume" if command.resumes else "")
            done = wait(self.start(arguments, place)) == 0 and self._state(command, place) == "new"
            outcome = "resumable" if done else "LOST"
        # Two writers share standard error: the sentence of one that is refused may stand before the lines of the other.
        last = (said.splitlines() or [""])[-1]
        is_refused = "treeball: " in said if either else last.startswith("treeball: ")
        is_said = code in (0, -signal.SIGKILL) or is_refused
        if "Traceback" in said or not is_said or (code == 0 and outcome != "new" and not either):
            outcome = "LOST"
        self.counts[fault, command.name, outcome] += 1
        if outcome == "LOST":
            self.lost.append(f"{fault}, {command.name}: exit code {code}, {found}: {said[-400:]}")

    def _state(self, command: Command, folder: Path) -> str:
        """Whether the outputs together are old, new, incomplete, which is less than either, or neither of them."""
        found = self._details(command, folder).values()
        for what in ("new", "old"):
            if all(what in one for one in found):
                return what
        there = [one for one in found if one != "missing"]
        return "incomplete" if any(all(what in one for one in there) for what in ("new", "old")) else "LOST"

    def _details(self, command: Command, folder: Path) -> dict[str, str]:
        """For every output what it is: old, new, both where these are the same, missing, or something else."""
        found = {}
        for name in command.outputs:
            path = folder / name
            states = [
                what
                for what in ("new", "old")
                if path.exists() and command.is_same(path, self.of(command, what) / name)
            ]
            found[name] = (" and ".join(states) or "something else") if path.exists() else "missing"
        return found

    def _must(self, arguments: str, folder: Path) -> None:
        """Run a command in this very process, so that its children need neither import nor compile anything."""
        here = os.getcwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                code = run(arguments.split())
        finally:
            os.chdir(here)
        if code:
            raise SystemExit(f"treeball {arguments} failed undisturbed: {said.getvalue()}")


def start(arguments: str, folder: Path, said: Path, sabotage: Sabotage | None = None) -> int:
    """Run a command in a child process, in a folder; returns at once, with the number of the child."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.chdir(folder)
        stream = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
        if sabotage is not None:
            sabotage()
        code = run(arguments.split())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def wait(child: int) -> int:
    """The exit code of a child; negative when a signal ended it, which is done to one that hangs."""
    deadline = time.monotonic() + PATIENCE
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGABRT)
        time.sleep(0.002)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
