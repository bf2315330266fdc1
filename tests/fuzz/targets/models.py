"""Model files with mutated bytes. A command is run on each."""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import treeball
from treeball.cli.main import run
from treeball.errors import InputError
from treeball.io.model_file import to_table

from ..case import Case
from ..dice import Dice
from ..mutate import mutated

EDGES = [(f"leaf {i}", f"inner {i % 3}") for i in range(9)] + [(f"inner {i}", "root") for i in range(3)]
SEVERAL = [*EDGES, ("leaf 1", "inner 0"), ("leaf 2", "leaf 1")]
COMMANDS = (
    "info MODEL", "info MODEL --json", "verify MODEL", "evaluate MODEL", "evaluate MODEL --objective ancestors --json",
    "neighbors MODEL 'leaf 1'", "ask MODEL ancestors 'leaf 1'", "ask MODEL path 'leaf 1' 'leaf 5' --from hierarchy",
    "search MODEL leaf", "distance MODEL 'leaf 1' root", "similarity MODEL 'leaf 1' root", "export MODEL -o out.csv",
    "export MODEL -o out.npy --coordinates tangent", "heal MODEL -o out.parquet", "diagnose MODEL --json",
    "insert MODEL --name new --near 'leaf 1' -o out.parquet", "insert MODEL --remove 'leaf 1' -o out.parquet",
    "insert MODEL --rename root=top -o out.parquet", "view MODEL --html out.html",
    "suggest-parent MODEL --near 'leaf 1'", "update MODEL tree.csv -o out.parquet", "compare MODEL MODEL --json",
    "align MODEL tree.csv --json",
    "fit tree.csv -o MODEL --resume --method poincare --epochs 4 --dim 2 --threads 1",
)  # fmt: skip
"""What is run: MODEL stands for the model, and what begins with out. or tree. lies beside it."""
_TREE = b"child,parent\n" + "\n".join(",".join(edge) for edge in SEVERAL).encode()
_made: list[bytes] = []


def prepare() -> None:
    """Make the models, and run every command on one."""
    _made[:] = [written(to_table(model)) for model in trained()[:2]]
    for command in COMMANDS:
        case = case_of("models", _made[1], command)
        with tempfile.TemporaryDirectory() as folder:
            attempt(case, case.write(Path(folder)))


def trained() -> list[treeball.Embedding]:
    """Small models: a tree, several parents, several roots, another geometry, and ids that have labels."""
    labelled = treeball.read([{"id": i, "parent": i // 3 or None, "name": f"leaf {i}"} for i in range(1, 9)])
    return [
        treeball.fit(EDGES, method="sarkar", dim=3),
        treeball.fit(treeball.read(_TREE), method="poincare", epochs=2, dim=2, threads=1),
        treeball.fit(EDGES[:9], method="lorentz", epochs=2, dim=2, threads=1),
        treeball.fit(EDGES, method="euclidean", epochs=2, dim=4, objective="ancestors", threads=1),
        treeball.fit(labelled, method="sarkar", dim=2),
    ]


def make(dice: Dice) -> Case:
    """A model with other bytes."""
    return case_of("models", mutated(dice.choice(_made), _made, dice), dice.choice(COMMANDS))


def case_of(target: str, model: bytes, command: str) -> Case:
    """A model, what a command takes besides, and the command."""
    return Case(target, {"model.parquet": model, "tree.csv": _TREE}, {"command": command})


def attempt(case: Case, folder: Path) -> None:
    """Run a command on the model, as a person would."""
    words = ["model.parquet" if word == "MODEL" else word for word in shlex.split(case.options["command"])]
    require_words([str(folder / word) if word.startswith(("model.", "out.", "tree.")) else word for word in words])


def require_words(words: list[str]) -> None:
    """Run a command, which must succeed without a warning of a library, or refuse in one sentence."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("always")
        code = run(words)
    said = err.getvalue()
    assert "Traceback" not in said, said
    assert "Warning: " not in said, said  # those of libraries are for developers
    if code:
        assert said, f"exit code {code} without a word"
        last = said.splitlines()[-1]
        assert last.startswith("treeball: "), said
        raise InputError(last)


def written(table: pa.Table) -> bytes:
    """The file of a model."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()
