"""Whole model files that nobody wrote, with the hash of what they hold: the checks behind it have to refuse them."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import treeball
from treeball.errors import InputError
from treeball.io.model_file import load, to_table
from treeball.service.run import mapped_app
from treeball.service.run import prepare as lay_out
from treeball.service.settings import ServeSettings

from ..case import Case
from ..dice import Dice
from ..model_changes import changed, sealed
from . import models
from .http import exchange, require_answer

_SERVE = "serve MODEL"
_PATHS = ("/info", "/health", "/search?text=leaf&k=3", "/neighbors?node=leaf%201&k=2", "/subtree?node=root", "/")
_made: list[pa.Table] = []


def prepare() -> None:
    """Make the models, and run every command on each: what is compiled for one geometry is not for another."""
    weighted = treeball.read([(child, parent, 0.5 + i) for i, (child, parent) in enumerate(models.SEVERAL)])
    some = [*models.trained(), treeball.fit(weighted, method="sarkar", dim=2)]
    first = some[0]
    some.append(treeball.Embedding(first.vectors, first.hierarchy, spare=np.zeros((len(first), 2))))
    _made[:] = [to_table(model) for model in some]
    for table in _made:
        for command in (*models.COMMANDS, _SERVE):
            case = models.case_of("sealed", models.written(table), command)
            with tempfile.TemporaryDirectory() as folder, contextlib.suppress(InputError):  # not all fit all models
                attempt(case, case.write(Path(folder)))


def make(dice: Dice) -> Case:
    """A model with another record, other columns or another hierarchy, and its hash."""
    table = sealed(changed(dice.choice(_made), dice))
    return models.case_of("sealed", models.written(table), dice.choice((*models.COMMANDS, _SERVE, _SERVE)))


def attempt(case: Case, folder: Path) -> None:
    """Run a command on the model, or serve it and ask."""
    if case.options["command"] != _SERVE:
        models.attempt(case, folder)
        return
    embedding = load(folder / "model.parquet")
    with tempfile.TemporaryDirectory(prefix="treeball-fuzz-") as place:
        lay_out(embedding, ServeSettings(), Path(place))
        app = mapped_app(Path(place), ServeSettings(), "a title")
        for path in _PATHS:
            path, _, query = path.partition("?")
            options = {"method": "GET", "path": path, "query": query, "headers": [["host", "localhost"]]}
            require_answer(options, *asyncio.run(exchange(app, options, b"")))
