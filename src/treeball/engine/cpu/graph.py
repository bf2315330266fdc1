"""Compiled passes over a directed graph given as edges child -> parent or as CSR arrays.

Every function is iterative (a chain of a million nodes must work) and linear in nodes plus edges. Pointers
are int64, node codes int32; inputs are read-only arrays, so that each kernel compiles once.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...types import Codes, Mask, Pointers
from .compiler import compiled

_Scalar = TypeVar("_Scalar", bound=np.generic)


def read_only(array: ArrayLike, dtype: type[_Scalar]) -> NDArray[_Scalar]:
    """Contiguous read-only view (or copy) of ``array`` as ``dtype``; the array itself keeps its flags."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


@compiled
def stable_order(n: int, key: Codes) -> tuple[Pointers, Pointers]:
    """Stable counting sort of edges by ``key`` (m,): pointers (n+1,) and the edge numbers (m,) in order."""
    pointers = np.zeros(n + 1, np.int64)
    for edge in range(key.size):
        pointers[key[edge] + 1] += 1
    for node in range(n):
        pointers[node + 1] += pointers[node]
    slot = pointers[:n].copy()
    order = np.empty(key.size, np.int64)
    for edge in range(key.size):
        node = key[edge]
        order[slot[node]] = edge
        slot[node] += 1
    return pointers, order


@compiled
def first_repeat(pointers: Pointers, index: Codes) -> int:
    """Position in ``index`` of the first code that occurs twice in the list of one node; -1 if none does."""
    seen_by = np.full(pointers.size - 1, -1, np.int32)
    for node in range(pointers.size - 1):
        for position in range(pointers[node], pointers[node + 1]):
            other = index[position]
            if seen_by[other] == node:
                return position
            seen_by[other] = node
    return -1


@compiled
def sort_lists(pointers: Pointers, index: Codes) -> Codes:
    """Copy of ``index`` (m,) with the list of every node in ascending order."""
    ordered = index.copy()
    for node in range(pointers.size - 1):
        first, end = pointers[node], pointers[node + 1]
        if end - first > 1:
            ordered[first:end] = np.sort(index[first:end])
    return ordered


@compiled
def topological_order(parent_ptr: Pointers, child_ptr: Pointers, child_idx: Codes) -> tuple[Codes, int]:
    """Kahn's order (n,), parents first, and how many nodes it holds (all unless there is a cycle)."""
    n = parent_ptr.size - 1
    order = np.empty(n, np.int32)
    missing = np.empty(n, np.int32)
    filled = 0
    for node in range(n):
        missing[node] = parent_ptr[node + 1] - parent_ptr[node]
        if missing[node] == 0:
            order[filled] = node
            filled += 1
    done = 0
    while done < filled:
        node = order[done]
        done += 1
        for position in range(child_ptr[node], child_ptr[node + 1]):
            child = child_idx[position]
            missing[child] -= 1
            if missing[child] == 0:
                order[filled] = child
                filled += 1
    return order, filled


@compiled
def one_cycle(parent_ptr: Pointers, parent_idx: Codes, ordered: Mask) -> Codes:
    """Nodes of one cycle, each followed by one of its parents, among the nodes that Kahn's order left out.

    Each such node has a parent that was left out too, so climbing through those must come round.
    """
    n = parent_ptr.size - 1
    step_of = np.full(n, -1, np.int64)
    path = np.empty(n, np.int32)
    node = 0
    while ordered[node]:
        node += 1
    length = 0
    while step_of[node] < 0:
        step_of[node] = length
        path[length] = node
        length += 1
        for position in range(parent_ptr[node], parent_ptr[node + 1]):
            if not ordered[parent_idx[position]]:
                node = parent_idx[position]
                break
    return path[step_of[node] : length].copy()


def find_back_edges(n: int, child: ArrayLike, parent: ArrayLike) -> Mask:
    """Edges whose removal makes the graph acyclic.

    Edges are taken in the order given; one that closes a cycle with the edges kept before it is removed. No
    more than needed is removed (putting back any one edge closes a cycle), unless the graph is so large and
    tangled, as no hierarchy is, that the search is cut short.

    Parameters
    ----------
    n
        Number of nodes.
    child, parent
        Codes (m,) of the edges child -> parent; repeats and self-loops are allowed.

    Returns
    -------
    mask
        True (m,) for the edges to remove. Nothing is removed from an acyclic graph.
    """
    child_codes, parent_codes = read_only(child, np.int32), read_only(parent, np.int32)
    pointers, order = stable_order(n, child_codes)
    position = climb_order(read_only(pointers, np.int64), read_only(np.take(parent_codes, order), np.int32))
    closing = position[child_codes] >= position[parent_codes]
    if not closing.any():
        return np.asarray(closing)
    budget = 20 * (n + child_codes.size) + 20_000_000
    removed: Mask = edges_closing_cycles(child_codes, parent_codes, position, budget)
    return removed


@compiled
def climb_order(parent_ptr: Pointers, parent_idx: Codes) -> Codes:
    """Position (n,) of each node in an order that puts children before parents, but for edges on cycles."""
    n = parent_ptr.size - 1
    position = np.full(n, -1, np.int32)
    entered = np.zeros(n, np.bool_)
    next_edge = parent_ptr[:n].copy()
    path = np.empty(n, np.int32)
    last = n - 1
    for start in range(n):
        if entered[start]:
            continue
        entered[start] = True
        path[0] = start
        length = 1
        while length > 0:
            node = path[length - 1]
            if next_edge[node] == parent_ptr[node + 1]:
                position[node] = last
                last -= 1
                length -= 1
                continue
            above = parent_idx[next_edge[node]]
            next_edge[node] += 1
            if not entered[above]:
                entered[above] = True
                path[length] = above
                length += 1
    return position


@compiled
def edges_closing_cycles(child: Codes, parent: Codes, position: Codes, budget: int) -> Mask:
    """Insert the edges one by one while keeping ``position`` (n,), changed in place, a topological order.

    An edge that agrees with the order costs nothing. For one that does not, only nodes placed between its two
    ends are searched: if the child can be reached from the parent, the edge closes a cycle; otherwise the
    nodes found change places. Should these searches ever use up ``budget`` steps, later edges that disagree
    with the order are removed unseen: the rest is still acyclic, only more is removed than needed.
    """
    n, m = position.size, child.size
    removed = np.zeros(m, np.bool_)
    node_at = np.empty(n, np.int32)
    for node in range(n):
        node_at[position[node]] = node
    # Kept edges as linked lists, for they arrive one at a time: last_up[node] is the newest edge to a parent.
    last_up, last_down = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    next_up, next_down = np.empty(m, np.int64), np.empty(m, np.int64)
    stamp = np.full(n, -1, np.int64)
    above, below = np.empty(n, np.int32), np.empty(n, np.int32)
    for edge in range(m):
        low, high = child[edge], parent[edge]
        if position[low] >= position[high]:
            removed[edge] = low == high or budget <= 0
            n_above = n_below = 0
            if not removed[edge]:
                stamp[high] = edge
                above[0] = high
                n_above = 1
                done = 0
                while done < n_above and not removed[edge]:
                    link = last_up[above[done]]
                    done += 1
                    while link >= 0:
                        budget -= 1
                        node = parent[link]
                        if node == low:
                            removed[edge] = True
                            break
                        if stamp[node] != edge and position[node] < position[low]:
                            stamp[node] = edge
                            above[n_above] = node
                            n_above += 1
                        link = next_up[link]
            if removed[edge]:
                continue
            stamp[low] = edge
            below[0] = low
            n_below = 1
            done = 0
            while done < n_below:
                link = last_down[below[done]]
                done += 1
                while link >= 0:
                    budget -= 1
                    node = child[link]
                    if stamp[node] != edge and position[node] > position[high]:
                        stamp[node] = edge
                        below[n_below] = node
                        n_below += 1
                    link = next_down[link]
            # The places of both groups are dealt out again: all below before all above, each in old order.
            below_places = np.sort(position[below[:n_below]])
            above_places = np.sort(position[above[:n_above]])
            places = np.sort(np.concatenate((below_places, above_places)))
            moved = node_at[np.concatenate((below_places, above_places))]
            budget -= 10 * places.size  # what sorting costs beside following a link
            for rank in range(places.size):
                position[moved[rank]] = places[rank]
                node_at[places[rank]] = moved[rank]
        next_up[edge] = last_up[low]
        last_up[low] = edge
        next_down[edge] = last_down[high]
        last_down[high] = edge
    return removed
