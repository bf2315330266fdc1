"""Loose names: nodes found whatever the case of a text, or by the last steps of a path such as "Pets > Dog Food"."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._ids import BRIEF
from .close_names import PATH_MARKS, last_steps
from .lookup_keys import LookupKeys

__all__ = ["LooseNames", "Meant", "log_loosely"]

_log = logging.getLogger("treeball.names")


@dataclass(frozen=True)
class Meant:
    """The nodes that a text may mean.

    Attributes
    ----------
    codes
        Codes of the nodes, ascending: one where it is clear, several where it is not.
    loosely
        Words for how the text leads to them if it is not their id, label or synonym letter by letter; else empty.
    """

    codes: list[int]
    loosely: str = ""


class LooseNames:
    """Finds nodes by texts that are nearly one of theirs.

    A text that is an id, a label or a synonym but for the case comes first, in this order; then the last steps of an id
    or a label, in this case and then in any. A text that leads to several nodes in one of these ways means all of them.

    Parameters
    ----------
    kinds
        Ids, labels and synonyms, as far as they are there: an array of texts, and the node of each text, None for
        text i of node i.
    """

    def __init__(self, kinds: Sequence[tuple[pa.Array, NDArray[np.int64] | None]]) -> None:
        self._kinds = [(texts, codes) for texts, codes in kinds if len(texts)]

    def find(self, text: str) -> Meant:
        """The nodes that `text` may mean; none if it leads to none."""
        wanted = text.strip()
        if not wanted:
            return Meant([])
        lower = _lower(wanted)
        for keys in self._whole:
            codes = keys.codes_of(lower)
            if codes:
                return Meant(codes, "whatever the case")
        return self._by_last_steps(wanted, lower)

    def _by_last_steps(self, wanted: str, lower: str) -> Meant:
        """Nodes whose id or label ends with these steps; those in the same case go before the others."""
        ends = tuple(mark + wanted for mark in PATH_MARKS)
        same: set[int] = set()
        others: set[int] = set()
        for steps, (texts, owner) in zip(self._steps, self._kinds, strict=True):
            for place in steps.codes_of(_last_step(lower)):
                name = texts[place].as_py()
                code = place if owner is None else int(owner[place])
                if name.endswith(ends):
                    same.add(code)
                elif _lower(name).endswith(tuple(mark + lower for mark in PATH_MARKS)):
                    others.add(code)
        if same:
            return Meant(sorted(same), "by the end of its path")
        return Meant(sorted(others), "by the end of its path, whatever the case" if others else "")

    @cached_property
    def _whole(self) -> list[LookupKeys]:
        """All texts in lower case."""
        return [LookupKeys(pc.utf8_lower(texts), codes) for texts, codes in self._kinds]

    @cached_property
    def _steps(self) -> list[LookupKeys]:
        """The last step of each text that is a path, in lower case, with the place of the text."""
        found = []
        for texts, _ in self._kinds:
            whole = pc.fill_null(texts, "")
            places, steps = last_steps(pa.concat_arrays([whole]) if whole.offset else whole)
            found.append(LookupKeys(pc.utf8_lower(steps), places))
        return found


def log_loosely(given: object, shown: str, meant: Meant) -> None:
    """Log that a text was taken for a node, as people read it, though it is not exactly one of its names."""
    _log.info("%s is read as %s (%s)", BRIEF.repr(given), BRIEF.repr(shown), meant.loosely)


def _lower(text: str) -> str:
    lower: str = pc.utf8_lower(pa.scalar(text)).as_py()
    return lower


def _last_step(text: str) -> str:
    return text[max(text.rfind(mark) + len(mark) if mark in text else 0 for mark in PATH_MARKS) :]
