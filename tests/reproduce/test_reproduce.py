"""``treeball reproduce``: the plan, the runs and their memory, the tables, and the way there from the command line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from cyclopts import App

from treeball.cli.reproduce import reproduce
from treeball.errors import InputError
from treeball.experiments.records import write_json
from treeball.io.readers.formats import wordnet
from treeball.methods.settings import GeometryAwareSettings
from treeball.reproduce import datasets, generated, paper, plan, runner, summary, tables
from treeball.reproduce.datasets import TREES
from treeball.reproduce.plan import Choices

BASELINES = ("euclidean", "poincare", "lorentz")


# ---- what the paper prints ----

QUOTED = r"""
yelp 2 ga-dl & 1.351 & \textbf{0.926} & \textbf{86} & 65 & 47
yelp 10 ga-dl-rw & \textbf{1.015} & \textbf{0.993} & 5 & 6 & \textbf{9}
verbs 2 euclidean & 66.302 & 0.124 & 7366 & 3778 & 1879
verbs 5 lorentz & 2.389 & 0.853 & 285 & 2277 & 468
verbs 10 ga-dl & \textbf{1.654} & \textbf{0.884} & \textbf{184} & 1456 & 828
nouns 10 ga-dl & 7.900 & 0.754 & 10647 & 13547 & 5551
nouns 10 ga-dl-rw & \textbf{2.738} & \textbf{0.722} & \textbf{9483} & 24844 & \textbf{32}
catalog 5 poincare & 86.759 & 0.063 & 130479 & 2001 & 174
closure 10 ga-dl-rw & \textbf{4.270} & \textbf{0.797} & \textbf{38277} & \textbf{134541} & 12575
"""


@pytest.mark.parametrize("quoted", QUOTED.strip().splitlines())
def test_rows_are_those_of_the_paper(quoted):
    key, *cells = (re.sub(r"\\textbf\{(.*?)\}", r"\1", cell).strip() for cell in quoted.split("&"))
    tree, dim, method = key.split()
    row = paper.row(tree, method, int(dim))
    printed = (row.mean_rank, row.map, row.capacity, row.intra_subtree, row.inter_subtree)
    assert printed == tuple(float(cell) for cell in cells)


def test_tables_have_every_method_and_dimension_of_the_plan():
    for name, tree in TREES.items():
        recipe = plan.RECIPES[tree.dataset]
        if tree.dataset != "synthetic":
            asked = {(dim, method) for dim in recipe.dims for method in recipe.methods}
            assert {(row.dim, row.method) for row in paper.TABLES[name]} == asked


def test_ill_pairs_of_a_row_never_exceed_the_edges():
    for name, rows in paper.TABLES.items():
        for row in rows:
            if row.capacity is not None:
                ill = row.capacity + row.intra_subtree + row.inter_subtree
                assert 0 < ill <= TREES[name].shape.edges


# ---- data ----


def test_the_generated_catalogue_has_the_statistics_of_the_papers():
    printed = paper.SHAPES["catalog"]
    hierarchy = generated.catalog_like_tree()
    shape = hierarchy.statistics()
    assert hierarchy.is_tree
    assert (shape.nodes, shape.edges, shape.max_degree, shape.depth) == (134_812, 134_811, 726, 6)
    assert shape.std_degree == pytest.approx(printed.std_degree, abs=0.05)
    again = generated.catalog_like_tree()
    np.testing.assert_array_equal(hierarchy.parent_idx, again.parent_idx)


def test_synthetic_trees_have_five_children_to_each_inner_node():
    for name, nodes, depth in (("synthetic-156", 156, 3), ("synthetic-781", 781, 4)):
        hierarchy = datasets.load(TREES[name], None)
        assert hierarchy.n_nodes == nodes
        assert hierarchy.statistics().depth == depth
        assert set(np.diff(hierarchy.child_ptr).tolist()) == {0, 5}


@pytest.fixture
def data(tmp_path):
    """A folder with a small tree in place of Yelp's, and a closure with a repeat-free list of all pairs."""
    folder = tmp_path / "data"
    folder.mkdir()
    edges = ['"quoted" name\t<root>', "b\t<root>", 'c\t"quoted" name', "d\tc"]
    (folder / "yelp-tree.tsv.gz").write_bytes(gzip.compress("\n".join(edges).encode()))
    pairs = ["b\ta", "c\tb", "c\ta", "d\tc", "d\tb", "d\ta", "e\td", "e\tc", "e\tb", "e\ta"]
    (folder / "wordnet-nouns-closure.tsv.gz").write_bytes(gzip.compress("\n".join(pairs).encode()))
    return folder


def test_files_are_read_as_written(data):
    hierarchy = datasets.load(TREES["yelp"], data)
    assert hierarchy.n_nodes == 5
    assert '"quoted" name' in hierarchy.names


def test_the_shape_of_a_closure_counts_all_pairs(data):
    tree = TREES["closure"]
    shape = datasets.shape_of(tree, datasets.load(tree, data))
    assert (shape["nodes"], shape["edges"], shape["max_degree"], shape["std_degree"]) == (5, 10, 4, 0.0)


def test_a_missing_file_is_named_with_the_remedy(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"yelp needs the file yelp-tree\.tsv\.gz.*--data"):
        datasets.locate(TREES["yelp"], None)
    with pytest.raises(InputError, match=r"catalog needs the file shopify-facets-hardware.*does not hold.*--data"):
        datasets.locate(TREES["catalog"], tmp_path)
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        datasets.locate(TREES["yelp"], tmp_path / "nowhere")
    monkeypatch.setattr(wordnet, "installed_folder", _not_installed)
    with pytest.raises(InputError, match=r"wordnet-verbs-tree\.tsv\.gz, .*or an installed WordNet.*apt install"):
        datasets.locate(TREES["verbs"], tmp_path)


def test_an_installed_wordnet_serves_in_place_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(wordnet, "installed_folder", lambda: tmp_path)
    assert datasets.locate(TREES["verbs"], None) == "wordnet:verbs"
    assert datasets.locate(TREES["closure"], tmp_path) == "wordnet:nouns"


def _not_installed():
    raise InputError("no WordNet is installed")


# ---- plan ----


def test_the_full_plan_trains_every_method_as_long_and_on_the_same_seeds():
    jobs = plan.plan(datasets.DATASETS, Choices())
    assert len({job.name for job in jobs}) == len(jobs)
    by_line: dict[Any, Any] = {}
    for job in jobs:
        if not job.variant and job.settings.method != "ga-rw":
            line = by_line.setdefault(job.tree.name, {}).setdefault((job.settings.dim, job.settings.method), [])
            line.append((job.settings.seed, job.settings.epochs))
    for lines in by_line.values():
        assert len({tuple(terms) for terms in lines.values()}) == 1
    assert set(by_line) == set(TREES)
    assert [seed for seed, _ in by_line["yelp"][10, "ga-dl"]] == [0, 1, 2]
    assert by_line["synthetic-781"][2, "poincare"][0] == (0, paper.SYNTHETIC_EPOCHS)


def test_settings_are_those_the_paper_states():
    for job in plan.plan(datasets.DATASETS, Choices(), figures=False):
        stated = paper.TRAINING[job.tree.dataset]
        settings = job.settings
        assert (settings.lr, settings.batch, settings.negatives) == (stated.lr, stated.batch, stated.negatives)
        assert getattr(settings, "eta_tc", paper.ETA_TC) == paper.ETA_TC
        assert settings.objective == ("ancestors" if job.tree.name == "closure" else "parents")
        assert getattr(settings, "dilation_from", 0) < settings.epochs


def test_a_shorter_run_shrinks_its_phases_in_proportion():
    full, short = (
        plan.plan(["yelp"], Choices(methods=("ga-dl-rw",), epochs=epochs))[0].settings for epochs in (None, 300)
    )
    assert isinstance(full, GeometryAwareSettings)
    assert isinstance(short, GeometryAwareSettings)
    assert short.epochs == 300
    assert (short.n_tc, short.dilation_from, short.burn_in) == (full.n_tc / 10, full.dilation_from / 10, 2)
    longer = plan.plan(["yelp"], Choices(methods=("ga-dl-rw",), epochs=5000))[0].settings
    assert isinstance(longer, GeometryAwareSettings)
    assert (longer.n_tc, longer.burn_in) == (full.n_tc, full.burn_in)


def test_a_quick_plan_has_one_seed_and_samples_large_trees():
    jobs = plan.plan(datasets.DATASETS, Choices(budget="quick"))
    assert {job.settings.seed for job in jobs} == {0}
    assert {job.tree.dataset for job in jobs if job.sample} == {"nouns", "catalog", "closure"}


def test_figure_settings_that_are_those_of_the_table_share_its_runs():
    bars = plan.figure_jobs(TREES["synthetic-781"], Choices())
    assert list(bars["figure-5"]) == ["base", "0", "0.1", "0.2", "0.5", "1"]
    assert [job.name for job in bars["figure-5"]["0.2"]] == [f"synthetic-781-ga-dl-rw-d2-s{seed}" for seed in (0, 1, 2)]
    assert bars["figure-5"]["1"][0].name == "synthetic-781-ga-dl-rw-d2-s0-eta_tc1"
    assert list(bars["figure-6"]) == ["base", "DL", "RW 100", "RW 300", "RW 1,000", "RW 3,000", "GA"]
    assert plan.figure_jobs(TREES["yelp"], Choices()) == {}
    assert plan.figure_jobs(TREES["synthetic-781"], Choices(dims=(5,))) == {}


def test_choices_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match=r"no training 'magic'.*poincare"):
        Choices(methods=("magic",))
    with pytest.raises(InputError, match="epochs must be at least 1, not 0"):
        Choices(epochs=0)


# ---- running ----

TINY = Choices(budget="quick", methods=BASELINES, epochs=6)


def run_tiny(out, choices=TINY, **options):
    said: list[str] = []
    jobs = [job for job in plan.plan(["synthetic"], choices, figures=False) if job.tree.name == "synthetic-156"]
    records = runner.run_plan(jobs, out, threads=1, say=said.append, **options)
    return records, sum("done before" in line for line in said)


def test_finished_runs_are_kept_and_not_run_again(tmp_path):
    first, done_before = run_tiny(tmp_path)
    assert done_before == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "synthetic-156-euclidean-d2-s0.json",
        "synthetic-156-lorentz-d2-s0.json",
        "synthetic-156-poincare-d2-s0.json",
    ]
    for record in first:
        assert record["scores"]["nodes"] == 156
        assert record["settings"]["epochs"] == 6
        assert record["seconds"]["training"] > 0
    assert run_tiny(tmp_path) == (first, 3)


def test_changed_settings_damaged_records_and_new_seeds_are_run(tmp_path):
    run_tiny(tmp_path)
    assert run_tiny(tmp_path, Choices(budget="quick", methods=BASELINES, epochs=7))[1] == 0
    (tmp_path / "runs" / "synthetic-156-poincare-d2-s0.json").write_text("{")
    assert run_tiny(tmp_path, Choices(budget="quick", methods=BASELINES, epochs=7))[1] == 2
    assert run_tiny(tmp_path, Choices(budget="quick", methods=BASELINES, epochs=7, seeds=(0, 1)))[1] == 3


def test_other_data_under_the_same_name_are_run_again(tmp_path, data):
    choices = Choices(methods=("poincare",), dims=(2,), epochs=3, seeds=(0,))
    jobs = plan.plan(["yelp"], choices)
    before = runner.run_plan(jobs, tmp_path / "out", data=data, threads=1)
    (data / "yelp-tree.tsv.gz").write_bytes(gzip.compress(b"a\troot\nb\troot\nc\ta\nd\ta"))
    after = runner.run_plan(jobs, tmp_path / "out", data=data, threads=1)
    assert before[0]["data"] != after[0]["data"]


def test_an_interrupt_leaves_finished_runs_and_the_next_call_goes_on(tmp_path, monkeypatch):
    whole = runner._run

    def interrupted(job, *arguments):
        if job.settings.method == "lorentz":
            raise KeyboardInterrupt
        return whole(job, *arguments)

    monkeypatch.setattr(runner, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path)
    assert tables.write_tables(tmp_path, TREES.values())
    assert "| 2 | poincare |" in (tmp_path / "tables" / "synthetic-156.md").read_text()
    monkeypatch.undo()
    assert run_tiny(tmp_path)[1] == 2


def test_snapshots_are_the_vectors_along_the_way(tmp_path):
    import treeball

    choices = Choices(budget="quick", methods=("poincare",), epochs=120)
    jobs = [job for job in plan.plan(["synthetic"], choices) if job.snapshots]
    assert [job.tree.name for job in jobs] == ["synthetic-156"]
    (record,) = runner.run_plan(jobs, tmp_path, threads=1)
    assert [one["epoch"] for one in record["snapshots"]] == [2, 4, 12, 24, 40, 42, 60, 120]
    last = treeball.load(tmp_path / record["snapshots"][-1]["file"])
    assert last.evaluate().map == record["scores"]["map"]
    (tmp_path / record["snapshots"][0]["file"]).unlink()
    said: list[str] = []
    runner.run_plan(jobs, tmp_path, threads=1, say=said.append)
    assert not any("done before" in line for line in said)


# ---- tables ----


def record_of(method, seed, *, tree="yelp", dim=2, epochs=10, **scores):
    """A stored run with the scores given."""
    values = {"map": 0.5, "mean_rank": 2.0, "capacity": 100, "intra_subtree": 10, "inter_subtree": 1} | scores
    job = plan.make_job(TREES[tree], method, dim, seed, Choices(epochs=epochs))
    return {
        "tree": tree,
        "variant": "",
        "settings": job.settings.to_dict(),
        "scores": {
            "map": values["map"],
            "mean_rank": values["mean_rank"],
            "illness": {kind: values[kind] for kind in ("capacity", "intra_subtree", "inter_subtree")},
            **({"sampled": {"nodes": 400, "of": 1565}} if "sampled" in scores else {}),
        },
        "sample": 400 if "sampled" in scores else 0,
        "seconds": {"training": 1.5, "scoring": 0.1},
        "threads": 2,
        "version": "0.0",
        "log": [{"epoch": 3, "text": "dilated by 2"}] if method == "ga-dl" else [],
        "finished": f"2030-01-0{1 + seed}",
    }


def line_of(table, method, dim=2):
    return next(line for line in table["lines"] if (line["method"], line["dim"]) == (method, dim))


def test_a_line_has_mean_spread_and_the_papers_figure():
    table = summary.summarise(TREES["yelp"], [record_of("ga-dl", seed, map=0.9 + seed / 100) for seed in (0, 1, 2)])
    line = line_of(table, "ga-dl")
    assert line["seeds"] == [0, 1, 2]
    assert line["map"] == {"mean": pytest.approx(0.91), "spread": pytest.approx(0.01), "paper": 0.926}
    text = tables.markdown(table)
    assert "| 2 | ga-dl | 2.000 ± 0.000 | 1.351 | 0.910 ± 0.010 | 0.926 | 100 ± 0 | 86 |" in text
    assert "Means over 3 seeds" in text
    assert all(setting in text for setting in ("epochs 10; lr 1; negatives 50", "; batch 10"))
    assert "ga-dl, d=2, seed 0: epoch 3: dilated by 2" in text


def test_one_seed_has_no_spread_and_lines_come_in_the_papers_order():
    methods = ("ga-dl-rw", "euclidean", "ga-dl", "poincare", "ga-rw")
    table = summary.summarise(
        TREES["yelp"], [record_of(method, 0) for method in methods] + [record_of("lorentz", 0, dim=5)]
    )
    assert [(line["dim"], line["method"]) for line in table["lines"]] == [
        *((2, method) for method in ("euclidean", "poincare", "ga-dl", "ga-dl-rw", "ga-rw")),
        (5, "lorentz"),
    ]
    text = tables.markdown(table)
    assert "±" not in text
    assert "| 2 | ga-rw | 2.000 | – | 0.500 | – | 100 | – | 10 | – | 1 | – | 1.5 |" in text


def test_seeds_of_other_settings_are_not_averaged():
    table = summary.summarise(
        TREES["yelp"], [record_of("poincare", 0, epochs=5), record_of("poincare", 1), record_of("poincare", 2)]
    )
    assert line_of(table, "poincare")["seeds"] == [1, 2]


def test_settings_that_differ_are_told_apart():
    table = summary.summarise(TREES["yelp"], [record_of("poincare", 0, epochs=5), record_of("lorentz", 0)])
    assert "epochs 5 (poincare d=2), 10 (lorentz d=2)" in tables.markdown(table)


def test_counts_of_a_sample_are_scaled_and_marked():
    table = summary.summarise(TREES["yelp"], [record_of("poincare", 0, sampled=True)])
    assert line_of(table, "poincare")["capacity"]["mean"] == pytest.approx(100 * 1565 / 400)
    text = tables.markdown(table)
    assert "≈ 391" in text
    assert "400 random nodes" in text


def test_the_comparison_says_who_wins_and_how_far_the_paper_is():
    records = [
        record_of("poincare", 0, map=0.80, mean_rank=1.9, capacity=50),
        record_of("lorentz", 0, map=0.85, mean_rank=1.5),
        record_of("ga-dl", 0, map=0.90, mean_rank=1.6, capacity=40),
        record_of("ga-dl-rw", 0, map=0.82, mean_rank=1.4),
    ]
    table = summary.summarise(TREES["yelp"], records)
    (one,) = table["comparison"]["by_dim"]
    assert one["map"] == {"method": "ga-dl", "mean": 0.9, "beats": {"poincare": True, "lorentz": True}}
    assert one["mean_rank"]["method"] == "ga-dl-rw"
    assert one["beats_all_in_both"] == []  # ga-dl loses the rank to lorentz, ga-dl-rw the MAP
    assert one["ga_dl_has_less_capacity_illness"] is True
    assert one["equal_terms"] is True
    margins = {row["method"]: row["margin"] for row in table["comparison"]["to_paper"]}
    assert margins == {
        "ga-dl": pytest.approx(0.90 - 0.906),
        "ga-dl-rw": pytest.approx(0.82 - 0.894),
        "better of both": pytest.approx(0.90 - 0.906),
    }
    text = tables.markdown(table)
    assert "| 2 | ga-dl | 0.900 | 0.906 | -0.006 |" in text
    assert "| 2 | 0.900 (ga-dl) | poincare: yes, lorentz: yes |" in text


def test_a_comparison_on_unequal_terms_says_so():
    table = summary.summarise(TREES["yelp"], [record_of("poincare", 0), record_of("ga-dl", 1)])
    assert "Not on equal terms" in tables.markdown(table)


def test_csv_and_statistics_files(tmp_path):
    for folder in ("runs", "trees"):
        (tmp_path / folder).mkdir()
    write_json(tmp_path / "runs" / "yelp-poincare-d2-s0.json", record_of("poincare", 0))
    shape = {"nodes": 1566, "edges": 1565, "max_degree": 192, "std_degree": 7.85, "std_degree_inner": 25.3, "depth": 4}
    write_json(tmp_path / "trees" / "yelp.json", shape)
    written = tables.write_tables(tmp_path, TREES.values())
    assert [path.name for path in written] == ["yelp.md", "statistics.md"]
    (row,) = csv.DictReader(io.StringIO((tmp_path / "tables" / "yelp.csv").read_text()))
    assert (row["method"], row["map"], row["map_spread"], row["map_paper"]) == ("poincare", "0.5", "", "0.855")
    statistics = (tmp_path / "tables" / "statistics.md").read_text()
    assert "| Yelp categories | paper | 1,587 | 1,586 | 194 | 7.9 | – | 4 |" in statistics
    assert "| Yelp categories | ours | 1,566 | 1,565 | 192 | 7.8 | 25.3 | 4 |" in statistics


def test_tables_are_put_into_a_document(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("A\n<!-- table: yelp -->\nold\n<!-- end -->\nB\n<!-- table: verbs -->\nkept\n<!-- end -->\nC\n")
    (tmp_path / "yelp.md").write_text("| new \\1 |\n")
    for _ in range(2):  # a second time it replaces what the first put in
        assert tables.insert_into(document, tmp_path) == ["yelp"]
        text = document.read_text()
        assert text == (
            "A\n<!-- table: yelp -->\n\n| new \\1 |\n\n<!-- end -->\nB\n<!-- table: verbs -->\nkept\n<!-- end -->\nC\n"
        )
    document.write_text("<!-- table: yelp -->\nno end\n")
    with pytest.raises(InputError, match=r"1 marks.*0 marks"):
        tables.insert_into(document, tmp_path)


# ---- command ----


def command(*arguments):
    app = App()
    app.default(reproduce)
    return app([str(one) for one in arguments], exit_on_error=False, print_error=False, result_action="return_value")


def test_the_command_writes_tables_and_figures_and_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(plan, "ETAS", (0.2, 1.0))
    monkeypatch.setattr(plan, "TC_EPOCHS", (300,))
    monkeypatch.delitem(datasets.TREES, "synthetic-781")
    arguments = ["synthetic", "--budget", "quick", "--methods", "poincare", "ga-dl,ga-dl-rw", "--epochs", "4"]
    arguments += ["--threads", "1", "--out", tmp_path / "out"]
    assert command(*arguments) == 0
    said = capsys.readouterr()
    printed = {line.rsplit("/", 1)[-1] for line in said.out.splitlines()}
    pictures = {f"{figure}.{form}" for form in ("png", "svg") for figure in ("figure-2", "figure-3")}
    pictures |= {f"{figure}-synthetic-156.{form}" for form in ("png", "svg") for figure in ("figure-5", "figure-6")}
    assert printed == {"synthetic-156.md", "statistics.md"} | pictures
    assert all((tmp_path / "out" / "figures" / name).stat().st_size > 1000 for name in pictures)
    table = json.loads((tmp_path / "out" / "tables" / "synthetic-156.json").read_text())
    assert {line["method"] for line in table["lines"]} == {"poincare", "ga-dl", "ga-rw", "ga-dl-rw"}
    assert "done before" not in said.err
    assert command(*arguments, "--no-figures") == 0
    assert capsys.readouterr().err.count("done before") == 3


def test_the_command_stopped_by_the_user_still_writes_tables(tmp_path, monkeypatch, capsys):
    whole = runner._run

    def interrupted(job, *arguments):
        if job.settings.method == "lorentz":
            raise KeyboardInterrupt
        return whole(job, *arguments)

    monkeypatch.setattr(runner, "_run", interrupted)
    arguments = ["synthetic", "--no-figures", "--methods", "poincare", "lorentz", "--seeds", "5", "--epochs", "3"]
    assert command(*arguments, "--out", tmp_path) == 1
    said = capsys.readouterr()
    assert "the same command goes on" in said.err
    assert "synthetic-156.md" in said.out
    assert (tmp_path / "runs" / "synthetic-156-poincare-d2-s5.json").exists()


def test_the_command_refuses_before_it_works(tmp_path):
    with pytest.raises(InputError, match="yelp needs the file"):
        command("synthetic", "yelp", "--no-figures", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match=r"--dims takes whole numbers.*'two'"):
        command("synthetic", "--dims", "two", "--out", tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot make the folder.*--out"):
        command("synthetic", "--no-figures", "--out", tmp_path / "file")
