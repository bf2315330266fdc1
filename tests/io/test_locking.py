"""The lock of writers: one at a time, and a writer that was killed keeps nobody out."""

from __future__ import annotations

import errno
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from treeball import InputError
from treeball.io.locking import writer_lock

HOLDER = """
import sys
from pathlib import Path

from treeball.io import locking

if sys.argv[2] == "without system locks":
    locking.fcntl.flock = lambda *_: (_ for _ in ()).throw(OSError(95, "not supported"))
with locking.writer_lock(Path(sys.argv[1]), wait=20):
    print("holding", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_writer(target: Path, mode: str = "") -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until it gets a line."""
    command = [sys.executable, "-c", HOLDER, str(target), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(params=["file", "new file", "folder"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "model"
    if request.param == "file":
        path.write_text("old")
    elif request.param == "folder":
        path.mkdir()
    return path


def without_system_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr("treeball.io.locking.fcntl.flock", flock)


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_lock_leaves_no_file(target):
    before = files_of(target.parent)
    with writer_lock(target):
        assert len(files_of(target.parent)) == len(before) + 1
    assert files_of(target.parent) == before


def test_a_second_writer_is_refused_in_one_sentence_that_names_the_first(target):
    with another_writer(target) as first:
        with pytest.raises(InputError) as caught, writer_lock(target, wait=0):
            pass
        sentence = str(caught.value)
        assert sentence.startswith(f"cannot write {str(target)!r}: process {first.pid} on {socket.gethostname()} ")
        assert sentence.endswith("wait until it has finished and try again")
        assert "\n" not in sentence


def test_a_second_writer_gets_the_lock_when_the_first_has_finished(target):
    told: list[str] = []
    with another_writer(target) as first:
        assert first.stdin is not None
        threading.Timer(1.3, lambda: (first.stdin.write("\n"), first.stdin.flush())).start()
        with writer_lock(target, wait=20, tell=told.append):
            pass
    assert len(told) == 1
    assert f"process {first.pid}" in told[0]


def test_the_wait_is_bounded(target):
    with another_writer(target):
        began = time.monotonic()
        with pytest.raises(InputError), writer_lock(target, wait=0.3):
            pass
        assert 0.3 <= time.monotonic() - began < 10


@pytest.mark.parametrize("mode", ["", "without system locks"])
def test_the_lock_of_a_killed_writer_is_taken_over(target, mode, monkeypatch):
    before = files_of(target.parent)
    with another_writer(target, mode) as killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
    assert len(files_of(target.parent)) == len(before) + 1
    if mode:
        without_system_locks(monkeypatch)
    with writer_lock(target, wait=0):
        pass
    assert files_of(target.parent) == before


def test_without_system_locks_a_second_writer_is_refused_too(target, monkeypatch):
    without_system_locks(monkeypatch)
    with another_writer(target, "without system locks") as first:
        words = f"process {first.pid} on .*; remove .* if there is no such process"
        with pytest.raises(InputError, match=words), writer_lock(target, wait=0):
            pass
        assert first.stdin is not None
        first.stdin.write("\n")
        first.stdin.close()
        assert first.wait(60) == 0
    with writer_lock(target, wait=0):
        pass


def test_without_system_locks_a_file_of_another_machine_or_without_a_name_is_respected(tmp_path, monkeypatch):
    without_system_locks(monkeypatch)
    held = tmp_path / ".model.lock.held"
    owner = {"pid": 2**22 + 1, "host": "elsewhere", "since": "2024-01-01", "command": "treeball fit"}
    for content in (json.dumps(owner), "", "[]", "{" * 5000):
        held.write_text(content)
        with pytest.raises(InputError, match=r"remove .*lock\.held"), writer_lock(tmp_path / "model", wait=0):
            pass
        assert held.read_text() == content
    held.write_text(json.dumps(owner | {"host": socket.gethostname()}))
    with writer_lock(tmp_path / "model", wait=0):
        pass
    assert files_of(tmp_path) == []


def test_threads_exclude_each_other_and_one_thread_may_take_the_lock_twice(target):
    refused: list[str] = []

    def other() -> None:
        try:
            with writer_lock(target, wait=0):
                pass
        except InputError as error:
            refused.append(str(error))

    with writer_lock(target), writer_lock(target, wait=0):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1
    with writer_lock(target, wait=0):
        pass


def test_a_link_and_the_file_it_points_to_have_one_lock(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "model.parquet"
    (tmp_path / "link.parquet").symlink_to(target)
    with another_writer(target), pytest.raises(InputError), writer_lock(tmp_path / "link.parquet", wait=0):
        pass


def test_the_lock_is_released_after_an_error(target):
    with pytest.raises(RuntimeError), writer_lock(target):
        raise RuntimeError
    with writer_lock(target, wait=0):
        pass


def test_a_lock_that_cannot_be_made_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="there is no folder"), writer_lock(tmp_path / "missing" / "model.parquet"):
        pass


@pytest.mark.parametrize("kind", ["folder", "link", "link to itself"])
def test_a_folder_or_a_link_in_the_place_of_the_lock_is_named(tmp_path, kind):
    (tmp_path / "model.parquet").write_bytes(b"model")
    lock = tmp_path / ".model.parquet.lock"
    if kind == "folder":
        lock.mkdir()
    else:
        (tmp_path / "other").write_bytes(b"other")
        lock.symlink_to(lock if kind == "link to itself" else tmp_path / "other")
    with pytest.raises(InputError) as raised, writer_lock(tmp_path / "model.parquet"):
        pass
    assert str(raised.value) == (
        f"cannot write {str(tmp_path / 'model.parquet')!r}: its lock {str(lock)!r} is a folder or a link; "
        "remove it and try again"
    )
    assert kind == "folder" or lock.is_symlink()


COUNTER = """
import os, sys, time, random
from pathlib import Path
from treeball.io.locking import writer_lock
target, seed = Path(sys.argv[1]), int(sys.argv[2])
pause = random.Random(seed)
for _ in range(200):
    with writer_lock(target, wait=60):
        count = int(target.read_text())
        time.sleep(pause.random() * 0.002)
        new = target.with_name(f"new-{seed}")
        new.write_text(str(count + 1))
        os.replace(new, target)
        print("+", end="", flush=True)
"""


def test_counts_of_writers_of_which_some_are_killed_are_not_lost(tmp_path):
    """Each writer counts on in a file; a kill may fall between its writing and its report, so one count a kill."""
    target = tmp_path / "count"
    target.write_text("0")
    command = [sys.executable, "-c", COUNTER, str(target)]
    writers = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in range(4)]
    victims, survivors = writers[:2], writers[2:]
    for victim in victims:
        assert victim.stdout is not None
        victim.stdout.read(5)
        victim.send_signal(signal.SIGKILL)
    reported = [5 + len(victim.communicate()[0]) for victim in victims]
    reported += [len(survivor.communicate(timeout=100)[0]) for survivor in survivors]
    assert [survivor.returncode for survivor in survivors] == [0, 0]
    assert reported[2:] == [200, 200]
    count = int(target.read_text())
    assert sum(reported) <= count <= sum(reported) + len(victims)
    assert not list(tmp_path.glob(".*"))
