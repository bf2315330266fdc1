"""import: vectors made elsewhere become an embedding of a hierarchy, so that all of treeball works on them."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...embedding import Embedding, Provenance
from ...errors import InputError
from ...geometry.coordinates import RowError, kinds_of, space_for, to_space
from ...geometry.spaces import BALL, Space, space_of
from ...hierarchy import Hierarchy
from ...types import Coordinates, Geometry, Kind, Objective, VectorFormat
from ..readers.relation import refuse_surrogates
from ._read import read_vectors, require_distinct
from .in_memory import InMemory, vectors_in_memory
from .vectors import Vectors
from .word2vec import token

__all__ = ["Missing", "embedding_of", "from_memory", "import_vectors"]

_LOG = logging.getLogger("treeball")

Missing = Literal["error", "drop"]
# Files of other tools often have single precision, or no more than six digits.
ROUNDOFF = 1e-6


def import_vectors(
    source: Any,
    hierarchy: Any = None,
    *,
    format: VectorFormat | None = None,
    geometry: Geometry | None = None,
    coordinates: Coordinates | None = None,
    missing: Missing = "error",
    names: str | Path | None = None,
    objective: Objective = "parents",
    max_memory: str = "auto",
) -> Embedding:
    """Make an embedding from vectors, in a file or in memory, and a hierarchy.

    Parameters
    ----------
    source
        Path of a file of vectors in any format that :func:`treeball.io.vectors.export` writes, recognised by content.
        Or an object with names: a mapping from name to vector, a pandas DataFrame whose index holds the names, or
        gensim's ``KeyedVectors``, ``PoincareModel`` or any model with ``wv``. Rows go to nodes by name.
    hierarchy
        A :class:`Hierarchy` or anything :func:`treeball.read` takes; by default what the file itself says of parents.
    format
        Format of the file, when its content does not tell.
    geometry
        ``"poincare"``, ``"lorentz"`` or ``"euclidean"``; by default that of the coordinates.
    coordinates
        What the numbers are; by default what the file says, else ball, hyperboloid or flat space by `geometry`.
    missing
        What to do with nodes without a vector: ``"error"``, or ``"drop"`` them; their children go to their parents.
    names
        File of names, one a line, for an array in a file that comes without.
    objective
        What the vectors were trained for, which is what :func:`treeball.evaluate` measures by default.
    max_memory
        Most memory that reading the vectors may take, such as 4GB; ``"auto"`` is half of what the machine has.

    Returns
    -------
    Embedding
        ``provenance.imported`` says what was read; its ``notes`` are sentences for a person. A virtual root, which no
        file of vectors holds, is put at the origin.
    """
    _require_choices(format=format, geometry=geometry, coordinates=coordinates, missing=missing, objective=objective)
    if not isinstance(source, (str, os.PathLike)):
        _require_no_file_options(format=format, names=names)
        how: dict[str, Any] = {"geometry": geometry, "coordinates": coordinates, "missing": missing}
        return from_memory(vectors_in_memory(source), hierarchy, objective=objective, **how)
    beside = None if names is None else Path(names)
    vectors, chosen, digest = read_vectors(Path(source), format, beside, str(max_memory))
    return embedding_of(
        vectors,
        hierarchy,
        str(source),
        geometry=geometry,
        coordinates=coordinates,
        missing=missing,
        objective=objective,
        described={"format": chosen, "sha256": digest},
    )


def _require_no_file_options(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} describes a file, and these vectors are in memory: leave it out")


def from_memory(held: InMemory, hierarchy: Any = None, **options: Any) -> Embedding:
    """The embedding of vectors in memory; the hierarchy is by default what the object itself says of parents.

    What had to be assumed is a warning and a note.
    """
    tree = held.parents if hierarchy is None else hierarchy
    embedding = embedding_of(held.vectors, tree, held.label, **options)
    if held.doubt is None or options.get("geometry") or options.get("coordinates"):
        return embedding
    _LOG.warning("%s", held.doubt)
    imported = dict(embedding.provenance.imported or {})
    imported["notes"] = [*imported.get("notes", []), held.doubt]
    return embedding.with_provenance(replace(embedding.provenance, imported=imported))


def embedding_of(
    vectors: Vectors,
    hierarchy: Any,
    label: str,
    *,
    geometry: Geometry | None = None,
    coordinates: Coordinates | None = None,
    missing: Missing = "error",
    objective: Objective = "parents",
    described: dict[str, Any] | None = None,
) -> Embedding:
    """The embedding of vectors that were read already; `label` is what messages call them, `described` is kept."""
    _require_choices(geometry=geometry, coordinates=coordinates, missing=missing, objective=objective)
    require_distinct(vectors.names, label)
    # JSON and Python can spell what UTF-8, and so a model file, cannot hold.
    refuse_surrogates(chain(vectors.names, vectors.labels or [], *(vectors.synonyms or [])))
    tree = _own_hierarchy(vectors, label) if hierarchy is None else _read(hierarchy)
    rows, notes = _match(vectors, tree, label)
    tree = _described(tree, vectors, rows)
    lacking = rows < 0
    if tree.virtual_root is not None and lacking[tree.virtual_root]:
        lacking[tree.virtual_root] = False
        notes.append(f"the virtual root {str(tree.names[tree.virtual_root])!r} has no vector: it is put at the origin")
    if lacking.any():
        examples = ", ".join(repr(name) for name in tree.names.take(np.flatnonzero(lacking)[:3]))
        count = f"{int(lacking.sum()):,} of {tree.n_nodes:,} nodes have no vector in {label} (such as {examples})"
        if missing == "error":
            raise InputError(f"{count}: add them, or leave these nodes out with --missing drop")
        tree, kept = _without(tree, lacking, count)
        rows = rows[kept]
        notes.append(f"{count}: they are left out, and their children hang from their parents")
    kind = _kind(vectors, geometry, coordinates)
    space = space_for(kind) if geometry is None else space_of(geometry)
    read = {"source": label, **(described or {}), "coordinates": kind, "notes": notes}
    made = Provenance.of_import(objective, tree.report, read)
    embedding = Embedding(_placed(vectors, kind, space, rows, tree, label), tree, space.name, made)
    embedding.quick_reach()  # so that it is saved with the vectors
    return embedding


def _require_choices(**given: Any) -> None:
    known = {
        "format": VectorFormat,
        "coordinates": Coordinates,
        "missing": Missing,
        "objective": Objective,
    }
    space_of(given.pop("geometry", None) or "poincare")
    for name, value in given.items():
        choices = get_args(known[name])
        if value is not None and value not in choices:
            raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def _read(source: Any, **options: Any) -> Hierarchy:
    from ..readers import read

    return read(source, **options)


def _own_hierarchy(vectors: Vectors, label: str) -> Hierarchy:
    if vectors.parents is None:
        raise InputError(f"{label} does not name the parents of its nodes: give the hierarchy with --hierarchy FILE")
    names = vectors.names
    child: list[str] = []
    parent: list[str | None] = []
    for name, rows in zip(names, vectors.parents, strict=True):
        child += [name] * max(1, len(rows))
        parent += [names[row] for row in rows] or [None]
    table = pa.table({"node": pa.array(child, pa.string()), "parent": pa.array(parent, pa.string())})
    return _read(table, reduce="never")


def _described(tree: Hierarchy, vectors: Vectors, rows: NDArray[np.int64]) -> Hierarchy:
    """The hierarchy with the labels and synonyms that the vectors come with, unless it has its own."""
    if tree.names.has_labels or (vectors.labels is None and vectors.synonyms is None):
        return tree
    labels, synonyms = vectors.labels, vectors.synonyms
    return tree.described(
        None if labels is None else [labels[row] if row >= 0 else None for row in rows.tolist()],
        tree.names.synonyms if synonyms is None else [synonyms[row] if row >= 0 else [] for row in rows.tolist()],
    )


def _match(vectors: Vectors, tree: Hierarchy, label: str) -> tuple[NDArray[np.int64], list[str]]:
    """The row of every node, -1 for none: by its exact name, else by its name with underscores for blanks."""
    row = {name: place for place, name in enumerate(vectors.names)}
    texts = tree.names.to_arrow().to_pylist()
    rows = np.array([row.get(text, -1) for text in texts], np.int64)
    used = set(rows[rows >= 0].tolist())
    for code in np.flatnonzero(rows < 0).tolist():
        found = row.get(token(texts[code]), -1)
        if found >= 0 and found not in used:
            rows[code] = found
            used.add(found)
    if not used:
        raise InputError(
            f"no name in {label} (such as {vectors.names[0]!r}) is a node of the hierarchy (such as {texts[0]!r}): "
            "names must be spelled the same"
        )
    unused = [name for place, name in enumerate(vectors.names) if place not in used]
    return rows, [f"{len(unused):,} vectors are of no node (such as {unused[0]!r}) and not used"] if unused else []


def _without(tree: Hierarchy, lacking: NDArray[np.bool_], count: str) -> tuple[Hierarchy, NDArray[np.int64]]:
    """The hierarchy without some nodes, and the codes of those that stay; children go to the parents of the gone."""
    above: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for node in tree.topological_order.tolist():
        for parent in tree.parents_of(node).tolist():
            above[node] += above[parent] if lacking[parent] else [parent]
        above[node] = list(dict.fromkeys(above[node]))
    kept = np.flatnonzero(~lacking)
    tops = [code for code in kept.tolist() if not above[code]]
    if len(tops) > 1:
        examples = ", ".join(repr(name) for name in tree.names.take(tops[:3]))
        raise InputError(
            f"{count}, and without them there are {len(tops):,} roots ({examples}, ...): give them vectors"
        )
    place = np.full(tree.n_nodes, -1, np.int64)
    place[kept] = np.arange(kept.size)
    child = np.repeat(np.arange(kept.size), [len(above[code]) for code in kept.tolist()])
    parent = place[[above_one for code in kept.tolist() for above_one in above[code]]]
    root = None if tree.virtual_root is None else int(place[tree.virtual_root])
    smaller = Hierarchy.from_codes(tree.names.subset(kept), child, parent, virtual_root=root, report=tree.report)
    return smaller, kept


def _kind(vectors: Vectors, geometry: Geometry | None, coordinates: Coordinates | None) -> Kind:
    """What the numbers are: as the caller says, else as the file says, else by the geometry."""
    space = None if geometry is None else space_of(geometry)
    if coordinates is not None:
        if space is not None and not space.is_hyperbolic:
            raise InputError(f"Euclidean vectors have no {coordinates} coordinates: leave out one of the two")
        return coordinates
    if vectors.kind is not None and (space is None or vectors.kind in kinds_of(space)):
        return vectors.kind
    return cast(Kind, (space or BALL).coordinates)


def _placed(
    vectors: Vectors, kind: Kind, space: Space, rows: NDArray[np.int64], tree: Hierarchy, label: str
) -> NDArray[np.float64]:
    """One vector for each node, in the coordinates of the space; a row of -1 is the origin."""
    there = rows >= 0
    with np.errstate(invalid="ignore"):  # what is not finite is refused below, by name
        values = np.asarray(vectors.values[rows[there]], np.float64)
    names = tree.names.take(np.flatnonzero(there))
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    try:
        if wrong.size:
            raise RowError(int(wrong[0]), f"is not finite ({wrong.size:,} such)")
        values = to_space(values, kind, space, ROUNDOFF)
    except RowError as error:
        raise InputError(
            f"{label}: the vector of {names[error.row]!r} {error.what}: scale the vectors, or say what they are with "
            "--geometry or --coordinates"
        ) from None
    placed = np.tile(space.origin(space.dim(values.shape[1])), (rows.size, 1))
    placed[there] = values
    return placed
