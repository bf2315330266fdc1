"""auto keeps the best of what it tries: it is never below a plain method, and a score that is no number never wins."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeball
from treeball import Embedding, Hierarchy, NumericalError
from treeball.methods import _fit, rivals
from treeball.methods.auto import Choice, resolve
from treeball.methods.run import Run
from treeball.methods.settings import ConstructSettings, SoftmaxSettings


def random_hierarchy(seed: int, several_parents: bool) -> Hierarchy:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    pairs = {(child, int(rng.integers(max(0, child - 12), child))) for child in range(1, n)}
    if several_parents:
        pairs |= {(child, int(rng.integers(0, child))) for child in rng.integers(2, n, n // 4).tolist()}
    child, parent = (np.array(ends) for ends in zip(*sorted(pairs), strict=True))
    return Hierarchy.from_codes([f"n{i}" for i in range(n)], child, parent)


def lattice() -> Hierarchy:
    """A DAG that does not fit into two dimensions."""
    pairs = [(a, b) for a in range(4, 24) for b in ((a // 4 - 1) * 4 + a % 4, (a // 4 - 1) * 4 + (a + 1) % 4)]
    child, parent = (np.array(ends) for ends in zip(*pairs, *[(a, 24) for a in range(4)], strict=True))
    return Hierarchy.from_codes([f"n{i}" for i in range(25)], child, parent)


def merit(embedding: Embedding) -> tuple[float, float]:
    scores = embedding.evaluate()
    return scores.map, -scores.mean_rank


def test_a_healed_construction_is_a_rival_for_all_ancestors():
    """This training in two dimensions ends far below a healed construction."""
    hierarchy = random_hierarchy(2, several_parents=True)
    given: dict[str, Any] = {"dim": 2, "objective": "ancestors", "epochs": 30}
    chosen = treeball.fit(hierarchy, **given)
    healed = treeball.fit(hierarchy, method="construct", heal=True, dim=2, objective="ancestors")
    trained = treeball.fit(hierarchy, method="softmax", heal=True, **given)
    assert merit(healed) > merit(trained)
    assert merit(chosen) >= merit(healed)
    compared = [entry.facts["compared"] for entry in chosen.provenance.log if "compared" in entry.facts]
    assert compared[0]["healed construct"]["map"] == healed.evaluate().map


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["parents", "ancestors"])
@pytest.mark.parametrize("seed", range(8))
def test_auto_is_never_below_a_plain_method(seed, objective):
    hierarchy = random_hierarchy(seed, several_parents=seed % 2 == 0)
    given: dict[str, Any] = {"dim": 2 + seed // 2 % 4, "objective": objective}
    chosen = treeball.fit(hierarchy, **given)
    for method in ("construct", "softmax"):
        for heal in (False, True):
            assert merit(chosen) >= merit(treeball.fit(hierarchy, method=method, heal=heal, **given)), (method, heal)


def test_what_is_compared_depends_on_size_and_on_what_was_given():
    small = random_hierarchy(2, several_parents=True)

    def tried(hierarchy, **given):
        choice = resolve(hierarchy, given)
        return [rivals._name_of(settings, choice.settings) for settings in choice.rivals]

    every = ["construct", "healed construct", "softmax in 1,000 epochs", "softmax from random vectors"]
    assert tried(small, dim=3) == every
    assert tried(small, dim=3, objective="ancestors") == every[1:]
    assert tried(small, dim=3, epochs=50) == [*every[:2], every[3]]
    assert tried(small, dim=3, init="construct") == every[:3]
    assert tried(small, dim=3, heal=False) == [every[0], *every[2:]]

    def dag(n):
        child = np.arange(1, n)
        return Hierarchy.from_codes(range(n), np.append(child, 7), np.append((child - 1) // 3, 0))

    assert tried(dag(2_500), dim=3) == every[:2]
    assert tried(dag(2_500), dim=3, objective="ancestors") == [every[1]]
    assert tried(dag(7_000), dim=3) == [every[0]]
    assert tried(dag(7_000), dim=3, objective="ancestors") == []


def choice_of(*others: Any) -> tuple[Choice, Run, Embedding]:
    settings = SoftmaxSettings(method="softmax", dim=2, epochs=3)
    hierarchy = lattice()
    run = Run.begin(hierarchy, settings)
    run.vectors[:] = np.random.default_rng(0).uniform(-0.5, 0.5, run.vectors.shape)
    return Choice(settings, ["auto"], others), run, run.embedding()


def with_map(embedding: Embedding, value: float) -> Embedding:
    scores = embedding.evaluate()
    twin = Embedding(embedding.vectors, embedding.hierarchy)
    twin.keep_scores(replace(scores, ranking=replace(scores.ranking, precision=scores.ranking.precision * value)))
    return twin


@pytest.mark.parametrize("nan_first", [True, False])
def test_scores_that_are_no_numbers_never_win(nan_first):
    choice, run, embedding = choice_of(ConstructSettings(method="construct", dim=2))
    good, bad = with_map(embedding, 0.5), with_map(embedding, math.nan)
    first, second = (bad, good) if nan_first else (good, bad)
    best = rivals.best_of(first, choice, run, lambda settings: second)
    assert best.evaluate().map == good.evaluate().map


def test_a_training_that_stops_giving_numbers_leaves_its_rivals(monkeypatch):
    execute = _fit._execute

    def fails(run, *rest):
        if run.settings.epochs_to_train:
            raise NumericalError("the loss stopped being a number in epoch 3")
        execute(run, *rest)

    monkeypatch.setattr(_fit, "_execute", fails)
    made = treeball.fit(lattice(), dim=4)
    assert made.provenance.method == "construct"
    texts = [entry.text for entry in made.provenance.log]
    assert "softmax failed: the loss stopped being a number in epoch 3" in texts
    assert made.evaluate().map == treeball.fit(lattice(), method="construct", heal=True, dim=4).evaluate().map
    with pytest.raises(NumericalError):
        treeball.fit(lattice(), method="softmax", dim=4)


def test_a_rival_that_stops_giving_numbers_leaves_what_there_is():
    choice, run, embedding = choice_of(ConstructSettings(method="construct", dim=2))

    def attempt(settings):
        raise NumericalError("no numbers")

    best = rivals.best_of(embedding, choice, run, attempt)
    assert np.array_equal(best.vectors, embedding.vectors)
    assert best.provenance.log[-1].text == "construct was not compared: no numbers"
    assert rivals.best_of(None, choice, run, attempt) is None
