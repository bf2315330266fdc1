"""Folders of WordNet and of the NCBI taxonomy, with one of their files mutated."""

from __future__ import annotations

import tempfile
from pathlib import Path

import treeball
from tests.io.readers import helpers
from treeball.io.readers.settings import ReadSettings

from ..budget import reading
from ..case import Case
from ..dice import Dice
from ..mutate import mutated
from .readers import require_sound


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


with tempfile.TemporaryDirectory() as _made:
    _SEEDS = {
        "wordnet": _files(helpers.wordnet(helpers.DIAMOND, Path(_made) / "wordnet")),
        "taxdump": _files(helpers.taxdump(helpers.ANIMALS, Path(_made) / "taxdump")),
    }
_ALL = [data for files in _SEEDS.values() for data in files.values()]


def prepare() -> None:
    """Read what is valid."""
    with tempfile.TemporaryDirectory() as made:
        for name, files in _SEEDS.items():
            attempt(Case("folders", files), Case("folders", files).write(Path(made) / name))


def make(dice: Dice) -> Case:
    """A folder with one mutated file."""
    files = dict(_SEEDS[dice.choice(list(_SEEDS))])
    name = dice.choice(list(files))
    files[name] = mutated(files[name], _ALL, dice)
    return Case("folders", files, {"relation": dice.choice(("tree", "dag", "closure")), "strict": dice.random() < 0.2})


def attempt(case: Case, folder: Path) -> None:
    """Read the folder."""
    require_sound(treeball.read(folder, ReadSettings(**reading(case.options))))
