"""What tables say: means, signs against print, gains on equal terms, claims that hold or do not."""

from __future__ import annotations

import csv
import io

import pytest

from treeball.experiments.records import write_json
from treeball.limits import BALL_RADIUS, PUBLISHED_RADIUS
from treeball.reproduce import ablations, gains, lines, measures, tables
from treeball.reproduce.datasets import TREES

YELP = TREES["yelp"]


def line_of(table, method, dim=2):
    return next(line for line in table if (line["method"], line["dim"]) == (method, dim))


# ---- lines ----


def test_a_line_has_mean_spread_the_papers_figure_and_a_sign(record_of):
    table = lines.lines_of(YELP, [record_of("ga-dl", seed, map=0.9 + seed / 100) for seed in (0, 1, 2)])
    line = line_of(table, "ga-dl")
    assert line["seeds"] == [0, 1, 2]
    assert line["map"]["mean"] == pytest.approx(0.91)
    assert line["map"]["spread"] == pytest.approx(0.01)
    assert (line["map"]["paper"], line["map"]["sign"]) == (0.926, "▼")
    text = tables.markdown(YELP, table)
    assert (
        "| 2 | 12.2 | ga-dl | epochs | 10 | 1 k | 0.910 ± 0.010 ▼ | 0.926 | 2.000 ± 0.000 ▼ | 1.351 "
        "| 100 ± 0 ▼ | 86 | 10 ± 0 ▲ | 65 | 1 ± 0 ▲ | 47 | 3 | 1.5 |"
    ) in text
    assert "Geometry-aware lines below print: at radius 12.2 1 of 1 in MAP, 1 of 1 in MR." in text
    assert "- ga-dl, d=2, radius 12.2: 3" in text


@pytest.mark.parametrize(
    ("measure", "value", "spread", "printed", "wanted"),
    [
        ("map", 0.9, 0.01, 0.92, "▼"),
        ("map", 0.915, 0.01, 0.92, "="),
        ("map", 0.94, None, 0.92, "▲"),
        ("map", 0.9204, None, 0.92, "="),
        ("mean_rank", 1.5, 0.1, 1.2, "▼"),
        ("mean_rank", 1.0, 0.1, 1.2, "▲"),
        ("capacity", 86.4, None, 86, "="),
        ("capacity", 80, 2, 86, "▲"),
        ("capacity", 80, 2, None, ""),
    ],
)
def test_signs(measure, value, spread, printed, wanted):
    assert measures.sign(measure, value, spread, printed) == wanted


def test_rows_below_print_are_counted_once_for_each_printed_figure(record_of):
    records = [
        record_of("ga-dl", 0, map=0.9256, mean_rank=1.3),
        record_of("ga-dl", 1, map=0.926, mean_rank=1.3),  # .9258 is .926 in the digits that are printed
        record_of("ga-dl-rw", 0, map=0.8, mean_rank=1.3),
        record_of("ga-dl", 0, map=0.1, terms="updates"),
        record_of("ga-dl-rw", 0, map=0.1, label="lowered"),
        record_of("ga-dl-rw", 0, map=0.99, mean_rank=1.0, radius=BALL_RADIUS),
        record_of("poincare", 0, map=0.1),
    ]
    table = lines.lines_of(YELP, records)
    assert lines.count_below(table, "map", PUBLISHED_RADIUS) == (1, 1, 2)
    assert lines.count_below(table, "mean_rank", PUBLISHED_RADIUS) == (1, 1, 2)
    assert lines.count_below(table, "map", BALL_RADIUS) == (0, 0, 1)
    text = gains.below_markdown({"yelp": table})
    assert "| 12.2 | 1 of 2 (1 by more than the spread) | 1 of 2 (1 by more than the spread) |" in text


def test_one_seed_has_no_spread_and_lines_come_by_radius_terms_and_the_papers_order(record_of):
    methods = ("ga-dl-rw", "euclidean", "ga-dl", "poincare", "ga-rw")
    records = [record_of(method, 0) for method in methods] + [record_of("lorentz", 0, dim=5)]
    records += [record_of("poincare", 0, radius=BALL_RADIUS), record_of("poincare", 0, terms="updates")]
    table = lines.lines_of(YELP, records)
    assert [(line["dim"], lines.radius_text(line["radius"]), line["method"], line["terms"]) for line in table] == [
        (2, "–", "euclidean", "epochs"),
        *((2, "12.2", method, "epochs") for method in ("poincare", "ga-dl", "ga-dl-rw", "ga-rw")),
        (2, "12.2", "poincare", "updates"),
        (2, "30", "poincare", "epochs"),
        (5, "12.2", "lorentz", "epochs"),
    ]
    text = tables.markdown(YELP, table)
    assert "±" not in text
    assert "| 2 | 12.2 | ga-rw | epochs | 10 | 1 k | 0.500 | – | 2.000 | – |" in text


def test_seeds_of_other_settings_are_not_averaged(record_of):
    records = [record_of("poincare", 0, epochs=5), record_of("poincare", 1), record_of("poincare", 2)]
    assert line_of(lines.lines_of(YELP, records), "poincare")["seeds"] == [1, 2]


def test_only_settings_that_matter_are_said_and_once(record_of):
    records = [record_of("poincare", 0), record_of("lorentz", 0), record_of("ga-dl-rw", 0)]
    text = tables.markdown(YELP, lines.lines_of(YELP, records))
    said = next(line for line in text.splitlines() if line.startswith("Settings: "))
    assert said.startswith("Settings: seeds 0; lr 1; negatives 50; batch 10; burn_in 1; burn_in_factor 0.01")
    assert "dilation_from 3; dilation_limit 1" in said
    for idle in ("weighted", "init ", "init_scale", "deterministic", "max_radius", "epochs", "heal", "trace_every"):
        assert idle not in said
    records[1]["settings"]["lr"] = 0.25
    text = tables.markdown(YELP, lines.lines_of(YELP, records))
    assert "lr 1 (poincare, ga-dl-rw), 0.25 (lorentz);" in text


def test_counts_of_a_sample_are_scaled_and_marked(record_of):
    table = lines.lines_of(YELP, [record_of("poincare", 0, sampled=True)])
    assert line_of(table, "poincare")["capacity"]["mean"] == pytest.approx(100 * 1565 / 400)
    text = tables.markdown(YELP, table)
    assert "≈ 391" in text
    assert "400 random nodes" in text


def test_csv_and_statistics_files(tmp_path, record_of):
    for folder in ("runs", "trees"):
        (tmp_path / folder).mkdir()
    write_json(tmp_path / "runs" / "yelp-poincare-d2-s0.json", record_of("poincare", 0))
    shape = {"nodes": 1566, "edges": 1565, "max_degree": 192, "std_degree": 7.85, "std_degree_inner": 25.3, "depth": 4}
    write_json(tmp_path / "trees" / "yelp.json", shape)
    written = tables.write_tables(tmp_path)
    assert [path.name for path in written] == ["yelp.md", "below-print.md", "statistics.md"]
    (row,) = csv.DictReader(io.StringIO((tmp_path / "tables" / "yelp.csv").read_text()))
    assert (row["method"], row["map"], row["map_spread"], row["map_paper"]) == ("poincare", "0.5", "", "0.855")
    statistics = (tmp_path / "tables" / "statistics.md").read_text()
    assert "| Yelp categories | paper | 1,587 | 1,586 | 194 | 7.9 | – | 4 |" in statistics
    assert "| Yelp categories | ours | 1,566 | 1,565 | 192 | 7.8 | 25.3 | 4 |" in statistics


# ---- gains ----


def test_gains_are_differences_of_runs_of_one_seed_at_one_radius(record_of):
    records = []
    for seed in (0, 1, 2):
        records += [
            record_of("poincare", seed, map=0.5 + seed / 10),
            record_of("poincare", seed, map=0.7 + seed / 10, radius=BALL_RADIUS),
            record_of("ga-dl", seed, map=0.5 + seed / 10 + (0.1, 0.2, 0.3)[seed]),
            record_of("ga-dl", seed, map=0.9, terms="updates", updates=3000),
            record_of("ga-dl-rw", seed, map=0.85, mean_rank=1.5, updates=3000),
        ]
    found = {
        (one["part"], one["radius"]): one
        for one in gains.gains({"yelp": lines.lines_of(YELP, records)})
        if one["measure"] == "map"
    }
    assert set(found) == {
        ("radius 30 instead of 12.2", None),
        ("dilation", PUBLISHED_RADIUS),
        ("re-weighting, equal epochs", PUBLISHED_RADIUS),
        ("re-weighting, equal updates", PUBLISHED_RADIUS),
    }  # no line of poincare on equal updates
    radius = found["radius 30 instead of 12.2", None]
    assert radius["mean"] == pytest.approx(0.2)
    assert radius["spread"] == pytest.approx(0.0, abs=1e-12)  # however far the seeds are apart
    dilation = found["dilation", PUBLISHED_RADIUS]
    assert (dilation["mean"], dilation["spread"]) == (pytest.approx(0.2), pytest.approx(0.1))
    assert found["re-weighting, equal updates", PUBLISHED_RADIUS]["mean"] == pytest.approx(-0.05)
    text = gains.gains_markdown(gains.gains({"yelp": lines.lines_of(YELP, records)}))
    assert "- Dilation: MAP better in 1, worse in 0, within the spread in 0 of 1;" in text
    assert "| Yelp categories | 2 | +0.200 ± 0.000 ▲ | +0.200 ± 0.100 ▲ | – |" in text


def test_where_updates_are_equal_anyway_equal_epochs_stand_for_them(record_of):
    records = [record_of(method, 0, tree="closure", dim=10) for method in ("poincare", "ga-dl", "ga-dl-rw")]
    found = gains.gains({"closure": lines.lines_of(TREES["closure"], records)})
    assert {"re-weighting, equal updates", "both, equal updates"} <= {one["part"] for one in found}


# ---- ablations ----


def test_claims_are_judged_by_the_bars_of_each_tree(record_of):
    def bars(method, variant="", **scores):
        return [
            record_of(method, seed, tree="synthetic-781", variant=variant, **scores, mean_rank=2 + seed / 100)
            for seed in (0, 1, 2)
        ]

    records = [
        *bars("poincare", map=0.5),
        *bars("poincare", map=0.9, radius=BALL_RADIUS),  # has no part in it: bars have one radius
        *bars("ga-dl-rw", map=0.7, capacity=50, intra_subtree=9, inter_subtree=8),
        *bars("ga-dl-rw", "eta_tc0", map=0.6, capacity=90, intra_subtree=10, inter_subtree=8),
        *bars("ga-dl-rw", "eta_tc1", map=0.8, capacity=40, intra_subtree=5, inter_subtree=8),
        *bars("ga-rw", map=0.75),
        *bars("ga-rw", "n_tc100", map=0.65),
    ]
    found = ablations.bars_of(records)
    assert {figure: list(bars) for figure, bars in found.items()} == {
        "figure-4": ["base", "0", "0.2", "1"],
        "figure-5": ["base", "RW 100", "RW 300", "GA"],
    }
    said = ablations.claims_markdown({"781 nodes": found})
    assert "*Closure edges reduce capacity illness.* 781 nodes: holds (capacity 40 ± 0 at η_tc 1, 90 ± 0 at" in said
    assert "*Closure edges eliminate inter-subtree illness.* 781 nodes: undecided, within the spread" in said
    assert "*Closure edges increase intra-subtree illness.* 781 nodes: **does not hold**" in said
    assert "*η_tc = 0.2 yields the best results.* 781 nodes: **does not hold** (MAP 0.700 ± 0.000 at η_tc 0.2" in said
    assert "*N_tc = 300 yields the best results.* 781 nodes: holds (MAP 0.750 ± 0.000 at RW 300, 0.650" in said
    assert "*The whole algorithm has the highest MAP.* 781 nodes: **does not hold**" in said
    assert "less illness than the baseline.* 781 nodes: holds (ill pairs 67 ± 0 at GA, 111 ± 0 at base)" in said
