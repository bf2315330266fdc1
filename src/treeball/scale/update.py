"""A model folder brought to the next version of its edges: new nodes get places, old ones keep theirs.

What the next version does not have is marked as removed and no longer answers; its vectors stay in the shards. Nodes
with other parents than before are told, and stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError
from ..hierarchy._update_limits import UpdateLimits, new_roots_sentence
from ..io.locking import writer_lock
from .changes import Changes, compare
from .folder import ModelFolder
from .insert import add_leaves, by_parent
from .layout import MANIFEST, save_array, write_json
from .source import Edges

__all__ = ["FolderUpdate", "update_folder"]

_REMOVED = "index/removed.npy"
_SHOWN = 10


@dataclass(frozen=True)
class FolderUpdate:
    """What was done.

    Attributes
    ----------
    changes : what was found in the next version
    without_place : names of the new nodes that found no free place
    moved, removed : names of the nodes that hang elsewhere, and of those that are gone: all of a dry run, else the
        first
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
            "rows_without_child": changes.without_child,
            "first_moved": self.moved[:_SHOWN], "first_removed": self.removed[:_SHOWN],
            "moved_nodes": self.moved, "removed_nodes": self.removed, "new_roots_left_out": changes.roots,
        }  # fmt: skip


def update_folder(
    folder: ModelFolder, sources: tuple[str, ...] | Edges, memory: int, *, limits: UpdateLimits | None = None,
    dry_run: bool = False, seed: int = 0, threads: int = 0, report: Callable[[FolderUpdate], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> FolderUpdate:  # fmt: skip
    """Read the next version and bring the folder to it, unless it is a dry run.

    The folder is locked and opened anew, so that what another process has added since is kept.

    Parameters
    ----------
    memory
        Bytes that reading may take.
    limits
        How much may be removed or moved, and whether new roots are accepted; more is refused and nothing is written.
    report
        Called with what will be done, before the limits are checked.
    tell
        Called with a sentence when there is another writer to wait for.
    """
    if not dry_run:
        folder.require_construction("update")
    with nullcontext() if dry_run else writer_lock(folder.path, tell=tell):
        folder = ModelFolder(folder.path)
        changes = compare(folder, sources if isinstance(sources, Edges) else Edges.of(sources), memory)
        names = [
            folder.names(some) if dry_run else folder.names(some[:_SHOWN]) for some in (changes.moved, changes.removed)
        ]
        planned = FolderUpdate(changes, [], *names)
        if report is not None:
            report(planned)
        _require_within(planned, folder.n_present, limits or UpdateLimits())
        return planned if dry_run else replace(planned, without_place=_apply(folder, changes, seed, threads))


def _require_within(planned: FolderUpdate, nodes: int, limits: UpdateLimits) -> None:
    changes = planned.changes
    if changes.roots and not limits.allow_new_roots:
        raise InputError(
            new_roots_sentence(
                changes.roots,
                "without a parent and not in the model",
                "leave new roots out with --allow-new-roots: they have no place in a model folder",
            )
        )
    first = {"removed": planned.removed, "moved": planned.moved}
    limits.require(nodes, int(changes.removed.size), int(changes.moved.size), first.__getitem__)


def _apply(folder: ModelFolder, changes: Changes, seed: int, threads: int) -> list[str]:
    """Add the new nodes and mark those that are gone; -> names of new nodes that found no free place."""
    lost: list[str] = []
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
    return lost
