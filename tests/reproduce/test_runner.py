"""Running a plan: what is stored, what is taken up again, what is refused, and how long it will take."""

from __future__ import annotations

import gzip
import json
import signal

import pytest

import treeball
from treeball.experiments.records import read_json, write_json
from treeball.reproduce import checkpoints, code_hash, datasets, estimate, one_run, runner, store, tables
from treeball.reproduce.machine import Machine
from treeball.reproduce.plan import Choices, plan

from .conftest import SMALL

BASELINES = ("euclidean", "poincare", "lorentz")
HIERARCHIES = {"synthetic-156": SMALL}
TINY = Choices(budget="quick", methods=BASELINES, epochs=6, radii=(30.0,))


@pytest.fixture(autouse=True)
def _no_equal_updates(monkeypatch):
    """One line a method is enough here."""
    monkeypatch.setattr("treeball.reproduce.planner.EQUAL_UPDATES", ())


def run_tiny(out, choices=TINY, machine=Machine(threads=1), **options):  # noqa: B008
    said: list[str] = []
    jobs = plan(HIERARCHIES, choices, figures=False)
    return runner.run_plan(jobs, HIERARCHIES, out, machine=machine, say=said.append, **options), said


def done_before(said):
    return sum("done before" in line for line in said[1:])


def test_finished_runs_are_kept_and_not_run_again(tmp_path):
    first, said = run_tiny(tmp_path)
    assert done_before(said) == 0
    assert said[0].endswith("for 3 runs, 0 done before")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "synthetic-156-euclidean-d2-s0.json",
        "synthetic-156-lorentz-d2-r30-s0.json",
        "synthetic-156-poincare-d2-r30-s0.json",
    ]
    for record in first:
        assert record["scores"]["nodes"] == 156
        assert record["settings"]["epochs"] == 6
        assert record["updates"] == 6 * 155
        assert record["seconds"]["training"] > 0
    again, said = run_tiny(tmp_path)
    assert again == json.loads(json.dumps(first))
    assert done_before(said) == 3
    assert said[0] == "nothing to run, 3 runs done before"


def test_changed_settings_damaged_records_and_new_seeds_are_run(tmp_path):
    run_tiny(tmp_path)
    longer = Choices(budget="quick", methods=BASELINES, epochs=7, radii=(30.0,))
    _, said = run_tiny(tmp_path, longer)
    assert sum("made with other settings, made again" in line for line in said) == 3
    (tmp_path / "runs" / "synthetic-156-poincare-d2-r30-s0.json").write_text("{")
    assert done_before(run_tiny(tmp_path, longer)[1]) == 2
    more = Choices(budget="quick", methods=BASELINES, epochs=7, radii=(30.0,), seeds=(0, 1))
    assert done_before(run_tiny(tmp_path, more)[1]) == 3


def test_records_of_other_code_are_refused_aloud_and_are_in_no_table(tmp_path, monkeypatch):
    run_tiny(tmp_path)
    monkeypatch.setattr(
        store, "code_hash", lambda method: "new" if method == "poincare" else code_hash.code_hash(method)
    )
    states = {
        one.job.settings.method: one.words
        for one in runner.survey(plan(HIERARCHIES, TINY, figures=False), HIERARCHIES, tmp_path)
    }
    assert states == {"euclidean": "done", "lorentz": "done", "poincare": "stale: made by other code"}
    assert {one["settings"]["method"] for one in tables.gather(tmp_path).records["synthetic-156"]} == {
        "euclidean",
        "lorentz",
    }
    _, said = run_tiny(tmp_path)
    assert [line for line in said if "made by other code, made again" in line]
    assert done_before(said) == 2


def test_other_data_under_the_same_name_are_run_again(tmp_path, data):
    choices = Choices(methods=("poincare",), dims=(2,), epochs=3, seeds=(0,), radii=(30.0,))
    said: list[str] = []
    for _ in range(2):
        hierarchies = datasets.load_all(["yelp"], data)
        runner.run_plan(
            plan(hierarchies, choices), hierarchies, tmp_path / "out", machine=Machine(threads=1), say=said.append
        )
        (data / "yelp-tree.tsv.gz").write_bytes(gzip.compress(b"a\troot\nb\troot\nc\ta\nd\ta"))
    assert sum("made on other data, made again" in line for line in said) == 1


# ---- stopped half way ----


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever an earlier test has left there
    yield
    signal.signal(signal.SIGINT, before)


class Stop:
    """A display that presses Ctrl-C at an epoch."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def show(self, epoch, loss, pairs_per_second, sampled_map):
        if epoch == 30:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("method", ["poincare", "ga-dl-rw"])
def test_a_run_that_was_stopped_goes_on_and_ends_like_one_that_was_not(interruptible, tmp_path, method, monkeypatch):
    choices = Choices(budget="quick", methods=(method,), epochs=60, radii=(30.0,))
    monkeypatch.setattr("treeball.reproduce.planner.TRACES", 6)  # a look every ten epochs
    ((whole,), _) = run_tiny(tmp_path / "whole", choices)
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path / "parts", choices, progress=Stop)
    (vectors,) = (tmp_path / "parts" / "runs").glob("*.checkpoint.parquet")
    assert treeball.load(vectors).provenance.epochs_done == 30
    assert not list((tmp_path / "parts" / "runs").glob("*.json"))
    ((resumed,), said) = run_tiny(tmp_path / "parts", choices)
    assert "    going on after epoch 30" in said
    for name in ("scores", "log", "trace", "updates", "dilations", "clamped"):
        assert resumed[name] == whole[name]
    assert [path.suffix for path in (tmp_path / "parts" / "runs").iterdir()] == [".json"]


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_not_taken_up(interruptible, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path, Choices(budget="quick", methods=("poincare",), epochs=60, radii=(30.0,)), progress=Stop)
    (notes,) = (tmp_path / "runs").glob("*.checkpoint")
    kept = read_json(notes)
    assert kept is not None
    write_json(notes, {**kept, "identity": {**kept["identity"], "code": "other"}})
    heard: list[str] = []
    assert checkpoints.RunCheckpoints(notes.with_suffix(".json"), kept["identity"]).resume(heard.append) is None
    write_json(notes, kept)
    again = checkpoints.RunCheckpoints(notes.with_suffix(".json"), kept["identity"])
    assert again.resume(heard.append) is not None
    assert again.seconds_before > 0
    again.path.write_bytes(b"no model")
    assert checkpoints.RunCheckpoints(notes.with_suffix(".json"), kept["identity"]).resume(heard.append) is None
    assert [line.strip().split(",")[0] for line in heard] == [
        "its checkpoint is of another run",
        "going on after epoch 30",
        "its checkpoint cannot be read",
    ]


def test_several_runs_at_once_make_the_records_that_one_after_the_other_makes(tmp_path):
    alone, _ = run_tiny(tmp_path / "alone")
    together, said = run_tiny(tmp_path / "together", machine=Machine(threads=3, at_once=3))
    assert [one["settings"] for one in together] == [one["settings"] for one in alone]
    assert [one["scores"]["map"] for one in together] == [one["scores"]["map"] for one in alone]
    assert {one["threads"] for one in together} == {1}
    assert sum("MAP" in line for line in said) == 3


def test_an_interrupt_ends_all_runs_at_once_and_what_is_finished_is_kept(tmp_path, monkeypatch):
    whole, endless = one_run.run_job, Choices(**{**vars(TINY), "epochs": 10_000_000})

    def strikes(job, *arguments, **options):
        if job.settings.method == "lorentz":
            raise KeyboardInterrupt
        return whole(job, *arguments, **options)

    monkeypatch.setattr(runner, "run_job", strikes)
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path, endless, Machine(threads=3, at_once=3))
    assert not list((tmp_path / "runs").glob("*.json"))


def test_an_interrupt_leaves_finished_runs_and_the_next_call_goes_on(tmp_path, monkeypatch):
    whole = one_run.run_job

    def interrupted(job, *arguments, **options):
        if job.settings.method == "lorentz":
            raise SystemError from KeyboardInterrupt()  # as compiled code does it
        return whole(job, *arguments, **options)

    monkeypatch.setattr(runner, "run_job", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path)
    assert tables.write_tables(tmp_path)
    assert "| 2 | 30 | poincare | epochs |" in (tmp_path / "tables" / "synthetic-156.md").read_text()
    monkeypatch.undo()
    assert done_before(run_tiny(tmp_path, Choices(**{**vars(TINY), "methods": BASELINES}))[1]) == 2


def test_snapshots_are_the_vectors_along_the_way(tmp_path):
    choices = Choices(budget="quick", methods=("poincare",), epochs=120, radii=(30.0,))
    jobs = [job for job in plan(HIERARCHIES, choices) if job.snapshots]
    (record,) = runner.run_plan(jobs, HIERARCHIES, tmp_path, machine=Machine(threads=1))
    assert [one["epoch"] for one in record["snapshots"]] == [2, 4, 12, 24, 40, 42, 60, 120]
    last = treeball.load(tmp_path / record["snapshots"][-1]["file"])
    assert last.evaluate().map == record["scores"]["map"]
    (tmp_path / record["snapshots"][0]["file"]).unlink()
    said: list[str] = []
    runner.run_plan(jobs, HIERARCHIES, tmp_path, machine=Machine(threads=1), say=said.append)
    assert "vectors along the way are missing, made again" in said[1]


# ---- time ----


def test_the_estimate_takes_runs_of_the_same_kind(monkeypatch):
    jobs = plan(HIERARCHIES, TINY, figures=False)
    monkeypatch.setattr(estimate, "_measured", lambda job, hierarchy, threads: (1.0, 0.0))
    record = {
        "tree": "synthetic-156",
        "settings": {"method": "poincare", "dim": 2},
        "updates": 100,
        "seconds": {"training": 50.0, "scoring": 7.0},
        "threads": 2,
    }
    one = 6 * 155
    assert estimate.estimate(jobs, HIERARCHIES, [record], Machine(threads=2)) == pytest.approx(2 * one + 0.5 * one + 7)
    assert estimate.estimate(jobs, HIERARCHIES, [record], Machine(threads=1)) == pytest.approx(
        3 * one
    )  # with other threads


def test_without_records_a_short_timing_tells():
    jobs = plan(HIERARCHIES, Choices(budget="quick", methods=("ga-dl-rw",), radii=(30.0,)), figures=False)
    assert 0 < estimate.estimate(jobs, HIERARCHIES, [], Machine(threads=1)) < 3600


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (80, "80 s"), (600, "10 min"), (13_200, "3 h 40 min"), (3_599, "1 h 00 min")]
)
def test_durations(seconds, words):
    assert estimate.duration(seconds) == words


def test_the_overview():
    assert estimate.overview(13_200, 214, 120) == "about 3 h 40 min for 214 runs, 120 done before"
