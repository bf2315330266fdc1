"""Nearest neighbours for a search engine: exact, as features for a classifier, and over HTTP.

Priya has a category field in her search index and wants "related categories" in production: quick, measured, and in
formats that her other tools read. The mammals of WordNet stand for her categories.

    pip install '.[serve]'      # in a clone of treeball
    python docs/examples/search_engineer.py --out search
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import numpy as np

import treeball

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-search")
out = parser.parse_args().out
out.mkdir(parents=True, exist_ok=True)

# 1. The model, and a first look: the nearest node of a node is its parent, then come siblings and what is around.
model = treeball.fit("example:mammals", dim=10, seed=0)
model.save(out / "mammals.parquet")
names = list(model.names)
print("next to beagle.n.01:", ", ".join(f"{name} ({far:.1f})" for name, far in model.neighbors("beagle.n.01", k=4)))

# To judge any search, the distances of all pairs: how far is the tenth nearest node of each?
everyone = np.arange(len(names))
tenth = np.sort(model.distances_between(everyone[:, None], everyone[None, :]), axis=1)[:, 10]  # [:, 0] is itself


def recall(found: list[list[tuple[str, float]]]) -> float:
    """Share of what is found that is no farther than the tenth nearest. Of nodes equally far, any will do."""
    pairs = [(name, other) for name, row in zip(names, found, strict=True) for other, _ in row]
    far = model.distance([name for name, _ in pairs], [other for _, other in pairs])
    return float(np.sum(far <= np.repeat(tenth, 10) * (1 + 1e-9)) / (10 * len(names)))


# 2. Exact, in bulk: a search tree passes over what cannot be near, and misses nothing.
exact = model.neighbors(names, k=10)
print(f"=> exact search of {len(names):,} nodes at once: recall@10 is {recall(exact):.4f}")

# 3. Features for a classifier: tangent vectors, in float32 as most tools want them. What does rounding cost?
export = model.export(out / "features.npy", coordinates="tangent", dtype="float32")
print(export.loss.sentence())
rounded = treeball.import_vectors(out / "features.npy", model.hierarchy, coordinates="tangent")
print(f"=> hits@1 in float32 is {rounded.evaluate().hits_at_1:.4f}")
kept = recall(rounded.neighbors(names, k=10))
print(f"=> and recall@10 is above 0.999, what is found is as near as before: {kept > 0.999}")

# 4. In production: a service in a process of its own, asked over HTTP.
command = [sys.executable, "-m", "treeball", "serve", str(out / "mammals.parquet"), "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as service:
    try:
        ready = next(line for line in service.stdout if "http://" in line)
        address = next(word for word in ready.split() if word.startswith("http://"))
        with urlopen(f"{address}neighbors?{urlencode({'node': 'beagle.n.01', 'k': 4})}") as answer:
            served = json.load(answer)["neighbors"]
    finally:
        service.terminate()
far = [distance for _, distance in model.neighbors("beagle.n.01", k=4)]
print("=> nearest to beagle.n.01 over HTTP:", served[0]["node"])
print("=> at the same distances as here:", np.allclose([one["distance"] for one in served], far))
