"""The formats by name. Adding one is a module here that ends in a `Format`, and a line in the table below.

The command line offers it once `treeball.types.VectorFormat` has its name; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ....errors import InputError
from ....types import VectorFormat
from ..vectors import VectorFile, Vectors

__all__ = ["Format", "find", "format_by_ending", "format_names"]

# A format, the module that holds it in its FORMATS, imported when somebody asks for it, and the endings of its files.
_TABLE: dict[VectorFormat, tuple[str, ...]] = {
    "parquet": ("parquet", ".parquet"),
    "csv": ("delimited", ".csv"),
    "tsv": ("delimited", ".tsv"),
    "npy": ("npy", ".npy"),
    "word2vec": ("word2vec_text", ".txt", ".vec"),
    "word2vec-binary": ("word2vec_binary", ".bin"),
    "safetensors": ("safetensors", ".safetensors"),
    "duckdb": ("duckdb_table", ".duckdb"),
    "json": ("json_object", ".json"),
}


@dataclass(frozen=True)
class Format:
    """A way to keep vectors in a file.

    Attributes
    ----------
    name
        How it is called on the command line and in `export`.
    sniff
        How sure it is that the content of a file is of this format, from 0 to 1. A text that could be anything is
        worth 0.5 at most: more is for what no other file has, such as its first bytes. Of equals the first in the
        table wins.
    read
        The vectors of a file; InputError with one sentence when it cannot be read.
    write
        Writes vectors to a path, which is renamed to a second one when all is well; returns sentences worth telling.
    beside
        The further file that comes with one of this format; None when there is none.
    write_beside
        Writes that file to a path; the two are renamed together.
    float64_format
        Which format to choose for float64, where this one has float32 only; None when it has both.
    holds_models
        Whether a file of it can be a whole model.
    holds_reach
        Whether it writes the reach of every node, where that is given.
    holds_labels, holds_synonyms
        Whether it writes labels, and synonyms, where nodes have any.
    holds_points
        Whether it has room for the points that belong to search vectors.
    escapes_formulas
        Whether spreadsheets open it, and its `write` takes ``escape_formulas``.
    """

    name: VectorFormat
    sniff: Callable[[bytes], float]
    read: Callable[[VectorFile], Vectors]
    write: Callable[..., list[str]]
    beside: Callable[[Path], Path] | None = None
    write_beside: Callable[[Vectors, Path], None] | None = None
    float64_format: VectorFormat | None = None
    holds_models: bool = False
    holds_reach: bool = False
    holds_labels: bool = False
    holds_synonyms: bool = False
    holds_points: bool = False
    escapes_formulas: bool = False


def format_names() -> list[VectorFormat]:
    """All formats, in the order of the table."""
    return list(_TABLE)


def find(name: VectorFormat) -> Format:
    """The format of this name."""
    formats: tuple[Format, ...] = import_module(f"{__package__}.{_TABLE[name][0]}").FORMATS
    return next(format for format in formats if format.name == name)


def format_by_ending(path: Path) -> VectorFormat:
    """The format that the ending of a file name stands for."""
    endings = {ending: name for name, (_, *endings) in _TABLE.items() for ending in endings}
    found = endings.get(path.suffix.lower())
    if found is None:
        known = ", ".join(endings)
        raise InputError(f"{path.name!r} does not end in one of {known}: name the format with --format")
    return found
