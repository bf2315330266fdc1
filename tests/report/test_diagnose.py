"""diagnose: every number against evaluate or a count by hand, the sentences, the commands, the page."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests import trees
from tests.chromium import look
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.embedding import Provenance
from treeball.evaluation.illness import KINDS
from treeball.geometry import capacity, poincare
from treeball.geometry.dilation import dilate_ball
from treeball.geometry.models import ball_to_hyperboloid
from treeball.limits import radius_resolution
from treeball.report.diagnose import Diagnosis
from treeball.report.diagnose.groups import bin_label, bin_of, top_nodes
from treeball.types import Objective


@pytest.fixture(scope="module")
def mammals():
    """The baseline, trained so briefly that most pairs are ill, in all three ways."""
    return treeball.fit("example:mammals", method="poincare", dim=3, epochs=60, seed=1, deterministic=True)


@pytest.fixture(scope="module")
def diagnosis(mammals):
    return treeball.diagnose(mammals, model="mammals.parquet")


@pytest.fixture(scope="module")
def healthy():
    """A star is easy: the centre at the origin and leaves far apart around it."""
    edges = trees.star(7)
    hierarchy = Hierarchy.from_codes([f"n{code}" for code in range(edges.n)], edges.child, edges.parent)
    angle = 2 * np.pi * np.arange(6) / 6
    leaves = poincare.from_radius(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(6, 4.0))
    vectors = np.zeros((7, 2))
    vectors[np.flatnonzero(np.arange(7) != hierarchy.root)] = leaves
    return Embedding(vectors, hierarchy)


def ill_pairs_of(embedding, objective=None):
    """Every ill pair by name, from evaluate: (node, positive, offender, kind)."""
    illness, names = embedding.evaluate(objective).illness, embedding.names
    return [
        (names[int(a)], names[int(b)], names[int(c)], KINDS[k])
        for a, b, c, k in zip(illness.node, illness.positive, illness.offender, illness.kind, strict=True)
    ]


# ---- the worst ----


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_the_ten_worst_inner_nodes_are_those_of_evaluate_with_the_right_kind(mammals, objective):
    found = treeball.diagnose(mammals, objective, worst=15)
    pairs = ill_pairs_of(mammals, objective)
    takes_part: dict[Any, Counter[Any]] = {}
    for node, positive, _, kind in pairs:
        for one in (node, positive):
            takes_part.setdefault(one, Counter())[kind] += 1
    inner = {name for code, name in enumerate(mammals) if mammals.hierarchy.children_of(code).size}
    totals = sorted((sum(takes_part[name].values()) for name in inner if name in takes_part), reverse=True)
    assert len(found.worst_nodes) == 15 >= 10
    assert [sum(one.illness.values()) for one in found.worst_nodes] == totals[:15]
    for one in found.worst_nodes:
        assert one.node in inner
        assert one.illness == {kind: takes_part[one.node][kind] for kind in KINDS}
        assert one.illness[one.kind] == max(one.illness.values())
        assert one.ill_below == sum(positive == one.node for _, positive, _, _ in pairs)
        assert one.own_ill == any(node == one.node for node, _, _, _ in pairs)
        offenders = Counter(c for a, b, c, kind in pairs if one.node in (a, b) and kind == one.kind)
        assert offenders[one.offender] == max(offenders.values())
        code = mammals.names.index_of(one.node)
        parents = [mammals.names[int(p)] for p in mammals.hierarchy.parents_of(code)]
        assert one.parent == (parents[0] if parents else None)


def test_the_worst_pairs_are_those_with_the_highest_ranks(mammals, diagnosis):
    ranking = mammals.evaluate().ranking
    assert [one.rank for one in diagnosis.worst_pairs] == sorted(ranking.ranks.tolist(), reverse=True)[:20]
    known = set(ill_pairs_of(mammals))
    for one in diagnosis.worst_pairs:
        assert (one.node, one.positive, one.offender, one.kind) in known
        assert one.distance == pytest.approx(mammals.distance(one.node, one.positive))
        assert one.offender_distance == pytest.approx(mammals.distance(one.node, one.offender))
        assert one.offender_distance <= one.distance
        assert f"{one.rank - 1:,} node" in one.sentence


def test_sentences_say_what_is_wrong(mammals, diagnosis):
    for one in diagnosis.worst_nodes:
        words = {
            "capacity": "another child of it",
            "intra_subtree": "below themselves|deeper node of its subtree",
            "inter_subtree": "outside its subtree",
        }[one.kind]
        assert any(word in one.sentence for word in words.split("|"))
        assert one.sentence.endswith(".")
        assert ("It is itself nearer to" in one.sentence) == one.own_ill
        assert "  " not in one.sentence
    kinds = {one.kind for one in treeball.diagnose(mammals, worst=400).worst_nodes}
    assert kinds == set(KINDS)


# ---- counts ----


def test_groups_partition_the_pairs_and_the_illness(mammals, diagnosis):
    evaluation = mammals.evaluate()
    counts = tuple(evaluation.illness.counts().values())
    for groups in (diagnosis.by_depth, diagnosis.by_children, diagnosis.by_subtree):
        assert sum(group.pairs for group in groups) == evaluation.ranking.ranks.size
        assert tuple(np.sum([group.ill for group in groups], axis=0)) == counts
    assert tuple(np.sum([group.ill for group in diagnosis.by_offender], axis=0)) == counts
    assert all(group.share == 1 for group in diagnosis.by_offender)


def test_groups_by_hand(mammals, diagnosis):
    hierarchy, names = mammals.hierarchy, mammals.names
    depth: Counter[Any] = Counter()
    children: Counter[Any] = Counter()
    relation: Counter[str] = Counter()
    for node, positive, offender, kind in ill_pairs_of(mammals):
        a, b, c = (names.index_of(name) for name in (node, positive, offender))
        depth[str(hierarchy.depth[a]), kind] += 1
        children[bin_label(int(bin_of(np.array(hierarchy.children_of(b).size)))), kind] += 1
        relation["its own child" if c in hierarchy.children_of(a) else "other"] += 1
    for groups, tally in ((diagnosis.by_depth, depth), (diagnosis.by_children, children)):
        found = {(group.label, kind): n for group in groups for kind, n in zip(KINDS, group.ill, strict=True) if n}
        assert found == tally
    assert {g.label: g.pairs for g in diagnosis.by_offender}["its own child"] == relation["its own child"]


def test_subtrees_are_those_below_a_dominant_branch(mammals, diagnosis):
    # Nearly all mammals are placentals, which tells nothing: their orders are told instead.
    labels = {group.label for group in diagnosis.by_subtree}
    assert {"carnivore.n.01", "rodent.n.01", "metatherian.n.01"} <= labels
    assert "placental.n.01" not in labels
    ill = [group.ill_pairs for group in diagnosis.by_subtree]
    assert ill == sorted(ill, reverse=True)
    code = mammals.names.index_of("carnivore.n.01")
    below = {n for n, name in enumerate(mammals) if n == code or mammals.hierarchy.is_ancestor(code, n)}
    (group,) = (group for group in diagnosis.by_subtree if group.label == "carnivore.n.01")
    assert group.pairs == len(below)
    assert group.ill_pairs == sum(mammals.names.index_of(pair[0]) in below for pair in ill_pairs_of(mammals))


def test_bins_double():
    assert [bin_label(int(n)) for n in bin_of(np.array([1, 2, 3, 4, 5, 8, 9, 16, 17]))] == [
        "1", "2", "3–4", "3–4", "5–8", "5–8", "9–16", "9–16", "17–32",
    ]  # fmt: skip


def test_top_nodes_of_a_chain_and_of_a_single_node():
    for edges, most in ((trees.chain(1), 0), (trees.chain(6), 1), (trees.star(5), 4)):
        assert top_nodes(Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)).size == most


# ---- room ----


def test_the_capacity_table_by_hand(mammals, diagnosis):
    hierarchy, dim = mammals.hierarchy, mammals.dim
    distance = poincare.distance(mammals.vectors[:, None], mammals.vectors[None])
    has: dict[Any, Any] = {}
    for node in range(len(mammals)):
        k = hierarchy.children_of(node).size
        if k:
            has.setdefault(int(k), []).append(np.sort(distance[node])[k])  # the nearest of all is the node itself
    assert [row.children for row in diagnosis.capacity] == sorted(has)
    for row in diagnosis.capacity:
        radii = np.array(has[row.children])
        assert row.nodes == radii.size
        assert row.has == pytest.approx(np.median(radii))
        assert row.least == pytest.approx(radii.min())
        assert row.lacking == capacity.insufficient(row.children, radii, dim).sum()
        assert row.lacking == (radii < row.enough).sum()
        assert row.at_least <= row.enough
        assert row.short <= row.lacking
        if row.children > 1:
            assert row.enough == pytest.approx(float(capacity.radius_needed_lower(row.children, dim)))
    assert sum(row.ill for row in diagnosis.capacity) == diagnosis.evaluation.illness.counts()["capacity"]


def test_crowded_children_are_called_short_of_room_and_get_the_radius_they_need():
    edges = trees.star(41)
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    angle = 2 * np.pi * np.arange(41) / 40
    vectors = poincare.from_radius(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(41, 2.0))
    vectors[-1], vectors[hierarchy.root] = vectors[hierarchy.root], 0
    found = treeball.diagnose(Embedding(vectors, hierarchy))
    (row,) = found.capacity
    assert (row.children, row.lacking, row.short) == (40, 1, 1)
    (worst,) = found.worst_nodes
    assert worst.kind == "capacity"
    needed = float(capacity.radius_needed_lower(40, 2))
    assert f"so many need a radius of {needed:.2f} and have {row.has:.2f}, there is too little room" in worst.sentence
    # Dilating gives room without touching directions: fewer and fewer are ill.
    lacking = [tried.lacking for tried in found.dilations]
    ill = [tried.ill[0] for tried in found.dilations]
    assert (lacking[0], lacking[-1], found.dilations[-1].relieved) == (1, 0, 1)
    assert found.dilations[-1].max_radius == pytest.approx(3 * found.precision.max_radius)
    assert (ill[0], ill[-1]) == (40, 0)


def test_dilations_are_measured_on_dilated_vectors(mammals, diagnosis):
    for tried in diagnosis.dilations:
        vectors = mammals.vectors if tried.factor == 1 else dilate_ball(mammals.vectors, tried.factor)[0]
        scores = Embedding(vectors, mammals.hierarchy).evaluate()
        assert tried.map == pytest.approx(scores.map)
        assert tried.ill == tuple(scores.illness.counts().values())
        assert tried.pairs == scores.ranking.ranks.size
        assert tried.relieved <= diagnosis.dilations[0].lacking
    assert diagnosis.dilations[0].factor == 1
    assert diagnosis.dilations[0].map == diagnosis.evaluation.map


def test_radius_and_precision(mammals, diagnosis, healthy):
    one = diagnosis.precision
    assert one.max_radius == pytest.approx(mammals.radii().max())
    assert one.resolution == radius_resolution(one.max_radius)
    assert one.used == pytest.approx(one.max_radius / 30)
    assert sum(one.counts) == len(mammals)
    assert one.limit == pytest.approx(12.2, abs=0.1)
    parents = mammals.hierarchy.primary_parent
    edges = [
        mammals.distance(mammals.names[c], mammals.names[int(parents[c])]) for c in range(1, 30) if parents[c] >= 0
    ]
    assert one.shortest_edge <= min(edges)
    assert treeball.diagnose(healthy).precision.undecided == 0


def test_nodes_that_rounding_decides_on_are_counted():
    # Seen from b, far out, its parent a and its cousin c are equally far but for less than float64 can tell there.
    hierarchy = Hierarchy.from_codes(["top", "a", "b", "c"], [1, 2, 3], [0, 1, 0])
    vectors = np.array([[-0.9, 0.0], [0.0, 0.5], np.tanh(15.0) * np.array([1.0, 0.0]), [1e-9, -0.5]])
    found = treeball.diagnose(Embedding(vectors, hierarchy))
    assert found.precision.undecided == 1
    assert any("rounding decides" in one.reason for one in found.advice)
    vectors[3] = [0.01, -0.5]
    assert treeball.diagnose(Embedding(vectors, hierarchy)).precision.undecided == 0


# ---- advice ----


def test_commands_fit_the_illness(mammals, diagnosis, healthy):
    assert (
        diagnosis.advice[0].command == "treeball fit example:mammals --method auto --dim 3 -o mammals-refitted.parquet"
    )
    assert "again" in diagnosis.advice[0].reason
    assert diagnosis.advice[1].command == "treeball heal mammals.parquet -o mammals-healed.parquet"
    assert "moves nearly every node" in diagnosis.advice[1].reason
    assert any("--method ga-dl-rw" in (one.command or "") for one in diagnosis.advice)
    (nothing,) = treeball.diagnose(healthy).advice
    assert nothing.command is None
    assert "nothing to treat" in nothing.reason
    ancestors = treeball.diagnose(mammals, "ancestors")
    assert all("--objective ancestors" in one.command for one in ancestors.worst_nodes)
    assert not any("treeball heal" in (one.command or "") for one in ancestors.advice)


def test_many_ill_pairs_of_a_dag_call_for_a_new_fit_and_more_dimensions():
    edges = trees.random_dag(60, 40, seed=1)
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    vectors = poincare.from_normal(np.random.default_rng(0).normal(size=(edges.n, 4)))
    cases: list[tuple[Objective, str]] = [("parents", ""), ("ancestors", " --objective ancestors")]
    for objective, option in cases:
        model = Embedding(vectors, hierarchy, provenance=Provenance(objective=objective))
        found = treeball.diagnose(model, model="dag.parquet")
        assert found.evaluation.objective == objective
        assert [one.command for one in found.advice] == [
            f"treeball fit SOURCE --method auto --dim 4{option} -o dag-refitted.parquet",
            "treeball heal dag.parquet -o dag-healed.parquet",
            f"treeball fit SOURCE --method auto --dim 6{option} -o dag-refitted.parquet",
        ]
        assert {one.command for one in found.worst_pairs} <= {one.command for one in found.advice}


def test_a_few_ill_pairs_are_healed_and_names_are_quoted():
    edges = trees.star(12)
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    angle = 2 * np.pi * np.arange(12) / 12
    vectors = poincare.from_radius(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(12, 4.0))
    vectors[hierarchy.root] = 0
    leaves = np.delete(np.arange(12), hierarchy.root)
    vectors[leaves[1]] = 0.999 * vectors[leaves[0]]
    found = treeball.diagnose(Embedding(vectors, hierarchy), model="my model's.parquet")
    assert len(found.evaluation.illness) == 2
    assert found.advice[0].command == """treeball heal 'my model'"'"'s.parquet' -o 'my model'"'"'s-healed.parquet'"""
    (worst,) = found.worst_nodes
    assert worst.command == found.advice[0].command
    assert worst.offender in {str(leaves[0]), str(leaves[1])}


def test_one_ill_pair_is_a_pair(tmp_path, capsys):
    hierarchy = Hierarchy.from_codes(["top", "a", "b", "c"], np.array([1, 2, 3]), np.array([0, 0, 1]))
    model = Embedding(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, -0.5], [-0.05, 0.6]]), hierarchy)
    assert len(model.evaluate().illness) == 1
    model.save(tmp_path / "one.parquet")
    assert run(["diagnose", str(tmp_path / "one.parquet")]) == 0
    assert "(1 of 1 ill pair)" in capsys.readouterr().out


def test_a_run_that_stopped_early_and_one_from_memory():
    pairs = [(f"c{i}.{j}", f"c{i}") for i in range(4) for j in range(5)] + [(f"c{i}", "top") for i in range(4)]
    model = treeball.fit(pairs, dim=2, method="poincare", epochs=5)
    provenance = dataclasses.replace(model.provenance, epochs_done=3)
    found = treeball.diagnose(Embedding(model.vectors, model.hierarchy, "poincare", provenance))
    reasons = " ".join(one.reason for one in found.advice)
    assert "stopped after 3 of 5 epochs" in reasons
    assert any("--resume" in (one.command or "") for one in found.advice)
    assert any("treeball fit SOURCE" in (one.command or "") for one in found.advice)


# ---- other embeddings ----


def test_a_lorentz_embedding_has_the_same_diagnosis(mammals, diagnosis):
    twin = Embedding(ball_to_hyperboloid(mammals.vectors), mammals.hierarchy, "lorentz", mammals.provenance)
    found = treeball.diagnose(twin, model="mammals.parquet")
    assert [one.node for one in found.worst_nodes] == [one.node for one in diagnosis.worst_nodes]
    assert [row.lacking for row in found.capacity] == [row.lacking for row in diagnosis.capacity]
    assert "hyperboloid" in found.to_html()


def test_a_euclidean_embedding_is_diagnosed_without_capacity():
    model = treeball.fit("example:mammals", method="euclidean", dim=3, epochs=20, deterministic=True)
    found = treeball.diagnose(model)
    assert (found.sufficiency, found.capacity, found.dilations) == (None, (), ())
    assert "Euclidean space has no room" in found.advice[0].reason
    assert len(found.worst_nodes) == 20
    assert "Euclidean space" in found.to_html()
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("edges", [trees.chain(1), trees.chain(2), trees.chain(30), trees.star(3)])
def test_tiny_trees(edges):
    hierarchy = Hierarchy.from_codes([f"<u>{i}" for i in range(edges.n)], edges.child, edges.parent)
    vectors = poincare.from_radius(np.random.default_rng(0).normal(size=(edges.n, 2)), np.linspace(0, 3, edges.n))
    found = treeball.diagnose(Embedding(vectors, hierarchy))
    json.dumps(found.to_dict(), allow_nan=False)
    assert "<u>" not in found.to_html()
    assert repr(found).startswith("<Diagnosis of model.parquet")


def test_a_dag_and_a_sample(mammals):
    edges = trees.random_dag(80, 60, 3)
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    vectors = poincare.from_radius(np.random.default_rng(0).normal(size=(80, 4)), 1.0 + hierarchy.level)
    found = treeball.diagnose(Embedding(vectors, hierarchy))
    assert sum(group.pairs for group in found.by_subtree) == hierarchy.n_edges
    sampled = treeball.diagnose(mammals, sample=100)
    assert sum(group.pairs for group in sampled.by_depth) == 100
    assert "1,182 nodes, 100 of them ranked" in sampled.to_html()


def test_bad_arguments_are_refused(mammals):
    with pytest.raises(InputError, match=r"needs an embedding, .*treeball\.load"):
        treeball.diagnose("mammals.parquet")  # type: ignore[arg-type]
    for worst in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="worst must be"):
            treeball.diagnose(mammals, worst=worst)  # type: ignore[arg-type]


# ---- the page ----


class Reader(HTMLParser):
    """Collects tags and text."""

    def __init__(self, page):
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[Any] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def hostile():
    """Names that would like to be more than names."""
    bad = [
        "<script>alert(1)</script>",
        "a\"b'c & <i>d</i>",
        "日本語 – żółć",
        "x" * 200,
        "</svg><img src=x onerror=alert(2)>",
    ]
    pairs = [(f"{name} {i}", name) for name in bad for i in range(5)] + [(name, "top </title>") for name in bad]
    return treeball.fit(pairs, dim=2, method="poincare", epochs=8, deterministic=True)


def test_the_page_is_whole_and_has_every_part(diagnosis):
    page = Reader(diagnosis.to_html())
    assert page.tags["svg"] == 8
    assert not page.tags["script"] + page.tags["img"] + page.tags["link"] + page.tags["iframe"]
    assert not [value for name, value in page.attributes if name in ("src", "href", "onclick", "style")]
    text = " ".join(page.words)
    assert "://" not in diagnosis.to_html()
    for one in diagnosis.worst_nodes:
        assert one.node in text
        assert one.sentence in text
    for heading in ("What to do", "Where it is ill", "Room for the children", "What a dilation would do"):
        assert heading in text
    assert "prefers-color-scheme: dark" in diagnosis.to_html()
    assert len(diagnosis.to_html()) < 150_000


def test_names_are_text_in_the_page(hostile):
    found = treeball.diagnose(hostile, model="<script>alert(3)</script>.parquet")
    page = Reader(found.to_html())
    assert not page.tags["script"] + page.tags["img"]
    assert page.tags["title"] > 1
    text = "".join(page.words)
    assert "<script>alert(1)</script>" in text
    assert "日本語 – żółć" in text
    assert "Diagnosis of <script>alert(3)</script>.parquet" in text


def test_the_page_in_chromium(hostile, diagnosis, tmp_path):
    for name, found, dark in (("hostile", treeball.diagnose(hostile), False), ("mammals", diagnosis, True)):
        path = found.save_html(tmp_path / f"{name}.html")
        seen = look(path.as_uri(), dark=dark, picture=str(tmp_path / f"{name}.png"))
        assert seen["problems"] == []
        assert seen["requests"] == [path.as_uri()]
        assert not seen["wide"]
        assert "What to do" in seen["text"]
        assert (tmp_path / f"{name}.png").stat().st_size > 20_000
        red, green, blue = (int(part) for part in seen["ground"].strip("rgb()").split(","))
        assert (red + green + blue < 150) == dark


# ---- the command ----


@pytest.fixture
def folder(tmp_path, monkeypatch, mammals):
    monkeypatch.chdir(tmp_path)
    mammals.save("mammals.parquet")
    return tmp_path


def test_diagnose_prints_tables_sentences_and_commands(folder, diagnosis, capsys):
    assert run(["diagnose", "mammals.parquet", "--html", "report.html"]) == 0
    said = capsys.readouterr()
    assert said.err == "wrote report.html\n"
    lines = said.out.splitlines()
    for title in ("Ill pairs by depth", "Effect expected of a dilation, without training", "Radius and precision"):
        assert title in lines
    for number, one in enumerate(diagnosis.worst_nodes[:10], 1):
        assert f"{number:>2}. {one.node}  {one.kind.replace('_', '-')} ({one.illness[one.kind]:,} of" in said.out
        assert one.sentence in said.out
    assert diagnosis.worst_nodes[10].sentence not in said.out
    assert f"   {diagnosis.advice[0].command}" in lines
    assert Path("report.html").read_text("utf-8") == diagnosis.to_html()
    assert sorted(path.name for path in folder.iterdir()) == ["mammals.parquet", "report.html"]


def test_diagnose_prints_one_json_object(folder, diagnosis, capsys):
    assert run(["diagnose", "mammals.parquet", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(json.dumps(diagnosis.to_dict()))
    assert len(record["worst_nodes"]) == 20
    assert run(["evaluate", "mammals.parquet", "--no-distortion", "--json"]) == 0
    assert record["scores"] == json.loads(capsys.readouterr().out)
    assert run(["diagnose", "mammals.parquet", "--json", "--worst", "3", "--objective", "ancestors", "-n", "50"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["worst_nodes"]) == 3
    assert record["scores"]["sampled"]["nodes"] == 50


def test_diagnose_refuses_with_one_sentence(folder, capsys):
    Path("notes.txt").write_text("hello")
    before = sorted(folder.iterdir())
    for arguments, word in (
        (["nothing.parquet"], "nothing.parquet"),
        (["notes.txt"], "notes.txt"),
        (["mammals.parquet", "--html", "nowhere/report.html"], "no folder"),
        (["mammals.parquet", "--html", "mammals.parquet"], "it is the input"),
        (["mammals.parquet", "--worst", "0"], "worst must be"),
        (["mammals.parquet", "--objective", "children"], "children"),
        (["mammals.parquet", "--sample", "-3"], "sample must be"),
    ):
        assert run(["diagnose", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.strip().splitlines()) == 1
        assert said.err.startswith("treeball: ")
        assert word in said.err
    assert sorted(folder.iterdir()) == before


def test_the_diagnosis_is_an_object_of_the_package(diagnosis):
    assert isinstance(diagnosis, Diagnosis)
    assert "pairs ill; worst:" in repr(diagnosis)
    assert not math.isnan(diagnosis.evaluation.map)


def test_precision_is_that_of_the_terms_a_model_has(tmp_path, capsys):
    edges = [(f"n{child}", f"n{child - 1}") for child in range(1, 80)]
    edges += [(f"n{child} {leaf}", f"n{child}") for child in range(80) for leaf in range(15)]
    embedding = treeball.fit(edges, dim=2, method="construct", precision=2)
    found = treeball.diagnose(embedding, model="m.parquet").precision
    assert found.max_radius > 33.5  # where float64 would decide by rounding
    assert found.carried == pytest.approx(66.7, abs=0.1)
    assert found.used <= 1.001
    assert found.gone is None
    assert found.undecided == 0
    embedding.save(tmp_path / "m.parquet")
    assert run(["diagnose", str(tmp_path / "m.parquet")]) == 0
    assert "of the 66.74 that several terms carry" in capsys.readouterr().out
