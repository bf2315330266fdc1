"""How right `treeball align` is, on pairs that were judged by eye, beside the only node of the same name.

    python benchmarks/align.py google-product-taxonomy.tsv.gz shopify-categories.tsv.gz align_google_shopify.tsv
    python benchmarks/align.py bestbuy-categories.tsv.gz shopify-categories.tsv.gz align_bestbuy_shopify.tsv

    python benchmarks/align.py mouse.owl.gz human.owl.gz reference.rdf

With a reference alignment (the RDF of the OAEI) instead of judged pairs, or beside them, it prints how often answers of
each confidence are right. An answer with a counterpart is right if the reference has the pair. A broader one is right
if it is above a counterpart that the reference has; of nodes without a counterpart in the reference nothing is known.

The third file is one of those beside this script. Its samples were drawn from the answers and from the nodes that had
none, and both paths of every pair were read: *right*, *wrong* or *unsure*; of a node without an answer *none* (it has
no counterpart) or *missed* (it has: node_b). What is printed:

- coverage is the share of the nodes of the first hierarchy that get an answer;
- precision the share of the answers that are right, unsure ones counting as wrong, with a 95 % interval;
- recall the share of the nodes with a counterpart that get it, the others being estimated from those that were missed.

Samples are *answers*, drawn from all; *other names* and *moved*, from the answers where names or paths differ;
*confidence ...*, from the best candidates below the threshold, for lower thresholds; *abstained*; and *same name only*,
from the answers of the plain way where `align` has none. *as then* counts what is still answered, or still not, as when
it was judged: where that is less than all, the figures above are of then. `--test-half` counts the nodes that nothing
was chosen on, by a hash of their names; the judged pairs of Google and Shopify are of this half.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import math
import re
import time
from collections import Counter
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

import treeball
from treeball import Hierarchy
from treeball.matching.words import own_names, words_of

HERE = Path(__file__).parent
SAMPLE = itemgetter("sample")
ANSWERED = ("answers", "other names", "moved")  # samples of answers; of the others the nodes had none


def same_name(a: Hierarchy, b: Hierarchy) -> dict[str, str]:
    """The plain way: nodes whose name, without case, plural and punctuation, one node of the other alone has."""
    spoken = [[words_of(name) for name in own_names(side)] for side in (a, b)]
    counts = Counter(spoken[1])
    node = dict(zip(spoken[1], map(str, b.names), strict=True))
    return {str(name): node[words] for name, words in zip(a.names, spoken[0], strict=True) if counts[words] == 1}


def is_in_test_half(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def right_share(rows: list[dict[str, str]]) -> tuple[float, float, float]:
    """Share of the pairs that are right, and its 95 % interval (Wilson); unsure pairs count as wrong."""
    n, right = len(rows), sum(row["verdict"] == "right" for row in rows)
    if not n:
        return 0.0, 0.0, 1.0
    z, share = 1.96, right / n
    middle, wide = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return share, (middle - wide) / (1 + z * z / n), (middle + wide) / (1 + z * z / n)


def reference_pairs(path: Path) -> dict[str, set[str]]:
    """Counterparts of each node in a reference alignment."""
    found: dict[str, set[str]] = {}
    pattern = r'<entity1 rdf:resource="([^"]+)"/>\s*<entity2 rdf:resource="([^"]+)"/>'
    for first, second in re.findall(pattern, path.read_text("utf-8")):
        found.setdefault(first, set()).add(second)
    return found


def print_reliability(title: str, rows: list[tuple[float, bool]]) -> None:
    """A line for each band of confidence: how many answers, their mean confidence, and the share that is right."""
    print(f"\n{title:<24}{'answers':>9}{'confidence':>12}{'right':>9}")
    edges = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0 + 1e-9)
    bands = [(f"{low:.2f} to {min(high, 1):.2f}", low, high) for low, high in pairwise(edges)]
    for name, low, high in (*bands, ("all", 0.0, 2.0)):
        some = [(confidence, right) for confidence, right in rows if low <= confidence < high]
        if some:
            said, right = (sum(values) / len(some) for values in zip(*some, strict=True))
            print(f"{name:<24}{len(some):>9,}{said:>12.3f}{right:>9.3f}")


def compare_with_reference(a: Hierarchy, b: Hierarchy, path: Path) -> None:
    """Print how reliable the confidence of answers is, of equivalent and of broader nodes."""
    reference = reference_pairs(path)
    aligned = treeball.align(a, b, broader=True)
    print(f"{a.n_nodes:,} x {b.n_nodes:,} nodes, {len(reference):,} in the reference; {aligned.summary()}")
    rows: dict[str, list[tuple[float, bool]]] = {"same": [], "broader": [], "best candidate, unsure": []}
    for answer in aligned.answers(candidates=1):
        true = reference.get(str(answer.node), set())
        if answer.kind == "same":
            rows["same"].append((answer.confidence, str(answer.counterpart) in true))
            continue
        if answer.kind == "broader" and true:
            codes = [b.names.index_of(node) for node in true if node in b.names]
            right = bool(b.is_ancestor(b.names.index_of(answer.counterpart), codes).any()) if codes else False
            rows["broader"].append((answer.confidence, right))
        for one in answer.candidates:
            rows["best candidate, unsure"].append((one.confidence, str(one.node) in true))
    for title, some in rows.items():
        print_reliability(title, some)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", help="hierarchy whose nodes get answers")
    parser.add_argument("second", help="hierarchy that the answers are of")
    parser.add_argument("judged", type=Path, help="pairs that were judged, a file beside this script")
    parser.add_argument("--test-half", action="store_true", help="count the nodes that nothing was chosen on")
    options = parser.parse_args()
    a, b = treeball.read(options.first), treeball.read(options.second)
    if options.judged.suffix == ".rdf":
        compare_with_reference(a, b, options.judged)
        return
    path = options.judged if options.judged.exists() else HERE / options.judged
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    started = time.perf_counter()
    aligned = treeball.align(a, b)
    seconds = time.perf_counter() - started
    print(f"{a.n_nodes:,} x {b.n_nodes:,} nodes in {seconds:.1f} s; {aligned.summary()}\n")

    nodes = {str(name) for name in a.names if not options.test_half or is_in_test_half(str(name))}
    ours = {str(node): str(other) for node, other in aligned.matches.items()}
    plain = same_name(a, b)
    of = {sample: [row for row in rows if row["sample"] == sample] for sample in dict.fromkeys(map(SAMPLE, rows))}
    agreed = [row for row in of["answers"] if plain.get(row["node_a"]) == row["node_b"]]
    answered = sum(node in ours for node in nodes)
    both = sum(node in ours and plain.get(node) == ours[node] for node in nodes)
    alone = sum(node in plain for node in nodes) - both
    missed = sum(row["verdict"] == "missed" for row in of["abstained"]) / len(of["abstained"])
    has_counterpart = answered * right_share(of["answers"])[0] + (len(nodes) - answered) * missed
    print(f"{'':<12}{'coverage':>10}{'precision':>11}{'interval':>17}{'recall':>9}")
    ways = {"align": [(answered, of["answers"])]}
    for band in (sample for sample in of if sample.startswith("confidence")):
        least = float(band.split()[1])
        lower = treeball.align(a, b, confidence=least).matches
        parts = next(reversed(ways.values()))
        more = sum(node in nodes for node in map(str, lower)) - sum(size for size, _ in parts)
        ways[f"align, {least:g}"] = [*parts, (more, of[band])]
    ways["same name"] = [(both, agreed), (alone, of["same name only"])]
    for name, parts in ways.items():
        total = sum(size for size, _ in parts)
        shares = [[size / total * value for value in right_share(judged)] for size, judged in parts]
        precision, low, high = (sum(values) for values in zip(*shares, strict=True))
        recall = precision * total / has_counterpart
        interval = f"{low:.1%} to {high:.1%}"
        print(f"{name:<12}{total / len(nodes):>10.1%}{precision:>11.1%}{interval:>17}{recall:>9.1%}")

    columns = ("right", "wrong", "unsure", "none", "missed")
    print(f"\n{'sample':<24}{'pairs':>8}" + "".join(f"{name:>8}" for name in (*columns, "as then")))
    for sample, some in of.items():
        counts = Counter(row["verdict"] for row in some)
        as_then = sum(ours.get(row["node_a"], "") == (row["node_b"] if sample in ANSWERED else "") for row in some)
        print(f"{sample:<24}{len(some):>8}" + "".join(f"{n:>8}" for n in (*(counts[c] for c in columns), as_then)))


if __name__ == "__main__":
    main()
