"""Vectors: rows with names, as a file of any format holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..._version import __version__
from ...errors import InputError
from ...geometry.coordinates import dim_of
from ...types import Coordinates, Kind

if TYPE_CHECKING:
    from ...embedding import Embedding

__all__ = ["VectorFile", "Vectors", "as_kind", "checked_parents", "checked_texts", "reads_as_number", "rows_of"]

_KINDS: tuple[Kind, ...] = (*get_args(Coordinates), "euclidean")


def as_kind(text: Any) -> Kind | None:
    """A kind that a file names; None when it names none we know."""
    return next((kind for kind in _KINDS if kind == text), None)


def checked_texts(values: Any, count: int, label: str, *, lists: bool = False) -> Any:
    """Labels, or lists of synonyms, as a file gives them; InputError unless there is one for each of its rows."""
    if values is None:
        return None
    texts = [text for some in values for text in some] if lists and _all_lists(values) else values
    if not isinstance(values, list) or len(values) != count or (lists and not _all_lists(values)):
        raise InputError(f"{label}: it has no label, or list of synonyms, for each name; leave them out")
    if not all(text is None or isinstance(text, str) for text in texts):
        raise InputError(f"{label}: a label or synonym is no text; leave them out, or write it again")
    return values


def _all_lists(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(some, list) for some in values)


def reads_as_number(cell: str) -> bool:
    """Whether a cell of a text file can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def checked_parents(parents: Any, count: int, label: str) -> list[list[int]] | None:
    """Rows of parents as a file gives them; InputError unless they are lists of rows that exist."""
    if parents is None:
        return None
    try:
        fine = len(parents) == count and all(
            isinstance(row, int) and 0 <= row < count for rows in parents for row in rows
        )
    except TypeError:
        fine = False
    if not fine:
        raise InputError(
            f"{label}: its parents are not a list of rows for each name; leave them out, or write it again"
        )
    return [list(rows) for rows in parents]


@dataclass(frozen=True)
class Vectors:
    """Named vectors.

    Attributes
    ----------
    names
        A text for each row.
    values : float64 or float32 (n, width)
    kind
        What the numbers mean; None when the file does not say.
    parents
        For each row the rows of its parents, the primary one first; None when the file does not say.
    reach : float64 (n,)
        The reach of each row's node, for formats with a column for it; None when it is not written. What is read has
        none: with another hierarchy it would be another.
    labels
        What people call each row's node, None where there is no label; None when the file has none.
    synonyms
        What else each row's node is found by; None when the file does not say.
    points : float32 (n, 2d + 1)
        The same nodes in polar coordinates, by which what is found with search vectors is re-ranked; None for others.
    """

    names: list[str]
    values: NDArray[Any]
    kind: Kind | None = None
    parents: list[list[int]] | None = field(default=None, repr=False)
    reach: NDArray[np.float64] | None = field(default=None, repr=False)
    labels: list[str | None] | None = field(default=None, repr=False)
    synonyms: list[list[str]] | None = field(default=None, repr=False)
    points: NDArray[np.float32] | None = field(default=None, repr=False)

    @property
    def width(self) -> int:
        """Numbers in a vector, which may be more than the dimension: see `treeball.geometry.coordinates`."""
        return int(self.values.shape[1])

    @property
    def is_float32(self) -> bool:
        """Whether the numbers are of single precision."""
        return bool(self.values.dtype == np.float32)

    def first_parents(self) -> list[str | None]:
        """The name of each row's first parent, or None."""
        if self.parents is None:
            return [None] * len(self.names)
        return [self.names[rows[0]] if rows else None for rows in self.parents]

    def description(self) -> dict[str, Any]:
        """What a file should say of its vectors."""
        dim = dim_of(self.kind, self.width) if self.points is None else dim_of("polar", self.points.shape[1])
        return {"made_by": f"treeball {__version__}", "coordinates": self.kind, "dim": dim}


@dataclass(frozen=True)
class VectorFile:
    """A file to read vectors from.

    Attributes
    ----------
    path, data
        Where it is, and its content.
    names
        A file of names that was given for an array without; None when there is none.
    """

    path: Path
    data: bytes = field(repr=False)
    names: Path | None = None

    @property
    def label(self) -> str:
        """How messages call it."""
        return str(self.path)


def rows_of(
    embedding: Embedding,
    values: Any,
    kind: Kind,
    virtual_root: bool,
    reach: NDArray[np.float64] | None = None,
    points: NDArray[np.float32] | None = None,
) -> Vectors:
    """An embedding as rows, with `values` for its vectors: all nodes, or all but the virtual root."""
    hierarchy = embedding.hierarchy
    kept = np.arange(hierarchy.n_nodes) if virtual_root else hierarchy.real_nodes()
    row = np.full(hierarchy.n_nodes, -1)
    row[kept] = np.arange(kept.size)
    names = hierarchy.names.to_arrow().to_pylist()
    child, parent = hierarchy.edges() if virtual_root else hierarchy.real_edges()
    parents = [rows.tolist() for rows in np.split(row[parent], np.searchsorted(child, kept[1:]))]
    lists = hierarchy.names.synonyms
    return Vectors(
        [names[code] for code in kept.tolist()],
        values[kept],
        kind,
        parents,
        None if reach is None else reach[kept],
        hierarchy.labels.take(kept) if hierarchy.names.has_labels else None,
        None if lists is None else [some or [] for some in lists.take(pa.array(kept)).to_pylist()],
        None if points is None else points[kept],
    )
