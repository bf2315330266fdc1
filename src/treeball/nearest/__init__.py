"""Nearest nodes, exactly: the one room that searches for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from .search import nearest_nodes, nodes_within_reach, ranked_distances, search_tree

__all__ = ["nearest_nodes", "nodes_within_reach", "ranked_distances", "search_tree"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "nearest_nodes": "search",
        "nodes_within_reach": "search",
        "ranked_distances": "search",
        "search_tree": "search",
    },
)
