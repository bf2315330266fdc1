"""Who runs the branches: processes of this machine, or a Ray cluster. Both give the same bytes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError, MissingExtraError, TreeballError
from .shard import make_shard

__all__ = ["Engine", "run_tasks"]

Engine = Literal["local", "ray"]

# A pool whose worker was killed is started again so often.
_NEW_POOLS = 3
# How often Ray gives a task to another worker when one dies.
_RETRIES = 5


def run_tasks(
    folder: Path, tasks: list[int], settings: dict[str, Any], engine: Engine, workers: int, address: str | None
) -> Iterator[dict[str, Any]]:
    """Records of the branches, in the order in which they end."""
    if engine == "ray":
        yield from _on_ray(folder, tasks, settings, workers, address)
    elif workers == 1 or len(tasks) <= 1:
        for task in tasks:
            yield make_shard(str(folder), task, settings)
    else:
        yield from _in_processes(folder, tasks, settings, workers)


def _in_processes(folder: Path, tasks: list[int], settings: dict[str, Any], workers: int) -> Iterator[dict[str, Any]]:
    waiting = list(tasks)
    for attempt in range(_NEW_POOLS + 1):
        pool = ProcessPoolExecutor(min(workers, len(waiting)), multiprocessing.get_context("spawn"))
        running: dict[Future[dict[str, Any]], int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < 2 * workers:
                    task = waiting.pop(0)
                    running[pool.submit(make_shard, str(folder), task, settings)] = task
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    record = future.result()
                    del running[future]
                    yield record
            return
        except BrokenProcessPool:
            waiting = sorted({*waiting, *running.values()})
            if attempt == _NEW_POOLS:
                raise TreeballError(
                    f"workers were killed {_NEW_POOLS + 1} times, most likely for lack of memory: "
                    "what is done is kept; run the same command again with fewer --workers"
                ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _on_ray(
    folder: Path, tasks: list[int], settings: dict[str, Any], workers: int, address: str | None
) -> Iterator[dict[str, Any]]:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray", "--engine ray") from None
    started = not ray.is_initialized()
    if started:
        try:
            # One of its own where no address is given, also beside a cluster that runs on this machine.
            own: dict[str, Any] = {"address": "local", "num_cpus": workers, "include_dashboard": False}
            options = {"address": address} if address else own
            ray.init(log_to_driver=False, logging_level="error", configure_logging=False, **options)
        except (ConnectionError, ValueError) as error:
            raise InputError(f"there is no Ray cluster at {address!r}: {' '.join(str(error).split())[:120]}") from None
    try:
        remote: Callable[..., Any] = ray.remote(num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)(
            make_shard
        ).remote
        pending = [remote(str(folder), task, settings) for task in tasks]
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
    finally:
        if started:
            ray.shutdown()
