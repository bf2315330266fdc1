"""An ontology with several parents a term: who is below whom, by geometry alone, and where a new term belongs.

Ngozi curates an ontology of musical instruments in OBO format. Many terms have two parents (a piano is a keyboard
instrument and a struck string instrument), and she wants vectors in which "is a kind of" can be asked.

    pip install '.[formats]'      # in a clone of treeball
    python docs/examples/ontology.py --out instruments
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import treeball

# name: parents (synonyms). The file that is written below has what an OBO file has: ids, is_a, synonyms.
TERMS = """
instrument
string instrument: instrument (chordophone)
wind instrument: instrument (aerophone)
percussion instrument: instrument
keyboard instrument: instrument
electric instrument: instrument
plucked string: string instrument
bowed string: string instrument
struck string: string instrument
woodwind: wind instrument
brass: wind instrument (brasswind)
tuned percussion: percussion instrument
drum: percussion instrument (membranophone)
violin: bowed string (fiddle)
hurdy-gurdy: bowed string, keyboard instrument
guitar: plucked string
electric guitar: guitar, electric instrument
harpsichord: plucked string, keyboard instrument (cembalo)
piano: struck string, keyboard instrument (pianoforte)
electric piano: piano, electric instrument
flute: woodwind
oboe: woodwind
clarinet: woodwind
organ: wind instrument, keyboard instrument
electronic organ: organ, electric instrument
trumpet: brass
horn: brass (French horn)
xylophone: tuned percussion
celesta: tuned percussion, keyboard instrument
kettledrum: drum (timpano)
"""


def write_obo(path: Path) -> None:
    lines = [line.partition(": ") for line in TERMS.strip().splitlines()]
    identifier = {name: f"INS:{number:04}" for number, (name, _, _) in enumerate(lines, 1)}
    text = "format-version: 1.4\nontology: instruments\n"
    for name, _, rest in lines:
        parents, _, synonym = rest.rstrip(")").partition(" (")
        text += f"\n[Term]\nid: {identifier[name]}\nname: {name}\n"
        text += f'synonym: "{synonym}" EXACT []\n' if synonym else ""
        text += "".join(f"is_a: {identifier[parent]} ! {parent}\n" for parent in parents.split(", ") if parent)
    path.write_text(text, encoding="utf-8")


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-ontology")
out = parser.parse_args().out
out.mkdir(parents=True, exist_ok=True)

# 1. Read it, with terms named by their labels. By default ids name them, and labels are shown; here there is no need.
write_obo(out / "instruments.obo")
ontology = treeball.read(out / "instruments.obo", names="label")
several = [ontology.names[node] for node in range(len(ontology)) if len(ontology.parents_of(node)) > 1]
print(ontology.report)
print(f"{len(several)} terms have several parents: {', '.join(several[:4])}, ...")

# 2. "Is a kind of" reaches all the way up: the objective ancestors keeps a term near to everything above it.
model = treeball.fit(ontology, objective="ancestors", dim=5, epochs=1000, seed=0, deterministic=True)
print(model.evaluate())
print(f"=> MAP above 0.99 for all ancestors: {model.evaluate().map > 0.99}")
piano = "electric piano"
above = model.ancestors_of(piano, source="hierarchy")
nearest = [name for name, _ in model.neighbors(piano, k=len(above))]
print(f"nearest to {piano}: {', '.join(nearest)}")
print(f"=> these are all {len(above)} terms above it, by both parents: {set(nearest) == set(above)}")

# 3. "Is a kind of", as a score. It says which of two pairs is the likelier one; it is no probability.
for name in ("keyboard instrument", "electric instrument", "wind instrument", "drum"):
    print(f"  {name:20} above {piano}? score {model.is_ancestor(name, piano).score:.1e}")
right: list[float] = []
wrong: list[float] = []
for term in ontology.names:
    others = [name for name in ontology.names if name != term]
    truths = model.is_ancestor(others, term, source="hierarchy")
    for truth, answer in zip(truths, model.is_ancestor(others, term), strict=True):
        (right if truth else wrong).append(answer.score)
higher = sum(high > low for high in right for low in wrong) / (len(right) * len(wrong))
print(f"=> a true pair scores higher than a false one in more than 95 % of cases: {higher > 0.95}")

# 4. Where does a new term belong? For that each term should be nearest to its parent: the objective parents.
places = treeball.fit(ontology, dim=5, seed=0)
best = treeball.suggest_parent(places, near=["oboe", "clarinet"])[0]
print(f"=> a bassoon is like an oboe and a clarinet, so it belongs below: {best.name}")
places = places.insert([("bassoon", best.name)]).embedding

# 5. Hand the vectors on: word2vec text for gensim and others, Parquet for everything else. Nothing is lost.
print(*places.export(out / "instruments.vec").notes, sep="\n")
places.export(out / "instruments.parquet")
for file in ("instruments.vec", "instruments.parquet"):
    back = treeball.import_vectors(out / file, places.hierarchy)
    print(f"=> {file} reads back to the same bytes: {back.vectors.tobytes() == places.vectors.tobytes()}")
