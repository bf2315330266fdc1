"""The nodes of a branch in tiles: near each other in space, with boxes, for the comparison with other branches.

Children that a node with very many of them has in directions of one fan are in tiles of their own: the fan keeps them
apart, whatever branches they are in. So are nodes with several parents, some of which may be far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ..engine.cpu import borders, box_tree, counting, flat_tree, moving, placement, reach
from ..io.atomic import atomic_write
from ..types import Floats, Ints, Mask
from ..workers import apart
from .fans import Fans
from .layout import array, read_json, save_array, write_json
from .reaches import MARGIN, rounded_up
from .shard import shard_path
from .trunk import Shape, Trunk

__all__ = [
    "AllTiles",
    "Tiles",
    "borders_path",
    "in_small",
    "lay_tiles",
    "of_branch",
    "parent_keys",
    "save_all",
    "vectors_of",
]

# A child that is seen so many times the smallest angle of its fan beside its direction is in it no longer.
_OFF = 0.002
# Segments of a branch that are no children of a node with a fan of its own.
_PLAIN, _SEVERAL, _INNER = -1, -2, -3
# What all other branches look up of the tiles of a branch: in files of their own, which are mapped and not read.
_MAPPED = ("begin", "order")


def borders_path(folder: Path, name: str, task: int) -> Path:
    """A file that the comparison across borders keeps of a branch."""
    return folder / "work" / "borders" / f"{name}-{task:06d}"


def of_branch(folder: Path, name: str, task: int) -> Any:
    """An array that the comparison across borders keeps of a branch, mapped."""
    return np.asarray(array(borders_path(folder, name, task).with_suffix(".npy")))


def _keep(folder: Path, name: str, task: int, values: Any) -> None:
    save_array(borders_path(folder, name, task).with_suffix(".npy"), values)


def _kept_tiles(folder: Path, task: int) -> dict[str, Any]:
    """Boxes and the like of the tiles of a branch."""
    with np.load(borders_path(folder, "tiles", task).with_suffix(".npz")) as kept:
        return dict(kept)


def save_all(path: Path, arrays: dict[str, Any]) -> None:
    """Write several arrays into one file, whole or not at all."""
    with atomic_write(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def _all_path(folder: Path) -> Path:
    return folder / "work" / "borders" / "tiles.npz"


def in_small(begin: Ints) -> tuple[Ints, Ints]:
    """Where the small tiles in tiles begin, and which of them each tile has."""
    counts = -(-np.diff(begin) // borders.FINE)
    which = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    within = np.arange(which[-1]) - np.repeat(which[:-1], counts)
    return np.append(np.repeat(begin[:-1], counts) + within * borders.FINE, begin[-1]).astype(np.int64), which


def vectors_of(path: Path, dim: int) -> Floats:
    """All vectors (m, d) of a shard."""
    column = pq.read_table(path, columns=["vector"])["vector"].combine_chunks()
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, dim)


@dataclass(frozen=True)
class Tiles:
    """The tiles of one branch.

    Attributes
    ----------
    boxes : float64 (t, 2d+2)
    begin : int64 (t+1,), where each begins among the nodes of the branch in this order
    kin : int64 (t,), the place whose children they are, all in directions of its fan, or -1
    short, long, cosine : float64 (t,), their shortest and longest edge, and the cosine of the fan's smallest angle
    order : int64 (m,), which node of the branch each is
    """

    boxes: Floats
    begin: Ints
    kin: Ints
    short: Floats
    long: Floats
    cosine: Floats
    order: Ints

    @classmethod
    def load(cls, folder: Path, task: int) -> Tiles:
        """What `lay_tiles` wrote."""
        mapped = {name: np.array(of_branch(folder, name, task)) for name in _MAPPED}
        return cls(**_kept_tiles(folder, task), **mapped)


@dataclass(frozen=True)
class AllTiles:
    """The tiles of all branches, those near each other next to each other, with boxes around them.

    Attributes
    ----------
    boxes, starts : see `reach.stack_boxes`
    home, number : int64 (t,), the branch of each, and which of its tiles it is
    kin, short, cosine : see `Tiles`
    """

    boxes: Floats
    starts: Ints
    home: Ints
    number: Ints
    kin: Ints
    short: Floats
    cosine: Floats

    @classmethod
    def of(cls, folder: Path, tasks: int) -> AllTiles:
        """Read the tiles of all branches."""
        every = [_kept_tiles(folder, task) for task in range(tasks)]
        lowest = np.concatenate([one["boxes"] for one in every])
        dim = lowest.shape[1] // 2 - 1
        middles, order = 0.5 * (lowest[:, :dim] + lowest[:, dim : 2 * dim]), np.arange(len(lowest))
        apart(lambda: box_tree.arrange(middles, -np.log(lowest[:, -1]), order))
        boxes, _, starts = reach.stack_boxes(lowest[order], np.zeros(order.size))
        counts = np.array([len(one["boxes"]) for one in every])
        home = np.repeat(np.arange(tasks), counts)
        number = np.arange(home.size) - np.repeat(np.cumsum(counts) - counts, counts)
        kin, short, cosine = (
            np.concatenate([one[name] for one in every])[order] for name in ("kin", "short", "cosine")
        )
        return cls(boxes, starts, home[order], number[order], kin, short, cosine)

    def save(self, folder: Path) -> None:
        """Write them for the workers."""
        save_all(_all_path(folder), vars(self))

    @classmethod
    def load(cls, folder: Path) -> AllTiles:
        """What `save` wrote."""
        with np.load(_all_path(folder)) as kept:
            return cls(**dict(kept))


def lay_tiles(folder: str, task: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Lay the nodes of one branch in tiles and write these; what is there for the same shard is not made again."""
    home = Path(folder)
    record = borders_path(home, "tiles", task).with_suffix(".json")
    made_of = {"task": task, "of": settings["sha256"][task]}
    if record.is_file() and read_json(record) == made_of:
        return made_of
    shape, trunk = Shape.load(home), Trunk.load(home / "work")
    first, last = settings["cuts"][task], settings["cuts"][task + 1]
    vectors = vectors_of(shard_path(home, task), trunk.vectors.shape[1])
    kin, cosine = _kin(home, shape, trunk, vectors, first, last)
    keys = np.maximum(parent_keys(shape, trunk, vectors, first, last), 0.0)
    edges = 2.0 * np.arcsinh(np.sqrt(keys))
    parts = [_arranged(vectors, np.flatnonzero(kin == one)) for one in np.unique(kin)]
    order = np.concatenate(parts)
    begin: list[int] = []
    at = 0
    for part in parts:
        begin += range(at, at + part.size, borders.COARSE)
        at += part.size
    starts = np.array(begin)
    points, sorted_edges, owners = vectors[order], edges[order], kin[order][starts]
    tile_begin = np.append(starts, at)
    tiles = {
        "boxes": counting.boxes_between(points, tile_begin), "kin": np.maximum(owners, -1),
        "short": np.minimum.reduceat(sorted_edges, starts), "long": np.maximum.reduceat(sorted_edges, starts),
        "cosine": np.array([cosine.get(int(one), 1.0) for one in owners]),
    }  # fmt: skip
    inner = _parents_among(home, shape, first, last)
    arrays = {
        "inner": vectors[inner], "inner-places": first + inner, "points": points, "begin": tile_begin, "order": order,
        "small": counting.boxes_between(points, in_small(tile_begin)[0]),
        "reach": rounded_up(reach.of_keys(keys, MARGIN)),
    }  # fmt: skip
    for name, values in arrays.items():
        _keep(home, name, task, values)
    save_all(borders_path(home, "tiles", task).with_suffix(".npz"), tiles)
    write_json(record, made_of)
    return made_of


def _parents_among(folder: Path, shape: Shape, first: int, last: int) -> Ints:
    """Nodes of a branch, from 0, that anybody has as a parent; for some they are a further parent only."""
    further = np.asarray(array(folder / "topology" / "other_parent.npy"))
    further = further[(further >= first) & (further < last)].astype(np.int64) - first
    return np.union1d(np.flatnonzero(shape.height[first:last] > 0), further)


def parent_keys(shape: Shape, trunk: Trunk, vectors: Floats, first: int, last: int) -> Floats:
    """Key of the primary parent of each node of a branch (m,), -1 for the root."""
    parents = shape.parent[first:last].astype(np.int64)
    inside, above = parents >= first, (parents >= 0) & (parents < first)
    at = np.empty_like(vectors)
    at[inside] = vectors[parents[inside] - first]
    at[above] = trunk.vectors[np.searchsorted(trunk.places, parents[above])]
    found = np.full(parents.size, -1.0)
    has = inside | above
    found[has] = moving.keys_between(vectors[has], at[has])
    return found


def _arranged(vectors: Floats, rows: Ints) -> Ints:
    """Rows of nodes in an order in which those next to each other are near each other."""
    points, order = vectors[rows], np.arange(rows.size)
    apart(lambda: box_tree.arrange(points, -np.log(counting.gaps(points)), order))
    return np.asarray(rows[order])


def _kin(
    folder: Path, shape: Shape, trunk: Trunk, vectors: Floats, first: int, last: int
) -> tuple[Ints, dict[int, float]]:
    """To which segment each node of a branch belongs, int64 (m,), and cosines of the smallest angles of the fans."""
    kin = np.where(shape.height[first:last] > 0, _INNER, _PLAIN).astype(np.int64)
    cosine: dict[int, float] = {}
    fans = Fans.load(folder / "work")
    for path in sorted((folder / "work").glob("rows-*.npy")):
        place = int(path.stem.removeprefix("rows-"))
        row = trunk.at(place)
        if row < 0 or place >= last or place + int(shape.size[place]) <= first:
            continue
        children = flat_tree.children_at(place, shape.size)
        low, high = (int(one) for one in np.searchsorted(children, (first, last)))
        which = int(fans.of(np.array([children.size]))[0])
        angle = math.acos(float(fans.cosine[which]))
        cosine[place] = math.cos(angle * (1.0 - 2.0 * _OFF)) + 1e-7
        some = children[low:high].astype(np.int64) - first
        kin[some[_follow(shape, trunk, fans, which, place, row, path, low, high, vectors[some], angle)]] = place
    several = np.asarray(array(folder / "topology" / "other_child.npy"))
    low, high = np.searchsorted(several, (first, last))
    kin[several[low:high].astype(np.int64) - first] = _SEVERAL
    return kin, cosine


def _follow(
    shape: Shape, trunk: Trunk, fans: Fans, which: int, place: int, row: int, kept: Path, low: int, high: int,
    points: Floats, angle: float,
) -> Mask:  # fmt: skip
    """Which of some children of a node are in the directions that they have in its fan."""
    fan = fans.rows[fans.begin[which] : fans.begin[which] + fans.sizes[which]]
    rows = np.asarray(array(kept))[low:high].astype(np.int64)
    back, has_parent = np.zeros(fan.shape[1]), False
    if place > 0:
        above = trunk.at(int(shape.parent[place]))
        has_parent = bool(placement.direction_to(trunk.vectors[row], trunk.vectors[above], back))
        if not has_parent:
            return np.zeros(rows.size, bool)
    directions = placement.directions_along(rows, np.ascontiguousarray(fan), back, has_parent, trunk.depth[row])
    return np.asarray(moving.follow(points, trunk.vectors[row], directions, _OFF * angle))
