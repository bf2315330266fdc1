"""Reading stays within its budget of memory, whatever a file of a few bytes unpacks to."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import said_by
from treeball.errors import InputError
from treeball.io.memory import bytes_of
from treeball.io.readers import ReadSettings, read

BUDGET = "300MB"
PIECE = b"a,b\n" * 4_000_000


def workbook_with_a_far_cell() -> bytes:
    whole, out = helpers.workbook({"S": [["id", "parent"], [1, None], [2, 1]]}), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name).replace(b'r="B3"', b'r="XFD1048576"'))
    return out.getvalue()


def workbook_that_unpacks_to_more() -> bytes:
    out = io.BytesIO(helpers.workbook({"S": [["id", "parent"], [1, None], [2, 1]]}))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/other.xml", b" " * 400_000_000)
    return out.getvalue()


def parquet_with_a_long_value() -> bytes:
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * 1_000_000]))
    out = io.BytesIO()
    pq.write_table(pa.table({"child": long, "parent": ["r"] * 20_000}), out, compression="zstd")
    return out.getvalue()


def entities() -> bytes:
    many = "".join(f"<!ENTITY e{i} '&a;'>" for i in range(1000))
    return f"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY a '{'x' * 1_000_000}'>{many}]><rdf:RDF />".encode()


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "bzip2": (lambda: bz2.compress(PIECE) * 25, "--max-memory 600MB"),
    "gzip": (lambda: gzip.compress(PIECE, 1) * 25, "--max-memory 600MB"),
    "zstd": (lambda: helpers.compressed(PIECE, "zstd") * 25, "--max-memory 600MB"),
    "xz": (lambda: b"\xfd7zXZ\x00" + b"x" * 100, "unpack it"),
    "a far cell": (workbook_with_a_far_cell, "--max-memory 600MB"),
    "a large part": (workbook_that_unpacks_to_more, "--max-memory 600MB"),
    "a long value": (parquet_with_a_long_value, "--max-memory 600MB"),
    "commas": (lambda: b"," * 2_000_000, "no table has more than 10,000"),
    "rows of commas": (lambda: (b"," * 20_000 + b"\n") * 100, "no table has more than 10,000"),
    "a path": (lambda: b" > ".join(b"%05d" % i for i in range(8_000)), "--max-memory 600MB"),
    "a longer path": (lambda: b" > ".join(b"%05d" % i for i in range(20_000)), "levels deep"),
    "lists": (lambda: b"[" + b"[]," * 3_000_000 + b"[]]", "--max-memory 600MB"),
    "lines": (lambda: b"a\n b\n" * 1_500_000, "--max-memory 600MB"),
    "deep JSON": (lambda: b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "too deeply"),
    "deep YAML": (lambda: b"---\na: " + b"[" * 200_000, "YAML"),
    "entities": (entities, "many times larger"),
}


def test_small_files_that_need_much_memory_are_refused(tmp_path: Path) -> None:
    """In a process of its own, which would end where it took more than three times the budget."""
    for name, (make, _) in BOMBS.items():
        (tmp_path / name).write_bytes(make())
    program = """
        import json, resource, sys
        from pathlib import Path
        from treeball.errors import InputError
        from treeball.io.readers import read

        read(b"a,r\\nb,r\\n")  # whatever is loaded for it is no part of what a file takes
        said, before = {}, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for file in [*sorted(Path(sys.argv[1]).iterdir()), Path("/dev/zero")]:
            try:
                said[file.name] = read(file, max_memory=sys.argv[2]).report.headline()
            except InputError as error:
                said[file.name] = str(error)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < 900_000, (file, grown)
        print(json.dumps(said))
    """
    said = said_by(program, str(tmp_path), BUDGET)
    wanted = {name: part for name, (_, part) in BOMBS.items()} | {"zero": "--max-memory 600MB"}
    assert {name: part in said[name] for name, part in wanted.items()} == dict.fromkeys(wanted, True), said


def test_the_refusal_names_the_file_and_the_setting(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(BOMBS["lists"][0]())
    with pytest.raises(InputError) as caught:
        read(path, max_memory="100MB")
    assert str(caught.value) == (
        f"reading {path} takes more than 100 MB of memory; if the file is as it should be, allow more with "
        "max_memory=200MB (on the command line: --max-memory 200MB)"
    )


def test_sizes() -> None:
    assert bytes_of("4GB") == 4 * 10**9
    assert bytes_of("1.5 gb") == 15 * 10**8
    assert bytes_of("512MiB") == bytes_of("536870912") == 1 << 29
    assert bytes_of("auto") > 1 << 28
    assert ReadSettings(max_memory=500_000_000).max_memory == "500000000"  # type: ignore[arg-type]
    for wrong in ("", "much", "4XB", "-1GB", "1kB", "1e9", "4 G B"):
        with pytest.raises(InputError, match="max_memory="):
            ReadSettings(max_memory=wrong)


def test_paths_of_a_deep_tree_are_right() -> None:
    steps = [f"{i:05d}" for i in range(700)]
    names = list(read(" > ".join(steps).encode()).names)
    assert names == [" > ".join(steps[: i + 1]) for i in range(700)]


def test_paths_whose_labels_hold_the_separator_stay_apart() -> None:
    tree = {"a": {"b > c": {"x": {}}}, "a > b": {"c": {"x": {}}}, "é": {"x": {}}}
    names = list(read(tree).names)
    assert len(set(names)) == len(names) == 9


def test_every_encoding_of_names_in_parquet_is_read() -> None:
    table = pa.table({"child": ["a", "ab", "abc"], "parent": ["r", "a", "ab"]})
    for encoding in ("PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"):
        out = io.BytesIO()
        pq.write_table(table, out, use_dictionary=False, column_encoding=dict.fromkeys(table.column_names, encoding))
        assert set(read(out.getvalue()).names) == {"a", "ab", "abc", "r"}, encoding


def refusal(source: Path, **settings: str) -> str:
    """What reading says, in a process of its own, which fails where it took more than three times the budget."""
    program = """
        import json, resource, sys
        from treeball.errors import InputError
        from treeball.io.readers import read

        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            read(sys.argv[1], max_memory="300MB", **json.loads(sys.argv[2]))
        except InputError as error:
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 900_000
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(source), json.dumps(settings)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stdout


def wordnet(folder: Path, synsets: int, pointers: int = 1) -> Path:
    """A chain of synsets."""
    folder.mkdir()
    lines = [f"{i:08d} 03 n 01 w{i} 0 {pointers:03d} @ {max(i - 1, 0):08d} n 0000 | gloss" for i in range(synsets)]
    (folder / "data.noun").write_text("\n".join(lines) + "\n")
    (folder / "index.noun").write_text("".join(f"w{i} n 1 1 @ 1 0 {i:08d}\n" for i in range(synsets)))
    return folder


def test_a_wordnet_of_one_chain_is_held_to_the_budget(tmp_path: Path) -> None:
    assert "takes more than 300 MB" in refusal(wordnet(tmp_path / "chain", 8_000), relation="closure")


def test_a_synset_that_announces_more_pointers_than_it_has_is_refused(tmp_path: Path) -> None:
    assert "line 1: not a WordNet synset" in refusal(wordnet(tmp_path / "counts", 3, pointers=10**9))


def test_a_wordnet_without_end_is_held_to_the_budget(tmp_path: Path) -> None:
    folder = wordnet(tmp_path / "endless", 3)
    (folder / "index.noun").unlink()
    (folder / "index.noun").symlink_to("/dev/zero")
    assert "takes more than 300 MB" in refusal(folder)


def test_a_taxonomy_of_a_million_fields_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nodes.dmp").write_bytes(b"1\t|\t1\t|\t" + b"|\t" * 1_000_000 + b"|\n")
    assert "1,000,005 fields" in refusal(tmp_path)
