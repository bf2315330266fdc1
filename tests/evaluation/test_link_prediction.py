"""Link prediction: corrupted pairs, pair classification, what a model knows of pairs; in Python and by command."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import treeball
from tests import trees
from tests.evaluation.test_taxonomy_work import named
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.evaluation import _classification as classification
from treeball.evaluation._corrupted import Truth, corrupted_pairs
from treeball.evaluation.pair_scores import PAIR_SCORES
from treeball.types import Objective


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# ---- corrupted pairs ----


def naive_closure(pairs):
    """All (node, ancestor) that pairs of codes imply."""
    above: dict[int, set[int]] = {}
    for node, parent in pairs:
        above.setdefault(node, set()).add(parent)
    closure = set()
    for node in above:
        waiting = [node]
        while waiting:
            for parent in above.get(waiting.pop(), ()):
                if (node, parent) not in closure:
                    closure.add((node, parent))
                    waiting.append(parent)
    return closure


@given(trees.dags(max_nodes=15), st.integers(1, 7), st.integers(0, 100))
def test_corrupted_pairs_are_never_true(edges, count, seed):
    """Some edges are the model's, the others are given: what follows from both together is true as well."""
    rng = np.random.default_rng(seed)
    # The first way up of each node stays in the model, so that it has one root.
    first = np.unique(edges.child, return_index=True)[1]
    extra = np.setdiff1d(np.flatnonzero(rng.random(edges.child.size) < 0.5), first)
    pairs = np.array(sorted(naive_closure(edges.pairs)), np.int64).reshape(-1, 2)
    pairs = pairs[rng.random(len(pairs)) < 0.5]
    assume(len(pairs))
    left = np.setdiff1d(np.arange(edges.child.size), extra)
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child[left], edges.parent[left])
    true = naive_closure(edges.pairs)
    given_too = np.concatenate([pairs, np.stack([edges.child[extra], edges.parent[extra]], axis=1)])
    truth = Truth(hierarchy, given_too[:, 0], given_too[:, 1])
    low, high = corrupted_pairs(truth, pairs[:, 0], pairs[:, 1], count, rng)
    assert not set(zip(low.tolist(), high.tolist(), strict=True)) & true
    assert not (low == high).any()
    place = 0
    for a, b in pairs.tolist():
        nodes = [x for x in range(edges.n) if x != b and (x, b) not in true]
        ancestors = [x for x in range(edges.n) if x != a and (a, x) not in true]
        # Half each; where one end has no other node, the other end makes up for it.
        at_node = count // 2 if ancestors else count
        at_node = at_node if nodes else 0
        at_ancestor = count - at_node if ancestors else 0
        here = slice(place, place + at_node + at_ancestor)
        assert Counter((low[here] != a).tolist()) == Counter({True: at_node, False: at_ancestor})
        assert ((low[here] == a) != (high[here] == b)).all()
        place = here.stop
    assert place == low.size


def test_corrupted_pairs_are_drawn_evenly():
    # Below a are all but two nodes: those are found by looking, the others by drawing.
    names = ["r", "a", "x", *(f"b{i}" for i in range(40))]
    hierarchy = Hierarchy.from_codes(names, np.arange(1, 43), [0, 0, *[1] * 40])
    node, ancestor = np.array([3, 4]), np.array([1, 0])
    truth = Truth(hierarchy, node, ancestor)
    low, high = corrupted_pairs(truth, node, ancestor, 40_000, np.random.default_rng(0))
    at_a = low[:40_000][low[:40_000] != 3]
    found = np.bincount(at_a, minlength=43)
    assert set(np.flatnonzero(found)) == {0, 2}  # the root is not below a, and neither is x
    assert abs(found[0] - 10_000) < 500
    # Everything is below the root, so that all corrupted pairs of (b1, r) have another ancestor: any but r and a.
    assert (low[40_000:] == 4).all()
    counts = np.bincount(high[40_000:], minlength=43)
    assert set(np.flatnonzero(counts)) == set(range(43)) - {0, 1, 4}
    assert counts[counts > 0].min() > 800
    assert counts.max() < 1200


def test_a_virtual_root_is_no_end_of_a_corrupted_pair():
    hierarchy = treeball.read([("b", "a"), ("c", "b"), ("d", "a"), ("f", "e"), ("g", "f")])
    codes = hierarchy.names.index_of_many(["c", "g", "a", "e"]).astype(np.int64)
    low, high = corrupted_pairs(
        Truth(hierarchy, codes[:2], codes[2:]), codes[:2], codes[2:], 500, np.random.default_rng(0)
    )
    assert hierarchy.virtual_root not in {*low.tolist(), *high.tolist()}
    assert low.size == 1000


def test_pairs_against_the_hierarchy_are_true_all_the_same():
    hierarchy = treeball.read([("b", "a"), ("c", "b"), ("d", "a")])
    a, b, c, d = hierarchy.names.index_of_many(["a", "b", "c", "d"]).astype(np.int64)
    truth = Truth(hierarchy, np.array([a, d]), np.array([c, b]))  # a below c makes a cycle
    assert truth.denies(np.array([a, d, c, c, b, b]), np.array([c, b, a, d, b, d])).tolist() == [
        False, False, False, True, False, True,
    ]  # fmt: skip


# ---- figures from scores ----

SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=12).map(lambda values: np.array(values, np.float64))


def naive_figures(true, false, threshold):
    hits, wrong = sum(x >= threshold for x in true), sum(x >= threshold for x in false)
    precision = hits / (hits + wrong) if hits + wrong else 0.0
    recall = hits / len(true)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f1, precision, recall


@given(SCORES, SCORES, SCORES, SCORES)
def test_figures_match_their_definitions(true, false, chosen_true, chosen_false):
    found = classification.scored((true, false), (chosen_true, chosen_false))
    wins = [(x > y) + (x == y) / 2 for x in true for y in false]
    assert found.auc == pytest.approx(np.mean(wins))
    steps = sorted({*true, *false}, reverse=True)
    recalls = [0.0, *(naive_figures(true, false, t)[2] for t in steps)]
    precisions = [naive_figures(true, false, t)[1] for t in steps]
    naive = sum((after - before) * p for before, after, p in zip(recalls, recalls[1:], precisions, strict=False))
    assert found.average_precision == pytest.approx(naive)
    best = max(naive_figures(chosen_true, chosen_false, t)[0] for t in [*chosen_true, *chosen_false])
    assert found.validation_f1 == pytest.approx(best)
    assert naive_figures(chosen_true, chosen_false, found.threshold)[0] == pytest.approx(best)
    f1, precision, recall = naive_figures(true, false, found.threshold)
    assert (found.f1, found.precision, found.recall) == pytest.approx((f1, precision, recall))
    without = classification.scored((true, false))
    assert (without.auc, without.f1, without.threshold) == (found.auc, None, None)


def test_a_threshold_lies_in_the_gap():
    assert classification.best_threshold(np.array([4.0, 2.0]), np.array([1.0, 0.0])) == (1.5, 1.0)
    # No number lies between these two, and half way to minus infinity is not in the gap.
    one = np.nextafter(1.0, 0.0)
    assert classification.best_threshold(np.array([1.0]), np.array([one])) == (1.0, 1.0)
    assert classification.best_threshold(np.array([1.0]), np.array([-np.inf])) == (1.0, 1.0)


# ---- scores of pairs ----


def some_model(geometry="poincare", seed=0, n=40):
    edges = trees.random_dag(n, 8, seed)
    vectors = np.random.default_rng(seed).normal(size=(n, 3)) * 0.25
    if geometry == "lorentz":
        vectors = np.concatenate([np.sqrt(1 + np.square(vectors).sum(axis=1, keepdims=True)), vectors], axis=1)
    return Embedding(vectors, named(edges), geometry)


@pytest.mark.parametrize("geometry", ["poincare", "lorentz", "euclidean"])
def test_scores_are_those_of_the_questions(geometry):
    model = some_model(geometry)
    node, ancestor = np.divmod(np.random.default_rng(1).permutation(1600)[:200], 40)
    node, ancestor = node[node != ancestor], ancestor[node != ancestor]
    below, above = model.names.take(node), model.names.take(ancestor)
    np.testing.assert_allclose(
        PAIR_SCORES["distance"](model, node, ancestor), [-x for x in model.distance(below, above)]
    )
    answers = model.is_ancestor(above, below, "geometry")
    np.testing.assert_allclose(
        np.exp(PAIR_SCORES["detour"](model, node, ancestor)), [answer.score for answer in answers], rtol=1e-9
    )


def closure_split(seed=0, **options):
    made = treeball.split(named(trees.random_dag(80, 20, seed)), closure=0.2, validation=0.2, seed=seed, **options)
    train = made.hierarchy()
    vectors = np.random.default_rng(seed).normal(size=(len(train), 3)) * 0.2
    return made, Embedding(vectors, train)


@pytest.mark.parametrize("score", ["distance", "detour"])
def test_classification_matches_a_naive_one(score):
    made, model = closure_split()
    result = treeball.evaluate_held_out(
        model, made.held_out, validation=made.validation, score=score, corrupted=6, seed=5
    )
    told = result.classification
    streams = np.random.default_rng(5).spawn(2)
    truth = naive_closure([tuple(map(model.names.index_of, pair)) for pair in made.train])
    assert {tuple(map(model.names.index_of, pair)) for pair in made.held_out + made.validation} <= truth
    parts = []
    for part, rng in zip((result.given, result.validation), streams, strict=True):
        listed = Truth(model.hierarchy, part.node, part.parent)
        low, high = corrupted_pairs(listed, part.node, part.parent, 6, rng)
        assert not set(zip(low.tolist(), high.tolist(), strict=True)) & truth
        scores = []
        for nodes, ancestors in ((part.node, part.parent), (low, high)):
            far = model.distance(model.names.take(nodes), model.names.take(ancestors))
            radius = model.radii()
            detour = radius[nodes] - radius[ancestors] if score == "detour" else 0.0
            scores.append(detour - np.array(far))
        parts.append(scores)
    (true, false), (chosen_true, chosen_false) = parts
    best = max(naive_figures(chosen_true, chosen_false, t)[0] for t in [*chosen_true, *chosen_false])
    assert told.score == score
    assert list(told.by_score) == [score]
    assert told.best.validation_f1 == pytest.approx(best)
    assert naive_figures(chosen_true, chosen_false, told.best.threshold)[0] == pytest.approx(best)
    assert naive_figures(true, false, told.best.threshold) == pytest.approx(
        (told.best.f1, told.best.precision, told.best.recall)
    )
    assert told.best.auc == pytest.approx(np.mean([(x > y) + (x == y) / 2 for x in true for y in false]))
    assert (told.pairs, told.corrupted_pairs) == (len(made.held_out), 6 * len(made.held_out))
    assert told.validation_pairs == len(made.validation)


def test_the_ascent_is_right_where_no_pair_is_ill():
    """Trained on basic edges alone, a model without an ill pair knows every ancestor by the way up."""
    made = treeball.split("example:mammals", closure=0.1, validation=0.1, keep=0)
    model = treeball.fit(made.hierarchy(), dim=10)
    assert len(model.evaluate().illness) == 0
    result = treeball.evaluate_held_out(model, made.held_out, validation=made.validation, score="ascent")
    assert result.classification.best.f1 == 1.0
    assert result.classification.best.auc == 1.0
    poor = Embedding(np.random.default_rng(0).normal(size=(len(model), 2)) * 0.2, model.hierarchy)
    scores = PAIR_SCORES["ascent"](poor, np.arange(1, 200), np.arange(199))
    assert ((scores == 1.0) | ((scores > -1.0) & (scores <= 0.0))).all()
    assert 0 < (scores == 1.0).sum() < 199


def test_a_score_is_added_in_one_place_and_transitivity_alone_is_right(monkeypatch):
    """The closure of the training edges answers every held-out pair: F1 is 1, which is why geometry is measured."""
    made, model = closure_split(keep=0)
    monkeypatch.setitem(
        PAIR_SCORES, "edges", lambda model, node, above: model.hierarchy.is_ancestor(above, node).astype(float)
    )
    result = treeball.evaluate_held_out(model, made.held_out, validation=made.validation)
    assert result.classification.score == "edges"  # the best on the validation pairs
    assert (result.classification.best.f1, result.classification.best.auc) == (1.0, 1.0)
    assert list(result.classification.by_score) == ["distance", "detour", "ascent", "edges"]
    assert result.implied == len(made.held_out)
    assert "F1 1.0000, AUC 1.0000 by edges" in repr(result.classification)
    monkeypatch.setitem(PAIR_SCORES, "edges", lambda model, node, above: np.full(node.size, np.nan))
    with pytest.raises(InputError, match="the score 'edges' must give a number"):
        treeball.evaluate_held_out(model, made.held_out, score="edges")


def test_the_score_is_chosen_on_the_validation_pairs_alone(monkeypatch):
    made, model = closure_split()

    def giving(*shares):
        """A score of 1 for that share of the pairs of each kind: held-out, their corrupted, validation, theirs."""
        left = iter(shares)
        return lambda model, node, above: (np.arange(node.size) < next(left) * node.size).astype(float)

    monkeypatch.setitem(PAIR_SCORES, "lucky", giving(1, 0, 0.5, 0.05))
    monkeypatch.setitem(PAIR_SCORES, "chosen", giving(0.5, 0.05, 1, 0))
    told = treeball.evaluate_held_out(model, made.held_out, validation=made.validation).classification
    assert told.score == "chosen"
    assert told.by_score["lucky"].f1 == told.by_score["chosen"].validation_f1 == 1.0
    assert told.best.f1 < 0.6


def test_without_validation_there_is_an_auc_and_a_sentence():
    made, model = closure_split()
    result = treeball.evaluate_held_out(model, made.held_out)
    assert result.classification.score is None
    assert result.classification.best is None
    assert {name for name, one in result.classification.by_score.items() if one.f1 is None} == {
        "distance",
        "detour",
        "ascent",
    }
    assert "F1" in dict(result.rows())
    assert "--validation" in dict(result.rows())["F1"]
    # The held-out pairs and their corrupted ones are the same with and without: so is the AUC.
    other = treeball.evaluate_held_out(model, made.held_out, validation=made.validation)
    for name, one in other.classification.by_score.items():
        assert one.auc == result.classification.by_score[name].auc
    assert treeball.evaluate_held_out(model, made.held_out, score="detour").classification.best.f1 is None
    for wrong, sentence in (
        ({"score": "x"}, "score must be one of auto, distance, detour"),
        ({"corrupted": 0}, "corrupted"),
    ):
        with pytest.raises(InputError, match=sentence):
            treeball.evaluate_held_out(model, made.held_out, **wrong)


def test_where_no_pair_can_be_corrupted_nothing_is_told_apart():
    model = Embedding(np.array([[0.0, 0.0], [0.5, 0.0]]), treeball.read([("b", "a")]))
    a, b = model.names.index_of("a"), model.names.index_of("b")
    truth = Truth(model.hierarchy, np.array([b]), np.array([a]))
    # Only b below a is true, but with one end of it the other pair cannot be made.
    assert corrupted_pairs(truth, np.array([b]), np.array([a]), 10, np.random.default_rng(0))[0].size == 0
    result = treeball.evaluate_held_out(model, [("b", "a")])
    assert result.classification is None
    assert result.to_dict()["classification"] is None
    assert "no pair can be corrupted" in dict(result.rows())["classified"]


# ---- what the model knows of the pairs ----


def test_implied_and_trained_on_is_said_of_both_files():
    made = treeball.split("example:mammals", closure=0.02, validation=0.02)
    size = len(made.held_out)
    train = made.hierarchy()
    vectors = np.random.default_rng(0).normal(size=(len(train), 3)) * 0.1
    objectives: list[tuple[Objective, int]] = [("parents", 0), ("ancestors", size)]
    for objective, known in objectives:
        model = Embedding(vectors, train, "poincare", treeball.Provenance(method="x", objective=objective))
        result = treeball.evaluate_held_out(model, made.held_out, validation=made.validation)
        assert (result.implied, result.known, result.shared) == (size, known, 0)
        rows = dict(result.rows())
        assert rows["implied"].startswith(f"{size} of {size} held-out and {size} of {size} validation pairs follow")
        assert ("objective ancestors" in rows.get("not held out", "")) == bool(known)
        # Pairs of ancestors: no ancestor competes, kept in training or not.
        assert result.objective == "ancestors"
        assert "known ancestors" in rows["candidates"]
        assert treeball.evaluate_held_out(model, made.held_out, "parents").objective == "parents"
    twice = treeball.evaluate_held_out(model, made.held_out, validation=made.held_out[:7] + made.validation)
    assert twice.shared == 7
    assert dict(twice.rows())["in both files"].startswith("7 held-out pairs: the threshold was chosen on them")


def test_edges_are_ranked_among_ancestors_too():
    hierarchy = named(trees.random_dag(60, 40, 1))
    made = treeball.split(hierarchy, edges=0.1)
    model = Embedding(np.random.default_rng(0).normal(size=(len(made.hierarchy()), 2)) * 0.2, made.hierarchy())
    assert treeball.evaluate_held_out(model, made.held_out).objective == "parents"


def test_it_is_said_of_orphans_that_they_show_nothing():
    made = treeball.split(named(trees.random_tree(50, 0)), edges=0.2, validation=0.1)
    model = treeball.fit(made.hierarchy(), dim=3)
    result = treeball.evaluate_held_out(model, made.held_out, validation=made.validation)
    row = dict(result.rows())["orphans"]
    assert row.startswith("10 of 10 held-out and 5 of 5 validation pairs are of nodes that hang from nothing")
    assert dict(result.rows())["implied"].startswith("0 of 10 held-out and 0 of 5 validation pairs follow")


# ---- the command line ----


def test_link_prediction_on_the_command_line(capsys):
    options = ["--closure", "0.05", "--validation", "0.05", "--keep", "0"]
    assert run(["split", "example:mammals", "-o", "parts", *options]) == 0
    assert run(["fit", "parts/train.tsv", "-o", "m.parquet", "--dim", "5", "--method", "construct"]) == 0
    capsys.readouterr()
    ask = ["evaluate", "m.parquet", "--held-out", "parts/heldout.tsv"]
    assert run([*ask, "--validation", "parts/validation.tsv", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    made = treeball.split("example:mammals", closure=0.05, validation=0.05, keep=0)
    result = treeball.evaluate_held_out(treeball.load("m.parquet"), made.held_out, validation=made.validation)
    assert record == json.loads(json.dumps(result.to_dict()))
    assert record["classification"]["score"] == "detour"
    assert record["classification"]["f1"] > 0.9
    assert record["validation"]["implied"] == record["implied"] == 268
    assert (
        run([*ask, "--validation", "parts/validation.tsv", "--score", "distance", "--corrupted", "4", "--seed", "3"])
        == 0
    )
    table = capsys.readouterr().out
    assert "268 held-out pairs against 1,072 corrupted ones" in table
    assert "by distance, threshold" in table
    assert run([*ask, "--keep-descendants"]) == 0
    table = capsys.readouterr().out
    assert "descendants are kept" in table
    assert "needs a threshold" in table
    for arguments, sentence in [
        (["--validation", "parts/validation.tsv"], "without --held-out there are no pairs for --validation"),
        (["--score", "detour", "--keep-descendants"], "no pairs for --score and --keep-descendants"),
        (["--held-out", "parts/heldout.tsv", "--sample", "0"], "--held-out has no use for --sample"),
        (["--held-out", "parts/heldout.tsv", "--distortion"], "--held-out has no use for --distortion"),
        (["--held-out", "parts/heldout.tsv", "--score", "x"], "score must be one of auto, distance, detour"),
        (["--held-out", "parts/heldout.tsv", "--validation", "none.tsv"], "none.tsv"),
    ]:
        assert run(["evaluate", "m.parquet", *arguments]) == 2
        assert sentence in capsys.readouterr().err.strip().splitlines()[-1]
