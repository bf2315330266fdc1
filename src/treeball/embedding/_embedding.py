"""Embedding: the vectors of a hierarchy's nodes, what made them, and the questions they answer."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..checks import require_choice, require_whole
from ..engine import DEVICES, Device
from ..errors import InputError
from ..geometry import half_space
from ..geometry.spaces import Space, space_of
from ..hierarchy import Hierarchy
from ..hierarchy.labels import Labels
from ..hierarchy.names import Names
from ..limits import UNIT_ROUNDOFF
from ..nearest import search_tree
from ..types import Floats, Geometry, Ints, Objective
from . import _precise
from ._named_vectors import in_order_of, numbers, rows_without_names
from ._provenance import Provenance
from ._questions import Questions
from ._suggest_parent import Suggestion, suggest_parent

if TYPE_CHECKING:
    from ..engine.cpu.search_tree import SearchTree
    from ..engine.cpu.term_search import TermSearch
    from ..evaluation import Comparison, Evaluation
    from ..evaluation.scores import Score
    from ..io.vectors import Export
    from ..methods import Healing, Insertion
    from ..report.diagnose import Diagnosis
    from ..types import Coordinates

_NUMBERS_AT_ONCE = 4_000_000


class Embedding(Questions):
    """Vectors for the nodes of a hierarchy; the result of :func:`treeball.fit` and :func:`treeball.load`.

    Attributes
    ----------
    vectors : float64 (n, dim), or (n, dim + 1) for the geometry lorentz, time first
        Read-only; row i belongs to ``hierarchy.names[i]``. Rows given as a DataFrame or a mapping are refused if their
        names come in another order: see :meth:`from_vectors`.
    hierarchy : Hierarchy
    space : Space
        Where they live; see :mod:`treeball.geometry.spaces`. Given by its name, the geometry.
    provenance : Provenance
        What made the vectors: method, objective, all settings, seed, version, input and its SHA-256, scores.
    spare : float64 (n, some) or None
        Coordinates beyond the dimensions that an unfinished training has for a while; only resuming needs them.
    precise : float64 (terms, n, dim) or None
        Coordinates of 2 or 4 terms in the half-space, see :mod:`treeball.geometry.half_space`; `vectors` are what they
        round to. Distances, ranks and neighbours come from them where they are there.
    reach : float64 (n,)
        The positives of node i (its parents or all its ancestors, by the objective) are the nodes at most ``reach[i]``
        far from it, where no pair is ill; see :attr:`reach`. Computed on first use unless given.
    """

    def __init__(
        self,
        vectors: Any,
        hierarchy: Hierarchy,
        geometry: Geometry = "poincare",
        provenance: Provenance | None = None,
        *,
        spare: Floats | None = None,
        reach: Floats | None = None,
        precise: Floats | None = None,
    ) -> None:
        space = space_of(geometry)
        given = numbers(rows_without_names(vectors, hierarchy), "the vectors")
        roundoff = _roundoff(given)
        points: Floats = np.array(given, np.float64, order="C")
        if points.ndim != 2 or points.shape[0] != hierarchy.n_nodes:
            raise InputError(
                f"the vectors have shape {points.shape}, but the hierarchy has {hierarchy.n_nodes:,} nodes: "
                "give one row per node"
            )
        _require_points(points, hierarchy, space, roundoff)
        if roundoff > UNIT_ROUNDOFF:
            points = space.made_exact(points)
        points.flags.writeable = False
        self.vectors = points
        self.hierarchy = hierarchy
        self.space = space
        self.provenance = Provenance() if provenance is None else provenance
        if not isinstance(self.provenance, Provenance):
            raise InputError(f"the provenance must be a treeball.Provenance, not a {type(provenance).__name__}")
        self.spare = None if spare is None else np.array(spare, np.float64)
        self.precise = None if precise is None else _precise.checked(precise, points.shape, space)
        self._evaluations: dict[Objective, Evaluation] = {}
        if reach is not None:
            self.reach = _checked_reach(reach, hierarchy)

    @classmethod
    def from_vectors(
        cls,
        names: Iterable[Hashable],
        vectors: Any,
        hierarchy: Hierarchy,
        geometry: Geometry = "poincare",
        provenance: Provenance | None = None,
    ) -> Self:
        """The embedding of vectors that come in any order, by their names.

        Parameters
        ----------
        names
            Name (id) of the node of each row, each node once. A virtual root may be left out: it is put at the origin.
        vectors : (n, width)
            Array, tensor or lists of numbers.
        hierarchy, geometry, provenance
            As for `Embedding` itself.

        Raises
        ------
        InputError
            If a name comes twice or is no node, if a node has no vector, or if there are more or fewer rows than names.
        """
        listed = names if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        rows = in_order_of(hierarchy, listed)
        values = numbers(vectors, "the vectors")
        if values.ndim != 2 or len(values) != len(list(listed)):
            raise InputError(
                f"there are {len(list(listed)):,} names for vectors of shape {values.shape}: give one row per name"
            )
        ordered = values[rows]
        if hierarchy.virtual_root is not None and rows[hierarchy.virtual_root] < 0:
            space = space_of(geometry)
            ordered[hierarchy.virtual_root] = space.origin(space.dim(values.shape[1]))
        return cls(ordered, hierarchy, geometry, provenance)

    # ---- shape and names ----

    @property
    def dim(self) -> int:
        """Dimension of the space."""
        return self.space.dim(int(self.vectors.shape[1]))

    @property
    def geometry(self) -> Geometry:
        """Name of its space: ``"poincare"``, ``"lorentz"``, ``"half-space"`` or ``"euclidean"``."""
        return self.space.name

    @property
    def precision(self) -> int:
        """How many float64 each coordinate is the sum of: 1, or 2 or 4 where there are `precise` ones."""
        return 1 if self.precise is None else len(self.precise)

    def rounded(self) -> Embedding:
        """The plain vectors alone, without what more terms hold; itself if there are none."""
        if self.precise is None:
            return self
        return Embedding(self.vectors, self.hierarchy, self.geometry, self.provenance.without_scores())

    def require_one_term(self, who: str) -> None:
        """Refuse coordinates of several terms in one sentence that begins with `who`."""
        if self.precise is not None:
            raise InputError(
                f"{who} works on coordinates of one term, and these have {self.precision}: round them first, "
                "with  treeball export MODEL -o plain.parquet"
            )

    @property
    def objective(self) -> Objective:
        """Which nodes are positives: parents unless its provenance says ancestors; see :attr:`keeps_distances`."""
        return "parents" if self.keeps_distances else self.provenance.objective

    @property
    def keeps_distances(self) -> bool:
        """Whether it was made for the objective distances: those between nodes are to be as the paths are long."""
        return self.provenance.objective == "distances"

    @property
    def names(self) -> Names:
        """Names of the nodes, ids where they have ids, in the order of the vectors."""
        return self.hierarchy.names

    @property
    def labels(self) -> Labels:
        """What people call the nodes, in the order of the vectors: text, None where there is no label."""
        return self.hierarchy.labels

    def find(self, name: Hashable) -> Hashable:
        """The name (id) of the node that `name` means: an id, a label, a synonym, or ``label [id]``.

        Wherever a node is asked for, all of these do. InputError names the candidates where it may be any of several.
        """
        return self.names[self.names.find(name)]

    def label_of(self, name: Hashable) -> str | None:
        """The label of a node; None where it has none."""
        return self.labels[self.names.find(name)]

    def __len__(self) -> int:
        return self.hierarchy.n_nodes

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.hierarchy.names)

    def __contains__(self, name: Hashable) -> bool:
        return len(self.hierarchy.names.look_up(name)) == 1

    def __getitem__(self, name: Hashable) -> Floats:
        return np.asarray(self.vectors[self.hierarchy.names.find(name)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The vectors, for `numpy.asarray`; read-only unless they are copied."""
        if copy is False and dtype is not None and np.dtype(dtype) != self.vectors.dtype:
            raise ValueError(f"the vectors are float64: as {np.dtype(dtype)} they must be copied")
        return np.array(self.vectors, dtype) if copy else np.asarray(self.vectors, dtype)

    def __repr__(self) -> str:
        method = self.provenance.method or "unknown method"
        return f"<Embedding of {len(self):,} nodes, {self.geometry} dim {self.dim}, {method}>"

    # ---- distances; what else one can ask is in `_questions` ----

    def distances_between(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> Floats:
        """Distances of pairs of nodes given by their codes, which broadcast."""
        first, second = np.broadcast_arrays(first, second)
        if self.precise is not None:
            return _precise.distances(self.precise, first.ravel(), second.ravel()).reshape(first.shape)
        result = np.empty(first.size)
        # A block at a time: millions of pairs would else be copied, vectors and all, at once.
        step = max(1, _NUMBERS_AT_ONCE // self.vectors.shape[1])
        for begin in range(0, first.size, step):
            part = slice(begin, begin + step)
            result[part] = self.space.distance(self.vectors[first.flat[part]], self.vectors[second.flat[part]])
        return result.reshape(first.shape)

    def ball(self) -> Floats:
        """Coordinates in the Poincaré ball, (n, dim), of an embedding in hyperbolic space."""
        return self.space.to_ball(self.vectors)

    @cached_property
    def search_tree(self) -> SearchTree | TermSearch:
        """Exact index over all nodes, built on first use; a virtual root is in it."""
        return search_tree(*self.ranking_coordinates())

    @cached_property
    def reach(self) -> Floats:
        """Reach of every node, (n,): its positives are the nodes at most so far from it, where no pair is ill.

        It is the middle between the farthest positive and the nearest other node; of a node with an ill pair, what
        makes the fewest mistakes. A reach of 0 has nobody within: that of a root. See :meth:`read_back`.
        """
        from ..evaluation import reaches

        return _checked_reach(reaches(self), self.hierarchy)

    def known_reach(self) -> Floats | None:
        """The reach if it is known or follows at once from ranks that are; None where it would take a ranking."""
        return self.reach if "reach" in vars(self) or self.has_exact_ranks else None

    def quick_reach(self) -> Floats | None:
        """The reach if it is known or soon computed; None for what is large and has several positives a node."""
        from ..evaluation import EXACT_UP_TO_NODES

        # Coordinates of several terms are compared all with all.
        has_one_positive = self.hierarchy.is_tree and self.objective == "parents" and self.precise is None
        return self.reach if has_one_positive or len(self) <= EXACT_UP_TO_NODES else self.known_reach()

    @property
    def has_exact_ranks(self) -> bool:
        """Whether the ranks of all positives are known, from an evaluation for the objective of the embedding."""
        return self.objective in self._evaluations

    def read_back(self) -> Hierarchy:
        """The hierarchy that distances and reaches show: every node below the nodes within its :attr:`reach`.

        Without illness it is the true one; in a model made for the objective ancestors without the edges that others
        imply, such as one to a grandparent, which distances to all ancestors do not show.
        """
        return self._read_back

    @property
    def is_read_back(self) -> bool:
        """Whether :meth:`read_back` has its answer at hand."""
        return "_read_back" in vars(self)

    @cached_property
    def _read_back(self) -> Hierarchy:
        from ._read_back import read_back

        return read_back(self)

    def radii(self) -> Floats:
        """Distance of every node from the origin, (n,)."""
        return self.space.radius(self.vectors) if self.precise is None else _precise.radii(self.precise)

    def radii_of(self, codes: Ints) -> Floats:
        """Distances of some nodes from the origin, (m,)."""
        if self.precise is not None:
            return _precise.radii(self.precise, codes)
        return self.space.radius(self.vectors[codes])

    def _distances_from(self, code: int) -> Floats:
        if self.precise is not None:
            return self.distances_between(np.array([code]), np.arange(len(self)))
        return self.space.distance(self.vectors[code], self.vectors)

    def ranking_coordinates(self) -> tuple[Floats, Floats]:
        """Coordinates x (n, d) and factors f (n,) such that ``|x_u - x_v|^2 f_v`` orders v like the distance from u.

        Those of several terms are x (terms, n, d).
        """
        if self.precise is not None:
            return half_space.ranking_coordinates(self.precise)
        return self.space.ranking_coordinates(self.vectors)

    def with_provenance(self, provenance: Provenance) -> Embedding:
        """The same vectors with another record of what made them."""
        twin = copy(self)
        twin.provenance = provenance
        if provenance.objective != self.objective:  # other positives, other reaches
            vars(twin).pop("reach", None)
            vars(twin).pop("_read_back", None)
        return twin

    # ---- scores and files ----

    def evaluate(
        self,
        objective: Objective | None = None,
        *,
        sample: int | None = None,
        seed: int = 0,
        threads: int = 0,
        score: Score | None = None,
        device: Device = "auto",
    ) -> Evaluation:
        """Scores against the hierarchy; see :func:`treeball.evaluate`. Exact ones are kept.

        They are those of all nodes: whoever leaves the sample to us, or asks for none, gets them again at once.
        """
        from ..evaluation import evaluate

        require_whole("seed", seed, 0)
        require_whole("threads", threads, 0)
        require_choice("device", device, DEVICES)
        objective = self.objective if objective in (None, "distances") else objective
        if score is None and sample in (None, 0) and objective in self._evaluations:
            return self._evaluations[objective]
        evaluation = evaluate(self, objective, sample=sample, seed=seed, threads=threads, score=score, device=device)
        if score is None and evaluation.ranking.is_exact:
            self._evaluations[objective] = evaluation
        return evaluation

    def keep_scores(self, evaluation: Evaluation) -> None:
        """Spare :meth:`evaluate` the work: exact scores of these very vectors, computed already."""
        self._evaluations[evaluation.objective] = evaluation

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a self-describing Parquet file, whole or not at all; :func:`treeball.load` reads it back.

        Names are saved as text; integers come back as integers, other ids (tuples, dates, ...) as their text. If
        another program has changed the file since this one loaded it, InputError says so and the file stays, unless
        `overwrite` is true.
        """
        from ..addresses import as_path
        from ..io.model_file import save

        return save(self, as_path(path), overwrite=overwrite)

    def export(self, path: str | os.PathLike[str], **options: Any) -> Export:
        """Write the vectors for other tools; see :func:`treeball.io.vectors.export`."""
        from ..addresses import as_path
        from ..io.vectors import export

        return export(self, as_path(path), **options)

    def heal(self, **options: Any) -> Healing:
        """Mend the ill pairs, in a new embedding; see :func:`treeball.heal`."""
        from ..methods import heal

        return heal(self, **options)

    def diagnose(self, **options: Any) -> Diagnosis:
        """Which nodes are ill, of what, why, and what would treat it; see :func:`treeball.diagnose`."""
        from ..report.diagnose import diagnose

        return diagnose(self, **options)

    def compare(self, other: Embedding, **options: Any) -> Comparison:
        """What moved, fell ill and was healed on the way to another embedding; see :func:`treeball.compare`."""
        from ..evaluation import compare

        found: Comparison = compare(self, other, **options)
        return found

    def suggest_parent(self, near: Hashable | Sequence[Hashable], k: int = 10) -> list[Suggestion]:
        """Candidate parents of a new node that is near to some; see :func:`treeball.suggest_parent`."""
        return suggest_parent(self, near, k)

    def insert(self, edges: Any = None, **options: Any) -> Insertion:
        """Add nodes, or remove, rename and move some, in a new embedding; see :func:`treeball.insert`."""
        from ..methods import insert

        return insert(self, edges, **options)

    def to_pandas(self, coordinates: Coordinates | None = None) -> Any:
        """A DataFrame with a row for each node; see :func:`treeball.io.frames.to_pandas`."""
        from ..io.frames import to_pandas

        return to_pandas(self, coordinates)

    def to_networkx(self) -> Any:
        """A directed graph child -> parent with vectors and distances; see :func:`treeball.io.frames.to_networkx`."""
        from ..io.frames import to_networkx

        return to_networkx(self)


def _require_points(vectors: Floats, hierarchy: Hierarchy, space: Space, roundoff: float) -> None:
    """One vector at the rim, with a NaN or too long to be squared would poison every distance: refuse it by name."""
    if space.is_hyperbolic and space.dim(vectors.shape[1]) < 2:
        raise InputError(
            f"hyperbolic space has at least 2 dimensions, and these vectors are of {space.dim(vectors.shape[1])}: "
            "make them in more"
        )
    finite = np.asarray(np.isfinite(vectors).all(axis=1))
    with np.errstate(over="ignore", invalid="ignore"):
        squares = 4.0 * np.einsum("ij,ij->i", vectors, vectors)  # two of them may be as far apart as twice their length
    usable = np.isfinite(squares)
    wrong, why = space.outside(np.where(usable[:, None], vectors, 0.0), roundoff)
    wrong |= ~usable
    if wrong.any():
        code = int(np.flatnonzero(wrong)[0])
        what = why if usable[code] else "is too long for distances in float64" if finite[code] else "is not finite"
        raise InputError(
            f"the vector of {hierarchy.names[code]!r} {what} ({int(wrong.sum()):,} such): "
            "scale the vectors into the space, or name their geometry"
        )


def _checked_reach(reach: Floats, hierarchy: Hierarchy) -> Floats:
    """Reaches as they are kept, read-only; InputError unless there is one for each node, and 0 for the root."""
    count = hierarchy.n_nodes
    reach = np.array(reach, np.float64)
    if reach.shape != (count,) or not (np.isfinite(reach) & (reach >= 0.0)).all():
        raise InputError(f"there must be a reach for each of {count:,} nodes, finite and not negative: leave them out")
    if reach[hierarchy.root] != 0.0:
        raise InputError(
            f"the root has a reach of {reach[hierarchy.root]:g}, and nobody above it: leave the reaches out"
        )
    reach.flags.writeable = False
    return reach


def _roundoff(vectors: Any) -> float:
    """Relative rounding of the numbers given, by which a point of the hyperboloid is judged."""
    dtype = np.asarray(vectors).dtype
    return float(np.finfo(dtype).eps) / 2 if dtype.kind == "f" else UNIT_ROUNDOFF
