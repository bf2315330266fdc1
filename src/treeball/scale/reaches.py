"""How far each node of a model folder wants no other: the key of its parent with a margin, kept beside the index.

They are made when borders are checked, or in one pass over the shards when leaves are first added to a folder of one
branch; and by every later addition for the nodes that it adds.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.cpu import reach
from ..errors import InputError
from ..io.atomic import atomic_write
from ..types import Floats, Ints
from ..workers import in_parts
from .folder import ModelFolder
from .layout import GROUP, array, new_array, save_array
from .soundness import sound_array

__all__ = ["MARGIN", "Reaches", "rounded_up", "save_built"]

MARGIN = 1.002
"""How many times farther than the parent all others are to stay."""
_BUILT = "index/reach.npy"


def rounded_up(reaches: Floats) -> Any:
    """The same in half the bytes, float32, and no smaller."""
    return np.where(reaches > 0.0, np.nextafter(reaches.astype(np.float32), np.float32(np.inf)), np.float32(0.0))


class Reaches:
    """The reaches of all nodes of a folder, float32, mapped; those that are missing are made."""

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        self._folder = folder
        self._parts = [_of_built(folder, threads)]
        first = folder.n_built
        for record in folder.manifest.get("added", []):
            self._parts.append(_of_added(folder, record, first))
            first += record["rows"]
        self._first = np.concatenate([[0], np.cumsum([part.size for part in self._parts])])

    def of_group(self, group: int) -> Any:
        """Reaches (g,) of the nodes of a row group."""
        first = int(self._folder.group_first[group])
        last = min(first + GROUP, int(self._folder.cuts[self._folder.group_shard[group] + 1]))
        part = int(np.searchsorted(self._first, first, "right")) - 1
        return self._parts[part][first - self._first[part] : last - self._first[part]]

    def widest(self) -> Floats:
        """The largest of each row group, float64 (g,)."""
        return np.array([self.of_group(group).max() for group in range(self._folder.group_first.size)], np.float64)


def save_built(folder: Path, parts: Iterable[Floats], nodes: int) -> None:
    """Keep the reaches of the nodes of the construction, given branch by branch."""
    with atomic_write(folder / _BUILT) as temporary:
        out = new_array(temporary, np.float32, (nodes,))
        at = 0
        for part in parts:
            out[at : at + part.size] = part
            at += part.size
        out.flush()


def _of_built(folder: ModelFolder, threads: int) -> Any:
    path = folder.path / _BUILT
    try:
        return sound_array(path, np.float32, (folder.n_built,))
    except InputError:  # missing, or damaged, and made of what the shards hold
        _make(folder, path, threads)
    return array(path)


def _make(folder: ModelFolder, path: Path, threads: int) -> None:
    """Write the reaches of the nodes of the construction; each row group is read once, and a few more at the cuts."""
    groups = int(np.searchsorted(folder.group_first, folder.n_built))
    with atomic_write(path) as temporary:
        out = new_array(temporary, np.float32, (folder.n_built,))

        def work(part: slice) -> None:
            # Subtrees are in one piece: a parent before a group is above its first node.
            kept: dict[int, Floats] = {}
            for group in range(part.start, part.stop):
                first = int(folder.group_first[group])
                above = folder.shape.above(first)
                missing = [one for one in above if one not in kept]
                if missing:
                    kept |= zip(missing, folder.vectors(missing), strict=True)
                vectors = folder.group(group)
                last = first + len(vectors)
                found = np.empty(len(vectors))
                at = np.array([kept[one] for one in above]).reshape(-1, folder.dim)
                parents = folder.shape.parent[first:last]
                reach.edge_reach(vectors, first, parents, np.array(above, np.int64), at, MARGIN, found)
                out[first:last] = rounded_up(found)
                following = folder.shape.above(last) if last < folder.n_built else []
                kept = {one: kept[one] if one < first else vectors[one - first].copy() for one in following}

        in_parts(work, groups, threads)
        out.flush()


def _of_added(folder: ModelFolder, record: dict[str, Any], first: int) -> Any:
    if "reach" in record:
        return sound_array(folder.path / record["reach"], np.float32, (record["rows"],))
    # Added by a version that did not keep them.
    places = first + np.arange(record["rows"])
    found = np.empty(places.size)
    above: Ints = np.unique(folder.primary_parents(places))
    reach.edge_reach(
        folder.vectors(places), len(folder), folder.primary_parents(places), above, folder.vectors(above), MARGIN, found
    )
    file = folder.path / record["parents"].replace("-parents", "-reach")
    save_array(file, rounded_up(found))
    return array(file)
