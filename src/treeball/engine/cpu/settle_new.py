"""Settling new nodes among many that stay: the inner loops of `methods.places`.

What a free place is, `settle` says. There every candidate is compared with all settled nodes; here trees of boxes
answer for them. With gaps a, s = |x-y|^2 and D_x the distance of x from its parent, x is in the way of y when

    s / a_x <= a_y sinh^2(r/2)        x is within the reach r of y: it would be nearer to y than the parent of y is;
    s / (a_x sinh^2(D_x/2)) <= a_y    y would be nearer to x than the parent of x is,

so one tree has the factors 1 / a_x and the other 1 / (a_x sinh^2(D_x/2)).

The new children of a node that are equally tall are a *group*. They take directions of one fan, at a length at which
its neighbours do not disturb each other: each direction is looked at once, and none is compared with its siblings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .box_search import any_within, block_keys, new_stack, next_block, surround
from .box_tree import Tree
from .compiler import compiled
from .placement import direction_to, first_share, gap_of, put
from .settle import STEEPEST, distance, half_sinh2

STEP = 1.3  # from one length that is tried to the next
LONGER, SHORTER = 3, 6  # how many are tried on either side of the preferred one
# In groups of many a length is given up of which hardly any direction is free: of GLANCE less than one in RARE.
MANY, GLANCE, RARE = 32, 256, 50
TURNS_AWAY = 12  # from who is in the way, of a direction in the last attempt

HARMFUL, HARMLESS, FREE = 0, 1, 2


class Around(NamedTuple):
    """Settled nodes, in two trees over the same points, and the place among them of every node, -1 for others."""

    near: Tree
    guarded: Tree
    seat: np.ndarray


class Groups(NamedTuple):
    """The nodes that want a place.

    Attributes
    ----------
    nodes : int64 (m,), group after group
    begin : int64 (g+1,), where each group begins
    share, shares : int64 (g,), a large group is cut into shares: this one takes every `shares`-th direction of the fan
    fan_begin, fan_end : int64 (g,), the rows of its fan
    least, roomy : float64 (g,), length at which the whole fan just has room, and at which it takes up little of it
    """

    nodes: np.ndarray
    begin: np.ndarray
    share: np.ndarray
    shares: np.ndarray
    fan_begin: np.ndarray
    fan_end: np.ndarray
    least: np.ndarray
    roomy: np.ndarray


@compiled
def _anyone_within(tree, u, limit, excluded, stack, keys, who):
    """Whether a point of the tree but `excluded` (or -1), near which the search begins, has a key up to the limit.

    `who` becomes such a point.
    """
    if excluded >= 0:
        block, top = tree.place[excluded] // keys.size, -1
    else:
        block, top = next_block(tree, u, limit, stack, surround(tree, u, limit, -1, stack))
    while block >= 0:
        block_keys(tree, block, u, keys)
        if any_within(keys, limit):
            for w in range(keys.size):
                if keys[w] <= limit and tree.codes[block * keys.size + w] != excluded:
                    who[:] = tree.blocks[block, :, w]
                    return True
        if top < 0:
            top = surround(tree, u, limit, block, stack)
        block, top = next_block(tree, u, limit, stack, top)
    return False


@compiled
def _someone_earlier(tree, u, limit, own, stack, keys):
    """Whether a point of the tree with a number below `own` has a key up to the limit."""
    block, top = tree.place[own] // keys.size, -1
    while block >= 0:
        block_keys(tree, block, u, keys)
        if any_within(keys, limit):
            for w in range(keys.size):
                if keys[w] <= limit and 0 <= tree.codes[block * keys.size + w] < own:
                    return True
        if top < 0:
            top = surround(tree, u, limit, block, stack)
        block, top = next_block(tree, u, limit, stack, top)
    return False


@compiled
def in_the_way(near, points, length, margin, begin, end, out):
    """Whether each of the points begin to end and an earlier one are in each other's way, bool `out` (m,).

    `near` is a tree over the points (m, d), `length` (m,) their distances from their parents, ascending: so the reach
    of the later one of two is all that counts.
    """
    stack, keys = new_stack(near), np.empty(near.blocks.shape[2])
    for i in range(begin, end):
        limit = gap_of(points[i]) * half_sinh2(margin * length[i])
        out[i] = _someone_earlier(near, points[i], limit, i, stack, keys)


@compiled
def _lengths(least, share, left, most, need, roomy, out):
    """Edge lengths to try, the preferred first; -> how many. `share` is what a node may use of what is `left`.

    Many siblings prefer a length at which they take up little of the room (`roomy`), for who comes later, but not all
    that is left below them; with less than `need` they have none. Shorter ones before longer ones: around a crowded
    node the angle that a new child needs is smallest if its edge is about as long as those of its siblings. The last
    resort is the shortest that grows outwards.
    """
    first = max(least, share, min(need, most), min(roomy, most / 3.0))
    out[0] = first
    count, length = 1, first
    for _ in range(SHORTER):
        length /= STEP
        if length > max(least, need):
            out[count] = length
            count += 1
    length = first
    for _ in range(LONGER):
        length *= STEP
        if length < left:
            out[count] = length
            count += 1
    if max(0.0, need) < least < first:
        out[count] = least
        count += 1
    return count


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
def _judge(place, length, margin, old, recent, above, stack, other_stack, keys, who):
    """Whether a place at a distance from its parent is FREE, HARMLESS to all who are settled, or neither.

    `who` becomes the place of a node that is in the way.
    """
    gap = gap_of(place)
    if _anyone_within(old.guarded, place, gap, old.seat[above], stack, keys, who):
        return HARMFUL
    if _anyone_within(recent.guarded, place, gap, recent.seat[above], other_stack, keys, who):
        return HARMFUL
    limit = gap * half_sinh2(margin * length)
    if _anyone_within(old.near, place, limit, old.seat[above], stack, keys, who):
        return HARMLESS
    if _anyone_within(recent.near, place, limit, recent.seat[above], other_stack, keys, who):
        return HARMLESS
    return FREE


@compiled
def _turn_away(at, who, length, direction, towards):
    """Turn a direction of `at` away from a node in the way, as far as siblings need; False if it is `at` itself.

    From one such turn to the next it comes to where the largest gap nearby is.
    """
    if not direction_to(at, who, towards):
        return False
    cosine, edge = 0.0, distance(at, who)
    for k in range(at.size):
        cosine += direction[k] * towards[k]
    angle = np.arccos(min(1.0, max(-1.0, cosine)))
    needed = np.arccos(min(1.0, np.tanh(0.5 * min(edge, length)) / np.tanh(max(edge, length))))
    turn = max(1.02 * needed - angle, 0.1 * needed)
    norm2 = 0.0
    for k in range(at.size):
        towards[k] = cosine * direction[k] - towards[k]
        norm2 += towards[k] * towards[k]
    if not norm2 > 0.0:
        return False
    for k in range(at.size):
        direction[k] = np.cos(turn) * direction[k] + np.sin(turn) * towards[k] / np.sqrt(norm2)
    return True


@compiled
def settle_groups(turns, groups, rows, turnings, parent, height, old, recent, attempts, longest, vectors, status):
    """Find places for the nodes of some groups, changing `vectors` in place; groups do not know of each other.

    Parameters
    ----------
    turns : int64, numbers of groups
    groups : Groups
    rows : float64 (r, d), the directions of all fans
    turnings : float64 (t, d, d), turned by which a fan is tried again
    parent, height : int32 (n,)
    old, recent : Around, the settled nodes
    attempts : float64 (a, 3), budget, growth and margin as in `settle.settle`, to try one after the other
    longest : preferred length of long edges
    vectors : float64 (n, d)
    status : int8 (m,), out: FREE where a free place was found; else the node goes where it makes no settled node ill,
        or (HARMFUL) if there is no such place either, to the last one tried
    """
    dim, tight = vectors.shape[1], attempts[-1, 2]
    stack, other_stack = new_stack(old.near), new_stack(recent.near)
    keys, lengths = np.empty(old.near.blocks.shape[2]), np.empty(2 + SHORTER + LONGER)
    place, direction, origin = np.zeros(dim), np.empty(dim), np.zeros(dim)
    who, towards = np.empty(dim), np.empty(dim)
    for group in turns:
        node, end = groups.begin[group], groups.begin[group + 1]
        many = end - node > MANY
        above = parent[groups.nodes[node]]
        tall = height[groups.nodes[node]]
        at = vectors[above]
        edge = distance(at, vectors[parent[above]]) if parent[above] >= 0 else 0.0
        fan = rows[groups.fan_begin[group] : groups.fan_end[group]]
        spare, spared = np.empty((end - node, dim)), 0
        for attempt in range(attempts.shape[0]):
            budget, growth, margin = attempts[attempt]
            norm = np.tanh(0.5 * budget)
            left = budget - distance(at, origin)
            log_growth = min(2.0 * np.log(growth), STEEPEST / height[above])
            tallest = left * first_share(height[above], log_growth)
            most = left * first_share(tall + 1, log_growth)
            # One node alone needs no room beside itself.
            need = groups.least[group] if end - node > 1 else 0.0
            tries = _lengths(
                edge * growth, min(most, longest * min(1.0, tallest)), left, most, need, groups.roomy[group], lengths
            )
            # A quarter of the directions will do for most.
            last = turnings.shape[0] if attempt == attempts.shape[0] - 1 else (turnings.shape[0] + 3) // 4
            for t in range(tries):
                looked_at, free = 0, 0
                for turn in range(last):
                    turning = turnings[(above + last * t + turn) % turnings.shape[0]]
                    for row in range(groups.share[group], fan.shape[0], groups.shares[group]):
                        if node == end:
                            break
                        if many and looked_at >= GLANCE and free * RARE < looked_at:
                            break
                        looked_at += 1
                        for k in range(dim):
                            direction[k] = 0.0
                            for q in range(dim):
                                direction[k] += turning[k, q] * fan[row, q]
                        for turned in range(1 + (TURNS_AWAY if attempt == attempts.shape[0] - 1 and turn == 0 else 0)):
                            if turned > 0 and not _turn_away(at, who, lengths[t], direction, towards):
                                break
                            if put(at, direction, lengths[t], norm, place):
                                _at_the_rim(at, direction, lengths[t], budget, place)
                            # At the rim the place is not quite where it should be: what counts is where it is.
                            length = distance(place, at)
                            if length <= tight * edge or not length > 0.0:
                                break
                            found = _judge(place, length, margin, old, recent, above, stack, other_stack, keys, who)
                            if found == FREE:
                                vectors[groups.nodes[node]] = place
                                status[node] = FREE
                                node += 1
                                free += 1
                                break
                            if found == HARMLESS and spared < spare.shape[0]:
                                spare[spared] = place
                                spared += 1
        for i in range(node, end):
            status[i] = HARMLESS if spared > 0 else HARMFUL
            vectors[groups.nodes[i]] = spare[(i - node) % spared] if spared > 0 else place
