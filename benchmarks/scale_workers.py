"""python benchmarks/scale_workers.py EDGES --folder FOLDER [--workers 1 2 4]

One hierarchy, by the single-machine path and as a model folder by local processes and by Ray with several numbers of
workers: seconds, MAP, ill pairs, whether all shards are the same bytes, the ratio of times. EDGES: child TAB parent.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def edges_of(source: Path, folder: Path) -> str:
    """The edges as Parquet; -> a pattern that finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        gzip.open(source, "rt", encoding="utf-8") if source.suffix == ".gz" else source.open(encoding="utf-8") as lines
    ):
        rows = [line.rstrip("\n").split("\t")[:2] for line in lines if "\t" in line and not line.startswith("#")]
    table = pa.table({"child": [row[0] for row in rows], "parent": [row[1] for row in rows]})
    pq.write_table(table, folder / "edges.parquet")
    return f"{folder}/*.parquet"


def timed(*arguments: str) -> tuple[str, float]:
    """What treeball prints, and the seconds it takes."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "treeball", *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("edges", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    parser.add_argument("--sample", default="4000")
    parser.add_argument("--single", action="store_true", help="also by the single-machine path")
    options = parser.parse_args()
    pattern = edges_of(options.edges, options.folder / "edges")
    found: list[tuple[str, float]] = []
    hashes: dict[str, Any] = {}
    if options.single:
        one = str(options.folder / "one.parquet")
        _, seconds = timed("fit", str(options.edges), "-o", one, "--method", "construct", "--json")
        found.append(("one process", seconds))
        print(
            f"one process: {seconds:.1f} s", timed("evaluate", one, "--sample", options.sample, "--json")[0], flush=True
        )
    for engine in options.engines:
        for workers in options.workers:
            model = options.folder / f"{engine}-{workers}"
            _, seconds = timed("fit", pattern, "-o", str(model), "--engine", engine, "--workers", str(workers))
            manifest = json.loads((model / "manifest.json").read_text())
            hashes[model.name] = [shard["sha256"] for shard in manifest["shards"]]
            found.append((model.name, seconds))
            print(
                f"{model.name}: {seconds:.1f} s, {manifest['ill_in_branches']} ill of {manifest['verified']}, "
                f"borders {json.dumps(manifest['borders'])}",
                flush=True,
            )
    print(timed("evaluate", str(model), "--sample", options.sample, "--json")[0])
    print("all shards the same bytes:", len({json.dumps(one) for one in hashes.values()}) == 1)
    for name, seconds in found:
        print(f"{name}: {seconds / found[0][1]:.2f} times as long as {found[0][0]}")


if __name__ == "__main__":
    main()
