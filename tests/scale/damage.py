"""Damaged copies of a model folder, one after the other: each file and each entry of each JSON file, in several ways.

A fuzzer or a test takes `damages(folder)`, which yields a name and a function that damages a copy; `COMMANDS` are what
may be asked of it. No command may end with a traceback, or run for long.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Damage = Callable[[Path], None]
"""Damages a folder in place."""

_VALUES: tuple[Any, ...] = (None, -1, 0, 3, 2**70, 1.5, "x", "../x", "/etc/passwd", [], [1], {}, {"a": 1}, True)


def commands(folder: Path, home: Path) -> list[list[str]]:
    """Commands on a folder; `home` holds ``new.csv``, ``all.csv`` and ``edges``."""
    model, out = str(folder), str(home / "out")
    return [
        ["info", model],
        ["verify", model],
        ["evaluate", model, "--sample", "40"],
        ["neighbors", model, "n7", "-k", "3"],
        *(["ask", model, question, "n7", "--from", "hierarchy"] for question in ("parents", "children", "ancestors")),
        ["ask", model, "subtree", "n1", "--from", "hierarchy"],
        ["ask", model, "path", "n7", "n9", "--from", "hierarchy"],
        ["ask", model, "parent", "n7"],
        ["export", model, "-o", f"{out}.csv"],
        ["view", model, "--html", f"{out}.html", "--no-open"],
        ["insert", model, str(home / "new.csv")],
        ["update", model, str(home / "all.csv"), "--force"],
    ]


def fit_again(folder: Path, home: Path) -> list[str]:
    """The fit that made the folder."""
    return ["fit", f"{home}/edges/*.parquet", "-o", str(folder), "--dim", "4", "--branch-nodes", "100",
            "--method", "construct", "--workers", "1"]  # fmt: skip


def damages(folder: Path, seed: int = 0, work: bool = True) -> Iterator[tuple[str, Damage]]:
    """All ways to damage a folder, by name; without `work` only what answers are made of."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    for file in files:
        if work or file.parts[0] != "work":
            for kind, damage in _of_file(file, random.Random(f"{seed} {file}")).items():
                yield f"{file}: {kind}", damage
            if file.suffix == ".npy":
                yield from ((f"{file}: {kind}", damage) for kind, damage in _of_array(file).items())
            if file.suffix == ".json":
                yield from _of_json(file, json.loads((folder / file).read_text()))


def _of_file(file: Path, rng: random.Random) -> dict[str, Damage]:
    def change(how: Callable[[bytes], bytes]) -> Damage:
        return lambda folder: _write(folder / file, how((folder / file).read_bytes()))

    def flipped(data: bytes, at: float) -> bytes:
        place = min(int(at * len(data)), len(data) - 1)
        return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]

    share = rng.random()
    return {
        "removed": lambda folder: (folder / file).unlink(),
        "emptied": change(lambda _: b""),
        "half": change(lambda data: data[: len(data) // 2]),
        "last byte lost": change(lambda data: data[:-1]),
        "random": change(lambda data: rng.randbytes(len(data))),
        "random after the header": change(lambda data: data[:128] + rng.randbytes(max(0, len(data) - 128))),
        "zeros": change(lambda data: bytes(len(data))),
        "longer": change(lambda data: data + b"\0" * 999),
        "flipped at the beginning": change(lambda data: flipped(data, 0.02)),
        "flipped": change(lambda data: flipped(data, share)),
        "flipped at the end": change(lambda data: flipped(data, 0.999)),
        "a folder": lambda folder: _replace(folder / file, lambda path: path.mkdir()),
        "a link to another file": lambda folder: _replace(folder / file, lambda path: path.symlink_to("/etc/hostname")),
        "a link to itself": lambda folder: _replace(folder / file, lambda path: path.symlink_to(path)),
        "a pipe": lambda folder: _replace(folder / file, os.mkfifo),
    }


def _of_array(file: Path) -> dict[str, Damage]:
    def change(how: Callable[[Any], Any]) -> Damage:
        def damage(folder: Path) -> None:
            found = np.load(folder / file)
            with open(folder / file, "wb") as opened:
                np.save(opened, how(found))

        return damage

    def with_value(value: float) -> Damage:
        def how(found: Any) -> Any:
            found = found.copy()
            if found.size:
                found.reshape(-1)[found.size // 3] = np.asarray(value).astype(found.dtype)
            return found

        return change(how)

    def header(old: bytes, new: bytes) -> Damage:
        return lambda folder: _write(folder / file, (folder / file).read_bytes().replace(old, new, 1))

    def pickled(found: Any) -> Any:
        return np.array([{"a": 1}] * max(1, len(found)), object)

    return {
        "shorter": change(lambda found: found[: len(found) // 2]),
        "twice": change(lambda found: np.concatenate([found, found])),
        "no rows": change(lambda found: found[:0]),
        "of another shape": change(lambda found: found.reshape(1, -1)),
        "a scalar": change(lambda _: np.array(3)),
        "floats": change(lambda found: found.astype(np.float16)),
        "texts": change(lambda found: found.astype(str)),
        "pickled": change(pickled),
        "in another order": change(lambda found: found[::-1].copy()),
        "by columns": change(np.asfortranarray),
        "big-endian": change(lambda found: found.astype(found.dtype.newbyteorder(">"))),
        "all -1": change(lambda found: np.full_like(found, -1 if found.dtype.kind != "u" else 0)),
        "all 0": change(np.zeros_like),
        "all the largest": change(lambda found: np.full_like(found, np.iinfo(np.int32).max)),
        "a value of -7": with_value(-7) if "hash" not in file.stem else with_value(0),
        "a value of a million": with_value(10**6),
        "not a number": with_value(np.nan if "boxes" in file.name or "reach" in file.name else 0),
        "counting": change(lambda found: np.arange(found.size).astype(found.dtype).reshape(found.shape)),
        "a cycle": change(lambda found: np.roll(np.arange(found.size), 1).astype(found.dtype).reshape(found.shape)),
        "a huge header": header(b"'shape': (", b"'shape': (9999999999999, "),
        "a header that is no Python": header(b"'descr'", b"'descr: "),
        "a header with a call": header(b"'descr': '", b"'descr': print('"),
        "another version": header(b"NUMPY\x01", b"NUMPY\x09"),
    }


def _of_json(file: Path, content: dict[str, Any]) -> Iterator[tuple[str, Damage]]:
    def edit(way: tuple[Any, ...], value: Any, remove: bool = False) -> Damage:
        def damage(folder: Path) -> None:
            changed = json.loads((folder / file).read_text())
            at = changed
            for step in way[:-1]:
                at = at[step]
            if remove:
                del at[way[-1]]
            else:
                at[way[-1]] = value
            _write(folder / file, json.dumps(changed).encode())

        return damage

    def replace_by(text: str) -> Damage:
        return lambda folder: _write(folder / file, text.encode())

    for text in ("null", "[]", "3", '"x"'):
        yield f"{file}: all of it {text}", replace_by(text)
    yield f"{file}: deep", lambda folder: _write(folder / file, b"[" * 100_000)
    yield f"{file}: NaN", lambda folder: _write(folder / file, b'{"format": NaN}')
    for way in _ways(content):
        spoken = ".".join(map(str, way))
        yield f"{file}: without {spoken}", edit(way, None, remove=True)
        for value in _VALUES:
            yield f"{file}: {spoken} = {json.dumps(value)}", edit(way, value)


def _ways(content: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Ways to the entries of a JSON object; of lists the first and the last."""
    entries: Any = []
    if isinstance(content, dict):
        entries = content.items()
    elif isinstance(content, list) and content:
        entries = {0: content[0], len(content) - 1: content[-1]}.items()
    for key, value in entries:
        yield (*before, key)
        if len(before) < 2:
            yield from _ways(value, (*before, key))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _replace(path: Path, by: Callable[[Path], object]) -> None:
    path.unlink()
    by(path)
