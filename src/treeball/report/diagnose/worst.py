"""The nodes that fare worst, and a sentence for each that says what is wrong.

The *worst inner nodes* are those that take part in the most ill pairs: as B, the node that another one fails to be
closest to, and as A, the node that fails itself. Of equally many, the one with the larger share of its pairs comes
first. The illness of such a node is the kind that most of these pairs have.

The *worst pairs* are those with the largest rank: between A and its B are the most nodes that should not be there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...embedding import Embedding
from ...evaluation import Evaluation
from ...evaluation.illness import CAPACITY, INTRA_SUBTREE, KINDS
from ...types import Ints
from .advice import Commands
from .groups import RankedPairs, subtree_of, top_nodes
from .room import radius_enough, short_of_room


@dataclass(frozen=True, kw_only=True)
class _Finding:
    """What is said of nodes, with the labels of those it mentions, by their names."""

    labels: dict[str, str] = field(default_factory=dict)

    def shown(self, name: str) -> str:
        """A node as people read it: ``label [id]``, or its name where it has no label."""
        return f"{self.labels[name]} [{name}]" if name in self.labels else name

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; labels where there are any."""
        return {name: value for name, value in asdict(self).items() if name != "labels" or value}


@dataclass(frozen=True)
class WorstNode(_Finding):
    """An inner node, the ill pairs it takes part in, and what is wrong.

    Attributes
    ----------
    node, parent : names; a root has no parent
    children : how many it has
    kind : what most of its ill pairs suffer from
    illness : its ill pairs of each kind
    below, ill_below : pairs of which it is the positive, and how many of them are ill
    own_ill : whether it is itself nearer to another node than to its positive
    offender : the node that most of its ill pairs of that kind are nearer to
    own_offender : the non-positive nearest to the node itself; None for a root
    radius, enough : the radius its children have, and the one that is enough for them; None in Euclidean space
    sentence, command : what is wrong, and what would treat it
    labels : labels of the nodes named here, by their names
    """

    node: str
    parent: str | None
    children: int
    kind: str
    illness: dict[str, int]
    below: int
    ill_below: int
    own_ill: bool
    offender: str
    own_offender: str | None
    radius: float | None
    enough: float | None
    sentence: str
    command: str


@dataclass(frozen=True)
class WorstPair(_Finding):
    """An ill pair with a high rank.

    Attributes
    ----------
    node, positive, offender : names of A, B and B'
    kind : its illness
    rank : 1 + number of non-positives at least as close to A as B is
    distance, offender_distance : from A to B and to B'
    sentence, command : what is wrong, and what would treat it
    labels : labels of the nodes named here, by their names
    """

    node: str
    positive: str
    offender: str
    kind: str
    rank: int
    distance: float
    offender_distance: float
    sentence: str
    command: str


class Examiner:
    """Finds the worst nodes and pairs of an evaluation and says what is wrong with them."""

    def __init__(self, embedding: Embedding, evaluation: Evaluation, commands: Commands) -> None:
        self.embedding = embedding
        self.hierarchy = embedding.hierarchy
        self.evaluation = evaluation
        self.commands = commands
        self.radii = embedding.radii()
        self.tops = top_nodes(self.hierarchy)
        self._rooms: dict[int, float] = {}

    def worst_nodes(self, most: int) -> tuple[WorstNode, ...]:
        """Inner nodes with the most ill pairs, the worst first."""
        illness, n = self.evaluation.illness, self.hierarchy.n_nodes
        below = np.bincount(self.evaluation.ranking.positive_idx, minlength=n)
        pairs = below + np.bincount(RankedPairs.of(self.evaluation).node, minlength=n)
        ill = np.bincount(illness.positive, minlength=n) + np.bincount(illness.node, minlength=n)
        inner = np.flatnonzero((np.diff(self.hierarchy.child_ptr) > 0) & (ill > 0))
        order = inner[np.lexsort((inner, -ill[inner] / pairs[inner], -ill[inner]))]
        return tuple(self._describe(int(node), int(below[node])) for node in order[:most])

    def worst_pairs(self, most: int) -> tuple[WorstPair, ...]:
        """Ill pairs with the highest ranks."""
        illness = self.evaluation.illness
        ranks = self.evaluation.ranking.ranks
        ranks = ranks[ranks > 1]
        chosen = np.argsort(-ranks, kind="stable")[:most]
        own = self.embedding.distances_between(illness.node[chosen], illness.positive[chosen])
        other = self.embedding.distances_between(illness.node[chosen], illness.offender[chosen])
        found = []
        for i, near, far in zip(chosen.tolist(), other.tolist(), own.tolist(), strict=True):
            kind, positive = int(illness.kind[i]), int(illness.positive[i])
            found.append(
                WorstPair(
                    node=self._name(illness.node[i]),
                    positive=self._name(positive),
                    offender=self._name(illness.offender[i]),
                    kind=KINDS[kind],
                    rank=int(ranks[i]),
                    distance=far,
                    offender_distance=near,
                    sentence=self._pair_sentence(i, int(ranks[i]), far, near),
                    labels=self._labels(illness.node[i], positive, illness.offender[i]),
                    command=self.commands.for_node(kind, self._lacks(positive), float(self.radii[positive])),
                )
            )
        return tuple(found)

    # ---- one node ----

    def _describe(self, node: int, below: int) -> WorstNode:
        illness = self.evaluation.illness
        as_positive, as_node = illness.positive == node, illness.node == node
        counts = np.bincount(illness.kind[as_positive | as_node], minlength=len(KINDS))
        kind = int(np.argmax(counts))
        of_kind = np.flatnonzero((as_positive | as_node) & (illness.kind == kind))
        offender = _commonest(illness.offender[of_kind])
        parent = int(self.hierarchy.primary_parent[node])
        own_offender = self._own_offender(node)
        sentence = self._node_sentence(node, kind, np.flatnonzero(as_positive & (illness.kind == kind)), below)
        if as_node.any():
            sentence += self._own_sentence(int(np.flatnonzero(as_node)[0]))
        return WorstNode(
            node=self._name(node),
            parent=None if parent < 0 else self._name(parent),
            children=int(self.hierarchy.children_of(node).size),
            kind=KINDS[kind],
            illness={name: int(count) for name, count in zip(KINDS, counts, strict=True)},
            below=below,
            ill_below=int(np.count_nonzero(as_positive)),
            own_ill=bool(as_node.any()),
            offender=self._name(offender),
            own_offender=None if own_offender is None else self._name(own_offender),
            radius=self._room(node),
            enough=self._enough(node),
            sentence=sentence,
            labels=self._labels(node, parent, offender, -1 if own_offender is None else own_offender),
            command=self.commands.for_node(kind, self._lacks(node), float(self.radii[node])),
        )

    def _node_sentence(self, node: int, kind: int, pairs: Ints, below: int) -> str:
        """What is wrong with the nodes that should be close to `node`; `pairs` are the ill ones of its main kind."""
        if not pairs.size:
            return "The nodes below it are well."
        illness = self.evaluation.illness
        noun = "children" if self.evaluation.objective == "parents" else "descendants"
        who = f"{pairs.size:,} of its {below:,} {noun} {'is' if pairs.size == 1 else 'are'} nearer to"
        often = self._most_often(illness.offender[pairs])
        if kind == CAPACITY:
            return f"{who} another child of it than to it, {often}: {self._about_room(node)}."
        if kind == INTRA_SUBTREE:
            own = self.hierarchy.is_ancestor(illness.node[pairs], illness.offender[pairs])
            if own.mean() > 0.5:
                first = int(pairs[np.argmax(own)])
                example = f"{self._shown(illness.node[first])} to {self._shown(illness.offender[first])}"
                return f"{who} a node below themselves (such as {example}): the way up is longer than the way down."
            return f"{who} a deeper node of its subtree, {often}: the subtree is folded into itself."
        place = subtree_of(np.array([_commonest(illness.offender[pairs])]), self.tops, self.hierarchy)[0]
        under = f" (under {self._shown(self.tops[place])})" if place < self.tops.size else ""
        return f"{who} a node outside its subtree, {often}{under}: two subtrees overlap."

    def _most_often(self, offenders: Ints) -> str:
        commonest = _commonest(offenders)
        several = np.count_nonzero(offenders == commonest) > 1
        return f"{'most often' if several else 'for example'} to {self._shown(commonest)}"

    def _about_room(self, node: int) -> str:
        has, needed = self._room(node), self._lacks(node)
        if has is None:
            return "they are crowded"
        if needed is not None:
            return f"so many need a radius of {needed:.2f} and have {has:.2f}, there is too little room"
        return f"within their radius of {has:.2f} there is room, but they are badly spread"

    def _own_sentence(self, pair: int) -> str:
        illness = self.evaluation.illness
        offender, positive = self._shown(illness.offender[pair]), self._shown(illness.positive[pair])
        word = "parent" if self.evaluation.objective == "parents" else "ancestor"
        return f" It is itself nearer to {offender} than to its {word} {positive}."

    def _pair_sentence(self, pair: int, rank: int, far: float, near: float) -> str:
        illness = self.evaluation.illness
        kind = int(illness.kind[pair])
        node, positive, offender = illness.node[pair], illness.positive[pair], illness.offender[pair]
        if kind == CAPACITY:
            what = f"a child of {self._shown(positive)} too"
        elif self.hierarchy.is_parent(node, offender):
            what = "its own child"
        elif self.hierarchy.is_ancestor(node, offender):
            what = "a node below itself"
        elif kind == INTRA_SUBTREE:
            what = f"a deeper node under {self._shown(positive)}"
        else:
            common = int(self.hierarchy.common_ancestor(positive, offender))
            what = f"in another subtree; they part at {self._shown(common)}"
        between = "1 node is" if rank == 2 else f"{rank - 1:,} nodes are"
        return (
            f"{between} at least as near as {self._shown(positive)} ({far:.2f}); the nearest is "
            f"{self._shown(offender)} ({near:.2f}), {what}."
        )

    # ---- facts ----

    def _name(self, code: int | np.integer[Any]) -> str:
        return str(self.hierarchy.names[int(code)])

    def _shown(self, code: int | np.integer[Any]) -> str:
        """A node for a sentence."""
        return self.hierarchy.names.shown(int(code))

    def _labels(self, *codes: int | np.integer[Any]) -> dict[str, str]:
        names = self.hierarchy.names
        return names.labels_by_name(names.take([int(code) for code in codes if code >= 0]))

    def _own_offender(self, node: int) -> int | None:
        ranking = self.evaluation.ranking
        place = int(np.searchsorted(ranking.sources, node))
        if place == ranking.sources.size or ranking.sources[place] != node or ranking.offender[place] < 0:
            return None
        return int(ranking.offender[place])

    def _room(self, node: int) -> float | None:
        """Distance of a node to its k-th nearest, k being the number of its children."""
        if not self.embedding.space.is_hyperbolic:
            return None
        if node not in self._rooms:
            everyone = np.arange(self.hierarchy.n_nodes)
            away = self.embedding.distances_between(np.full_like(everyone, node), everyone)
            self._rooms[node] = float(np.partition(away, self._children(node))[self._children(node)])
        return self._rooms[node]

    def _enough(self, node: int) -> float | None:
        if not self.embedding.space.is_hyperbolic:
            return None
        return float(radius_enough(self._children(node), self.embedding.dim))

    def _lacks(self, node: int) -> float | None:
        """The radius the children of a node need, if they have less and no bound promises that it will do."""
        room = self._room(node)
        if room is None or not short_of_room(self._children(node), room, self.embedding.dim):
            return None
        return self._enough(node)

    def _children(self, node: int) -> int:
        return int(self.hierarchy.children_of(node).size)


def _commonest(codes: Ints) -> int:
    values, counts = np.unique(codes, return_counts=True)
    return int(values[np.argmax(counts)])
