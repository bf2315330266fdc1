"""Who does the work on branches: processes of this machine, or a Ray cluster. Both give the same bytes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from pathlib import Path
from threading import Thread
from typing import Any, Literal

from ..errors import InputError, MissingExtraError, TreeballError

__all__ = ["Engine", "Task", "Workers", "require_cluster"]

Engine = Literal["local", "ray"]
Task = Callable[[str, int, dict[str, Any]], dict[str, Any]]
"""Does one task of a folder, by the folder, the number of the task and settings; -> its record."""

# A pool whose worker was killed is started again so often.
_NEW_POOLS = 3
# Seconds in which a Ray cluster has to answer, and its port to take a connection.
_ANSWERS_WITHIN, _CONNECTS_WITHIN = 15, 3
# How often Ray gives a task to another worker when one dies.
_RETRIES = 5


def end_with_parent() -> None:
    """Let a worker end when the process that started it does, however that ends, and leave Ctrl-C to that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, name="parent", daemon=True).start()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Who is started inside never hears Ctrl-C, which is for this process alone; this one hears it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def require_cluster(address: str) -> None:
    """Refuse an address at which no Ray cluster answers within 15 seconds.

    Ray itself waits for minutes, and ends the whole process for some addresses; so another process asks first.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray", "--engine ray") from None
    if ray.is_initialized():
        return
    refused = (
        f"there is no Ray cluster at {address!r} that answers within {_ANSWERS_WITHIN} seconds: check the address, as "
        "ray start --head  prints it, or leave out --address to start Ray on this machine"
    )
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECTS_WITHIN).close()
        except (OSError, OverflowError, UnicodeError):
            raise InputError(refused) from None
    asked = (
        "import sys, ray; "
        "ray.init(address=sys.argv[1], log_to_driver=False, logging_level='error', configure_logging=False)"
    )
    command = [sys.executable, "-c", asked, address]
    try:
        with open(os.devnull, "w") as nowhere:
            subprocess.run(
                command, stdout=nowhere, stderr=nowhere, timeout=_ANSWERS_WITHIN - _CONNECTS_WITHIN, check=True
            )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        raise InputError(refused) from None


class Workers:
    """Workers for several stages, which are started when the first tasks come and end with the `with` block."""

    def __init__(self, folder: Path, engine: Engine, count: int, address: str | None) -> None:
        self.folder, self.engine, self.count, self.address = folder, engine, count, address
        self._pool: ProcessPoolExecutor | None = None
        self._started_ray = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_pool()
        if self._started_ray:
            import ray

            ray.shutdown()

    def run(self, work: Task, tasks: list[int], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Records of the tasks, in the order in which they end."""
        if self.engine == "ray":
            yield from self._on_ray(work, tasks, settings)
        elif self.count == 1 or len(tasks) <= 1:
            for task in tasks:
                yield work(str(self.folder), task, settings)
        else:
            yield from self._in_processes(work, tasks, settings)

    def records(
        self, work: Task, tasks: list[int], settings: dict[str, Any], tell: Callable[[str], None], of: str
    ) -> list[dict[str, Any]]:
        """Records of the tasks, in their order; of every twentieth part of them it is told that it is done."""
        records: dict[int, dict[str, Any]] = {}
        kept = 0
        for record in self.run(work, tasks, settings):
            records[record["task"]] = record
            kept += bool(record.pop("kept", False))
            if len(records) % max(1, len(tasks) // 20) == 0:
                there = f" ({kept:,} were there already)" if kept else ""
                tell(f"{len(records):,} of {len(tasks):,} {of}{there}")
        return [records[task] for task in tasks]

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _in_processes(self, work: Task, tasks: list[int], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
        waiting = list(tasks)
        for attempt in range(_NEW_POOLS + 1):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    min(self.count, len(waiting)), multiprocessing.get_context("spawn"), end_with_parent
                )
            running: dict[Future[dict[str, Any]], int] = {}
            ended = False
            try:
                while waiting or running:
                    while waiting and len(running) < 2 * self.count:
                        # A pool that is broken takes none: it stays among those that wait.
                        with _without_ctrl_c():
                            running[self._pool.submit(work, str(self.folder), waiting[0], settings)] = waiting[0]
                        waiting.pop(0)
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        record = future.result()
                        del running[future]
                        yield record
                ended = True
                return
            except BrokenProcessPool:
                waiting = sorted({*waiting, *running.values()})
                if attempt == _NEW_POOLS:
                    raise TreeballError(
                        f"workers were killed {_NEW_POOLS + 1} times, most likely for lack of memory: "
                        "what is done is kept; run the same command again with fewer --workers"
                    ) from None
            finally:
                if not ended:
                    self._end_pool()

    def _on_ray(self, work: Task, tasks: list[int], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            import ray
        except ImportError:
            raise MissingExtraError("ray", "ray", "--engine ray") from None
        if not ray.is_initialized():
            try:
                # One of its own where no address is given, also beside a cluster that runs on this machine.
                own: dict[str, Any] = {"address": "local", "num_cpus": self.count, "include_dashboard": False}
                options = {"address": self.address} if self.address else own
                ray.init(log_to_driver=False, logging_level="error", configure_logging=False, **options)
            except (ConnectionError, ValueError) as error:
                raise InputError(
                    f"there is no Ray cluster at {self.address!r}: {' '.join(str(error).split())[:120]}"
                ) from None
            self._started_ray = True
        remote: Callable[..., Any] = ray.remote(num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)(work).remote
        pending = [remote(str(self.folder), task, settings) for task in tasks]
        while pending:
            done, pending = ray.wait(pending, num_returns=1)
            for one in done:
                try:
                    yield ray.get(one)
                except ray.exceptions.RayTaskError as error:
                    cause = getattr(error, "cause", None)
                    if isinstance(cause, (TreeballError, OSError)):
                        raise cause from None
                    raise
