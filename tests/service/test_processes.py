"""Several processes: what happens when one of them dies or cannot start, and when the one that watches is killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import treeball

pytest.importorskip("pydantic")

from .test_serve import fetch

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes in /proc")

# A second module, so that processes find its application; it lets the first ones start and no other, if it is told to.
WAYWARD = """
import os, pathlib
from treeball.service.run import mapped_app
def app(*arguments):
    if pathlib.Path(__file__).with_name("no-more").exists():
        os._exit(7)
    return mapped_app(*arguments)
"""
COMMAND = """
import sys, wayward, treeball.service.run as run, treeball.service.watch as watch
from treeball.cli.main import main
run.mapped_app, watch._FIRST_PAUSE = wayward.app, 0.1
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    tree = [(i, i // 3) for i in range(1, 60)]
    return treeball.fit(tree, method="sarkar", dim=3).save(tmp_path_factory.mktemp("model") / "small.parquet")


class Service:
    """A running command with two processes; what it says is collected."""

    def __init__(self, model, folder):
        (folder / "wayward.py").write_text(WAYWARD)
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "serve", str(model), "--port", "0", "--workers", "2"],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            start_new_session=True,
        )
        self.said: list[str] = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        assert self.wait_for(lambda: len(self.said) >= 2), self.said
        self.port = int(re.search(r":(\d+)/", self.said[0])[1])

    def _read(self):
        self.said.extend(iter(self.process.stderr.readline, ""))

    def wait_for(self, condition, seconds=120):
        """Whether something becomes true."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def workers(self):
        """Processes that serve, by their numbers."""
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            return [int(one) for one in children if is_worker(one)]
        return []

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()


def is_worker(number):
    try:
        return b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture
def service(model, tmp_path):
    running = Service(model, tmp_path)
    yield running
    running.end()


def refuses(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_watching_process_ends_nobody_holds_the_port(service, ending):
    workers = service.workers()
    assert len(workers) == 2
    with socket.create_connection(("127.0.0.1", service.port), 30):  # idle, which holds nobody up
        service.process.send_signal(ending)
        service.process.wait(60)
        assert service.wait_for(lambda: not any(map(is_worker, workers)))
    assert refuses(service.port)
    assert service.wait_for(lambda: not list(service.temporary.iterdir()))
    assert "Traceback" not in "".join(service.said)


def test_a_process_that_dies_is_told_of_and_replaced_while_the_other_answers(service):
    killed, other = service.workers()
    os.kill(killed, signal.SIGKILL)
    assert service.wait_for(lambda: any(f"process {killed} was ended by SIGKILL" in line for line in service.said))
    for _ in range(20):
        assert fetch(service.port, "/health")[0] == 200
    assert service.wait_for(lambda: len(service.workers()) == 2)
    assert other in service.workers()
    assert killed not in service.workers()
    assert service.wait_for(lambda: any(line.endswith("serves in its place\n") for line in service.said))


def test_a_process_that_cannot_start_again_is_given_up_in_the_end(service, tmp_path):
    (tmp_path / "no-more").touch()
    os.kill(service.workers()[0], signal.SIGKILL)
    assert service.process.wait(120) == 1
    service.reader.join()
    failed = [line for line in service.said if "ended with exit code 7; another is started in" in line]
    pauses = [float(re.search(r"in ([\d.]+) seconds", line)[1]) for line in failed]
    assert pauses == [0.1, 0.2, 0.4, 0.8]
    assert service.said[-1] == (
        "treeball: a process could not be started, 5 times in a row (the last one ended with exit code 7), "
        "and the service ends: see what the processes said\n"
    )
    assert refuses(service.port)
    assert list(service.temporary.iterdir()) == []


@pytest.mark.slow
def test_a_process_that_hangs_is_killed(model, tmp_path, monkeypatch):
    monkeypatch.setattr(
        sys.modules[__name__], "COMMAND", "import treeball.service.watch as w; w._SILENCE = 5\n" + COMMAND
    )
    service = Service(model, tmp_path)
    try:
        stopped = service.workers()[0]
        os.kill(stopped, signal.SIGSTOP)
        said = f"process {stopped} said nothing for 5 seconds and was killed; another is started"
        assert service.wait_for(lambda: any(said in line for line in service.said))
        assert service.wait_for(lambda: len(service.workers()) == 2)
    finally:
        service.end()
