"""Files that were made to do harm, or damaged so that they could: a sentence, and nothing else happens."""

from __future__ import annotations

import io
import json
import random
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.readers import helpers
from tests.io.readers.test_fuzz import VALID
from treeball.errors import InputError
from treeball.io.readers import read

PAIRS = pa.table({"child": [f"n{i}" for i in range(1, 60)], "parent": [f"n{i // 2}" for i in range(1, 60)]})
BROADER = {"b": {"@id": "http://www.w3.org/2004/02/skos/core#broader", "@type": "@id"}}


def arrow_file(compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, PAIRS.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(PAIRS)
    return sink.getvalue()


def parquet_file(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_damaged_arrow_files_crash_nothing() -> None:
    """In a process of its own, since what is guarded against ends the process."""
    helpers.output_of(
        """
        from tests.io.readers import test_hostile_files as this
        from tests.io.readers.test_fuzz import attempt
        for data in this.damaged(1500):
            attempt(data)
        """
    )


@pytest.mark.parametrize("column", ["level 2", "path", "parent"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_view_of_a_null_is_not_followed(column: str, listed: bool) -> None:
    """It may be anything, and Arrow's cast from views to text reads through it."""
    helpers.output_of(
        f"""
        from tests.io.readers import test_hostile_files as this
        from tests.io.readers.test_fuzz import attempt
        attempt(this.view_of_a_null({column!r}, {listed}))
        """
    )


def view_of_a_null(column: str, listed: bool) -> bytes:
    """An Arrow file with a column of views, of which a null one leads outside of all memory."""
    texts = pa.array(["a", None, "b > a long enough text", "a > c"], pa.string_view())
    valid, views, long = texts.buffers()
    wild = bytearray(views)
    wild[16:32] = bytes.fromhex("000000ff7f0000000000000000000000")
    texts = pa.Array.from_buffers(texts.type, 4, [valid, pa.py_buffer(bytes(wild)), long], null_count=1)
    values = pa.FixedSizeListArray.from_arrays(texts, 1) if listed else texts
    table = pa.table({"name": ["c", "d", "e", "f"], column: values})
    table.validate(full=True)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return bytes(sink.getvalue())


def damaged(number: int) -> Any:
    """Arrow and Parquet files with a few bytes changed."""
    chance = random.Random(7)
    files = [arrow_file(), arrow_file("zstd"), parquet_file(PAIRS)]
    for _ in range(number):
        data = bytearray(chance.choice(files))
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(6, len(data))
            data[place] = chance.choice([0, 255, 127, 128, data[place] ^ (1 << chance.randrange(8))])
        yield bytes(data)


def test_times_in_nanoseconds_name_nodes(tmp_path: Path) -> None:
    """Arrow gives them to Python as objects of pandas, and without pandas not at all."""
    times = pa.array([1, 2, 3], pa.timestamp("ns"))
    above = pa.array([None, 1, 1], pa.timestamp("ns"))
    (tmp_path / "ids").write_bytes(parquet_file(pa.table({"id": times, "parent": above})))
    (tmp_path / "paths").write_bytes(parquet_file(pa.table({"path": ["a > b", "a > c", "a > d"], "seen": times})))
    said = helpers.output_of(
        """
        import sys

        class WithoutPandas:
            def find_spec(self, name, *others):
                if name.partition(".")[0] == "pandas":
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, WithoutPandas())
        from treeball.io.readers import read
        print(list(read(sys.argv[1] + "/ids").names))
        print(list(read(sys.argv[1] + "/paths").names))
        """,
        str(tmp_path),
    )
    first = "'1970-01-01 00:00:00.00000000"
    assert said.splitlines() == [f"[{first}1', {first}2', {first}3']", "['a', 'a > b', 'a > c', 'a > d']"]


@pytest.mark.parametrize(
    "how", ["{}", "[{}]", "[[{}]]", "[[], [[[{}]]]]", '{{"@import": {}}}', '{{"x": {{"@context": [{}]}}}}']
)
def test_json_ld_fetches_nothing(how: str, tmp_path: Path) -> None:
    (tmp_path / "context.jsonld").write_text(json.dumps({"@context": BROADER}))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        addresses = [f"http://127.0.0.1:{server.getsockname()[1]}/context.jsonld", f"file://{tmp_path}/context.jsonld"]
        for address in [*addresses, "context.jsonld"]:
            context = how.format(json.dumps(address))
            for text in (
                f'{{"@context": {context}, "@id": "urn:a", "b": "urn:c"}}',
                f'{{"@context": {context}, "@context": {json.dumps(BROADER)}, "@id": "urn:a", "b": "urn:c"}}',
                f'[{{"@context": {json.dumps(BROADER)}, "@graph": [{{"@context": {context}, "@id": "urn:a"}}]}}]',
            ):
                with pytest.raises(InputError, match="addresses are not fetched"):
                    read(text.encode())
        with pytest.raises(BlockingIOError):
            server.accept()


def test_no_reader_opens_anything_but_its_file(tmp_path: Path) -> None:
    """Every format is read twice: once to load what it is read with, once with all other doors locked."""
    for number, data in enumerate(
        [*VALID.values(), arrow_file(), helpers.workbook({"S": [["id", "parent"], [1, None], [2, 1]]})]
    ):
        (tmp_path / f"{number}").write_bytes(data)
    said = helpers.output_of(
        """
        import os, sys
        from pathlib import Path
        from treeball.errors import InputError
        from treeball.io.readers import read

        files = sorted(Path(sys.argv[1]).iterdir())
        allowed = None
        forbidden = ("socket.", "subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "urllib.")

        def guard(event, arguments):
            if allowed is None:
                return
            elsewhere = event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)) and (
                os.fsdecode(arguments[0]) not in (str(allowed), "/proc/self/statm")
            )
            if elsewhere or event.startswith(forbidden):
                print("opened", event, arguments, "while reading", allowed)
                os._exit(3)

        sys.addaudithook(guard)
        for locked in (False, True):
            for file in files:
                allowed = file if locked else None
                try:
                    read(file)
                except InputError:
                    pass
        allowed = None
        print(len(files), "files")
        """,
        str(tmp_path),
    )
    assert said == f"{len(VALID) + 2} files\n"
