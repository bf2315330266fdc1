"""Pairs (node, ancestor) of a file as codes of a model, and how much of them the model's own hierarchy knows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..types import Ints, Mask

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..hierarchy import Hierarchy

__all__ = ["GivenPairs", "given_pairs", "read_pairs"]


@dataclass(frozen=True, repr=False)
class GivenPairs:
    """Pairs of a file of which the model has both nodes.

    Attributes
    ----------
    node, parent : int64 (pairs,)
        Codes, by node.
    implied : bool (pairs,)
        Whether the edges of the model's hierarchy have the parent above the node: transitivity alone answers these.
    known : bool (pairs,)
        Whether the model was trained on the pair: one of its edges or, with the objective ancestors, any that is
        implied.
    orphaned : bool (pairs,)
        Whether the node hangs from nothing in the model's hierarchy.
    missing
        For each other pair of the file a name that the model lacks.
    """

    node: Ints
    parent: Ints
    implied: Mask
    known: Mask
    orphaned: Mask
    missing: list[Hashable]

    def __len__(self) -> int:
        return self.node.size

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON: how many there are of each kind."""
        return {
            "pairs": len(self),
            "skipped": len(self.missing),
            "implied": int(self.implied.sum()),
            "known": int(self.known.sum()),
            "orphaned": int(self.orphaned.sum()),
        }


def read_pairs(source: Any) -> Hierarchy:
    """Pairs of a file or of anything else that :func:`treeball.read` takes.

    Where no header says otherwise, children come before parents: pairs that were held out have no structure to tell.
    """
    from ..io.readers import read

    return read(source, reduce="never", direction="header")


def given_pairs(embedding: Embedding, source: Any, what: str) -> GivenPairs:
    """Pairs that :func:`read_pairs` reads from `source`, as codes; `what` names them if need be."""
    pairs = read_pairs(source)
    names, hierarchy = embedding.names, embedding.hierarchy
    meant = [names.look_up(name) for name in pairs.names]
    code = np.array([codes[0] if len(codes) == 1 else -1 for codes in meant], np.int64)
    child, above = pairs.real_edges()
    node, parent = code[child], code[above]
    found = (node >= 0) & (parent >= 0)
    lacking = np.where(node < 0, child, above)[~found]
    if not found.any():
        label = pairs.report.source if pairs.report is not None else what
        raise InputError(
            f"no pair of {label} has both nodes in the model, which lacks {pairs.names[int(lacking[0])]!r} for one: "
            "insert the new nodes first, or hold out edges instead of leaves"
        )
    node, parent = node[found], parent[found]
    order = np.lexsort((parent, node))
    node, parent = node[order], parent[order]
    implied = hierarchy.is_ancestor(parent, node)
    top = hierarchy.primary_parent[node]
    return GivenPairs(
        node,
        parent,
        implied,
        implied if embedding.objective == "ancestors" else hierarchy.is_parent(parent, node),
        (top < 0) | (top == (-1 if hierarchy.virtual_root is None else hierarchy.virtual_root)),
        pairs.names.take(lacking),
    )
