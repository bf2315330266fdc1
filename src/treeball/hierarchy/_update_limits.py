"""How much of a hierarchy an update may remove or move without being asked to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError
from ..words import count

__all__ = ["UpdateLimits", "new_roots_sentence"]

_SHARE = 0.05
_FEW = 3  # nodes: a catalogue of 20 nodes loses one or two in a usual week
_LISTED = 10


@dataclass(frozen=True, kw_only=True)
class UpdateLimits:
    """What an update may do without being asked to: more is hardly a usual update, but a damaged export.

    Parameters
    ----------
    allow_new_roots
        Accept new nodes that have no parent, and parents that the new version does not define.
    max_removed
        Largest share of the nodes that may be removed, from 0 to 1. By default 5 %, or 3 nodes if these are more, but
        never more than half.
    max_moved
        Largest share of the nodes that may get other parents, from 0 to 1; the default is that of --max-removed.
    """

    allow_new_roots: bool = False
    max_removed: float | None = None
    max_moved: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_removed", "max_moved"):
            share = getattr(self, name)
            is_number = isinstance(share, (int, float)) and not isinstance(share, bool)
            if share is not None and not (is_number and 0 <= share <= 1):
                raise InputError(f"{name}={share!r} is no share: give a number from 0 to 1, such as 0.05 for 5 %")

    def forced(self) -> UpdateLimits:
        """The same without a limit on removed and moved nodes."""
        return replace(self, max_removed=1.0, max_moved=1.0)

    def require(self, nodes: int, removed: int, moved: int, shown: Callable[[str], Sequence[Any]]) -> None:
        """Refuse an update that removes or moves more than allowed.

        Parameters
        ----------
        nodes
            Nodes of the model, without a root that was added.
        removed, moved
            How many of them are removed, and how many get other parents.
        shown
            Gives the first removed or moved nodes, for "removed" or "moved", as people read them.
        """
        faults = []
        for what, number, share in (("removed", removed, self.max_removed), ("moved", moved, self.max_moved)):
            allowed = self._allowed(nodes, share)
            if number > allowed:
                some = [str(name) for name in shown(what)[:_LISTED]]
                rest = ", ..." if number > len(some) else ""
                enough = math.ceil(1000 * number / nodes) / 1000
                faults.append(
                    f"{count(number, 'node')} of {nodes:,} would be {what} ({number / nodes:.1%}; at most {allowed:,} "
                    f"without --max-{what} {enough:g}): {', '.join(some)}{rest}"
                )
        if faults:
            raise InputError(
                f"nothing was written: {'; and '.join(faults)}; give a whole export, with nodes named as in the model, "
                "or allow the change by the option named here; --dry-run --json lists all nodes"
            )

    @staticmethod
    def _allowed(nodes: int, share: float | None) -> int:
        """The number of nodes that a share allows."""
        if share is not None:
            return math.floor(share * nodes + 1e-9)
        return max(math.floor(_SHARE * nodes), min(_FEW, nodes // 2))


def new_roots_sentence(roots: Sequence[str], kind: str, remedy: str) -> str:
    """The sentence that refuses the new roots of an update.

    Parameters
    ----------
    roots
        The new roots as people read them.
    kind, remedy
        What they are, and what else can be done than to give them a parent.
    """
    some = ", ".join(roots[:_LISTED]) + (", ..." if len(roots) > _LISTED else "")
    are, them = ("is", "it") if len(roots) == 1 else ("are", "them")
    return (
        f"nothing was written: {count(len(roots), 'node')} of the new version {are} {kind}: {some}; give {them} a "
        f"parent that the new version defines, or {remedy}"
    )
