"""The shard of one branch: placed or trained, its leaves with several parents moved, verified, and written."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import counting
from ..io.atomic import atomic_write
from ..types import Codes, Ints
from .branch import Branch, place_branch
from .fans import Fans
from .layout import BLOCK, GROUP, array, read_json, save_array, sha256_of, write_json
from .lengths import FolderPlan
from .naming import names_between
from .second_parents import move_between_parents
from .settings import Placing, is_trained
from .soundness import sound_array
from .trunk import Shape, Trunk

__all__ = [
    "boxes_path",
    "is_done",
    "make_shard",
    "other_edges",
    "record_path",
    "remove_shards",
    "shard_path",
    "write_table",
]

_STEMS: dict[Placing, str] = {"construct": "branch", "softmax": "trained"}

# Leaves of a branch that are verified, drawn by the seed; inner nodes all are, up to so many. That siblings have room
# among themselves is what fans are made for, and the search for what may be nearer than a parent among thousands of
# equals takes longer than all the rest.
VERIFIED_LEAVES, VERIFIED_INNER = 4096, 16_384


def shard_path(folder: Path, task: int, how: Placing = "construct") -> Path:
    """The Parquet file of a branch, constructed or trained."""
    return folder / "shards" / f"{_STEMS[how]}-{task:06d}.parquet"


def boxes_path(folder: Path, task: int, how: Placing = "construct") -> Path:
    """Boxes around the blocks of a branch, until they are put together."""
    return folder / "work" / "records" / f"{_STEMS[how]}-{task:06d}.npy"


def record_path(folder: Path, task: int, how: Placing = "construct") -> Path:
    """What a branch says of its shard."""
    return folder / "work" / "records" / f"{_STEMS[how]}-{task:06d}.json"


def remove_shards(folder: Path, how: Placing) -> None:
    """Remove all branches that were constructed, or trained."""
    for room in ("shards", "work/records"):
        for path in (folder / room).glob(f"{_STEMS[how]}-*"):
            path.unlink()


def is_done(folder: Path, task: int, how: Placing, key: str) -> bool:
    """Whether the shard of a branch is there, made by the same run, with the bytes that were verified."""
    shard, record = shard_path(folder, task, how), record_path(folder, task, how)
    if not (shard.is_file() and record.is_file() and boxes_path(folder, task, how).is_file()):
        return False
    try:
        kept = read_json(record)
        numbers = (kept[name] for name in ("first", "last", "bytes", "ill", "looked_at", "largest_radius"))
        blocks = -(-(kept["last"] - kept["first"]) // BLOCK)
        sound = all(isinstance(one, (int, float)) for one in numbers) and kept["task"] == task
        sound_array(boxes_path(folder, task, how), np.float64, (blocks, None))
        return bool(sound and kept.get("key") == key and kept.get("sha256") == sha256_of(shard))
    except Exception:
        return False


def make_shard(folder: str, task: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Place or train, verify and write one branch; -> its record. A shard that is there is not made again."""
    home, how = Path(folder), settings["how"]
    if is_done(home, task, how, settings["key"]):
        return read_json(record_path(home, task, how)) | {"kept": True}
    if is_trained(how):
        from .trained_branch import trained_branch

        return _write(home, task, settings, *trained_branch(home, task, settings))
    work = home / "work"
    shape, fans, trunk = Shape.load(home), Fans.load(work), Trunk.load(work)
    first, last = settings["cuts"][task], settings["cuts"][task + 1]
    plan = FolderPlan(**settings["plan"])
    branch = place_branch(shape, fans, plan, trunk, first, last, work)
    moved = np.empty(0, np.int64)
    if settings["several_parents"]:
        child, other = other_edges(home, first, last)
        seed = [settings["seed"], task, 1]
        moved = move_between_parents(branch, shape, fans, plan, trunk, work, child, other, seed)
    looked_at = _sample(shape.height[first:last], [settings["seed"], task]) + branch.above.size
    # Those that were moved are between two parents, and not next to the primary one.
    looked_at = np.setdiff1d(looked_at, moved)
    ill = branch.ill(looked_at)
    found = {
        "ill": int(ill.size), "looked_at": int(looked_at.size), "moved": int(moved.size),
        "ill_places": (ill - branch.above.size + first).tolist()[:1000],
    }  # fmt: skip
    return _write(home, task, settings, branch, found)


def _write(home: Path, task: int, settings: dict[str, Any], branch: Branch, found: dict[str, Any]) -> dict[str, Any]:
    """Write the shard of a branch, its boxes and its record, in which there is what was `found`; -> the record."""
    table, how = _table(home, branch, settings), settings["how"]
    target = shard_path(home, task, how)
    digest = write_table(table, target)
    vectors = branch.vectors[branch.above.size :]
    record = {
        "key": settings["key"], "task": task, "first": int(branch.first), "last": int(branch.last), "sha256": digest,
        "bytes": target.stat().st_size, **found,
        "largest_radius": 2.0 * math.asinh(math.sqrt(counting.keys_to(vectors, np.zeros(vectors.shape[1])).max())),
    }  # fmt: skip
    save_array(boxes_path(home, task, how), counting.boxes(vectors, BLOCK))
    write_json(record_path(home, task, how), record)
    return record


def write_table(table: pa.Table, target: Path) -> str:
    """Write the rows of a shard, whole or not at all; -> their SHA-256."""
    with atomic_write(target) as temporary:
        pq.write_table(
            table,
            temporary,
            row_group_size=GROUP,
            compression={"node": "zstd", "parent": "zstd", "vector": "none"},
            use_dictionary=["parent"],
            write_statistics=False,
        )
        return sha256_of(temporary)


def other_edges(folder: Path, first: int, last: int) -> tuple[Ints, Ints]:
    """Edges of the nodes of a branch to other parents than the primary one, by place."""
    child, other = (array(folder / "topology" / f"other_{end}.npy") for end in ("child", "parent"))
    low, high = np.searchsorted(child, (first, last))
    return child[low:high].astype(np.int64), other[low:high].astype(np.int64)


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
