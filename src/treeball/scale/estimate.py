"""What a model folder will take, before anything is made: tasks, memory, time and disk, from the size of the input."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..io.memory import bytes_of
from ..workers import thread_count
from .anchors import room_for_anchors
from .settings import ScaleSettings, is_trained
from .source import Edges, connect
from .trained_branch import training_of

__all__ = ["Estimate", "bytes_on_disk", "estimate"]

# Bytes that the layout holds for each row, counted from its arrays; and what a program takes anyway.
_LAYOUT_BYTES, _PROGRAM = 52, 400 << 20
# For each node of a branch: vectors, search tree, names and lengths, counted.
_BRANCH_BYTES = 420
# Microseconds for each row: intake and naming; and placing, verifying and writing, on one core. Two workers took 18 for
# both from 1 to 10 million nodes (docs/scale.md); how these divide is an assumption. Borders: measured at 10 million.
_INTAKE_US, _BRANCH_US, _BORDERS_US = 8.0, 20.0, 10.0
_NAME_BYTES = 24
# On the way: for reading and naming; later what is kept of that, and beside it vectors in tiles with order and boxes.
_READING_BYTES, _KEPT_BYTES, _TILE_BYTES = 60, 33, 16
# For each node that is trained in one piece, anchors or a branch with them, and for each of these and coordinate: lists
# of the nearest, ancestors and a search tree, and vectors, gradients and moments. And microseconds for each of the
# branch, or of the anchors, in an epoch on one core, measured (docs/scale.md).
_TRAINED_BYTES, _TRAINED_BYTES_A_COORDINATE, _EPOCH_US = 1200, 100, 25.0


@dataclass(frozen=True)
class Estimate:
    """An estimate.

    Attributes
    ----------
    rows : edges in the files
    tasks, workers : branches, and how many at a time
    memory, branch_memory : bytes at the peak of all processes, and of one worker
    seconds : of the whole, on this machine
    shard_bytes, model_bytes, work_bytes : of one shard, of the folder, and of what is needed on the way
    """

    rows: int
    tasks: int
    workers: int
    memory: int
    branch_memory: int
    seconds: float
    shard_bytes: int
    model_bytes: int
    work_bytes: int


def bytes_on_disk(rows: int, dim: int) -> tuple[int, int]:
    """Bytes of the model folder of so many edges, and of what lies beside it on the way."""
    return (8 * dim + _NAME_BYTES + 24) * rows, max(_READING_BYTES, _KEPT_BYTES + 9 * dim + _TILE_BYTES) * rows


def estimate(sources: tuple[str, ...], settings: ScaleSettings, folder: Path | None = None) -> Estimate:
    """What `treeball fit` would take; InputError where it cannot fit."""
    edges = Edges.of(sources, settings.reading)
    spill = (folder or Path.cwd()).parent
    if not spill.is_dir():
        raise InputError(f"cannot write {str(folder)!r}: there is no folder {str(spill)!r}; create it first")
    base = connect(1 << 30, spill, thread_count(0))
    try:
        counted = edges.pieces(base, f"SELECT count(*) AS rows FROM ({edges.columns(base).select})")
        rows = int(next(counted)["rows"][0].as_py())
    finally:
        base.close()
    workers = thread_count(settings.workers)
    branch = min(settings.branch_nodes, max(rows, 1))
    tasks = max(1, -(-rows // settings.branch_nodes))
    model_bytes, work_bytes = bytes_on_disk(rows, settings.dim)
    branch_memory = _PROGRAM + _BRANCH_BYTES * branch
    training, borders = 0.0, _BORDERS_US
    if is_trained(settings.placing):
        together = room_for_anchors(max(rows, 1), settings.branch_nodes)
        in_one_piece = branch + together if together < rows else branch
        branch_memory = _PROGRAM + (_TRAINED_BYTES + _TRAINED_BYTES_A_COORDINATE * settings.dim) * in_one_piece
        first, then = (training_of(settings, size).epochs for size in (together, in_one_piece))
        below = then * rows / min(workers, tasks) if together < rows else 0
        borders = 0.0
        training = _EPOCH_US * (first * together / thread_count(0) + below) / 1e6
    memory = max(_PROGRAM + _LAYOUT_BYTES * rows, _PROGRAM + min(workers, tasks) * branch_memory)
    found = Estimate(
        rows, tasks, min(workers, tasks), memory, branch_memory,
        rows * (_INTAKE_US + (_BRANCH_US + borders) / min(workers, tasks)) / 1e6 + 20.0 + training,
        model_bytes * branch // max(rows, 1), model_bytes, work_bytes,
    )  # fmt: skip
    limit = bytes_of(settings.memory)
    if memory > limit:
        raise InputError(
            f"{rows:,} edges need about {memory / 1e9:.1f} GB, and --memory allows {limit / 1e9:.1f} GB: "
            "allow more, or use a machine that has it"
        )
    free = shutil.disk_usage(spill if spill.is_dir() else Path.cwd()).free
    if found.model_bytes + found.work_bytes > free:
        raise InputError(
            f"{rows:,} edges need about {(found.model_bytes + found.work_bytes) / 1e9:.1f} GB of disk, and "
            f"{free / 1e9:.1f} GB are free: make room, or choose another disk"
        )
    return found
