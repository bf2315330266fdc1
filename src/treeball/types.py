"""Words that options take, and names for shapes of arrays; a module that costs nothing to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]
    Codes: TypeAlias = NDArray[np.int32]
    Pointers: TypeAlias = NDArray[np.int64]
else:  # NumPy takes longer to import than the help of a command takes to print
    Floats = Any
    """Coordinates, distances, weights: float64."""
    Ints = Any
    """int64."""
    Mask = Any
    """Truth values, one for each node."""
    Codes = Any
    """Nodes by number, 0 to n-1 in the order of the hierarchy's names: int32."""
    Pointers = Any
    """Where the list of each node begins and ends in an array of lists laid end to end: int64 (n+1,)."""

Objective = Literal["parents", "ancestors", "distances"]
"""What a node should be close to: its direct parents, or all its ancestors; or distances should be like paths."""

Device = Literal["auto", "cpu", "cuda"]
"""Where to train: auto takes a graphics card where there is one and it pays."""

Geometry: TypeAlias = str
"""Name of a space: one of those in :mod:`treeball.geometry.spaces`."""

Source = Literal["geometry", "hierarchy"]
"""What answers a question: distances alone, or the hierarchy the model was made from."""

Coordinates = Literal["ball", "hyperboloid", "half-space", "tangent", "polar"]
"""How a point of hyperbolic space is written down."""

ExportCoordinates = Literal["ball", "hyperboloid", "half-space", "tangent", "polar", "search"]
"""The same, and vectors for the search in a database, which are no coordinates: points cannot be had from them."""

Kind: TypeAlias = ExportCoordinates | Literal["euclidean"]
"""What the numbers of a vector mean."""

DType = Literal["float64", "float32"]

Layout = Literal["disk", "rectangular", "radial"]
"""How the page of a model shows it: in the hyperbolic disk, or the hierarchy in the plane, its edges to scale."""

VectorFormat = Literal["parquet", "csv", "tsv", "npy", "word2vec", "word2vec-binary", "safetensors", "duckdb", "json"]
"""Files of vectors that can be written and read."""
