"""Files that belong together are all old or all new, and never some of each; full disks are told."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treeball
from treeball import InputError
from treeball.io.together import write_together
from treeball.io.vectors import export

EDGES = [(f"leaf {i}", f"inner {i % 3}") for i in range(9)] + [(f"inner {i}", "root") for i in range(3)]
OTHER = [(f"blatt {i}", f"ast {i % 3}") for i in range(9)] + [(f"ast {i}", "wurzel") for i in range(3)]


@pytest.fixture
def pair(tmp_path):
    paths = (tmp_path / "a", tmp_path / "b")
    for path in paths:
        path.write_text("old")
    return paths


def contents(paths):
    return [path.read_text() if path.exists() else None for path in paths]


def write(paths, text="new"):
    with write_together(*paths) as temporaries:
        for temporary in temporaries:
            temporary.write_text(text)


def test_all_are_replaced(pair):
    write(pair)
    assert contents(pair) == ["new", "new"]
    assert sorted(path.name for path in pair[0].parent.iterdir()) == ["a", "b"]


def test_those_that_were_not_there_are_made(tmp_path):
    paths = (tmp_path / "a", tmp_path / "b")
    write(paths)
    assert contents(paths) == ["new", "new"]


@pytest.mark.skipif(os.name == "nt", reason="Windows opens no folders")
def test_the_old_ones_are_gone_from_the_disk_before_a_new_one_comes(pair, monkeypatch):
    there: list[list[str]] = []
    plain = os.fsync

    def sync(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            there.append([path.name for path in pair if path.exists()])
        plain(handle)

    monkeypatch.setattr(os, "fsync", sync)
    write(pair)
    assert there[0] == []
    assert there[-1] == ["a", "b"]


def why_not(paths):
    """Write, and return the error if there is one."""
    try:
        write(paths)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_whichever_step_fails_all_old_ones_are_back(pair, monkeypatch, name):
    plain = getattr(os, name)
    calls: list[tuple[object, ...]] = []
    errors: list[str] = []

    def failing(*given):
        calls.append(given)
        if len(calls) == len(errors) + 1:
            raise OSError(28, "No space left on device")
        return plain(*given)

    monkeypatch.setattr(os, name, failing)
    while (error := why_not(pair)) is not None:
        assert "No space left" in error
        assert str(pair[0]) in error or str(pair[1]) in error
        assert contents(pair) == ["old", "old"]
        assert sorted(path.name for path in pair[0].parent.iterdir()) == ["a", "b"]
        errors.append(error)
        calls.clear()
    # Two of each are ours, and two of the renaming; folders are synced when the old ones are gone, and after each new.
    assert len(errors) == {"fsync": 4 if os.name == "nt" else 7, "replace": 4}[name]
    assert contents(pair) == ["new", "new"]


def states_after_kills(command, paths, olds, tmp_path):
    """What is there after the process died at each of its renames, starting from the old files each time."""
    code = (
        "import os, signal, sys\n"
        "plain, seen = os.replace, 0\n"
        "def dying(*given):\n"
        "    global seen\n"
        "    seen += 1\n"
        "    if seen == int(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    plain(*given)\n"
        "os.replace = dying\n"
        f"import treeball.cli.main as main\nsys.exit(main.run({command!r}))\n"
    )
    states = []
    for number in range(1, 10):
        for path, old in zip(paths, olds, strict=True):
            path.write_bytes(old)
        done = subprocess.run([sys.executable, "-c", code, str(number)], cwd=tmp_path, capture_output=True, check=False)
        states.append([path.read_bytes() if path.exists() else None for path in paths])
        if done.returncode == 0:
            return states
        assert done.returncode < 0, done.stderr.decode()
    raise AssertionError("it never came to its end")


def require_one_or_the_other(states, olds):
    news = states[-1]
    assert news != list(olds)
    for state in states:
        there = [place for place, content in enumerate(state) if content is not None]
        assert all(state[i] == olds[i] for i in there) or all(state[i] == news[i] for i in there)


@pytest.mark.slow
def test_a_killed_export_never_pairs_an_array_with_the_names_of_another(tmp_path):
    treeball.fit(EDGES, method="sarkar", dim=2).save(tmp_path / "m.parquet")
    export(treeball.fit(OTHER, method="sarkar", dim=3), tmp_path / "v.npy")
    paths = (tmp_path / "v.npy", tmp_path / "v.names.txt")
    olds = tuple(path.read_bytes() for path in paths)
    states = states_after_kills(["export", "m.parquet", "-o", "v.npy"], paths, olds, tmp_path)
    require_one_or_the_other(states, olds)
    assert np.load(paths[0]).shape == (13, 2)


@pytest.mark.slow
def test_a_killed_split_never_trains_on_what_another_holds_out(tmp_path):
    names = ("train.tsv", "heldout.tsv", "validation.tsv")
    paths, olds = tuple(tmp_path / name for name in names), (b"1", b"2", b"3")
    Path(tmp_path / "tree.csv").write_text("\n".join(",".join(edge) for edge in EDGES))
    command = ["split", "tree.csv", "-o", ".", "--leaves", "0.3", "--validation", "0.2"]
    require_one_or_the_other(states_after_kills(command, paths, olds, tmp_path), olds)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files")
def test_a_duckdb_file_that_does_not_fit_is_refused_and_the_old_one_stays(tmp_path):
    pytest.importorskip("duckdb")
    treeball.fit(EDGES, method="sarkar", dim=2).save(tmp_path / "m.parquet")
    (tmp_path / "v.duckdb").write_bytes(b"old")
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "import treeball.cli.main as main\nsys.exit(main.run(['export', 'm.parquet', '-o', 'v.duckdb']))\n"
    )
    codes = []
    for size in (0, 10_000, 20_000, 100_000, 300_000, 600_000, 10_000_000):
        command = [sys.executable, "-c", code, str(size)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        codes.append(done.returncode)
        if done.returncode:
            assert done.returncode == 2, done.stderr
            assert done.stderr.splitlines()[-1].startswith("treeball: cannot write "), done.stderr
            assert (tmp_path / "v.duckdb").read_bytes() == b"old"
        else:
            assert len(treeball.import_vectors(tmp_path / "v.duckdb")) == 13
        assert sorted(path.name for path in tmp_path.iterdir()) == ["m.parquet", "v.duckdb"]
    assert codes[0] == 2
    assert codes[-1] == 0
