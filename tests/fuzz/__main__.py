"""Fuzz all readers, model files, vectors and the service; exit code 1 when anything was found."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from pathlib import Path

from .case import Case
from .drive import Run
from .shrink import replayed, shrunk
from .targets import TARGETS


def main() -> int:
    """Run for a while, or try one input again."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long to try inputs")
    parser.add_argument("--seed", type=int, help="which inputs are made; by default chosen anew, and printed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1)
    parser.add_argument("--inputs", type=int, help="stop after so many inputs of each target")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="folder for what is found")
    parser.add_argument("--replay", type=Path, help="the folder of a finding: try its input again")
    parser.add_argument("--shrink", type=int, default=0, metavar="TRIES", help="with --replay: make the input smaller")
    options = parser.parse_args()
    if options.replay is not None:
        return replay(options.replay, options.shrink)
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    print(f"fuzzing for {options.seconds:g} s with FUZZ_SEED={seed}: {', '.join(options.targets)}", flush=True)
    began = time.monotonic()
    run = Run(seed, options.targets, options.findings)
    run.go(options.seconds, options.jobs, options.inputs)
    report(run, time.monotonic() - began)
    return 1 if run.findings else 0


def report(run: Run, seconds: float) -> None:
    """Print what was tried, by target, and what was found."""
    kinds = ("read", "refused", "found")
    print(f"{'target':12}{'tried':>10}" + "".join(f"{kind:>10}" for kind in kinds))
    for target in (*run.targets, "all"):
        counts = [sum(n for (t, k), n in run.tried.items() if target in (t, "all") and k == kind) for kind in kinds]
        print(f"{target:12}{sum(counts):>10,}" + "".join(f"{number:>10,}" for number in counts))
    print(f"{run.tried.total():,} inputs in {seconds:.0f} s, FUZZ_SEED={run.seed}: {len(run.findings)} findings")
    for finding in run.findings.values():
        print(f"  {finding}")


def replay(folder: Path, tries: int) -> int:
    """Try one input again, and say what is found."""
    case = Case.read(folder)
    if tries:
        case = shrunk(case, tries)
        folder = case.write(folder.with_name(folder.name + "-small"))
        print(f"{folder}: {sum(map(len, case.files.values())):,} bytes, {case.options}")
    answer = replayed(case)
    print(answer.get("said", f"nothing is found: {answer.get('outcome')}"))
    return 1 if "found" in answer else 0


if __name__ == "__main__":
    sys.exit(main())
