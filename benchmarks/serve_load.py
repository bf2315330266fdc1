"""Load on `treeball serve`: many clients at once on the loopback, each asking as fast as it is answered.

    python benchmarks/serve_load.py [--model M] [--data DIR] [--clients 64] [--requests 20000] [--workers 1]

By default a model of the shipped mammals, with --data that of DIR/wordnet-nouns-tree.tsv.gz in 10 dimensions. The
server is a process of its own, started by the command line; the clients are coroutines of this one, over connections
that stay open. Of 100 requests 40 ask for neighbours, 20 for a distance, 20 for ancestors, 10 for a vector, 5 for the
neighbours of 10 nodes at once, and 5 for a node that does not exist, which must be refused as such. Anything else than
what is due counts as an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

import treeball

MIX = {"neighbors": 40, "distance": 20, "ancestors": 20, "vector": 10, "bulk": 5, "unknown": 5}


@dataclass(frozen=True)
class Request:
    """A message, and what its answer must be like."""

    kind: str
    message: bytes
    status: int
    holds: bytes  # what the body of the answer must contain


def requests(names: list[str], count: int, seed: int = 0) -> list[Request]:
    """A random mix, always the same."""
    rng = random.Random(seed)
    return [one_request(kind, names, rng) for kind in rng.choices(list(MIX), list(MIX.values()), k=count)]


def one_request(kind: str, names: list[str], rng: random.Random) -> Request:
    node = rng.choice(names)
    if kind == "bulk":
        body = json.dumps({"nodes": rng.choices(names, k=10), "k": 10}).encode()
        head = f"POST /neighbors HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        return Request(kind, f"{head}\r\nHost: localhost\r\n\r\n".encode() + body, 200, b'"answers":[{"node":')
    questions: dict[str, tuple[str, dict[str, object], bytes]] = {
        "neighbors": ("neighbors", {"node": node, "k": 10}, b'"neighbors":[{'),
        "distance": ("distance", {"a": node, "b": rng.choice(names)}, b'"distance":'),
        "ancestors": ("ancestors", {"node": node, "from": rng.choice(["geometry", "hierarchy"])}, b'"ancestors":['),
        "vector": ("vector", {"node": node, "coordinates": "tangent"}, b'"vector":['),
        "unknown": ("parent", {"node": f"{node[:-2]}{rng.randrange(10**6)}?"}, b'{"error":"no node named'),
    }
    path, query, holds = questions[kind]
    message = f"GET /{path}?{urlencode(query)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    return Request(kind, message, 404 if kind == "unknown" else 200, holds)


async def client(port: int, waiting: list[Request], seconds: list[tuple[str, float]], errors: Counter[str]) -> None:
    """Ask one request after the other over one connection, until none is left for any client."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while waiting:
        request = waiting.pop()
        began = time.perf_counter()
        writer.write(request.message)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        seconds.append((request.kind, time.perf_counter() - began))
        status = int(head[9:12])
        if status != request.status or request.holds not in body:
            errors[f"{request.kind}: {status} {body[:100]!r}"] += 1
    writer.close()
    await writer.wait_closed()


async def load(port: int, names: list[str], clients: int, count: int) -> None:
    waiting = requests(names, count)
    seconds: list[tuple[str, float]] = []
    errors: Counter[str] = Counter()
    began = time.perf_counter()
    await asyncio.gather(*(client(port, waiting, seconds, errors) for _ in range(clients)))
    took = time.perf_counter() - began
    print(f"{clients} clients, {len(seconds):,} requests in {took:.1f} s: {len(seconds) / took:,.0f} requests/s")
    for kind in ("all", *MIX):
        times = [1000 * t for which, t in seconds if kind in ("all", which)]
        if times:
            p50, p95, p99 = np.percentile(times, [50, 95, 99])
            print(f"{kind:10} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms   p99 {p99:6.1f} ms   longest {max(times):6.1f} ms")
    print(f"errors: {errors.total()}")
    for what, times_seen in errors.most_common(5):
        print(f"  {times_seen} times {what}")


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and its children so far; Linux only, as is `memory`."""
    ticks = 0
    for process in (pid, *children(pid)):
        ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> str:
    """Memory of a process and its children, resident, and its own share of what is shared."""
    shares: list[str] = []
    for process in (pid, *children(pid)):
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        kilobytes = {key: int(value) for key, value in re.findall(r"^(Rss|Pss|Private_Dirty): +(\d+)", rollup, re.M)}
        parts = (
            f"{label} {kilobytes[key] / 1e3:.0f} MB"
            for key, label in (("Rss", "resident"), ("Pss", "share"), ("Private_Dirty", "private"))
        )
        shares.append(f"process {len(shares)}: " + ", ".join(parts))
    return "\n".join(shares)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or Path(folder) / "model.parquet"
        if options.model is None:
            source = options.data / "wordnet-nouns-tree.tsv.gz" if options.data else "example:mammals"
            treeball.fit(source, dim=10).save(model)
        embedding = treeball.load(model)
        print(f"{len(embedding):,} nodes, {embedding.dim} dimensions, {options.workers} process(es)")
        command = [sys.executable, "-m", "treeball", "serve", str(model), "--port", "0"]
        command += ["--workers", str(options.workers)]
        began = time.monotonic()
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                said = server.stderr.readline()
                print(f"ready after {time.monotonic() - began:.1f} s: {said.strip()}")
                (port,) = map(int, re.findall(r":(\d+)/", said))
                before = cpu_seconds(server.pid)
                asyncio.run(load(port, [str(name) for name in embedding], options.clients, options.requests))
                spent = cpu_seconds(server.pid) - before
                print(f"processor time of the server: {1e6 * spent / options.requests:.0f} us a request")
                print(memory(server.pid))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
