"""Compare what two checkouts make of the same inputs: vectors, files and answers, byte for byte.

    python tools/golden.py BEFORE AFTER [--only WORD] [--keep FOLDER] [--messages]

Runs every command of STEPS with each checkout on this machine and compares exit codes, standard output and all files
written. Bytes depend on the processor and on numba, so stored hashes would not travel; two checkouts on one machine do.
A model file has two parts, its columns (vectors among them) and its record. JSON loses the keys of VOLATILE first.
Prints a line for each step and exits with 1 if any differs. --messages compares standard error, too, and --columns
nothing but exit codes and the columns of Parquet files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

VOLATILE = frozenset(
    {"seconds", "version", "sha256_of_file", "file_hash", "hash", "memory", "peak_bytes", "when", "path"}
)
"""JSON keys that differ between two runs of one checkout, or name the version."""
EPOCHS = 40  # enough for burn-in, closure edges and one dilation of the small inputs
METHODS = ("auto", "construct", "softmax", "euclidean", "poincare", "lorentz", "ga-dl", "ga-dl-rw", "ga-rw", "sarkar")


@dataclass(frozen=True)
class Step:
    """One command: its name in the table, its arguments, and what it must not depend on."""

    name: str
    arguments: tuple[str, ...]


@dataclass
class Outcome:
    """What one step left behind: part -> hash, and the texts for a person who wants to see a difference."""

    parts: dict[str, str] = field(default_factory=dict)


def step(name: str, command: str) -> Step:
    return Step(name, tuple(command.split()))


def fits() -> list[Step]:
    """Every method for every objective that it serves, on a tree and on a DAG."""
    steps = []
    for source in ("tree", "dag"):
        for objective in ("parents", "ancestors"):
            for method in METHODS:
                if method == "sarkar" and (source == "dag" or objective == "ancestors"):
                    continue
                command = f"fit {source}.tsv --method {method} --objective {objective} --dim 5 --seed 3 --deterministic"
                trains = method not in ("auto", "construct", "sarkar")
                if trains:
                    command += f" --epochs {EPOCHS}" + " --burn-in 5" * (method != "softmax")
                if method.startswith("ga-"):
                    command += " --n-tc 10" * method.endswith("rw") + " --dilation-from 10" * ("dl" in method)
                name = f"{source}-{objective}-{method}"
                steps.append(step(f"fit {name}", f"{command} -o {name}.parquet --json"))
    steps += [
        step(
            "fit distances",
            "fit weighted.csv --objective distances --dim 5 --seed 1 --deterministic -o distances.parquet --json",
        ),
        step("fit plane", "fit tree.tsv --method construct --dim 2 -o plane.parquet --json"),
        step("fit two terms", "fit tree.tsv --method construct --dim 2 --precision 2 -o terms.parquet --json"),
        step("fit example", "fit example:mammals -o mammals.parquet --json"),
        step(
            "fit trace",
            "fit tree.tsv --method poincare --dim 5 --epochs 20 --trace-every 5 --deterministic -o trace.parquet",
        ),
    ]
    return steps


def resumed() -> list[Step]:
    options = "--dim 5 --burn-in 5 --n-tc 10 --dilation-from 10 --deterministic"
    short = f"fit tree.tsv --method ga-dl-rw {options} -o resumed.parquet --json"
    return [
        step("fit first part", f"{short} --epochs 20"),
        step("fit resumed", f"{short} --epochs {EPOCHS} --resume"),
    ]


def read() -> list[Step]:
    """Every input as the readers report it, and by its scores."""
    return [step(f"info {name}", f"info {name} --json") for name in sorted(INPUTS)]


def questions() -> list[Step]:
    """Every question that a model answers, for a tree and for a DAG."""
    steps = []
    for name, a, b in (("tree-parents-construct", "n7", "n40"), ("dag-parents-auto", "d9", "d33")):
        model = f"{name}.parquet"
        asked = {
            "info": f"info {model}",
            "evaluate": f"evaluate {model} --distortion",
            "diagnose": f"diagnose {model}",
            "neighbors": f"neighbors {model} {a} {b}",
            "neighbors edges": f"neighbors {model} {a} --from hierarchy",
            "neighbors leaves": f"neighbors {model} {a} --leaves",
            "distance": f"distance {model} {a} {b}",
            "similarity": f"similarity {model} {a} {b}",
            "suggest": f"suggest-parent {model} --near {a},{b}",
            "search": f"search {model} 3",
            "verify": f"verify {model}",
            "capacity": f"capacity {model} --dim 5",
        }
        asked |= {
            f"ask {what}": f"ask {model} {what} {a}"
            for what in ("parent", "parents", "children", "ancestors", "subtree")
        }
        asked |= {f"ask {what}": f"ask {model} {what} {a} {b}" for what in ("path", "common-ancestor", "is-ancestor")}
        steps += [step(f"{what} {name}", f"{command} --json") for what, command in asked.items()]
    return steps


def changes() -> list[Step]:
    """Healing, inserting, updating, comparing, aligning."""
    return [
        step("heal tree", "heal tree-parents-poincare.parquet -o healed.parquet --json"),
        step("heal dag", "heal dag-parents-poincare.parquet -o healed-dag.parquet --json"),
        step("heal ancestors", "heal tree-ancestors-poincare.parquet -o healed-ancestors.parquet --json"),
        step("insert", "insert tree-parents-construct.parquet new.tsv -o inserted.parquet --json"),
        step("insert dag", "insert dag-parents-auto.parquet new-dag.tsv -o inserted-dag.parquet --json"),
        step("update", "update tree-parents-construct.parquet next.tsv -o updated.parquet --json"),
        step("compare models", "compare tree-parents-poincare.parquet healed.parquet --json"),
        step("compare versions", "compare tree.tsv next.tsv --json"),
        step("align", "align tree.tsv next.tsv -o pairs.csv --json"),
        step("split", "split tree.tsv --leaves .1 --seed 2 -o held-out"),
        step("held out", "evaluate tree-parents-construct.parquet --held-out held-out/heldout.tsv --json"),
    ]


def exports() -> list[Step]:
    """Every format that a model is exported to, the pages and the pictures."""
    endings = ("csv", "tsv", "parquet", "npy", "safetensors", "txt", "vec", "bin", "json", "duckdb")
    steps = [
        step(f"export {ending}", f"export tree-parents-construct.parquet -o exported.{ending}") for ending in endings
    ]
    return [
        *steps,
        step("import csv", "import exported.csv --hierarchy tree.tsv -o imported.parquet --json"),
        step("view", "view tree-parents-construct.parquet -o page.html"),
        step("view dag", "view dag-parents-auto.parquet -o page-dag.html"),
        step("diagnose page", "diagnose tree-parents-poincare.parquet --html diagnosis.html --json"),
        step("plot", "plot plane.parquet -o plane.svg"),
    ]


def partitioned() -> list[Step]:
    """Partitioned models: fit by one worker and by two, questions, insertion, update, export."""
    fit = "fit many/*.csv --branch-nodes 400 --dim 5 --seed 1 --json"
    asked = {
        "info": "info parts",
        "evaluate": "evaluate parts",
        "neighbors": "neighbors parts t7 t900",
        "ask ancestors": "ask parts ancestors t900 --from hierarchy",
        "ask children": "ask parts children t7 --from hierarchy",
        "verify": "verify parts",
    }
    return [
        step("fit partitioned", f"{fit} --workers 1 -o parts"),
        step("fit two workers", f"{fit} --workers 2 -o parts2"),
        step("fit partitioned ancestors", f"{fit} --workers 1 --objective ancestors --epochs 10 -o ancestors"),
        *(step(f"{name} partitioned", f"{command} --json") for name, command in asked.items()),
        step("insert partitioned", "insert parts new-many.csv --json"),
        step("update partitioned", "update parts2 next-many.csv --json"),
        step("export partitioned", "export parts -o parts.csv"),
    ]


def tree(n: int, letter: str, seed: int) -> list[tuple[str, str]]:
    """Random tree of ``n`` nodes: (child, parent)."""
    chance = random.Random(seed)
    return [(f"{letter}{child}", f"{letter}{chance.randrange(max(0, child - 60), child)}") for child in range(1, n)]


def dag() -> list[tuple[str, str]]:
    """A DAG in which a third of the nodes has a second parent."""
    chance = random.Random(5)
    edges = tree(150, "d", 4)
    more = [(f"d{child}", f"d{chance.randrange(child)}") for child in range(20, 150, 3)]
    return list(dict.fromkeys(edges + more))


def lines(rows: Iterable[tuple[str, ...]], separator: str = "\t") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


TREE = tree(200, "n", 1)
LEAVES = [f"n{i}" for i in range(200) if all(parent != f"n{i}" for _, parent in TREE)][-2:]
MANY = tree(1500, "t", 2)
INPUTS = {
    "tree.tsv": lines(TREE),
    "dag.tsv": lines(dag()),
    "weighted.csv": "child,parent,weight\n" + lines([(*edge, str(1 + i % 5)) for i, edge in enumerate(TREE)], ","),
    "table.csv": "id,parent_id,name\n1,,animal\n2,1,mammal\n3,1,bird\n4,2,dog\n5,2,cat\n6,3,owl\n",
    "levels.csv": "L1,L2,L3\nanimal,mammal,dog\nanimal,mammal,cat\nanimal,bird,owl\n",
    "paths.txt": "animal > mammal > dog\nanimal > mammal > cat\nanimal > bird > owl\n",
    "outline.txt": "animal\n  mammal\n    dog\n    cat\n  bird\n    owl\n",
    "nested.json": '{"name": "animal", "children": [{"name": "mammal", "children": [{"name": "dog"}]}]}',
    "nested.yaml": "animal:\n  mammal:\n    - dog\n    - cat\n  bird:\n    - owl\n",
    "animals.nwk": "((dog:1,cat:1)mammal:2,(owl:3)bird:1)animal;\n",
    "animals.obo": "format-version: 1.4\n\n[Term]\nid: A:1\nname: animal\n\n[Term]\nid: A:2\nname: mammal\nis_a: A:1\n",
    "animals.ttl": "@prefix : <https://example.org/> .\n@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    ":mammal skos:broader :animal .\n:bird skos:broader :animal .\n",
    "repaired.csv": "child,parent\na,b\na,b\nb,c\nc,a\nd,d\ne,c\n",
}
OTHER_FILES = {
    "next.tsv": lines([edge for edge in TREE if edge[0] not in LEAVES] + [("x1", "n7"), ("x2", "x1")]),
    "new.tsv": lines([("y1", "n7"), ("y2", "n7"), ("y3", "y1")]),
    "new-dag.tsv": lines([("y1", "d7"), ("y2", "d9")]),
    "many/a.csv": "child,parent\n" + lines(MANY[:700], ","),
    "many/b.csv": "child,parent\n" + lines(MANY[700:], ","),
    "new-many.csv": "child,parent\ny1,t7\ny2,t7\n",
    "next-many.csv": "child,parent\n" + lines([*MANY[:-3], ("y1", "t7")], ","),
}


def steps() -> list[Step]:
    return [*read(), *fits(), *resumed(), *questions(), *changes(), *exports(), *partitioned()]


def run(checkout: Path, folder: Path, only: str) -> dict[str, Outcome]:
    """Run all steps with the code of ``checkout`` in ``folder``; -> outcome by name."""
    for name, text in (INPUTS | OTHER_FILES).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "NO_COLOR": "1", "COLUMNS": "100"}
    outcomes = {}
    for one in steps():
        if only and only not in one.name and not one.name.startswith("fit"):
            continue
        before = hashes(folder)
        done = subprocess.run(
            [sys.executable, "-m", "treeball", *one.arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        after = hashes(folder)
        outcome = Outcome({"exit": str(done.returncode), "stdout": plain_output(done.stdout)})
        outcome.parts["stderr"] = re.sub(r"\d+(\.\d+)? ?(s|ms|MB|GB)\b", "", done.stderr)
        outcome.parts |= {f"file {name}": value for name, value in after.items() if before.get(name) != value}
        outcomes[one.name] = outcome
    return outcomes


def hashes(folder: Path) -> dict[str, str]:
    """Hash of each part of each file of ``folder``, without what may differ from run to run."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for part, data in contents(path):
                found[f"{path.relative_to(folder)}{part}"] = hashlib.sha256(data).hexdigest()
    return found


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """The parts of a file: name and content."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        record = (table.schema.metadata or {}).get(b"treeball", b"")
        yield " (columns)", columns_of(table)
        yield " (record)", plain_output(record.decode("utf-8", "replace")).encode()
    elif path.suffix == ".json":
        yield "", plain_output(path.read_text()).encode()
    elif path.suffix != ".duckdb":  # DuckDB does not write the same bytes twice
        yield "", path.read_bytes()


def columns_of(table: pa.Table) -> bytes:
    """The columns as Arrow writes them, without any metadata."""
    sink = pa.BufferOutputStream()
    bare = table.replace_schema_metadata(None).combine_chunks()
    with pa.ipc.new_stream(sink, bare.schema) as writer:
        writer.write_table(bare)
    return bytes(sink.getvalue().to_pybytes())


def plain_output(text: str) -> str:
    """Output in which JSON has lost its volatile keys; other text stays as it is."""
    kept = []
    for line in text.splitlines():
        try:
            kept.append(json.dumps(without_volatile(json.loads(line)), sort_keys=True))
        except ValueError:
            kept.append(line)
    return "\n".join(kept)


def without_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_volatile(one) for key, one in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [without_volatile(one) for one in value]
    return value


def differences(before: Outcome, after: Outcome, messages: bool, only_columns: bool) -> list[str]:
    """Parts that differ."""
    parts = before.parts.keys() | after.parts.keys()
    if not messages:
        parts -= {"stderr"}
    if only_columns:
        parts = {part for part in parts if part == "exit" or part.endswith(" (columns)")}
    return sorted(part for part in parts if before.parts.get(part) != after.parts.get(part))


def show(part: str, before: Outcome, after: Outcome) -> None:
    """Print both values of a part of text, where they first differ."""
    if part.startswith("file "):
        return
    old, new = before.parts.get(part, ""), after.parts.get(part, "")
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, at - 60)
    print(f"      before: ...{old[start : at + 120]!r}\n      after:  ...{new[start : at + 120]!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--only", default="", help="only steps whose name holds this word, and all fits")
    parser.add_argument("--keep", type=Path, help="keep what both checkouts wrote in this folder")
    parser.add_argument("--messages", action="store_true", help="compare standard error, too")
    parser.add_argument("--columns", action="store_true", help="compare exit codes and columns of Parquet files alone")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = []
        for side in ("before", "after"):
            # Both sides work in a folder of the same name, because names are part of records and messages.
            folder = (chosen.keep or Path(scratch)) / side / "work"
            folder.mkdir(parents=True)
            outcomes.append(run(getattr(chosen, side).resolve(), folder, chosen.only))
    before, after = outcomes
    changed = 0
    for name in before:
        parts = differences(before[name], after[name], chosen.messages, chosen.columns)
        failed = " (both fail)" if not parts and before[name].parts["exit"] != "0" else ""
        print(f"{'DIFFERS' if parts else 'same   '} {name}{failed}{': ' + ', '.join(parts) if parts else ''}")
        for part in parts:
            show(part, before[name], after[name])
        changed += bool(parts)
    print(f"{len(before)} steps, {changed} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
