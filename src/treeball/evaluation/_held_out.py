"""Link prediction: where held-out parents rank among all nodes that a node could hang from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..types import Ints, Objective

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["HeldOut", "evaluate_held_out"]


@dataclass(frozen=True, repr=False)
class HeldOut:
    """Filtered ranks of held-out pairs.

    The rank of a pair (A, B) is 1 + the number of candidates that are at least as close to A as B. No candidates are A
    itself, its positives in the model (parents or ancestors, by the objective), the other held-out nodes of A, its
    descendants in the model (a parent among them would make a cycle), and a virtual root.

    Attributes
    ----------
    node, parent : int64 (pairs,)
        Codes of A and B, by A.
    ranks : int64 (pairs,)
    skipped, skipped_example
        How many pairs name a node that the model does not have, and one such name.
    known
        How many pairs are among the model's own.
    """

    node: Ints
    parent: Ints
    ranks: Ints
    objective: Objective
    skipped: int = 0
    skipped_example: str | None = None
    known: int = 0

    def __repr__(self) -> str:
        return f"<HeldOut: {self.ranks.size:,} pairs, MAP {self.map:.4f}, mean rank {self.mean_rank:.3f}>"

    @property
    def mean_rank(self) -> float:
        """Mean rank over pairs."""
        return float(self.ranks.mean())

    @property
    def mean_reciprocal_rank(self) -> float:
        """Mean of 1 / rank over pairs."""
        return float((1.0 / self.ranks).mean())

    @property
    def map(self) -> float:
        """Mean over nodes A of the average precision of its held-out parents."""
        order = np.lexsort((self.ranks, self.node))
        first = np.flatnonzero(np.diff(self.node[order], prepend=-1))
        place = np.arange(order.size) - np.repeat(first, np.diff(first, append=order.size)) + 1
        # The i-th nearest held-out parent has i - 1 others before it, which its filtered rank does not count.
        precision = place / (self.ranks[order] + place - 1)
        return float((np.add.reduceat(precision, first) / np.diff(first, append=order.size)).mean())

    def hits_at(self, k: int) -> float:
        """Share of pairs with a rank of at most k."""
        return float((self.ranks <= k).mean())

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return {
            "pairs": int(self.ranks.size),
            "objective": self.objective,
            "map": self.map,
            "mean_rank": self.mean_rank,
            "mean_reciprocal_rank": self.mean_reciprocal_rank,
            "hits_at_1": self.hits_at(1),
            "hits_at_3": self.hits_at(3),
            "hits_at_10": self.hits_at(10),
            "skipped": self.skipped,
            "known": self.known,
        }

    def rows(self) -> list[tuple[str, str]]:
        """A table for a person."""
        rows = [
            ("held-out pairs", f"{self.ranks.size:,}"),
            ("MAP", f"{self.map:.4f}"),
            ("mean rank", f"{self.mean_rank:.3f}"),
            ("mean reciprocal rank", f"{self.mean_reciprocal_rank:.4f}"),
            ("hits@1, 3, 10", ", ".join(f"{self.hits_at(k):.4f}" for k in (1, 3, 10))),
        ]
        if self.skipped:
            rows.append(
                ("skipped", f"{self.skipped:,} pairs with a node the model lacks, such as {self.skipped_example}")
            )
        if self.known:
            rows.append(("not held out", f"{self.known:,} pairs are in the model's own hierarchy"))
        return rows


def evaluate_held_out(
    embedding: Embedding, held_out: Any, objective: Objective | None = None, *, threads: int = 0
) -> HeldOut:
    """Rank held-out parents by their distance.

    Parameters
    ----------
    held_out
        Pairs (node, parent), in this order: a file that :func:`treeball.split` wrote, or anything
        :func:`treeball.read` takes.
    objective
        Whether a node's known parents or all its known ancestors are left out of the ranking; by default what the model
        was trained for.
    threads
        0 uses all cores.
    """
    from ..io.readers import read

    objective = objective or embedding.objective
    pairs = read(held_out, reduce="never", direction="child-parent")
    node, parent, missing = _in_the_model(pairs, embedding)
    label = pairs.report.source if pairs.report is not None else "the held-out pairs"
    if not node.size:
        raise InputError(
            f"no pair of {label} has both nodes in the model, which lacks {missing[0]!r} for one: insert the new nodes "
            "first, or hold out edges instead of leaves"
        )
    sources = np.unique(node)
    ptr, idx = _left_out(embedding.hierarchy, sources, node, parent, objective)
    ranks = embedding.search_tree.rank(sources, ptr, idx, threads=threads)[0]
    # The ranks of all that was left out are there; those of the held-out pairs are wanted.
    row = np.searchsorted(sources, node)
    key = row * len(embedding) + parent
    keys = np.repeat(np.arange(sources.size), np.diff(ptr)) * len(embedding) + idx
    # What the model was trained on is not held out: with the objective ancestors that is the whole closure.
    hierarchy = embedding.hierarchy
    trained_on = hierarchy.is_ancestor if embedding.objective == "ancestors" else hierarchy.is_parent
    known = trained_on(parent, node)
    return HeldOut(
        node,
        parent,
        ranks[np.searchsorted(keys, key)],
        objective,
        skipped=len(missing),
        skipped_example=str(missing[0]) if missing else None,
        known=int(known.sum()),
    )


def _in_the_model(pairs: Hierarchy, embedding: Embedding) -> tuple[Ints, Ints, list[Any]]:
    """Codes of the pairs that the model knows, sorted by node, and for each other pair a name that it lacks."""
    child, above = pairs.real_edges()
    node, parent, missing = [], [], []
    spelled = {name: embedding.names.from_text(name) if isinstance(name, str) else name for name in pairs.names}
    known = {name: embedding.names.index_of(one) for name, one in spelled.items() if one in embedding.names}
    for low, high in zip(child.tolist(), above.tolist(), strict=True):
        names = pairs.names[low], pairs.names[high]
        lacking = next((name for name in names if name not in known), None)
        if lacking is None:
            node.append(known[names[0]])
            parent.append(known[names[1]])
        else:
            missing.append(lacking)
    order = np.lexsort((parent, node))
    return np.array(node, np.int64)[order], np.array(parent, np.int64)[order], missing


def _left_out(hierarchy: Hierarchy, sources: Ints, node: Ints, parent: Ints, objective: Objective) -> tuple[Ints, Ints]:
    """For each source all nodes that do not compete, ascending: pointers (m+1,) and codes."""
    from ..embedding._answers import outline

    pointers, positives = hierarchy.positives(objective)
    root = [] if hierarchy.virtual_root is None else [hierarchy.virtual_root]
    lists = []
    for source in sources.tolist():
        below = [code for code, _ in outline(hierarchy, source)][1:]
        own = positives[pointers[source] : pointers[source + 1]]
        new = parent[np.searchsorted(node, source) : np.searchsorted(node, source, side="right")]
        out = np.unique(np.concatenate([own, new, np.array(below + root, np.int64)]))
        lists.append(out[out != source].astype(np.int64))
    counts = [part.size for part in lists]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate(lists)
