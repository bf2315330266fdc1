"""Every malformed input is refused with one sentence that names the place and the remedy."""

from __future__ import annotations

import gzip
import io
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS
from treeball.errors import InputError, MissingExtraError
from treeball.io.readers import read

EDGES = helpers.delimited(ANIMALS)
PARQUET = helpers.parquet(ANIMALS)
BIG = "".join(f"node {i}\tnode {i // 7}\n" for i in range(1, 20_000)).encode()
GZIP = gzip.compress(BIG)
ZSTD = helpers.compressed(BIG, "zstd")
NOISE = random.Random(5).randbytes(3000)

# name -> content, settings, what the sentence must say (in order)
CASES: dict[str, tuple[bytes, dict[str, Any], list[str]]] = {
    "empty": (b"", {}, ["is empty", "child and its parent"]),
    "blank": (b" \n\n\t\n", {}, ["is empty"]),
    "empty gzip": (gzip.compress(b""), {}, ["is empty"]),
    "header only": (b"child,parent\n", {}, ["header and no edges"]),
    "binary": (b"\x7fELF\x02\x01\x00\x00" + NOISE, {}, ["binary file"]),
    "binary without zeros": (NOISE.replace(b"\0", b"\1"), {}, ["binary file"]),
    "one column": (b"dog\ncat\nowl\n", {}, ["one column", "tab or comma"]),
    "one column of phrases": (b"red fox\ngrey wolf\nbrown bear\n", {}, ["one column"]),
    "one column, edges asked": (b"dog\ncat\n", {"format": "edges"}, ["one column", "separator"]),
    "one column, outline asked": (b"dog\ncat\n", {"format": "outline"}, ["no indentation"]),
    "row too long": (
        b"dog,mammal\ncat,mammal\n\na,b,c\nmammal,animal\n",
        {},
        ["line 4", "3 columns", "have 2", "quotes"],
    ),
    "row too short": (b"child,parent\ndog,mammal\ncat\nmammal,animal\n", {}, ["line 3", "1 column ", "have 2"]),
    "row too short after quotes": (
        b'child,parent\n"dog\nbig",mammal\ncat,mammal\nowl\nmammal,animal\n',
        {},
        ["line 5", "1 column ", "have 2"],
    ),
    "ragged late": (BIG + b"a\tb\tc\n", {}, ["line 20000", "3 columns"]),
    "ragged below comments": (b"# one\n# two\na\tb\nc\tb\nd\te\tf\n", {}, ["line 5", "3 columns"]),
    "cycle, strict": (b"a,b\nb,c\nd,c\nc,a\n", {"strict": True}, ["line 4", "c -> a", "cycle", "without strict"]),
    "self-loop, strict": (b"a,b\nc,b\nb,b\n", {"strict": True}, ["line 3", "b is its own parent"]),
    "duplicate, strict": (b"a,b\nc,b\n\na,b\n", {"strict": True}, ["line 4", "a -> b is repeated"]),
    "empty name, strict": (b"child,parent\na,b\n,b\n", {"strict": True}, ["line 3", "no name"]),
    "blanks, strict": (b"child,parent\na,b\nc ,b\n", {"strict": True}, ["line 3", "there are blanks around a name"]),
    "orphan, strict": (b"id,parent\na,\nb,zz\n", {"strict": True}, ["line 3", "zz has no row"]),
    "indent, strict": (b"a\n    b\n  c\n", {"strict": True}, ["line 3", "between two levels"]),
    "sibling, strict": (b"a\n  b\n  c\n  b\n", {"strict": True}, ["line 4", "sibling's name is repeated"]),
    "truncated gzip": (GZIP[: len(GZIP) // 2], {}, ["truncated gzip", "again"]),
    "damaged gzip": (GZIP[:20] + NOISE[:500] + GZIP[520:], {}, ["gzip", "again"]),
    "truncated zstd": (ZSTD[: len(ZSTD) // 2], {}, ["zstd", "again"]),
    "latin-1": ("Käse,Essen\nBrot,Essen\n".encode("latin-1"), {}, ["line 1", "byte 1", "not UTF-8", "encoding="]),
    "late latin-1": (BIG + b"caf\xe9\tnode 1\n", {}, ["line 20000", "0xe9", "not UTF-8"]),
    "utf-16 without mark": ("a,b\nc,b\n".encode("utf-16-le"), {}, ["UTF-16", "encoding=utf-16-le"]),
    "wrong encoding named": (b"a\xff,b\n", {"encoding": "ascii"}, ["byte 1", "not ascii"]),
    "unknown encoding": (EDGES, {"encoding": "klingon"}, ["klingon", "unknown"]),
    "codec that is no encoding": (EDGES, {"encoding": "rot13"}, ["rot13", "unknown"]),
    "NaN weight": (b"a,b,1\nc,b,nan\n", {}, ["line 2", "nan", "from 0 on"]),
    "negative weight": (b"child,parent,weight\na,b,1\nc,b,-2\n", {}, ["line 3", "-2", "from 0 on"]),
    "infinite weight": (b"a,b,1\nc,b,inf\n", {}, ["line 2", "inf", "finite"]),
    "missing weight": (b"child,parent,weight\na,b,1\nc,b,\n", {}, ["line 3", "missing"]),
    "weight that is a word": (b"child,parent,weight\na,b,1\nc,b,heavy\n", {}, ["line 3", "'heavy' is not a number"]),
    "NaN weight in JSON": (b'[{"child":"a","parent":"b","weight":NaN}]', {}, ["record 1", "nan"]),
    "truncated parquet": (PARQUET[:-50], {}, ["truncated or damaged Parquet"]),
    "parquet magic alone": (b"PAR1\x15\x04", {}, ["truncated or damaged Parquet"]),
    "truncated arrow": (b"ARROW1\x00\x00abc", {}, ["truncated or damaged Arrow"]),
    "zip": (b"PK\x03\x04....", {}, ["zip archive", "unpack"]),
    "pickle": (b"\x80\x04\x95....", {}, ["pickle"]),
    "tar": (b"nodes.dmp" + bytes(248) + b"ustar" + bytes(300), {}, ["tar archive", "unpack"]),
    "too many columns": (b"a,b,c,d\n1,2,3,4\n", {}, ["4 columns", "columns=1,2"]),
    "third column of words": (b"dog,mammal,is_a\nmammal,animal,is_a\n", {}, ["3 columns", "columns="]),
    "no such column": (b"child,parent\na,b\n", {"columns": ("kid", "parent")}, ["no column 'kid'", "'child'"]),
    "no such column number": (b"a,b\nc,b\n", {"columns": ("1", "3")}, ["no column '3'", "1 to 2"]),
    "broken JSON": (b'{"a": {"b": {}},\n "c": }', {}, ["line 2", "not valid JSON"]),
    "broken JSON line": (b'{"child":"a","parent":"b"}\n{"child":"c","parent":"b"}\n{oops\n', {}, ["line 3"]),
    "deep JSON": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, {"format": "json"}, ["too deeply"]),
    "single JSON value": (b'"dog"', {"format": "json"}, ["single value"]),
    "broken YAML": (b"a:\n  - b\n c: [\n", {"format": "yaml"}, ["line 3", "not valid YAML"]),
    "YAML that bites its tail": (b"a: &x\n  b: *x\n", {"format": "yaml"}, ["unfinished or unknown anchor"]),
    "YAML that explodes": (
        b"a: &a [x, y]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (97 + i, 97 + i, 96 + i, 96 + i) for i in range(1, 24)),
        {"format": "yaml"},
        ["without end"],
    ),
    "broken OBO": (b"format-version: 1.4\n\n[Term]\nid: X:1\nis_a X:2\n", {}, ["line ", "not valid OBO"]),
    "OBO that hangs on nothing": (b"[Term]\nid: X:1\nis_a: ! animal\n", {}, ["line 3", "is_a names no term"]),
    "OBO term without an id": (b"[Term]\nid: X:1\n\n[Term]\nname: x\n", {}, ["line 5", "before the id"]),
    "OBO term of nothing": (b"[Term]\nid: X:1\n\n[Term]\n\n[Term]\nid: X:2\n", {}, ["line 4", "has no id"]),
    "OBO with a heading lost": (b"[Term]\nid: X:1\n\nid: X:2\nis_a: X:1\n", {}, ["line 4", "a second id"]),
    "open OWL": (b"Ontology(<http://e>\nSubClassOf(<http://e/a> <http://e/b>)\n", {}, ["line 3", "never close"]),
    "OWL closed too often": (b"Prefix(:=<http://e/>)\nOntology(<http://e>))\n", {}, ["line 2", "never opened"]),
    "OWL with an open text": (b'Ontology(<http://e>\nAnnotation(a "b)\n', {}, ["line 2", "quotation mark"]),
    "OWL with a stray word": (b"Prefix(:=<http://e/>)\nx y Ontology()\n", {}, ["line 2", "outside of all"]),
    "broken OWL/XML": (
        b'<Ontology xmlns="http://www.w3.org/2002/07/owl#">\n<Class></Ontology>',
        {},
        ["line 2", "not valid OWL in XML"],
    ),
    "NEXUS without trees": (b"#NEXUS\nbegin taxa;\ntaxlabels a b;\nend;\n", {}, ["NEXUS without a tree"]),
    "NEXUS called Newick": (b"#NEXUS\nbegin trees;\n", {"format": "newick"}, ["is NEXUS"]),
    "no such tree": (b"(a,b)r;(a,b)s;", {"tree": "3"}, ["no tree '3'", "1 to 2"]),
    "OBO without terms": (b"format-version: 1.4\n\n[Typedef]\nid: part_of\n", {}, ["no [Term]"]),
    "broken Turtle": (b"@prefix : <http://e/> .\n:a :b\n:c :d :e :f .\n", {}, ["line 3", "not valid Turtle"]),
    "broken RDF/XML": (b'<?xml version="1.0"?>\n<rdf:RDF>\n<oops', {}, ["not valid RDF/XML"]),
    "other XML": (b'<?xml version="1.0"?>\n<graph><node/></graph>', {}, ["XML but not RDF/XML"]),
    "RDF without hierarchy": (b"<http://e/a> <http://e/b> <http://e/c> .\n", {}, ["no rdfs:subClassOf"]),
    "open Newick": (b"((a,b),c;", {"format": "newick"}, ["not closed"]),
    "Newick closed too often": (b"(a,b));", {"format": "newick"}, ["not valid Newick"]),
    "Newick with a bad length": (b"(a:x,b:1)c;", {}, ["branch length 'x'"]),
    "Newick with blanks": (b"(a b,c);", {}, ["stand side by side", "quote"]),
    "no edge": (b'{"name": "alone", "children": []}', {}, ["holds no edge"]),
    "taxdump cut short": (b"1\t|\t1\t|\tno rank\t|\n2\t|\t1\n", {}, ["not a complete taxonomy dump"]),
    "text as parquet": (EDGES, {"format": "parquet"}, ["neither Parquet"]),
    "parquet as text": (PARQUET, {"format": "edges"}, ["is Parquet or Arrow, not edges"]),
}


@pytest.mark.parametrize("case", CASES)
def test_sentence(case: str, tmp_path: Path) -> None:
    content, settings, said = CASES[case]
    path = tmp_path / "input.dat"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path, **settings)
    sentence = str(caught.value)
    position = 0
    for part in said:
        assert part in sentence[position:], sentence
        position = sentence.index(part, position)
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert caught.value.exit_code == 2
    if not case.startswith(("unknown encoding", "codec")):
        assert str(path) in sentence
    assert caught.value.__cause__ is None, "the last net was needed"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "animals.csv").write_bytes(EDGES)
    with pytest.raises(InputError, match=r"animal\.csv does not exist.*did you mean .*animals\.csv"):
        read(tmp_path / "animal.csv")
    with pytest.raises(InputError, match="download the file first"):
        read("https://example.org/animals.csv")
    with pytest.raises(InputError, match="cannot be opened"):
        read("a\0b")
    with pytest.raises(InputError, match=r"cannot be opened|does not exist"):
        read("x" * 5000)


def test_a_directory_where_a_file_belongs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a directory where a file belongs.*format=directory"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"holds no data\.noun"):
        read(tmp_path, format="wordnet")
    (tmp_path / "file").write_bytes(EDGES)
    with pytest.raises(InputError, match="is not a directory"):
        read(tmp_path / "file", format="directory")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no edge"):
        read(tmp_path / "empty", format="directory")


def test_unknown_settings() -> None:
    with pytest.raises(InputError, match="format='excel' is unknown: choose one of auto, edges"):
        read(EDGES, format="excel")
    with pytest.raises(InputError, match="no setting 'colour'"):
        read(EDGES, colour="red")
    with pytest.raises(InputError, match=r"columns=.*must name child and parent"):
        read(EDGES, columns=("a", "b", "c", "d"))
    with pytest.raises(InputError, match="strict='yes' must be of type bool"):
        read(EDGES, strict="yes")
    with pytest.raises(InputError, match="root='' names no node"):
        read(EDGES, root="")
    with pytest.raises(InputError, match="no example 'plants': choose from mammals"):
        read("example:plants")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "is empty"),
        ({}, "is empty"),
        (["ab", "cd"], "item 1: 'ab' is not a pair"),
        ([("a", "b"), ("c",)], "item 2: 1 entries"),
        ([("a", "b"), ("c", "b", 1.0)], "item 2: 3 entries where the first has 2"),
        ([("a", "b", float("nan")), ("c", "b", 1.0)], "item 1: the weight is nan"),
        ([("a", ["b"]), ("c", ["b"])], "cannot be named by"),
        (42, "the int cannot be read as a hierarchy"),
    ],
)
def test_objects(value: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(value)


def test_graphs_without_a_direction() -> None:
    import networkx

    with pytest.raises(InputError, match="has no up and down"):
        read(networkx.cycle_graph(4))
    with pytest.raises(InputError, match="the graph is empty"):
        read(networkx.DiGraph())
    with pytest.raises(InputError, match="weight is -1"):
        read(networkx.DiGraph([("a", "b", {"weight": -1})]))


def test_tables_without_the_columns() -> None:
    import pandas
    import pyarrow

    with pytest.raises(InputError, match=r"columns x, y, z: say which.*columns=id,parent"):
        read(pandas.DataFrame({"x": ["a"], "y": ["b"], "z": ["c"]}))
    with pytest.raises(InputError, match="has no rows"):
        read(pandas.DataFrame({"child": [], "parent": []}))
    with pytest.raises(InputError, match="row 2: the weight is nan"):
        read(pyarrow.table({"child": ["a", "b"], "parent": ["c", "c"], "weight": [1.0, float("nan")]}))
    with pytest.raises(InputError, match="row 2: the weight is missing"):
        read(pandas.DataFrame({"child": ["a", "b"], "parent": ["c", "c"], "weight": [1.0, None]}))


@pytest.mark.parametrize(
    ("library", "content"),
    [
        ("yaml", b"a:\n  - b\n  - c\n"),
        ("pyoxigraph", helpers.rdf(ANIMALS, "nt")),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    library: str, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"\(extra 'formats'\): install it with  pip install "):
        read(content)


def test_one_file_of_a_wordnet_database() -> None:
    with pytest.raises(InputError, match=r"give the folder that holds data\.noun"):
        read(io.BytesIO(b"  1 This software and database is being provided to you\n00001740 03 n 01 entity 0\n"))


def test_a_damaged_wordnet_folder(tmp_path: Path) -> None:
    folder = helpers.wordnet(ANIMALS, tmp_path / "wn")
    data = (folder / "data.noun").read_text()
    for damaged, said in [
        (data.replace("@ 00001000", "@ 00009999"), "line 3: not a WordNet synset"),
        (data[:-60], "line 7"),
        (data.replace("Dog", "Hound"), "sense hound is not in index.noun"),
    ]:
        (folder / "data.noun").write_text(damaged)
        with pytest.raises(InputError, match=said):
            read(folder)
    (folder / "index.noun").unlink()
    with pytest.raises(InputError, match=r"index\.noun cannot be opened"):
        read(folder)
