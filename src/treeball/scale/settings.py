"""What a user sets of a model folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Literal

from .._version import __version__
from ..errors import InputError
from ..io.memory import bytes_of
from ..io.readers.settings import ReadSettings
from .engines import Engine
from .layout import FORMAT

__all__ = ["BRANCH_NODES", "READING", "FolderMethod", "Placing", "ScaleSettings", "is_trained"]

Placing = Literal["construct", "softmax"]
"""How nodes get their places: constructed, or trained."""
READING = ("columns", "direction", "header", "separator", "quoting")
"""Options of the readers that edges for a model folder are read by."""
FolderMethod = Literal["auto", "construct", "softmax"]
BRANCH_NODES = 1 << 18


def is_trained(how: str | None) -> bool:
    """Whether nodes that get their places so are trained, and not constructed."""
    return how == "softmax"


@dataclass(frozen=True)
class ScaleSettings:
    """How a model folder is made; its bytes depend on all but `engine`, `workers`, `address` and `memory`.

    The method `auto` constructs trees and trains for all ancestors; of a DAG and its parents it constructs, and trains
    beside it where that leaves too much to wish for. `epochs` are those of each training; 0 takes what suits the size.
    """

    dim: int = 10
    seed: int = 0
    branch_nodes: int = BRANCH_NODES
    root: str = "<root>"
    engine: Engine = "local"
    workers: int = 0
    address: str | None = None
    memory: str = "auto"
    objective: Literal["parents", "ancestors"] = "parents"
    method: FolderMethod = "auto"
    epochs: int = 0
    reading: ReadSettings = field(default_factory=ReadSettings)

    def __post_init__(self) -> None:
        if self.dim < 3:
            raise InputError(f"--dim is {self.dim}: a model folder needs at least 3 dimensions")
        if self.branch_nodes < 16:
            raise InputError(f"--branch-nodes is {self.branch_nodes}: give at least 16")
        if self.workers < 0:
            raise InputError(f"--workers is {self.workers}: give a number, or 0 for one a core")
        if self.address and self.engine != "ray":
            raise InputError("--address goes with --engine ray")
        if self.epochs < 0:
            raise InputError(f"--epochs is {self.epochs}: give at least 1")
        if self.objective == "ancestors" and self.method == "construct":
            raise InputError("for the objective ancestors a model folder is trained: leave out --method construct")
        if self.epochs and self.placing == "construct":
            raise InputError("--epochs goes with --method softmax or --objective ancestors, which train")
        try:
            bytes_of(self.memory)
        except InputError as error:
            raise InputError(str(error).replace("max_memory=", "--memory ")) from None

    @property
    def placing(self) -> Placing:
        """What is done, and by auto first."""
        return "softmax" if self.method == "softmax" or self.objective == "ancestors" else "construct"

    @property
    def compares(self) -> bool:
        """Whether a training may follow a construction that leaves too much to wish for."""
        return self.method == "auto" and self.placing == "construct"

    def key(self, fingerprint: str) -> str:
        """A hash of all that the bytes of a model depend on."""
        how = [self.dim, self.seed, self.branch_nodes, self.root, self.objective, self.method, self.epochs]
        how += [str(getattr(self.reading, name)) for name in READING]
        return hashlib.sha256(json.dumps([FORMAT, __version__, fingerprint, *how]).encode()).hexdigest()
