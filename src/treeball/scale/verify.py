"""Whether a model folder still holds what was made: every shard and every array by its hash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .folder import ModelFolder
from .layout import array, damaged, sha256_of

__all__ = ["OF_BRANCHES", "damaged_arrays", "hashes_of_arrays", "verify_folder"]

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
    for added in manifest.get("added", []):
        for name in ("parents", "hashes"):
            if len(array(folder.path / added[name])) != added["rows"]:
                raise damaged(folder.path / added[name])
    virtual = int(folder.has_virtual_root)
    lengths = {
        "topology/parent": 0,
        "topology/height": 0,
        "topology/size": 0,
        "index/hash": virtual,
        "index/place": virtual,
    }
    for name, fewer in lengths.items():
        if len(array(folder.path / f"{name}.npy")) != folder.n_built - fewer:
            raise damaged(folder.path / f"{name}.npy")
    return {
        "shards": len(shards),
        "bytes": sum(shard["bytes"] for shard in shards),
        "nodes": len(folder),
        "sound": True,
    }
