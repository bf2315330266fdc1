"""Names of files that DuckDB would take for something else: each is one file, and nothing but a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from treeball.scale.source import Edges, connect


def edges_read(edges: Edges, spill: Path) -> list[tuple[str, str]]:
    base = connect(1 << 28, spill, 1)
    return sorted(base.execute(edges.columns(base).select).fetchall())


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "it's.csv", "a'b]) union select 1.csv", "s3:a.csv"])
def test_a_file_is_read_by_its_name_and_not_by_what_the_name_matches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "edges"
    folder.mkdir()
    (folder / name).write_text("child,parent\nright,root\n")
    for other in ("a1.csv", "ab.csv"):  # what the names above match as patterns
        (tmp_path / other).write_text("child,parent\nwrong,root\n")
        (folder / other).write_text("child,parent\nwrong,root\n")
    monkeypatch.chdir(folder)
    assert edges_read(Edges((name,), (1,)), tmp_path / "spill") == [("right", "root")]


def test_each_file_of_a_pattern_is_read_once(tmp_path: Path) -> None:
    for name in ("a[1].csv", "a1.csv", "a*.csv"):
        (tmp_path / name).write_text(f"child,parent\n{name},root\n")
    found = edges_read(Edges.of((str(tmp_path / "*.csv"),)), tmp_path / "spill")
    assert found == [("a*.csv", "root"), ("a1.csv", "root"), ("a[1].csv", "root")]


def test_the_name_of_a_folder_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "parent=wrong").mkdir()
    (tmp_path / "parent=wrong" / "edges.csv").write_text("child,parent\nright,root\n")
    found = edges_read(Edges.of((str(tmp_path / "parent=wrong" / "*.csv"),)), tmp_path / "spill")
    assert found == [("right", "root")]


def test_no_input_makes_duckdb_fetch_an_extension(tmp_path: Path) -> None:
    base = connect(1 << 28, tmp_path / "spill", 1)
    wanted = ("autoinstall_known_extensions", "autoload_known_extensions")
    found = {name: base.execute("select current_setting(?)", [name]).fetchone()[0] for name in wanted}
    assert found == dict.fromkeys(wanted, False)
    with pytest.raises(Exception, match="locked"):
        base.execute("set autoload_known_extensions = true")
