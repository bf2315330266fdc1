"""``file://`` addresses are paths: for what is read and for what is written, of one file and of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import treeball
from treeball import InputError
from treeball.addresses import as_path, local_path
from treeball.cli.main import run


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("file:///tmp/a.parquet", "/tmp/a.parquet"),
        ("FILE:///tmp/a%20b", "/tmp/a b"),
        ("file://localhost/tmp/*.csv", "/tmp/*.csv"),
        ("file:/tmp/a", "/tmp/a"),
        ("/tmp/file:/a", "/tmp/file:/a"),
        ("file:a", "file:a"),
        ("s3://bucket/file", "s3://bucket/file"),
        ("-", "-"),
    ],
)
def test_an_address_of_this_machine_is_a_path(given, path):
    assert local_path(given) == path


def test_pathlib_makes_one_slash_of_three_and_the_path_is_the_same():
    assert as_path(Path("file:///tmp/a")) == Path("/tmp/a")


@pytest.mark.parametrize("given", ["file://other/tmp/a", "file://"])
def test_an_address_of_another_machine_is_refused(given):
    with pytest.raises(InputError, match="names no file of this machine"):
        local_path(given)


def test_commands_read_and_write_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.csv").write_text("child,parent\na,r\nb,r\nc,a\n")
    there = f"file://{tmp_path}"
    assert run(["fit", f"{there}/a%20b.csv", "-o", f"{there}/m.parquet", "--dim", "3"]) == 0
    assert (tmp_path / "m.parquet").is_file()
    assert run(["export", f"{there}/m.parquet", "-o", f"{there}/v.csv"]) == 0
    assert (tmp_path / "v.csv").is_file()
    assert run(["info", f"{there}/m.parquet"]) == 0
    assert (
        run(["fit", f"{there}/*.csv", "-o", f"{there}/m", "--dim", "3", "--engine", "local"]) == 2
    )  # v.csv is no edges
    (tmp_path / "v.csv").unlink()
    assert run(["fit", f"{there}/*.csv", "-o", f"{there}/m", "--dim", "3"]) == 0
    assert run(["ask", f"{there}/m", "parent", "c"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a b.csv", "m", "m.parquet"]


def test_python_reads_and_writes_addresses(tmp_path):
    (tmp_path / "a.csv").write_text("child,parent\na,r\nb,r\n")
    model = treeball.fit(f"file://{tmp_path}/a.csv", method="construct", dim=3)
    assert model.save(f"file://{tmp_path}/m.parquet") == tmp_path / "m.parquet"
    assert len(treeball.load(f"file://{tmp_path}/m.parquet")) == 3
    model.export(f"file://{tmp_path}/v.csv")
    assert (tmp_path / "v.csv").is_file()
