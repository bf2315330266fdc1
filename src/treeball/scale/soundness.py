"""Whether a model folder can be what this program wrote: its manifest, its links, and the arrays that answers need.

These checks keep a damaged folder from ending a program with a traceback, from running for ever, and from reading or
writing files outside of the folder. `verify` compares every byte; this looks at what is used, when it is used.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .layout import MANIFEST, array, damaged, sha256_of

__all__ = ["DAMAGE", "checked_manifest", "inside", "require_inside", "sound_array", "sound_shape"]

# Arrays up to this many bytes are compared with their hash when they are used; `verify` does it for larger ones.
_HASHED = 1 << 24
_CHUNK = 1 << 24
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, AssertionError,
          ArithmeticError, EOFError, pa.ArrowException)  # fmt: skip
"""What work on damaged files may end with where no check has found it before."""

_Check = Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _all(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _values(check: _Check) -> _Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _record(**checks: _Check) -> _Check:
    return lambda value: (
        isinstance(value, dict) and all(name in value and ok(value[name]) for name, ok in checks.items())
    )


_SHARD = {"file": _is_text, "rows": lambda rows: _is_count(rows) and rows > 0, "bytes": _is_count, "sha256": _is_text}
_COUNTS = ("nodes", "dim", "seed", "edges", "other_edges", "roots", "rows", "height", "ill_in_branches", "verified",
           "trunk")  # fmt: skip
_BORDERS = ("nodes", "ill", "healed", "left", "left_nearest")
_CONSTRUCTED = ("budget", "longest", "growth")
_TRAINED = ("stand_ins", "epochs_of_trunk", "epochs", "sharpness")
_REQUIRED: dict[str, _Check] = {
    **dict.fromkeys(_COUNTS, _is_count),
    "shards": _all(_record(**_SHARD)),
    "cuts": _all(_is_count),
    "objective": lambda value: value in ("parents", "ancestors"),
    "method": lambda value: value in ("construct", "softmax"),
    "virtual_root": lambda value: value is None or _is_text(value),
    "repairs": _values(_is_count),
    "largest_radius": _is_number,
    "plan": _values(_is_number),
    "key": _is_text,
}
_OPTIONAL: dict[str, _Check] = {
    "added": _all(_record(**_SHARD, parents=_is_text, hashes=_is_text, boxes=_is_text)),
    "removed": _record(file=_is_text, nodes=_is_count),
    "arrays": _values(_is_text),
    "borders": _record(**dict.fromkeys(_BORDERS, _is_count)),
    "scores": _record(ill_pairs=_is_count),
    "map_in_branches": _is_number,
    "map_before_training": _is_number,
    "trainings_not_kept": _is_count,
    "input": lambda value: isinstance(value, dict),
}


def checked_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest with an entry that is missing, of another type, or not in keeping with the others."""
    checks = [*_REQUIRED.items(), *((name, ok) for name, ok in _OPTIONAL.items() if name in manifest)]
    for name, ok in checks:
        if name not in manifest or not ok(manifest[name]):
            raise _wrong(folder, name)
    shards, added, n = manifest["shards"], manifest.get("added", []), manifest["nodes"]
    cuts = np.concatenate([[0], np.cumsum([shard["rows"] for shard in shards], dtype=np.int64)]).tolist()
    trained = manifest["method"] == "softmax"
    consistent = {
        "shards": bool(shards) and cuts[-1] == n,
        "cuts": manifest["cuts"] == cuts,
        "nodes": 0 < n < 1 << 31,
        "dim": 0 < manifest["dim"] <= 10_000,
        "plan": set(_TRAINED if trained else _CONSTRUCTED) <= set(manifest["plan"]),
        "map_in_branches": not trained or {"map_before_training", "trainings_not_kept"} <= set(manifest),
        "added": all(_is_text(one.get("reach", "")) for one in added),
    }
    for name, is_so in consistent.items():
        if not is_so:
            raise _wrong(folder, name)
    named = [
        one[part]
        for one in (*shards, *added)
        for part in ("file", "parents", "hashes", "boxes", "reach")
        if part in one
    ]
    for file in (
        *named,
        *([manifest["removed"]["file"]] if "removed" in manifest else []),
        *manifest.get("arrays", {}),
    ):
        inside(folder, file)


def _wrong(folder: Path, name: str) -> InputError:
    return InputError(
        f"{str(folder / MANIFEST)!r} is damaged: its entry {name!r} is missing or cannot be; take it from a copy, or "
        "make a new folder with  treeball fit"
    )


def inside(folder: Path, name: str) -> Path:
    """The path of a file that a manifest names; InputError for one that is outside of the folder."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts:
        raise InputError(
            f"{str(folder / MANIFEST)!r} names the file {name!r}, which is not inside of the folder: take the manifest "
            "from a copy, or make a new folder with  treeball fit"
        )
    return folder / path


def require_inside(folder: Path) -> None:
    """Refuse a folder that holds a link to something outside of it, or what is neither file nor folder."""
    home = Path(os.path.realpath(folder))
    waiting = [home]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    target = Path(os.path.realpath(entry.path))
                    if not target.is_relative_to(home) or target == home or not target.exists():
                        raise InputError(
                            f"{entry.path!r} is a link that leaves the model folder: put what it points to in its place"
                        )
                mode = entry.stat().st_mode
                if S_ISDIR(mode) and not entry.is_symlink():
                    waiting.append(Path(entry.path))
                elif not S_ISREG(mode) and not S_ISDIR(mode):
                    raise InputError(f"{entry.path!r} is neither a file nor a folder: remove it from the model folder")


def sound_array(
    path: Path,
    kind: type,
    shape: tuple[int | None, ...],
    digest: str | None = None,
    values: tuple[int, int] | None = None,
) -> Any:
    """A NumPy file of a type and shape, mapped; None stands for any length. Damage is a sentence.

    `digest` is its SHA-256, which is compared where the file is small. `values` are the least that may occur, and the
    first that may not.
    """
    found = array(path)
    fits = len(shape) == found.ndim and all(size in (None, now) for size, now in zip(shape, found.shape, strict=True))
    if found.dtype != kind or not fits or not found.flags.c_contiguous:
        raise damaged(path)
    if digest is not None and path.stat().st_size <= _HASHED and sha256_of(path) != digest:
        raise damaged(path)
    for first in range(0, len(found), _CHUNK):
        chunk = found[first : first + _CHUNK]
        outside = values is not None and bool(((chunk < values[0]) | (chunk >= values[1])).any())
        if outside or (values is None and found.dtype.kind == "f" and not np.isfinite(chunk).all()):
            raise damaged(path)
    return found


def sound_shape(folder: Path, nodes: int, digests: Mapping[str, str]) -> tuple[Any, Any, Any]:
    """Parents, heights and sizes by place, mapped: parents come before children, subtrees end within the places."""
    names = [f"topology/{name}.npy" for name in ("parent", "height", "size")]
    parent, height, size = (sound_array(folder / name, np.int32, (nodes,), digests.get(name)) for name in names)
    if int(parent[0]) != -1:
        raise damaged(folder / names[0])
    for first in range(0, nodes, _CHUNK):
        places = np.arange(first, min(first + _CHUNK, nodes), dtype=np.int64)
        above, within = parent[first : first + _CHUNK], size[first : first + _CHUNK]
        if bool((above[places > 0] < 0).any()) or bool((above >= places).any()):
            raise damaged(folder / names[0])
        if bool((within < 1).any()) or bool((places + within > nodes).any()):
            raise damaged(folder / names[2])
    return parent, height, size
