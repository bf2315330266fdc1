"""Making a model folder: intake, layout, plan, trunk, branches, borders; every stage is kept, and done once."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from .._version import __version__
from ..errors import InputError
from ..io.atomic import DiskFull, cannot_write, is_disk_full
from ..io.locking import FOLDER_LOCK, writer_lock
from ..workers import thread_count
from . import shard
from .border_stage import BorderStage, borders_sentence
from .choice import choose
from .engines import Workers, require_cluster
from .estimate import bytes_on_disk
from .evaluate import evaluate_folder
from .folder import ModelFolder
from .layout import ADDED, FORMAT, MANIFEST, read_json, save_array, write_json
from .settings import Placing, ScaleSettings, is_trained
from .shard import boxes_path, is_done, remove_shards, shard_path
from .soundness import DAMAGE, checked_manifest, require_inside
from .source import Edges
from .stages import Stages
from .trained_branch import totals
from .verify import OF_BRANCHES, damaged_arrays, hashes_of_arrays

__all__ = ["fit_folder"]

# What the manifest says of the hierarchy.
_LAID = ("nodes", "edges", "rows", "roots", "virtual_root", "other_edges", "height", "repairs")
# What was added to a folder after it was made.
_LATER = ("added", "removed")


def fit_folder(
    sources: tuple[str, ...], folder: Path, settings: ScaleSettings, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Make a model folder, or resume one; -> its manifest. A folder that another process is writing is refused."""
    edges = Edges.of(sources, settings.reading)
    if settings.address:
        require_cluster(settings.address)
    key = settings.key(edges.fingerprint())
    _require_ours(folder)
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        with writer_lock(folder, wait=0):
            return _fit(edges, folder, settings, key, tell)
    finally:
        if is_new:
            with suppress(OSError):  # if nothing was begun in it
                folder.rmdir()


def _fit(edges: Edges, folder: Path, settings: ScaleSettings, key: str, tell: Callable[[str], None]) -> dict[str, Any]:
    kept = _kept(folder)
    if kept and kept.get("key") != key:
        raise InputError(
            f"{str(folder)!r} holds a model of other edges or settings: give another folder, or remove that one first"
        )
    if kept and kept.get("format") != FORMAT:
        raise InputError(f"{str(folder)!r} has format {kept.get('format')!r}, which this version does not know")
    if kept and _is_whole(folder, kept):
        tell(f"{folder} is done already: nothing was computed")
        return kept
    begins = _begin(folder, key, bool(kept))
    with _room_on_disk(folder, edges, settings), nullcontext() if begins else _resuming(folder):
        return _made(Run(folder, edges, settings, tell, key), kept, begins)


@dataclass(frozen=True)
class Run:
    """One run of a fit: where, of what, how, who hears of it, and the hash of all this."""

    folder: Path
    edges: Edges
    settings: ScaleSettings
    tell: Callable[[str], None]
    key: str


@contextmanager
def _room_on_disk(folder: Path, edges: Edges, settings: ScaleSettings) -> Iterator[None]:
    """Where the disk is full, say what the whole fit needs, and that it can be resumed."""
    try:
        yield
    except (DiskFull, OSError) as error:
        if isinstance(error, OSError) and not is_disk_full(error):
            raise
        said = str(error) if isinstance(error, DiskFull) else str(cannot_write(Path(error.filename or folder), error))
        laid = folder / "work" / "layout.json"
        try:
            rows = int(read_json(laid)["rows"])
        except (InputError, KeyError, TypeError, ValueError):
            raise InputError(
                f"{said}; the input has {sum(edges.sizes):,} bytes, and nothing is kept of the fit"
            ) from error
        needed = sum(bytes_on_disk(rows, settings.dim))
        raise InputError(
            f"{said}; the whole fit needs about {needed:,} bytes, and the same  treeball fit  goes on with what is done"
        ) from error


@contextmanager
def _resuming(folder: Path) -> Iterator[None]:
    """A run that resumes another and fails in a way that was not foreseen: its working files are damaged."""
    try:
        yield
    except DAMAGE as error:
        reason = shorten(str(error), 80, placeholder=" ...")
        raise InputError(
            f"{str(folder / 'work')!r} is damaged ({type(error).__name__}: {reason}), so the run cannot be resumed: "
            f"remove {str(folder)!r} and fit again"
        ) from error


def _made(run: Run, kept: dict[str, Any], begins: bool) -> dict[str, Any]:
    """Make the folder, or what it lacks; -> its manifest."""
    folder, settings, key = run.folder, run.settings, run.key
    try:
        stages = Stages(folder, run.edges, settings, run.tell)
    except (InputError, OSError):
        if begins:  # nothing was made that another run could go on with
            shutil.rmtree(folder, ignore_errors=True)
        raise
    with Workers(folder, settings.engine, thread_count(settings.workers), settings.address) as workers:
        making = Making(stages, key, workers)
        how = settings.placing
        if settings.compares and stages.laid["other_edges"]:
            how = choose(making)
        manifest = making.by(how)
    manifest["arrays"] = hashes_of_arrays(folder)
    manifest |= {name: kept[name] for name in _LATER if name in kept}
    if not any(name in manifest for name in _LATER):
        made = ModelFolder(folder, manifest)
        with suppress(InputError):  # of nodes that have no parents there are no scores
            manifest["scores"] = evaluate_folder(made, made.objective, seed=settings.seed).to_dict()
    if not begins:
        try:
            checked_manifest(folder, manifest)
        except InputError as error:  # made of what an earlier run has written
            raise ValueError(str(error)) from None
    write_json(folder / MANIFEST, manifest)
    return manifest


def _kept(folder: Path) -> dict[str, Any]:
    """The manifest of a folder that is there already; empty where it is lost and can be made again."""
    path = folder / MANIFEST
    try:
        if not path.is_file():
            return {}
        kept = read_json(path)
        if kept.get("format") == FORMAT:
            checked_manifest(folder, kept)
        return kept
    except InputError:
        if any((folder / "index").glob(f"{ADDED}-*")):
            raise InputError(
                f"{str(path)!r} is damaged, which knew what was added to the folder: take it from a copy, or remove "
                "the folder and fit all edges"
            ) from None
        return {}


def _is_whole(folder: Path, manifest: dict[str, Any]) -> bool:
    """Whether a finished folder holds all that it was made of, and its borders are checked.

    Where it lacks an array, the stage that makes it is to be done again.
    """
    how: Placing = manifest["method"]
    damaged = damaged_arrays(folder, manifest)
    if not set(damaged) <= set(OF_BRANCHES):
        (folder / "work" / "layout.json").unlink(missing_ok=True)
    tasks = range(len(manifest["cuts"]) - 1)
    return (
        not damaged
        and (is_trained(how) or "borders" in manifest)
        and all(is_done(folder, task, how, manifest["key"]) for task in tasks)
    )


def _begin(folder: Path, key: str, has_model: bool) -> bool:
    """Make the folder, unless it has a part of the same model or all of it; -> whether it was made.

    What is done first says that the folder is ours, so that a run that is killed here can be done again.
    """
    work, begun = folder / "work", folder / "work" / "input.json"
    with suppress(InputError):  # missing or damaged
        if read_json(begun).get("key") == key:
            return False
    work.mkdir(parents=True, exist_ok=True)
    write_json(begun, {"key": None})
    if not has_model:
        there = [path for home in (folder, work) for path in home.iterdir()]
        others = [path for path in there if path not in (work, begun) and not path.name.startswith(FOLDER_LOCK)]
        for path in others:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (work / "records").mkdir(exist_ok=True)
    (folder / "shards").mkdir(exist_ok=True)
    write_json(begun, {"key": key})
    return not has_model


class Making:
    """The branches of a folder that is laid out, constructed or trained, and what is known of them."""

    def __init__(self, stages: Stages, key: str, workers: Workers) -> None:
        self.stages, self.key, self.workers = stages, key, workers
        self.folder, self.settings, self.tell = stages.folder, stages.settings, stages.tell
        self._records: dict[Placing, list[dict[str, Any]]] = {}
        self._borders: dict[str, Any] = {}

    def by(self, how: Placing) -> dict[str, Any]:
        """Make all branches by one of the methods, unless they are there; -> the manifest of such a folder."""
        planned = self.stages.planned(how)
        tasks = list(range(len(planned["cuts"]) - 1))
        if how not in self._records:
            self._records[how] = self.some(how, tasks)
        manifest = self._manifest(how)
        # Where nodes were trained, no place is free for those that a stranger is next to.
        if not (is_trained(how) or self._borders):
            began = time.monotonic()
            records, threads = self._records[how], thread_count(self.settings.workers)
            stage = BorderStage(self.folder, manifest, self._for_tasks(how), records, self.workers, threads, self.tell)
            self._borders = stage.run()
            if len(tasks) > 1:
                self.tell(f"{borders_sentence(self._borders)}; {time.monotonic() - began:.1f} seconds")
            manifest = self._manifest(how)
        return manifest | ({} if is_trained(how) else {"borders": self._borders})

    def some(self, how: Placing, tasks: list[int]) -> list[dict[str, Any]]:
        """Records of some branches, which are made where they have not been."""
        return self.workers.records(shard.make_shard, tasks, self._for_tasks(how), self.tell, "branches")

    def remove(self, how: Placing) -> None:
        """Remove all branches that were made by a method."""
        self._records.pop(how, None)
        remove_shards(self.folder, how)

    def _for_tasks(self, how: Placing) -> dict[str, Any]:
        planned, laid = self.stages.planned(how), self.stages.laid
        return {
            "key": self.key, "how": how, "seed": self.settings.seed, "objective": self.settings.objective,
            "cuts": planned["cuts"], "plan": planned["plan"], "several_parents": laid["other_edges"] > 0,
            "virtual_root": laid["virtual_root"] is not None,
        }  # fmt: skip

    def _manifest(self, how: Placing) -> dict[str, Any]:
        folder, settings, edges, records = self.folder, self.settings, self.stages.edges, self._records[how]
        planned = self.stages.planned(how)
        boxes = [np.load(boxes_path(folder, record["task"], how)) for record in records]
        save_array(folder / "index" / "boxes.npy", np.concatenate(boxes))
        return {
            "format": FORMAT, "version": __version__, "key": self.key, "geometry": "poincare",
            "objective": settings.objective, "method": how, "dim": settings.dim,
            "seed": settings.seed, "branch_nodes": settings.branch_nodes,
            "input": {"files": len(edges.files), "bytes": sum(edges.sizes), "first": edges.files[0],
                      "columns": self.stages.laid["columns"]},
            **{name: self.stages.laid[name] for name in _LAID},
            "plan": planned["plan"], "plans_tried": planned["tried"], "cuts": planned["cuts"],
            "trunk": planned["trunk"],
            "ill_in_branches": sum(record["ill"] for record in records),
            "moved_between_parents": sum(record.get("moved", 0) for record in records),
            "verified": sum(record["looked_at"] for record in records),
            "largest_radius": max(record["largest_radius"] for record in records),
            **totals(records),
            "shards": [
                {"file": str(shard_path(folder, record["task"], how).relative_to(folder)),
                 "rows": record["last"] - record["first"], "bytes": record["bytes"], "sha256": record["sha256"],
                 "ill": record["ill"]}
                for record in records
            ],
        }  # fmt: skip


def _require_ours(folder: Path) -> None:
    from .layout import is_folder

    if folder.is_file():
        raise InputError(f"{str(folder)!r} is a file: give a folder for the model, such as model/")
    if folder.is_dir():
        require_inside(folder)
    # A run that was killed at its very beginning leaves an empty room.
    there = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if any(name != "work" and not name.startswith(FOLDER_LOCK) for name in there) and not is_folder(folder):
        raise InputError(f"{str(folder)!r} has other files in it: give a new folder for the model")
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {str(folder)!r}: there is no folder {str(folder.parent)!r}; create it first")
