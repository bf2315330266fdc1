"""Evaluation chooses a device and says which; a card gives the scores of the processor. The kernels are interpreted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import treeball
from tests import trees
from treeball import InputError
from treeball.cli.main import run
from treeball.engine.card import why_no_card
from treeball.engine.cpu.engine import CpuEngine
from treeball.evaluation import ranking
from treeball.methods.near_lists import nearest_non_positives

pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in .*:RuntimeWarning")


@pytest.fixture
def card(monkeypatch):
    """An interpreted card that every choice of a device but the processor gives."""
    pytest.importorskip("triton", "3.9", reason="kernels are interpreted by Triton 3.9 or later")
    if not why_no_card():
        pytest.skip("there is a card: its kernels are compiled, not interpreted")
    from treeball.engine.gpu.engine import GpuEngine

    made = GpuEngine("cpu")
    monkeypatch.setattr(ranking, "choose", lambda device, work: made if device != "cpu" else CpuEngine())
    return made


@pytest.fixture
def embedding():
    hierarchy = treeball.read(trees.random_dag(90, 40, 4).pairs)
    return treeball.fit(hierarchy, method="poincare", dim=3, epochs=3, deterministic=True, scores=False)


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_a_card_gives_the_scores_of_the_processor_and_is_named(card, embedding, objective):
    there = treeball.evaluate(embedding, objective, device="cuda")
    here = treeball.evaluate(embedding, objective, device="cpu")
    for name in ("sources", "ranks", "offender", "margin", "population"):
        assert np.array_equal(getattr(there.ranking, name), getattr(here.ranking, name))
    assert there.map == pytest.approx(here.map, abs=1e-15)
    assert there.illness.counts() == here.illness.counts()
    assert there.to_dict()["device"] == card.device_name
    assert "device" not in here.to_dict()


def test_auto_takes_the_card_where_much_is_compared_or_a_trial_shows_it_faster(card, embedding, monkeypatch):
    assert treeball.evaluate(embedding).ranking.device == ""
    monkeypatch.setattr(ranking, "_CARD_FROM_WORK", 1)
    assert treeball.evaluate(embedding).ranking.device == card.device_name
    monkeypatch.setattr(ranking, "_TREE_FROM_NODES", 0)
    monkeypatch.setattr(ranking, "_TREE_FROM_SOURCES", 0)
    monkeypatch.setattr(ranking, "_WORTHWHILE_SHARE", 2.0)
    for card_seconds, expected in ((0.0, card.device_name), (1e9, "")):
        monkeypatch.setattr(ranking, "_tried_card", lambda *_, seconds=card_seconds: seconds)
        assert treeball.evaluate(embedding).ranking.device == expected


def test_beyond_the_limit_a_card_ranks_all_nodes_if_a_trial_promises_an_end(card, embedding, monkeypatch):
    monkeypatch.setattr(ranking, "EXACT_UP_TO_NODES", 50)
    monkeypatch.setattr(ranking, "DEFAULT_SAMPLE", 20)
    monkeypatch.setattr(ranking, "_CARD_PILOT_SOURCES", 10)
    assert treeball.evaluate(embedding, "ancestors", device="cpu").ranking.sources.size == 20
    assert treeball.evaluate(embedding, "ancestors", device="cuda").ranking.is_exact
    monkeypatch.setattr(ranking, "EXACT_SECONDS", 0.0)
    assert treeball.evaluate(embedding, "ancestors", device="cuda").ranking.sources.size == 20


def test_where_memory_is_full_fewer_rows_are_compared_at_once_then_the_processor_does_it(card, embedding, monkeypatch):
    import torch

    from treeball.engine.gpu import engine as module

    tried = []

    def full(nodes, sources, ptr, idx, processors, rows):
        tried.append(rows)
        raise torch.cuda.OutOfMemoryError("none left")

    monkeypatch.setattr(module, "_FEWEST_ROWS", 40)
    monkeypatch.setattr(module, "rank_on_card", full)
    with pytest.warns(UserWarning, match="memory of an interpreter is full, so the processor does it"):
        there = treeball.evaluate(embedding, device="cuda")
    assert tried == [89, 44, 22]
    assert there.map == treeball.evaluate(embedding, device="cpu").map


def test_a_device_that_is_none_or_is_missing_is_refused(embedding, tmp_path, capsys):
    with pytest.raises(InputError, match="device must be one of auto, cpu, cuda, not 'abacus'"):
        embedding.evaluate(device="abacus")
    if not why_no_card():
        pytest.skip("there is a card")
    with pytest.raises(InputError, match="the device cuda cannot be used"):
        embedding.evaluate(device="cuda")
    with pytest.raises(InputError, match="the device cuda cannot be used"):
        treeball.fit(embedding.hierarchy, method="construct", dim=3, device="cuda")
    path = embedding.save(tmp_path / "m.parquet")
    assert run(["evaluate", str(path), "--device", "cuda"]) == 2
    assert "the device cuda cannot be used" in capsys.readouterr().err
    assert run(["evaluate", str(path), "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 90


def test_a_model_says_which_card_scored_it(card, embedding, tmp_path):
    evaluation = treeball.evaluate(embedding, device="cuda")
    scored = embedding.with_provenance(embedding.provenance.with_scores(evaluation))
    assert treeball.load(scored.save(tmp_path / "m.parquet")).provenance.scores["device"] == card.device_name


def test_a_card_lists_the_nodes_near_others_that_a_search_tree_finds(card, embedding):
    coordinates, factor = embedding.ranking_coordinates()
    by_tree, by_card = (
        nearest_non_positives(
            coordinates, factor, embedding.hierarchy, "ancestors", np.arange(len(embedding)), 1, engine
        )
        for engine in (None, card)
    )
    assert np.array_equal(by_tree, by_card)
    assert (by_tree >= 0).any()


@pytest.mark.parametrize(
    ("wish", "device"), [({}, "auto"), ({"device": "cpu"}, "cpu"), ({"deterministic": True}, "cpu")]
)
def test_scores_of_a_fit_and_its_healing_are_computed_where_it_was_asked_for(monkeypatch, wish, device):
    asked = []

    def noting(*given, device, **options):
        asked.append(device)
        return ranking.rank(*given, device=device, **options)

    monkeypatch.setattr("treeball.evaluation._evaluate.rank", noting)
    treeball.fit(treeball.read(trees.random_tree(40, 1).pairs), method="poincare", dim=3, epochs=2, heal=True, **wish)
    assert asked
    assert set(asked) == {device}
