"""Nearest nodes, exactly: the one room that searches for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from .kept import Kept, nearest_kept
    from .search import nearest_nodes, nodes_within_reach, ranked_distances, search_tree

__all__ = ["Kept", "nearest_kept", "nearest_nodes", "nodes_within_reach", "ranked_distances", "search_tree"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Kept": "kept",
        "nearest_kept": "kept",
        "nearest_nodes": "search",
        "nodes_within_reach": "search",
        "ranked_distances": "search",
        "search_tree": "search",
    },
)
