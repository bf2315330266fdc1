"""python benchmarks/scale_out.py --nodes 1000000 10000000 105000000 --memory 14GB --folder FOLDER

Model folders of generated hierarchies with the shape of Wikidata (wikidata_shaped.py), of several sizes: seconds, peak
memory of all processes together, bytes written, scores of a sample, neighbours, new leaves by `insert`, a next version
of the edges with as many more by `update`, and how time grows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import wikidata_shaped

STEPS = ("fit", "evaluate", "neighbors", "insert", "update")
TRAINED = ("trunk", "map_in_branches", "map_before_training", "trainings_not_kept")


class PeakMemory(threading.Thread):
    """The most memory that a process and all it started had together; pages that several share count once."""

    def __init__(self, process: int, seconds: float = 1.0) -> None:
        super().__init__(daemon=True)
        self.process, self.seconds, self.peak, self.ended = process, seconds, 0, threading.Event()
        self.start()

    def run(self) -> None:
        """Look again and again."""
        while not self.ended.wait(self.seconds):
            self.peak = max(self.peak, sum(_resident(one) for one in _family(self.process)))


def _family(process: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        parents.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(entry))
    found, waiting = [], [process]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += parents.get(one, [])
    return found


def _resident(process: int) -> int:
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def command(*arguments: str) -> tuple[str, float, int]:
    """Run treeball; -> what it printed, seconds, peak memory."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "treeball", *arguments], stdout=subprocess.PIPE, text=True)
    watch = PeakMemory(process.pid, 0.2 if arguments[0] == "neighbors" else 1.0)
    text, _ = process.communicate()
    watch.ended.set()
    if process.returncode:
        raise SystemExit(f"treeball {' '.join(arguments)} ended with {process.returncode}")
    return text, time.perf_counter() - began, watch.peak


def bytes_in(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(nodes: int, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one size."""
    edges, model = options.folder / f"edges-{nodes}", options.folder / f"model-{nodes}"
    kept = options.folder / f"result-{nodes}.json"
    result: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {"nodes": nodes}
    if not edges.exists():
        wikidata_shaped.write(nodes, edges, options.second_parents, options.seed)
    if "fit" in options.steps:
        print(f"{nodes:,} nodes: fitting", flush=True)
        _, seconds, peak = command(
            "fit", f"{edges}/*.parquet", "-o", str(model), "--dim", str(options.dim), "--memory", options.memory,
            "--workers", str(options.workers), "--objective", options.objective,
            *(("--branch-nodes", str(options.branch_nodes)) if options.branch_nodes else ()),
            *(("--epochs", str(options.epochs)) if options.epochs else ()),
        )  # fmt: skip
        manifest = json.loads((model / "manifest.json").read_text())
        work = sum(path.stat().st_size for path in (model / "work").rglob("*") if path.is_file())
        result |= {"fit_seconds": seconds, "fit_peak": peak, "bytes": bytes_in(model), "bytes_of_work": work,
                   "repairs": manifest["repairs"], "ill_in_branches": manifest["ill_in_branches"],
                   "verified": manifest["verified"], "borders": manifest.get("borders"), "plan": manifest["plan"],
                   "objective": manifest["objective"],
                   **{name: manifest[name] for name in TRAINED if name in manifest}}  # fmt: skip
        _tell(result, kept)
    if "evaluate" in options.steps:
        text, seconds, peak = command("evaluate", str(model), "--sample", str(options.sample), "--json")
        result |= {"evaluate_seconds": seconds, "evaluate_peak": peak, "scores": json.loads(text)}
        _tell(result, kept)
    if "neighbors" in options.steps:
        result |= _neighbors(model, nodes)
        _tell(result, kept)
    if "insert" in options.steps:
        result |= _insert(model, nodes, options)
        _tell(result, kept)
    if "update" in options.steps:
        result |= _update(edges, model, nodes, options)
        _tell(result, kept)
    return result


def _neighbors(model: Path, nodes: int) -> dict[str, Any]:
    """Seconds for one and for 101 nodes: the difference is what a question costs once the program runs."""
    rng = np.random.default_rng(1)
    names = wikidata_shaped.name(rng.integers(0, nodes, 101)).to_pylist()
    _, first, _ = command("neighbors", str(model), names[0])
    _, all_, peak = command("neighbors", str(model), *names)
    return {"neighbors_first_seconds": first, "neighbors_ms": 10.0 * (all_ - first), "neighbors_peak": peak}


def _new_leaves(nodes: int, options: argparse.Namespace, word: str, seed: int) -> pa.Table:
    """Edges of new leaves below random classes."""
    parents = wikidata_shaped.name(np.random.default_rng(seed).integers(0, max(2, nodes // 21), options.leaves))
    return pa.table({"child": [f"{word} {i}" for i in range(options.leaves)], "parent": parents})


def _insert(model: Path, nodes: int, options: argparse.Namespace) -> dict[str, Any]:
    path = options.folder / f"new-{nodes}.csv"
    pacsv.write_csv(_new_leaves(nodes, options, "new", 2), path)
    text, seconds, peak = command("insert", str(model), str(path), "--json")
    return {"insert_seconds": seconds, "insert_peak": peak, "insert": json.loads(text)}


def _update(edges: Path, model: Path, nodes: int, options: argparse.Namespace) -> dict[str, Any]:
    """The next version: all edges there were, what was inserted, and as many new leaves again."""
    version = options.folder / f"next-{nodes}"
    shutil.rmtree(version, ignore_errors=True)
    version.mkdir()
    for path in edges.glob("*.parquet"):
        (version / path.name).symlink_to(path.resolve())
    if "added" in json.loads((model / "manifest.json").read_text()):
        pq.write_table(_new_leaves(nodes, options, "new", 2), version / "inserted.parquet")
    pq.write_table(_new_leaves(nodes, options, "late", 3), version / "late.parquet")
    text, seconds, peak = command("update", str(model), f"{version}/*.parquet", "--json")
    return {"update_seconds": seconds, "update_peak": peak, "update": json.loads(text)}


def _tell(result: dict[str, Any], kept: Path) -> None:
    kept.write_text(json.dumps(result, indent=1))
    print(json.dumps(result), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000_000, 10_000_000, 105_000_000])
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--memory", default="14GB")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--second-parents", choices=["near", "far"], default="near")
    parser.add_argument("--seed", type=int, default=0, help="of the hierarchy that is generated")
    parser.add_argument("--sample", type=int, default=100_000)
    parser.add_argument("--leaves", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--objective", choices=["parents", "ancestors"], default="parents")
    parser.add_argument("--branch-nodes", type=int)
    parser.add_argument("--epochs", type=int, help="with --objective ancestors")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    options = parser.parse_args()
    if options.objective == "ancestors":  # such a folder takes no new leaves
        options.steps = [step for step in options.steps if step not in ("insert", "update")]
    options.folder.mkdir(parents=True, exist_ok=True)
    results = [measure(nodes, options) for nodes in options.nodes]
    timed = [(one["nodes"], one["fit_seconds"]) for one in results if "fit_seconds" in one]
    for (few, short), (many, long) in pairwise(timed):
        slope = math.log(long / short) / math.log(many / few)
        print(f"from {few:,} to {many:,} nodes: log-log slope {slope:.3f}")


if __name__ == "__main__":
    main()
