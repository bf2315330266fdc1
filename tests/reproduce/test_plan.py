"""Which runs there are: equal terms for all methods, settings of the paper, work that is counted right."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from treeball.errors import InputError
from treeball.experiments.timed_fit import timed_fit
from treeball.limits import BALL_RADIUS, PUBLISHED_RADIUS
from treeball.methods.training_settings import GeometryAwareSettings
from treeball.reproduce import ablations, datasets, paper
from treeball.reproduce.datasets import TREES
from treeball.reproduce.plan import Choices, plan
from treeball.reproduce.planner import Planner
from treeball.reproduce.recipes import ALL_METHODS, RECIPES, Row
from treeball.reproduce.updates import Work

from .conftest import SMALL

# The plan of a tree depends on its pairs alone, and any tree has some.
EVERYWHERE = dict.fromkeys(TREES, SMALL)


def lines(jobs: Any) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for job in jobs:
        if not job.variant and job.settings.method in ALL_METHODS:
            settings = job.settings
            key = (job.tree.name, settings.dim, job.radius, settings.method, job.label, job.terms)
            found.setdefault(key, []).append(settings.seed)
    return found


def test_every_method_has_every_radius_and_every_seed():
    jobs = plan(EVERYWHERE, Choices())
    assert len({job.name for job in jobs}) == len(jobs)
    found = lines(jobs)
    assert set(map(tuple, found.values())) == {(0, 1, 2)}
    for name, tree in TREES.items():
        recipe = RECIPES[tree.dataset]
        for dim in recipe.dims:
            for row in recipe.rows:
                if row.label:
                    continue
                radii = {key[2] for key in found if key[:2] == (name, dim) and key[3] == row.method}
                assert radii == ({None} if row.method == "euclidean" else {PUBLISHED_RADIUS, BALL_RADIUS})


def test_equal_epochs_are_equal_and_equal_updates_come_within_half_an_epoch():
    jobs = plan(EVERYWHERE, Choices(), figures=False)
    for name, tree in TREES.items():
        own = [job for job in jobs if job.tree.name == name]
        epochs = {job.settings.epochs for job in own if job.terms == "epochs"}
        assert epochs == {RECIPES[tree.dataset].epochs["full"]}
        reference = {job.updates for job in own if job.settings.method == "ga-dl-rw" and not job.label}
        assert len(reference) == 1
        more = [job for job in own if job.terms == "updates"]
        a_pass = SMALL.positives(tree.objective)[1].size
        for job in more:
            assert abs(job.updates - min(reference)) <= a_pass / 2
        # On a closure all pairs of the closure are data: an epoch with closure edges is no longer than another.
        wanted = {} if name == "closure" else {"poincare", "ga-dl"}
        assert {job.settings.method for job in more} == set(wanted)


@pytest.mark.parametrize("method", ["poincare", "ga-dl", "ga-dl-rw", "ga-rw"])
@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_updates_are_the_pairs_that_a_training_visits(method, objective):
    tree = TREES["closure" if objective == "ancestors" else "yelp"]
    job = Planner(tree, SMALL, Choices(epochs=40)).job(Row(method), 2, BALL_RADIUS, 0)
    assert job is not None
    assert job.updates == timed_fit(SMALL, job.settings.replace(threads=1)).pairs


def test_closure_edges_of_weight_zero_are_no_updates():
    settings = GeometryAwareSettings(method="ga-dl-rw", epochs=10, n_tc=10, eta_tc=0.0)
    assert Work(SMALL).updates(settings) == 10 * SMALL.n_edges
    assert Work(SMALL).equal_epochs(settings) == 10


def test_settings_are_those_the_paper_states():
    for job in plan(EVERYWHERE, Choices(), figures=False):
        stated = paper.TRAINING[job.tree.dataset]
        settings = job.settings
        assert (settings.lr, settings.batch, settings.negatives) == (stated.lr, stated.batch, stated.negatives)
        assert getattr(settings, "eta_tc", paper.ETA_TC) == paper.ETA_TC
        assert settings.objective == ("ancestors" if job.tree.name == "closure" else "parents")
        assert getattr(settings, "dilation_from", 0) < settings.epochs


def test_a_line_may_have_settings_of_its_own_and_is_left_out_where_nobody_knows_them(monkeypatch):
    rows = (Row("ga-dl-rw"), Row("ga-dl-rw", "strong", {"eta_tc": 0.9}), Row("ga-dl-rw", "odd", {"no_such": 1}))
    recipe = RECIPES["yelp"].__class__(dims=(2,), epochs={"full": 10, "quick": 5}, settings={}, rows=rows, seeds=(0,))
    monkeypatch.setitem(RECIPES, "yelp", recipe)
    jobs = plan({"yelp": SMALL}, Choices(radii=(30.0,)))
    assert [(job.name, getattr(job.settings, "eta_tc", None)) for job in jobs] == [
        ("yelp-ga-dl-rw-d2-r30-s0", 0.2),
        ("yelp-ga-dl-rw-strong-d2-r30-s0", 0.9),
    ]


def test_a_shorter_run_shrinks_its_phases_in_proportion():
    full, short, longer = (
        plan({"yelp": SMALL}, Choices(methods=("ga-dl-rw",), epochs=epochs))[0].settings for epochs in (None, 300, 5000)
    )
    assert isinstance(full, GeometryAwareSettings)
    assert isinstance(short, GeometryAwareSettings)
    assert isinstance(longer, GeometryAwareSettings)
    assert short.epochs == 300
    assert (short.n_tc, short.dilation_from, short.burn_in) == (
        full.n_tc / 10,
        full.dilation_from / 10,
        full.burn_in / 10,
    )
    assert (longer.n_tc, longer.burn_in) == (full.n_tc, full.burn_in)


def test_a_quick_plan_has_one_seed_and_samples_large_trees():
    jobs = plan(EVERYWHERE, Choices(budget="quick"))
    assert {job.settings.seed for job in jobs} == {0}
    assert {job.tree.dataset for job in jobs if job.sample} == {"nouns", "catalog", "closure"}


def test_bars_that_are_lines_of_the_table_share_its_runs():
    planner = Planner(TREES["synthetic-156"], SMALL, Choices(seeds=(0,)))
    names = Counter(job.name for job in ablations.figure_jobs(planner))
    table = {job.name for job in planner.table()}
    assert set(names) - table == {
        *(f"synthetic-156-ga-dl-rw-d2-r12.2-s0-eta_tc{eta}" for eta in ("0", "0.1", "0.5", "1")),
        *(f"synthetic-156-ga-rw-d2-r12.2-s0{more}" for more in ("", "-n_tc100", "-n_tc1000", "-n_tc3000")),
    }
    assert ablations.figure_jobs(Planner(TREES["yelp"], SMALL, Choices())) == []
    assert ablations.figure_jobs(Planner(TREES["synthetic-156"], SMALL, Choices(dims=(5,)))) == []


def test_the_cheapest_data_sets_come_first():
    work = [RECIPES[name].epochs["full"] for name in datasets.DATASETS]
    assert len(work) == len(RECIPES)
    assert datasets.DATASETS[0] == "synthetic"
    assert datasets.DATASETS[-1] == "closure"


def test_choices_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match=r"no training 'magic'.*poincare"):
        Choices(methods=("magic",))
    with pytest.raises(InputError, match="epochs must be at least 1, not 0"):
        Choices(epochs=0)
    with pytest.raises(InputError, match="max-radius must be above 0 and at most 34, not 40"):
        Choices(radii=(40.0,))
