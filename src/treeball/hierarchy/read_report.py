"""What a reader understood of its input, and what it had to repair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ..words import count, printable
from .repairs import Repair, RepairGroup, RepairKind, Repairs, short

__all__ = ["ReadReport", "listed", "repair_words", "short"]

_EXAMPLES = 3  # rows of each kind that a model file keeps
_SINGULAR = {kind.plural: kind.singular for kind in RepairKind}


@dataclass(frozen=True, slots=True)
class ReadReport:
    """Account of one reading.

    Attributes
    ----------
    source
        Name of the file or kind of the object.
    format
        Format it was read as.
    n_nodes, n_edges
        Size of the hierarchy that was built, a virtual root included.
    direction
        ``"child -> parent"`` or ``"parent -> child"`` for columns, else None: the format itself says who is above.
    direction_doubt
        One sentence when the direction is a guess.
    roots, n_roots
        The first few roots of the input by name, and how many there are.
    virtual_root
        Name of the root that was added to join several, or None.
    repair_counts
        Kind of repair -> how many: what was wrong in the input, and roots that were joined.
    decision_counts
        Kind of decision -> how many: what was left out or read in one of several ways, without a fault of the input.
    notes
        Further sentences worth telling: what was skipped, what a column was taken for.
    sha256
        Hash of the raw bytes as on disk, where there is a file.
    repairs
        Every repair and every decision with its kind, file, line and node; see :class:`treeball.hierarchy.Repairs`. A
        report that comes out of a model file has the first three of each kind.
    """

    source: str
    format: str
    n_nodes: int
    n_edges: int
    direction: str | None = None
    direction_doubt: str | None = None
    roots: tuple[str, ...] = ()
    n_roots: int = 1
    virtual_root: str | None = None
    repair_counts: Mapping[str, int] = field(default_factory=dict)
    decision_counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sha256: str | None = None
    repairs: Repairs = field(default_factory=Repairs, compare=False, repr=False)

    @property
    def n_repairs(self) -> int:
        """Number of repairs of all kinds, without the decisions."""
        return sum(self.repair_counts.values())

    def headline(self) -> str:
        """One line: size, direction, roots and repairs."""
        roots = f"{count(self.n_roots, 'root')} ({listed(self.roots, self.n_roots)})"
        if self.virtual_root is not None:
            roots += f" joined under {self.virtual_root}"
        size = f"{count(self.n_nodes, 'node')}, {count(self.n_edges, 'edge')}"
        return f"{size} {self._manner()}, {roots}, {self._repairs()}"

    def summary(self) -> str:
        """The headline, followed by one line for a doubtful direction and one for each note."""
        return self._with_notes(self.headline())

    def headline_of_edges(self) -> str:
        """The headline for edges that need not hang together: neither where they begin nor what joins them matters."""
        nodes, edges = self.n_nodes, self.n_edges
        if self.virtual_root is not None:
            nodes, edges = nodes - 1, edges - self.n_roots
        size = f"{count(edges, 'edge')} between {count(nodes, 'node')}"
        return f"{size} {self._manner()}, {self._repairs(but='roots joined')}"

    def summary_of_edges(self) -> str:
        """The same with one line for a doubtful direction and one for each note."""
        return self._with_notes(self.headline_of_edges())

    def _manner(self) -> str:
        return f"read as {self.direction}" if self.direction else f"read from {self.format}"

    def _repairs(self, but: str | None = None) -> str:
        told = {kind: number for kind, number in self.repair_counts.items() if kind != but}
        repairs = count(sum(told.values()), "repair")
        if told:
            repairs += " (" + ", ".join(repair_words(kind, number) for kind, number in told.items()) + ")"
        return repairs

    def _with_notes(self, headline: str) -> str:
        doubt = () if self.direction_doubt is None else (self.direction_doubt,)
        return "\n".join(map(printable, (headline, *doubt, *self.notes)))

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """The report as a mapping that JSON can hold; of the repairs their numbers and the first few."""
        content = {name: getattr(self, name) for name in self.__slots__ if name not in ("repair_counts", "repairs")}
        return content | {
            "roots": list(self.roots),
            "repairs": dict(self.repair_counts),
            "decision_counts": dict(self.decision_counts),
            "repair_examples": [repair._asdict() for repair in self.repairs.examples(_EXAMPLES)],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ReadReport:
        """Inverse of :meth:`to_dict`, except that only the first few repairs are listed."""
        given = dict(content)
        given["roots"] = tuple(given.get("roots", ()))
        given["notes"] = tuple(given.get("notes", ()))
        given["repair_counts"] = dict(given.pop("repairs", {}))
        given["repairs"] = Repairs(group for one in given.pop("repair_examples", ()) for group in _kept(Repair(**one)))
        return cls(**given)


def _kept(repair: Repair) -> Iterator[RepairGroup]:
    """The group of one repair that a file kept; none for a kind that only another version knows."""
    for kind in RepairKind:
        if kind.plural == repair.kind:
            found = repair.done.removesuffix(kind.done).removesuffix(": ")
            yield replace(RepairGroup.of_nodes(kind, [repair.node], [found], [repair.line]), file=repair.file)


def listed(names: Iterable[object], total: int, most: int = 8) -> str:
    """The first names of ``total``, separated by commas."""
    shown = [short(name) for name in islice(names, most)]
    return ", ".join(shown) + (", ..." if total > len(shown) else "")


def repair_words(kind: str, number: int) -> str:
    """How often something was repaired: "1 cycle edge", "1,203 cycle edges"."""
    return f"{number:,} {_SINGULAR.get(kind, kind) if number == 1 else kind}"
