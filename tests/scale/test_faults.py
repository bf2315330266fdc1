"""Faults while a model folder is made: workers that die, nodes that go, killed drivers, full disks, bad shards.

Each ends with the same bytes as an undisturbed run, and no shard that was done is done again.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.scale.hierarchies import random_edges, write
from treeball.errors import InputError
from treeball.scale import shard
from treeball.scale.fit import fit_folder
from treeball.scale.settings import ScaleSettings

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
SETTINGS: dict[str, Any] = {"method": "construct", "dim": 4, "branch_nodes": 100}
TASKS = 10


def quiet(_):
    pass


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def pattern(home):
    return write(random_edges(1000), home / "edges")


@pytest.fixture(scope="module")
def hashes(home, pattern):
    """SHA-256 of the shards of an undisturbed run."""
    return hashes_of(fit_folder((pattern,), home / "whole", ScaleSettings(workers=1, **SETTINGS), quiet))


def hashes_of(manifest):
    return [one["sha256"] for one in manifest["shards"]]


def test_a_full_disk_is_a_sentence_and_the_next_run_goes_on(home, pattern, hashes, monkeypatch):
    wrote = pq.write_table
    made: list[Path] = []

    def full(table, path, **options):
        if "branch-" not in str(path):
            return wrote(table, path, **options)
        if len(made) == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        made.append(path)
        return wrote(table, path, **options)

    settings = ScaleSettings(workers=1, **SETTINGS)
    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(InputError, match="No space left"):
        fit_folder((pattern,), home / "full", settings, quiet)
    assert not (home / "full" / "manifest.json").exists()
    assert len(list((home / "full" / "shards").iterdir())) == 4
    again = []

    def counted(table, path, **options):
        again.extend([path] if "branch-" in str(path) else [])
        return wrote(table, path, **options)

    monkeypatch.setattr(pq, "write_table", counted)
    assert hashes_of(fit_folder((pattern,), home / "full", settings, quiet)) == hashes
    assert len(again) == TASKS - 4


def test_a_shard_that_was_cut_short_is_made_again_and_no_other(home, pattern, hashes):
    settings = ScaleSettings(workers=1, **SETTINGS)
    fit_folder((pattern,), home / "cut", settings, quiet)
    shards = sorted((home / "cut" / "shards").iterdir())
    before = [path.stat().st_mtime_ns for path in shards]
    shards[3].write_bytes(shards[3].read_bytes()[:100])
    assert hashes_of(fit_folder((pattern,), home / "cut", settings, quiet)) == hashes
    changed = [i for i, path in enumerate(shards) if path.stat().st_mtime_ns != before[i]]
    assert changed == [3]


@pytest.mark.slow
def test_a_killed_driver_leaves_what_is_done_and_the_next_goes_on(home, pattern, hashes):
    model = home / "killed"
    program = (
        "import sys, time; from pathlib import Path; from treeball.scale import engines, shard, fit, settings\n"
        "made = shard.make_shard\n"
        "def slow(folder, task, settings):\n"
        "    time.sleep(0.3); return made(folder, task, settings)\n"
        "shard.make_shard = slow\n"
        f"fit.fit_folder(({pattern!r},), Path({str(model)!r}), settings.ScaleSettings("
        "method='construct', workers=1, dim=4, branch_nodes=100), print)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _wait_for(lambda: len(list((model / "work" / "records").glob("*.json"))) >= 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path: path.stat().st_mtime_ns for path in (model / "shards").glob("*.parquet")}
    recorded = {path.stem for path in (model / "work" / "records").glob("*.json")}
    assert 3 <= len(recorded) < TASKS
    assert hashes_of(fit_folder((pattern,), model, ScaleSettings(workers=1, **SETTINGS), quiet)) == hashes
    assert all(path.stat().st_mtime_ns == when for path, when in done.items() if path.stem in recorded)


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_loses_a_worker_and_a_node_and_gives_the_same_bytes(home, pattern, hashes, monkeypatch):
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    extra = cluster.add_node(num_cpus=1)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        died = home / "died"
        made = shard.make_shard

        def mortal(folder, task, settings):
            mark = Path(folder).parent / f"{Path(folder).name}-died-{task}"
            if task == 2 and not mark.exists():  # killed in the middle of its branch
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.2)
            return made(folder, task, settings)

        monkeypatch.setattr(shard, "make_shard", mortal)
        told = []

        def tell(text):
            told.append(text)
            if "of 10 branches" in text and len(cluster.list_all_nodes()) == 2:
                cluster.remove_node(extra)

        manifest = fit_folder((pattern,), died, ScaleSettings(engine="ray", workers=2, **SETTINGS), tell)
        assert (home / "died-died-2").exists()
        assert len(cluster.list_all_nodes()) == 1
        assert hashes_of(manifest) == hashes
        assert json.loads((died / "manifest.json").read_text()) == manifest
        # Without an address a run starts workers of its own, although a cluster is there.
        ray.shutdown()
        monkeypatch.setattr(shard, "make_shard", made)
        manifest = fit_folder((pattern,), home / "own", ScaleSettings(engine="ray", workers=1, **SETTINGS), quiet)
        assert hashes_of(manifest) == hashes
    finally:
        ray.shutdown()
        cluster.shutdown()


def _wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


@pytest.mark.parametrize("limit", [2_000, 5_000, 12_000])
def test_no_room_at_any_stage_is_a_sentence_and_no_file_is_cut_short(home, pattern, hashes, limit):
    """The limit on the size of a file fails like a full disk, and nothing that was written short is taken as whole."""
    model = home / f"limited-{limit}"
    program = (
        "import resource, sys; from treeball.cli.main import run; "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
        f"sys.exit(run(['fit', {pattern!r}, '-o', {str(model)!r}, '--dim', '4', '--branch-nodes', '100', "
        "'--method', 'construct', '--workers', '1']))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    said = ended.stderr.strip().splitlines()[-1]
    assert ended.returncode == 2, ended.stderr
    assert "File too large" in said
    assert "bytes are free" in said
    assert str(home) in said
    assert not (model / "manifest.json").exists()
    assert hashes_of(fit_folder((pattern,), model, ScaleSettings(workers=1, **SETTINGS), quiet)) == hashes


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense"])
def test_a_ray_address_that_does_not_answer_is_a_sentence_in_time(home, pattern, address):
    began = time.monotonic()
    settings = ScaleSettings(engine="ray", address=address, workers=1, **SETTINGS)
    with pytest.raises(InputError, match=r"no Ray cluster at .* within 15 seconds"):
        fit_folder((pattern,), home / "nowhere", settings, quiet)
    assert time.monotonic() - began < 17.0
    assert not (home / "nowhere").exists()
