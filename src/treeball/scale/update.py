"""A model folder brought to the next version of its edges: new nodes get places, old ones keep theirs.

What the next version does not have is marked as removed and no longer answers; its vectors stay in the shards. Nodes
with other parents than before are told, and stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .changes import Changes, compare
from .folder import ModelFolder
from .insert import add_leaves, by_parent
from .layout import MANIFEST, save_array, write_json
from .source import Edges

__all__ = ["FolderUpdate", "update_folder"]

_REMOVED = "index/removed.npy"


@dataclass(frozen=True)
class FolderUpdate:
    """What was done.

    Attributes
    ----------
    changes : what was found in the next version
    without_place : names of the new nodes that found no free place
    moved, removed : names of the first nodes that hang elsewhere, and of those that are gone
    """

    changes: Changes
    without_place: list[str]
    moved: list[str]
    removed: list[str]

    def to_dict(self) -> dict[str, Any]:
        """What the command prints as JSON."""
        changes = self.changes
        return {
            "new": changes.new, "removed": int(changes.removed.size), "moved": int(changes.moved.size),
            "other_parents_left_out": changes.other_parents, "without_place": len(self.without_place),
            "first_moved": self.moved, "first_removed": self.removed, "new_roots_left_out": changes.roots,
        }  # fmt: skip


def update_folder(
    folder: ModelFolder, sources: tuple[str, ...], memory: int, *, dry_run: bool = False, force: bool = False,
    seed: int = 0, threads: int = 0, shown: int = 10,
) -> FolderUpdate:  # fmt: skip
    """Read the next version and bring the folder to it, unless it is a dry run."""
    if not dry_run:
        folder.require_construction("update")
    changes = compare(folder, Edges.of(sources), memory)
    if not force and 2 * changes.removed.size > folder.n_present:
        raise InputError(
            f"{changes.removed.size:,} of {folder.n_present:,} nodes of {str(folder.path)!r} are not in the new "
            "version: give the whole new version, or --force if that is it"
        )
    moved, removed = (folder.names(some[:shown]) for some in (changes.moved, changes.removed))
    lost: list[str] = []
    if dry_run:
        return FolderUpdate(changes, lost, moved, removed)
    path, known = folder.path, dict(changes.known)
    for names, above in changes.levels:
        first = len(folder)
        ordered = by_parent(names, above, known)
        lost += add_leaves(folder, *ordered, seed, threads).without_place
        known = {name: first + i for i, name in enumerate(ordered[0])}
        folder = ModelFolder(path)
    if changes.absent.size or "removed" in folder.manifest:
        save_array(path / _REMOVED, changes.absent)
        record = {"file": _REMOVED, "nodes": int(changes.absent.size)}
        manifest = {name: value for name, value in folder.manifest.items() if name != "scores"}
        write_json(path / MANIFEST, manifest | {"removed": record})
    return FolderUpdate(changes, lost, moved, removed)
