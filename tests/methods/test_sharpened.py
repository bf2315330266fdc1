"""The method sharpened and its kernel: the gradient of the loss, every node counting the same, resuming."""

import math

import numpy as np
import pytest

from tests import trees
from treeball import fit
from treeball.engine.cpu import full_softmax
from treeball.engine.cpu.sampled_softmax import LOSS
from treeball.engine.cpu.steps import SMALL_SHARE
from treeball.errors import InputError
from treeball.geometry import poincare
from treeball.hierarchy import Hierarchy
from treeball.methods.auto import resolve
from treeball.methods.fit_settings import FitSettings
from treeball.methods.settings import SharpenedSettings

CHAIN = np.array([-1, 0, 1, 2, 0, 1, 2])  # parents: 0 <- 1 <- 2 <- 3, and a leaf beside each of 1, 2 and 3


def balanced(children, levels):
    edges = trees.balanced(children, levels)
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)


def ancestors_of(node):
    found = []
    while CHAIN[node] >= 0:
        node = CHAIN[node]
        found.append(node)
    return found


def naive_loss(vectors, head, sharpness):
    """sum over the positives p of log(1 + Z / w(p)), with every non-positive in Z."""
    distance = [float(poincare.distance(vectors[head], x)) for x in vectors]
    positives = ancestors_of(head)
    others = [x for x in range(len(vectors)) if x != head and x not in positives]
    z = sum(math.exp(-sharpness * distance[x]) for x in others)
    return sum(math.log1p(z / math.exp(-sharpness * distance[p])) for p in positives)


def one_step(vectors, head, sharpness, step, samples=None):
    """Vectors after a step of one head, and the counters; all others are listed, or none and so many samples drawn."""
    n = len(vectors)
    positives = [np.array(sorted(ancestors_of(node)), dtype=np.int32) for node in range(n)]
    ptr = np.cumsum([0, *(len(found) for found in positives)])
    near = np.full((n, n), -1, dtype=np.int32)
    for node in range(n):
        others = [x for x in range(n) if x != node and x not in positives[node]]
        near[node, n - len(others) :] = others
    if samples:
        near = np.full((n, 1), -1, dtype=np.int32)
    moved, counters = vectors.copy(), np.zeros(5)
    full_softmax.train_full_softmax(
        moved, np.array([head], dtype=np.int32), ptr, np.concatenate(positives), near, 3, np.array([step]), 0,
        samples or 1, sharpness, 0.999999, 0, 0, 1, counters,
    )  # fmt: skip
    # The step of an average pair is shared out among the positives of the node, whatever their number.
    return moved, counters, ptr[-1] / len(positives[head])


@pytest.mark.parametrize("sharpness", [1, 2, 4])
@pytest.mark.parametrize("head", [1, 3, 6])
def test_a_step_follows_the_gradient_of_the_softmax_over_all_nodes(sharpness, head):
    vectors = np.random.default_rng(5).uniform(-0.25, 0.25, (7, 3))
    step, h = 1e-6, 1e-6
    moved, counters, weight = one_step(vectors, head, sharpness, step)
    assert counters[LOSS] == pytest.approx(naive_loss(vectors, head, sharpness), rel=1e-12)
    compared = 0
    for node in range(7):
        gradient = np.empty(3)
        for k in range(3):
            ahead, behind = vectors.copy(), vectors.copy()
            ahead[node, k] += h
            behind[node, k] -= h
            gradient[k] = (naive_loss(ahead, head, sharpness) - naive_loss(behind, head, sharpness)) / (2 * h)
        # The factor that the sharpness would be on the gradient is left to the step.
        riemannian = gradient / sharpness * (1 - vectors[node] @ vectors[node]) ** 2 / 4
        length = 2 * np.linalg.norm(riemannian) / (1 - vectors[node] @ vectors[node])
        if node != head and length < SMALL_SHARE:
            continue  # moved rarely and then further
        np.testing.assert_allclose(moved[node] - vectors[node], -step * weight * riemannian, rtol=1e-4, atol=1e-11)
        compared += 1
    assert compared >= 4


@pytest.mark.parametrize("sharpness", [1, 3])
def test_a_sample_stands_for_all_that_are_not_listed(sharpness):
    vectors = np.random.default_rng(6).uniform(-0.25, 0.25, (7, 3))
    step = 1e-6
    listed, _, _ = one_step(vectors, 3, sharpness, step)
    sampled, counters, _ = one_step(vectors, 3, sharpness, step, samples=200_000)
    assert counters[LOSS] == pytest.approx(naive_loss(vectors, 3, sharpness), rel=2e-3)
    np.testing.assert_allclose(sampled[3] - vectors[3], listed[3] - vectors[3], rtol=0.02, atol=0.01 * step)


def test_a_sharp_softmax_sees_the_nodes_that_are_nearer_and_no_others():
    vectors = np.zeros((7, 3))
    vectors[:, 0] = [0.0, 0.3, 0.9, -0.9, 0.95, 0.35, -0.95]
    soft, sharp = (one_step(vectors, 1, sharpness, 1e-9)[1][LOSS] for sharpness in (1, 8))
    # Node 5 alone is nearer to node 1 than the root: the sharp loss is 8 times the difference of these two distances.
    gap = float(poincare.distance(vectors[1], vectors[0]) - poincare.distance(vectors[1], vectors[5]))
    assert sharp == pytest.approx(8 * gap, rel=0.01)
    assert soft > 1.1 * gap


def test_sharpening_is_what_puts_ancestors_first():
    tree = balanced(4, 4)
    settings = FitSettings(
        method="sharpened", dim=2, objective="ancestors", epochs=300, sharpen=100, lr=0.2, deterministic=True
    )
    trained, formed = fit(tree, settings), fit(tree, settings.replace(sharpen=0))
    assert trained.evaluate().map > formed.evaluate().map + 0.2
    assert [entry.facts["dilated"] for entry in trained.provenance.log if "dilated" in entry.facts] == [1.5]
    # Without a third phase there is nothing to make room for.
    assert not any("dilated" in entry.facts for entry in formed.provenance.log)


@pytest.mark.parametrize(("stop", "trace_every"), [(30, 0), (50, 0), (62, 0), (63, 7), (35, 7)])
@pytest.mark.parametrize("full_softmax", [False, True])
def test_a_run_that_stops_and_resumes_ends_with_the_same_bytes(tmp_path, stop, trace_every, full_softmax):
    settings = FitSettings(
        method="sharpened",
        dim=4,
        objective="ancestors",
        epochs=80,
        sharpen=40,
        full_softmax=full_softmax,
        trace_every=trace_every,
        deterministic=True,
    )
    tree = balanced(3, 3)
    whole = fit(tree, settings).save(tmp_path / "whole.parquet").read_bytes()
    part = fit(tree, settings, watch=lambda run, done: run.epoch >= stop)
    assert part.provenance.epochs_done < 80
    resumed = fit(tree, settings, resume=part)
    assert resumed.save(tmp_path / "resumed.parquet").read_bytes() == whole


def test_sharpening_takes_at_most_half_of_the_epochs():
    settings = FitSettings(method="sharpened", dim=4, objective="ancestors", epochs=10, sharpen=200)
    log = fit(balanced(2, 3), settings).provenance.log
    assert [entry.epoch for entry in log if "dilated" in entry.facts] == [5]
    with pytest.raises(InputError, match="sharpen must be a whole number"):
        FitSettings(sharpen=-1)


def test_weights_of_edges_are_refused_where_every_node_counts_the_same():
    for settings in ({"method": "sharpened"}, {"method": "poincare", "full_softmax": True}):
        with pytest.raises(InputError, match="weighted goes with random negatives"):
            fit(balanced(2, 3), weighted=True, **settings)


def test_auto_keeps_what_was_set_and_says_where_it_starts():
    tree = balanced(2, 3)
    kept, (reason, excluded), _ = resolve(
        tree, {"objective": "ancestors", "lr": 5.0, "dilation": 2.0, "init_scale": 0.5}
    )
    assert isinstance(kept, SharpenedSettings)
    assert (kept.method, kept.init, kept.full_softmax) == ("sharpened", "construct", True)
    assert (kept.lr, kept.dilation, kept.init_scale, kept.burn_in) == (5.0, 2.0, 0.5, 0)
    assert "from a construction, against all nodes" in reason
    assert excluded.endswith("does not use dilation")
    edges = trees.star(20_002)
    large = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    taken, (reason,), _ = resolve(large, {"objective": "ancestors"})
    assert isinstance(taken, SharpenedSettings)
    assert (taken.init, taken.full_softmax, taken.dilation) == ("random", False, 1.5)
    assert "from random vectors, against random nodes" in reason
    assert "from a construction" in resolve(large, {"objective": "ancestors", "init": "construct"}).reasons[0]
