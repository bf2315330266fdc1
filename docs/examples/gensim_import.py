"""Vectors trained with gensim, imported into treeball and scored.

Run it with  python docs/examples/gensim_import.py  where gensim is installed; it says so when it is missing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import treeball

try:
    from gensim.models.poincare import PoincareModel
except ImportError:
    sys.exit("gensim is not installed: pip install gensim (nothing was done)")

# The mammals of WordNet as gensim wants them: pairs (node, ancestor).
hierarchy = treeball.read("example:mammals")
pointers, ancestors = hierarchy.ancestors()
names = list(hierarchy.names)
pairs = [
    (names[node], names[ancestor])
    for node in range(len(names))
    for ancestor in ancestors[pointers[node] : pointers[node + 1]]
]
model = PoincareModel(pairs, size=5, negative=10, burn_in=5, seed=0)
model.train(epochs=20, batch_size=50)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "vectors.txt"
    model.kv.save_word2vec_format(str(path))
    embedding = treeball.import_vectors(path, hierarchy, objective="ancestors")

print(embedding)
print("for ancestors:", embedding.evaluate())
print("for parents:  ", embedding.evaluate("parents"))
print("nearest to dog.n.01:", [name for name, _ in embedding.neighbors("dog.n.01", 5)])

output = Path("gensim-mammals.parquet")
embedding.save(output)
print(f"saved {output}; go on with  treeball diagnose {output}  or  treeball heal {output}")
