"""Whether a model folder still holds what was made: every shard by its hash, every array by its length."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from .folder import ModelFolder
from .layout import array, sha256_of

__all__ = ["verify_folder"]


def verify_folder(folder: ModelFolder) -> dict[str, Any]:
    """Check all files; InputError with one sentence for the first that is missing or damaged."""
    shards = [*folder.manifest["shards"], *folder.manifest.get("added", [])]
    for file, shard in zip(folder.files, shards, strict=True):
        if not file.is_file():
            raise InputError(f"{str(file)!r} is missing; run the same  treeball fit  again to make it anew")
        if sha256_of(file) != shard["sha256"]:
            raise InputError(
                f"{str(file)!r} was damaged or changed: its SHA-256 is not the one it was made with; "
                "run the same  treeball fit  again to make it anew"
            )
    virtual = int(folder.has_virtual_root)
    lengths = {
        "topology/parent": 0,
        "topology/height": 0,
        "topology/size": 0,
        "index/hash": -virtual,
        "index/place": -virtual,
    }
    for name, more in lengths.items():
        if len(array(folder.path / f"{name}.npy")) != folder.n_built + more:
            raise InputError(
                f"{str(folder.path / name)!r} does not go with the manifest; run the same  treeball fit  again"
            )
    return {
        "shards": len(shards),
        "bytes": sum(shard["bytes"] for shard in shards),
        "nodes": len(folder),
        "sound": True,
    }
