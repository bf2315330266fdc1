"""align: which node of one hierarchy is which of another, and abstaining where that is unsure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..checks import is_number, require, require_flag, require_whole
from ..hierarchy import Hierarchy
from ..methods.progress import WorkProgress
from ..types import Codes, Floats, Ints
from ..words import count
from .anchors import anchor_pairs
from .calibration import broader_share
from .judge import reasons
from .relatives import nearest_above
from .rounds import Judged, judge_all
from .side import two_sides

__all__ = ["Alignment", "Answer", "Candidate", "align"]

CONFIDENCE = 0.8
"""Least confidence of an answer, unless somebody sets another."""


@dataclass(frozen=True)
class Candidate:
    """A node of the second hierarchy that may be the same as one of the first, how likely that is, and why."""

    node: Hashable
    label: str | None
    confidence: float
    why: str


@dataclass(frozen=True)
class Answer:
    """What is known of one node of the first hierarchy.

    Attributes
    ----------
    node, label
        The node.
    kind
        ``"same"`` for a counterpart, ``"broader"`` for the node below which it would hang, None where unsure.
    counterpart, counterpart_label
        The node of the second hierarchy, None where unsure.
    confidence
        Probability, from 0 to 1, that the counterpart is right. Without a counterpart it is that of the best candidate,
        0 if no name is alike.
    why
        A few words.
    candidates
        Further nodes that may be the same, the most likely first, if they were asked for.
    """

    node: Hashable
    label: str | None
    kind: Literal["same", "broader"] | None
    counterpart: Hashable | None
    counterpart_label: str | None
    confidence: float
    why: str
    candidates: tuple[Candidate, ...] = ()


class Alignment:
    """Which node of the first hierarchy is which of the second: made by :func:`treeball.align`.

    Attributes
    ----------
    first, second
        The hierarchies.
    least
        The least confidence of an answer.
    broader
        Whether nodes without a counterpart get a broader one.
    """

    def __init__(self, first: Hierarchy, second: Hierarchy, judged: Judged, least: float, broader: bool) -> None:
        self.first, self.second = first, second
        self.least, self.broader = least, broader
        self._judged = judged
        pairs = judged.pairs
        # The most confident first; anchors have a confidence of 1.
        self._order: Ints = np.lexsort((-judged.confidence, pairs.first))
        self._ptr: Ints = np.searchsorted(pairs.first, np.arange(first.n_nodes + 1))

    def __repr__(self) -> str:
        return f"<Alignment of {self.n_nodes:,} nodes: {self.n_matched:,} matched, {self.n_abstained:,} abstained>"

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the first hierarchy, without a virtual root."""
        return len(self.first.real_nodes())

    @property
    def n_matched(self) -> int:
        """How many of them have a counterpart."""
        return int(np.count_nonzero(self._match[self.first.real_nodes()] >= 0))

    @property
    def n_abstained(self) -> int:
        """How many of them have none."""
        return self.n_nodes - self.n_matched

    @cached_property
    def matches(self) -> dict[Hashable, Hashable]:
        """Counterparts by the names of the nodes that have one."""
        nodes = np.flatnonzero(self._match >= 0)
        found = self._judged.pairs.second[self._match[nodes]]
        return dict(zip(self.first.names.take(nodes), self.second.names.take(found), strict=True))

    def answer(self, node: Hashable, candidates: int = 0) -> Answer:
        """The answer for one node, by its id, label or synonym."""
        return next(self._answers(np.array([self.first.names.find(node)]), candidates))

    def answers(self, candidates: int = 0) -> list[Answer]:
        """The answers for all nodes of the first hierarchy, with so many candidates of those that have none."""
        return list(self._answers(self.first.real_nodes(), candidates))

    def candidates_of(self, node: Hashable, k: int = 5) -> list[Candidate]:
        """The `k` nodes that are most likely the same as one, its counterpart first if it has one."""
        require_whole("k", k, 1)
        return self._candidates(self.first.names.find(node), k)

    def save(self, path: Path | str, candidates: int = 0, *, escape_formulas: bool = False) -> None:
        """Write the answers as a table, whole or not at all; the ending .csv, .tsv, .json or .parquet says as what.

        `escape_formulas` puts an apostrophe before text that a spreadsheet would compute, in .csv and .tsv.
        """
        from .table import write

        write(self, Path(path), candidates, escape_formulas=escape_formulas)

    def to_dict(self) -> dict[str, Any]:
        """The counts, as a record for JSON."""
        broader = sum(one.kind == "broader" for one in self.answers()) if self.broader else 0
        return {
            "nodes": self.n_nodes,
            "matched": self.n_matched,
            "given": int(np.count_nonzero(self._judged.given)),
            "abstained": self.n_abstained,
            "broader": broader,
            "confidence": self.least,
        }

    def summary(self) -> str:
        """One sentence: how many nodes have a counterpart, and how many have none."""
        found = self.to_dict()
        share = f" ({found['matched'] / found['nodes']:.1%})" if found["nodes"] else ""
        given = f", {found['given']:,} of them given" if found["given"] else ""
        below = f", {found['broader']:,} of them with a broader node" if found["broader"] else ""
        return (
            f"{count(found['nodes'], 'node')}: {found['matched']:,} matched{share}{given}; {found['abstained']:,} "
            f"abstained (confidence below {self.least:g}){below}"
        )

    # ---- how answers are made ----

    @cached_property
    def _match(self) -> Ints:
        """Place of the pair that answers for every node of the first hierarchy, or -1."""
        confidence = self._judged.confidence
        match = np.full(self.first.n_nodes, -1, np.int64)
        has_any = np.flatnonzero(np.diff(self._ptr))
        best = self._order[self._ptr[has_any]]
        is_answer = confidence[best] >= self.least
        match[has_any[is_answer]] = best[is_answer]
        return match

    @cached_property
    def _matched_above(self) -> Ints:
        """Nearest ancestor of every node that has a counterpart, but for the root, whose would say nothing; or -1."""
        has_one = self._match >= 0
        has_one[self.first.root] = False
        return nearest_above(self.first, has_one)

    @cached_property
    def _broader_share(self) -> Floats:
        """How often the counterpart of each node is above those of the matched nodes below it, (n,)."""
        counterpart = np.where(self._match >= 0, self._judged.pairs.second[self._match], -1)
        return broader_share(self.first, self.second, self._matched_above, counterpart)

    def _answers(self, nodes: Ints | Codes, candidates: int) -> Iterator[Answer]:
        require_whole("candidates", candidates, 0)
        labels = self.first.labels.take(nodes)
        for code, name, label in zip(nodes.tolist(), self.first.names.take(nodes), labels, strict=True):
            place = int(self._match[code])
            if place >= 0:
                one = self._candidate(place)
                yield Answer(name, label, "same", one.node, one.label, one.confidence, one.why)
                continue
            others = tuple(self._candidates(code, candidates))
            above = int(self._matched_above[code]) if self.broader else -1
            if above >= 0:
                one = self._candidate(int(self._match[above]))
                why = f"counterpart of {self.first.names.shown(above)}"
                sure = one.confidence * float(self._broader_share[above])
                yield Answer(name, label, "broader", one.node, one.label, sure, why, others)
            else:
                best = self._candidates(code, 1)
                why = "unsure" if best else "no name is alike"
                yield Answer(name, label, None, None, None, best[0].confidence if best else 0.0, why, others)

    def _candidates(self, code: int, k: int) -> list[Candidate]:
        places = self._order[self._ptr[code] : self._ptr[code + 1]][:k]
        return [self._candidate(place) for place in places.tolist()]

    def _candidate(self, place: int) -> Candidate:
        judged = self._judged
        code = int(judged.pairs.second[place])
        why = "given" if judged.given[place] else reasons(judged.words, judged.kin, place)
        return Candidate(self.second.names[code], self.second.labels[code], float(judged.confidence[place]), why)


def align(
    a: Any,
    b: Any,
    *,
    anchors: Any = None,
    confidence: float = CONFIDENCE,
    broader: bool = False,
    progress: bool = False,
) -> Alignment:
    """Say which node of `b` is which node of `a`, from names, structure and given pairs, and abstain where unsure.

    A node of either is the counterpart of one node at most. Names are compared by their words, of which rare ones tell
    more; then ancestors and children that are matched speak for or against. Two nodes whose names have no word in
    common are never matched, unless they are given.

    Parameters
    ----------
    a, b
        Hierarchies, embeddings, or anything :func:`treeball.read` takes, models among it.
    anchors
        Pairs (node of `a`, node of `b`) that are certain: a mapping, a list of pairs, or a file with two columns. What
        :meth:`Alignment.save` wrote, corrected by hand, is such a file.
    confidence
        Least confidence of an answer, from 0.5 to 1; below it there is none.
    broader
        Give a node that has no counterpart the counterpart of its nearest ancestor that has one: the node of `b` below
        which it would hang.
    progress
        Show on standard error how far it is.

    Returns
    -------
    Alignment
        ``alignment.matches`` are the counterparts by name, ``alignment.answers()`` has confidence and reasons, and
        ``alignment.save("matches.csv")`` writes them.
    """
    require(
        is_number(confidence) and 0.5 <= confidence <= 1.0,
        f"confidence must be a number from 0.5 to 1, not {confidence!r}: below one half two nodes could have the same "
        "counterpart",
    )
    require_flag("broader", broader)
    first, second = _opened(a), _opened(b)
    given = anchor_pairs(anchors, first, second)
    with WorkProgress(silent=not progress) as shown:
        shown.begin("reading names")
        sides = two_sides(first, second)
        judged = judge_all(*sides, given, shown.begin)
    return Alignment(first, second, judged, float(confidence), broader)


def _opened(given: Any) -> Hierarchy:
    from ..embedding import Embedding
    from ..io.readers import read

    if isinstance(given, Embedding):
        return given.hierarchy
    return read(given)
