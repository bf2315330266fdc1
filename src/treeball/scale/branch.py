"""One branch: placed by the single-machine code below its trunk, verified, and written as a shard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import counting, placement
from ..engine.cpu.graph import stable_order
from ..geometry.spaces import BALL
from ..io.atomic import atomic_write
from ..methods.construct import Plan
from ..nearest import search_tree
from ..types import Codes, Floats, Ints
from .fans import Fans
from .layout import BLOCK, GROUP, read_json, save_array, sha256_of, write_json
from .naming import names_between
from .trunk import NORM, Shape, Trunk, lengths_of_children, put_children, rows_of_children

__all__ = ["Branch", "is_done", "make_shard", "place_branch", "shard_path", "together"]

# Leaves of a branch that are verified, drawn by the seed; inner nodes all are, up to so many. That siblings have room
# among themselves is what fans are made for, and the search for what may be nearer than a parent among thousands of
# equals takes longer than all the rest.
VERIFIED_LEAVES, VERIFIED_INNER = 4096, 16_384


@dataclass(frozen=True)
class Branch:
    """A placed branch: first the nodes above it, then its own.

    Attributes
    ----------
    first, last : places of its own nodes
    above : int64 (a,), places of the nodes above
    parent : int32 (a+m,), by row; -1 for the root
    vectors : float64 (a+m, d)
    """

    first: int
    last: int
    above: Ints
    parent: Codes
    vectors: Floats

    def ill(self, rows: Ints, threads: int = 1) -> Ints:
        """Those of `rows` that have another node of the branch, or of those above, as near as their parent."""
        rows = rows[self.parent[rows] >= 0]
        tree = search_tree(*BALL.ranking_coordinates(self.vectors))
        ranks = tree.rank(rows, np.arange(rows.size + 1), self.parent[rows].astype(np.int64), threads=threads)[0]
        return rows[ranks > 1]


def place_branch(shape: Shape, fans: Fans, plan: Plan, trunk: Trunk, first: int, last: int, work: Path) -> Branch:
    """Places in space for the nodes from place `first` to before `last`."""
    above = np.array(shape.above(first), np.int64)
    a, m, dim = above.size, last - first, fans.rows.shape[1]
    parent = np.full(a + m, -1, np.int32)
    parent[1:a] = np.arange(a - 1)
    own = shape.parent[first:last].astype(np.int64)
    outside = own < first
    parent[a:] = np.where(outside, np.searchsorted(above, own), own - first + a)
    if first == 0:
        parent[a] = -1
    height = np.concatenate([shape.height[above], shape.height[first:last]]).astype(np.int32)
    left, length = np.zeros(a + m), np.zeros(a + m)
    depth, vectors = np.zeros(a + m, np.int32), np.zeros((a + m, dim))
    rows_above = np.searchsorted(trunk.places, above)
    left[:a], length[:a] = trunk.left[rows_above], trunk.length[rows_above]
    depth[:a], vectors[:a] = trunk.depth[rows_above], trunk.vectors[rows_above]
    begin = a
    if first == 0:
        left[0] = plan.budget
        begin = 1
    order = np.arange(a + m, dtype=np.int32)
    placement.lengthen(order, begin, parent, height, plan.longest, math.log(plan.growth), left, length)
    _deepen(parent, depth, begin)
    # Nodes of the trunk have children in other branches too: of theirs, those that are here.
    inside = trunk.places[(trunk.places >= first) & (trunk.places < last)]
    shared = np.concatenate([above, inside[inside + shape.size[inside] > last]])
    is_shared = np.zeros(a + m, bool)
    for place in shared.tolist():
        row = trunk.at(place)
        at = place - first + a if place >= first else int(np.searchsorted(above, place))
        is_shared[at] = True
        vectors[at] = trunk.vectors[row]
    for place in shared.tolist():
        row = trunk.at(place)
        children, rows = rows_of_children(shape, fans, plan, trunk, place, work)
        low, high = np.searchsorted(children, (first, last))
        if high > low:
            lengths, _ = lengths_of_children(shape, plan, trunk, row, children)
            found = np.zeros((high - low, dim))
            put_children(trunk, row, shape, fans, children.size, rows[low:high], lengths[low:high], found)
            vectors[children[low:high] - first + a] = found
    _place_below(shape, fans, parent, depth, length, is_shared, vectors)
    return Branch(first, last, above, parent, vectors)


def together(branches: list[Branch], trunk: Trunk, asked: Ints) -> tuple[Branch, Ints]:
    """Several branches and the trunk as one, and the rows of the places `asked`, which are in these branches."""
    own = np.concatenate([np.arange(one.first, one.last) for one in branches])
    rest = trunk.places[~np.isin(trunk.places, own)]
    places = np.sort(np.concatenate([rest, own]))
    vectors = np.empty((places.size, trunk.vectors.shape[1]))
    parent = np.full(places.size, -1, np.int32)
    vectors[np.searchsorted(places, trunk.places)] = trunk.vectors
    for one in branches:
        a = one.above.size
        at = np.searchsorted(places, np.arange(one.first, one.last))
        vectors[at] = one.vectors[a:]
        known = np.concatenate([one.above, np.arange(one.first, one.last)])
        above = one.parent[a:]
        parent[at] = np.where(above >= 0, np.searchsorted(places, known[np.maximum(above, 0)]), -1)
    return Branch(0, 0, rest, parent, vectors), np.searchsorted(places, asked)


def _place_below(
    shape: Shape, fans: Fans, parent: Codes, depth: Codes, length: Floats, is_shared: Any, vectors: Floats
) -> None:
    n = parent.size
    has = np.flatnonzero((parent >= 0) & ~is_shared[np.maximum(parent, 0)])
    child_ptr, order = stable_order(n, parent[has])
    child_idx = has[order].astype(np.int32)
    counts = np.diff(child_ptr)
    inner = np.flatnonzero(counts)
    fan_begin, fan_end, fan_cosine = np.zeros(n, np.int64), np.zeros(n, np.int64), np.ones(n)
    if inner.size:
        which = fans.of(counts[inner])
        fan_begin[inner], fan_end[inner] = fans.begin[which], fans.begin[which] + fans.sizes[which]
        fan_cosine[inner] = fans.cosine[which]
    placement.place_children(
        np.arange(n, dtype=np.int32), parent, depth, child_ptr, child_idx, length, fan_begin, fan_end, fan_cosine,
        fans.rows, NORM, vectors,
    )  # fmt: skip


def _deepen(parent: Codes, depth: Codes, begin: int) -> None:
    """Depths of the rows from `begin` on, parents before children."""
    whole = placement.depths(np.arange(parent.size, dtype=np.int32), parent)
    shift = int(depth[begin - 1]) - int(whole[begin - 1]) if begin else 0
    depth[begin:] = whole[begin:] + shift


def shard_path(folder: Path, task: int) -> Path:
    """The Parquet file of a branch."""
    return folder / "shards" / f"branch-{task:06d}.parquet"


def boxes_path(folder: Path, task: int) -> Path:
    """Boxes around the blocks of a branch, until they are put together."""
    return folder / "work" / "records" / f"branch-{task:06d}.npy"


def record_path(folder: Path, task: int) -> Path:
    """What a branch says of its shard."""
    return folder / "work" / "records" / f"branch-{task:06d}.json"


def is_done(folder: Path, task: int, key: str) -> bool:
    """Whether the shard of a branch is there, made by the same run, with the bytes that were verified."""
    shard, record = shard_path(folder, task), record_path(folder, task)
    if not (shard.is_file() and record.is_file() and boxes_path(folder, task).is_file()):
        return False
    try:
        kept = read_json(record)
        return bool(kept.get("key") == key and kept.get("sha256") == sha256_of(shard))
    except Exception:
        return False


def make_shard(folder: str, task: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Place, verify and write one branch; -> its record. A shard that is there already is not made again."""
    home = Path(folder)
    if is_done(home, task, settings["key"]):
        return read_json(record_path(home, task)) | {"kept": True}
    work = home / "work"
    shape, fans, trunk = Shape.load(home), Fans.load(work), Trunk.load(work)
    first, last = settings["cuts"][task], settings["cuts"][task + 1]
    branch = place_branch(shape, fans, Plan(**settings["plan"]), trunk, first, last, work)
    own = branch.above.size + np.arange(last - first)
    looked_at = _sample(shape.height[first:last], [settings["seed"], task]) + branch.above.size
    ill = branch.ill(looked_at)
    table = _table(home, branch, settings)
    target = shard_path(home, task)
    with atomic_write(target) as temporary:
        pq.write_table(
            table,
            temporary,
            row_group_size=GROUP,
            compression={"node": "zstd", "parent": "zstd", "vector": "none"},
            use_dictionary=["parent"],
            write_statistics=False,
        )
        digest = sha256_of(temporary)
    vectors = branch.vectors[own]
    record = {
        "key": settings["key"], "task": task, "first": int(first), "last": int(last), "sha256": digest,
        "bytes": target.stat().st_size, "ill": int(ill.size), "looked_at": int(looked_at.size),
        "ill_places": (ill - branch.above.size + first).tolist()[:1000],
        "largest_radius": 2.0 * math.asinh(math.sqrt(counting.keys_to(vectors, np.zeros(vectors.shape[1])).max())),
    }  # fmt: skip
    save_array(boxes_path(home, task), counting.boxes(vectors, BLOCK))
    write_json(record_path(home, task), record)
    return record


def _sample(height: Codes, seed: list[int]) -> Ints:
    """Nodes of a branch to verify, from 0: inner ones and leaves."""
    rng = np.random.default_rng(seed)
    parts = [(np.flatnonzero(height > 0), VERIFIED_INNER), (np.flatnonzero(height == 0), VERIFIED_LEAVES)]
    return np.sort(np.concatenate([rng.choice(all_, min(most, all_.size), replace=False) for all_, most in parts]))


def _table(folder: Path, branch: Branch, settings: dict[str, Any]) -> pa.Table:
    """Rows of a shard: node, parent, other parents where the hierarchy has any, vector."""
    a, first, last = branch.above.size, branch.first, branch.last
    own = names_between(folder / "work" / "names.parquet", first, last)
    known = read_json(folder / "work" / "trunk_names.json")
    everyone = pa.concat_arrays([pa.array([known[str(place)] for place in branch.above], pa.string()), own])
    parent = branch.parent[a:]
    dim = branch.vectors.shape[1]
    columns = {
        "node": own,
        "parent": everyone.take(pa.array(np.maximum(parent, 0), mask=parent < 0)),
    }
    if settings["several_parents"]:
        others = pq.read_table(
            folder / "work" / "others.parquet", filters=[("child", ">=", int(first)), ("child", "<", int(last))]
        )
        rows = np.asarray(others["child"]).astype(np.int64) - first
        counts = np.bincount(rows, minlength=last - first)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        names = others["name"].combine_chunks()
        columns["other_parents"] = pa.ListArray.from_arrays(offsets, names)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(branch.vectors[a:].ravel()), dim)
    return pa.table(columns)
