"""The harness itself: whatever an input does is noticed, and laid down so that it can be tried again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from random import Random

import numpy as np
import pytest

import treeball
from tests.fuzz import budget, drive, mutate
from tests.fuzz.case import Case
from tests.fuzz.dice import Dice
from tests.fuzz.drive import Run, Worker
from tests.fuzz.model_changes import changed, sealed
from tests.fuzz.mutate import mutated
from tests.fuzz.shrink import replayed, shrunk
from tests.fuzz.targets import TARGETS, databases, find, models, partitions, writers
from tests.fuzz.targets.models import written
from treeball.errors import InputError
from treeball.io.model_file import to_table


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(drive, "SECONDS", 3.0)
    monkeypatch.setattr(drive, "_PATIENCE_SECONDS", 3.0)
    monkeypatch.setenv("FUZZ_MEGABYTES", "64")


def mischief(text: bytes) -> Case:
    return Case("mischief", {"input": text})


def test_a_mutator_makes_no_gigabytes_of_a_long_line():
    """Each of its changes is cut only when it has been made."""
    line, most = b"x" * 1_900_000, 0
    for seed in range(40):
        most = max(most, len(mutate._number_lines(line, [line], Random(seed))))
    assert most < 8_000_000


@pytest.mark.slow
def test_one_worker_sees_a_refusal_a_traceback_memory_and_a_crash(impatient, tmp_path):
    worker = Worker()
    try:

        def ask(text: bytes):
            return worker.try_input("mischief", {"folder": str(mischief(text).write(tmp_path / "case"))})

        assert ask(b"fine") == {"outcome": "read"}
        assert ask(b"refuse") == {"outcome": "refused"}
        assert ask(b"mumble")["found"] == "no sentence"
        raised = ask(b"raise")
        assert raised["found"] == "traceback"
        assert raised["where"].startswith("ZeroDivisionError")
        assert "an error of somebody else" in raised["said"]
        assert ask(b"eat")["found"] == "memory"
        assert ask(b"fine") == {"outcome": "read"}  # what the last one ate is not counted
        crashed = ask(b"crash")
        assert crashed["found"] == "crash"
        assert "SIGSEGV" in crashed["where"]
    finally:
        worker.end()


@pytest.mark.slow
def test_a_hang_is_ended_and_told_from_patience(impatient):
    assert replayed(mischief(b"sleep"))["found"] == "hang"
    assert replayed(mischief(b"fine")) == {"outcome": "read"}


@pytest.mark.parametrize("word", [b"fine", b"crash", b"sleep"])
def test_a_worker_leaves_nothing_behind_however_it_ends(impatient, monkeypatch, tmp_path, word):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "here"))
    monkeypatch.setattr(drive, "SECONDS", 0.2)
    monkeypatch.setattr(drive, "_PATIENCE_SECONDS", 0.2)
    (tmp_path / "here").mkdir()
    worker = Worker()
    case = mischief(word).write(tmp_path / "case")
    try:
        worker.make_ready("mischief")
        (temporary,) = worker.place.glob("temporary/treeball-fuzz-*")  # what it made is in its place
        assert temporary.is_dir()
        worker.try_input("mischief", {"folder": str(case)})
    finally:
        worker.end()
    assert not list((tmp_path / "here").iterdir())


def test_a_worker_that_nobody_asks_any_more_tidies_up_itself(impatient, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    worker = Worker()
    try:
        worker.make_ready("mischief")
        worker.process.stdin.close()
        assert worker.process.wait(60) == 0
        assert not worker.place.exists()
    finally:
        worker.end()


@pytest.mark.skipif(sys.platform != "linux", reason="the work of another process is counted on Linux alone")
def test_waiting_for_others_is_no_hang_and_work_is(monkeypatch, tmp_path):
    monkeypatch.setattr(drive, "SECONDS", 0.3)
    monkeypatch.setattr(drive, "_PATIENCE_SECONDS", 30.0)
    worker = Worker()
    try:
        worker.make_ready("mischief")
        assert worker.try_input("mischief", {"folder": str(mischief(b"doze").write(tmp_path / "a"))}) == {
            "outcome": "read"
        }
        assert worker.try_input("mischief", {"folder": str(mischief(b"spin").write(tmp_path / "b"))})["found"] == "hang"
    finally:
        worker.end()


@pytest.mark.slow
def test_a_run_counts_its_inputs_and_keeps_each_finding_once(impatient, tmp_path):
    run = Run(3, ["mischief"], tmp_path)
    run.go(600, jobs=2, most=30)
    assert run.tried.total() == 30
    kinds = {finding.found for finding in run.findings.values()}
    assert kinds == {"traceback", "crash", "hang", "memory", "no sentence"}
    found = sum(number for (_, outcome), number in run.tried.items() if outcome == "found")
    assert sum(finding.times for finding in run.findings.values()) == found
    for finding in run.findings.values():
        told = json.loads((finding.folder / "case.json").read_text("utf-8"))
        assert (told["seed"], told["found"]) == (3, finding.found)


@pytest.mark.slow
def test_a_worker_that_cannot_work_is_no_run_without_findings(monkeypatch, tmp_path):
    monkeypatch.setattr("tests.fuzz.drive._PREPARE_SECONDS", 0.0)
    with pytest.raises(RuntimeError, match="mischief could not be made ready"):
        Run(0, ["mischief"], tmp_path).go(1.0, 1)


def test_an_input_is_made_smaller_as_long_as_the_same_is_found():
    small = shrunk(Case("mischief", {"input": b"  \n raise   " + b"x" * 300}, {"of no": "use"}), tries=100)
    assert small == mischief(b"raise")


def test_a_case_is_laid_down_and_read_back(tmp_path):
    case = Case("readers", {"input": b"\0\xff", "other": b""}, {"strict": True})
    assert Case.read(case.write(tmp_path / "a")) == case
    smaller = Case("readers", {"input": b"x"})
    assert Case.read(smaller.write(tmp_path / "a")) == smaller
    assert not (tmp_path / "a" / "other").exists()


def test_a_seed_decides_all_inputs():
    readers = find("readers")
    first = [readers.make(Dice(1, "readers", number)) for number in range(50)]
    assert first == [readers.make(Dice(1, "readers", number)) for number in range(50)]
    assert first != [readers.make(Dice(2, "readers", number)) for number in range(50)]


def test_the_mutator_changes_nearly_everything():
    data = [b"child,parent\na,r\nb,r\n", b"(a,b)c;"]
    changed = [mutated(data[0], data, Dice(0, "", number)) for number in range(500)]
    assert sum(one != data[0] for one in changed) > 450
    assert len(set(changed)) > 400
    assert max(map(len, changed)) <= 2_000_000


def test_changed_models_have_the_hash_of_what_they_hold(tmp_path):
    hierarchy = treeball.Hierarchy.from_codes(["r", "a", "b", "c"], [1, 2, 3, 3], [0, 0, 1, 2], weights=[1.0] * 4)
    whole = to_table(treeball.Embedding(np.full((4, 2), 0.1), hierarchy))
    past_the_hash: Counter[str | bool] = Counter()
    for number in range(300):
        table = sealed(changed(whole, Dice(0, "sealed", number)))
        (tmp_path / "model.parquet").write_bytes(written(table))
        try:
            treeball.load(tmp_path / "model.parquet")
            past_the_hash["read"] += 1
        except treeball.InputError as error:
            past_the_hash["SHA-256" not in str(error)] += 1
    assert past_the_hash[True] > 150  # refused for what they are
    assert past_the_hash["read"] > 20
    assert past_the_hash[False] < 30


def test_all_targets_are_there_and_mischief_is_none_of_them():
    assert all(hasattr(find(name), "attempt") for name in TARGETS)
    assert "mischief" not in TARGETS
    assert budget.SECONDS == 10.0


@pytest.mark.slow
def test_the_command_says_its_seed_and_what_it_tried(tmp_path):
    command = [sys.executable, "-m", "tests.fuzz", "--targets", "folders", "--inputs", "20", "--jobs", "1"]
    command += ["--seed", "5", "--findings", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert "FUZZ_SEED=5" in done.stdout, done.stdout + done.stderr
    assert "20 inputs" in done.stdout
    assert done.returncode == (1 if list(tmp_path.iterdir()) else 0)


@pytest.mark.slow
def test_a_worker_that_has_tried_many_inputs_is_followed_by_another(impatient, tmp_path, monkeypatch):
    made = []

    class Counted(Worker):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(drive, "_INPUTS_PER_WORKER", 5)
    monkeypatch.setattr(drive, "Worker", Counted)
    run = Run(4, ["mischief"], tmp_path)
    run.go(600, jobs=1, most=12)
    assert run.tried.total() == 12
    assert len(made) >= 3


class Slow:
    """A worker that takes a fifth of a second for the target "slow", and no time for others."""

    def __init__(self):
        self.tried = 0

    def make_ready(self, target):
        pass

    def try_input(self, target, asked):
        time.sleep(0.2 if target == "slow" else 0.001)
        return {"outcome": "read"}

    def end(self):
        pass


def test_a_slow_target_leaves_time_for_the_others(monkeypatch, tmp_path):
    monkeypatch.setattr(drive, "Worker", Slow)
    run = Run(0, ["slow", "fast"], tmp_path)
    run.go(1.0, jobs=1)
    assert run.tried["slow", "read"] >= 1
    assert run.tried["fast", "read"] > 10 * run.tried["slow", "read"]


def small_model(is_folder: bool) -> dict[str, bytes]:
    if is_folder:
        return partitions.folder_files()
    return {"model.parquet": written(to_table(treeball.fit(models.EDGES, method="sarkar", dim=3)))}


def two_writers(is_folder: bool, *kinds: str) -> Case:
    own = [[kind, f"new {writer} 0", f"new {writer} 1"] for writer, kind in enumerate(kinds)]
    return Case("writers", small_model(is_folder), {"writers": own, "kill": None, "pauses": [0.0] * len(kinds)})


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize(
    ("ended", "said"),
    [
        ([(0, ""), (0, "")], "lost writes"),
        ([(0, ""), (2, "treeball: no")], "lost writes"),
        ([(1, "Traceback (most recent call last)"), (0, "")], "Traceback"),
        ([(2, "no sentence"), (0, "")], "no sentence"),
        ([(2, "treeball: another program has changed it"), (0, "")], "without the lock"),
    ],
)
def test_writers_that_lie_are_found(monkeypatch, tmp_path, is_folder, ended, said):
    monkeypatch.setattr(writers, "_written", lambda *_: ended)
    with pytest.raises(AssertionError, match=said):
        writers.attempt(two_writers(is_folder, "insert", "update"), tmp_path)


def test_a_model_that_writers_damaged_is_found(monkeypatch, tmp_path):
    def damage(_case, model):
        model.write_bytes(model.read_bytes()[:-1])
        return [(-9, ""), (-9, "")]

    monkeypatch.setattr(writers, "_written", damage)
    with pytest.raises(AssertionError, match="left a damaged model"):
        writers.attempt(two_writers(False, "insert", "insert"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("kinds", [("insert", "insert"), ("insert", "update")])
def test_writers_without_a_lock_are_found(monkeypatch, tmp_path, is_folder, kinds):
    """The processes really work at the same time: without the lock a write is lost, or refused because it would be."""
    case = two_writers(is_folder, *kinds)
    (tmp_path / "sitecustomize.py").write_text(
        "import treeball.io.locking\ntreeball.io.locking._try = lambda path: lambda: None\n"
    )
    places = [str(tmp_path), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    found = []
    for _ in range(5):  # on a busy machine one writer may end before the other begins
        try:
            writers.attempt(case, tmp_path)
        except AssertionError as error:
            found.append(str(error))
            break
        except InputError:
            pass
    assert found
    assert "lost writes" in found[0] or "without the lock" in found[0]


def test_a_view_that_is_run_is_found(monkeypatch, tmp_path):
    model = treeball.fit(models.EDGES, method="sarkar", dim=2)
    monkeypatch.setattr(databases, "import_vectors", lambda *_, **__: model)
    databases.attempt(Case("databases", {}, {"view": False}), tmp_path)
    with pytest.raises(AssertionError, match="a view was run"):
        databases.attempt(Case("databases", {}, {"view": True}), tmp_path)


def test_known_damages_of_partitioned_models_are_tried(monkeypatch, tmp_path):
    small_model(is_folder=True)
    cases = [partitions.make(Dice(0, "partitions", number)) for number in range(200)]
    kinds = {case.options["damage"].rpartition(": ")[2] for case in cases if case.options["damage"]}
    assert len(kinds) > 20
    assert {case.options["command"][0] for case in cases} >= {"insert", "update", "fit", "ask", "info", "verify"}
    info = Case("partitions", small_model(True), {"command": ["info", "HOME/model.folder"], "damage": None})
    partitions.attempt(info, tmp_path)
    damaged = Case("partitions", info.files, {**info.options, "damage": "manifest.json: half"})
    with pytest.raises(InputError, match=r"manifest\.json"):
        partitions.attempt(damaged, tmp_path)

    def run(_words):
        raise KeyError("nobody expects this")

    monkeypatch.setattr(models, "run", run)
    with pytest.raises(KeyError):
        partitions.attempt(info, tmp_path)
