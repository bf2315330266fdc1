"""Checks of the codes, edges and weights a hierarchy is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.cpu import graph
from ..engine.cpu.graph import read_only
from ..types import Codes, Pointers
from .names import Names


class CheckedEdges(NamedTuple):
    """Edges in CSR form, known to be acyclic with one root; ``order`` (m,) sorts the input edges by child."""

    order: Pointers
    parent_ptr: Pointers
    parent_idx: Codes
    child_ptr: Pointers
    child_idx: Codes
    topological_order: Codes
    root: int


def checked_edges(names: Names, child: ArrayLike, parent: ArrayLike) -> CheckedEdges:
    """CSR arrays of the edges child -> parent (m,); ValueError unless they form a DAG with one root."""
    n = len(names)
    if n == 0:
        raise ValueError("a hierarchy needs at least one node")
    low, high = _edge_codes(child, n, "child"), _edge_codes(parent, n, "parent")
    if low.size != high.size:
        raise ValueError(f"{low.size} children but {high.size} parents: an edge needs one of each")
    loops = np.flatnonzero(low == high)
    if loops.size:
        raise ValueError(f"node {names[int(low[loops[0]])]!r} is its own parent")

    parent_ptr, order = graph.stable_order(n, low)
    parent_ptr, parent_idx = read_only(parent_ptr, np.int64), read_only(high[order], np.int32)
    repeat = graph.first_repeat(parent_ptr, parent_idx)
    if repeat >= 0:
        edge = order[repeat]
        raise ValueError(f"edge {names[int(low[edge])]!r} -> {names[int(high[edge])]!r} occurs twice")
    child_ptr, order_by_parent = graph.stable_order(n, parent_idx)
    child_ptr, child_idx = read_only(child_ptr, np.int64), read_only(low[order][order_by_parent], np.int32)

    topological_order, reached = graph.topological_order(parent_ptr, child_ptr, child_idx)
    if reached < n:
        ordered = np.zeros(n, np.bool_)
        ordered[topological_order[:reached]] = True
        cycle = graph.one_cycle(parent_ptr, parent_idx, ordered)
        steps = [names[int(node)] for node in (*cycle[:5], cycle[0])]
        if cycle.size > 5:
            steps.insert(5, ...)
        raise ValueError(f"the edges form a cycle of {cycle.size:,} nodes: {_joined(steps, ' -> ')}")
    roots = np.flatnonzero(np.diff(parent_ptr) == 0)
    if roots.size > 1:
        tops = [names[int(node)] for node in roots[:5]] + [...] * (roots.size > 5)
        raise ValueError(
            f"{roots.size:,} roots ({_joined(tops, ', ')}) but there must be one: join them under a new node"
        )
    return CheckedEdges(
        order,
        parent_ptr,
        parent_idx,
        child_ptr,
        child_idx,
        read_only(topological_order, np.int32),
        int(roots[0]),
    )


def checked_codes(codes: NDArray[Any], n: int, what: str) -> Codes:
    """Flat read-only int32 codes; IndexError outside 0..n-1, since compiled code does not look."""
    if codes.size and codes.dtype.kind not in "iu":
        raise TypeError(f"{what} codes must be integers, not {codes.dtype}")
    if codes.size and not (codes.min() >= 0 and codes.max() < n):
        raise IndexError(f"{what} codes must lie in 0..{n - 1}, found {codes.min()}..{codes.max()}")
    return read_only(codes.ravel(), np.int32)


def checked_weights(weights: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    """Finite float64 weights (m,); ValueError otherwise."""
    array = np.asarray(weights, np.float64)
    if array.shape != (n_edges,):
        raise ValueError(f"{n_edges} edges but weights of shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"the weight of edge {bad[0]} is {array[bad[0]]}, not a finite number")
    return array


def _edge_codes(codes: ArrayLike, n: int, what: str) -> Codes:
    array = np.asarray(codes)
    if array.ndim != 1:
        raise ValueError(f"{what} codes must be one-dimensional, not of shape {array.shape}")
    try:
        return checked_codes(array, n, what)
    except (IndexError, TypeError) as error:
        raise ValueError(str(error)) from None


def _joined(names: Sequence[Any], separator: str) -> str:
    """Names as Python writes them, with ``...`` for an Ellipsis."""
    return separator.join("..." if name is ... else repr(name) for name in names)
