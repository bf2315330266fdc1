"""Insert 5 % of the leaves of the noun tree, held out before, into its construction.

    python benchmarks/insert.py [--data DIR] [--share 0.05] [--dim 10] [--seed 0]

Prints the share of new nodes that have their parent as the nearest node, whether all old vectors are byte for byte the
same, how many old nodes fell ill (counted by a whole evaluation, not by what insert says), and the seconds of insert
and its own check, without those that compiling takes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import treeball
from train_speed import noun_tree
from treeball.methods.construct import construct


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    whole = noun_tree(options.data)
    parts = treeball.split(whole, leaves=options.share, seed=options.seed)
    rest = treeball.read(parts.train, direction="child-parent")
    made = construct(rest, options.dim)
    print(f"{rest.n_nodes:,} nodes, dimension {options.dim}: {made.note}")
    old = treeball.Embedding(made.vectors, rest)
    treeball.insert(old, parts.held_out[:10])  # compiles
    best, insertion = np.inf, None
    for _ in range(3):
        started = time.perf_counter()
        insertion = treeball.insert(old, parts.held_out)
        best = min(best, time.perf_counter() - started)
    assert insertion is not None
    new = insertion.embedding
    scores, before = new.evaluate("parents", sample=0), old.evaluate("parents", sample=0)
    ill_now = set(scores.illness.node.tolist())
    ill_before = set(before.illness.node.tolist())
    fallen = [code for code in ill_now - ill_before if code < len(old)]
    named = {new.names.index_of(name) for name in insertion.fell_ill}
    healthy = len(insertion.placed) - sum(code >= len(old) for code in ill_now)
    print(f"new leaves                  {len(insertion.placed):,}")
    print(f"parent is nearest           {healthy:,} ({healthy / len(insertion.placed):.2%})")
    print(f"without a free place        {len(insertion.without_place):,}")
    print(f"old vectors identical       {new.vectors[: len(old)].tobytes() == old.vectors.tobytes()}")
    print(f"old nodes that fell ill     {len(fallen):,}, of them not named: {len(set(fallen) - named):,}")
    print(f"seconds                     {best:.2f} (best of 3)")
    print(f"MAP before and after        {before.map:.6f} {scores.map:.6f}")


if __name__ == "__main__":
    main()
