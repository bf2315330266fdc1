"""Files of vectors in every format that is written, mutated, and read back with or without a hierarchy."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, get_args

import treeball
from treeball.io.vectors import export, import_vectors
from treeball.io.vectors.formats.registry import format_names
from treeball.types import Coordinates, VectorFormat

from ..case import Case
from ..dice import Dice
from ..mutate import mutated

_EDGES = [(f"leaf {i}", f"inner {i % 3}") for i in range(9)] + [(f"inner {i}", "root") for i in range(3)]
_made: dict[str, dict[str, bytes]] = {}


def prepare() -> None:
    """Write every format once, and read it back."""
    model = treeball.fit(_EDGES, method="sarkar", dim=3)
    for format in format_names():
        with tempfile.TemporaryDirectory() as folder:
            dtype: Any = "float32" if format in ("word2vec-binary",) else None
            export(model, Path(folder) / "input", format=format, dtype=dtype)
            _made[format] = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
            attempt(Case("vectors", _made[format], {"hierarchy": True}), Path(folder))


def make(dice: Dice) -> Case:
    """One of the files of a format mutated, read as what it is or as another format."""
    files = dict(_made[dice.choice(list(_made))])
    name = dice.choice(list(files))
    files[name] = mutated(files[name], [one for made in _made.values() for one in made.values()], dice)
    options: dict[str, Any] = {"hierarchy": dice.random() < 0.7}
    if dice.random() < 0.2:
        options["format"] = dice.choice(get_args(VectorFormat))
    if dice.random() < 0.2:
        options["coordinates"] = dice.choice(get_args(Coordinates))
    if dice.random() < 0.2:
        options["missing"] = "drop"
    return Case("vectors", files, options)


def attempt(case: Case, folder: Path) -> None:
    """Import them; what was imported must be an embedding that can be asked."""
    options = dict(case.options)
    hierarchy = treeball.read(_EDGES) if options.pop("hierarchy") else None
    embedding = import_vectors(folder / "input", hierarchy, **options)
    assert len(embedding.neighbors(embedding.names[0], 1)) == min(1, len(embedding) - 1)
