"""New leaves in a model folder: how often it is read for them, and that they are in nobody's way."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from tests.scale.hierarchies import random_edges, write
from treeball.engine.cpu import reach
from treeball.errors import InputError
from treeball.geometry import poincare
from treeball.scale import insert
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.insert import insert_leaves, ways_blocked
from treeball.scale.new_places import NewPlaces
from treeball.scale.reaches import MARGIN, Reaches
from treeball.scale.settings import ScaleSettings
from treeball.scale.update import update_folder

EDGES = random_edges(3000)


def quiet(_):
    pass


@pytest.fixture
def model(tmp_path):
    """A folder of 3,000 nodes in 15 row groups, for every shard begins a new one."""
    pattern = write(EDGES, tmp_path / "edges")
    fit_folder(
        (pattern,), tmp_path / "model", ScaleSettings(method="construct", dim=6, branch_nodes=200, workers=1), quiet
    )
    return tmp_path / "model"


def leaves(path, count, seed, stem):
    parents = np.random.default_rng(seed).integers(0, 60, count)
    path.write_text("child,parent\n" + "".join(f"{stem} {i},n{parent}\n" for i, parent in enumerate(parents)))
    return str(path)


def all_of(folder):
    """Vectors, parents and reaches of all nodes, reckoned plainly."""
    vectors = folder.vectors(np.arange(len(folder)))
    parents = np.array([folder.primary_parent(i) for i in range(len(folder))])
    far = poincare.distance(vectors, vectors[np.maximum(parents, 0)])
    return vectors, parents, np.where(parents >= 0, MARGIN * far, 0.0)


def in_each_others_way(folder, places):
    """Pairs of one of the places and any node that are nearer to each other than one of them wants, all compared."""
    vectors, parents, wanted = all_of(folder)
    found = set()
    for one in places:
        far = poincare.distance(vectors, vectors[one])
        near = np.flatnonzero(far <= np.maximum(wanted, wanted[one]) * (1.0 - 1e-9))
        found |= {(one, int(other)) for other in near if other not in (one, parents[one])}
    return found


def count_reads(monkeypatch):
    reads: Counter[tuple[int, str]] = Counter()
    read = ModelFolder._read

    def counted(self, group, column):
        reads[group, column] += 1
        return read(self, group, column)

    monkeypatch.setattr(ModelFolder, "_read", counted)
    return reads


def test_many_names_are_looked_up_with_one_read_of_each_group(model, monkeypatch):
    folder = ModelFolder(model)
    reads = count_reads(monkeypatch)
    names = [f"n{i}" for i in range(2999, -1, -1)]
    places = folder.places_of([*names, "nobody", "n1"])
    assert max(reads.values()) == 1
    assert folder.names(places[:3000]) == names
    assert places[3000] == -1
    assert places[3001] == places[names.index("n1")]
    reads.clear()
    assert (folder.places_of([f"new {i}" for i in range(500)]) == -1).all()
    assert not reads
    with pytest.raises(InputError, match="no node 'nobody'"):
        folder.find_all(["n3", "nobody"])


def test_a_round_reads_each_group_once_at_most(model, monkeypatch):
    folder = ModelFolder(model)
    places = NewPlaces(folder, np.sort(folder.places_of([f"n{i % 60}" for i in range(400)])), 0)
    parents = np.sort(folder.places_of([f"n{i % 60}" for i in range(400)]))
    points, limits = places.draw(np.arange(400), 0, 1)
    reaches = Reaches(folder, 1)
    reads = count_reads(monkeypatch)
    ways_blocked(folder, reaches, points, limits, parents, 2)
    assert set(reads.values()) == {1}


def test_reaches_are_the_distances_of_parents(model):
    folder = ModelFolder(model)
    wanted = all_of(folder)[2]
    reaches = Reaches(folder, 2)
    found = np.concatenate([reaches.of_group(group) for group in range(folder.group_first.size)])
    np.testing.assert_allclose(found, np.sinh(0.5 * wanted) ** 2, rtol=1e-6)
    assert (reaches.widest() == np.maximum.reduceat(found, folder.group_first)).all()


@pytest.mark.parametrize("meetings", [1 << 25, 100])
def test_conflicts_are_those_of_all_pairs(model, monkeypatch, meetings):
    monkeypatch.setattr(insert, "_MEETINGS", meetings)
    folder = ModelFolder(model)
    parents = np.sort(np.random.default_rng(3).integers(0, 3000, 300))
    points, limits = NewPlaces(folder, parents, 7).draw(np.arange(300), 0, 1)
    # Some lie close to nodes that are not their parents.
    points[::10] = folder.vectors(np.arange(100, 3000, 97)[:30]) * 0.9999
    found = ways_blocked(folder, Reaches(folder, 1), points, limits, parents, 2)
    vectors, _, wanted = all_of(folder)
    own = 2.0 * np.arcsinh(np.sqrt(limits))
    expected = []
    for i, point in enumerate(points):
        way = poincare.distance(vectors, point) <= np.maximum(wanted, own[i])
        way[parents[i]] = False
        expected.append(way.any())
    assert 0 < sum(expected) < 300
    np.testing.assert_array_equal(found, expected)


def test_leaves_of_several_insertions_are_in_nobodys_way(model, tmp_path):
    for number, stem in enumerate(("new", "more")):
        done = insert_leaves(ModelFolder(model), leaves(tmp_path / f"{stem}.csv", 400, number, stem))
        assert done.added == 400
        folder = ModelFolder(model)
        lost = set(folder.places_of(done.without_place).tolist()) if done.without_place else set()
        assert len(lost) < 20
        added = set(range(len(folder) - 400, len(folder)))
        pairs = in_each_others_way(folder, added - lost)
        assert {pair for pair in pairs if not lost & set(pair)} == set()
    next_version = [*EDGES, *(tuple(line.split(",")) for stem in ("new", "more")
                              for line in (tmp_path / f"{stem}.csv").read_text().splitlines()[1:])]  # fmt: skip
    following = [(f"last {i}", f"n{i % 60}") for i in range(200)]
    update = update_folder(ModelFolder(model), (write(next_version + following, tmp_path / "next"),), 1 << 28)
    assert (update.changes.new, update.changes.removed.size, update.changes.moved.size) == (200, 0, 0)
    folder = ModelFolder(model)
    lost |= set(folder.places_of(update.without_place).tolist()) if update.without_place else set()
    pairs = in_each_others_way(folder, set(range(len(folder) - 200, len(folder))) - lost)
    assert {pair for pair in pairs if not lost & set(pair)} == set()


def test_the_same_seed_gives_the_same_places_for_any_number_of_threads(model, tmp_path):
    import shutil

    source = leaves(tmp_path / "new.csv", 300, 4, "new")
    found = []
    for threads in (1, 3):
        copy = tmp_path / f"copy-{threads}"
        shutil.copytree(model, copy)
        insert_leaves(ModelFolder(copy), source, seed=5, threads=threads)
        found.append((copy / "shards" / "added-000000.parquet").read_bytes())
    assert found[0] == found[1]


def test_leaves_that_were_added_without_reaches_have_them_reckoned(model, tmp_path):
    insert_leaves(ModelFolder(model), leaves(tmp_path / "new.csv", 200, 4, "new"))
    kept = Reaches(ModelFolder(model), 1).of_group(15).copy()
    manifest = json.loads((model / "manifest.json").read_text())
    (model / manifest["added"][0].pop("reach")).unlink()
    (model / "manifest.json").write_text(json.dumps(manifest))
    np.testing.assert_allclose(Reaches(ModelFolder(model), 1).of_group(15), kept, rtol=1e-6)


def test_who_comes_first_takes_a_point_and_who_comes_later_another():
    points = np.array([[0.1, 0.0, 0.0], [0.1001, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, 0.8, 0.0]])
    found, has = np.zeros((3, 3)), np.zeros(3, bool)
    insert._take(found, np.zeros(3), has, points, np.full(4, 0.01), np.array([0, 1, 1, 2]))
    assert has.all()
    np.testing.assert_array_equal(found, points[[0, 2, 3]])
    boxes, wide, starts = reach.stack_boxes(np.ones((100, 8)), np.arange(100.0))
    assert starts.tolist() == [0, 100, 113, 115, 116]
    assert (len(boxes), wide[-1]) == (116, 99.0)


def test_a_file_of_new_leaves_needs_no_header(model, tmp_path):
    parents = ModelFolder(model).names([3, 5])
    (tmp_path / "new.csv").write_text(f"first,{parents[0]}\nsecond,{parents[1]}\n")
    insert_leaves(ModelFolder(model), str(tmp_path / "new.csv"))
    after = ModelFolder(model)
    assert (after.places_of(["first", "second"]) >= 0).all()
