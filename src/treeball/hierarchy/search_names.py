"""Search: nodes whose id, label or synonym holds a text, the best matches first."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..checks import require_whole
from ..errors import InputError
from ._ids import is_broken
from .names import Names

__all__ = ["Match", "require_sought", "search_names"]

By = Literal["id", "label", "synonym"]
# How a text is held, the best first: it is the whole, the beginning, the beginning of a word, or somewhere inside.
_WHOLE, _BEGINNING, _WORD, _INSIDE = range(4)


@dataclass(frozen=True)
class Match:
    """A node that a search found.

    Attributes
    ----------
    name, label
        Its name (id), and what people call it, or None.
    matched, by
        The text that held what was searched for, and what it is of the node: ``"id"``, ``"label"`` or ``"synonym"``.
    """

    name: Hashable
    label: str | None
    matched: str
    by: By

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        name = self.name if isinstance(self.name, (str, int)) else str(self.name)
        label = {} if self.label is None else {"label": self.label}
        return {"node": name, **label, "matched": self.matched, "by": self.by}


def require_sought(text: Any) -> None:
    """Refuse what cannot be searched for: what is no text, or an empty one."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"there is nothing to search for in {text!r}: give a part of an id, a label or a synonym")


def search_names(names: Names, text: str, k: int = 10, *, leave_out: int | None = None) -> list[Match]:
    """The k best matches of a text among ids, labels and synonyms, whatever the case; each node once.

    Those that are the text come first, then those that begin with it, those with a word that begins with it, and those
    that hold it anywhere; of equally good ones the shortest, ids before labels before synonyms.

    Parameters
    ----------
    names
        Names of all nodes, with their labels and synonyms.
    text
        What to look for; blanks around it do not count.
    k
        How many.
    leave_out
        Code of a node that is never found, such as a virtual root.
    """
    require_whole("k", k, 1)
    require_sought(text)
    wanted = text.strip()
    if is_broken(wanted):
        return []
    kinds = _searched(names)
    found = [_holding(texts, codes, wanted) for _, texts, codes in kinds]
    kind = np.repeat(np.arange(len(kinds)), [codes.size for _, codes, _ in found])
    codes = np.concatenate([codes for _, codes, _ in found])
    how = np.concatenate([how for _, _, how in found])
    texts = [held for held, _, _ in found]
    lengths = np.concatenate([np.asarray(pc.utf8_length(held)) for held in texts])
    order = np.lexsort((codes, kind, lengths, how))
    order = order[codes[order] != (-1 if leave_out is None else leave_out)]
    _, first = np.unique(codes[order], return_index=True)
    best = order[np.sort(first)[:k]]
    begins = np.concatenate([[0], np.cumsum([len(held) for held in texts])])
    matched = [texts[kind[place]][int(place - begins[kind[place]])].as_py() for place in best]
    chosen = codes[best]
    rows = zip(names.take(chosen), names.labels.take(chosen), matched, kind[best].tolist(), strict=True)
    return [Match(name, label, matched, kinds[of][0]) for name, label, matched, of in rows]


def _searched(names: Names) -> list[tuple[By, pa.Array, NDArray[np.int64] | None]]:
    """All texts that lead to nodes: what they are, the texts, and the nodes they lead to where not in order."""
    kinds: list[tuple[By, pa.Array, NDArray[np.int64] | None]] = [("id", names.as_text(), None)]
    for keys in names.other_keys:
        kinds.append(("label" if keys.codes is None else "synonym", keys.texts, keys.codes))
    return kinds


def _holding(
    texts: pa.Array, codes: NDArray[np.int64] | None, wanted: str
) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """Those texts that hold what is wanted, the nodes they lead to, and how they hold it."""
    places = np.asarray(pc.indices_nonzero(pc.match_substring(texts, wanted, ignore_case=True))).astype(np.int64)
    held = texts.take(pa.array(places))
    lower, sought = pc.utf8_lower(held), pc.utf8_lower(pa.scalar(wanted)).as_py()
    how = np.full(places.size, _INSIDE, np.int64)
    how[np.asarray(pc.match_substring_regex(lower, rf"(^|[^\pL\pN]){re.escape(sought)}"), bool)] = _WORD
    how[np.asarray(pc.starts_with(lower, sought), bool)] = _BEGINNING
    how[np.asarray(pc.equal(lower, sought), bool)] = _WHOLE
    return held, places if codes is None else codes[places], how
