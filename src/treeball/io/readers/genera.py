"""Parents by definition: where A is defined as a G with something more, G, the genus, is a parent of A."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...engine.cpu.graph import find_back_edges
from ...words import count
from .closure import implied_by_others
from .hints import setting

__all__ = ["Genera", "parents_by_definition"]

Pair = tuple[str, str]


@dataclass(slots=True)
class Genera:
    """What the definitions add to the stated parents.

    Attributes
    ----------
    added
        Pairs of term and genus that are new parents.
    orphans
        How many terms of ``added`` have no stated parent.
    redundant
        Stated pairs that the new parents imply.
    closing
        How many genera are below their own term, by the stated parents or by other definitions.
    """

    added: list[Pair] = field(default_factory=list)
    orphans: int = 0
    redundant: set[Pair] = field(default_factory=set)
    closing: int = 0

    def notes(self) -> Iterable[str]:
        """What the report says of them."""
        if self.added:
            orphans = f"{count(self.orphans, 'term')} without a stated parent"
            yield f"{count(len(self.added), 'parent')} added by definition, the genus of an equivalence ({orphans})"
        if self.redundant:
            number = count(len(self.redundant), "stated edge")
            yield f"{number} that the added ones imply left out; {setting('reduce', 'never')} keeps all"
        if self.closing:
            yield f"{count(self.closing, 'definition')} with a genus below the defined term passed over"


def parents_by_definition(stated: Sequence[Pair], defined: Iterable[Pair], keep_all: bool) -> Genera:
    """Which of the ``defined`` pairs of term and genus are new parents, and which ``stated`` pairs they make redundant.

    Stated parents go first: a genus that would close a cycle is passed over. An edge that the stated ones alone imply
    stays. With ``keep_all``, so do the edges that the new parents imply, and genera that are further up already.
    """
    known = dict.fromkeys(pair for pair in stated if pair[0] != pair[1])
    new = [pair for pair in dict.fromkeys(defined) if pair[0] != pair[1] and pair not in known]
    if not new:
        return Genera()
    pairs = [*known, *new]
    code_of: dict[str, int] = {}
    for pair in pairs:
        for name in pair:
            code_of.setdefault(name, len(code_of))
    child, parent = (np.array([code_of[pair[side]] for pair in pairs], np.int32) for side in (0, 1))
    is_new = np.arange(len(pairs)) >= len(known)
    sound = ~find_back_edges(len(code_of), child, parent)
    implied = np.zeros(len(pairs), bool)
    if not keep_all:
        implied[sound] = implied_by_others(len(code_of), child[sound], parent[sound])
    if (implied & ~is_new).any():
        before = sound & ~is_new
        implied[np.flatnonzero(before)[implied_by_others(len(code_of), child[before], parent[before])]] = False
    added = [pairs[place] for place in np.flatnonzero(is_new & sound & ~implied).tolist()]
    placed = {low for low, _ in known}
    return Genera(
        added,
        len({low for low, _ in added} - placed),
        {pairs[place] for place in np.flatnonzero(implied & ~is_new).tolist()},
        int((is_new & ~sound).sum()),
    )
