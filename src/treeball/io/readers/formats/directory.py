"""A directory tree of the file system: folders and files are nodes, named by their path below the top."""

from __future__ import annotations

import os
from pathlib import Path

from ....errors import InputError
from ....hierarchy.read_report import short
from ....hierarchy.repairs import RepairKind
from ....words import count
from ..path_tree import PathTree
from ..relation import MISSING, Relation, escape_surrogates
from ..settings import ReadSettings


def read_folder(path: Path, settings: ReadSettings) -> Relation:
    """Relation of everything below ``path``; links are listed, not followed."""
    tree = PathTree()
    top = tree.add(MISSING, escape_surrogates(path.resolve().name or str(path)))
    pending = [(path, top)]
    unreadable: list[str] = []
    while pending:
        folder, node = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if folder is path:
                raise InputError(
                    f"{path} cannot be listed: {error.strerror or error}; check the path and its permissions"
                ) from None
            unreadable.append(escape_surrogates(str(folder.relative_to(path))))
            continue
        below = []
        for entry in entries:
            child = tree.add(node, escape_surrogates(entry.name))
            if entry.is_dir(follow_symlinks=False):
                below.append((Path(entry.path), child))
        pending.extend(reversed(below))
    relation = tree.to_relation("a directory tree", separator="/", full=True)
    if unreadable:
        details = [f"{short(one)} could not be listed, so nothing is below it" for one in unreadable]
        relation.record_nodes(RepairKind.FOLDERS_NOT_LISTED, unreadable, details)
        relation.notes.append(f"{count(len(unreadable), 'folder')} could not be listed, so nothing is below")
    return relation
