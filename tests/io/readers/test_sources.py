"""Where bytes come from, and which format they are taken for."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, edges_of, setting_help
from treeball.errors import InputError
from treeball.io.readers import ReadSettings, read
from treeball.io.readers.recognition import TEXT_FORMATS
from treeball.io.readers.settings import Format

EDGES = helpers.delimited(ANIMALS)


def test_paths_bytes_and_open_files(tmp_path: Path) -> None:
    path = tmp_path / "animals.with.no.meaning.xls"
    path.write_bytes(EDGES)
    assert edges_of(read(path)) == edges_of(read(str(path))) == edges_of(read(EDGES)) == ANIMALS
    with path.open("rb") as binary, path.open() as text:
        assert edges_of(read(binary)) == edges_of(read(text)) == ANIMALS
    assert edges_of(read(io.StringIO(EDGES.decode()))) == ANIMALS


def test_standard_input() -> None:
    code = "import sys; from treeball.io.readers import read; print(read('-').report.headline())"
    for content in (EDGES, helpers.compressed(EDGES, "zstd")):
        done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True)
        assert done.stdout.decode().startswith("6 nodes, 5 edges read as child -> parent, 1 root (animal)")


def test_the_shipped_example() -> None:
    hierarchy = read("example:mammals", strict=True)
    assert hierarchy.is_tree
    assert hierarchy.report is not None
    assert hierarchy.report.headline() == (
        "1,182 nodes, 1,181 edges read as child -> parent, 1 root (mammal.n.01), 0 repairs"
    )
    assert hierarchy.report.source == "example:mammals"


def test_settings_need_no_heavy_library() -> None:
    code = (
        "import sys; import treeball.hierarchy.read_report; from treeball.io.readers import ReadSettings;"
        "assert not {'pyarrow', 'numba', 'numpy', 'pandas'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


def test_reading_loads_the_optional_libraries_only_when_needed() -> None:
    code = (
        "import sys; from treeball.io.readers import read; read('example:mammals');"
        "assert not {'pyoxigraph', 'python_calamine', 'networkx', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_setting_explains_itself() -> None:
    explained = setting_help()
    assert list(explained) == [field.name for field in fields(ReadSettings)]
    assert all(text.endswith(".") for text in explained.values())
    assert ReadSettings(columns="a, b").columns == ("a", "b")  # type: ignore[arg-type]


# Contents that more than one format might claim, and who must win.
TRAPS = {
    "names that are paths, in two columns": (b"A > B\tA\nA > B > C\tA > B\nD > E\tD\n", "edge_list"),
    "names that are paths, in CSV": (b"A > B,A\nA > C,A\nA > B > D,A > B\n", "edge_list"),
    "commas in breadcrumbs": (b"Food, Drinks > Tea, black\nFood, Drinks > Milk\nFood, Drinks\n", "breadcrumbs"),
    "slashes and commas in names": (b"a/b, c & d\tx/y\ne/f\tx/y\nx/y\tz\n", "edge_list"),
    "an outline with commas": (b"fruit, all\n  apple, red\n  pear, green\n", "outline"),
    "an outline with colons": (b"fruit:\n  apple\n  pear\n", "outline"),
    "YAML lists": (b"fruit:\n  - apple\n  - pear\n", "yaml_tree"),
    "a Markdown list": (b"- fruit\n  - apple\n  - pear\n", "outline"),
    "a Markdown list with colons": (b"- fruit\n  - apple: red\n  - pear\n", "outline"),
    "Newick over several lines": (b"(\n a:1,\n b:2\n)c:0;\n", "newick_tree"),
    "names in parentheses": (b"(Equus asinus x Equus caballus)\tEquus\nEquus ferus\tEquus\n", "edge_list"),
    "a name like a Parquet file": (b"PAR1\tgene\nPAR2\tgene\n", "edge_list"),
    "a name like a bz2 file": (b"BZh\tgene\nPAR2\tgene\n", "edge_list"),
    "numbers and blanks": (b"1 0\n2 0\n3 1\n", "edge_list"),
    "aligned blanks": (b"  1   10\n 22   10\n333    1\n", "edge_list"),
    "JSON on one line": (b'{"a": ["b", "c"]}', "json_tree"),
    "semicolons with decimal commas": (b"a;b;1,5\nc;b;2,0\n", "edge_list"),
    "a parent column that is empty once": (b"a\t\nb\ta\nc\ta\n", "parent_table"),
    "a bare star of words": (b"dog mammal\ncat mammal\n", None),
    "IRIs in two columns": (b"http://e/a\thttp://e/b\nhttp://e/c\thttp://e/b\n", "edge_list"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_sniffing(trap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content, winner = TRAPS[trap]
    chosen: list[str] = []
    import treeball.io.readers._read as reading

    original = reading._format_of

    def spy(source: object, settings: ReadSettings) -> str:
        chosen.append(original(source, settings))  # type: ignore[arg-type]
        return chosen[-1]

    monkeypatch.setattr(reading, "_format_of", spy)
    if winner is None:
        with pytest.raises(InputError):
            read(content)
    else:
        read(content)
        assert [one.rpartition(".")[2] for one in chosen] == [winner]


def test_formats_can_be_forced() -> None:
    assert set(TEXT_FORMATS) | {"auto", "parquet", "directory"} == set(get_args(Format))
    assert edges_of(read(b"dog mammal\ncat mammal\n", separator="space")) == {("dog", "mammal"), ("cat", "mammal")}
    assert edges_of(read(b"a~r\nb~r\n", separator="~")) == {("a", "r"), ("b", "r")}
    assert edges_of(read(b"r => a\nr => b\n", separator=" => ")) == {("r => a", "r"), ("r => b", "r")}
    assert edges_of(read(b"r > a\nr > b\n", format="breadcrumbs")) == {("r > a", "r"), ("r > b", "r")}
    assert edges_of(read(b'"a",r\n"b",r\n', quoting="off")) == {('"a"', "r"), ('"b"', "r")}


def test_other_encodings() -> None:
    text = "Käse,Essen\nBrot,Essen\n"
    expected = {("Käse", "Essen"), ("Brot", "Essen")}
    assert edges_of(read(text.encode("cp1252"), encoding="cp1252")) == expected
    for name in ("utf-16", "utf-32", "utf-8-sig"):
        assert edges_of(read(text.encode(name))) == expected


def test_line_ends_of_all_kinds() -> None:
    for end in ("\n", "\r\n", "\r"):
        for content in (EDGES, helpers.outline(ANIMALS), helpers.breadcrumbs(ANIMALS), helpers.json_lines(ANIMALS)):
            hierarchy = read(content.replace(b"\n", end.encode()))
            assert hierarchy.n_edges == len(ANIMALS)


def test_very_long_lines_and_many_columns_of_blanks() -> None:
    long = "x" * 6_000_000
    assert read(f"{long}\tr\nb\tr\n".encode()).n_nodes == 3
    assert edges_of(read(b"a\tr\n \t \nb\tr\n\n   \n")) == {("a", "r"), ("b", "r")}


def test_tree_output() -> None:
    drawn = "animal\n├── bird\n│   └── owl\n└── mammal\n    ├── cat\n    └── dog\n\n3 directories, 3 files\n"
    assert edges_of(read(drawn.encode())) == ANIMALS


def test_published_files_with_ids() -> None:
    text = "# Version: 2021\n1 - Animals & Pets\n7 - Animals & Pets > Live, wild\n9 - Toys\n"
    hierarchy = read(text.encode(), names="label")
    assert edges_of(hierarchy) == {("Animals & Pets > Live, wild", "Animals & Pets")}
    assert "Toys" in hierarchy.names
    assert edges_of(read(text.encode())) == {("7", "1")}
    assert read(text.encode()).labels[:3] == ["Animals & Pets", "Animals & Pets > Live, wild", "Toys"]
    shopify = (
        "# Format: GID : path\n\ngid://shop/ap : Animals\ngid://shop/ap-1 : Animals > Cats\ngid://shop/to : Toys\n"
    )
    assert edges_of(read(shopify.encode())) == {("gid://shop/ap-1", "gid://shop/ap")}


def test_node_link_documents_keep_isolated_nodes() -> None:
    nodes = b'{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}], '
    text = nodes + b'"links": [{"source": "b", "target": "a"}, {"source": "c", "target": "a"}]}'
    hierarchy = read(text)
    assert edges_of(hierarchy) == {("b", "a"), ("c", "a")}
    assert "d" in hierarchy.names


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd"])
def test_streams_that_follow_one_another_are_joined(codec: str) -> None:
    lines = EDGES.splitlines(keepends=True)
    nothing = helpers.compressed(b"", codec)
    streams = [helpers.compressed(line, codec) for line in lines]
    for joined in (b"".join(streams), nothing.join([b"", *streams, b""]), nothing * 3 + b"".join(streams)):
        assert edges_of(read(joined)) == ANIMALS


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd"])
@pytest.mark.parametrize("times", [1, 2, 3, 1_000])
def test_streams_without_content_are_an_empty_file(codec: str, times: int) -> None:
    with pytest.raises(InputError, match=r"^bytes is empty: a hierarchy needs"):
        read(helpers.compressed(b"", codec) * times)


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd"])
def test_a_stream_that_is_cut_or_followed_by_something_else_is_refused(codec: str) -> None:
    whole, nothing = helpers.compressed(EDGES, codec), helpers.compressed(b"", codec)
    for cut in (whole[: len(whole) // 2], whole + whole[:-3], nothing * 2 + nothing[:-2]):
        with pytest.raises(InputError, match=rf"^bytes is a truncated {codec} file: copy or download it again"):
            read(cut)
    with pytest.raises(InputError, match=rf"^bytes is a damaged {codec} file: copy or download it again"):
        read(whole + b"something else")
