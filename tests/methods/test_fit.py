"""Training from Python: determinism, resuming, weights, failures."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import treeball
from tests import trees
from treeball import FitSettings, Hierarchy, InputError, NumericalError
from treeball.engine.cpu.steps import poincare_step
from treeball.geometry import poincare
from treeball.methods import softmax
from treeball.methods._fit import ROOM_BEHIND, Checkpoints, begin, fit
from treeball.methods.auto import resolve
from treeball.methods.fit_settings import given_settings
from treeball.methods.registry import find
from treeball.methods.settings import ConstructSettings
from treeball.workers import in_threads


def hierarchy_of(edges, weights=None):
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent, weights=weights)


BALANCED = hierarchy_of(trees.balanced(3, 4))  # 121 nodes
LARGER = hierarchy_of(trees.preferential(1200, 0))  # enough pairs for several workers
QUICK = FitSettings(method="ga-dl-rw", dim=5, epochs=30, burn_in=5, deterministic=True)


@pytest.mark.parametrize(("method", "least"), [("poincare", 0.9), ("lorentz", 0.9), ("euclidean", 0.8)])
def test_every_method_learns_a_small_tree(method, least):
    embedding = fit(BALANCED, method=method, dim=5, epochs=600, seed=1, deterministic=True)
    assert embedding.geometry == method
    assert embedding.evaluate().map > least


def test_the_objective_ancestors_is_learned():
    embedding = fit(BALANCED, dim=5, epochs=300, objective="ancestors")
    assert embedding.objective == "ancestors"
    assert embedding.evaluate().map > 0.9


@pytest.mark.parametrize("method", ["poincare", "lorentz", "euclidean"])
def test_deterministic_runs_are_equal_to_the_byte_at_any_thread_count(method, tmp_path):
    settings = QUICK.replace(method=method)
    runs = [fit(LARGER, settings.replace(threads=threads)) for threads in (1, 2, 4)]
    files = [run.save(tmp_path / f"{i}.parquet").read_bytes() for i, run in enumerate(runs)]
    assert files[0] == files[1] == files[2]
    other = fit(LARGER, settings.replace(seed=1))
    assert not np.array_equal(other.vectors, runs[0].vectors)


@numba.njit(error_model="numpy")
def steps_of_the_last_rows(vectors, chosen, scratch, u):
    x, s = scratch[:, :52].copy(), scratch[:, 52:103].copy()
    for i in range(chosen.shape[0]):
        head = vectors.shape[0] - 1 - i % 8
        poincare_step(vectors, head, chosen[i], np.full(51, 0.5), 51, 51, 0.01, 0.99999, x, s, u)


@pytest.mark.parametrize("room", [ROOM_BEHIND, ROOM_BEHIND + 1, 2 * ROOM_BEHIND, 30 * ROOM_BEHIND])
def test_room_behind_the_vectors_is_enough_for_a_step_to_add_up_in_one_order(room):
    """Right behind them, within 256 bytes, memory that a step writes to changes the last digits on some processors."""

    def trained(room):
        block = np.zeros(50_000)
        vectors = block[:1000].reshape(200, 5)
        rng = np.random.default_rng(0)
        vectors[:] = rng.normal(0, 0.3, vectors.shape)
        chosen = np.array([rng.choice(200, 51, replace=False) for _ in range(200)])
        steps_of_the_last_rows(vectors, chosen, np.zeros((5, 103)), block[1000 + room :][:5])
        return vectors.copy()

    np.testing.assert_array_equal(trained(room), trained(40_000))


@pytest.mark.parametrize("resume", [False, True])
def test_vectors_have_that_room(resume):
    settings = resolve(BALANCED, given_settings(QUICK)).settings
    run = begin(BALANCED, settings, fit(BALANCED, QUICK, watch=lambda run, done: True) if resume else None)
    assert run.vectors.base.size - run.vectors.size >= ROOM_BEHIND
    assert run.vectors.ctypes.data == run.vectors.base.ctypes.data


def test_several_workers_learn_as_well_as_one():
    one = fit(LARGER, QUICK.replace(epochs=150)).evaluate().map
    several = fit(LARGER, QUICK.replace(epochs=150, deterministic=False, threads=4)).evaluate().map
    assert several == pytest.approx(one, abs=0.05)


@pytest.mark.parametrize("method", ["poincare", "lorentz", "euclidean"])
def test_resuming_ends_with_the_same_bytes_as_an_uninterrupted_run(method, tmp_path):
    settings = QUICK.replace(method=method)
    whole = fit(LARGER, settings).save(tmp_path / "whole.parquet").read_bytes()
    half = fit(LARGER, settings, watch=lambda run, done: run.epoch >= 7)
    assert 7 <= half.provenance.epochs_done < 30
    half.save(tmp_path / "half.parquet")
    resumed = fit(LARGER, settings, resume=treeball.load(tmp_path / "half.parquet"))
    assert resumed.save(tmp_path / "resumed.parquet").read_bytes() == whole


def test_resuming_with_other_settings_or_another_tree_is_refused():
    half = fit(BALANCED, QUICK)
    with pytest.raises(InputError, match="dim was 5 and is now 6"):
        fit(BALANCED, QUICK.replace(dim=6), resume=half)
    with pytest.raises(InputError, match="not the one the model was trained on"):
        fit(LARGER, QUICK, resume=half)
    with pytest.raises(InputError, match="30 epochs already"):
        fit(BALANCED, QUICK.replace(epochs=10), resume=half)
    longer = fit(BALANCED, QUICK.replace(epochs=40), resume=half)
    assert longer.provenance.epochs_done == 40


def test_a_healed_model_of_lorentz_which_is_in_the_ball_is_not_resumed():
    settings = FitSettings(method="lorentz", dim=5, epochs=5, heal=True, deterministic=True)
    healed = fit(BALANCED, settings)
    assert healed.geometry == "poincare"
    assert healed.dim == 5
    with pytest.raises(InputError, match="moved to the geometry poincare, as healing does; start afresh"):
        fit(BALANCED, settings.replace(epochs=10), resume=healed)


def test_checkpoints_are_complete_models(tmp_path):
    path = tmp_path / "c.parquet"
    seen = []

    def watch(run, done):
        if path.exists():
            seen.append(treeball.load(path).provenance.epochs_done)
        return False

    fit(LARGER, QUICK, checkpoints=Checkpoints(path, 0.0), watch=watch)
    assert seen == sorted(seen)
    assert seen[-1] < 30 <= treeball.load(path).provenance.epochs_done


def test_a_checkpoint_that_cannot_be_written_ends_no_training_and_is_tried_again(tmp_path, caplog):
    path = tmp_path / "gone" / "c.parquet"

    def watch(run, done):
        if run.epoch == 15:
            path.parent.mkdir()
        return False

    embedding = fit(LARGER, QUICK, checkpoints=Checkpoints(path, 0.0), watch=watch)
    assert embedding.provenance.epochs_done == 30
    assert treeball.load(path).provenance.epochs_done == 30
    assert caplog.text.count("no checkpoint for now") == 1
    assert caplog.text.count("could be written again") == 1


def test_weights_change_what_is_learned_and_must_be_there():
    edges = trees.star(40)
    heavy = np.where(np.arange(39) < 20, 10.0, 0.01)
    embedding = fit(hierarchy_of(edges, heavy), QUICK.replace(epochs=60, weighted=True, dilation_limit=0))
    precision = embedding.evaluate().ranking.precision
    assert precision[:20].mean() > 2 * precision[20:].mean()
    with pytest.raises(InputError, match="no weight column"):
        fit(BALANCED, QUICK.replace(weighted=True))


@pytest.mark.parametrize(("weight", "why"), [(1e308, "too large to be added up"), (0.0, "nothing would be trained")])
def test_weights_that_would_train_nothing_are_refused(weight, why):
    edges = trees.star(40)
    with pytest.raises(InputError, match=why):
        fit(hierarchy_of(edges, np.full(39, weight)), QUICK.replace(weighted=True))


@pytest.mark.parametrize("method", ["poincare", "lorentz", "euclidean"])
def test_the_first_radius_is_a_distance(method):
    settings = FitSettings(method=method, dim=3, epochs=0, init_radius=5.0)
    radii = fit(LARGER, settings, scores=False).radii()
    assert 4.5 < radii.max() <= 5.0 + 1e-9
    trained = fit(BALANCED, settings.replace(epochs=3))
    assert np.isfinite(trained.vectors).all()


def test_a_construction_to_start_from_is_held_to_the_largest_radius():
    settings = FitSettings(method="poincare", dim=5, epochs=0, init="construct", init_scale=1.0, max_radius=6.0)
    first = fit(BALANCED, settings, scores=False)
    assert first.radii().max() <= 6.0 + 1e-9
    assert first.provenance.clamped.times > 0
    begun = begin(BALANCED, resolve(BALANCED, given_settings(settings, method="softmax", epochs=100)).settings)
    softmax._place_first(begun, 5.0)
    assert poincare.radius(begun.vectors).max() <= 6.0 + 1e-9


@pytest.mark.parametrize("method", ["poincare", "lorentz"])
def test_what_two_workers_wrote_at_once_is_put_back_into_the_space(method, monkeypatch):
    """Both may step the same node in the very last step."""
    from treeball.engine.cpu import engine

    def torn(work, items, workers):
        in_threads(work, items, workers)
        run.vectors[3] = 700.0

    monkeypatch.setattr(engine, "in_threads", torn)
    given = given_settings(None, method=method, dim=4, epochs=1, threads=2, device="cpu", max_radius=6.0)
    run = begin(LARGER, resolve(LARGER, given).settings)
    for _ in find(method).run(run):
        pass
    assert run.embedding().radii()[3] == pytest.approx(6.0)


@pytest.mark.parametrize("method", ["euclidean", "poincare", "lorentz", "softmax"])
@pytest.mark.parametrize("lr", [1e6, 1e200, 1.7e308])
def test_a_step_that_overflows_after_its_loss_is_no_result(method, lr):
    with contextlib.suppress(NumericalError):
        made = fit(BALANCED, method=method, dim=3, epochs=1, lr=lr, burn_in=None if method == "softmax" else 0)
        assert np.isfinite(made.vectors).all()


def test_a_nan_names_epoch_node_and_remedy():
    with pytest.raises(NumericalError, match=r"epoch \d+, at node 'n\d+'.*lower the learning rate \(now 1e\+300\)"):
        fit(BALANCED, QUICK, lr=1e300)


def test_clamping_is_counted_in_hyperbolic_units():
    embedding = fit(BALANCED, QUICK.replace(epochs=100, max_radius=1.5))
    assert embedding.provenance.clamped.times > 0
    assert embedding.provenance.clamped.at_radius == 1.5
    assert embedding.radii().max() <= 1.5 + 1e-9


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_hierarchies_train(n):
    embedding = fit(hierarchy_of(trees.chain(n)), QUICK, objective="ancestors")
    assert np.isfinite(embedding.vectors).all()


def test_a_deep_chain_trains_for_ancestors():
    """Almost every node is a positive: drawing negatives must not become a search for a needle."""
    embedding = fit(hierarchy_of(trees.chain(1500)), QUICK.replace(epochs=1, dim=2), objective="ancestors")
    assert embedding.provenance.epochs_done == 1


def test_guesses_and_repairs_are_logged(caplog):
    treeball.fit([("dog", "animal"), ("cat", "animal"), ("dog", "animal")], dim=2)
    assert "1 duplicate edge" in caplog.text


def test_numpy_integers_are_whole_numbers_and_text_is_none():
    settings = ConstructSettings(method="construct", dim=np.int64(3))  # type: ignore[arg-type]
    assert settings.to_dict()["dim"] == 3
    assert type(settings.to_dict()["dim"]) is int
    for wrong in ({"lr": "a"}, {"deterministic": "no"}, {"eta_tc": "x"}, {"max_radius": "far"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            FitSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be a FitSettings"):
        fit(BALANCED, {"dim": 3})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 seconds or more"):
        Checkpoints(None, float("nan"))


def test_fit_reads_what_read_reads():
    embedding = treeball.fit([("dog", "animal"), ("cat", "animal"), ("poodle", "dog")], dim=2)
    assert set(embedding.hierarchy.names) == {"dog", "cat", "animal", "poodle"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dim", 1), ("dim", 2.5), ("dim", 10_000), ("epochs", -1), ("lr", -1.0), ("lr", float("nan")), ("lr", 0.0),
        ("batch", 0), ("negatives", 0), ("burn_in", -1), ("burn_in_factor", 2.0), ("max_radius", 40.0), ("seed", -1),
        ("init_radius", 0.0), ("threads", -1), ("method", "magic"), ("objective", "children"),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(InputError, match=name):
        FitSettings(**{name: value})


def test_an_unknown_setting_is_refused():
    with pytest.raises(InputError, match="no setting 'epoch'"):
        fit(BALANCED, epoch=3)


def test_the_process_that_compiles_trains_to_the_same_bytes_as_those_that_follow(tmp_path):
    """Without steps inlined by force it did not: see `engine.cpu.steps`."""
    code = (
        "import hashlib, treeball; m = treeball.fit('example:mammals', method='poincare', dim=2, epochs=60, "
        "scores=False, deterministic=True); print(hashlib.sha256(m.vectors.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    printed = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert any(tmp_path.rglob("*.nbi"))  # the second found what the first had compiled
    assert printed[0] == printed[1]
