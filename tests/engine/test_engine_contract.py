"""The contract that every engine keeps: the same answers, whatever the device.

An engine is added to `ENGINES`; those whose device is missing are skipped with a reason. Without a card, the kernels of
the card are interpreted, at sizes that this allows.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests import trees
from treeball import InputError
from treeball.engine import Compared, SoftmaxSteps, choose
from treeball.engine.card import why_no_card
from treeball.engine.cpu.sampled_softmax import GEOMETRIES
from treeball.errors import NumericalError
from treeball.geometry import poincare
from treeball.geometry.spaces import SPACES

ENGINES = ("cpu", "cuda", "interpreted")
# Integers that overflow, and lanes that are not used: on a card nobody is warned of either.
pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in .*:RuntimeWarning")


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "interpreted":
        # A torch for cards pins an older one, which confuses constants of a module with tensors.
        pytest.importorskip("triton", "3.9", reason="kernels are interpreted by Triton 3.9 or later")
        if not why_no_card():
            pytest.skip("there is a card: its kernels are compiled, not interpreted")
        from treeball.engine.gpu.engine import GpuEngine

        return GpuEngine("cpu")
    if request.param == "cuda" and why_no_card():
        pytest.skip(why_no_card())
    return choose(request.param)


def is_interpreted(engine):
    return engine.device_name == "an interpreter"


def points_of(space, n, dim, seed, radius=3.0):
    """Points within a radius, two of them the same, and one near the rim."""
    rng = np.random.default_rng(seed)
    radii = rng.uniform(0.0, radius, n)
    radii[-1] = 25.0
    points = poincare.from_radius(rng.normal(size=(n, dim)), radii)
    if n > 3:
        points[2] = points[1]
    return space.from_ball(points) if space.is_hyperbolic else points


def positives_of(n, seed):
    """A random tree's parents: pointers (n+1,) and codes, the root without any."""
    edges = trees.random_tree(n, seed)
    parent = np.full(n, -1)
    parent[edges.child] = edges.parent
    ptr = np.concatenate([[0], np.cumsum(parent >= 0)]).astype(np.int64)
    return ptr, parent[parent >= 0].astype(np.int32)


def naive_keys(space, vectors):
    coordinates, factor = space.ranking_coordinates(vectors)
    return np.square(coordinates[:, None] - coordinates[None]).sum(axis=2) * factor


def test_auto_is_one_of_the_engines_and_others_are_refused():
    assert choose("auto").name == "cpu"
    assert choose("auto", 10**6).name == ("cpu" if why_no_card() else "cuda")
    with pytest.raises(InputError, match="device must be one of"):
        choose("abacus")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("n", "dim"), [(2, 2), (5, 3), (257, 2), (300, 17)])
def test_ranks_are_those_of_a_naive_count(engine, name, n, dim):
    space = SPACES[name]
    vectors = points_of(space, n, dim, seed=n)
    ptr, idx = positives_of(n, seed=1)
    sources = np.flatnonzero(np.diff(ptr)).astype(np.int64)
    own_ptr = np.arange(sources.size + 1, dtype=np.int64)
    coordinates, factor = space.ranking_coordinates(vectors)
    ranks, precision, offender = engine.rank(coordinates, factor, sources, own_ptr, idx, 2)
    keys = naive_keys(space, vectors)
    for i, source in enumerate(sources):
        others = np.delete(np.arange(n), [source, idx[i]])
        closer = others[keys[source, others] <= keys[source, idx[i]] * (1 + 1e-9)]
        assert ranks[i] == closer.size + 1
        assert precision[i] == pytest.approx(1 / ranks[i])
        if others.size:
            assert keys[source, offender[i]] == pytest.approx(keys[source, others].min(), rel=1e-12)
        else:
            assert offender[i] == -1


def several_positives(n, seed, most):
    """Some nodes with up to so many random positives: sources, pointers and codes."""
    rng, found = np.random.default_rng(seed), {}
    for node in range(0, n, 2):
        others = np.delete(np.arange(n), node)
        found[node] = np.sort(rng.choice(others, rng.integers(1, min(most, n - 1) + 1), replace=False))
    ptr = np.concatenate([[0], np.cumsum([own.size for own in found.values()])]).astype(np.int64)
    return np.array(list(found), np.int64), ptr, np.concatenate(list(found.values())).astype(np.int32)


@pytest.mark.parametrize(("n", "dim", "most"), [(2, 2, 1), (70, 128, 5), (129, 2, 90), (600, 5, 4)])
def test_ranks_of_several_positives_are_those_of_a_naive_count(engine, n, dim, most):
    """More nodes than a tile has, some of them at one place and one at the rim, and more positives than a row has."""
    space = SPACES["poincare"]
    vectors = points_of(space, n, dim, seed=n)
    vectors[n // 2 : n // 2 + n // 8] = vectors[0]
    sources, ptr, idx = several_positives(n, n, most)
    sources, ptr = sources[:40], ptr[:41]
    idx = idx[: ptr[-1]]
    coordinates, factor = space.ranking_coordinates(vectors)
    ranks, precision, offender = engine.rank(coordinates, factor, sources, ptr, idx, 1)
    keys = np.zeros((n, n))
    for axis in coordinates.T:  # as the engines add them up, so that what ties there ties here
        keys += np.square(axis[:, None] - axis[None])
    keys *= factor
    for i, source in enumerate(sources):
        own = idx[ptr[i] : ptr[i + 1]]
        others = np.delete(np.arange(n), [source, *own])
        closer = (keys[source, others][:, None] <= keys[source, own]).sum(axis=0)
        assert np.array_equal(ranks[ptr[i] : ptr[i + 1]], closer + 1)
        number = np.arange(1, own.size + 1)
        assert precision[i] == pytest.approx((number / (number + np.sort(closer))).mean(), rel=1e-14)
        assert offender[i] == (others[np.argmin(keys[source, others])] if others.size else -1)


@pytest.mark.parametrize("name", ["poincare", "euclidean"])
@pytest.mark.parametrize(("farther", "rank"), [(0.5e-9, 2), (4e-9, 1)])
def test_what_is_farther_by_less_than_a_billionth_ties(engine, name, farther, rank):
    """Node 2, at the origin, has its positive, node 0, on one side and node 1 on the other."""
    lengths = np.array([6.0, -6.0 * (1 + farther), 0.0])
    points = np.stack([lengths if name == "euclidean" else np.tanh(lengths / 2), np.zeros(3)], axis=1)
    coordinates, factor = SPACES[name].ranking_coordinates(points)
    source, ptr = np.array([2], np.int64), np.array([0, 1], np.int64)
    ranks, precision, offender = engine.rank(coordinates, factor, source, ptr, np.array([0], np.int32), 1)
    assert (ranks.tolist(), offender.tolist()) == ([rank], [1])
    assert precision[0] == 1 / rank


def test_nobody_is_ranked_where_there_is_one_node(engine):
    none = np.empty(0, np.int64)
    ranks, precision, offender = engine.rank(np.zeros((1, 2)), np.ones(1), none, np.zeros(1, np.int64), none, 1)
    assert ranks.size == precision.size == offender.size == 0
    codes, keys = engine.nearest(np.zeros((1, 2)), np.ones(1), np.zeros(1, np.int64), 2, 1)
    assert codes.tolist() == [[-1, -1]]
    assert np.isinf(keys).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_is_never_ranked(engine, bad):
    points, ptr = np.zeros((4, 2)), np.arange(5, dtype=np.int64)
    points[2, 1] = bad
    with pytest.raises(NumericalError, match="node number 2 is no point"):
        engine.rank(points, np.ones(4), ptr[:4], ptr, np.array([1, 0, 0, 0], np.int32), 1)
    with pytest.raises(NumericalError, match="node number 2 is no point"):
        engine.nearest(points, np.ones(4), ptr[:4], 1, 1)


@pytest.mark.parametrize(("n", "dim", "k"), [(300, 3, 100), (129, 128, 2)])
def test_nearest_nodes_are_those_of_the_processor_also_where_many_are_at_one_place(engine, n, dim, k):
    space = SPACES["poincare"]
    vectors = points_of(space, n, dim, seed=k)
    vectors[n // 2 : n // 2 + n // 3] = vectors[0]
    coordinates, factor = space.ranking_coordinates(vectors)
    nodes = np.arange(n)[:: n // 40]
    codes, keys = engine.nearest(coordinates, factor, nodes, k, 1)
    expected_codes, expected_keys = choose("cpu").nearest(coordinates, factor, nodes, k, 1)
    assert np.array_equal(codes, expected_codes)
    assert np.array_equal(keys, expected_keys)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("n", "dim", "k"), [(2, 2, 1), (40, 3, 5), (300, 10, 10), (6, 2, 9)])
def test_nearest_nodes_are_those_of_a_sort(engine, name, n, dim, k):
    space = SPACES[name]
    vectors = points_of(space, n, dim, seed=k)
    nodes = np.arange(n)
    codes, keys = engine.nearest(*space.ranking_coordinates(vectors), nodes, k, 2)
    expected = naive_keys(space, vectors)
    np.fill_diagonal(expected, np.inf)
    for node in nodes:
        found = codes[node][codes[node] >= 0]
        assert found.size == min(k, n - 1)
        assert node not in found
        np.testing.assert_allclose(expected[node, found], np.sort(expected[node])[: found.size], rtol=1e-12)
        assert (np.diff(keys[node, : found.size]) >= 0).all()
        assert np.isinf(keys[node, found.size :]).all()


@pytest.mark.parametrize("name", GEOMETRIES)
def test_training_lowers_the_loss_stays_within_the_bound_and_repeats_itself(engine, name):
    space, n, epochs = (SPACES[name], 12, 1) if is_interpreted(engine) else (SPACES[name], 120, 10)
    ptr, idx = positives_of(n, seed=3)
    heads = np.repeat(np.arange(n, dtype=np.int32), np.diff(ptr))
    order = np.random.default_rng(0).permutation(heads.size)
    limit = 2.0

    def trained():
        vectors = space.initial(np.random.default_rng(0), n, 3, 0.01)
        losses = [
            engine.train(
                name,
                vectors,
                heads[order],
                idx[order],
                np.ones(heads.size),
                ptr,
                idx,
                np.full(epochs, 0.1 if epochs > 1 else 0.5),
                first_epoch=first,
                negatives=10,
                bound=space.bound(limit),
                seed=5,
                workers=1,
            )
            for first in range(0, (10 if epochs > 1 else 5) * epochs, epochs)
        ]
        return vectors, losses

    vectors, losses = trained()
    assert losses[-1].loss < (0.8 if epochs > 1 else 0.95) * losses[0].loss
    assert all(one.failed is None for one in losses)
    if space.is_hyperbolic:
        assert space.radius(vectors).max() <= limit + 1e-9
        assert sum(one.clamped for one in losses) > 0
    again, _ = trained()
    assert np.array_equal(vectors, again)


@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.parametrize("dim", [2, 5, 17])
def test_a_step_is_that_of_the_processor(engine, name, dim):
    """Of three nodes one is the head, one its parent: the third alone can be drawn, so nothing is left to chance."""
    space = SPACES[name]
    start = space.initial(np.random.default_rng(dim), 3, dim, 1.0)
    head, tail = np.zeros(1, np.int32), np.ones(1, np.int32)
    ptr, found = np.array([0, 1, 1, 1]), []
    for one in (engine, choose("cpu")):
        vectors = start.copy()
        trained = one.train(
            name,
            vectors,
            head,
            tail,
            np.array([1.5]),
            ptr,
            tail,
            np.full(3, 0.05),
            first_epoch=0,
            negatives=1,
            bound=space.bound(30.0),
            seed=1,
            workers=1,
        )
        found.append((vectors, trained.loss))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=0, atol=1e-14)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-9)  # the exponential of the processor is a polynomial
    assert np.abs(found[0][0] - start).max() > 0.01


def test_positives_and_the_head_are_never_drawn(engine):
    """Where every other node is a positive nothing can push; where the lots are positives, others are drawn."""
    space, n = SPACES["poincare"], 24
    start = space.initial(np.random.default_rng(2), n, 3, 1.0)
    positives = np.arange(1, n, dtype=np.int32)
    for last, lots in ((n, None), (n - 1, positives[:5])):
        own = positives[: last - 1]
        vectors, ptr = start.copy(), np.concatenate([[0], np.full(n, own.size)]).astype(np.int64)
        done = engine.train(
            "poincare",
            vectors,
            np.zeros(1, np.int32),
            own[:1],
            np.ones(1),
            ptr,
            own,
            np.full(1, 0.1),
            first_epoch=0,
            negatives=8,
            bound=space.bound(30.0),
            seed=0,
            workers=1,
            lots=lots,
            lots_until=1,
        )
        moved = np.flatnonzero((vectors != start).any(axis=1))
        assert done.failed is None
        assert set(moved) <= ({0, 1, n - 1} if lots is not None else set())
        assert (done.loss > 0) == (lots is not None)


def test_a_step_that_overflows_is_named_by_epoch_and_node(engine):
    space, n = SPACES["poincare"], 30
    ptr, idx = positives_of(n, seed=5)
    heads = np.repeat(np.arange(n, dtype=np.int32), np.diff(ptr))
    vectors = space.initial(np.random.default_rng(0), n, 2, 0.1)
    done = engine.train(
        "poincare",
        vectors,
        heads,
        idx,
        np.ones(heads.size),
        ptr,
        idx,
        np.array([np.nan]),
        first_epoch=7,
        negatives=5,
        bound=space.bound(12.0),
        seed=0,
        workers=1,
    )
    assert done.failed is not None
    epoch, node = done.failed
    assert epoch == 7
    assert 0 <= node < n


def test_a_descent_of_all_nodes_lowers_the_loss_and_names_failures(engine):
    space, n = SPACES["poincare"], 70
    ptr, idx = positives_of(n, seed=6)
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    near = np.full((n, 1), -1, np.int32)
    rounds, less = (20, 0.9) if is_interpreted(engine) else (60, 0.5)

    def descend(rate, movers=None, squeeze=()):
        vectors = space.initial(np.random.default_rng(0), n, 4, 0.1)
        moments = (np.zeros((n, 4)), np.zeros(n))
        done = [
            engine.descend_softmax(
                vectors,
                moments,
                Compared(heads, ptr, idx, ptr, idx, near),
                SoftmaxSteps(np.full(10, 10.0), np.zeros(10), np.full(10, rate), np.tile(squeeze, (10, 1))),
                first_epoch=first,
                steps_before=first,
                negatives=60,
                bound=space.bound(12.0),
                seed=0,
                workers=1,
                movers=movers,
            )
            for first in range(0, rounds, 10)
        ]
        return vectors, done

    vectors, done = descend(0.05)
    assert done[-1].loss < less * done[0].loss
    assert done[-1].failed is None
    assert np.array_equal(vectors, descend(0.05)[0])
    squeezed, _ = descend(0.05, squeeze=[0.5, 0.0])
    assert (squeezed[:, 3] == 0.0).all()  # after the last step too
    assert (squeezed[:, 2] != 0.0).all()
    movers = np.arange(n) % 3 == 0
    some, _ = descend(0.05, movers)
    start = space.initial(np.random.default_rng(0), n, 4, 0.1)
    assert some[~movers].tobytes() == start[~movers].tobytes()
    assert (some[movers] != start[movers]).any(axis=1).all()
    _, failed = descend(math.nan)
    assert failed[0].failed is not None
    assert failed[0].failed[0] == 1  # the first step spoils the vectors, the second meets them


def closure_of(n, seed):
    """All ancestors in a random tree: pointers (n+1,) and codes, ascending."""
    ptr, parent = positives_of(n, seed)
    above: list[list[int]] = []
    for node in range(n):
        own = parent[ptr[node] : ptr[node + 1]].tolist()
        above.append(sorted(own + above[own[0]]) if own else [])
    codes = np.array([code for codes in above for code in codes], np.int32)
    return np.concatenate([[0], np.cumsum([len(codes) for codes in above])]).astype(np.int64), codes


def everybody_near(n, ptr, idx):
    """Lists of all non-positives of every node."""
    near = np.full((n, max(1, n - 1)), -1, np.int32)
    for node in range(n):
        others = np.setdiff1d(np.arange(n), [node, *idx[ptr[node] : ptr[node + 1]]])
        near[node, : others.size] = others
    return near


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("n", "dim", "sharpness", "forgiveness", "radius"),
    [(2, 2, 10.0, 0.0, 1.0), (3, 3, 10.0, 0.0, 1.0), (40, 2, 5.0, 0.0, 3.0), (130, 5, 20.0, 0.3, 3.0),
     (130, 5, 12.5, 0.3, 3.0), (129, 17, 160.0, 0.0, 6.0), (129, 17, 40.0, 0.0, 6.0), (40, 128, 20.0, 0.0, 2.0)],
)  # fmt: skip
def test_a_step_down_the_softmax_is_that_of_the_processor(
    engine, n, dim, sharpness, forgiveness, radius, listed, monkeypatch
):
    """Where everybody is listed as near, nothing is left to chance: loss and gradient are the same."""
    if listed:
        if is_interpreted(engine) and n > 40:
            pytest.skip("too many heads to interpret, one after the other")
        monkeypatch.setattr(type(engine), "compares_all", lambda *_: False)
    ptr, idx = closure_of(n, seed=n)
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    start = points_of(SPACES["poincare"], n, dim, seed=n, radius=radius)
    start[-1] *= 0.5  # nobody at the rim, where the processor leaves out what is below 1e-12 of the largest
    found = []
    for one in (engine, choose("cpu")):
        vectors, moments = start.copy(), (np.zeros((n, dim)), np.zeros(n))
        done = one.descend_softmax(
            vectors,
            moments,
            Compared(heads, ptr, idx, ptr, idx, everybody_near(n, ptr, idx)),
            SoftmaxSteps(np.full(2, sharpness), np.full(2, forgiveness), np.full(2, 1e-4), np.empty((2, 0))),
            first_epoch=0,
            steps_before=0,
            negatives=0,
            bound=SPACES["poincare"].bound(30.0),
            seed=0,
            workers=1,
        )
        assert done.failed is None
        found.append((done.loss, moments[0], vectors))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-10)
    scale = np.abs(found[1][1]).max()
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=0, atol=1e-7)


def test_what_is_too_far_to_count_is_passed_by_without_a_trace(engine, monkeypatch):
    """Two clusters of blocks, far from each other and sharply seen."""
    if not engine.compares_all(1, 2):
        pytest.skip("this engine does not compare all nodes with each other")
    from treeball.engine.gpu.full_softmax import AllPairs, Gradient

    torch = pytest.importorskip("torch")
    n = 512
    ptr, idx = positives_of(n, seed=4)
    rng = np.random.default_rng(0)
    middles = np.repeat(np.array([[0.9, 0.0], [-0.9, 0.0]]), n // 2, axis=0)
    vectors = middles + rng.normal(scale=0.01, size=(n, 2))
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    pairs = AllPairs(Compared(heads, ptr, idx, ptr, idx, np.empty((0, 0), np.int32)), n, engine.device, 1)
    points = torch.from_numpy(vectors[pairs.order]).to(engine.device)
    found = []
    for far in (False, True):
        gradient = Gradient(pairs, 2)
        if not far:
            everybody = torch.ones(pairs.blocks, pairs.blocks, dtype=torch.bool, device=engine.device)
            monkeypatch.setattr(gradient, "_near", lambda *_, everybody=everybody: everybody)
        found.append([x.cpu().numpy() for x in gradient(points, 40.0, 0.0, 12.0)])
        assert bool(gradient.near.all()) != far
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-11)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-11 * np.abs(found[0][1]).max())


def test_a_lonely_node_has_nothing_to_descend(engine):
    vectors, moments = np.full((1, 3), 0.1), (np.zeros((1, 3)), np.zeros(1))
    none, ptr = np.empty(0, np.int32), np.zeros(2, np.int64)
    done = engine.descend_softmax(
        vectors,
        moments,
        Compared(none, ptr, none, ptr, none, np.full((1, 1), -1, np.int32)),
        SoftmaxSteps.even(10.0, np.full(2, 0.1)),
        first_epoch=0,
        steps_before=0,
        negatives=5,
        bound=0.999,
        seed=0,
        workers=1,
    )
    assert done.failed is None
    assert (vectors == 0.1).all()


def test_a_glance_passes_by_what_is_far_and_nothing_else(engine):
    """Clusters whose members have neighbouring codes, near the rim and at it: tiles far away are not compared."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if not engine.compares_all(1, 2):
        pytest.skip("this engine compares nothing in tiles")
    from treeball.engine.gpu.glance import Glance
    from treeball.engine.gpu.tiles import COLUMNS, ROWS, put_on_card

    rng = np.random.default_rng(5)
    middles = rng.normal(size=(24, 4))
    middles *= np.repeat([0.5, 0.99, 1.0 - 1e-9], 8)[:, None] / np.linalg.norm(middles, axis=1, keepdims=True)
    near = np.repeat(1.0 - np.linalg.norm(middles, axis=1), COLUMNS)[:, None] * rng.normal(size=(24 * COLUMNS, 4))
    vectors = np.repeat(middles, COLUMNS, axis=0) + 0.1 * near
    coordinates, factor = SPACES["poincare"].ranking_coordinates(vectors)
    asked, k = np.arange(0, len(vectors), 150), 20
    codes, keys = engine.nearest(coordinates, factor, asked, k, 1)
    expected_codes, expected_keys = choose("cpu").nearest(coordinates, factor, asked, k, 1)
    assert np.array_equal(codes, expected_codes)
    assert np.array_equal(keys, expected_keys)
    # And by the definition: every node within the limit is in a tile that is marked.
    nodes = put_on_card(coordinates, factor, engine.device)
    limits = torch.from_numpy(expected_keys[:, -1].copy()).to(engine.device)
    marks = Glance(nodes).within(torch.from_numpy(asked).to(engine.device), limits).cpu().numpy()
    for number, found in enumerate(expected_codes):
        assert marks[number // ROWS, found // COLUMNS].all()
    assert marks.mean() < 0.6


def test_a_glance_looks_at_all_that_float32_does_not_hold(engine):
    if not engine.compares_all(1, 2):
        pytest.skip("this engine compares nothing in tiles")
    rng = np.random.default_rng(6)
    coordinates = rng.normal(size=(700, 2)) * 10.0 ** rng.uniform(-200, 100, (700, 1))
    factor = 10.0 ** rng.uniform(-60, 60, 700)
    asked = np.arange(0, 700, 30)
    codes, keys = engine.nearest(coordinates, factor, asked, 9, 1)
    expected_codes, expected_keys = choose("cpu").nearest(coordinates, factor, asked, 9, 1)
    assert np.array_equal(codes, expected_codes)
    assert np.array_equal(keys, expected_keys)
