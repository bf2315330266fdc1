"""What a reader understood of its input, and what it had to repair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..words import count, printable

_SINGULAR = {
    "empty names": "empty name",
    "self-loops": "self-loop",
    "duplicate edges": "duplicate edge",
    "cycle edges": "cycle edge",
    "undefined parents": "undefined parent",
    "names trimmed": "name trimmed",
    "irregular indents": "irregular indent",
    "repeated siblings merged": "repeated sibling merged",
    "negative branch lengths": "negative branch length",
    "folders not listed": "folder not listed",
    "implied edges": "implied edge",
}


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
    repairs
        Kind of repair -> how many.
    notes
        Further sentences worth telling: what was skipped, what a column was taken for.
    sha256
        Hash of the raw bytes as on disk, where there is a file.
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
    repairs: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sha256: str | None = None

    @property
    def n_repairs(self) -> int:
        """Number of repairs of all kinds."""
        return sum(self.repairs.values())

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
        told = {kind: number for kind, number in self.repairs.items() if kind != but}
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
        """The report as a mapping that JSON can hold."""
        content = {name: getattr(self, name) for name in self.__slots__}
        return content | {
            "roots": list(self.roots),
            "repairs": dict(self.repairs),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ReadReport:
        """Inverse of :meth:`to_dict`."""
        given = dict(content)
        given["roots"] = tuple(given.get("roots", ()))
        given["notes"] = tuple(given.get("notes", ()))
        return cls(**given)


def short(name: object) -> str:
    """Name for a message: on one line and not longer than a line."""
    text = " ".join(str(name).split())
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Iterable[object], total: int, most: int = 8) -> str:
    """The first names of ``total``, separated by commas."""
    shown = [short(name) for name in islice(names, most)]
    return ", ".join(shown) + (", ..." if total > len(shown) else "")


def repair_words(kind: str, number: int) -> str:
    """How often something was repaired: "1 cycle edge", "1,203 cycle edges"."""
    return f"{number:,} {_SINGULAR.get(kind, kind) if number == 1 else kind}"
