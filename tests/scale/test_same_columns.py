"""A partitioned fit reads the columns of a file as the single-file reader does, or refuses it and names the options."""

from __future__ import annotations

import gzip
import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeball
from treeball import InputError
from treeball.cli.main import run
from treeball.io.readers.settings import ReadSettings
from treeball.scale.folder import ModelFolder
from treeball.scale.intake import take_in
from treeball.scale.layout import read_json
from treeball.scale.names import hashes_of
from treeball.scale.source import Edges, connect
from treeball.scale.topology import lay_out

REMEDIES = ("--columns", "--direction", "remove them", "convert it")
TREE = [(f"c{child}", f"c{max(0, child // 3 - 1)}") for child in range(1, 40)]
NUMBERS = [(child[1:], parent[1:]) for child, parent in TREE]


def edges_of_single_file(path: Path, **options: Any) -> tuple[set[str], set[tuple[str, str]]]:
    """Nodes and edges by the single-file reader, without an added root."""
    found = treeball.read(path, **options)
    child, parent = found.real_edges()
    names = [str(found.names[int(code)]) for code in found.real_nodes()]
    text = lambda codes: [str(found.names[int(code)]) for code in codes]  # noqa: E731
    return set(names), set(zip(text(child), text(parent), strict=True))


def edges_of_many_files(pattern: str, work: Path, **options: Any) -> tuple[set[str], set[tuple[str, str]]]:
    """Nodes and edges of the layout of a partitioned model, without an added root."""
    edges = Edges.of((pattern,), ReadSettings(**options))
    work.mkdir(exist_ok=True)
    intake = take_in(edges, work, 1 << 28, 1)
    hashes, columns = intake.hashes, intake.columns
    topology, _ = lay_out(intake)
    base = connect(1 << 28, work / "spill", 1)
    pieces = list(edges.edges(base, columns))
    base.close()
    seen = {str(name) for piece in pieces for side in ("child", "parent") for name in piece[side].to_pylist() if name}
    names = {}
    for name in seen:
        code = int(np.searchsorted(hashes, hashes_of(pa.array([name]))[0][0]))
        names[int(topology.place[code])] = name
    pairs = list(enumerate(topology.parent.tolist()))
    pairs += zip(topology.other_child.tolist(), topology.other_parent.tolist(), strict=True)
    return set(names.values()), {(names[a], names[b]) for a, b in pairs if a in names and b in names}


@dataclass(frozen=True)
class Variant:
    """One way to write the same edges.

    `rows` are texts, None for an empty cell. `same` is False where the partitioned fit may refuse the file.
    """

    header: tuple[str, ...] | None
    rows: list[tuple[Any, ...]]
    same: bool = True
    ending: str = ".csv"
    separator: str = ","
    options: dict[str, Any] = field(default_factory=dict)
    before: str = ""

    def write(self, folder: Path) -> Path:
        path = folder / f"edges{self.ending}"
        if self.ending == ".parquet":
            columns = zip(*self.rows, strict=True)
            assert self.header is not None
            pq.write_table(pa.Table.from_arrays([pa.array(list(one)) for one in columns], list(self.header)), path)
            return path
        lines = [self.separator.join("" if cell is None else str(cell) for cell in row) for row in self.rows]
        head = [] if self.header is None else [self.separator.join(self.header)]
        text = self.before + "\n".join([*head, *lines]) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if self.ending.endswith(".gz") else text.encode())
        return path


def with_roots(rows: list[tuple[str, str]], marker: Any) -> list[tuple[Any, Any]]:
    return [(rows[0][1], marker), *rows]


def turned(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [row[::-1] for row in rows]


def shuffled(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return random.Random(0).sample(rows, len(rows))


def variants() -> dict[str, Variant]:
    found: dict[str, Variant] = {}
    child_first = [
        "child,parent", "id,parent", "id,parentId", "ID,ParentID", "node,parent", "Item ID,Parent ID",
        "subclass,superclass", "hyponym,hypernym", "narrower,broader", "descendant,ancestor", "employee_id,manager_id",
        "child_id,parent_id", "taxid,parent_taxid", "taxID,parentTaxID", "code,parent_code", "category_id,parent_id",
        "employee,reports_to",
        "term,is_a", "key,parentKey", "child,belongs_to",
    ]  # fmt: skip
    for header in child_first:
        first, second = header.split(",")
        for ending in (".csv", ".parquet"):
            found[f"{header}{ending}"] = Variant((first, second), TREE, ending=ending)
            found[f"{second},{first}{ending}"] = Variant((second, first), turned(TREE), ending=ending)
    for header in ("source,target", "from,to", "subject,object", "head,tail", "src,dst"):
        first, second = header.split(",")
        found[f"{header}.csv"] = Variant((first, second), TREE)
        found[f"{header}, parent first.csv"] = Variant((first, second), turned(TREE))
        found[f"{header}, parent first.parquet"] = Variant((first, second), turned(TREE), ending=".parquet")
        found[f"{header}, undecided.csv"] = Variant((first, second), [("a", "b"), ("b", "c")], same=False)
    for name, separator in {"tab": "\t", "semicolon": ";", "pipe": "|"}.items():
        for ending in (".csv", ".tsv", ".csv.gz"):
            found[f"{name}{ending}"] = Variant(("parentId", "id"), turned(TREE), ending=ending, separator=separator)
    found["no header.csv"] = Variant(None, TREE)
    found["no header, parent first.csv"] = Variant(None, turned(TREE))
    found["no header, numbers, parent first.csv"] = Variant(None, turned(NUMBERS))
    found["no header, shuffled, parent first.tsv"] = Variant(
        None, shuffled(turned(TREE)), ending=".tsv", separator="\t"
    )
    found["blanks.csv"] = Variant(None, TREE, separator=" ", same=False)
    found["unknown words.csv"] = Variant(("kid", "mum"), TREE, same=False)
    found["unknown word beside a known one.csv"] = Variant(("concept", "broader"), TREE, same=False)
    found["unknown words, three columns.csv"] = Variant(
        ("kid", "mum", "dad"), [(*row, "x") for row in TREE], same=False
    )
    found["unknown words above numbers.csv"] = Variant(("lo", "hi"), turned(NUMBERS))
    found["unknown words.parquet"] = Variant(("lo", "hi"), turned(TREE), ending=".parquet")
    named = [(child, f"name of {child}", parent) for child, parent in with_roots(TREE, None)]
    for header in ("id,name,parentId", "child_id,name,parent_id", "id,title,parent_category_id", "id,name,parent"):
        for ending in (".csv", ".parquet"):
            found[f"{header}{ending}"] = Variant(tuple(header.split(",")), named, ending=ending)
    by_label = [(f"id{child}", child, parent) for child, parent in with_roots(TREE, None)]
    found["id,name,parent by label.csv"] = Variant(("id", "name", "parent"), by_label)
    found["id,name,parent by label.parquet"] = Variant(("id", "name", "parent"), by_label, ending=".parquet")
    ranked = [("genus", child, parent) for child, parent in with_roots(NUMBERS, "0")]
    found["rank,taxid,parent_taxid.csv"] = Variant(("rank", "taxid", "parent_taxid"), ranked[1:])
    found["weights.csv"] = Variant(("child", "parent", "weight"), [(*row, ".5") for row in TREE])
    found["weights, no header.csv"] = Variant(None, [(*row, "0.5") for row in TREE])
    found["membership.csv"] = Variant(("sku", "category_id", "title"), [(f"s{i}", f"g{i % 4}", "x") for i in range(30)])
    for marker in ("0", "-1", "NULL", "null", "None", "nan", "N/A", "-", "", "self"):
        own = TREE[0][1] if marker == "self" else marker
        for header in ("id,parent_id", "child,parent", "id,name,parent_id"):
            words = tuple(header.split(","))
            rows = [(row[0], "x", row[1]) if len(words) == 3 else row for row in with_roots(TREE, own)]
            found[f"{header}, root {marker}.csv"] = Variant(words, rows)
            found[f"{header}, root {marker}.parquet"] = Variant(words, rows, ending=".parquet")
    for marker in ("NULL", "None", "-", "NA", "-1"):
        for header in ("source,target", "lo,hi"):
            words = tuple(header.split(","))
            edges = with_roots(TREE, marker)
            called = f"{header}, undecided by the header, root {marker}"
            for ending in (".csv", ".parquet") if header == "source,target" else (".parquet",):
                found[f"{called}{ending}"] = Variant(words, edges, ending=ending)
                found[f"{called}, parent first{ending}"] = Variant(words, turned(edges), ending=ending)
        found[f"no header, root {marker}.csv"] = Variant(None, with_roots(TREE, marker))
        found[f"no header, parent first, root {marker}.csv"] = Variant(None, turned(with_roots(TREE, marker)))
    found["a node called NA.csv"] = Variant(("source", "target"), [*TREE, ("c40", "NA"), ("c41", "NA")])
    found["a node called NULL.csv"] = Variant(("source", "target"), [*TREE, ("c40", "NULL"), ("NULL", "c0")])
    found["root 0 among numbers.csv"] = Variant(("id", "parent_id"), [("5", "0"), ("6", "5"), ("7", "5"), ("8", "6")])
    found["root 0 is a node.csv"] = Variant(("id", "parent_id"), with_roots(NUMBERS, ""))
    found["empty parents.parquet"] = Variant(("a", "b"), with_roots(TREE, None), ending=".parquet")
    found["empty parents, first.parquet"] = Variant(("a", "b"), turned(with_roots(TREE, None)), ending=".parquet")
    whole = [(int(a), float(b)) for a, b in NUMBERS]
    found["floats.parquet"] = Variant(("id", "parent_id"), [(0, None), *whole], ending=".parquet")
    found["decimals.csv"] = Variant(("id", "parent_id"), [("0", ""), *((a, f"{b}.0") for a, b in NUMBERS)])
    found["decimals.parquet"] = Variant(
        ("id", "parent_id"), [("0", None), *((a, f"{b}.0") for a, b in NUMBERS)], ending=".parquet"
    )
    levels = [("A", "B", f"C{i}") for i in range(9)] + [("A", "D", f"E{i}") for i in range(9)]
    for header in ("L1,L2,L3", "kingdom,phylum,class", "department,category,subcategory"):
        for ending in (".csv", ".parquet"):
            found[f"{header}{ending}"] = Variant(tuple(header.split(",")), levels, same=False, ending=ending)
    crumbs = [(str(i), " > ".join(row)) for i, row in enumerate(levels)]
    found["breadcrumbs.csv"] = Variant(("id", "category"), crumbs, same=False)
    found["breadcrumbs.parquet"] = Variant(("id", "path"), crumbs, same=False, ending=".parquet")
    above: dict[str, str] = dict(TREE)
    closure = []
    for node in above:
        up: str | None = above[node]
        while up is not None:
            closure.append((node, up))
            up = above.get(up)
    found["closure.csv"] = Variant(("child", "parent"), closure)
    found["closure, ancestor first.csv"] = Variant(("ancestor", "descendant"), turned(closure))
    found["closure.parquet"] = Variant(("descendant", "ancestor"), closure, ending=".parquet")
    messy = [*TREE, TREE[3], ("c7", "c7"), ("c0", "c39"), (" c40 ", "c1"), ("\u00a0c41\t", "c2"), (None, "c3")]
    found["messy.csv"] = Variant(("child", "parent"), messy, separator=";")
    found["messy.parquet"] = Variant(("child", "parent"), messy, ending=".parquet")
    found["comments above.csv"] = Variant(("parent", "child"), turned(TREE), before="# made\n# by hand\n")
    found["header in a comment.tsv"] = Variant(("#parent", "child"), turned(TREE), ending=".tsv", separator="\t")
    found["sep line.csv"] = Variant(("parent", "child"), turned(TREE), separator=";", before="sep=;\n")
    found["byte order mark.csv"] = Variant(("parent", "child"), turned(TREE), before="\ufeff")
    found["quotes.csv"] = Variant(("parent", "child"), [(f'"{b}, ""x"""', f'"{a}"') for a, b in TREE[:9]])
    found["quotes beside tabs.tsv"] = Variant(
        ("parent", "child"), [(b, f'"{a}"') for a, b in TREE[:9]], ending=".tsv", separator="\t"
    )
    found["padding.csv"] = Variant(("parent", "child", ""), [(b, a, "") for a, b in TREE])
    found["comments among rows.csv"] = Variant(("child", "parent"), [*TREE[:9], ("# note", "x"), *TREE[9:]], same=False)
    found["columns by name.csv"] = Variant(("kid", "mum"), TREE, options={"columns": "kid,mum"})
    found["columns by name, turned.csv"] = Variant(
        ("mum", "kid", "x"), [(b, a, 1) for a, b in TREE], options={"columns": "kid,mum"}
    )
    found["columns by number.csv"] = Variant(
        ("mum", "kid", "x"), [(b, a, 1) for a, b in TREE], options={"columns": "2,1", "header": "yes"}
    )
    found["columns by number.parquet"] = Variant(
        ("mum", "kid", "x"), [(b, a, 1) for a, b in TREE], options={"columns": "2,1"}, ending=".parquet"
    )
    found["direction.csv"] = Variant(("lo", "hi"), turned(TREE), options={"direction": "parent-child", "header": "yes"})
    found["direction against the header.parquet"] = Variant(
        ("child", "parent"), turned(TREE), options={"direction": "parent-child"}, ending=".parquet"
    )
    found["direction by the header.csv"] = Variant(("source", "target"), turned(TREE), options={"direction": "header"})
    found["list of levels named.csv"] = Variant(("L1", "L2", "L3"), levels, options={"columns": "L2,L1"})
    return found


VARIANTS = variants()


@pytest.mark.parametrize("name", VARIANTS)
def test_many_files_are_read_as_one_file_or_refused_with_the_options(name, tmp_path):
    variant = VARIANTS[name]
    path = variant.write(tmp_path)
    if variant.same:
        found = edges_of_many_files(str(path), tmp_path / "work", **variant.options)
        assert found == edges_of_single_file(path, **variant.options)
        return
    with pytest.raises(InputError) as refused:
        edges_of_many_files(str(path), tmp_path / "work", **variant.options)
    assert any(remedy in str(refused.value) for remedy in REMEDIES)


def test_there_are_enough_variants():
    assert len(VARIANTS) >= 81


# ---- several files ----


def test_files_with_their_columns_in_another_order_are_one_hierarchy(tmp_path):
    (tmp_path / "a.csv").write_text("# of a\nparent,child,x\nr,a\u0020,1\nr,b,1\n")
    (tmp_path / "b.csv").write_text("x,child,parent\n1,c,a\n")
    (tmp_path / "c.csv").write_text("")
    (tmp_path / "d.csv").write_text("# of d\n# again\nparent,child,x\nb,d,1\n")
    found = edges_of_many_files(str(tmp_path / "*.csv"), tmp_path / "work")
    assert found[1] == {("a", "r"), ("b", "r"), ("c", "a"), ("d", "b")}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("child,parent\na,r\nb,r\n", "c,a\nd,a\n", "first file has the header"),
        ("child,parent\na,r\nb,r\n", "node,parent\nc,a\nd,a\n", "first file has the header"),
        ("a,r\nb,r\n", "parent,child\na,c\na,d\n", "the first file has none"),
        ("child,parent\na,r\nb,r\n", "child;parent\nc;a\n", "first file has the header"),
        ("child,parent\na,r\nb,r\n", "child,parent\nc,a\nd,a,a\n", "more columns"),
    ],
)
def test_files_that_do_not_go_together_are_refused(first, second, said, tmp_path):
    (tmp_path / "a.csv").write_text(first)
    (tmp_path / "b.csv").write_text(second)
    with pytest.raises(InputError, match=said):
        edges_of_many_files(str(tmp_path / "*.csv"), tmp_path / "work")


@pytest.mark.parametrize(("separator", "name"), [("\t", '"c9"'), (",", "# c9"), ("\t", "## c9")])
def test_what_only_later_lines_hold_and_changes_the_reading_is_refused(separator, name, tmp_path):
    lines = [f"n{i}{separator}n{i // 9}" for i in range(1, 100_000)]
    (tmp_path / "a.tsv").write_text("\n".join([f"child{separator}parent", *lines, f"{name}{separator}n1"]))
    with pytest.raises(InputError, match="no name like it in its first lines"):
        edges_of_many_files(str(tmp_path / "*.tsv"), tmp_path / "work")


# ---- commands ----


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A partitioned model of a file whose parents come first."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{parent},{child}\n" for child, parent in TREE)
    (tmp_path / "a.csv").write_text("parentId,id\n" + rows)
    assert run(["fit", "a.csv", "--engine", "local", "--method", "construct", "-o", "m", "--dim", "3"]) == 0
    return tmp_path


def test_a_partitioned_fit_has_the_edges_of_a_single_file_fit(home):
    assert run(["fit", "a.csv", "-o", "m.parquet", "--dim", "3"]) == 0
    single, folder = treeball.load(home / "m.parquet"), ModelFolder(home / "m")
    for name in ("c0", "c1", "c20", "c39"):
        assert folder.names(folder.parents(folder.find(name))) == list(single.hierarchy.parents_of(name))
    assert read_json(home / "m" / "manifest.json")["input"]["columns"].startswith("id is child, parentId is parent")


def test_unknown_words_are_refused_and_the_options_are_the_way_out(home, capsys):
    (home / "b.csv").write_text("mum,kid\n" + "".join(f"{parent},{child}\n" for child, parent in TREE))
    fit = ["fit", "b.csv", "--engine", "local", "--method", "construct", "-o", "n", "--dim", "3"]
    capsys.readouterr()
    for command in (fit, ["plan", "b.csv"]):
        assert run(command) == 2
        assert "--columns" in capsys.readouterr().err
    assert not (home / "n").exists()
    assert run(["plan", "b.csv", "--columns", "kid,mum"]) == 0
    assert run([*fit, "--columns", "kid,mum"]) == 0
    assert ModelFolder(home / "n").manifest["roots"] == 1
    # Another direction is another model: that one is not "done already".
    assert run([*fit, "--columns", "kid,mum", "--direction", "parent-child"]) == 2
    assert "other edges or settings" in capsys.readouterr().err


def test_a_direction_that_cannot_be_told_is_refused_with_the_option(home, capsys):
    (home / "b.csv").write_text("source,target\na,b\nb,c\n")
    fit = ["fit", "b.csv", "--engine", "local", "--method", "construct", "-o", "n", "--dim", "3"]
    assert run(fit) == 2
    assert "--direction child-parent or --direction parent-child" in capsys.readouterr().err
    assert run([*fit, "--direction", "parent-child"]) == 0
    folder = ModelFolder(home / "n")
    assert folder.names(folder.parents(folder.find("b"))) == ["a"]


@pytest.mark.parametrize("header", ["id,parentId", "child,parent"])
def test_an_update_that_would_turn_the_model_round_is_refused(home, capsys, header):
    before = (home / "m" / "manifest.json").read_bytes()
    (home / "new.csv").write_text(f"{header}\n" + "".join(f"{parent},{child}\n" for child, parent in TREE))
    assert run(["update", "m", "new.csv"]) == 2
    assert "would turn 'm' round" in capsys.readouterr().err
    assert (home / "m" / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("header", ["parentId,id", "superclass,subclass", "source,target", "n0,n1", None])
def test_an_update_reads_its_columns_as_a_fit_does(home, capsys, header):
    rows = [f"{parent},{child}" for child, parent in [*TREE, ("new", "c3")]]
    (home / "new.csv").write_text("\n".join([*([] if header in (None, "n0,n1") else [header]), *rows]) + "\n")
    capsys.readouterr()
    assert run(["update", "m", "new.csv", "--json"]) == 0
    assert '"moved":0' in capsys.readouterr().out.replace(" ", "")
    folder = ModelFolder(home / "m")
    assert folder.names(folder.parents(folder.find("new"))) == ["c3"]


def test_insert_and_update_take_the_columns_that_are_named(home):
    (home / "new.csv").write_text("x,mum,kid\n1,c5,new\n")
    assert run(["insert", "m", "new.csv"]) == 2
    assert run(["insert", "m", "new.csv", "--columns", "kid,mum"]) == 0
    folder = ModelFolder(home / "m")
    assert folder.names(folder.parents(folder.find("new"))) == ["c5"]
    rows = [f"{parent},{child}" for child, parent in [*TREE, ("new", "c5"), ("newer", "c5")]]
    (home / "all.csv").write_text("\n".join(["mum,kid", *rows]) + "\n")
    assert run(["update", "m", "all.csv", "--columns", "2,1", "--header", "yes"]) == 0
    assert ModelFolder(home / "m").has("newer")


# ---- the same input ----


def test_a_folder_is_known_by_the_content_of_its_files(home, capsys):
    again = ["fit", "a.csv", "--engine", "local", "--method", "construct", "-o", "m", "--dim", "3"]
    os.utime(home / "a.csv", ns=(1, 1))
    capsys.readouterr()
    assert run(again) == 0
    assert "done already" in capsys.readouterr().err
    (home / "a.csv").rename(home / "b.csv")
    assert run(["fit", "b.csv", *again[2:]]) == 0
    assert "done already" in capsys.readouterr().err
    same_size = (home / "b.csv").read_text().replace("c12,c39", "c11,c39")
    (home / "b.csv").write_text(same_size)
    os.utime(home / "b.csv", ns=(1, 1))
    assert run(["fit", "b.csv", *again[2:]]) == 2
    assert "other edges" in capsys.readouterr().err


def test_ids_that_become_one_node_by_their_label_are_said(home, capsys):
    (home / "x.csv").write_text(
        "id,name,parent\n1,Home,\n2,Kitchen,Home\n3,Garden,Home\n4,Pans,Kitchen\n5,Pans,Garden\n"
    )
    assert run(["fit", "x*.csv", "-o", "model", "--dim", "3", "--method", "construct"]) == 0
    assert "1 label of several ids, each read as one node, such as Pans" in capsys.readouterr().err
