"""heal: what is ill gets well, what is well stays where it is, and nothing gets worse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, InputError, fit, heal
from treeball.geometry import poincare
from treeball.methods.construct import construct

from .test_construct import shapes, tree


def ill(scores):
    return sum(scores.illness.counts().values())


def perturbed(vectors, noise, seed=0):
    """Every point moved by a random vector of about hyperbolic length `noise`."""
    rng = np.random.default_rng(seed)
    moves = noise * rng.normal(size=vectors.shape) / np.sqrt(vectors.shape[1])
    return poincare.project(poincare.mobius_add(vectors, poincare.from_normal(moves)), 33.0)[0]


def test_a_perturbed_perfect_model_comes_back_to_zero():
    hierarchy = tree(shapes("random", 1500, np.random.default_rng(2)))
    vectors = perturbed(construct(hierarchy, 10).vectors, 0.1)
    healing = heal(Embedding(vectors, hierarchy))
    assert ill(healing.before) > 20
    assert ill(healing.after) == 0
    still = (healing.embedding.vectors == vectors).all(axis=1)
    assert healing.moved == int((~still).sum())
    assert still.mean() > 0.3


def test_one_misplaced_leaf_is_all_that_moves():
    hierarchy = tree(shapes("preferential", 600, np.random.default_rng(4)))
    vectors = np.array(construct(hierarchy, 10).vectors)
    leaf = int(np.flatnonzero(np.diff(hierarchy.child_ptr) == 0)[-1])
    other = int(np.flatnonzero(np.diff(hierarchy.child_ptr) > 0)[3])
    vectors[leaf] = poincare.mobius_add(vectors[other], poincare.from_normal(np.full(10, 0.05)))
    healing = heal(Embedding(vectors, hierarchy))
    assert ill(healing.before) > 0
    assert ill(healing.after) == 0
    assert (healing.embedding.vectors != vectors).any(axis=1).nonzero()[0].tolist() == [leaf]


def test_a_trained_model_loses_its_illness():
    hierarchy = treeball.read("example:mammals")
    trained = fit(hierarchy, method="ga-dl-rw", dim=10, epochs=60, deterministic=True)
    healing = heal(trained)
    assert ill(healing.before) > 0.1 * hierarchy.n_edges
    assert ill(healing.after) < 0.01 * hierarchy.n_edges
    assert healing.after.map > healing.before.map


def test_a_healthy_model_is_left_alone():
    hierarchy = tree(shapes("random", 300, np.random.default_rng(0)))
    vectors = construct(hierarchy, 5).vectors
    healing = heal(Embedding(vectors, hierarchy))
    assert healing.moved == healing.rounds == 0
    assert healing.embedding.vectors.tobytes() == vectors.tobytes()


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 120), dim=st.integers(2, 6), seed=st.integers(0, 10**6), spread=st.floats(0.1, 12.0))
def test_healing_never_makes_the_score_worse(n, dim, seed, spread):
    rng = np.random.default_rng(seed)
    hierarchy = tree(shapes("random", n, rng))
    vectors = poincare.from_normal(spread * rng.normal(size=(n, dim)) / np.sqrt(dim))
    healing = heal(Embedding(poincare.project(vectors, 30.0)[0], hierarchy))
    assert healing.after.map >= healing.before.map
    assert healing.after.map == healing.embedding.evaluate().map


def test_a_lorentz_model_is_healed_in_the_ball():
    hierarchy = treeball.read("example:mammals")
    healing = heal(fit(hierarchy, method="lorentz", dim=8, epochs=30, deterministic=True))
    assert healing.embedding.geometry == "poincare"
    assert ill(healing.after) < ill(healing.before)


def test_a_euclidean_model_is_refused_in_one_sentence():
    hierarchy = tree([0, 0, 1])
    with pytest.raises(InputError, match="hyperbolic"):
        heal(Embedding(np.zeros((4, 3)), hierarchy, "euclidean"))


def test_a_perturbed_construction_of_a_dag_gets_back_to_its_first_parents():
    rng = np.random.default_rng(6)
    n = 300
    first = [int(rng.integers(0, i)) for i in range(1, n)]
    child, parent = list(range(1, n)), list(first)
    for i in range(50, n, 20):
        other = int(rng.integers(0, i))
        if other != first[i - 1]:
            child.append(i)
            parent.append(other)
    hierarchy = treeball.Hierarchy.from_codes([str(i) for i in range(n)], child, parent)
    vectors = perturbed(construct(hierarchy, 10).vectors, 0.3)
    healing = heal(Embedding(vectors, hierarchy))
    assert healing.after.map >= healing.before.map
    assert healing.after.hits_at_1 > 0.99


def test_a_construction_that_leaves_far_too_much_ill_is_not_healed_for_hours(monkeypatch):
    """In a plane this tree keeps some dozens of ill pairs."""
    from treeball.methods import _fit

    monkeypatch.setattr(_fit, "HOPELESS_COMPARISONS", 1000)
    monkeypatch.setattr(_fit, "heal", lambda *_, **__: pytest.fail("it was healed"))
    model = fit(treeball.read(trees.random_tree(3000, 1).pairs, direction="child-parent"), dim=2, precision=1)
    ill = len(model.evaluate().illness)
    assert ill * len(model) > 1000
    assert model.provenance.log[-2].text.startswith(f"not healed: {ill:,} pairs are ill")
    assert model.provenance.log[-1].text.startswith(f"{ill:,} pairs stay ill")
