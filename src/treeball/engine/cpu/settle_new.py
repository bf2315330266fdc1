"""Settling new nodes among thousands of old ones that stay: the inner loop of `methods.insert`.

What a free place is, `settle` says. There every candidate is compared with all settled nodes; here two trees of boxes
answer for the old ones. With gaps a, s = |x-y|^2 and D_x the distance of x from its parent, x is in the way of y when

    s / a_x <= a_y sinh^2(r/2)        x is within the reach r of y: it would be nearer to y than the parent of y is;
    s / (a_x sinh^2(D_x/2)) <= a_y    y would be nearer to x than the parent of x is,

so one tree has the factors 1 / a_x and the other 1 / (a_x sinh^2(D_x/2)).
"""

from __future__ import annotations

import numpy as np

from .box_search import any_within, block_keys, new_stack, next_block, surround
from .compiler import compiled
from .placement import first_share, gap_of, put
from .settle import STEEPEST, WIDTH, distance, half_sinh2, is_free

STEP = 1.3  # from one length that is tried to the next
LONGER, SHORTER = 3, 6  # how many are tried on either side of the preferred one


@compiled
def _anyone_within(tree, u, limit, excluded, stack, keys):
    """Whether a point of the tree but `excluded` (or -1), near which the search begins, has a key up to the limit."""
    if excluded >= 0:
        block, top = tree.place[excluded] // keys.size, -1
    else:
        block, top = next_block(tree, u, limit, stack, surround(tree, u, limit, -1, stack))
    while block >= 0:
        block_keys(tree, block, u, keys)
        if any_within(keys, limit):
            for w in range(keys.size):
                if keys[w] <= limit and tree.codes[block * keys.size + w] != excluded:
                    return True
        if top < 0:
            top = surround(tree, u, limit, block, stack)
        block, top = next_block(tree, u, limit, stack, top)
    return False


@compiled
def _lengths(least, share, left, out):
    """Edge lengths to try, the preferred first; -> how many. `share` is what a node may use of what is `left`.

    Shorter ones before longer ones: around a crowded node the angle that a new child needs is smallest if its edge is
    about as long as those of its siblings. The last resort is the shortest that grows outwards.
    """
    first = max(least, share)
    out[0] = first
    count, length = 1, first
    for _ in range(SHORTER):
        length /= STEP
        if length > least:
            out[count] = length
            count += 1
    length = first
    for _ in range(LONGER):
        length *= STEP
        if length < left:
            out[count] = length
            count += 1
    if 0.0 < least < first:
        out[count] = least
        count += 1
    return count


@compiled
def _outward(j, node, directions, at, out):
    """The j-th direction to try for a node around its parent `at`: three of four lead outwards, where there is room."""
    row = directions[(node + j) % directions.shape[0]]
    across = 0.0
    for k in range(at.size):
        across += row[k] * at[k]
    sign = -1.0 if across < 0.0 and j % 4 != 3 else 1.0
    for k in range(at.size):
        out[k] = sign * row[k]


@compiled
def _at_the_rim(at, direction, length, budget, out):
    """The point `out` at radius `budget` and at a distance from `at`, on the side of a direction; False if none is.

    Below the outermost nodes there is no room outwards, but there is sideways: the way to such a place leads back along
    the edge above and leaves it halfway. With R = budget, r the radius of `at` and t the angle at the origin,
    sin^2(t/2) = (cosh l - cosh(R - r)) / (2 sinh r sinh R).
    """
    norm2, along = 0.0, 0.0
    for k in range(at.size):
        norm2 += at[k] * at[k]
        along += at[k] * direction[k]
    if not norm2 > 0.0:
        return False
    norm, across2 = np.sqrt(norm2), 1.0 - along * along / norm2
    radius = 2.0 * np.arctanh(norm)
    sine2 = (np.cosh(length) - np.cosh(budget - radius)) / (2.0 * np.sinh(radius) * np.sinh(budget))
    if not (0.0 < sine2 < 1.0 and across2 > 1e-6):
        return False
    sine = 2.0 * np.sqrt(sine2 * (1.0 - sine2) / across2)
    for k in range(at.size):
        unit = at[k] / norm
        out[k] = np.tanh(0.5 * budget) * (unit - 2.0 * sine2 * unit + sine * (direction[k] - along / norm * unit))
    return True


@compiled
def settle_new(loose, parent, height, seat, near, guarded, attempts, longest, directions, vectors, found):
    """Settle the nodes `loose` one after the other among those in the trees, changing `vectors` in place.

    Parameters
    ----------
    loose : int64 (m,), parents before children; of siblings the tallest first, for it needs the most room
    parent, height : int32 (n,)
    seat : int64 (n,), the place of each settled node among the points of the trees, -1 for all others
    near, guarded : Tree, the settled nodes with the two kinds of factors above
    attempts : float64 (a, 3), budget, growth and margin as in `settle.settle`, to try one after the other
    longest : preferred length of long edges
    directions : float64 (k, d), unit vectors to try
    vectors : float64 (n, d)
    found : bool (m,), out: whether a free place was found; a node without one goes where it makes no settled node ill,
        or, if there is no such place either, to the last one tried
    """
    dim, tight = vectors.shape[1], attempts[-1, 2]
    slot = np.full(vectors.shape[0], -1, np.int64)
    blocks = np.zeros(((loose.size + WIDTH - 1) // WIDTH, dim, WIDTH))
    inverse_gap = np.full((blocks.shape[0], WIDTH), np.inf)
    hold = np.zeros((blocks.shape[0], WIDTH))
    closeness, keys = np.empty(WIDTH), np.empty(near.blocks.shape[2])
    stack, lengths = new_stack(near), np.empty(2 + SHORTER + LONGER)
    place, direction, origin, harmless = np.empty(dim), np.empty(dim), np.zeros(dim), np.empty(dim)
    for i in range(loose.size):
        node = loose[i]
        above = parent[node]
        at = vectors[above]
        edge = distance(at, vectors[parent[above]]) if parent[above] >= 0 else 0.0
        own, b, w, kept = slot[above], 0, 0, 0.0
        if own >= 0:  # the parent, itself new, is allowed to be near
            b, w = own // WIDTH, own % WIDTH
            kept, inverse_gap[b, w] = inverse_gap[b, w], np.inf
        free, some_harmless = False, False
        for attempt in range(attempts.shape[0]):
            budget, growth, margin = attempts[attempt]
            norm = np.tanh(0.5 * budget)
            left = budget - distance(at, origin)
            log_growth = min(2.0 * np.log(growth), STEEPEST / height[above])
            tallest = left * first_share(height[above], log_growth)
            share = min(left * first_share(height[node] + 1, log_growth), longest * min(1.0, tallest))
            tries = _lengths(edge * growth, share, left, lengths)
            # A quarter of the directions will do for most.
            last = directions.shape[0] if attempt == attempts.shape[0] - 1 else (directions.shape[0] + 3) // 4
            for t in range(tries):
                for j in range(last):
                    _outward(j, node, directions, at, direction)
                    if put(at, direction, lengths[t], norm, place):
                        _at_the_rim(at, direction, lengths[t], budget, place)
                    # At the rim the place is not quite where it should be: what counts is where it is.
                    length, gap = distance(place, at), gap_of(place)
                    if length <= tight * edge or not length > 0.0:
                        continue
                    if _anyone_within(guarded, place, gap, seat[above], stack, keys):
                        continue
                    if not some_harmless:
                        some_harmless = True
                        harmless[:] = place
                    reach = half_sinh2(margin * length)
                    if _anyone_within(near, place, gap * reach, seat[above], stack, keys):
                        continue
                    free = is_free(place, reach, blocks, inverse_gap, hold, i, closeness)
                    if free:
                        break
                if free:
                    break
            if free:
                break
        if some_harmless and not free:
            place[:] = harmless
        found[i] = free
        vectors[node] = place
        if own >= 0:
            inverse_gap[b, w] = kept
        slot[node] = i
        b, w = i // WIDTH, i % WIDTH
        for k in range(dim):
            blocks[b, k, w] = place[k]
        inverse_gap[b, w] = 1.0 / gap_of(place)
        hold[b, w] = half_sinh2(tight * distance(place, at))
