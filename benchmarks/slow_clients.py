"""The service beside slow clients, and under kills of its processes; Linux only.

    python benchmarks/slow_clients.py [--model M] [--requests 50000] [--slow 300] [--kills 10] [--descriptors 256]

Clients ask as those of serve_load.py, while others hold what they can: they send nothing, half of a head, a head or a
body byte by byte, or take nothing of a large answer, and come back when they are dropped. Every process of the service
may have so many descriptors. Then, under the same load, processes that serve are killed one after the other, and at
last the one that watches them. A request whose connection a kill cut is asked again and counted; anything else than
what is due is an error. A short run: --requests 1000 --slow 40 --kills 1
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import treeball
from serve_load import Request, children, requests

CLIENTS = 64
_PATIENCE = 60.0  # seconds after which a request counts as not answered
_BETWEEN_KILLS = 2.0
_HEAD = b"Host: localhost\r\n"
_LARGE = b"GET / HTTP/1.1\r\n" + _HEAD + b"\r\n"  # the page to browse the model
SLOW = {
    "sends nothing": (b"", b""),
    "sends half of a head": (b"GET /health HTTP/1.1\r\n" + _HEAD, b""),
    "sends a head byte by byte": (b"GET /health HTTP/1.1\r\n" + _HEAD + b"X: ", b"x"),
    "sends a body byte by byte": (
        b"POST /parent HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n" + _HEAD + b"\r\n",
        b" ",
    ),
    "takes no answer": (_LARGE * 8, b""),
}


@dataclass
class Service:
    """The command in a process of its own."""

    model: Path
    folder: Path
    descriptors: int
    workers: int = 2
    started: int = 0

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.started += 1
        self.log = self.folder / f"log.{self.started}"
        self.temporary = self.folder / f"temporary.{self.started}"
        self.temporary.mkdir()
        command = [sys.executable, "-m", "treeball", "serve", str(self.model), "--port", "0"]
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, limits[1]))
        try:
            with self.log.open("wb") as log:
                self.process = subprocess.Popen(
                    [*command, "--workers", str(self.workers)],
                    stderr=log,
                    env=os.environ | {"TMPDIR": str(self.temporary)},
                )
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        while not (found := re.search(r":(\d+)/.*\n.*\n", self.log.read_text())):
            if self.process.poll() is not None:
                raise SystemExit(self.log.read_text())
            time.sleep(0.05)
        self.port = int(found[1])

    def serving(self) -> list[int]:
        """Processes that serve, by their numbers."""
        with suppress(OSError):
            return [one for one in children(self.process.pid) if is_worker(one)]
        return []

    def replaced(self) -> int:
        """How many processes serve in the place of another."""
        return self.log.read_text().count("serves in its place")

    def memory(self) -> float:
        """Megabytes of all processes, what they share counted once."""
        total = 0
        for process in (self.process.pid, *self.serving()):
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += sum(map(int, re.findall(r"^Pss: +(\d+)", rollup, re.M)))
        return total / 1e3


def is_worker(process: int) -> bool:
    with suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


@dataclass
class Load:
    """What clients met."""

    port: int
    waiting: list[Request]
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    again: int = 0
    dropped: int = 0
    may_be_cut: bool = False

    async def run(self, slow: int) -> None:
        """Ask all that waits, beside slow clients."""
        holding = [asyncio.create_task(self._hold(*list(SLOW.values())[i % len(SLOW)])) for i in range(slow)]
        try:
            await asyncio.gather(*(self._client() for _ in range(CLIENTS)))
        finally:
            for task in holding:
                task.cancel()
            await asyncio.gather(*holding, return_exceptions=True)

    async def _client(self) -> None:
        """Ask one request after the other over one connection, and over another when it was cut."""
        request: Request | None = None
        while request is not None or self.waiting:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            try:
                while request is not None or self.waiting:
                    request = request or self.waiting.pop()
                    await self._ask(request, reader, writer)
                    request = None
            except (OSError, asyncio.IncompleteReadError) as error:
                if self.may_be_cut and not isinstance(error, TimeoutError):
                    self.again += 1
                else:
                    self.errors[f"{type(error).__name__}: {error}"] += 1
                    request = None
            finally:
                writer.close()

    async def _ask(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = time.perf_counter()
        async with asyncio.timeout(_PATIENCE):
            writer.write(request.message)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
        self.seconds.append(time.perf_counter() - began)
        if int(head[9:12]) != request.status or request.holds not in body:
            self.errors[f"{request.kind}: {head[9:12].decode()} {body[:100]!r}"] += 1

    async def _hold(self, first: bytes, drop: bytes) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1_000)
            except OSError:
                await asyncio.sleep(0.5)
                continue
            try:
                writer.write(first)
                while not writer.is_closing() and not reader.at_eof():
                    await asyncio.sleep(1)
                    if drop:
                        writer.write(drop)
                self.dropped += 1
            except OSError:
                self.dropped += 1
            finally:
                writer.transport.abort()

    def row(self, what: str, service: Service, before: float, written: int) -> str:
        """One row of the table."""
        p50, p99 = np.percentile([1_000 * one for one in self.seconds], [50, 99])
        log = (service.log.stat().st_size - written) / 1e3
        return (
            f"| {what} | {len(self.seconds):,} | {p50:.0f} ms | {p99:.0f} ms | {self.errors.total()} | {self.again} "
            f"| {self.dropped} | {before:.0f} / {service.memory():.0f} MB | {log:.1f} kB |"
        )


def measure(service: Service, names: list[str], what: str, count: int, slow: int, seed: int) -> None:
    """Clients ask beside slow ones; a row of the table."""
    load = Load(service.port, requests(names, count, seed))
    before, written = service.memory(), service.log.stat().st_size
    passed: list[float] = []

    async def look() -> None:
        """Note the memory at every tenth of the requests."""
        while True:
            await asyncio.sleep(0.2)
            if len(load.seconds) >= count * (len(passed) + 1) // 10:
                passed.append(service.memory())

    async def both() -> None:
        looking = asyncio.create_task(look())
        await load.run(slow)
        looking.cancel()

    asyncio.run(both())
    print(load.row(what, service, before, written), flush=True)
    print(f"  memory at every tenth: {', '.join(f'{one:.0f}' for one in passed)} MB", flush=True)
    for error, times in load.errors.most_common(5):
        print(f"  {times} times {error}")


def kill_processes(service: Service, names: list[str], slow: int, kills: int) -> None:
    """Processes that serve are killed while clients ask; the row of the table."""
    load = Load(service.port, requests(names, 1_000, 7), may_be_cut=True)
    before, written = service.memory(), service.log.stat().st_size

    async def go_on(seconds: float) -> None:
        """Wait, with enough to ask for all clients."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            load.waiting += requests(names, max(0, 1_000 - len(load.waiting)), len(load.seconds))
            await asyncio.sleep(0.1)

    async def kill() -> None:
        for _ in range(kills):
            await go_on(_BETWEEN_KILLS)
            replaced = service.replaced()
            os.kill(service.serving()[0], signal.SIGKILL)
            while service.replaced() == replaced:
                await go_on(0.1)

    async def both() -> None:
        await asyncio.gather(load.run(slow), kill())

    asyncio.run(both())
    print(load.row(f"{kills} kills of processes that serve", service, before, written), flush=True)
    for error, times in load.errors.most_common(5):
        print(f"  {times} times {error}")


def kill_watch(service: Service) -> None:
    """The process that watches is killed; how long the others hold the port, and what is left."""
    serving = service.serving()
    began = time.monotonic()
    service.process.kill()
    service.process.wait()
    while any(map(is_worker, serving)) and time.monotonic() - began < 60:
        time.sleep(0.01)
    left = [process for process in serving if is_worker(process)]
    folders = len(list(service.temporary.iterdir()))
    took = time.monotonic() - began
    print(
        f"the process that watches was killed: {len(left)} orphans and {folders} folders after {took:.1f} s", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--slow", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--watch-kills", type=int, default=3)
    parser.add_argument("--descriptors", type=int, default=256)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.model or folder / "model.parquet"
        if options.model is None:
            treeball.fit("example:mammals", dim=10).save(model)
        names = [str(one) for one in treeball.load(model)]
        service = Service(model, folder, options.descriptors)
        service.start()
        try:
            print(service.log.read_text().strip())
            print("| | requests | p50 | p99 | errors | asked again | slow ones dropped | memory before / after | log |")
            print("|---|---|---|---|---|---|---|---|---|")
            measure(service, names, "no slow clients", options.requests // 5, 0, 1)
            measure(service, names, f"{options.slow} slow clients", options.requests, options.slow, 2)
            kill_processes(service, names, options.slow, options.kills)
            for _ in range(options.watch_kills):
                kill_watch(service)
                service.start()
        finally:
            service.process.terminate()
            service.process.wait()


if __name__ == "__main__":
    main()
