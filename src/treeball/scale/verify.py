"""Whether a model folder still holds what was made: every shard and every array by its hash."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, TreeballError
from .folder import ModelFolder
from .layout import damaged, sha256_of
from .soundness import DAMAGE

__all__ = ["OF_BRANCHES", "damage_named", "damaged_arrays", "hashes_of_arrays", "verify_folder"]

_OF_LAYOUT = (
    *(f"topology/{name}.npy" for name in ("parent", "height", "size", "other_child", "other_parent")),
    "index/hash.npy",
    "index/place.npy",
)
OF_BRANCHES = ("index/boxes.npy",)
"""Arrays that are put together of what the branches have; the others are of the layout."""


def hashes_of_arrays(folder: Path) -> dict[str, str]:
    """SHA-256 of all arrays that answers are made of, by their path in the folder."""
    return {name: sha256_of(folder / name) for name in (*_OF_LAYOUT, *OF_BRANCHES)}


def damaged_arrays(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Those that are missing or not as they were made; folders of earlier versions do not say how."""
    made: dict[str, str] = manifest.get("arrays", {})
    return [name for name, digest in made.items() if not _is(folder / name, digest)]


def _is(path: Path, digest: str) -> bool:
    try:
        return sha256_of(path) == digest
    except OSError:
        return False


def verify_folder(folder: ModelFolder) -> dict[str, Any]:
    """Check all files; InputError with one sentence for the first that is missing or damaged."""
    manifest = folder.manifest
    shards = [*manifest["shards"], *manifest.get("added", [])]
    for file, shard in zip(folder.files, shards, strict=True):
        if not _is(file, shard["sha256"]):
            raise damaged(file)
    for name in damaged_arrays(folder.path, manifest):
        raise damaged(folder.path / name)
    # What has no hash, in folders of earlier versions and of what was added, is looked at when it is opened.
    for part in ("shape", "others", "boxes", "name_hashes", "name_places", "added_parent", "added_hashes", "removed"):
        getattr(folder, part)
    name_places = folder.name_places
    if name_places.size and not (name_places.min() >= 0 and name_places.max() < folder.n_built):
        raise damaged(folder.path / "index" / "place.npy")
    for group in range(int(np.searchsorted(folder.group_first, folder.n_built)), folder.group_first.size):
        folder.group(group)
    return {
        "shards": len(shards),
        "bytes": sum(shard["bytes"] for shard in shards),
        "nodes": len(folder),
        "sound": True,
    }


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """If work on a folder fails in a way that no check foresaw, look for damage and name it; else raise the error."""
    try:
        yield
    except TreeballError:
        raise
    except DAMAGE as error:
        try:
            verify_folder(ModelFolder(folder))
        except InputError as found:
            raise found from error
        raise
