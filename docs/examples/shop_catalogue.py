"""A shop's catalogue: from the product table to a map of its categories, and how to keep it up to date.

Mara runs an online shop. Her product table has a column with a path of categories, and she wants to know which shelves
are next to each other, without reading a paper about hyperbolic space.

    pip install .      # in a clone of treeball
    python docs/examples/shop_catalogue.py --out shop
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import treeball
from treeball.report.browser import write_page

# Department > section: shelves. In a real shop these lines come out of a database.
SHELVES = """
Electronics > Audio: Headphones, Earbuds, Loudspeakers, Turntables, Microphones
Electronics > Computers: Laptops, Tablets, Monitors, Keyboards, Computer mice
Electronics > Phones: Smartphones, Phone cases, Chargers, Power banks
Electronics > Cameras: Compact cameras, System cameras, Lenses, Tripods
Kitchen > Cookware: Pans, Pots, Woks, Pressure cookers, Casserole dishes
Kitchen > Small appliances: Kettles, Toasters, Blenders, Coffee machines, Waffle irons
Kitchen > Tableware: Plates, Bowls, Cutlery, Glasses, Mugs
Garden > Tools: Spades, Rakes, Hoes, Secateurs, Wheelbarrows
Garden > Plants: Roses, Herbs, Fruit trees, Climbing plants, Bulbs
Garden > Watering: Hoses, Watering cans, Sprinklers, Rain barrels
Sports > Cycling: City bikes, E-bikes, Helmets, Bike locks, Bike lights
Sports > Hiking: Rucksacks, Hiking boots, Walking poles, Maps
Sports > Water sports: Kayaks, Wetsuits, Diving masks, Paddles
Home > Lighting: Ceiling lamps, Table lamps, Floor lamps, Fairy lights
Home > Textiles: Curtains, Rugs, Cushions, Bed linen, Towels
Home > Storage: Shelves, Boxes, Coat stands, Shoe racks
"""


def write_products(path: Path, shelves: str) -> None:
    """Two products on every shelf, as a shop would export them: an id, a path of categories, a price."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["sku", "category", "price"])
        for line in shelves.strip().splitlines():
            section, _, names = line.partition(": ")
            for name in names.split(", "):
                for number in (1, 2):
                    table.writerow([f"{name[:3].upper()}-{number}", f"{section} > {name}", 10 * number])


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-shop")
out = parser.parse_args().out
out.mkdir(parents=True, exist_ok=True)

# 1. Read the table as it is: treeball finds the column with the paths, and says what it understood.
write_products(out / "products.csv", SHELVES)
catalogue = treeball.read(out / "products.csv")
print(catalogue.report)

# 2. Give every category a place. Scores say how faithful that is: MAP 1 is every category nearest to its own parent.
model = treeball.fit(catalogue, dim=5, seed=0)
model.save(out / "catalogue.parquet")
scores = model.evaluate()
well = catalogue.n_edges - len(scores.illness)
print(f"=> MAP {scores.map:.4f}: {well} of {catalogue.n_edges} categories are nearest to their parent")

# 3. A map to walk through, in one file that needs no network.
write_page(model, out / "catalogue.html")
print(f"open {out / 'catalogue.html'} in a browser")

# 4. "Customers who look at woks": the nearest categories, of which only shelves are worth a link.
wok = "Kitchen > Cookware > Woks"
nearest = [name for name, _ in model.neighbors(wok, k=30)]
shelves = [name for name in nearest if not model.children_of(name, source="hierarchy")]
print(f"nearest to {wok}: {nearest[0]}, then {nearest[1]}")
print("shelves next to it:", ", ".join(str(name).rpartition(" > ")[2] for name in shelves[:4]))
print("=> all four are cookware:", all(str(name).startswith("Kitchen > Cookware > ") for name in shelves[:4]))

# 5. New categories come in on Monday. They are placed; nothing else moves, so whatever was computed stays valid.
winter = "Sports > Winter sports"
monday = [(winter, "Sports"), (f"{winter} > Skis", winter), (f"{winter} > Sledges", winter)]
insertion = model.insert(monday)
untouched = all((insertion.embedding[name] == model[name]).all() for name in model)
print(f"=> {insertion.note}; old places untouched: {untouched}")

# 6. Last year an intern trained Poincaré vectors in 2 dimensions. What is wrong with them, and can they be mended?
intern = treeball.fit(catalogue, method="poincare", dim=2, epochs=300, seed=0, deterministic=True)
diagnosis = treeball.diagnose(intern, model="intern.parquet")
worst = diagnosis.worst_nodes[0]
print(f"the intern's model: MAP {diagnosis.evaluation.map:.2f}. {worst.node}: {worst.sentence}")
print(f"diagnose says: {diagnosis.advice[0].command}")
print(f"=> healed, its MAP is {treeball.heal(intern).after.map:.4f}")

# 7. Sales wants the e-bikes among the electronics. A path is a name: the shelf is removed here and added there.
moved = SHELVES.replace("E-bikes, ", "") + "Electronics > E-mobility: E-bikes"
write_products(out / "reorganised.csv", moved)
anew = treeball.compare(model, treeball.fit(treeball.read(out / "reorganised.csv"), dim=5, seed=0))
print("added:", "; ".join(anew.changes.added))
print("removed:", "; ".join(anew.changes.removed))
section = "Electronics > E-mobility"
edges = [(section, "Electronics"), (f"{section} > E-bikes", section)]
edited = treeball.compare(model, model.insert(edges, remove=anew.changes.removed).embedding)
for how, one in (("fitted anew", anew), ("edited", edited)):
    print(f"{how}: {(one.moved > 0.01).sum()} of {one.changes.common} categories moved, MAP {one.scores['map'][1]:.4f}")
print("=> edited, nothing else moves:", (edited.moved < 0.01).all())
