"""Nearest nodes in a model folder, exactly: groups by the distance they have at least, until none can be nearer."""

from __future__ import annotations

import numpy as np

from ..engine.cpu import counting
from ..types import Floats, Ints
from .folder import ModelFolder
from .layout import BLOCK

__all__ = ["nearest"]


def nearest(folder: ModelFolder, point: Floats, k: int, exclude: tuple[int, ...] = ()) -> tuple[Ints, Floats, int]:
    """Places and distances of the k nodes nearest to a point (d,), and how many groups were read."""
    left_out = set(exclude) | ({0} if folder.has_virtual_root else set())
    begin, group_boxes = folder.group_boxes
    least = counting.least_keys(group_boxes, point)
    order = np.argsort(least, kind="stable")
    places, keys = np.empty(0, np.int64), np.empty(0)
    read = 0
    for group in order.tolist():
        full = keys.size == k
        if full and least[group] > keys[-1]:
            break
        bounds = counting.least_keys(folder.boxes[begin[group] : begin[group + 1]], point)
        near = np.flatnonzero(bounds <= keys[-1]) if full else np.arange(bounds.size)
        if not near.size:
            continue
        read += 1
        vectors = folder.group(group)
        rows = np.concatenate([np.arange(at * BLOCK, min(len(vectors), (at + 1) * BLOCK)) for at in near])
        rows = rows[~folder.is_removed(folder.group_first[group] + rows)]
        found = counting.keys_to(vectors[rows], point)
        best = np.argpartition(found, k + len(left_out))[: k + len(left_out)] if found.size > k + len(left_out) else ...
        found_places, found = (folder.group_first[group] + rows)[best], found[best]
        keep = np.array([int(one) not in left_out for one in found_places], bool)
        places, keys = np.concatenate([places, found_places[keep]]), np.concatenate([keys, found[keep]])
        chosen = np.lexsort((places, keys))[:k]
        places, keys = places[chosen], keys[chosen]
    return places, 2.0 * np.arcsinh(np.sqrt(keys)), read
