"""The graph of an approximate index: what treeball needs of the library usearch, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np

from ..engine.cpu.index_metric import c_function
from ..errors import MissingExtraError
from ..types import Floats, Ints

__all__ = ["Graph"]


# Candidates that are kept where a node is added, for each link it may have.
_EXPANSION_OF_LINK = 6


class Graph:
    """Links between near rows, drawn by a flattened order and followed by the true one.

    Parameters
    ----------
    width
        Numbers in a row: coordinates and a factor, see :mod:`treeball.engine.cpu.index_metric`.
    links
        How many a row may have.
    flatness
        Of the order that links are drawn by.
    """

    def __init__(self, width: int, links: int, flatness: int) -> None:
        try:
            import usearch.index as library
        except ImportError:
            raise MissingExtraError("usearch", "ann", "an approximate index") from None
        self._library = library
        self._searching = Lock()
        self._index: Any = library.Index(
            ndim=width,
            metric=self._metric(flatness),
            dtype="f64",
            connectivity=links,
            expansion_add=_EXPANSION_OF_LINK * links,
            enable_key_lookups=False,
        )

    @classmethod
    def build(cls, codes: Ints, rows: Floats, links: int, flatness: int, threads: int) -> Self:
        """Link rows (n, width), added in this order; they are found as `codes` (n,)."""
        graph = cls(rows.shape[1], links, flatness)
        with _ctrl_c():
            graph._index.add(codes.astype(np.uint64), rows, threads=threads)
        graph._index.metric = graph._metric(0)
        return graph

    @classmethod
    def view(cls, path: Path, width: int, links: int) -> Self:
        """Map a saved graph into memory; RuntimeError when it is damaged."""
        graph = cls(width, links, 0)
        graph._index.view(path)
        # What usearch views has the metric that the file names, and it names none.
        graph._index.metric = graph._metric(0)
        return graph

    def save(self, path: Path) -> None:
        """Write a file of usearch."""
        self._index.save(path)

    def search(self, rows: Floats, count: int, expansion: int, threads: int) -> Ints:
        """Codes (m, count) found near rows (m, width), by distances rounded to float32; -1 where there are no more."""
        found = np.full((len(rows), count), -1, np.int64)
        if not found.size:
            return found
        # How wide to search is a setting of the whole index: another thread must not change it in between.
        with self._searching, _ctrl_c():
            self._index.expansion_search = expansion
            matches = self._index.search(rows, count, threads=threads)
        if len(rows) == 1:  # then usearch gives a list, not a table
            found[0, : len(matches)] = matches.keys
        else:
            there = np.arange(count) < matches.counts[:, None]
            found[there] = matches.keys[there]
        return found

    def _metric(self, flatness: int) -> Any:
        library = self._library
        return library.CompiledMetric(
            c_function(flatness).address, library.MetricKind.Unknown, library.MetricSignature.ArrayArraySize
        )


@contextmanager
def _ctrl_c() -> Iterator[None]:
    """Usearch notices Ctrl-C, but says so in its own way."""
    try:
        yield
    except RuntimeError as error:
        if "terminated" in str(error):
            raise KeyboardInterrupt from None
        raise
