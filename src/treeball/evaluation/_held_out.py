"""Link prediction: where held-out parents rank among the nodes that a node could hang from, and pair classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import require_flag
from ..hierarchy import Hierarchy
from ..types import Ints, Objective
from ..words import count
from ._classification import Classification, classify
from ._given_pairs import GivenPairs, given_pairs

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["HeldOut", "evaluate_held_out"]


@dataclass(frozen=True, repr=False)
class HeldOut:
    """Filtered ranks of held-out pairs, and how well they are told from corrupted ones.

    The rank of a pair (A, B) is 1 + the number of candidates that are at least as close to A as B. No candidates are A
    itself, its positives in the model (parents or ancestors, by the objective), the other held-out nodes of A and those
    of the validation pairs, a virtual root and, unless they were to be kept, its descendants in the model (a parent
    among them would make a cycle).

    Attributes
    ----------
    node, parent : int64 (pairs,)
        Codes of A and B, by A.
    ranks : int64 (pairs,)
    objective
        Whether A's known parents or all its known ancestors are no candidates.
    classification
        F1, AUC and so on; None when no pair can be corrupted, for every other node makes a true one with either end.
    given, validation
        The pairs as codes, and what the model knows of them; None without validation pairs.
    keep_descendants
        Whether descendants are candidates.
    trained_for
        The objective of the model: with ancestors it was trained on every pair that its edges imply.
    """

    node: Ints
    parent: Ints
    ranks: Ints
    objective: Objective
    classification: Classification | None
    given: GivenPairs
    validation: GivenPairs | None = None
    keep_descendants: bool = False
    trained_for: Objective = "parents"

    def __repr__(self) -> str:
        return f"<HeldOut: {self.ranks.size:,} pairs, MAP {self.map:.4f}, mean rank {self.mean_rank:.3f}>"

    @property
    def skipped(self) -> int:
        """How many pairs name a node that the model does not have."""
        return len(self.given.missing)

    @property
    def skipped_example(self) -> str | None:
        """One such name."""
        return str(self.given.missing[0]) if self.given.missing else None

    @property
    def implied(self) -> int:
        """How many pairs follow from the edges of the model's own hierarchy."""
        return int(self.given.implied.sum())

    @property
    def known(self) -> int:
        """How many pairs the model was trained on."""
        return int(self.given.known.sum())

    @property
    def shared(self) -> int:
        """How many held-out pairs are validation pairs, too."""
        if self.validation is None:
            return 0
        held, other = (set(zip(part.node.tolist(), part.parent.tolist(), strict=True)) for part in self._parts.values())
        return len(held & other)

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
            "objective": self.objective,
            "map": self.map,
            "mean_rank": self.mean_rank,
            "mean_reciprocal_rank": self.mean_reciprocal_rank,
            "hits_at_1": self.hits_at(1),
            "hits_at_3": self.hits_at(3),
            "hits_at_10": self.hits_at(10),
            "keep_descendants": self.keep_descendants,
            **self.given.to_dict(),
            "shared": self.shared,
            "validation": None if self.validation is None else self.validation.to_dict(),
            "classification": None if self.classification is None else self.classification.to_dict(),
        }

    def rows(self) -> list[tuple[str, str]]:
        """A table for a person."""
        descendants = "descendants are kept" if self.keep_descendants else "no descendants"
        told_apart = [("classified", "nothing: no pair can be corrupted, every other node makes a true one")]
        if self.classification is not None:
            told_apart = self.classification.rows()
        rows = [
            ("held-out pairs", f"{self.ranks.size:,}"),
            ("MAP", f"{self.map:.4f}"),
            ("mean rank", f"{self.mean_rank:.3f}"),
            ("mean reciprocal rank", f"{self.mean_reciprocal_rank:.4f}"),
            ("hits@1, 3, 10", ", ".join(f"{self.hits_at(k):.4f}" for k in (1, 3, 10))),
            ("candidates", f"all nodes but known {self.objective} and what else is held out; {descendants}"),
            *told_apart,
            ("implied", f"{self._counted('implied')} follow from the model's own edges: transitivity answers them"),
        ]
        if self.shared:
            how = "the threshold was chosen on them; split once, with --validation"
            rows.append(("in both files", f"{count(self.shared, 'held-out pair')}: {how}"))
        if self._any("known"):
            why = ", as on all that its edges imply (objective ancestors)" if self.trained_for == "ancestors" else ""
            rows.append(("not held out", f"{self._counted('known')}: the model was trained on them{why}"))
        if self._any("orphaned"):
            why = "a rank near half the nodes is all that any method can show"
            rows.append(("orphans", f"{self._counted('orphaned')} are of nodes that hang from nothing: {why}"))
        if self._any("missing"):
            name = next(str(part.missing[0]) for part in self._parts.values() if part.missing)
            left_out = " and ".join(f"{len(part.missing):,} {what}" for what, part in self._parts.items())
            rows.append(("skipped", f"{left_out} pairs with a node the model lacks, such as {name}"))
        return rows

    @property
    def _parts(self) -> dict[str, GivenPairs]:
        return {"held-out": self.given} | ({} if self.validation is None else {"validation": self.validation})

    def _any(self, kind: str) -> bool:
        return any(np.any(getattr(part, kind)) for part in self._parts.values())

    def _counted(self, kind: str) -> str:
        """How many pairs of each file are of that kind."""
        counts = ((what, int(getattr(part, kind).sum()), len(part)) for what, part in self._parts.items())
        return " and ".join(f"{number:,} of {size:,} {what}" for what, number, size in counts) + " pairs"


def evaluate_held_out(
    embedding: Embedding,
    held_out: Any,
    objective: Objective | None = None,
    *,
    validation: Any = None,
    score: str = "auto",
    corrupted: int = 10,
    keep_descendants: bool = False,
    seed: int = 0,
    threads: int = 0,
) -> HeldOut:
    """Rank held-out parents by their distance, and tell held-out pairs from corrupted ones.

    Parameters
    ----------
    held_out
        Pairs (node, parent), in this order: a file that :func:`treeball.split` wrote, or anything
        :func:`treeball.read` takes.
    objective
        Whether a node's known parents or all its known ancestors are no candidates in the ranking. By default
        ancestors where most held-out pairs are of ancestors that the model's edges imply, and elsewhere what the model
        was trained for.
    validation
        Pairs to choose a threshold on, from the same split. Without them there is an AUC, but no F1.
    score
        What the pairs are told apart by: ``"distance"``, ``"detour"`` (how far out of the way from a node to the origin
        the ancestor lies), ``"ascent"`` (whether it is met on the way up, from reach to reach) or
        ``"auto"``, the one with the best F1 on the validation pairs.
    corrupted
        How many corrupted pairs to set against every true one: half with another node in place of the node, half with
        another in place of the ancestor, drawn at random, none of them true: in the closure of the model's hierarchy,
        the held-out and the validation pairs together.
    keep_descendants
        Keep a node's descendants as candidates in the ranking, as published figures do.
    seed
        Chooses the corrupted pairs.
    threads
        0 uses all cores.
    """
    require_flag("keep_descendants", keep_descendants)
    given = given_pairs(embedding, held_out, "the held-out pairs")
    validating = None if validation is None else given_pairs(embedding, validation, "the validation pairs")
    if objective is None:
        farther = given.implied & ~embedding.hierarchy.is_parent(given.parent, given.node)
        objective = "ancestors" if 2 * farther.sum() > len(given) else embedding.objective
    others = [given] if validating is None else [given, validating]
    told_apart = classify(
        embedding,
        (given.node, given.parent),
        None if validating is None else (validating.node, validating.parent),
        score=score,
        corrupted=corrupted,
        seed=seed,
    )
    sources = np.unique(given.node)
    ptr, idx = _left_out(embedding.hierarchy, sources, others, objective, keep_descendants)
    ranks = embedding.search_tree.rank(sources, ptr, idx, threads=threads)[0]
    # The ranks of all that was left out are there; those of the held-out pairs are wanted.
    key = np.searchsorted(sources, given.node) * len(embedding) + given.parent
    keys = np.repeat(np.arange(sources.size), np.diff(ptr)) * len(embedding) + idx
    return HeldOut(
        given.node,
        given.parent,
        ranks[np.searchsorted(keys, key)],
        objective,
        told_apart,
        given,
        validating,
        keep_descendants,
        embedding.objective,
    )


def _left_out(
    hierarchy: Hierarchy, sources: Ints, held_out: list[GivenPairs], objective: Objective, keep_descendants: bool
) -> tuple[Ints, Ints]:
    """For each source all nodes that do not compete, ascending: pointers (m+1,) and codes."""
    from ..embedding._answers import outline

    pointers, positives = hierarchy.positives(objective)
    root = [] if hierarchy.virtual_root is None else [hierarchy.virtual_root]
    lists = []
    for source in sources.tolist():
        below = [] if keep_descendants else [code for code, _ in outline(hierarchy, source)][1:]
        parts = [positives[pointers[source] : pointers[source + 1]].astype(np.int64), np.array(below + root, np.int64)]
        for pairs in held_out:
            parts.append(pairs.parent[slice(*np.searchsorted(pairs.node, [source, source + 1]))])
        out = np.unique(np.concatenate(parts))
        lists.append(out[out != source])
    counts = [part.size for part in lists]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate(lists)
