"""Candidates, evidence and confidence against naive implementations on small hierarchies."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from treeball.matching.candidates import by_children, by_names
from treeball.matching.evidence import words_say
from treeball.matching.judge import confidence_of
from treeball.matching.pairs import Pairs
from treeball.matching.relatives import relatives_say
from treeball.matching.side import two_sides
from treeball.matching.vocabulary import Vocabulary
from treeball.matching.words import own_names, words_of

WORDS = ["red", "blue", "shoe", "hat", "wool", "silk"]
NAMES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(" ".join), max_size=8)


def tree_of(names, seed):
    """A random tree whose nodes have these labels; ids tell nodes of one label apart."""
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(0, node)) if node else -1 for node in range(len(names) + 1)]
    child = np.arange(1, len(names) + 1)
    ids = [f"#{node}" for node in range(len(names) + 1)]
    return treeball.Hierarchy.from_codes(ids, child, np.array(parents[1:], np.int64), labels=["all", *names])


def brute_force(odds):
    """Probability of each pair where every set of pairs without a common node weighs the product of its odds."""
    pairs = list(odds)
    total, holding = 0.0, dict.fromkeys(pairs, 0.0)
    for size in range(len(pairs) + 1):
        for some in itertools.combinations(pairs, size):
            if len({i for i, _ in some}) == len({j for _, j in some}) == size:
                weight = math.prod(odds[pair] for pair in some)
                total += weight
                for pair in some:
                    holding[pair] += weight
    return {pair: value / total for pair, value in holding.items()}


@given(st.data())
def test_confidence_is_the_probability_among_all_matchings_of_a_forest(data):
    odds, nodes = {}, [("a", 0)]
    counts = {"a": 1, "b": 0}
    for _ in range(data.draw(st.integers(1, 6))):
        side, code = data.draw(st.sampled_from(nodes))
        other = "b" if side == "a" else "a"
        pair = (code, counts[other]) if side == "a" else (counts[other], code)
        odds[pair] = data.draw(st.floats(0.01, 100.0))
        nodes.append((other, counts[other]))
        counts[other] += 1
    first, second = np.array(list(odds)).T
    found = Pairs.of(first, second, counts["a"], counts["b"])
    given_odds = np.log([odds[pair] for pair in zip(found.first.tolist(), found.second.tolist(), strict=True)])
    confidence = confidence_of(found, given_odds)
    for pair, expected in brute_force(odds).items():
        at = found.find(np.array([pair[0]]), np.array([pair[1]]))[0]
        assert confidence[at] == pytest.approx(expected, rel=1e-6)


def test_equal_rivals_have_no_more_than_a_half_each():
    pairs = Pairs.of(np.array([0, 0, 1]), np.array([0, 1, 2]), 2, 3)
    confidence = confidence_of(pairs, np.array([20.0, 20.0, 20.0]))
    assert confidence[:2] == pytest.approx([0.5, 0.5], abs=1e-6)
    assert confidence[2] > 0.999


def test_pairs_are_found_joined_and_turned():
    pairs = Pairs.of(np.array([2, 0, 2]), np.array([1, 3, 1]), 3, 4)
    assert list(zip(pairs.first, pairs.second, strict=True)) == [(0, 3), (2, 1)]
    assert pairs.find(np.array([2, 0, -1, 0]), np.array([1, 1, 3, 3])).tolist() == [1, -1, -1, 0]
    turned = pairs.turned()
    assert (turned.first.tolist(), turned.second.tolist()) == ([1, 3], [2, 0])
    none = pairs.where(np.zeros(2, np.bool_))
    assert none.find(np.array([0]), np.array([3])).tolist() == [-1]
    assert len(none.joined(pairs)) == 2


def naive_words(first, second):
    """Sets of words of the name and of the path of every node, and how much each word weighs."""
    spoken = [[words_of(name) for name in own_names(side)] for side in (first, second)]
    known = Vocabulary(*spoken)
    sides = []
    for side, names in zip((first, second), spoken, strict=True):
        paths = []
        for node in range(side.n_nodes):
            path: dict[str, float] = {}
            weight, above = 1.0, int(side.primary_parent[node])
            while above > 0 and weight > 0.2:
                for word in names[above]:
                    path.setdefault(word, weight * known.weight[known.numbers((word,))[0]])
                weight, above = 0.7 * weight, int(side.primary_parent[above])
            paths.append(path)
        sides.append((names, paths))
    return sides, {word: known.weight[known.numbers((word,))[0]] for names, _ in sides for one in names for word in one}


@settings(deadline=None)
@given(NAMES, NAMES, st.integers(0, 99))
def test_candidates_and_evidence_against_sets(names, others, seed):
    first, second = tree_of(names, seed), tree_of(others, seed + 1)
    a, b = two_sides(first, second)
    pairs = by_names(a, b)
    ((own_a, path_a), (own_b, path_b)), weight = naive_words(first, second)

    def total(words):
        return sum(weight[word] for word in words)

    def alike(i, j):
        return total(set(own_a[i]) & set(own_b[j])) / total(set(own_a[i]) | set(own_b[j]))

    likeness = {(i, j): alike(i, j) for i in range(len(own_a)) for j in range(len(own_b))}
    found = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert {pair for pair, value in likeness.items() if value > 0.2 + 1e-9} <= found  # rounding decides at .2
    assert found <= {pair for pair, value in likeness.items() if value > 0.2 - 1e-9}
    said = words_say(a, b, pairs)
    for at, (i, j) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)):
        assert said.name[at] == pytest.approx(alike(i, j))
        assert said.same[at] == (own_a[i] == own_b[j])
        rest_a = total(set(own_a[i]) - set(own_b[j]) - set(path_b[j])) / total(set(own_a[i]))
        rest_b = total(set(own_b[j]) - set(own_a[i]) - set(path_a[i])) / total(set(own_b[j]))
        assert said.rest[at] == pytest.approx((rest_a + rest_b) / 2, abs=1e-12)
        product = sum(path_a[i][word] * path_b[j][word] for word in path_a[i].keys() & path_b[j].keys())
        lengths = [math.sqrt(sum(value**2 for value in path.values())) for path in (path_a[i], path_b[j])]
        assert said.path[at] == pytest.approx(product / math.prod(lengths) if all(lengths) else 0.0)


@settings(deadline=None)
@given(NAMES, NAMES, st.integers(0, 99))
def test_children_of_the_same_name(names, others, seed):
    first, second = tree_of(names, seed), tree_of(others, seed + 1)
    a, b = two_sides(first, second)
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(first.n_nodes), np.arange(second.n_nodes)))
    found = by_children(a, b, Pairs.of(i, j, first.n_nodes, second.n_nodes))
    own_a, own_b = ([words_of(name) for name in own_names(side)] for side in (first, second))
    expected = {(x, y) for x in range(1, len(own_a)) for y in range(1, len(own_b)) if own_a[x] == own_b[y]}
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == expected


def test_what_relatives_say():
    #  root > tools > saws > hand saws, and root > music > saws
    ids = ["root", "tools", "saws", "hand", "music", "others"]
    tree = treeball.Hierarchy.from_codes(ids, [1, 2, 3, 4, 5], [0, 1, 2, 0, 4])
    first, second = np.array([1, 2, 2, 3, 4]), np.array([1, 2, 5, 3, 4])
    pairs = Pairs.of(first, second, 6, 6)
    said = relatives_say(tree, tree, pairs, np.array([0.9, 0.6, 0.2, 0.3, 1.0]))
    assert said.above.tolist() == [0.0, 0.9, -0.9, 0.9, 0.0]  # saws are not sure, so hand saws ask the tools
    assert said.parents.tolist() == [0.0, 0.9, 0.0, 0.6, 0.0]
    assert said.children.tolist() == [0.0] * 5
    said = relatives_say(tree, tree, pairs, np.array([0.9, 0.8, 0.2, 0.3, 1.0]))
    assert said.children.tolist() == [0.5, 0.0, 0.0, 0.0, 0.0]
