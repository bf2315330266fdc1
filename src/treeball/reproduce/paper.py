"""What the paper prints, as data: its five result tables, its table of data sets, the settings its appendix states.

Wang et al., *A Geometry-Aware Algorithm to Learn Hierarchical Embeddings in Hyperbolic Space* (2021).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of a result table; None where the paper prints no figure."""

    dim: int
    method: str
    mean_rank: float | None
    map: float | None
    capacity: int | None
    intra_subtree: int | None
    inter_subtree: int | None


@dataclass(frozen=True)
class Shape:
    """One line of the table of data sets; the column that the text calls variance is a standard deviation."""

    title: str
    nodes: int
    edges: int
    max_degree: int
    std_degree: float
    depth: int


@dataclass(frozen=True)
class Training:
    """Learning rate, batch size and number of negatives, as stated for all algorithms on one data set."""

    lr: float
    batch: int
    negatives: int


ETA_TC = 0.2
N_TC = 300
SYNTHETIC_EPOCHS = 3000
SYNTHETIC_DIM = 2

TRAINING = {
    "synthetic": Training(lr=0.5, batch=50, negatives=50),
    "yelp": Training(lr=1.0, batch=10, negatives=50),
    "verbs": Training(lr=1.0, batch=10, negatives=50),
    "nouns": Training(lr=1.0, batch=50, negatives=50),
    "catalog": Training(lr=1.0, batch=10, negatives=50),
    "closure": Training(lr=1.0, batch=50, negatives=50),
}

SHAPES = {
    "yelp": Shape("Yelp Challenge (T)", 1587, 1586, 194, 7.9, 4),
    "catalog": Shape("Commodity Catalog (T)", 134812, 134811, 726, 26.4, 6),
    "verbs": Shape("WordNet Verbs (T)", 13542, 13541, 361, 9.1, 12),
    "nouns": Shape("WordNet Nouns (T)", 82115, 82114, 666, 6.6, 15),
    "closure": Shape("WordNet Nouns (C)", 82115, 769130, 82114, 913.6, 15),
}

# The figures as the compiled paper numbers them: in the order in which they stand in it, the appendix last. Those of
# the ablations are drawings without numbers.
FIGURES = {
    "embeddings": "figure-1",
    "process": "figure-2",
    "illness": "figure-3",
    "weights": "figure-4",
    "parts": "figure-5",
}

# Section 6 gives this one in its text.
_SYNTHETIC = (Row(2, "ga-dl-rw", None, 0.998, None, None, None),)

_YELP = (
    Row(2, "euclidean", 27.612, 0.107, 1440, 82, 28),
    Row(2, "poincare", 1.681, 0.855, 292, 45, 64),
    Row(2, "lorentz", 1.520, 0.894, 163, 47, 74),
    Row(2, "ga-dl", 1.351, 0.926, 86, 65, 47),
    Row(2, "ga-dl-rw", 1.202, 0.914, 162, 54, 37),
    Row(5, "euclidean", 11.320, 0.326, 1236, 9, 44),
    Row(5, "poincare", 1.063, 0.988, 1, 0, 28),
    Row(5, "lorentz", 1.101, 0.984, 1, 11, 26),
    Row(5, "ga-dl", 1.062, 0.987, 3, 9, 20),
    Row(5, "ga-dl-rw", 1.030, 0.989, 3, 9, 18),
    Row(10, "euclidean", 1.528, 0.910, 183, 1, 14),
    Row(10, "poincare", 1.042, 0.990, 0, 0, 25),
    Row(10, "lorentz", 1.064, 0.987, 0, 9, 23),
    Row(10, "ga-dl", 1.051, 0.989, 1, 5, 21),
    Row(10, "ga-dl-rw", 1.015, 0.993, 5, 6, 9),
)

_VERBS = (
    Row(2, "euclidean", 66.302, 0.124, 7366, 3778, 1879),
    Row(2, "poincare", 8.088, 0.521, 4826, 2582, 1683),
    Row(2, "lorentz", 6.875, 0.448, 5459, 1769, 2812),
    Row(2, "ga-dl", 8.319, 0.510, 5023, 2361, 1908),
    Row(2, "ga-dl-rw", 3.559, 0.563, 4543, 2741, 1399),
    Row(5, "euclidean", 21.245, 0.295, 10383, 1273, 277),
    Row(5, "poincare", 2.329, 0.854, 235, 2321, 454),
    Row(5, "lorentz", 2.389, 0.853, 285, 2277, 468),
    Row(5, "ga-dl", 2.195, 0.878, 211, 1443, 920),
    Row(5, "ga-dl-rw", 1.722, 0.841, 378, 1306, 1893),
    Row(10, "euclidean", 6.240, 0.677, 4205, 1424, 300),
    Row(10, "poincare", 1.950, 0.856, 232, 2322, 457),
    Row(10, "lorentz", 1.945, 0.855, 257, 2338, 441),
    Row(10, "ga-dl", 1.654, 0.884, 184, 1456, 828),
    Row(10, "ga-dl-rw", 1.654, 0.842, 241, 1255, 2110),
)

_NOUNS = (
    Row(5, "euclidean", 151.321, 0.235, 46563, 21942, 2993),
    Row(5, "poincare", 71.271, 0.322, 48844, 17293, 438),
    Row(5, "lorentz", 74.625, 0.230, 50950, 18777, 311),
    Row(5, "ga-dl", 19.313, 0.481, 35119, 21158, 444),
    Row(5, "ga-dl-rw", 2.869, 0.697, 13394, 23907, 27),
    Row(10, "euclidean", 23.113, 0.278, 23978, 31018, 15745),
    Row(10, "poincare", 41.014, 0.324, 49152, 17276, 154),
    Row(10, "lorentz", 38.395, 0.241, 50986, 18690, 100),
    Row(10, "ga-dl", 7.900, 0.754, 10647, 13547, 5551),
    Row(10, "ga-dl-rw", 2.738, 0.722, 9483, 24844, 32),
)

_CATALOG = (
    Row(5, "euclidean", 163.044, 0.024, 132276, 1480, 700),
    Row(5, "poincare", 86.759, 0.063, 130479, 2001, 174),
    Row(5, "lorentz", 50.393, 0.082, 127437, 1968, 238),
    Row(5, "ga-dl", 5.405, 0.745, 49837, 1971, 301),
    Row(5, "ga-dl-rw", 2.951, 0.683, 56922, 7711, 26),
    Row(10, "euclidean", 59.133, 0.052, 131806, 1676, 289),
    Row(10, "poincare", 67.283, 0.071, 130212, 1998, 147),
    Row(10, "lorentz", 36.836, 0.112, 124366, 1964, 196),
    Row(10, "ga-dl", 2.167, 0.978, 1871, 1861, 390),
    Row(10, "ga-dl-rw", 2.015, 0.881, 19902, 5525, 26),
)

_CLOSURE = (
    Row(10, "poincare", 4.736, 0.772, 46192, 151324, 9942),
    Row(10, "ga-dl", 4.788, 0.781, 41756, 144358, 11987),
    Row(10, "ga-dl-rw", 4.270, 0.797, 38277, 134541, 12575),
)

# By the names of our trees (treeball.reproduce.datasets): the catalogue has two stand-ins, and the synthetic tree
# that the text describes (781 nodes) has no printed score.
TABLES: dict[str, tuple[Row, ...]] = {
    "synthetic-156": _SYNTHETIC,
    "synthetic-781": (),
    "yelp": _YELP,
    "verbs": _VERBS,
    "nouns": _NOUNS,
    "catalog": _CATALOG,
    "catalog-matched": _CATALOG,
    "closure": _CLOSURE,
}


def row(tree: str, method: str, dim: int) -> Row | None:
    """The paper's line for a method and a dimension, or None where it has none."""
    return next((one for one in TABLES[tree] if (one.method, one.dim) == (method, dim)), None)
