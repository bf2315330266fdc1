"""The stage after the branches: pairs across their borders are checked, what is ill is moved, shards are written anew.

All that is found is kept in files, so that a run that was stopped goes on. What was moved is kept for good: a shard
that is damaged later is made as it was placed, and then its nodes are moved as before.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .borders import ask_others, found_in
from .engines import Task, Workers
from .folder import ModelFolder
from .layout import read_json, write_json
from .other_places import find_other_places
from .patch import move_in_shard, placed_hash
from .reaches import save_built
from .tiles import AllTiles, lay_tiles, of_branch, save_all

__all__ = ["BorderStage", "borders_sentence"]

# What is said in the manifest, and what the branches count.
_SAID = (
    "nodes", "decided_by_bounds", "compared", "keys", "ill", "ill_nearest", "moved", "subtrees_moved",
    "subtrees_without_place", "healed", "left", "left_nearest",
)  # fmt: skip
# So many branches take long enough for a person to want to know how far it is.
_MANY = 20
_COUNTS = ("checked", "compared", "keys", "ill_nodes", "ill_nearest", "ill_pairs")


def borders_sentence(counts: dict[str, Any]) -> str:
    """What the manifest says of the borders, for a person."""
    return (
        f"borders: {counts['nodes']:,} nodes checked, {counts['decided_by_bounds']:,} by bounds alone; "
        f"{counts['ill']:,} pairs ill, {counts['healed']:,} healed by moving {counts['moved']:,} nodes, "
        f"{counts['left']:,} left ({counts['left_nearest']:,} with the nearest parent)"
    )


class BorderStage:
    """Checks and heals the borders between the branches of a folder.

    `manifest` is what is known of the folder so far, `settings` are those of the branches, `records` theirs, which
    `run` changes where it writes shards anew.
    """

    def __init__(
        self, folder: Path, manifest: dict[str, Any], settings: dict[str, Any], records: list[dict[str, Any]],
        workers: Workers, threads: int, tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.folder, self.work, self.manifest, self.settings = folder, folder / "work", manifest, settings
        self.records, self.workers, self.threads, self.tell = records, workers, threads, tell
        self.cuts = np.array(settings["cuts"], np.int64)
        hashes = [placed_hash(record) for record in records]
        self.of = hashlib.sha256(json.dumps(hashes).encode()).hexdigest()

    def run(self) -> dict[str, Any]:
        """Check and heal, or go on with it; -> what is said of it in the manifest."""
        if len(self.records) == 1:
            return dict.fromkeys(_SAID, 0)
        done = self._kept("borders")
        if done is None:
            (self.work / "borders").mkdir(exist_ok=True)
            checked = self._kept("moves") or self._check_and_move()
            self._move()
            done = {"of": self.of, "counts": self._counts(checked)}
            write_json(self.work / "borders.json", done)
        # Also what is left of a run that was killed here.
        shutil.rmtree(self.work / "borders", ignore_errors=True)
        self._move()
        counts: dict[str, Any] = done["counts"]
        return counts

    def _kept(self, name: str) -> dict[str, Any] | None:
        path = self.work / f"{name}.json"
        kept = read_json(path) if path.is_file() else {}
        return kept if kept.get("of") == self.of else None

    def _each(self, work: Task, tasks: list[int], settings: dict[str, Any], done: str) -> list[dict[str, Any]]:
        """Records of some tasks, in their order; few are done before anyone would read it."""
        tell = self.tell if len(tasks) >= _MANY else lambda _: None
        return self.workers.records(work, tasks, self.settings | settings, tell, f"branches {done}")

    def _lay(self) -> None:
        tasks = list(range(len(self.records)))
        hashes = [record["sha256"] for record in self.records]
        self._each(lay_tiles, tasks, {"sha256": hashes}, "laid out in tiles")
        AllTiles.of(self.folder, len(tasks)).save(self.folder)
        reaches = (of_branch(self.folder, "reach", task) for task in tasks)
        save_built(self.folder, reaches, int(self.cuts[-1]))

    def _ask(self, name: str, tasks: list[int], more: dict[str, Any]) -> dict[str, int]:
        """Let branches ask all others; -> sums of what they counted."""
        virtual = self.manifest["virtual_root"] is not None
        settings = {"name": name, "virtual_root": virtual, "of": self.of} | more
        records = self._each(ask_others, tasks, settings, "have asked the others")
        return {count: sum(record[count] for record in records) for count in _COUNTS}

    def _check_and_move(self) -> dict[str, Any]:
        """Find what is ill and where it may go; both are kept."""
        tasks = list(range(len(self.records)))
        self.tell(f"checking the borders of {len(tasks):,} branches")
        self._lay()
        counts = self._ask("found", tasks, {})
        found = found_in(self.folder, "found", tasks)
        self.tell(
            f"across borders {counts['ill_nearest']:,} nodes have a stranger as near as their nearest parent, and "
            f"{counts['ill_pairs']:,} pairs of a node and a parent are ill"
        )
        folder = ModelFolder(self.folder, self.manifest)
        moves = find_other_places(folder, self.cuts, found, self.manifest["seed"], self.threads)
        asked = np.union1d(found["places"], moves.places)
        save_all(self.work / "moves.npz", {"places": moves.places, "vectors": moves.vectors, "asked": asked})
        checked = {"of": self.of, "found": counts, "wanted": moves.wanted, "moved": moves.moved,
                   "nodes": int(moves.places.size)}  # fmt: skip
        write_json(self.work / "moves.json", checked)
        return checked

    def _move(self) -> None:
        """Write the shards anew in which nodes are moved, unless they are."""
        if not (self.work / "moves.npz").is_file():
            return
        with np.load(self.work / "moves.npz") as kept:
            tasks = np.unique(np.searchsorted(self.cuts, kept["places"], "right") - 1).tolist()
        tasks = [task for task in tasks if "placed_sha256" not in self.records[task]]
        for record in self._each(move_in_shard, tasks, {}, "with moved nodes written"):
            self.records[record["task"]] = record

    def _counts(self, checked: dict[str, Any]) -> dict[str, Any]:
        """What is said in the manifest; pairs that were ill, and nodes that moved, are asked for again."""
        found, left = checked["found"], checked["found"]
        if checked["nodes"]:
            with np.load(self.work / "moves.npz") as kept:
                asked = kept["asked"]
            tasks = np.unique(np.searchsorted(self.cuts, asked, "right") - 1).tolist()
            self._lay()
            left = self._ask("left", tasks, {"only": "moves.npz"})
        return {
            "nodes": found["checked"],
            "decided_by_bounds": found["checked"] - found["compared"],
            "compared": found["compared"], "keys": found["keys"], "ill": found["ill_pairs"],
            "ill_nearest": found["ill_nearest"], "moved": checked["nodes"], "subtrees_moved": checked["moved"],
            "subtrees_without_place": checked["wanted"] - checked["moved"],
            "healed": found["ill_pairs"] - left["ill_pairs"],
            "left": left["ill_pairs"], "left_nearest": left["ill_nearest"],
        }  # fmt: skip
