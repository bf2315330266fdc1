"""What the tests of a reproduction share: small data, tiny plans, records with scores that one chooses."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from treeball.reproduce import datasets
from treeball.reproduce.code_hash import code_hash
from treeball.reproduce.datasets import TREES
from treeball.reproduce.planner import Choices, Planner
from treeball.reproduce.recipes import RADII, Row

SMALL = datasets.load(TREES["synthetic-156"], None)


@pytest.fixture
def data(tmp_path):
    """A folder with a small tree in place of Yelp's, and a closure with a repeat-free list of all pairs."""
    folder = tmp_path / "data"
    folder.mkdir()
    edges = ['"quoted" name\t<root>', "b\t<root>", 'c\t"quoted" name', "d\tc"]
    (folder / "yelp-tree.tsv.gz").write_bytes(gzip.compress("\n".join(edges).encode()))
    pairs = ["b\ta", "c\tb", "c\ta", "d\tc", "d\tb", "d\ta", "e\td", "e\tc", "e\tb", "e\ta"]
    (folder / "wordnet-nouns-closure.tsv.gz").write_bytes(gzip.compress("\n".join(pairs).encode()))
    return folder


@pytest.fixture
def record_of():
    """Makes stored runs with the scores given."""

    def make(method: str, seed: int, *, tree: str = "yelp", dim: int = 2, epochs: int = 10, **scores: Any) -> Any:
        own: dict[str, Any] = {"radius": RADII[0], "terms": "epochs", "label": "", "variant": "", "updates": 1000}
        own |= {name: scores.pop(name) for name in list(scores) if name in own}
        values = {"map": 0.5, "mean_rank": 2.0, "capacity": 100, "intra_subtree": 10, "inter_subtree": 1} | scores
        job = Planner(TREES[tree], SMALL, Choices(epochs=epochs)).job(Row(method), dim, own["radius"], seed)
        assert job is not None
        return {
            "tree": tree,
            **own,
            "radius": own["radius"] if job.radius else None,
            "settings": job.settings.to_dict(),
            "code": code_hash(method),
            "scores": {
                "map": values["map"],
                "mean_rank": values["mean_rank"],
                "illness": {kind: values[kind] for kind in ("capacity", "intra_subtree", "inter_subtree")},
                **({"sampled": {"nodes": 400, "of": 1565}} if "sampled" in scores else {}),
            },
            "sample": 400 if "sampled" in scores else 0,
            "seconds": {"training": 1.5, "scoring": 0.1},
            "threads": 2,
            "device": "cpu",
            "at_once": 1,
            "version": "0.0",
            "dilations": [3] if method == "ga-dl" else [],
            "finished": f"2030-01-0{1 + seed}",
        }

    return make
