"""Index: an approximate search for the nearest nodes, memory-mapped from a file beside the model.

A graph of links between near nodes is walked towards a node by the true distance of the embedding. What it finds is
sorted by exact distances; what it misses is measured when it is built, and stored with it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Hashable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import require_whole
from ..errors import InputError
from ..io.atomic import atomic_write
from ..limits import TIE
from ..types import Floats, Ints
from ..workers import thread_count
from .index_graph import Graph

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["Index", "IndexFacts", "build", "index_file", "load"]


NEIGHBORS = 10
_SAMPLE = 2_000
# Found beyond those asked for: the node itself, and ties that float32 cannot tell apart.
_SPARE = 8
# 2 serves trees in few dimensions best; 3 finds more where there is less order, at twice the time.
_FLATNESS = (2, 3)
# With less than 64, a few searches go astray and find nothing right: too few for a sample to tell.
_EXPANSIONS = (64, 128, 256, 512, 1024, 2048)
# A file is that of usearch, then the facts as JSON, their length in 8 bytes, and this mark.
_MARK = b"TREEBALL"
_AGAIN = "build it again with  treeball index MODEL"


@dataclass(frozen=True)
class IndexFacts:
    """What is known of an index.

    Attributes
    ----------
    model
        SHA-256 of the vectors that it was built from.
    nodes
        How many it can find: all but an added root.
    links
        How many a node may have; twice as many on the lowest level.
    flatness
        Of the order that links are drawn by; see :mod:`treeball.engine.cpu.index_metric`.
    expansion
        Candidates that a search for up to 10 nodes keeps; for more nodes in proportion.
    wanted
        The recall it was to reach.
    recall, sampled
        Recall@10 against exact search, on so many random nodes: the share of what is found that is no farther than the
        true 10th nearest node, up to one part in 10⁹, for nodes at the same distance are as good as each other.
    microseconds, exact_microseconds
        Time of one of those searches on one thread, all asked for at once, beside that of the exact search.
    """

    model: str
    nodes: int
    links: int
    flatness: int
    expansion: int
    wanted: float
    recall: float = 0.0
    sampled: int = 0
    microseconds: float = 0.0
    exact_microseconds: float = 0.0

    def sentence(self) -> str:
        """For a person: how good it is."""
        return (
            f"recall@{NEIGHBORS} {self.recall:.4f} on {self.sampled:,} nodes; {self.microseconds:.0f} µs a node, exact "
            f"search {self.exact_microseconds:.0f} µs"
        )

    def warnings(self) -> list[str]:
        """Sentences that a person should read before relying on it."""
        said = []
        if self.recall < self.wanted:
            said.append(f"recall@{NEIGHBORS} {self.wanted:g} could not be reached: allow more links, or search exactly")
        if self.exact_microseconds <= self.microseconds:
            said.append("exact search, which needs no index, is faster for this model")
        return said


class Index:
    """An approximate index over the nodes of an embedding; made by :func:`build` or :func:`load`.

    Attributes
    ----------
    embedding : Embedding
    facts : IndexFacts
    """

    def __init__(self, embedding: Embedding, graph: Graph, facts: IndexFacts) -> None:
        self.embedding = embedding
        self.facts = facts
        self._graph = graph
        self._coordinates, self._factor = embedding.ranking_coordinates()

    def __repr__(self) -> str:
        return f"<Index of {self.facts.nodes:,} nodes, {self.facts.sentence()}>"

    def neighbors(self, name: Any, k: int = NEIGHBORS) -> Any:
        """The k nearest other nodes that are found, as :meth:`treeball.Embedding.neighbors` gives them."""
        require_whole("k", k, 1)
        names = self.embedding.names
        asked = [name] if isinstance(name, Hashable) else list(name)
        codes, distances = self.nearest(np.array([names.index_of(one) for one in asked], np.int64), int(k))
        answers = [
            list(zip(names.take(row[row >= 0]), far[row >= 0].tolist(), strict=True))
            for row, far in zip(codes, distances, strict=True)
        ]
        return answers[0] if isinstance(name, Hashable) else answers

    def nearest(self, nodes: Ints, k: int, *, threads: int = 0) -> tuple[Ints, Floats]:
        """Codes and distances (m, k) of the nearest other nodes found for codes (m,), nearest first, ties by code.

        -1 and inf stand where fewer are found. `threads` of 0 uses all cores.
        """
        k = min(k, len(self.embedding))
        rows = np.column_stack([self._coordinates[nodes], self._factor[nodes]])
        expansion = max(self.facts.expansion, self.facts.expansion * k // NEIGHBORS)
        found = self._graph.search(rows, k + _SPARE, expansion, thread_count(threads))
        missing = (found < 0) | (found == nodes[:, None])
        distances = np.where(missing, np.inf, self.embedding.distances_between(nodes[:, None], found))
        order = np.lexsort((found, distances))[:, :k]
        codes = np.take_along_axis(np.where(missing, -1, found), order, 1)
        return codes, np.take_along_axis(distances, order, 1)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the index, whole or not at all; :func:`load` maps it into memory, and so can usearch itself."""
        path = Path(path)
        text = json.dumps(asdict(self.facts)).encode()
        with atomic_write(path) as temporary:
            self._graph.save(temporary)
            with open(temporary, "ab") as file:
                file.write(text + len(text).to_bytes(8, "little") + _MARK)
        return path


def index_file(model: Path) -> Path:
    """Where the index of a model is: catalog.parquet has catalog.usearch."""
    return model.with_suffix(".usearch")


def build(embedding: Embedding, *, recall: float = 0.99, links: int = 32, seed: int = 0, threads: int = 0) -> Index:
    """Build an index, and widen its search until it finds what exact search finds.

    The expansion of the search is doubled until the lower end of the 95 % interval of the measured recall@10 reaches
    `recall`. If none does, all is done once more with links drawn by a flatter order; and if that is not enough, the
    better of the two is given, whose facts say what it reaches.

    Parameters
    ----------
    recall
        Recall@10 to reach, above 0 and at most 1.
    links
        Links of a node: more find more, and take more memory and time.
    seed
        Of the order in which nodes are added, and of the sample that recall is measured on.
    threads
        0 uses all cores.
    """
    if not 0 < recall <= 1:
        raise InputError(f"recall must be above 0 and at most 1, not {recall!r}")
    if not 2 <= links <= 512:
        raise InputError(f"links must be a whole number from 2 to 512, not {links!r}")
    require_whole("seed", seed, 0)
    codes = _findable(embedding)
    # In a random order: from the root outwards, the first nodes would use up the links that lead to the others.
    added = np.random.default_rng(seed).permutation(codes)
    rows = np.column_stack([array[added] for array in embedding.ranking_coordinates()])
    model, sample, tried = _identity(embedding), None, []
    for flatness in _FLATNESS:
        graph = Graph.build(added, rows, links, flatness, thread_count(threads))
        # Not before usearch is known to be there: exact search takes its time.
        sample = sample or _Sample(embedding, codes, seed)
        for expansion in _EXPANSIONS:
            index = Index(embedding, graph, IndexFacts(model, codes.size, links, flatness, expansion, recall))
            if sample.measure(index) >= recall:
                return index
        tried.append(index)
    return max(tried, key=lambda index: index.facts.recall)


def load(embedding: Embedding, path: str | os.PathLike[str]) -> Index:
    """Map the saved index of an embedding into memory; one of other vectors is refused."""
    path = Path(path)
    facts = _read_facts(path)
    if facts.model != _identity(embedding):
        raise InputError(f"the index {str(path)!r} was built from other vectors than the model has: {_AGAIN}")
    try:
        return Index(embedding, Graph.view(path, embedding.dim + 1, facts.links), facts)
    except RuntimeError as error:
        raise InputError(f"the index {str(path)!r} is damaged: {_AGAIN}") from error


class _Sample:
    """Some nodes with the distance of their true k-th nearest, to measure what an index finds of them."""

    def __init__(self, embedding: Embedding, codes: Ints, seed: int) -> None:
        self.nodes = np.sort(np.random.default_rng(seed).choice(codes, min(codes.size, _SAMPLE), replace=False))
        self.is_all = self.nodes.size == codes.size
        self.k = min(NEIGHBORS, codes.size)
        search, root = embedding.search_tree.nearest, embedding.hierarchy.virtual_root
        search(self.nodes[:1], self.k)  # compiles
        self.microseconds, (near, _) = self._time(search, self.k + 1)  # one more, for an added root is none
        far = np.where(near < 0, np.inf, embedding.distances_between(self.nodes[:, None], near))
        far = np.sort(np.where(near == (-1 if root is None else root), np.inf, far), axis=1)[:, : self.k]
        self.there = np.isfinite(far).sum(axis=1)
        self.limit = np.where(np.isfinite(far), far, 0.0).max(axis=1) * (1.0 + TIE)

    def measure(self, index: Index) -> float:
        """Add recall and times to the facts of an index; the lower end of the 95 % interval of that recall."""
        microseconds, (_, distances) = self._time(index.nearest, self.k)
        right = (distances <= self.limit[:, None]).sum(axis=1)
        share = np.where(self.there > 0, right / np.maximum(self.there, 1), 1.0)
        recall = float(share.mean())
        index.facts = replace(
            index.facts,
            recall=recall,
            sampled=self.nodes.size,
            microseconds=microseconds,
            exact_microseconds=self.microseconds,
        )
        return recall if self.is_all else recall - 1.96 * float(share.std()) / math.sqrt(self.nodes.size)

    def _time(self, search: Any, k: int) -> tuple[float, Any]:
        """Microseconds a node that a search takes on one thread, and what it finds."""
        started = time.perf_counter()
        found = search(self.nodes, k, threads=1)
        return (time.perf_counter() - started) / self.nodes.size * 1e6, found


def _findable(embedding: Embedding) -> Ints:
    """Codes of all nodes but an added root."""
    codes, root = np.arange(len(embedding)), embedding.hierarchy.virtual_root
    return codes if root is None else np.delete(codes, root)


def _identity(embedding: Embedding) -> str:
    """SHA-256 of what an index depends on."""
    return hashlib.sha256(embedding.geometry.encode() + embedding.vectors.tobytes()).hexdigest()


def _read_facts(path: Path) -> IndexFacts:
    if not path.is_file():
        raise InputError(f"there is no index {str(path)!r}: build it with  treeball index MODEL")
    tail = 8 + len(_MARK)
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - tail))
        ending = file.read()
        length = int.from_bytes(ending[:8], "little") if ending[8:] == _MARK else 0
        file.seek(max(0, size - tail - length))
        text = file.read(min(length, size))
    try:
        return IndexFacts(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise InputError(f"{str(path)!r} is no index of treeball, or is damaged: {_AGAIN}") from error
