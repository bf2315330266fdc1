"""A method of one's own: hyperbolic entailment cones, registered, trained, and evaluated by their own score.

Elif has read Ganea, Bécigneul and Hofmann (2018) and wants to try their idea. Every point u of the ball has a cone that
opens away from the origin, and what lies in the cone is below u. Distances do not count, only angles: v is in the cone
when the angle at u, between the ray from the origin through u and the way to v, is at most the half angle of the cone.

    pip install .                                                # in a clone of treeball
    python docs/examples/entailment_cones.py --out cones         # the mammals, which ship with treeball
    python docs/examples/entailment_cones.py --data verbs.tsv    # any file that treeball reads
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import treeball
from treeball.methods.descent import Epochs
from treeball.methods.first_vectors import contracted_construction
from treeball.methods.run import Run
from treeball.methods.settings import Settings

K = 0.1  # how wide cones are: the sine of the half angle at u is K (1 - |u|^2) / |u|
INNERMOST = 2 * K / (1 + np.sqrt(1 + 4 * K**2))  # the |u| where that is 1; nearer to the origin there are no cones


# 1. The formulas. All of them are functions of a = <u, v>, p = |u|^2 and q = |v|^2, and so are their derivatives.
def excess(a: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """The angle of v at u less the half angle of the cone of u, and its derivatives by a, p and q."""
    apart, mixed = np.maximum(p + q - 2 * a, 1e-15), 1 + p * q - 2 * a
    scale = np.sqrt(p * apart * mixed)
    cosine = np.clip((a * (1 + p) - p * (1 + q)) / scale, 1e-9 - 1, 1 - 1e-9)
    sine = np.minimum(K * (1 - p) / np.sqrt(p), 1 - 1e-9)
    outer = -1 / np.sqrt(1 - cosine**2)
    by_a = outer * ((1 + p) / scale + cosine * (1 / apart + 1 / mixed))
    by_p = outer * ((a - 1 - q) / scale - cosine * (1 / p + 1 / apart + q / mixed) / 2)
    by_p = by_p + K * (1 + p) / (2 * p**1.5 * np.sqrt(1 - sine**2))
    by_q = outer * (-p / scale - cosine * (1 / apart + p / mixed) / 2)
    return np.arccos(cosine) - np.arcsin(sine), by_a, by_p, by_q


# 2. The method: settings of its own, and a function that moves the vectors of a run and yields after every epoch.
@dataclass(frozen=True, kw_only=True)
class ConeSettings(Settings):
    """What the method uses; other settings are refused."""

    epochs: int = 300
    lr: float = 0.02
    negatives: int = 10
    margin: float = 0.1

    @property
    def epochs_to_train(self) -> int:
        """All epochs."""
        return self.epochs


def train(run: Run) -> Iterator[Epochs]:
    """Ancestors get a node into their cone, random nodes get it out of theirs by a margin: a hinge loss."""
    settings, points = run.settings, run.vectors
    ptr, ancestors = run.hierarchy.positives("ancestors")
    below = np.repeat(np.arange(len(points)), np.diff(ptr))
    if run.epoch == 0:
        points[:] = contracted_construction(run.hierarchy, settings.dim, 0.1, "ancestors", settings.seed)
        points += np.random.default_rng(settings.seed).normal(scale=1e-4, size=points.shape)  # none at the origin
    while run.epoch < settings.epochs:
        started, loss = time.perf_counter(), 0.0
        rng = np.random.default_rng([settings.seed, run.epoch])
        lr = settings.lr * (1 - run.epoch / settings.epochs)
        for part in np.array_split(rng.permutation(len(below)), 8):
            u = np.r_[ancestors[part], rng.integers(len(points), size=len(part) * settings.negatives)]
            v = np.r_[below[part], np.repeat(below[part], settings.negatives)]
            sign = np.where(np.arange(len(u)) < len(part), 1, -1)  # an ancestor, or a random node
            angle = np.maximum(0, excess(*inner_products(points[u], points[v]))[0])
            hinge = np.where(sign > 0, angle, np.maximum(0, settings.margin - angle))
            loss += float(hinge.sum())
            at_fault = (hinge > 0) & (u != v)
            u, v, sign = u[at_fault], v[at_fault], sign[at_fault]
            slopes = excess(*inner_products(points[u], points[v]))[1:]
            by_a, by_p, by_q = ((sign * slope)[:, None] for slope in slopes)
            gradient = np.zeros_like(points)
            np.add.at(gradient, u, by_a * points[v] + 2 * by_p * points[u])
            np.add.at(gradient, v, by_a * points[u] + 2 * by_q * points[v])
            gap = 1 - np.sum(points**2, 1, keepdims=True)
            step = lr * gap**2 / 4 * gradient  # the Riemannian gradient
            points -= step * np.minimum(1, 0.1 * gap / (np.linalg.norm(step, axis=1, keepdims=True) + 1e-30))
            length = np.linalg.norm(points, axis=1, keepdims=True)
            points *= np.clip(length, 1.001 * INNERMOST, 0.9999) / length
        run.epoch += 1
        run.loss = loss / len(below)
        yield Epochs(1, run.loss, 0, len(below), time.perf_counter() - started)


def inner_products(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.sum(u * v, -1), np.sum(u * u, -1), np.sum(v * v, -1)


treeball.register(treeball.Method("cones", train, settings=ConeSettings))


# 3. The score: how far each node is outside the cones of all others. Smaller is nearer.
def energy(embedding: treeball.Embedding, nodes: np.ndarray) -> np.ndarray:
    points = embedding.vectors
    squares = np.sum(points**2, 1)
    return excess(points[nodes] @ points.T, squares[None, :], squares[nodes, None])[0]


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--data", default="example:mammals", help="any file that treeball reads")
parser.add_argument("--dim", type=int, default=10)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-cones")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)

hierarchy = treeball.read(options.data)
print(hierarchy.report)
model = treeball.fit(hierarchy, method="cones", objective="ancestors", dim=options.dim, seed=options.seed)
model.save(options.out / "cones.parquet")

# 4. Ranks by the score instead of the distance, with the same definitions of MAP, mean rank and illness.
by_cones, by_distance = treeball.evaluate(model, score=energy), treeball.evaluate(model)
print(f"MAP for all ancestors: {by_cones.map:.3f} by cones, {by_distance.map:.3f} by distances")
print(f"=> above 0.9 by cones, below 0.2 by distances: {by_cones.map > 0.9 and by_distance.map < 0.2}")
name = "beagle.n.01" if "beagle.n.01" in model else model.names[-1]
code = model.names.index_of(name)
order = [other for other in np.argsort(energy(model, np.array([code]))[0]) if other != code]
print(f"{name} is deepest in the cones of {', '.join(str(model.names[other]) for other in order[:7])}")

# 5. A setting that the method does not use is refused, as for every other method.
try:
    treeball.fit(hierarchy, method="cones", burn_in=20)
except treeball.InputError as error:
    print(f"=> {error}")
