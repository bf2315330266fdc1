"""A phylogeny: common ancestors, paths, and what a distance in the embedding means beside branch lengths.

Jun has a tree of primates in Newick format, with branch lengths in million years, and a piece of the NCBI taxonomy.

    pip install '.[formats,plot]'      # in a clone of treeball
    python docs/examples/biology.py --out primates
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import permutations
from pathlib import Path

import treeball
from treeball.report import figures

# Rounded ages of the splits; all leaves live today, so the way from the root to each of them takes 75 million years.
NEWICK = """
((((((((human:6,(chimpanzee:2,bonobo:2)Pan:4)Hominini:3,gorilla:9)Homininae:6,orangutan:15)Hominidae:5,
(lar_gibbon:8,siamang:8)Hylobatidae:12)Hominoidea:10,
((rhesus:5,baboon:5)Papionini:7,(colobus:9,langur:9)Colobinae:3,vervet:12)Cercopithecidae:18)Catarrhini:15,
((capuchin:17,squirrel_monkey:17)Cebidae:6,(marmoset:12,tamarin:12)Callitrichidae:11,howler:23)Platyrrhini:22
)Simiiformes:23,tarsier:68)Haplorhini:7,
((ring-tailed_lemur:30,aye-aye:30)Lemuriformes:30,(slow_loris:35,bushbaby:35)Lorisiformes:25)Strepsirrhini:15)Primates;
"""
# The same kind of knowledge as NCBI hands it out: a row a taxon with its parent, and the names in a second file.
TAXA = [
    (1, 1, "root"),
    (9443, 1, "Primates"),
    (9526, 9443, "Catarrhini"),
    (9604, 9526, "Hominidae"),
    (9605, 9604, "Homo"),
    (9606, 9605, "Homo sapiens"),
    (9596, 9604, "Pan"),
    (9598, 9596, "Pan troglodytes"),
    (9597, 9596, "Pan paniscus"),
]


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-biology")
out = parser.parse_args().out
out.mkdir(parents=True, exist_ok=True)

# 1. Read the tree; branch lengths become weights of the edges.
(out / "primates.nwk").write_text(NEWICK.replace("\n", ""), encoding="utf-8")
primates = treeball.read(out / "primates.nwk")
print(primates.report)

# 2. Two dimensions are enough for a tree of this size, and can be drawn as they are.
model = treeball.fit(primates, dim=2, seed=0)
print(f"=> every node is nearest to its parent: {model.evaluate().map == 1}")
figures.save(figures.disk(model, focus="Catarrhini"), out / "primates.png")
print(f"drawn in {out / 'primates.png'}")

# 3. Who is nearer kin to humans, siamang or rhesus? Whose common ancestor with them is lower. Geometry alone tells it.
for other in ("siamang", "rhesus"):
    print(
        f"human and {other} meet in {model.common_ancestor('human', other)}: {' - '.join(model.path('human', other))}"
    )
siamang, rhesus = (model.common_ancestor("human", other) for other in ("siamang", "rhesus"))
print(f"=> {siamang} is below {rhesus}, so the siamang is nearer kin: {bool(model.is_ancestor(rhesus, siamang))}")

# 4. What does a distance mean? It says who is whose parent and knows nothing of years: a tarsier is no near cousin.
years = dict(zip(primates.edges()[0].tolist(), primates.parent_weight, strict=True))  # of the branch above each node


def apart(a: str, b: str) -> float:
    """Million years along the branches from a to b; the way is the one that the model shows."""
    codes = {primates.names.index_of(name) for name in model.path(a, b)}
    return sum(years[code] for code in codes - {primates.names.index_of(model.common_ancestor(a, b))})


print(f"{'human and':>15} {'million years':>13} {'edges':>6} {'distance':>9}")
for other in ("chimpanzee", "gorilla", "orangutan", "siamang", "rhesus", "capuchin", "tarsier", "aye-aye"):
    edges, distance = model.distance("human", other, source="hierarchy"), model.distance("human", other)
    print(f"{other:>15} {apart('human', other):13.0f} {edges:6.0f} {distance:9.2f}")
leaves = [name for name in model if not model.children_of(name)]
time = {pair: apart(*pair) for pair in permutations(leaves, 2)}
triples = [(a, b, c) for a, b, c in permutations(leaves, 3) if time[a, b] < time[a, c]]
nearer = sum(model.distance(a, b) < model.distance(a, c) for a, b, c in triples) / len(triples)
meeting = {pair: model.common_ancestor(*pair) for pair in permutations(leaves, 2)}
below = model.is_ancestor([meeting[a, c] for a, _, c in triples], [meeting[a, b] for a, b, _ in triples])
print(f"of two species, the one that parted later is the nearer one in {nearer:.0%} of {len(triples):,} cases,")
print(f"=> and the one with the lower common ancestor in {sum(map(bool, below)) / len(triples):.0%}")

# 5. An NCBI taxdump is read the same way: a folder with nodes.dmp and names.dmp.
dump = out / "taxdump"
dump.mkdir(exist_ok=True)
(dump / "nodes.dmp").write_text("".join(f"{taxon}\t|\t{parent}\t|\tno rank\t|\n" for taxon, parent, _ in TAXA))
(dump / "names.dmp").write_text("".join(f"{taxon}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for taxon, _, name in TAXA))
taxa = treeball.fit(treeball.read(dump), dim=2, seed=0)
above = taxa.common_ancestor("Homo sapiens", "Pan paniscus")
print(f"=> Homo sapiens and Pan paniscus meet in: {taxa.label_of(above)}")
