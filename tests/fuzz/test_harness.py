"""The harness itself: whatever an input does is noticed, and laid down so that it can be tried again."""

from __future__ import annotations

import json
import subprocess
import sys
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
from tests.fuzz.targets import TARGETS, find
from tests.fuzz.targets.models import written
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
