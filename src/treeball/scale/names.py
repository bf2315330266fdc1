"""Names of nodes as numbers, 64 bits each, sorted, with the place of each node beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..engine.cpu.name_hash import hash_names
from ..types import Ints
from .layout import damaged
from .soundness import sound_array

__all__ = ["NameIndex", "hash_of", "hashes_of", "matches"]


def hashes_of(names: Any) -> tuple[Any, Any]:
    """Hashes and check words of an Arrow array of texts, 0 where there is none; see `engine.cpu.name_hash`."""
    texts = names.cast(pa.large_string())
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    missing = texts.is_null().to_numpy(zero_copy_only=False) if texts.null_count else np.zeros(len(texts), bool)
    return hash_names(letters, offsets, missing)  # type: ignore[no-any-return]


def hash_of(name: str) -> int:
    """The hash of one name."""
    return int(hashes_of(pa.array([name]))[0][0])


class NameIndex:
    """Places of names, by search in a sorted file that is mapped and not read."""

    def __init__(self, folder: Path, names: int, places: int, digests: Mapping[str, str]) -> None:
        """Map the files in a folder, for so many names of nodes with that many places."""
        kinds = {"hash": np.uint64, "place": np.int32}
        self.hashes, self.places = (
            sound_array(folder / f"{name}.npy", kind, (names,), digests.get(f"index/{name}.npy"))
            for name, kind in kinds.items()
        )
        self._folder, self._end = folder, places

    def candidates(self, name: str) -> Ints:
        """Places of the nodes whose names have the hash of this one: mostly one, or none."""
        return self.candidates_of_all(hashes_of(pa.array([name], pa.string()))[0])[1]

    def candidates_of_all(self, sought: Any) -> tuple[Ints, Ints]:
        """Rows of hashes (m,), and the place of a node with that hash beside each; rows ascend."""
        rows, places = matches(self.hashes, self.places, sought)
        if places.size and not (places.min() >= 0 and places.max() < self._end):
            raise damaged(self._folder / "place.npy")
        return rows, places


def matches(known: Any, places: Any, sought: Any) -> tuple[Ints, Ints]:
    """Rows of `sought` (m,), ascending, with the place that lies beside each equal one of the `known`, ascending, (n,).

    They are asked in ascending order, so that a mapped file is read from its beginning to its end.
    """
    order = np.argsort(sought, kind="stable")
    first, last = (np.searchsorted(known, sought[order], side) for side in ("left", "right"))
    found = np.flatnonzero(last > first)
    counts = (last - first)[found]
    at = np.repeat(first[found], counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.repeat(order[found], counts)
    by_row = np.argsort(rows, kind="stable")
    return rows[by_row], np.asarray(places[at[by_row]], np.int64)
