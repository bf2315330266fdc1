"""Taxonomy work: splits, held-out evaluation, suggested parents, comparisons; in Python and on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from tests.embedding.test_queries import faithful
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.embedding._suggest_parent import suggest_parent
from treeball.evaluation._compare import compare
from treeball.evaluation._held_out import evaluate_held_out
from treeball.evaluation._split import split
from treeball.geometry import lorentz, poincare
from treeball.geometry.alignment import align_euclidean, align_hyperbolic, centred
from treeball.geometry.models import ball_to_hyperboloid, hyperboloid_to_ball
from treeball.hierarchy import diff
from treeball.limits import TIE


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def named(edges, **options):
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent, **options)


def pairs_of(hierarchy):
    child, parent = hierarchy.edges()
    pairs = zip(hierarchy.names.take(child), hierarchy.names.take(parent), strict=True)
    root = None if hierarchy.virtual_root is None else hierarchy.names[hierarchy.virtual_root]
    return {pair for pair in pairs if pair[1] != root}


def closure_of(hierarchy):
    pointers, ancestor = hierarchy.ancestors()
    node = np.repeat(np.arange(hierarchy.n_nodes), np.diff(pointers))
    return set(zip(hierarchy.names.take(node), hierarchy.names.take(ancestor), strict=True))


# ---- split ----


@given(trees.dags(max_nodes=30), st.sampled_from(["leaves", "edges", "closure"]), st.integers(0, 5))
def test_a_split_loses_nothing_and_mixes_nothing(edges, what, seed):
    hierarchy = named(edges)
    try:
        made = split(hierarchy, **{what: 0.3}, seed=seed)
    except InputError as error:
        assert "choose a share" in str(error)  # noqa: PT017
        return
    whole = closure_of(hierarchy) if what == "closure" else pairs_of(hierarchy)
    assert set(made.train) | set(made.held_out) == whole
    assert not set(made.train) & set(made.held_out)
    assert made.held_out
    assert split(hierarchy, **{what: 0.3}, seed=seed) == made
    trained = {name for pair in made.train for name in pair} | set(made.alone)
    if what == "leaves":
        held = {child for child, _ in made.held_out}
        assert trained == set(hierarchy.names) - held
        assert all(not hierarchy.children_of(hierarchy.names.index_of(name)).size for name in held)
    else:
        assert trained == set(hierarchy.names)
    if what == "closure":
        assert pairs_of(hierarchy.transitive_reduction()) <= set(made.train)


@pytest.mark.parametrize("what", ["leaves", "edges", "closure"])
def test_the_files_of_a_split_read_back(what):
    hierarchy = treeball.read("example:mammals")
    made = split(hierarchy, **{what: 0.05}, seed=1)
    train, held_out = made.save(Path("parts"))
    again = treeball.read(train)
    assert pairs_of(again) == set(made.train)
    assert {str(name) for name in again.names} - {"<root>"} == {name for pair in made.train for name in pair} | set(
        made.alone
    )
    assert pairs_of(treeball.read(held_out, reduce="never")) == set(made.held_out)
    assert sorted(os.listdir("parts")) == ["heldout.tsv", "train.tsv"]


def test_numbers_and_odd_names_survive_a_split():
    hierarchy = treeball.read([(i, i // 3) for i in range(1, 60)])
    made = split(hierarchy, edges=0.3)
    made.save(Path("parts"))
    assert pairs_of(treeball.read("parts/train.tsv")) == {(str(child), str(parent)) for child, parent in made.train}
    odd = treeball.read([('a "b"\tc', "top"), ("d\\e", "top"), ("f, g", 'a "b"\tc'), ("h", 'a "b"\tc')])
    made = split(odd, leaves=0.4)
    made.save(Path("parts"))
    assert pairs_of(treeball.read("parts/train.tsv", direction="child-parent")) == set(made.train)


def test_tops_under_an_added_root_are_not_held_out():
    hierarchy = treeball.read([("b", "a"), ("d", "c"), ("e", "c")])
    assert hierarchy.virtual_root is not None
    for made in (split(hierarchy, leaves=0.5), split(hierarchy, edges=0.5)):
        assert set(made.train) | set(made.held_out) == {("b", "a"), ("d", "c"), ("e", "c")}


def test_orphans_are_mentioned():
    made = split(named(trees.random_tree(50, 0)), edges=0.2)
    assert f"{len(made.held_out)} nodes lost their last parent" in made.notes[0]


def test_split_on_the_command_line(capsys):
    assert run(["split", "example:mammals", "-o", "parts", "--leaves", "0.05", "--seed", "3"]) == 0
    assert "pairs in parts/heldout.tsv" in capsys.readouterr().err
    first = Path("parts/heldout.tsv").read_bytes()
    assert run(["split", "example:mammals", "-o", "parts", "--leaves", "0.05", "--seed", "3"]) == 0
    assert Path("parts/heldout.tsv").read_bytes() == first
    capsys.readouterr()
    Path("file").write_text("x")
    for arguments, words in [
        (["-o", "p"], ["one of leaves, edges and closure"]),
        (["-o", "p", "--leaves", "0.1", "--edges", "0.1"], ["one of leaves, edges and closure"]),
        (["-o", "p", "--leaves", "1.5"], ["above 0 and below 1"]),
        (["-o", "p", "--leaves", "1e-9"], ["choose a share"]),
        (["-o", "no/such", "--leaves", "0.1"], ["no/such"]),
        (["-o", "file", "--leaves", "0.1"], ["file"]),
    ]:
        assert run(["split", "example:mammals", *arguments]) == 2
        said = capsys.readouterr().err.strip().splitlines()[-1]
        for word in words:
            assert word in said
    assert sorted(os.listdir()) == ["file", "parts"]


# ---- held out ----


@given(trees.dags(max_nodes=20), st.integers(0, 10), st.sampled_from(["parents", "ancestors"]), st.booleans())
def test_filtered_ranks_match_the_definition(edges, seed, objective, keep_descendants):
    hierarchy = named(edges)
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-3, 4, (edges.n, 2)) / 10  # ties are likely
    embedding = Embedding(vectors, hierarchy)
    pairs = [
        (int(a), int(b)) for a, b in rng.integers(0, edges.n, (12, 2)) if a < b and not hierarchy.is_ancestor(a, b)
    ]
    pairs = list(dict.fromkeys(pairs))
    if not pairs:
        return
    table = [(f"n{a}", f"n{b}") for a, b in pairs]
    pairs, validated = (pairs[:-2], pairs[-2:]) if len(pairs) > 4 else (pairs, [])
    table, to_validate = table[: len(pairs)], table[len(pairs) :] or None
    result = evaluate_held_out(embedding, table, objective, validation=to_validate, keep_descendants=keep_descendants)
    assert ("descendants are kept" in dict(result.rows())["candidates"]) == keep_descendants
    found = {(int(a), int(b)): int(r) for a, b, r in zip(result.node, result.parent, result.ranks, strict=True)}
    assert set(found) == set(pairs)
    pointers, positives = hierarchy.positives(objective)
    for a, b in pairs:
        far = embedding.distances_between(np.full(edges.n, a), np.arange(edges.n))
        out = {a, *positives[pointers[a] : pointers[a + 1]].tolist(), *(y for x, y in pairs + validated if x == a)}
        if not keep_descendants:
            out |= set(np.flatnonzero(hierarchy.is_ancestor(a, np.arange(edges.n))).tolist())
        assert found[a, b] == 1 + sum(far[x] <= far[b] * (1 + TIE) for x in range(edges.n) if x not in out)
    precisions = []
    for a in {a for a, _ in pairs}:
        ranks = sorted(found[x, y] for x, y in pairs if x == a)
        precisions.append(np.mean([(i + 1) / (rank + i) for i, rank in enumerate(ranks)]))
    assert result.map == pytest.approx(np.mean(precisions))
    assert result.mean_rank == pytest.approx(np.mean(list(found.values())))
    assert result.hits_at(3) == pytest.approx(np.mean([rank <= 3 for rank in found.values()]))


def test_held_out_edges_of_a_faithful_model_rank_first(capsys):
    whole = faithful()
    made = split(whole.hierarchy, edges=0.2)
    made.save(Path("parts"))
    train = treeball.read("parts/train.tsv")
    places = [whole.names.index_of(name) if name in whole else -1 for name in train.names]
    vectors = np.where(np.array(places)[:, None] >= 0, whole.vectors[places], 0.0)
    result = evaluate_held_out(Embedding(vectors, train), "parts/heldout.tsv")
    assert result.hits_at(1) == 1
    assert result.to_dict()["pairs"] == len(made.held_out)
    assert (result.skipped, result.known) == (0, 0)
    assert dict(result.rows())["MAP"] == "1.0000"
    # In the whole model the pairs are not held out at all.
    assert evaluate_held_out(whole, "parts/heldout.tsv").known == len(made.held_out)


def test_held_out_pairs_of_unknown_nodes():
    whole = faithful()
    result = evaluate_held_out(whole, [("n39", "n3"), ("new", "n3")])
    assert (result.skipped, result.skipped_example) == (1, "new")
    assert "such as new" in dict(result.rows())["skipped"]
    with pytest.raises(InputError, match=r"lacks 'new'.*insert the new nodes first"):
        evaluate_held_out(whole, [("new", "n3"), ("newer", "n3")])


# ---- suggestions ----


def test_siblings_suggest_their_parent():
    model = faithful()
    for parent in ("n0", "n1", "n5", "n12"):
        siblings = model.children_of(parent, "hierarchy")
        assert suggest_parent(model, siblings, 3)[0].name == parent
        best = suggest_parent(model, siblings[:2], 1)[0]
        assert (best.name, best.children, best.neighbors_below) == (parent, 3, 2)
    # One neighbour may be a sibling or the parent: both are offered first, those with children before the others.
    assert [one.name for one in suggest_parent(model, ["n5"], 2)] == ["n1", "n5"]
    assert [one.name for one in suggest_parent(model, ["n39"], 2)] == ["n12", "n39"]


def test_the_score_is_the_root_mean_square_distance():
    model = faithful()
    for one in suggest_parent(model, ["n4", "n5", "n20"], 40):
        if one.name not in ("n4", "n5", "n20"):
            squares = model.distance(one.name, ["n4", "n5", "n20"]) ** 2
            assert one.score == pytest.approx(np.sqrt(squares.mean()))


def test_suggest_parent_on_the_command_line(capsys):
    faithful().save("m.parquet")
    assert run(["suggest-parent", "m.parquet", "--near", "n4,n5", "-k", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "n1"
    assert run(["suggest-parent", "m.parquet", "--near", "n4", "--near", "n5", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["near"] == ["n4", "n5"]
    assert record["suggestions"][0]["node"] == "n1"
    for arguments, words in [
        ([], ["near"]),
        (["--near", "n4,n5x"], ["no node named 'n5x'"]),
        (["--near", "n4", "-k", "0"], ["k must be"]),
        (["--near", ","], ["at least one"]),
    ]:
        assert run(["suggest-parent", "m.parquet", *arguments]) == 2
        said = capsys.readouterr().err
        for word in words:
            assert word in said


# ---- alignment and comparison ----


def isometric_copy(embedding, seed=0):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(embedding.dim, embedding.dim)))[0]
    shift = poincare.from_radius(rng.normal(size=embedding.dim), 1.0)
    return poincare.mobius_add(shift, embedding.vectors @ turn)


def test_a_copy_is_laid_on_its_original():
    model = faithful()
    copy = Embedding(isometric_copy(model), model.hierarchy)
    found = compare(model, copy)
    assert found.quantiles()["1"] < 1e-6
    assert (found.fell_ill, found.healed) == ([], [])
    assert not found.changes
    lifted = Embedding(ball_to_hyperboloid(copy.vectors), model.hierarchy, "lorentz")
    assert compare(model, lifted).quantiles()["1"] < 1e-6
    assert compare(model, model).quantiles()["1"] == 0


def test_nodes_that_moved_do_not_shift_the_others():
    model = faithful()
    vectors = isometric_copy(model)
    moved = [5, 17, 30]
    vectors[moved] *= 0.5
    found = compare(model, Embedding(vectors, model.hierarchy))
    assert {name for name, _ in found.top_movers(3)} == {"n5", "n17", "n30"}
    assert np.sort(found.moved)[-4] < 1e-6
    assert found.moved[5] > 1
    assert {pair[0] for pair in found.fell_ill} >= {"n5"}
    assert compare(Embedding(vectors, model.hierarchy), model).healed == found.fell_ill


def test_centring_is_an_isometry_that_balances_the_points():
    points = ball_to_hyperboloid(isometric_copy(faithful()))
    weights = np.random.default_rng(1).uniform(0.1, 1, len(points))
    seen = centred(points, weights)
    assert np.linalg.norm(weights @ hyperboloid_to_ball(seen)) < 1e-12 * weights.sum()
    np.testing.assert_allclose(
        lorentz.distance(seen[:, None], seen[None]), lorentz.distance(points[:, None], points[None]), atol=1e-7
    )


def test_flat_points_are_laid_by_a_rigid_motion():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert align_euclidean(points @ turn + 5, points)[2].max() < 1e-9
    moved = points @ turn + 5
    moved[0] += 9
    apart = align_euclidean(moved, points)[2]
    assert apart[0] == pytest.approx(np.sqrt(3) * 9, rel=1e-6)
    assert np.sort(apart)[-2] < 1e-6
    hierarchy = named(trees.star(40))
    found = compare(Embedding(points, hierarchy, "euclidean"), Embedding(moved, hierarchy, "euclidean"))
    assert found.top_movers(1)[0][0] == "n0"


def test_unrelated_points_can_be_laid_too():
    rng = np.random.default_rng(0)
    a, b = ball_to_hyperboloid(rng.uniform(-0.5, 0.5, (2, 30, 3)))
    moving, fixed, apart = align_hyperbolic(a, b)
    np.testing.assert_allclose(lorentz.distance(moving, fixed), apart)
    assert np.quantile(apart, 0.2) <= np.quantile(lorentz.distance(a, b), 0.2)


def test_models_of_other_dimensions_are_compared_by_their_scores():
    hierarchy = named(trees.star(5))
    rng = np.random.default_rng(0)
    a, b = (Embedding(rng.uniform(-0.5, 0.5, (5, dim)), hierarchy) for dim in (2, 3))
    found = compare(a, b)
    assert found.moved is None
    assert found.top_movers() == []
    assert found.to_dict()["moved"] is None
    other = Embedding(np.zeros((2, 2)), Hierarchy.from_codes(["x", "y"], [1], [0]))
    with pytest.raises(InputError, match="no node in common"):
        compare(a, other)


def test_models_are_compared_by_the_lengths_of_paths_too():
    hierarchy = Hierarchy.from_codes(list("abcd"), [1, 2, 3], [0, 0, 1], weights=[1.0, 5.0, 2.0])
    models = [treeball.fit(hierarchy, dim=2, objective=objective) for objective in ("parents", "distances")]
    scores = compare(models[0], models[1]).scores
    for place, model in enumerate(models):
        measured = treeball.evaluation.distortion(model)
        assert measured.against == "lengths"
        assert scores["average_distortion"][place] == measured.average
        assert scores["worst_distortion"][place] == measured.worst
        assert scores["spearman"][place] == measured.spearman
    assert scores["worst_distortion"][1] == pytest.approx(1.0, abs=1e-3) != scores["worst_distortion"][0]


def test_changes_of_a_hierarchy():
    before = treeball.read(
        {
            "animal": None,
            "dog": "animal",
            "cat": "animal",
            "poodle": "dog",
            "beagle": "dog",
            "fish": "animal",
            "tuna": "fish",
        }
    )
    after = treeball.read(
        {
            "animal": None,
            "hound": "animal",  # dog, by its children
            "poodle": "hound",
            "beagle": "hound",
            "cats": "animal",  # cat, by its spelling
            "tuna": "animal",
            "owl": "hound",
        }
    )
    found = diff(before, after)
    assert set(found.renamed) == {("dog", "hound"), ("cat", "cats")}
    assert found.removed == ("fish",)
    assert found.added == ("owl",)
    assert found.reparented == (("tuna", ("fish",), ("animal",)),)
    assert found.common == 4
    assert not diff(before, before)


@given(trees.dags(max_nodes=15))
def test_a_hierarchy_does_not_differ_from_itself(edges):
    assert not diff(named(edges), named(trees.shuffled(edges, 0)) if edges.n == 1 else named(edges))


def test_compare_on_the_command_line(capsys):
    model = faithful()
    model.save("a.parquet")
    vectors = isometric_copy(model)
    vectors[5] *= 0.5
    Embedding(vectors, model.hierarchy).save("b.parquet")
    assert run(["compare", "a.parquet", "b.parquet"]) == 0
    text = capsys.readouterr().out
    assert "40 nodes in both moved by" in text
    assert "n5 " in text
    assert "fell ill:" in text
    assert run(["compare", "a.parquet", "b.parquet", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["moved"]["top"][0]["node"] == "n5"
    Path("old.csv").write_text("child,parent\nb,a\nc,a\n")
    Path("new.csv").write_text("child,parent\nb,a\nd,b\n")
    assert run(["compare", "old.csv", "new.csv"]) == 0
    text = capsys.readouterr().out
    assert "added: 1  (d)" in text
    assert "removed: 1  (c)" in text
    assert run(["compare", "old.csv", "new.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["common"] == 2
    # A model and a file: their hierarchies.
    assert run(["compare", "old.csv", "a.parquet", "--json"]) == 0
    capsys.readouterr()
    assert run(["compare", "old.csv", "missing.csv"]) == 2
    assert "missing.csv" in capsys.readouterr().err


def test_pairs_of_the_closure_are_not_held_out_from_a_model_trained_on_all_ancestors(tmp_path):
    edges = [(f"leaf {i}", f"inner {i % 3}") for i in range(12)] + [(f"inner {i}", "top") for i in range(3)]
    held_out = tmp_path / "heldout.tsv"
    held_out.write_text("leaf 0\ttop\nleaf 1\ttop\n", "utf-8")
    for objective, leaked in (("ancestors", 2), ("parents", 0)):
        model = treeball.fit(edges, method="poincare", objective=objective, dim=5, epochs=20)
        assert treeball.evaluate_held_out(model, held_out).known == leaked
