"""Promises of the house: settings that are refused, records that stay true, spaces that are checked, open doors."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import treeball
from treeball import Embedding, FitSettings, Hierarchy, InputError, Method, Provenance
from treeball.cli.main import run
from treeball.evaluation import Comparison
from treeball.geometry import euclidean, poincare
from treeball.geometry.models import ball_to_hyperboloid
from treeball.hierarchy import Changes
from treeball.methods import registry
from treeball.methods.settings import Settings

EDGES = [(f"leaf {i}", f"inner {i % 4}") for i in range(40)] + [(f"inner {i}", "root") for i in range(4)]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def catalog():
    Path("catalog.csv").write_text("child,parent\n" + "".join(f"{a},{b}\n" for a, b in EDGES), "utf-8")
    return "catalog.csv"


def refused(arguments, capsys):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1].startswith("treeball: ")
    return captured.err.splitlines()[-1]


# ---- settings ----


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--epochs", "50", "--lr", ".3"], "epochs and lr"),
        (["--epochs", "1000"], "epochs"),  # its own default, but given
        (["--weighted"], "weighted"),
        (["--trace-every", "5"], "trace_every"),
        (["--max-radius", "12"], "max_radius"),
        (["--init", "construct"], "init"),
        (["--method", "ga-dl", "--n-tc", "5"], "n_tc"),
        (["--method", "ga-rw", "--dilation", "2"], "dilation"),
        (["--method", "poincare", "--eta-tc", ".5"], "eta_tc"),
        (["--method", "sarkar", "--epochs", "5"], "epochs"),
        (["--snapshots", "5"], "--snapshots"),
        (["--live"], "--live"),
        (["--method", "poincare", "--epochs", "5", "--init-scale", ".2"], "init_scale"),
        (["--method", "poincare", "--epochs", "5", "--init", "construct", "--init-radius", ".1"], "init_radius"),
    ],
)
def test_a_setting_that_the_method_does_not_use_is_refused(catalog, capsys, options, named):
    sentence = refused(["fit", catalog, "-o", "m.parquet", *options], capsys)
    assert named in sentence
    assert not Path("m.parquet").exists()


def test_auto_overrides_nothing_that_was_set(catalog):
    assert treeball.fit(catalog, heal=False).provenance.settings["heal"] is False
    assert treeball.fit(catalog).provenance.settings["heal"] is True
    made = treeball.fit(
        catalog, objective="ancestors", epochs=4, open_world=False, lr=1.0, dim=3, heal=False
    ).provenance
    assert (made.settings["open_world"], made.settings["lr"]) == (False, 1.0)  # 1.0 is a default, but it was given
    assert treeball.fit(catalog, objective="ancestors", dim=3).provenance.settings["epochs"] == 8000


def test_settings_of_one_method_are_no_bag_of_all():
    assert "epochs" not in treeball.fit(EDGES).provenance.settings
    assert "n_tc" not in treeball.fit(EDGES, method="poincare", epochs=1).provenance.settings
    assert FitSettings(dim=3).given() == {"dim": 3}


# ---- one record ----


def sick():
    return treeball.fit(EDGES, method="poincare", dim=2, epochs=30, seed=1, deterministic=True)


def test_healing_stores_the_scores_of_the_healed(tmp_path):
    model = sick()
    assert model.provenance.scores["map"] < 1.0
    model.save("sick.parquet")
    treeball.heal(treeball.load("sick.parquet")).embedding.save("well.parquet")
    well = treeball.load("well.parquet")
    assert well.provenance.scores == well.evaluate().to_dict()
    assert well.provenance.scores["map"] > model.provenance.scores["map"]
    assert "healed" in well.provenance.log[-1].text


def test_fit_and_insert_attach_the_scores_of_their_result():
    model = treeball.fit(EDGES, dim=3)
    assert model.provenance.scores == treeball.evaluate(model).to_dict()
    grown = model.insert([("leaf x", "inner 1")]).embedding
    assert grown.provenance.scores == treeball.evaluate(grown).to_dict()
    assert grown.provenance.scores["nodes"] == 46


def test_what_was_evaluated_once_is_not_evaluated_again(monkeypatch):
    model = treeball.fit(EDGES, dim=3)
    monkeypatch.setattr("treeball.evaluation._evaluate.rank", None)
    assert model.evaluate() is model.evaluate()
    with pytest.raises(TypeError):
        model.evaluate(sampel=3)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="seed"):
        model.evaluate(seed=-3)


def test_weights_of_edges_survive_in_the_model_file():
    pairs = [("a", "r"), ("b", "r"), ("c", "a"), ("c", "b")]
    names = ["r", "a", "b", "c"]
    codes = np.array([[names.index(x), names.index(y)] for x, y in pairs])
    hierarchy = Hierarchy.from_codes(names, codes[:, 0], codes[:, 1], weights=[0.5, 2.0, 3.0, 4.0])
    Embedding(np.zeros((4, 2)), hierarchy).save("dag.parquet")
    assert treeball.load("dag.parquet").hierarchy.parent_weight.tolist() == [0.5, 2.0, 3.0, 4.0]
    tree = Hierarchy.from_codes(names[:3], [1, 2], [0, 0], weights=[0.25, 1e-6])
    Embedding(np.zeros((3, 2)), tree).save("tree.parquet")
    assert treeball.load("tree.parquet").hierarchy.parent_weight.tolist() == [0.25, 1e-6]


def test_records_of_the_first_version_are_understood():
    old = {
        "method": "sharpened",
        "objective": "ancestors",
        "settings": {"whole": True, "contract": 0.05, "dim": 5, "max_radius": None},
        "log": [{"epoch": 3, "text": "dilated by 2", "dilated": 2.0}],
        "clamped": {"times": 4, "at_radius": 30.0},
        "trace": [],
        "input": None,
        "healing": {"moved": 3},
    }
    record = Provenance.from_dict(old)
    assert record.settings == {"full_softmax": True, "init_scale": 0.05, "dim": 5, "max_radius": None}
    assert record.log[0].facts == {"dilated": 2.0}
    assert record.clamped.times == 4
    assert record.to_dict()["healing"] == {"moved": 3}
    assert Provenance.from_dict(record.to_dict()) == record


@pytest.mark.parametrize(
    "damage",
    [
        {"log": [{"epoch": "x", "text": "y"}]}, {"log": "text"}, {"settings": 3}, {"objective": "children"},
        {"epochs_done": -1}, {"epochs_done": True}, {"scores": []}, {"clamped": {"times": 1.5}}, {"method": 7},
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused_in_one_sentence(damage):
    with pytest.raises(InputError, match="its record of what made it is damaged"):
        Provenance.from_dict(damage)


def test_a_record_is_never_changed_but_made_anew():
    record = Provenance(method="x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.method = "y"  # type: ignore[misc]
    assert record.with_log("one", fact=1).log[0].facts == {"fact": 1}
    assert record.log == ()
    with pytest.raises(InputError, match=r"treeball\.Provenance"):
        Embedding(np.zeros((45, 2)), treeball.read(EDGES), "poincare", {"method": "x"})  # type: ignore[arg-type]


# ---- spaces ----


def test_points_beside_the_hyperboloid_are_refused():
    hierarchy = treeball.read(EDGES)
    ball = poincare.from_radius(np.random.default_rng(0).normal(size=(45, 3)), np.linspace(0.1, 12.0, 45))
    points = ball_to_hyperboloid(ball)
    assert Embedding(points, hierarchy, "lorentz").dim == 3
    assert Embedding(points.astype(np.float32), hierarchy, "lorentz").dim == 3
    with pytest.raises(InputError, match="not on the hyperboloid"):
        Embedding(np.sqrt(2.0) * points, hierarchy, "lorentz")


def test_a_hyperboloid_in_single_precision_stays_one():
    hierarchy = treeball.read(EDGES)
    ball = poincare.from_radius(np.random.default_rng(0).normal(size=(45, 3)), np.linspace(0.1, 8.0, 45))
    model = Embedding(ball_to_hyperboloid(ball), hierarchy, "lorentz")
    model.export("single.parquet", dtype="float32")
    again = treeball.load(treeball.load("single.parquet").save("again.parquet"))
    assert Embedding(again.vectors, hierarchy, "lorentz").dim == 3
    assert again.insert([("new", "inner 1")]).placed == ["new"]


def test_the_importer_judges_the_hyperboloid_absolutely():
    hierarchy = treeball.read(EDGES)
    points = ball_to_hyperboloid(poincare.from_radius(np.random.default_rng(0).normal(size=(45, 3)), np.full(45, 4.0)))
    frame = {"names": [str(name) for name in hierarchy.names], "coordinates": "hyperboloid"}
    import json

    Path("good.json").write_text(json.dumps(frame | {"vectors": points.tolist()}))
    Path("bad.json").write_text(json.dumps(frame | {"vectors": (np.sqrt(2.0) * points).tolist()}))
    assert treeball.import_vectors("good.json", hierarchy).geometry == "lorentz"
    with pytest.raises(InputError, match="not on the hyperboloid"):
        treeball.import_vectors("bad.json", hierarchy)


def test_normal_coordinates_and_the_exponential_map_are_named_apart():
    vector = np.array([0.3, 0.4])
    assert poincare.radius(poincare.from_normal(vector)) == pytest.approx(0.5)
    assert poincare.radius(poincare.exp_map(np.zeros(2), vector)) == pytest.approx(1.0)  # the metric there is 4 |v|^2
    assert not hasattr(poincare, "from_tangent")


# ---- methods from outside ----


@dataclasses.dataclass(frozen=True, kw_only=True)
class RingSettings(Settings):
    """Of the toy method below."""

    turn: float = 0.0


def test_a_method_is_registered_from_outside():
    def ring(made):
        angle = made.settings.turn + np.linspace(0, 2 * np.pi, made.hierarchy.n_nodes, endpoint=False)
        made.vectors[:, :2] = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        made.note("put on a ring")
        yield from ()

    treeball.register(Method("ring", ring, settings=RingSettings))
    try:
        model = treeball.fit(EDGES, method="ring", dim=2, turn=0.5)
        assert (model.provenance.method, model.provenance.settings["turn"]) == ("ring", 0.5)
        assert model.provenance.log[0].text == "put on a ring"
        assert model.provenance.scores["map"] < 1.0
        with pytest.raises(InputError, match="does not use epochs"):
            treeball.fit(EDGES, method="ring", epochs=3)
        with pytest.raises(InputError, match="there is no setting 'spin'"):
            treeball.fit(EDGES, method="ring", spin=3)
    finally:
        del registry._registered["ring"]
    with pytest.raises(InputError, match="there is a method 'poincare' already"):
        treeball.register(Method("poincare", ring))
    with pytest.raises(InputError, match=r"method must be one of auto, construct.*not 'ring'"):
        treeball.fit(EDGES, method="ring")


def test_a_score_of_ones_own_ranks_like_the_distance_it_is():
    model = sick()

    def distance(embedding, nodes):
        return embedding.distances_between(nodes[:, None], np.arange(len(embedding))[None])

    for objective in ("parents", "ancestors"):
        mine, theirs = treeball.evaluate(model, objective, score=distance), treeball.evaluate(model, objective)
        assert np.array_equal(mine.ranking.ranks, theirs.ranking.ranks)
        assert mine.map == pytest.approx(theirs.map, abs=1e-12)
        assert mine.illness.counts() == theirs.illness.counts()
    well = treeball.fit(EDGES, dim=3)
    assert well.evaluate().certificate.margin > 1
    scored = treeball.evaluate(well, score=distance)
    assert len(scored.illness) == 0
    assert scored.certificate is None  # which speaks of distances
    assert "certificate" not in scored.to_dict()
    constant = treeball.evaluate(model, score=lambda embedding, nodes: np.zeros((nodes.size, len(embedding))))
    assert constant.mean_rank == 44  # ties count against us
    assert treeball.evaluate(model, score=distance, sample=7).ranking.sources.size == 7
    with pytest.raises(InputError, match="shape"):
        treeball.evaluate(model, score=lambda embedding, nodes: np.zeros(3))
    beyond = treeball.evaluate(model, score=lambda embedding, nodes: np.full((nodes.size, len(embedding)), np.inf))
    assert beyond.mean_rank == 44
    with pytest.raises(InputError, match="NaN"):
        treeball.evaluate(model, score=lambda embedding, nodes: np.full((nodes.size, len(embedding)), np.nan))


# ---- the interface ----


def test_watch_may_return_nothing_and_stops_at_the_same_epoch_every_time():
    def stopping():
        seen = []

        def watch(state, done):
            seen.append(state.epoch)
            time.sleep(0.002 * len(seen))  # a machine that gets slower
            return True if done.loss < 2.0 else None

        model = treeball.fit(EDGES, method="poincare", dim=2, epochs=500, deterministic=True, watch=watch)
        return seen, model.provenance.epochs_done, model.vectors

    first, second = stopping(), stopping()
    assert first[:2] == second[:2]
    assert np.array_equal(first[2], second[2])
    assert first[1] < 500


def test_python_shows_progress_when_asked(capsys):
    treeball.fit(EDGES, method="poincare", dim=2, epochs=5)
    assert capsys.readouterr().err == ""
    treeball.fit(EDGES, method="poincare", dim=2, epochs=5, progress=True)
    assert "epoch 5/5" in capsys.readouterr().err


def test_ctrl_c_in_python_returns_what_there_is(capsys):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever an earlier test has left there

    def interrupt(state, done):
        if state.epoch >= 50:
            os.kill(os.getpid(), signal.SIGINT)

    model = treeball.fit(EDGES, method="poincare", dim=2, epochs=100_000, watch=interrupt)
    assert 50 <= model.provenance.epochs_done < 100_000
    assert model.provenance.scores is not None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "stopping at the end of this epoch" in capsys.readouterr().err


def test_a_thread_may_train():
    found = []
    thread = threading.Thread(target=lambda: found.append(treeball.fit(EDGES, method="poincare", dim=2, epochs=2)))
    thread.start()
    thread.join()
    assert found[0].provenance.epochs_done == 2


def test_one_name_is_one_neighbour():
    model = treeball.fit(EDGES, dim=3)
    near = [found.name for found in treeball.suggest_parent(model, near="leaf 4")]
    assert near == [found.name for found in treeball.suggest_parent(model, near=["leaf 4"])]
    assert near[0] in ("inner 0", "leaf 4")


def test_hierarchies_answer_by_name():
    hierarchy = treeball.read(EDGES)
    assert hierarchy.parents_of("leaf 5") == ["inner 1"]
    assert hierarchy.children_of("inner 1")[:2] == ["leaf 1", "leaf 5"]
    assert hierarchy.parents_of(hierarchy.names.index_of("leaf 5")).tolist() == [hierarchy.names.index_of("inner 1")]
    with pytest.raises(InputError, match="did you mean 'leaf 5'"):
        hierarchy.parents_of("leef 5")
    grove = treeball.read([("a", "x"), ("b", "y")])
    assert set(grove.names.take(grove.real_nodes())) == {"a", "b", "x", "y"}
    assert len(grove.real_edges()[0]) == 2


def test_compare_takes_files_and_hierarchies(catalog):
    model = sick()
    model.save("m.parquet")
    models = treeball.compare("m.parquet", model)
    assert isinstance(models, Comparison)
    assert models.scores["map"][0] == model.evaluate().map
    assert not treeball.compare(catalog, model.hierarchy)
    hierarchies = treeball.compare(catalog, [*EDGES, ("new", "root")])
    assert isinstance(hierarchies, Changes)
    assert hierarchies.added == ("new",)
    mixed = treeball.compare("m.parquet", catalog)
    assert isinstance(mixed, Changes)
    assert mixed.common == 45


def test_results_are_public_and_print_in_one_line():
    model = sick()
    shown = [
        treeball.heal(model),
        model.insert([("leaf x", "inner 1")]),
        treeball.compare(model, model),
        treeball.split(EDGES, edges=0.1),
        treeball.diagnose(model),
        treeball.suggest_parent(model, "leaf 1")[0],
        model.provenance,
    ]
    kinds = ["Healing", "Insertion", "Comparison", "Split", "Diagnosis", "Suggestion", "Provenance"]
    for result, kind in zip(shown, kinds, strict=True):
        assert isinstance(result, getattr(treeball, kind))
        if kind != "Provenance":
            assert len(repr(result)) < 200
            assert "\n" not in repr(result)
    assert model.heal().after.map == shown[0].after.map
    assert model.suggest_parent("leaf 1") == treeball.suggest_parent(model, "leaf 1")
    assert model.compare(model).moved.max() == 0.0
    assert model.diagnose().evaluation.map == model.evaluate().map
    for name in treeball.__all__:
        assert getattr(treeball, name) is not None


def test_the_flat_space_has_no_ball():
    flat = Embedding(np.random.default_rng(0).normal(size=(45, 2)), treeball.read(EDGES), "euclidean")
    assert flat.space.formulas is euclidean
    for refuses in (treeball.heal, lambda model: model.insert([("x", "root")]), lambda model: model.ball()):
        with pytest.raises(InputError, match=r"hyperbolic|ball"):
            refuses(flat)
    with pytest.raises(InputError, match="must be one of poincare, lorentz, half-space, euclidean, not 'sphere'"):
        Embedding(np.zeros((45, 2)), treeball.read(EDGES), "sphere")
