"""What a page tells of the rest of a model of which it shows a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import Ints
from . import packing
from .order import LevelOrder

__all__ = ["Part"]


@dataclass(frozen=True)
class Part:
    """A part of a larger model: the uppermost levels below a node.

    Attributes
    ----------
    model : what the larger model is called on the command line
    nodes : how many it has
    above : names of the nodes above the uppermost that is shown, the root first
    children, below : int64 (n,), by code: how many of them, and nodes below them, each node has in the whole model
    served : whether the address of the page with ``?node=NAME`` gives the part below a node
    """

    model: str
    nodes: int
    above: list[str]
    children: Ints
    below: Ints
    served: bool

    def summary(self) -> dict[str, Any]:
        """What the page knows of the whole."""
        return {"model": self.model, "nodes": self.nodes, "above": self.above, "served": self.served}

    def sections(self, order: LevelOrder) -> dict[str, bytes]:
        """What it knows of each node."""
        return {
            f"whole_{name}": packing.varints(np.asarray(values)[order.code])
            for name, values in (("children", self.children), ("below", self.below))
        }
