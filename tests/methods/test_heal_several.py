"""heal of DAGs and for the objective ancestors: what is ill gets well, nothing gets worse, and few nodes move."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, FitSettings, Hierarchy, fit, heal
from treeball.cli.main import run
from treeball.embedding import Provenance
from treeball.geometry import poincare
from treeball.methods.heal_several import take_seats
from treeball.methods.healing import Course

OBJECTIVES = ("parents", "ancestors")


def hierarchy_of(edges):
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)


def embedding_of(vectors, hierarchy, objective):
    return Embedding(vectors, hierarchy, provenance=Provenance(objective=objective))


def standing(scores):
    """What must not get worse, larger for better."""
    return -len(scores.illness), scores.map, -scores.mean_rank


def assert_not_worse(healing, given_vectors):
    """By the scores that healing tells, which are those of its vectors, exactly; and who did not move, did not."""
    made = healing.embedding
    assert standing(healing.after) == standing(made.evaluate(sample=0))
    assert healing.before.objective == healing.after.objective == made.objective
    assert all(now >= before for now, before in zip(standing(healing.after), standing(healing.before), strict=True))
    moved = [a.tobytes() != b.tobytes() for a, b in zip(made.vectors, given_vectors, strict=True)]
    assert sum(moved) == healing.moved
    assert np.isfinite(made.vectors).all()


@pytest.fixture(scope="module")
def dag():
    """A DAG of 300 nodes, a third of them with a second parent."""
    return hierarchy_of(trees.random_dag(300, 100, seed=3))


@pytest.fixture(scope="module", params=OBJECTIVES)
def trained(request, dag):
    """The DAG without an ill pair."""
    made = fit(dag, method="softmax", objective=request.param, dim=8, epochs=2000, deterministic=True)
    assert len(made.evaluate().illness) == 0
    return made


@settings(max_examples=30, deadline=None)
@given(
    edges=trees.dags(20),
    objective=st.sampled_from(OBJECTIVES),
    dim=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.0, 1e-9, 0.3, 2.0, 12.0]),
)
@example(edges=trees.star(2), objective="ancestors", dim=2, seed=0, spread=1.0)
@example(edges=trees.chain(5), objective="ancestors", dim=2, seed=0, spread=0.0)
def test_random_vectors_never_get_worse(edges, objective, dim, seed, spread):
    hierarchy = hierarchy_of(edges)
    normal = spread * np.random.default_rng(seed).normal(size=(edges.n, dim)) / np.sqrt(dim)
    vectors = poincare.project(poincare.from_normal(normal), 30.0)[0]
    healing = heal(embedding_of(vectors, hierarchy, objective), threads=1)
    if healing.before.ranking.ranks.size:
        assert_not_worse(healing, vectors)


@settings(max_examples=40, deadline=None)
@given(edges=trees.dags(25), objective=st.sampled_from(OBJECTIVES), dim=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_new_seats_harm_nobody(edges, objective, dim, seed):
    # Without the check that follows every round: node for node, no rank is higher than before.
    hierarchy = hierarchy_of(edges)
    vectors = poincare.from_normal(np.random.default_rng(seed).normal(size=(edges.n, dim)))
    course = Course(embedding_of(vectors, hierarchy, objective), 9, 1, None)
    if course.ill:
        before, made = course.scores, take_seats(course, course.vectors, course.scores)
        after = course.judge(made)
        assert (after.ranking.ranks > 1).sum() <= (before.ranking.ranks > 1).sum()
        assert (after.ranking.precision >= before.ranking.precision - 1e-12).all()
        moved = np.flatnonzero((made != vectors).any(axis=1))
        assert np.isin(moved, np.concatenate([before.illness.node, before.illness.offender])).all()
        assert standing(after) > standing(before) if moved.size else standing(after) == standing(before)


@settings(max_examples=6, deadline=None)
@given(
    edges=trees.dags(25),
    objective=st.sampled_from(OBJECTIVES),
    epochs=st.sampled_from([20, 60]),
    method=st.sampled_from(["softmax", "poincare", "construct"]),
)
def test_half_trained_models_never_get_worse(edges, objective, epochs, method):
    given_settings = {} if method == "construct" else {"epochs": epochs}
    hierarchy = hierarchy_of(edges)
    if hierarchy.n_edges:
        made = fit(hierarchy, method=method, objective=objective, dim=3, deterministic=True, **given_settings)
        assert_not_worse(heal(made, threads=1), made.vectors)


def test_misplaced_leaves_come_back_and_nobody_else_moves(trained):
    hierarchy = trained.hierarchy
    leaves = np.flatnonzero(np.diff(hierarchy.child_ptr) == 0)[::20]
    vectors = np.array(trained.vectors)
    vectors[leaves] = poincare.mobius_neg(vectors[leaves])
    healing = heal(embedding_of(vectors, hierarchy, trained.objective))
    assert len(healing.before.illness) >= leaves.size
    assert_not_worse(healing, vectors)
    assert len(healing.after.illness) == 0
    moved = np.flatnonzero((healing.embedding.vectors != vectors).any(axis=1))
    assert set(leaves) <= set(moved)
    assert moved.size <= hierarchy.n_nodes // 3
    claim = {"parents": "every parent of every node", "ancestors": "every ancestor of every node"}[trained.objective]
    assert healing.after.certificate.sentence().startswith(f"{claim} is nearer than any other node: verified exactly")


def test_all_nodes_pushed_around_a_little_find_back(trained):
    rng = np.random.default_rng(0)
    push = poincare.from_normal(0.3 * rng.normal(size=trained.vectors.shape))
    vectors = poincare.mobius_add(trained.vectors, push)
    healing = heal(embedding_of(vectors, trained.hierarchy, trained.objective))
    before, after = len(healing.before.illness), len(healing.after.illness)
    assert before > 20
    assert after < 0.2 * before
    assert_not_worse(healing, vectors)


def test_all_ancestors_of_a_tree_are_mended_near_the_rim():
    # Where space is stiff a leaf gets to the other side of its parent by a new seat only.
    hierarchy = hierarchy_of(trees.balanced(3, 4))
    made = fit(hierarchy, objective="ancestors", method="poincare", dim=5, epochs=400, deterministic=True)
    leaves = np.flatnonzero(np.diff(hierarchy.child_ptr) == 0)[:6]
    vectors = np.array(made.ball())
    vectors[leaves] = vectors[leaves[::-1]]
    healing = heal(embedding_of(vectors, hierarchy, "ancestors"))
    assert len(healing.after.illness) <= len(made.evaluate().illness)
    assert_not_worse(healing, vectors)


def test_a_model_without_ill_pairs_is_left_alone(trained):
    healing = heal(trained)
    assert healing.moved == healing.rounds == 0
    assert healing.embedding.vectors.tobytes() == trained.vectors.tobytes()


def test_one_worker_gives_the_same_bytes_again_and_who_watches_can_stop_it(trained):
    rng = np.random.default_rng(1)
    vectors = poincare.mobius_add(trained.vectors, poincare.from_normal(0.3 * rng.normal(size=trained.vectors.shape)))
    sick = embedding_of(vectors, trained.hierarchy, trained.objective)
    seen = []

    def watch(number, scores):
        seen.append(number)
        return True

    stopped = heal(sick, threads=1, watch=watch)
    assert seen == [1]
    assert stopped.rounds == heal(sick, rounds=1, threads=1).rounds == 1
    assert heal(sick, rounds=0).moved == 0
    assert heal(sick, threads=1).embedding.vectors.tobytes() == heal(sick, threads=1).embedding.vectors.tobytes()


def test_a_hyperboloid_model_of_a_dag_is_healed_in_the_ball(dag):
    healing = heal(fit(dag, method="lorentz", dim=6, epochs=60, deterministic=True))
    assert healing.embedding.geometry == "poincare"
    assert len(healing.after.illness) < len(healing.before.illness)
    assert standing(healing.after) >= standing(healing.before)


# ---- from end to end ----


def test_the_command_heals_and_certifies(tmp_path, monkeypatch, capsys, trained):
    monkeypatch.chdir(tmp_path)
    leaves = np.flatnonzero(np.diff(trained.hierarchy.child_ptr) == 0)[:5]
    vectors = np.array(trained.vectors)
    vectors[leaves] = poincare.mobius_neg(vectors[leaves])
    embedding_of(vectors, trained.hierarchy, trained.objective).save("sick.parquet")
    assert run(["diagnose", "sick.parquet"]) == 0
    shown = capsys.readouterr().out
    assert "1. " in shown
    assert "treeball heal sick.parquet -o sick-healed.parquet" in shown
    assert "has no room in 8 dimensions: use more." in shown
    assert "ga-dl-rw" not in shown
    assert run(["heal", "sick.parquet", "-o", "well.parquet"]) == 0
    captured = capsys.readouterr()
    assert "round 1: " in captured.err
    sentence = captured.out.splitlines()[-1]
    assert f"every {trained.objective[:-1]} of every node is nearer than any other node" in sentence
    assert treeball.load("well.parquet").objective == trained.objective
    for command in ("evaluate", "info"):
        assert run([command, "well.parquet"]) == 0
        shown = capsys.readouterr().out
        assert sentence in shown
    assert "no node lacks capacity, as no pair is capacity-ill" in shown
    assert "lacking" not in shown


def test_fit_heals_ancestors_when_asked(tmp_path, monkeypatch, capsys, dag):
    made = fit(dag, method="poincare", objective="ancestors", heal=True, dim=5, epochs=40, deterministic=True)
    plain = fit(dag, method="poincare", objective="ancestors", dim=5, epochs=40, deterministic=True)
    assert len(made.evaluate().illness) < len(plain.evaluate().illness)
    assert "healed" in made.provenance.log[-1].text
    again = fit(dag, method="poincare", objective="ancestors", heal=True, dim=5, epochs=40, deterministic=True)
    assert again.vectors.tobytes() == made.vectors.tobytes()


def test_auto_heals_what_its_training_leaves_ill(dag):
    options = FitSettings(objective="ancestors", dim=8, epochs=150, deterministic=True)
    plain, made = fit(dag, options, heal=False), fit(dag, options)
    assert made.provenance.settings["heal"] is True
    assert len(plain.evaluate().illness) > len(made.evaluate().illness)
    assert standing(made.evaluate()) > standing(plain.evaluate())
    rounds = [entry.facts["healing"]["rounds"] for entry in made.provenance.log if "healing" in entry.facts]
    assert rounds
    assert 0 < rounds[0] <= 3
