"""Making a model folder: intake, layout, plan, trunk, branches, borders; every stage is kept, and done once."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..errors import InputError
from ..io.atomic import cannot_write
from ..io.locking import FOLDER_LOCK, writer_lock
from ..workers import thread_count
from . import shard
from .border_stage import BorderStage, borders_sentence
from .choice import choose
from .engines import Workers
from .evaluate import evaluate_folder
from .folder import ModelFolder
from .layout import ADDED, FORMAT, MANIFEST, read_json, save_array, write_json
from .settings import Placing, ScaleSettings, is_trained
from .shard import boxes_path, is_done, remove_shards, shard_path
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
    if kept and _is_whole(folder, kept):
        tell(f"{folder} is done already: nothing was computed")
        return kept
    begins = _begin(folder, key, bool(kept))
    try:
        stages = Stages(folder, edges, settings, tell)
    except InputError:
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
    write_json(folder / MANIFEST, manifest)
    return manifest


def _kept(folder: Path) -> dict[str, Any]:
    """The manifest of a folder that is there already; empty where it is lost and can be made again."""
    path = folder / MANIFEST
    try:
        return read_json(path) if path.is_file() else {}
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
    if begun.is_file() and read_json(begun).get("key") == key:
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
    # A run that was killed at its very beginning leaves an empty room.
    there = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if any(name != "work" and not name.startswith(FOLDER_LOCK) for name in there) and not is_folder(folder):
        raise InputError(f"{str(folder)!r} has other files in it: give a new folder for the model")
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {str(folder)!r}: there is no folder {str(folder.parent)!r}; create it first")
