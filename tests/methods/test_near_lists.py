"""The lists of a softmax: the nearest non-positives, however many positives a node has."""

import numpy as np

from tests import trees
from treeball import Hierarchy
from treeball.geometry import poincare
from treeball.geometry.spaces import BALL
from treeball.methods.near_lists import NEAREST, nearest_non_positives


def test_a_node_with_many_positives_has_a_full_list_of_others():
    long, leaves = NEAREST + 60, 40
    chain = trees.chain(long)
    child = np.append(chain.child, np.arange(long, long + leaves))
    parent = np.append(chain.parent, np.zeros(leaves, np.int64))
    n = long + leaves
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(n)], child, parent)
    vectors = poincare.from_normal(np.random.default_rng(0).normal(size=(n, 3)))
    coordinates, factor = BALL.ranking_coordinates(vectors)
    # The last of the chain has all others of it as ancestors, and the leaves beside it; node 30 has 30 ancestors.
    near = nearest_non_positives(coordinates, factor, hierarchy, "ancestors", np.array([long - 1, 30]), 1)
    assert near[long - 1].tolist() == [-1] * (NEAREST - leaves) + list(range(long, n))
    others = np.arange(31, n)
    nearest = others[np.argsort(poincare.distance(vectors[30], vectors[others]))][:NEAREST]
    assert near[30].tolist() == sorted(nearest)
    assert (near[0] == -1).all()
