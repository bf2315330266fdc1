"""``treeball bench``: what is run and kept, what the table says, what goes on, what is refused; in Python and CLI."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from treeball import InputError, Method
from treeball.cli.main import run
from treeball.experiments.bench_settings import BenchPlan, Job
from treeball.experiments.bench_table import row_of, summarise
from treeball.experiments.one_run import Bencher
from treeball.experiments.timed_fit import warm_up
from treeball.methods import registry
from treeball.methods.settings import Settings

EDGES = [(f"leaf {i}", f"inner {i % 4}") for i in range(24)] + [(f"inner {i}", "root") for i in range(4)]
SMALL: dict[str, Any] = {"methods": ("construct", "poincare"), "dims": (2, 3), "seeds": (0, 1), "epochs": 5}
QUICK = ["--methods", "construct,poincare", "--dims", "2", "--seeds", "0,1", "--epochs", "5"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def catalog():
    return write("catalog.csv", EDGES)


def write(file, edges):
    Path(file).write_text("child,parent\n" + "".join(f"{a},{b}\n" for a, b in edges), "utf-8")
    return file


def table_of(file):
    return list(csv.DictReader(io.StringIO(Path(file).read_text("utf-8"))))


@pytest.fixture
def counted(monkeypatch):
    """The jobs that are really run."""
    made = []
    whole = Bencher.run

    def noted(self, job):
        made.append(job)
        return whole(self, job)

    monkeypatch.setattr(Bencher, "run", noted)
    return made


@pytest.fixture
def method():
    """Registers methods, and forgets them."""
    names = []

    def registered(name, work, kind=Settings, needs=None):
        names.append(name)
        return treeball.register(Method(name, work, settings=kind, needs=needs))

    yield registered
    for name in names:
        del registry._registered[name]


def nothing(run):
    return iter(())


# ---- rows ----


def test_every_combination_is_a_row_that_fit_gives_too():
    result = treeball.bench(EDGES, **SMALL, deterministic=True)
    assert [(row["seed"], row["dim"], row["method"]) for row in result.rows] == [
        (seed, dim, name) for seed in (0, 1) for dim in (2, 3) for name in ("construct", "poincare")
    ]
    for row in result.rows:
        training: dict[str, Any] = {"epochs": 5} if row["method"] == "poincare" else {}
        alone = treeball.fit(
            EDGES, method=row["method"], dim=row["dim"], seed=row["seed"], deterministic=True, **training
        ).evaluate()
        assert (row["map"], row["mean_rank"], row["hits_at_1"]) == (alone.map, alone.mean_rank, alone.hits_at_1)
        assert row["ill"] == len(alone.illness)
        assert row["capacity"] + row["intra_subtree"] + row["inter_subtree"] == row["ill"]
        assert row["largest_radius"] == alone.max_radius
        assert row["seconds"] > 0
        assert row["failure"] is None
    trained = [row for row in result.rows if row["method"] == "poincare"]
    assert {(row["epochs"], row["pairs_trained"], row["not_used"]) for row in trained} == {(5, 5 * 28, "")}
    assert {row["threads"] for row in trained} == {1}
    assert {row["max_radius"] for row in trained} == {
        treeball.fit(EDGES, method="poincare", epochs=1).provenance.settings["max_radius"]
    }
    built = [row for row in result.rows if row["method"] == "construct"]
    assert {(row["epochs"], row["pairs_trained"], row["not_used"]) for row in built} == {(None, 0, "epochs")}


def test_numbers_of_numpy_and_doubtful_files_are_taken_as_fit_takes_them(caplog):
    numbers: dict[str, Any] = {"dims": np.array([2]), "seeds": np.arange(2)}
    result = treeball.bench(EDGES, "folder", methods=["construct"], **numbers)
    assert [row["seed"] for row in result.rows] == [0, 1]
    treeball.bench(write("loop.csv", [*EDGES, ("root", "root")]), methods=["construct"], dims=[2], seeds=[0])
    assert "1 self-loop" in caplog.text


def test_rows_are_a_frame_of_pandas_and_the_csv_the_same():
    pandas = pytest.importorskip("pandas")
    result = treeball.bench(EDGES, **SMALL)
    frame = result.to_pandas()
    assert list(frame["map"]) == [row["map"] for row in result.rows]
    again = pandas.read_csv(io.StringIO(result.to_csv()))
    assert list(again["mean_rank"]) == list(frame["mean_rank"])
    assert {"lr", "negatives", "heal", "threads"} <= set(again.columns)


# ---- table ----


def naive(values):
    return {"mean": np.mean(values), "spread": np.std(values, ddof=1)}


def test_mean_and_spread_are_those_of_numpy():
    result = treeball.bench(EDGES, methods=["poincare", "lorentz"], dims=[2], seeds=range(4), epochs=5)
    for line in result.table().lines:
        mine = [row for row in result.rows if row["method"] == line["method"]]
        assert len(mine) == 4
        for name in ("map", "mean_rank", "hits_at_1", "ill", "seconds"):
            assert line[name] == pytest.approx(naive([row[name] for row in mine]))


def made_up(method, dim, seed, mean_average_precision, plan, **more):
    scores = {"map": mean_average_precision, "mean_rank": 2 - mean_average_precision, "hits_at_1": 0.5}
    scores |= {"illness": {"capacity": 1, "intra_subtree": 0, "inter_subtree": 0}, "max_radius": 3.0}
    settings = {"method": method, "dim": dim, "seed": seed, "epochs": 10, "max_radius": 12.0}
    return {
        "job": Job(method, dim, seed)._asdict(), "terms": plan.terms, "settings": settings, "not_used": [],
        "made_by": method, "scores": scores, "seconds": 1.0, "threads": 2, "version": "0", **more,
    }  # fmt: skip


@given(st.dictionaries(st.tuples(st.sampled_from(["poincare", "lorentz", "sarkar"]), st.sampled_from([2, 5])),
                       st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1))  # fmt: skip
def test_the_best_of_a_dimension_is_marked(values):
    plan = BenchPlan(methods=("poincare", "lorentz", "sarkar"), dims=(2, 5), seeds=(0, 1, 2, 3))
    records = [
        made_up(name, dim, seed, value, plan)
        for (name, dim), several in values.items()
        for seed, value in enumerate(several)
    ]
    table = summarise(plan, [row_of(record) for record in records], records)
    column = table.headings.index("MAP")
    for dim in (2, 5):
        printed = {key[0]: f"{sum(several) / len(several):.4f}" for key, several in values.items() if key[1] == dim}
        best = {name for name, text in printed.items() if text == max(printed.values())}
        marked = {
            line["method"]
            for line, flags in zip(table.lines, table.best, strict=True)
            if line["dim"] == dim and flags[column]
        }
        assert marked == (best if len(set(printed.values())) > 1 else set())
    assert len(table.cells) == len(values)


def test_the_table_as_markdown_and_text():
    result = treeball.bench(EDGES, **SMALL)
    table = result.table()
    lines = table.to_markdown().splitlines()
    assert lines[0].startswith("| dim | method | runs | MAP | mean rank | hits@1 | ill pairs |")
    assert len([line for line in lines if line.startswith(("| 2 |", "| 3 |"))]) == 4
    assert "**1.0000 ± 0.0000**" in table.to_markdown()
    assert "1.0000 ± 0.0000 *" in str(table)
    assert "not used" in str(table)


def test_one_seed_has_no_spread():
    table = treeball.bench(EDGES, methods=["construct"], dims=[3], seeds=[7]).table()
    assert table.lines[0]["map"] == {"mean": 1.0, "spread": None}
    assert "±" not in "".join(table.cells[0])
    assert not any(table.best[0])  # there is nothing to be better than


def notes(**options):
    return "\n".join(treeball.bench(EDGES, dims=[2], seeds=[0], **options).table().notes)


def test_unequal_terms_are_told():
    said = notes(methods=["poincare", "ga-dl-rw", "construct"], epochs=5)
    assert "Not on equal terms: max_radius is 12.2061 (poincare), 30 (ga-dl-rw)" in said
    assert "There is no training in construct." in said
    assert "epochs 5 is not used by construct." in said
    assert "ga-dl-rw: n_tc is 300, beyond 5 epochs" in said
    equal = notes(methods=["poincare", "ga-dl-rw"], epochs=5, max_radius=10.0, n_tc=2, dilation_from=3)
    assert "Not on equal terms" not in equal
    assert "beyond" not in equal
    assert "n_tc 2 is not used by poincare." in equal


def test_auto_is_not_led_astray_by_what_others_use():
    (row,) = treeball.bench(EDGES, methods=["auto"], dims=[3], seeds=[0], epochs=5, burn_in=2).rows
    assert (row["made_by"], row["not_used"], row["map"]) == ("construct", "epochs burn_in", 1.0)
    (row,) = treeball.bench(EDGES, methods=["auto"], dims=[3], seeds=[0], epochs=5, objective="ancestors").rows
    assert (row["epochs"], row["not_used"], row["objective"]) == (5, "", "ancestors")


# ---- splits ----


@pytest.mark.parametrize("what", ["leaves", "edges", "closure"])
def test_what_is_held_out_is_ranked(what):
    pairs = [(f"{i}", f"{(i - 1) // 3}") for i in range(1, 60)]
    hierarchy = treeball.read(pairs, direction="child-parent")
    result = treeball.bench(
        hierarchy, methods=["poincare"], dims=[3], seeds=[0, 4], split=what, share=0.2, epochs=30, deterministic=True
    )
    for row in result.rows:
        made = treeball.split(hierarchy, **{what: 0.2}, seed=row["seed"])
        train = treeball.read(
            [*made.train, *((name, None) for name in made.alone)], direction="child-parent", reduce="never"
        )
        model = treeball.fit(train, method="poincare", dim=3, epochs=30, seed=row["seed"], deterministic=True)
        assert row["map"] == model.evaluate().map
        if what == "leaves":
            model = model.insert(made.held_out).embedding
        ranked = treeball.evaluate_held_out(model, made.held_out)
        assert (row["held_out_pairs"], row["held_out_map"]) == (len(made.held_out), ranked.map)
        assert (row["held_out_mean_rank"], row["held_out_hits_at_10"]) == (ranked.mean_rank, ranked.hits_at(10))
        assert (row["split"], row["share"]) == (what, 0.2)
    table = result.table()
    assert "held-out MAP" in table.headings
    assert table.lines[0]["held_out_map"] == pytest.approx(naive([row["held_out_map"] for row in result.rows]))
    assert any("Held out: 0.2 of the" in note for note in table.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": "closure", "objective": "ancestors"}, "goes with the objective parents"),
        ({"share": 0.1}, "a share goes with a split"),
        ({"split": "leaves", "share": 1.5}, "above 0 and below 1"),
        ({"split": "leaves", "share": 0.0001}, "choose a share"),
        ({"split": "nodes"}, "split must be one of none, leaves, edges, closure"),
        ({"methods": ["poincare", "bogus"]}, "method must be one of auto, construct.*not 'bogus'"),
        ({"methods": []}, "methods must be a list of at least one"),
        ({"methods": "poincare"}, "methods must be a list"),
        ({"dims": [1]}, "dims must be a whole number of at least 2"),
        ({"seeds": [-1]}, "seeds must be a whole number of at least 0"),
        ({"spin": 3}, "there is no setting 'spin' of bench"),
        ({"dim": 3}, "give it as dims"),
        ({"epochs": -1}, "epochs must be a whole number"),
        ({"threads": -1}, "threads must be"),
    ],
)  # fmt: skip
def test_bad_plans_are_refused_before_anything_is_written(options, words):
    with pytest.raises(InputError, match=words):
        treeball.bench(EDGES, "folder", **options)
    assert not Path("folder").exists()


# ---- failures ----


def test_a_method_that_fails_is_a_row_with_its_reason(method):
    def refuses(hierarchy, settings):
        raise InputError("this method needs weights: give some")

    def on_trees(run):  # which fails on the DAG that methods are warmed up with
        if not run.hierarchy.is_tree:
            raise ValueError("no tree")
        return iter(())

    def breaks(run):
        raise ZeroDivisionError("nothing to divide by")
        yield

    method("choosy", on_trees)
    method("picky", nothing, needs=refuses)
    method("broken", breaks)
    result = treeball.bench(EDGES, "folder", methods=["picky", "broken", "choosy"], dims=[3], seeds=[0, 1])
    failures = {row["method"]: row["failure"] for row in result.rows}
    assert failures["picky"] == "this method needs weights: give some"
    assert failures["broken"] == "ZeroDivisionError: nothing to divide by"
    assert failures["choosy"] is None
    assert "breaks" in json.loads(Path("folder/runs/broken-d3-s0.json").read_text())["traceback"]
    table = result.table()
    assert [cells[2] for cells in table.cells] == ["0 of 2", "0 of 2", "2"]
    assert "Failed: picky, d=3, seeds 0, 1: this method needs weights: give some" in table.notes
    assert table.cells[0][3] == "–"
    assert treeball.bench(EDGES, methods=["picky"], dims=[3], seeds=[0]).table().cells[0][2] == "0 of 1"


def test_vectors_that_are_no_numbers_are_a_failure_not_a_perfect_score(method):
    def nowhere(run):
        run.vectors[:] = np.nan
        return iter(())

    method("nowhere", nowhere)
    (row,) = treeball.bench(EDGES, methods=["nowhere"], dims=[3], seeds=[0]).rows
    assert row["map"] is None
    assert row["failure"]


def test_a_fit_whose_held_out_part_fails_keeps_its_scores():
    (row,) = treeball.bench(EDGES, methods=["euclidean"], dims=[3], seeds=[0], epochs=5, split="leaves", share=0.2).rows
    assert "insert works in hyperbolic space" in row["failure"]
    assert row["held_out_map"] is None
    assert 0 < row["map"] <= 1


# ---- going on ----


def test_the_second_call_makes_only_what_is_missing(counted):
    first = treeball.bench(EDGES, "folder", **SMALL)
    assert len(counted) == 8
    counted.clear()
    again = treeball.bench(EDGES, "folder", **SMALL)
    assert counted == []
    assert again.rows == first.rows
    Path("folder/runs/poincare-d3-s1.json").write_text("{")  # damaged
    Path("folder/runs/construct-d2-s0.json").unlink()
    treeball.bench(EDGES, "folder", **SMALL)
    assert counted == [Job("construct", 2, 0), Job("poincare", 3, 1)]
    assert sorted(path.name for path in Path("folder").iterdir()) == ["bench.json", "results.csv", "runs", "table.md"]


def test_other_methods_dimensions_and_seeds_are_added(counted):
    treeball.bench(EDGES, "folder", **SMALL)
    counted.clear()
    more = treeball.bench(EDGES, "folder", methods=["lorentz", "poincare"], dims=[3], seeds=[1, 2], epochs=5)
    assert counted == [Job("lorentz", 3, 1), Job("lorentz", 3, 2), Job("poincare", 3, 2)]
    assert len(more.rows) == 8 + 3
    assert [line["method"] for line in more.table().lines if line["dim"] == 3] == ["construct", "poincare", "lorentz"]
    assert json.loads(Path("folder/bench.json").read_text())["seeds"] == [0, 1, 2]


def test_ctrl_c_in_a_training_loses_that_run_alone(counted, method, capsys):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever an earlier test has left there
    whole, stops = registry.find("poincare"), [True]

    def stopping(run):
        for done in whole.run(run):
            if run.settings.dim == 3 and stops:
                stops.clear()
                os.kill(os.getpid(), signal.SIGINT)
            yield done

    method("stopping", stopping, whole.settings)
    options: dict[str, Any] = {"methods": ["construct", "stopping"], "dims": [2, 3], "seeds": [0, 1], "epochs": 4000}
    result = treeball.bench(EDGES, "folder", **options)
    assert (len(result.rows), result.missing) == (3, 5)
    assert not Path("folder/runs/stopping-d3-s0.json").exists()
    assert len(table_of("folder/results.csv")) == 3
    assert "stopping at the end of this epoch" in capsys.readouterr().err
    counted.clear()
    result = treeball.bench(EDGES, "folder", **options)
    assert (len(result.rows), result.missing) == (8, 0)
    assert len(counted) == 5


def test_a_bench_that_was_stopped_at_once_has_an_empty_table(monkeypatch):
    def interrupted(self, job):
        raise KeyboardInterrupt

    monkeypatch.setattr(Bencher, "run", interrupted)
    result = treeball.bench(EDGES, "folder", **SMALL)
    assert (result.rows, result.missing) == ([], 8)
    assert result.table().notes == ["No run is finished yet."]
    assert Path("folder/results.csv").read_text() == "\n"


def test_an_interruption_that_compiled_code_wraps_is_none_of_the_method(method):
    def wrapped(run):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        yield

    method("wrapped", wrapped)
    with pytest.raises(SystemError):
        warm_up(Settings(method="wrapped"))
    result = treeball.bench(EDGES, methods=["construct", "wrapped"], dims=[2], seeds=[0])
    assert (len(result.rows), result.missing) == (1, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epochs": 6}, "epochs was 5 and is now 6"),
        ({"epochs": None}, "epochs was 5 and is now not set"),
        ({"lr": 0.5}, "lr was not set and is now 0.5"),
        ({"objective": "ancestors"}, "objective was parents and is now ancestors"),
        ({"split": "leaves"}, "split was none and is now leaves; share was not set and is now 0.05"),
    ],
)
def test_other_terms_in_the_same_folder_are_refused(options, words):
    treeball.bench(EDGES, "folder", **SMALL)
    before = {path: path.read_bytes() for path in Path("folder").rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=words):
        treeball.bench(EDGES, "folder", **(SMALL | options))
    assert before == {path: path.read_bytes() for path in Path("folder").rglob("*") if path.is_file()}


def test_a_changed_file_is_noticed(catalog, caplog, counted):
    treeball.bench(catalog, "folder", **SMALL)
    assert len(json.loads(Path("folder/bench.json").read_text())["data"]["sha256"]) == 64
    with Path(catalog).open("a") as file:
        file.write("\n")  # another file, the same hierarchy
    counted.clear()
    treeball.bench(catalog, "folder", **SMALL)
    assert "another file than before, but holds the same hierarchy" in caplog.text
    assert counted == []
    write(catalog, [*EDGES, ("new", "root")])
    with pytest.raises(
        InputError, match=r"catalog\.csv has changed since the bench in 'folder' \(29 nodes then, 30 now"
    ):
        treeball.bench(catalog, "folder", **SMALL)
    write(catalog, EDGES)
    turned = treeball.read(catalog, direction="parent-child")
    with pytest.raises(InputError, match=r"catalog\.csv is read otherwise since|has changed since"):
        treeball.bench(turned, "folder", **SMALL)


def test_a_folder_of_something_else_is_left_alone():
    Path("folder").mkdir()
    Path("folder/thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r"holds something else, and no bench\.json"):
        treeball.bench(EDGES, "folder", **SMALL)
    Path("other").mkdir()
    Path("other/bench.json").write_text('{"bench": 1}')
    with pytest.raises(InputError, match=r"bench\.json that cannot be read"):
        treeball.bench(EDGES, "other", **SMALL)
    Path("file").write_text("")
    with pytest.raises(InputError, match="cannot make the folder"):
        treeball.bench(EDGES, Path("file") / "below", **SMALL)


# ---- picture ----


def test_the_picture_has_every_method_and_its_spread():
    pytest.importorskip("matplotlib")
    result = treeball.bench(EDGES, **SMALL)
    figure: Any = result.figure()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["MAP", "Mean rank"]
    (means,) = {
        tuple(container.lines[0].get_ydata())
        for container in figure.axes[0].containers
        if container.get_label() == "poincare"
    }
    lines = [line for line in result.table().lines if line["method"] == "poincare"]
    assert means == tuple(line["map"]["mean"] for line in lines)
    held = treeball.bench(EDGES, methods=["construct"], dims=[3], seeds=[0], split="edges", share=0.2).figure()
    assert len(held.axes) == 4


def test_without_a_score_there_is_no_picture(method):
    def refuses(hierarchy, settings):
        raise InputError("never")

    method("never", nothing, needs=refuses)
    with pytest.raises(InputError, match="there is no score to draw"):
        treeball.bench(EDGES, methods=["never"], dims=[2], seeds=[0]).figure()


# ---- command ----


def test_the_command_prints_the_table_and_leaves_everything_in_its_folder(catalog, capsys):
    pytest.importorskip("matplotlib")
    assert run(["bench", catalog, *QUICK]) == 0
    said = capsys.readouterr()
    assert "29 nodes, 28 edges read as child -> parent" in said.err
    assert "[4/4] poincare, d=2, seed 1" in said.err
    head, *lines = said.out.splitlines()
    assert head.split()[:3] == ["dim", "method", "runs"]
    assert [line.split()[:3] for line in lines[:2]] == [["2", "construct", "2"], ["2", "poincare", "2"]]
    assert "epochs 5 is not used by construct." in lines
    assert "\x1b" not in said.out + said.err
    folder = Path("catalog-bench")
    assert sorted(path.name for path in folder.iterdir()) == [
        "bench.json", "results.csv", "runs", "scores.png", "scores.svg", "table.md",
    ]  # fmt: skip
    rows = table_of(folder / "results.csv")
    assert [(row["method"], row["seed"], row["not_used"]) for row in rows] == [
        ("construct", "0", "epochs"), ("poincare", "0", ""), ("construct", "1", "epochs"), ("poincare", "1", ""),
    ]  # fmt: skip
    assert run(["bench", catalog, *QUICK, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.count("done before") == 4
    record = json.loads(said.out)
    assert [row["map"] for row in record["runs"]] == [float(row["map"]) for row in rows]
    assert record["terms"]["settings"] == {"epochs": 5}
    assert record["lines"][1]["map"]["mean"] == pytest.approx(np.mean([float(row["map"]) for row in rows[1::2]]))


def test_the_command_goes_on_without_matplotlib(catalog, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["bench", catalog, *QUICK, "-o", "folder"]) == 0
    assert "no picture: drawing a figure needs the library 'matplotlib'" in capsys.readouterr().err
    assert not Path("folder/scores.png").exists()
    assert Path("folder/table.md").exists()


def test_the_command_that_was_stopped_says_how_to_go_on(catalog, capsys, monkeypatch):
    whole = Bencher.run

    def interrupted(self, job):
        if job == Job("poincare", 2, 1):
            raise KeyboardInterrupt
        return whole(self, job)

    monkeypatch.setattr(Bencher, "run", interrupted)
    assert run(["bench", catalog, *QUICK, "-o", "folder"]) == 130
    said = capsys.readouterr()
    assert "stopped, 1 run missing" in said.err
    assert "the same command goes on" in said.err
    assert "construct" in said.out
    monkeypatch.setattr(Bencher, "run", whole)
    assert run(["bench", catalog, *QUICK, "-o", "folder"]) == 0
    assert capsys.readouterr().err.count("done before") == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--methods", "auto,bogus"], "method must be one of auto, construct, softmax"),
        (["--dims", "two"], "--dims takes whole numbers"),
        (["--dims", "1"], "at least 2"),
        (["--seeds", "a"], "--seeds takes whole numbers"),
        (["--split", "trees"], "trees"),
        (["--split", "closure", "--objective", "ancestors"], "closure goes with the objective parents"),
        (["--share", "0.1"], "a share goes with a split"),
        (["--epochs", "-3"], "epochs must be"),
        (["--method", "poincare"], "--method"),
    ],
)
def test_the_command_refuses_in_one_sentence(catalog, capsys, options, words):
    assert run(["bench", catalog, *options]) == 2
    said = capsys.readouterr()
    assert words in said.err.splitlines()[-1]
    assert "Traceback" not in said.err
    assert not Path("catalog-bench").exists()


def test_other_terms_and_a_changed_file_exit_with_2(catalog, capsys):
    assert run(["bench", catalog, *QUICK, "-o", "folder"]) == 0
    assert run(["bench", catalog, *QUICK, "-o", "folder", "--lr", "0.5"]) == 2
    assert "lr was not set and is now 0.5" in capsys.readouterr().err
    write(catalog, EDGES[1:])
    assert run(["bench", catalog, *QUICK, "-o", "folder"]) == 2
    assert "has changed since the bench" in capsys.readouterr().err
