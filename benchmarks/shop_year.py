"""A shop's year: 52 weekly exports of a catalogue, each brought into the model by ``treeball update``.

    python benchmarks/shop_year.py [--products 200000] [--weeks 52] [--dim 10] [--seed 0] [--every 1]

A generated catalogue: departments, categories and shelves, and products below shelves, few shelves with many and many
with few. A week brings 3,000 new products, 50 products that hang elsewhere, 20 that are gone and 10 with another label;
the export of every week is the whole table ``id,parent_id,name`` as CSV. Seconds are those of reading the export and of
the update, the exact check of all nodes included. MAP, mean rank and ill pairs are exact, and the vectors of all nodes
that the week does not concern are compared byte for byte.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import treeball

NEW, MOVED, GONE, RENAMED = 3000, 50, 20, 10


class Shop:
    """A catalogue that changes: parents and labels by id."""

    def __init__(self, products: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.parent: dict[str, str] = {"shop": ""}
        self.label: dict[str, str] = {"shop": "The shop"}
        self.made = 0
        self.shelves: list[str] = []
        for department in range(20):
            self._add(f"d{department}", "shop")
            for category in range(10):
                self._add(f"c{department}.{category}", f"d{department}")
                for shelf in range(int(self.rng.integers(3, 20))):
                    self.shelves.append(f"s{department}.{category}.{shelf}")
                    self._add(self.shelves[-1], f"c{department}.{category}")
        # Shelves are of very different size.
        weight = self.rng.pareto(1.2, len(self.shelves)) + 0.1
        self.share = weight / weight.sum()
        self._stock(products)

    def _add(self, name: str, parent: str) -> None:
        self.parent[name], self.label[name] = parent, f"{name} of {self.label[parent] if parent else ''}"[:40]

    def _stock(self, number: int) -> None:
        for shelf in self.rng.choice(len(self.shelves), number, p=self.share).tolist():
            self.made += 1
            self._add(f"p{self.made}", self.shelves[shelf])

    def week(self) -> set[str]:
        """Let a week pass; -> the nodes that have moved."""
        products = [name for name in self.parent if name.startswith("p")]
        chosen = [products[i] for i in self.rng.choice(len(products), MOVED + GONE + RENAMED, replace=False).tolist()]
        moved, gone, renamed = chosen[:MOVED], chosen[MOVED : MOVED + GONE], chosen[MOVED + GONE :]
        for name in gone:
            del self.parent[name], self.label[name]
        for name in moved:
            others = [shelf for shelf in self.shelves if shelf != self.parent[name]]
            self.parent[name] = others[int(self.rng.integers(len(others)))]
        for name in renamed:
            self.label[name] += " (new)"
        self._stock(NEW)
        return set(moved)

    def export(self, path: Path) -> None:
        """Write the whole table."""
        rows = (f'{name},{parent},"{self.label[name]}"\n' for name, parent in self.parent.items())
        path.write_text("id,parent_id,name\n" + "".join(rows))


def main() -> None:
    """Print a line a week."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--products", type=int, default=200_000)
    parser.add_argument("--weeks", type=int, default=52)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="print every so many weeks")
    arguments = parser.parse_args()
    shop = Shop(arguments.products, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        export, saved = Path(folder) / "export.csv", Path(folder) / "model.parquet"
        shop.export(export)
        started = time.perf_counter()
        model = treeball.fit(export, dim=arguments.dim)
        print(f"fit: {len(model):,} nodes in {time.perf_counter() - started:.1f} s, MAP {model.evaluate().map:.4f}\n")
        print(
            "| week | nodes | new | moved | gone | relabelled | seconds | MAP | mean rank | ill | others moved | MB |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for week in range(1, arguments.weeks + 1):
            moved = shop.week()
            shop.export(export)
            started = time.perf_counter()
            made = treeball.update(model, export)
            seconds = time.perf_counter() - started
            made.embedding.save(saved)
            changes, scores = made.changes, made.embedding.evaluate()
            edit = changes.edit
            stays = (edit.origin >= 0) & ~np.isin(np.array(edit.hierarchy.names), list(moved))
            same = (made.embedding.vectors[stays] == model.vectors[edit.origin[stays]]).all(axis=1)
            if week % arguments.every == 0 or week == arguments.weeks:
                print(
                    f"| {week} | {len(made.embedding):,} | {len(changes.added):,} | {len(changes.moved)} "
                    f"| {len(changes.removed)} | {len(changes.relabelled)} | {seconds:.1f} | {scores.map:.4f} "
                    f"| {scores.mean_rank:.3f} | {len(scores.illness):,} | {int((~same).sum()):,} "
                    f"| {saved.stat().st_size / 1e6:.1f} |",
                    flush=True,
                )
            model = treeball.load(saved)


if __name__ == "__main__":
    main()
