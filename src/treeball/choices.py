"""Words that options take, in a module that costs nothing to import: the command line shows them in its help."""

from __future__ import annotations

from typing import Literal

Source = Literal["geometry", "hierarchy"]
"""What answers a question: distances alone, or the hierarchy the model was made from."""

Coordinates = Literal["ball", "hyperboloid", "half-space", "tangent"]
"""How a point of hyperbolic space is written down."""

DType = Literal["float64", "float32"]

VectorFormat = Literal["parquet", "csv", "tsv", "npy", "word2vec", "word2vec-binary", "safetensors", "duckdb", "json"]
"""Files of vectors that can be written and read."""

ExportFormat = Literal[VectorFormat, "usearch"]
"""Files of vectors, and an approximate index."""
