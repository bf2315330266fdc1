"""SIGHUP reads the model again: no connection ends, and what cannot be read leaves the old model."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import treeball

pytest.importorskip("pydantic")

from tests.scale.hierarchies import write
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.settings import ScaleSettings

from .test_serve import fetch, serving

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP here")

PATIENCE = 60.0


def save(path: Path, n: int) -> str:
    """Replace the model by one of `n` nodes, whole or not at all; its hash."""
    treeball.fit([(f"n{i}", f"n{i // 3}") for i in range(1, n)], method="sarkar", dim=3).save(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wait_until(condition) -> bool:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def info(port: int) -> dict[str, Any]:
    return json.loads(fetch(port, "/info")[1])


def all_serve(port: int, sha256: str) -> bool:
    """Whether every process has the model: with two of them, 20 connections reach both."""
    return all(info(port)["model"]["sha256"] == sha256 for _ in range(20))


class Asker(threading.Thread):
    """Asks over one connection, again and again; keeps how many nodes the model had each time, and what went wrong."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port
        self.nodes: list[int] = []
        self.wrong: list[object] = []
        self.is_over = False

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.auto_open = True
        connection.connect()
        connection.auto_open = False  # a connection that ends would be opened again without a word
        try:
            while not self.is_over:
                for address in ("/info", "/neighbors?node=n7&k=5"):
                    connection.request("GET", address)
                    reply = connection.getresponse()
                    body = json.loads(reply.read())
                    if reply.status != 200:
                        self.wrong.append((address, reply.status, body))
                    elif address == "/info":
                        self.nodes.append(body["nodes"])
                time.sleep(0.002)
        except (OSError, http.client.HTTPException) as error:
            self.wrong.append(error)
        finally:
            connection.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_hang_up_loads_the_file_again_and_ends_no_connection(workers, tmp_path):
    model = tmp_path / "small.parquet"
    before = save(model, 40)
    with contextlib.ExitStack() as stack:
        port, _, process = stack.enter_context(serving(model, "--workers", str(workers), "--timeout", "60"))
        first = info(port)
        assert first["model"] | {"loaded": ""} == {"file": "small.parquet", "sha256": before, "loaded": ""}
        age = datetime.now(UTC) - datetime.fromisoformat(first["model"]["loaded"])
        assert 0 <= age.total_seconds() < 600
        askers = [Asker(port) for _ in range(4)]
        for asker in askers:
            asker.start()
        try:
            for n in (41, 42):
                after = save(model, n)
                half = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
                half.sendall(b"GET /neighbors?node=n40&k=1 HTTP/1.1\r\n")  # and no more until the model is another
                process.send_signal(signal.SIGHUP)
                assert process.stderr.readline() == f"{str(model)!r} was loaded again\n"
                assert wait_until(lambda after=after: all_serve(port, after))
                half.sendall(b"Host: localhost\r\n\r\n")
                assert half.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")
            assert wait_until(lambda: all(asker.nodes[-1] == 42 for asker in askers))
        finally:
            for asker in askers:
                asker.is_over = True
            for asker in askers:
                asker.join()
        assert [asker.wrong for asker in askers] == [[]] * 4
        for asker in askers:
            assert asker.nodes == sorted(asker.nodes)
            assert {asker.nodes[0], asker.nodes[-1]} == {40, 42}
        assert info(port)["model"]["loaded"] >= first["model"]["loaded"]
        assert b"n41" in fetch(port, "/neighbors?node=n41&k=1")[1]


TWO = pytest.param(2, marks=pytest.mark.slow)


@pytest.mark.parametrize("workers", [1, TWO])
def test_a_file_that_cannot_be_loaded_leaves_the_old_model(workers, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    model = tmp_path / "small.parquet"
    before = save(model, 40)
    content = model.read_bytes()
    with serving(model, "--workers", str(workers)) as (port, _, process):
        for broken in (None, b"", b"no model", content[: len(content) // 2]):
            model.unlink()
            if broken is not None:
                model.write_bytes(broken)
            process.send_signal(signal.SIGHUP)
            sentence = process.stderr.readline()
            assert sentence.startswith(f"{str(model)!r} was not loaded again, the old model stays: ")
            assert "Traceback" not in sentence
            assert all_serve(port, before)
            model.touch()
        model.unlink()
        after = save(model, 41)
        process.send_signal(signal.SIGHUP)
        assert process.stderr.readline().endswith(" was loaded again\n")
        assert wait_until(lambda: all_serve(port, after))
        (folder,) = (tmp_path / "temporary").iterdir()
        assert len([one for one in folder.iterdir() if one.is_dir()]) <= 2
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
def test_a_process_that_dies_is_replaced_by_one_with_the_new_model(tmp_path):
    model = tmp_path / "small.parquet"
    save(model, 40)
    with serving(model, "--workers", "2") as (port, _, process):
        after = save(model, 41)
        process.send_signal(signal.SIGHUP)
        assert process.stderr.readline().endswith(" was loaded again\n")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        serves = [int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
        os.kill(serves[0], signal.SIGKILL)
        assert "another is started" in process.stderr.readline()
        assert "serves in its place" in process.stderr.readline()
        assert wait_until(lambda: all_serve(port, after))


def test_several_hang_ups_in_a_row_load_the_last_version(tmp_path):
    model = tmp_path / "small.parquet"
    save(model, 40)
    with serving(model) as (port, _, process):
        for n in range(41, 46):
            last = save(model, n)
            process.send_signal(signal.SIGHUP)
        assert wait_until(lambda: all_serve(port, last))


def test_a_model_folder_is_loaded_again_too(tmp_path):
    edges = [(f"n{i}", f"n{(i - 1) // 3}") for i in range(1, 60)]
    path = tmp_path / "model"
    settings = ScaleSettings(workers=1, dim=5, branch_nodes=100, method="construct")
    fit_folder((write(edges, tmp_path / "edges"),), path, settings, lambda _: None)
    command = [sys.executable, "-m", "treeball", "serve", str(path), "--port", "0"]
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        try:
            port = int(re.search(r":(\d+)/", process.stderr.readline())[1])
            before = info(port)["model"]
            assert before["file"] == "model"
            assert before["sha256"] == hashlib.sha256((path / "manifest.json").read_bytes()).hexdigest()
            asked = stack.enter_context(contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)))
            asked.request("GET", "/parents?node=new")
            assert asked.getresponse().read()
            asked.auto_open = False
            assert treeball.cli.main.run(["insert", str(path), str(new_leaf(tmp_path))]) == 0
            process.send_signal(signal.SIGHUP)
            assert process.stderr.readline() == f"{str(path)!r} was loaded again\n"
            asked.request("GET", "/parents?node=new")  # over the same connection
            assert json.loads(asked.getresponse().read())["parents"] == ["n5"]
            after = info(port)["model"]
            assert after["sha256"] == hashlib.sha256((path / "manifest.json").read_bytes()).hexdigest()
            assert after["sha256"] != before["sha256"]
            manifest = (path / "manifest.json").read_bytes()
            (path / "manifest.json").write_bytes(b"{")
            process.send_signal(signal.SIGHUP)
            assert "was not loaded again, the old model stays" in process.stderr.readline()
            assert json.loads(fetch(port, "/parents?node=new")[1])["parents"] == ["n5"]
            (path / "manifest.json").write_bytes(manifest)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
            assert process.stderr.read() == "stopped\n"
        finally:
            process.kill()
    assert len(ModelFolder(path)) == 61


def new_leaf(folder: Path) -> Path:
    path = folder / "new.csv"
    path.write_text("child,parent\nnew,n5\n")
    return path


@pytest.mark.parametrize("workers", [1, TWO])
def test_a_service_ends_with_its_terminal(workers, tmp_path):
    """A terminal that is closed sends SIGHUP as well."""
    model = tmp_path / "small.parquet"
    save(model, 40)
    log = tmp_path / "log"
    number, terminal = pty.fork()
    if number == 0:
        with log.open("w") as said:
            os.dup2(said.fileno(), 2)
        command = [sys.executable, "-m", "treeball", "serve", str(model), "--port", "0", "--workers", str(workers)]
        os.execv(sys.executable, command)
    assert wait_until(lambda: log.exists() and "limits" in log.read_text())
    os.close(terminal)
    assert wait_until(lambda: os.waitpid(number, os.WNOHANG)[0] == number)
    assert log.read_text().splitlines()[-1] == "stopped"
