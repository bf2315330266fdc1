"""From files of edges to flat arrays: every name becomes a number, once, and repairs are counted and named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..engine.cpu import flat_tree
from ..errors import InputError
from ..io.atomic import cannot_write
from ..io.readers.direction import infer
from ..io.readers.relation import Direction
from ..types import Codes
from ..words import count
from ..workers import in_parts, thread_count
from .columns import Columns
from .names import hash_of, hashes_of
from .source import Edges, connect

__all__ = ["Intake", "take_in"]


@dataclass
class Intake:
    """Edges by codes, in the order of the files.

    Attributes
    ----------
    hashes : uint64 (n,), of the names, ascending: the code of a name is its place here
    child, parent : int32 (m,), -1 where there is no name
    columns : what was read as child and parent
    """

    hashes: np.ndarray
    child: Codes
    parent: Codes
    columns: Columns

    @property
    def n(self) -> int:
        """Number of names."""
        return self.hashes.size


def take_in(
    edges: Edges, work: Path, memory: int, threads: int = 0, tell: Callable[[str], None] | None = None
) -> Intake:
    """Read all edges once and number their names; `tell` hears which columns are read as what."""
    threads = thread_count(threads)
    columns = {"child": np.uint64, "parent": np.uint64, "child_check": np.uint32, "parent_check": np.uint32}
    paths = {name: work / f"{name}.raw" for name in columns}
    base = connect(memory // 2, work / "spill", threads)
    try:
        read = edges.columns(base)
        if tell is not None:
            first = f": {read.said}" if read.direction is not None else ""
            tell(f"reading {count(len(edges.files), 'file')}{first}")
        with ExitStack() as opened:
            files = {name: opened.enter_context(_RawFile(path)) for name, path in paths.items()}
            for piece in edges.edges(base, read):
                for side in ("child", "parent"):
                    hashes, checks = hashes_of(piece[side])
                    files[side].add(hashes)
                    files[f"{side}_check"].add(checks)
    finally:
        base.close()
    raw = {name: _mapped(path, columns[name]) for name, path in paths.items()}
    if not raw["child"].size:
        raise InputError(f"{edges.files[0]!r} holds no edge: a hierarchy needs at least one child with a parent")
    hashes = _distinct(raw["child"], raw["parent"])
    if hashes.size > 2**31 - 2 or raw["child"].size > 2**31 - 2:
        raise InputError("there are more than two thousand million names or edges: split the hierarchy at its top")
    child, parent = (_codes(raw[name], hashes, threads) for name in ("child", "parent"))
    _require_no_collision(edges, hashes.size, (child, parent), (raw["child_check"], raw["parent_check"]))
    del raw
    for path in paths.values():
        path.unlink()
    if read.direction is None:
        direction = _direction(edges, read, child, parent)
        if direction == "parent-child":
            child, parent = parent, child
        words = read.words_of(direction)
        read = read.decided(direction, "so the structure of all rows says")
        hashes = _without_words(hashes, child, parent, words)
        if tell is not None:
            tell(read.said)
    return Intake(hashes, child, parent, read)


class _RawFile:
    """A file of plain numbers; a full disk is a sentence."""

    def __init__(self, path: Path) -> None:
        self._path, self._written = path, 0
        # Without a buffer: what is written is on its way to the disk, or an error says that it is not.
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115

    def __enter__(self) -> _RawFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, values: np.ndarray) -> None:
        """Append numbers."""
        left = memoryview(values.tobytes())
        try:
            while left:  # of a nearly full disk the system takes a part
                done = self._file.write(left)
                self._written += done
                left = left[done:]
        except OSError as error:
            raise cannot_write(self._path, error, self._written) from error


def _direction(edges: Edges, columns: Columns, first: Codes, second: Codes) -> Direction:
    """The direction that the structure tells, as for a single file; InputError where it does not."""
    found = infer(first, second, columns.default)
    if found.reason_for_doubt is not None:
        one, two = columns.named
        raise InputError(
            f"{edges.files[0]!r}: whether {one} or {two} is the child cannot be told, since {found.reason_for_doubt}: "
            "say --direction child-parent or --direction parent-child, or name both with --columns child,parent"
        )
    return found.direction


def _without_words(hashes: np.ndarray, child: Codes, parent: Codes, words: Sequence[str]) -> np.ndarray:
    """Hashes without those of some words, which only parents have; the codes change in place."""
    for word in words:
        at = int(np.searchsorted(hashes, np.uint64(hash_of(word))))
        hashes = np.delete(hashes, at)
        parent[parent == at] = -1
        for codes in (child, parent):
            codes[codes > at] -= 1
    return hashes


def _mapped(path: Path, kind: type) -> np.ndarray:
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)


def _distinct(child: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """All hashes but 0, which stands for no name, ascending; parents first, of which there are few."""
    few = [np.unique(parent[at : at + (1 << 24)]) for at in range(0, parent.size, 1 << 24)]
    upper = np.unique(np.concatenate(few))
    both = np.empty(child.size + upper.size, np.uint64)
    both[: child.size], both[child.size :] = child, upper
    both.sort()
    fresh = np.empty(both.size, bool)
    fresh[0] = both[0] != 0
    np.not_equal(both[1:], both[:-1], out=fresh[1:])
    return both[fresh]


def _codes(raw: np.ndarray, hashes: np.ndarray, threads: int) -> Codes:
    codes = np.empty(raw.size, np.int32)

    def work(part: slice) -> None:
        codes[part] = flat_tree.codes_of(np.array(raw[part]), hashes)

    in_parts(work, raw.size, threads)
    return codes


def _require_no_collision(edges: Edges, n: int, codes: tuple[Codes, Codes], checks: tuple[np.ndarray, ...]) -> None:
    known, seen = np.zeros(n, np.uint32), np.zeros(n, bool)
    for code, check in zip(codes, checks, strict=True):
        row = flat_tree.first_conflict(code, np.asarray(check), known, seen)
        if row >= 0:
            raise InputError(
                f"{edges.files[0]!r} and its fellows have two names with the same hash, one in row {row + 1:,}: "
                "rename that node, or put a letter before all names"
            )
