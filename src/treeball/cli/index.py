"""``treeball index``: an approximate index beside a model."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from .console import print_json, print_table, say


def index(
    model: Path,
    *,
    recall: float = 0.99,
    links: int = 32,
    seed: int = 0,
    threads: int = 0,
    json: bool = False,
) -> int:
    """Build an approximate index beside a model, for treeball neighbors --index, and say how good it is.

    Exact search needs no index, and for most models in few dimensions it is the faster one, too: the printed times say.

    Parameters
    ----------
    model
        Model file that treeball fit wrote; the index of catalog.parquet is catalog.usearch.
    recall
        Recall@10 to reach: the search is widened until it does.
    links
        Links of a node: more find more, and take more memory and time.
    seed
        Of the order in which nodes are added, and of the sample that recall is measured on.
    threads
        Workers; 0 uses all cores.
    json
        Print what was built as one JSON object.
    """
    from ..io.atomic import require_writable
    from ..io.model_file import load
    from ..nearest.index import build, index_file

    path = index_file(model)
    require_writable(path, model)
    embedding = load(model)
    started = time.perf_counter()
    made = build(embedding, recall=recall, links=links, seed=seed, threads=threads)
    seconds = time.perf_counter() - started
    made.save(path)
    facts, size = made.facts, path.stat().st_size
    if json:
        print_json({"path": str(path), "bytes": size, "seconds": seconds, **asdict(facts)})
    else:
        print_table(
            [
                ("nodes", f"{facts.nodes:,}"),
                ("links", f"{facts.links}, drawn with flatness {facts.flatness}"),
                ("expansion", f"{facts.expansion}"),
                ("recall@10", f"{facts.recall:.4f} (on {facts.sampled:,} nodes, wanted {facts.wanted:g})"),
                ("search", f"{facts.microseconds:.0f} µs a node on one thread"),
                ("exact search", f"{facts.exact_microseconds:.0f} µs"),
                ("built in", f"{seconds:.1f} s"),
                ("size", f"{size / 1e6:.1f} MB"),
            ]
        )
    for sentence in facts.warnings():
        say(sentence)
    say(f"saved {path}")
    return 0
