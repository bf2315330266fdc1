"""Writing: whole or not at all, and what killed writers left is removed by the next one, but not what is in use."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from treeball import InputError
from treeball.io.atomic import atomic_write, cannot_write, require_writable

WRITER = """
import sys
from pathlib import Path
from treeball.io.atomic import atomic_write
with atomic_write(Path(sys.argv[1])) as path:
    path.write_text("of another writer")
    Path(f"{path}.wal").write_text("more")
    print("writing", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_writer(target: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is in the middle of writing, and goes on when it gets a line."""
    command = [sys.executable, "-c", WRITER, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


def write(target: Path, text: str = "mine") -> None:
    with atomic_write(target) as path:
        path.write_text(text)


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    target = tmp_path / "model [1].parquet"
    with another_writer(target) as killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
    assert len(list(tmp_path.iterdir())) == 1
    write(target)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "mine"


def test_checking_that_a_file_can_be_written_removes_it_too(tmp_path):
    with another_writer(tmp_path / "model.parquet") as killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
    require_writable(tmp_path / "model.parquet")
    assert list(tmp_path.iterdir()) == []


def test_two_writers_at_once_leave_each_other_alone(tmp_path):
    target = tmp_path / "model.parquet"
    with another_writer(target) as other:
        require_writable(target)
        write(target)
        assert target.read_text() == "mine"
        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.close()
        assert other.wait(60) == 0
    assert target.read_text() == "of another writer"
    assert [path.name for path in tmp_path.iterdir()] == ["model.parquet"]


def test_two_writes_of_one_process_leave_each_other_alone(tmp_path):
    target = tmp_path / "model.parquet"
    with atomic_write(target) as path:
        path.write_text("first begun")
        write(target)
        assert path.read_text() == "first begun"
    assert target.read_text() == "first begun"


def test_files_of_other_targets_and_of_other_programs_stay(tmp_path):
    kept = [".b.parquet.abcdefgh.tmp", ".a.parquet.checkpoint.abcdefgh.tmp", "a.parquet.tmp", ".a.parquet.notes.tmp"]
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / f".a.parquet.{os.getpid()}.tmp").touch()  # of this process, which lives
    write(tmp_path / "a.parquet")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*kept, f".a.parquet.{os.getpid()}.tmp", "a.parquet"}


def test_files_that_an_earlier_version_left_are_removed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(60)
    left = tmp_path / f".a.parquet.{process.pid}.tmp"
    left.write_text("half")
    write(tmp_path / "a.parquet")
    assert not left.exists()


def test_after_an_error_nothing_is_left_and_the_old_file_stays(tmp_path):
    target = tmp_path / "a.parquet"
    write(target, "old")
    with pytest.raises(ZeroDivisionError), atomic_write(target) as path:
        path.write_text(f"half {1 / 0}")
    with pytest.raises(InputError, match="cannot write"), atomic_write(target) as path:
        raise OSError(28, "No space left on device")
    assert target.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]


def test_a_file_has_the_permissions_that_files_have(tmp_path):
    write(tmp_path / "a.parquet")
    (tmp_path / "ordinary").touch()
    assert (tmp_path / "a.parquet").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


@pytest.fixture
def steps(monkeypatch, tmp_path):
    """What is done to files and folders, in order; `fail` gives the sync of a folder an error."""

    class Steps(list[str]):
        fail: OSError | None = None

    done = Steps()
    plain_sync, plain_replace = os.fsync, os.replace

    def sync(handle):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        done.append("sync folder" if is_folder else "sync file")
        if is_folder:
            assert os.path.samestat(os.fstat(handle), os.stat(tmp_path))
            if done.fail is not None:
                raise done.fail
        plain_sync(handle)

    def replace(*given):
        done.append("rename")
        plain_replace(*given)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    return done


@pytest.mark.skipif(os.name == "nt", reason="Windows opens no folders")
def test_the_file_is_on_the_disk_before_its_name_and_its_name_before_it_is_told(tmp_path, steps):
    write(tmp_path / "a.parquet")
    assert steps == ["sync file", "rename", "sync folder"]


@pytest.mark.skipif(os.name == "nt", reason="Windows opens no folders")
def test_a_disk_that_fails_with_the_name_of_a_file_is_told(tmp_path, steps):
    steps.fail = OSError(errno.EIO, "Input/output error")
    with pytest.raises(InputError, match=r"cannot write '.*a.parquet': Input/output error"):
        write(tmp_path / "a.parquet")
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]  # whole, and nothing beside it


def test_a_file_system_that_syncs_no_folders_is_written_to_all_the_same(tmp_path, steps, monkeypatch):
    for number in (errno.EINVAL, errno.ENOTSUP, errno.EACCES):
        steps.fail = OSError(number, "no")
        write(tmp_path / "a.parquet", str(number))
        assert (tmp_path / "a.parquet").read_text() == str(number)
    plain = os.open

    def closed(path, *given, **more):
        if Path(path) == tmp_path:
            raise PermissionError(errno.EACCES, "may be written to and not read")
        return plain(path, *given, **more)

    steps.clear()
    monkeypatch.setattr(os, "open", closed)
    write(tmp_path / "a.parquet", "unseen")
    assert (tmp_path / "a.parquet").read_text() == "unseen"
    assert steps == ["sync file", "rename"]


@pytest.mark.parametrize(("code", "remedy"), [(errno.EFBIG, "ulimit -f"), (errno.ENOSPC, "make room there")])
def test_a_limit_on_the_size_of_a_file_has_another_remedy_than_a_full_disk(
    tmp_path: Path, code: int, remedy: str
) -> None:
    said = str(cannot_write(tmp_path / "m.parquet", OSError(code, os.strerror(code)), 1_000))
    assert remedy in said
    assert ("make room" in said) == (code == errno.ENOSPC)
    assert "it needs more than 1,000 bytes" in said
