"""A better place for one node after the other, while all others stay where they are: a loop of `methods.heal_seats`.

A node takes part in pairs in three ways. Its own positives should come before all others. For the nodes below, whose
positive it is, it should come before all that are none. For everybody else it should come after their positives. A
place is *harmless* if nobody is worse off than now: it has no worse ranks itself, and no other node loses a pair to it.
Of the harmless places the one is taken that leaves the least trouble, the node's own ill pairs and the nodes that it is
ill with or in the way of; if that is no less than now, the node stays.

Distances are compared by q = |u-v|^2 / ((1-|u|^2) (1-|v|^2)) = sinh^2(d/2).
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .placement import gap_of, put
from .rank import contains

# Places are tried around a node itself, at these parts of the distance to its nearest non-positive, and around each of
# its first parents, at these parts of the distance from there.
AROUND_ITSELF, AROUND_PARENTS, PARENTS = (0.02, 0.06, 0.2, 0.6), (0.5, 0.75, 1.0, 1.1), 4
# Of so many places without any trouble the best will do. So many nodes are remembered that a place did harm to: they
# are asked first about the next ones.
ENOUGH, REMEMBERED = 8, 32


@compiled
def reseat(
    movers, parent_ptr, parent_idx, positive_ptr, positive_idx, below_ptr, below_idx, near, directions, margin, norm,
    comparisons, vectors, reach, hold,
):  # fmt: skip
    """Give each of the `movers` in turn the best harmless place there is for it; -> how many moved.

    Parameters
    ----------
    movers : int64 (m,)
    parent_ptr, parent_idx : direct parents of every node, around which places are tried
    positive_ptr, positive_idx : positives of every node, ascending
    below_ptr, below_idx : the nodes that each node is a positive of
    near : int32 (n, k), non-positives near each mover, -1 for none
    directions : float64 (j, d), unit vectors
    margin : how many times as far as its farthest positive a node wants all others to be
    norm : largest norm of a place
    comparisons : after so many of two nodes, those who have not had their turn stay
    vectors : float64 (n, d), changed in place
    reach, hold : float64 (n,), q of the farthest positive of each node and of its nearest non-positive, 0 and inf where
        there is none; kept true, or stricter than true, as nodes move
    """
    n, dim = vectors.shape
    tries = directions.shape[0] * (len(AROUND_ITSELF) + PARENTS * len(AROUND_PARENTS))
    places = np.empty((1 + tries, dim))
    rim, guard, now, others = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    is_below = np.zeros(n, np.bool_)
    for node in range(n):
        rim[node] = gap_of(vectors[node])
        guard[node] = widened(reach[node], margin)
    moved, compared = 0, 0
    for node in movers:
        if compared > comparisons:
            break
        own = positive_idx[positive_ptr[node] : positive_ptr[node + 1]]
        parents = parent_idx[parent_ptr[node] : parent_ptr[node + 1]]
        below = below_idx[below_ptr[node] : below_ptr[node + 1]]
        count = _places(node, parents, near[node], directions, norm, vectors, places)
        is_below[below] = True
        chosen, looked_at = _least_trouble(
            node, places[:count], own, near[node], is_below, vectors, rim, reach, guard, hold, now, others
        )
        compared += looked_at
        if chosen > 0:
            moved += 1
            vectors[node] = places[chosen]
            rim[node] = gap_of(vectors[node])
            reach[node], hold[node] = 0.0, np.inf
            for other in range(n):
                if other == node:
                    continue
                q = _q(vectors[node], rim[node], vectors, rim, other)
                if contains(own, 0, own.size, other):
                    reach[node] = max(reach[node], q)
                else:
                    hold[node] = min(hold[node], q)
                if is_below[other]:
                    reach[other] = max(reach[other], q)
                    guard[other] = widened(reach[other], margin)
                else:
                    hold[other] = min(hold[other], q)
            guard[node] = widened(reach[node], margin)
        is_below[below] = False
    return moved


@compiled
def widened(q, margin):
    """The q of a distance that is `margin` times as long."""
    return math.sinh(margin * math.asinh(math.sqrt(q))) ** 2


@compiled
def _q(u, gap, vectors, rim, node):
    s = 0.0
    for k in range(u.size):
        s += (u[k] - vectors[node, k]) * (u[k] - vectors[node, k])
    return s / (gap * rim[node])


@compiled
def _places(node, parents, near, directions, norm, vectors, out):
    """Fill `out` with the place of now and those to try; -> how many."""
    out[0] = vectors[node]
    count = 1
    nearest, gap = np.inf, gap_of(vectors[node])
    for other in near:
        if other >= 0:
            s = np.sum(np.square(vectors[node] - vectors[other]))
            nearest = min(nearest, s / (gap * gap_of(vectors[other])))
    if nearest < np.inf:
        for part in AROUND_ITSELF:
            for direction in directions:
                put(vectors[node], direction, part * 2.0 * math.asinh(math.sqrt(nearest)), norm, out[count])
                count += 1
    for parent in parents[:PARENTS]:
        s = np.sum(np.square(vectors[node] - vectors[parent]))
        length = 2.0 * math.asinh(math.sqrt(s / (gap * gap_of(vectors[parent]))))
        for part in AROUND_PARENTS:
            for direction in directions:
                put(vectors[parent], direction, part * length, norm, out[count])
                count += 1
    return count


@compiled
def _least_trouble(node, places, own, near, is_below, vectors, rim, reach, guard, hold, now, others):
    """Which place is harmless and leaves the least trouble: 0, that of now, unless one leaves less; and comparisons.

    `now` (n,) and `others` (n,) are buffers. Of places with as little trouble that is taken whose nearest non-positive
    is the most times as far as the farthest positive.
    """
    n = vectors.shape[0]
    mine = np.empty(own.size)
    harmed, times = np.empty(REMEMBERED, np.int64), 0
    chosen, least, widest = 0, n + own.size, 0.0
    ill_now, passed_now, precision_now = own.size, 0, 0.0
    without, compared = 0, 0
    for place in range(places.shape[0]):
        point, gap = places[place], gap_of(places[place])
        farthest, closest, ill, fits = 0.0, np.inf, 0, True
        for j in range(own.size):
            mine[j] = _q(point, gap, vectors, rim, own[j])
            farthest = max(farthest, mine[j])
        # Most places fail here, and need not be compared with all nodes.
        for j in range(min(times, REMEMBERED)):
            q = _q(point, gap, vectors, rim, harmed[j])
            fits &= not _harms(q, is_below[harmed[j]], guard[harmed[j]], hold[harmed[j]], now[harmed[j]])
        for other in near:
            if other >= 0 and fits:
                closest = min(closest, _q(point, gap, vectors, rim, other))
        for j in range(own.size):
            ill += mine[j] >= closest
        compared += own.size + near.size
        most = least if chosen > 0 else least - 1
        if not fits or ill > min(ill_now, most):
            continue
        trouble, count = 0, 0
        for other in range(n):
            if other == node:
                continue
            q = _q(point, gap, vectors, rim, other)
            compared += 1
            if place == 0:
                now[other] = q
            if _harms(q, is_below[other], guard[other], hold[other], now[other]):
                harmed[times % REMEMBERED] = other
                times += 1
                fits = False
                break
            trouble += q >= hold[other] if is_below[other] else q <= reach[other]
            if trouble + ill > most:
                break
            if (q <= farthest or q < closest) and not contains(own, 0, own.size, other):
                closest = min(closest, q)
                if q <= farthest:
                    others[count] = q
                    count += 1
        if not fits or trouble + ill > most:
            continue
        ill, passed, precision = _standing(mine, others[:count])
        trouble += ill
        if place == 0:
            ill_now, passed_now, precision_now, least = ill, passed, precision, trouble
            if trouble == 0:
                break
        elif ill <= ill_now and passed <= passed_now and precision >= precision_now:
            width = closest / farthest if farthest > 0.0 else np.inf
            if trouble < least or (trouble == least and chosen > 0 and width > widest):
                chosen, least, widest = place, trouble, width
            without += trouble == 0
            if without == ENOUGH:
                break
    return chosen, compared


@compiled
def _harms(q, is_below, guard, hold, now):
    """Whether a node loses a pair to another at q, or may, that is its positive (it is below) or not."""
    return (q >= hold and q > now) if is_below else (q < guard and q < now)


@compiled
def _standing(own, others):
    """Ill pairs, how many others come before the positives in all, and average precision; of q of both, (p,), (m,)."""
    if others.size == 0:
        return 0, 0, 1.0
    own, others = np.sort(own), np.sort(others)
    ill, passed, precision, before = 0, 0, 0.0, 0
    for j in range(own.size):
        while before < others.size and others[before] <= own[j]:
            before += 1
        ill += before > 0
        passed += before
        precision += (j + 1) / (j + 1 + before)
    return ill, passed, precision / own.size
