"""Leaves with several parents in a model folder: between them, in nobody's way, and the same for all workers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.scale.hierarchies import write
from treeball.cli.main import run
from treeball.engine.cpu.shared_leaves import choose_seats
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fans import Fans, make_fans
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.lengths import FolderPlan, folder_plans, longest_edges
from treeball.scale.settings import ScaleSettings


def quiet(_):
    pass


def shared_leaves() -> list[tuple[str, str]]:
    """Four classes of six classes of thirty leaves; one leaf in fifteen is a leaf of the next class too."""
    edges = []
    for top in range(4):
        edges.append((f"t{top}", "root"))
        for middle in range(6):
            edges.append((f"t{top}.{middle}", f"t{top}"))
            for leaf in range(30):
                edges.append((f"t{top}.{middle}.{leaf}", f"t{top}.{middle}"))
                if leaf % 15 == 0:
                    edges.append((f"t{top}.{middle}.{leaf}", f"t{top}.{(middle + 1) % 6}"))
    return edges


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("several")
    pattern = write(shared_leaves(), home / "edges")
    manifests = {
        workers: fit_folder(
            (pattern,),
            home / f"model-{workers}",
            ScaleSettings(method="construct", dim=10, branch_nodes=200, workers=workers),
            quiet,
        )
        for workers in (1, 2)
    }
    return home, manifests


def test_leaves_are_next_to_both_parents_and_all_others_to_theirs(made):
    home, manifests = made
    assert manifests[1]["moved_between_parents"] > 20
    scores = evaluate_folder(ModelFolder(home / "model-1"), sample=0)
    assert scores.precision[scores.several].mean() > 0.9
    assert scores.precision[~scores.several].mean() == 1.0
    assert scores.first.all()


def test_moved_leaves_are_the_same_bytes_for_any_number_of_workers(made):
    one, two = ([shard["sha256"] for shard in manifest["shards"]] for manifest in made[1].values())
    assert len(one) > 3
    assert one == two


def test_of_parents_that_are_equally_deep_the_one_with_fewer_children_is_primary(tmp_path):
    edges = [("a", "root"), ("b", "root"), ("x", "a"), ("x", "b"), ("a1", "a"), ("a2", "a"), ("b1", "b")]
    fit_folder((write(edges, tmp_path / "edges"),), tmp_path / "model", ScaleSettings(method="construct", dim=3), quiet)
    folder = ModelFolder(tmp_path / "model")
    assert folder.names([folder.primary_parent(folder.find("x"))]) == ["b"]


def test_inner_nodes_have_short_edges_where_there_is_room_and_leaves_long_ones(tmp_path):
    make_fans(np.array([3, 30, 60, 150, 500]), 10, tmp_path, roomy=True)
    fans = Fans.load(tmp_path)
    plan = FolderPlan(30.0, 8.0, 1.02, 1.5)
    height = np.array([1, 0, 1, 1, 1])
    index, siblings = np.array([0, 1, 3, 40, 400]), np.array([3, 3, 500, 500, 500])
    lengths = longest_edges(plan, fans, height, index, siblings)
    assert lengths[:3].tolist() == [1.5, 8.0, 1.5]
    assert 1.5 < lengths[3] < lengths[4] <= 8.0
    assert (longest_edges(FolderPlan(30.0, 8.0, 1.02), fans, height, index, siblings) == 8.0).all()


def test_plans_with_short_edges_come_first_where_nodes_have_several_parents():
    assert next(folder_plans(5, 2.0, True)).short > 0.0
    assert all(plan.short == 0.0 for plan in folder_plans(5, 2.0, False))


def test_of_two_leaves_that_want_the_same_seat_the_second_takes_another():
    points = np.array([[0.9, 0.0], [0.9, 0.0], [0.0, 0.9]])
    limits, before = np.full((3, 2), 1.0), np.array([[0, 0], [0, 0], [0, 1]])
    chosen = np.empty(2, np.int64)
    choose_seats(np.array([0, 1, 3]), points, limits, before, np.array([2, 2]), np.array([0.5, 0.5]), chosen)
    assert chosen.tolist() == [0, 2]


def test_a_subtree_says_every_parent_of_each_node(tmp_path, capsys):
    edges = [("a", "root"), ("b", "root"), ("x", "a"), ("x", "b"), ("a1", "a"), ("a2", "a"), ("b1", "b")]
    model = tmp_path / "model"
    fit_folder((write(edges, tmp_path / "edges"),), model, ScaleSettings(method="construct", dim=3), quiet)
    capsys.readouterr()
    asked = ["ask", str(model), "subtree", "a", "--from", "hierarchy"]
    assert run([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["other_parents"] == {"x": ["b"]}
    assert run(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == ["  a1", "  a2", "  x  (also below b)", "a"]
