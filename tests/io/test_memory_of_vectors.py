"""Vectors and models stay within a budget of memory, whatever a file of a few bytes unpacks to."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.readers.helpers import said_by
from treeball.errors import InputError
from treeball.io import memory, model_file
from treeball.io.vectors import import_vectors

BUDGET = "300MB"
ROWS = 20_000


def parquet(table: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", **options)
    return out.getvalue()


def one_long_name() -> bytes:
    names = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array(["x" * 1_000_000]))
    return parquet(pa.table({"node": names, "vector": [[0.1, 0.2]] * ROWS}))


def names_that_begin_alike() -> bytes:
    """Stored as the end of each name and how much of the one before comes first; batches, so that this needs little."""
    out = io.BytesIO()
    schema = pa.schema({"node": pa.string(), "vector": pa.list_(pa.float64())})
    options = {"use_dictionary": False, "column_encoding": {"node": "DELTA_BYTE_ARRAY"}}
    with pq.ParquetWriter(out, schema, compression="zstd", **options) as writer:
        for start in range(0, 4_000, 200):
            names = [f"{'x' * 600_000}{i}" for i in range(start, start + 200)]
            writer.write_table(pa.table({"node": names, "vector": [[0.1, 0.2]] * 200}, schema=schema))
    return out.getvalue()


def one_long_vector() -> bytes:
    numbers = pa.array(np.zeros(30_000_000))
    out = io.BytesIO()
    schema = pa.schema({"node": pa.string(), "vector": pa.list_(pa.float64())})
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for i in range(8):
            lists = pa.ListArray.from_arrays(pa.array([0, len(numbers)], pa.int32()), numbers)
            writer.write_table(pa.table({"node": [str(i)], "vector": lists}, schema=schema))
    return out.getvalue()


def npy(shape: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue() + bytes(800)


def npz() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, vectors=np.zeros((1_000_000, 100)))
    return out.getvalue()


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "one long name.parquet": (one_long_name, "--max-memory 600MB"),
    "names that begin alike.parquet": (names_that_begin_alike, "--max-memory 600MB"),
    "one long vector.parquet": (one_long_vector, "--max-memory 600MB"),
    "a large shape.npy": (lambda: npy((10**9, 10)), "cannot be read as an npy array"),
    "a shape beyond all.npy": (lambda: npy((10**15, 100)), "cannot be read as an npy array"),
    "arrays.npz": (npz, "an archive"),
    "zipped.txt.gz": (lambda: gzip.compress(b"a 0 0\n" * 10_000_000), "binary file of no known format"),
    "numbers.json": (lambda: b'{"a":[' + b"0," * 5_000_000 + b"0]}", "--max-memory 600MB"),
    "header.safetensors": (
        lambda: (10_000_002).to_bytes(8, "little") + b"{" + b'"":0,' * 2_000_000 + b"}",
        "--max-memory 600MB",
    ),
    "columns.csv": (lambda: b"a" + b",0" * 1_000_000, "--max-memory 600MB"),
    "columns.txt": (lambda: b"a" + b" 0" * 10_000_000, "--max-memory 600MB"),
}


def test_small_files_of_vectors_that_need_much_memory_are_refused(tmp_path: Path) -> None:
    """In a process of its own: what it reserved before it was held may be taken besides, which is a gigabyte."""
    for name, (make, _) in BOMBS.items():
        (tmp_path / name).write_bytes(make())
    with duckdb.connect(str(tmp_path / "constant.duckdb"), config={"threads": 1}) as connection:
        connection.execute(
            "create table embedding as select i::varchar as node, list_resize([0.0], 100, 0.0) as vector "
            "from range(1000000) t(i)"
        )
        connection.execute("create table embedding_info (key varchar, value varchar)")
    program = """
        import json, resource, sys
        from pathlib import Path
        from treeball.errors import InputError
        from treeball.io.vectors._read import read_vectors

        said, before = {}, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        limits = resource.getrlimit(resource.RLIMIT_DATA)
        for file in [*sorted(Path(sys.argv[1]).iterdir()), Path("/dev/zero")]:
            try:
                vectors = read_vectors(file, max_memory=sys.argv[2])
                said[file.name] = "read"
            except InputError as error:
                said[file.name] = str(error)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < 1_600_000, (file, grown)
            assert resource.getrlimit(resource.RLIMIT_DATA) == limits
        print(json.dumps(said))
    """
    said = said_by(program, str(tmp_path), BUDGET)
    wanted = {name: part for name, (_, part) in BOMBS.items()}
    wanted |= {"columns.csv": "at most 10,000", "zero": "--max-memory 600MB", "constant.duckdb": "--max-memory 600MB"}
    assert {name: part in said[name] for name, part in wanted.items()} == dict.fromkeys(wanted, True), said


def test_import_holds_the_vectors_to_the_budget(tmp_path: Path) -> None:
    """In processes of their own: what one has taken and given back, another attempt takes without growing."""
    path, model, hierarchy = tmp_path / "vectors.json", tmp_path / "m.parquet", tmp_path / "tree.csv"
    path.write_bytes(BOMBS["numbers.json"][0]())
    hierarchy.write_text("a,r\nb,r\n")
    program = """
        import json, sys
        from treeball.errors import InputError
        from treeball.io.vectors import import_vectors

        try:
            import_vectors(sys.argv[1], {"a": None}, max_memory="200MB")
        except InputError as error:
            print(json.dumps(str(error)))
    """
    assert "takes more than 200 MB of memory" in said_by(program, str(path))
    command = ["import", str(path), "-o", str(model), "--hierarchy", str(hierarchy), "--max-memory", "100MB"]
    done = subprocess.run([sys.executable, "-m", "treeball", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--max-memory 200MB" in done.stderr
    assert not model.exists()


def test_an_archive_of_arrays_is_no_array(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez(path, vectors=np.zeros((2, 2)))
    with pytest.raises(InputError, match="cannot be read as an npy array"):
        import_vectors(path, {"a": None}, format="npy")


def test_a_model_is_held_to_a_share_of_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.parquet"
    path.write_bytes(one_long_name())
    monkeypatch.setattr(memory, "_memory_of_machine", lambda: 600_000_000)
    with pytest.raises(InputError) as caught:
        model_file.load(path)
    assert str(caught.value) == (
        f"reading {path} takes more than 300 MB of memory, half of what there is: it is damaged, or needs a larger "
        "machine"
    )
