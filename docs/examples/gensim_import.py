"""Vectors trained with gensim: imported, scored, diagnosed and healed.

A model of another tool need not be thrown away. gensim trains Poincaré vectors of a hierarchy; treeball says how many
nodes are nearer to some other node than to their parent, why, and moves them.

    pip install . gensim                                                  # in a clone of treeball
    python docs/examples/gensim_import.py                                 # the mammals, shipped with treeball
    python docs/examples/gensim_import.py --data verbs.tsv                # any file that treeball reads
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import treeball

try:
    from gensim.models.poincare import PoincareModel
except ImportError:
    sys.exit("gensim is not installed: pip install gensim (nothing was done)")

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--data", default="example:mammals", help="any file that treeball reads")
parser.add_argument("--dim", type=int, default=10)
parser.add_argument("--epochs", type=int, default=50)
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-gensim")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)

# gensim wants pairs (node, parent). Its files hold no blanks, so underscores stand for them; import knows that.
hierarchy = treeball.read(options.data)
print(hierarchy.report)
names = ["_".join(str(name).split()) for name in hierarchy.names]
pairs = [(names[child], names[parent]) for child, parent in zip(*hierarchy.edges(), strict=True)]
model = PoincareModel(pairs, size=options.dim, negative=10, burn_in=10, seed=0)
model.train(epochs=options.epochs, batch_size=10)
vectors = options.out / "vectors.txt"
model.kv.save_word2vec_format(str(vectors))

# Import: vectors and hierarchy together are a model, and everything in treeball works on it.
imported = treeball.import_vectors(vectors, hierarchy)
imported.save(options.out / "imported.parquet")

# Diagnose: what is wrong, and with whom.
diagnosis = treeball.diagnose(imported, model="imported.parquet")
print(diagnosis)
for worst in diagnosis.worst_nodes[:2]:
    print(f"  {worst.node}: {worst.sentence}")
advice = diagnosis.advice[0]
print(f"advice: {advice.reason} {advice.command}")

# Heal: move what is ill or in the way.
healing = treeball.heal(imported)
healing.embedding.save(options.out / "healed.parquet")
print(f"\n{'':22}{'before':>10}{'after':>10}")
for name in ("map", "hits_at_1"):
    print(f"{name:22}{getattr(healing.before, name):10.4f}{getattr(healing.after, name):10.4f}")
for kind, ill in healing.before.illness.counts().items():
    print(f"{'ill, ' + kind:22}{ill:10,}{healing.after.illness.counts()[kind]:10,}")
print(healing.note)
print(f"=> ill pairs left after healing: {len(healing.after.illness)}")
