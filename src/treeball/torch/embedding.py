"""HyperbolicEmbedding: the nodes of a hierarchy as points of the ball, a module like any other."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from ..embedding import Dilations, Embedding, LogEntry, Provenance
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..hierarchy.names import Names
from ..limits import BALL_RADIUS_GONE
from ..methods.settings import Init
from ..types import Objective
from .ball import curvature_of
from .geometry import distance, gap, largest_radius, project, radius
from .parameter import BallParameter, on_ball, to_geoopt

__all__ = ["HyperbolicEmbedding"]

_NUMBERS_AT_ONCE = 4_000_000


class HyperbolicEmbedding(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Points of the Poincaré ball, one for each node of a hierarchy; `from_model` and `from_hierarchy` make one.

    Parameters
    ----------
    hierarchy
        A :class:`treeball.Hierarchy`; row i of the points belongs to ``hierarchy.names[i]``.
    points
        (n, dim): a tensor or array, which is copied, or a parameter (a `BallParameter`, or geoopt's on the
        ``PoincareBall`` with c=1), which is used as it is.
    objective
        What the embedding is trained for, kept in the model that `to_embedding` makes.
    sparse
        Whether gradients hold only the rows that were looked up, as in `torch.nn.Embedding`: worth it from some ten
        thousand nodes on.
    provenance
        That of the model the points come from.

    Attributes
    ----------
    points : BallParameter (n, dim)
    log : list of LogEntry
        Decisions on the way, such as dilations, for the provenance of the model.
    dilations : Dilations or None
        What a `Dilation` has done, for the same record.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        points: Any,
        *,
        objective: Objective = "parents",
        sparse: bool = False,
        provenance: Provenance | None = None,
    ) -> None:
        super().__init__()
        is_parameter = isinstance(points, nn.Parameter)
        if is_parameter and not on_ball(points):
            raise InputError("the points are an ordinary parameter: give its data, or a BallParameter")
        if not is_parameter:
            points = points.detach().clone() if isinstance(points, Tensor) else torch.tensor(np.asarray(points))
        largest_radius(points.dtype)  # refuses dtypes that carry none
        # An Embedding refuses, by name, what is not finite, outside the ball or of the wrong shape.
        Embedding(_to_numpy(points), hierarchy)
        self.hierarchy = hierarchy
        self.points = points if is_parameter else BallParameter(points)
        self.objective: Objective = objective
        self.sparse = sparse
        self.provenance = Provenance() if provenance is None else provenance
        self.log: list[LogEntry] = list(self.provenance.log)
        self.dilations: Dilations | None = None
        self.register_load_state_dict_post_hook(_settle_loaded)

    @classmethod
    def from_model(cls, model: Embedding | str | os.PathLike[str], *, sparse: bool = False) -> Self:
        """The points of a trained or constructed model, in float64; a Euclidean one is refused."""
        if not isinstance(model, Embedding):
            from ..io.model_file import load

            model = load(Path(model))
        if not model.space.is_hyperbolic:
            raise InputError("a Euclidean model has no points in the ball: fit the hierarchy with another method")
        from ..embedding._precise import warn_of_rounding

        warn_of_rounding(model.precision, "PyTorch")
        held = int((model.radii() > BALL_RADIUS_GONE).sum()) if model.precision == 1 else 0
        if held:
            warnings.warn(
                f"{held:,} of {len(model):,} nodes are farther out than the ball has places: PyTorch takes them held "
                "at its rim, and their distances are not those of the model",
                stacklevel=2,
            )
        return cls(model.hierarchy, model.ball(), objective=model.objective, sparse=sparse, provenance=model.provenance)

    @classmethod
    def from_hierarchy(
        cls,
        source: Any,
        dim: int = 10,
        *,
        init: Init = "construct",
        init_scale: float = 1.0,
        objective: Objective = "parents",
        seed: int = 0,
        sparse: bool = False,
    ) -> Self:
        """First points for a hierarchy, in float64.

        Parameters
        ----------
        source
            A :class:`treeball.Hierarchy` or anything :func:`treeball.read` takes.
        init
            ``"construct"``, the capacity-guided construction, or ``"random"``, points near the origin.
        init_scale
            Factor on all radii of a construction: 1 leaves it as it is, and about 0.1 draws it together for training.
        """
        from ..io.readers import read
        from ..methods.first_vectors import place_first
        from ..methods.run import Run
        from ..methods.training_settings import TrainingSettings

        settings = TrainingSettings(
            method="ga-dl", dim=dim, init=init, init_scale=init_scale, objective=objective, seed=seed
        )
        run = Run.begin(read(source), settings)
        place_first(run)
        return cls(run.hierarchy, run.vectors, objective=objective, sparse=sparse)

    @classmethod
    def from_geoopt(
        cls, hierarchy: Hierarchy, points: Any, *, objective: Objective = "parents", sparse: bool = False
    ) -> Self:
        """The points of a parameter or tensor on geoopt's ``PoincareBall`` of any fixed curvature, in the unit ball.

        They are a copy, multiplied by sqrt(c), with all distances; a curvature that is learned is refused.
        """
        c = curvature_of(points.manifold)
        return cls(hierarchy, math.sqrt(c) * torch.as_tensor(points.detach()), objective=objective, sparse=sparse)

    # ---- names and points ----

    @property
    def names(self) -> Names:
        """Names of the nodes, in the order of the points."""
        return self.hierarchy.names

    @property
    def dim(self) -> int:
        """Dimension of the ball."""
        return int(self.points.shape[1])

    def codes(self, names: Iterable[Hashable]) -> Tensor:
        """Codes of names or labels, int64 (m,), where the points are; an unknown one is an error with close matches."""
        return torch.from_numpy(self.names.find_many(names).astype(np.int64)).to(self.points.device)

    def forward(self, codes: Tensor) -> Tensor:
        """Points of the nodes with these codes: (...) -> (..., dim)."""
        return nn.functional.embedding(codes, self.points, sparse=self.sparse)

    def distance(self, first: Tensor, second: Tensor) -> Tensor:
        """Distances of pairs of nodes given by their codes, which broadcast."""
        return distance(self(first), self(second))

    def radii(self) -> Tensor:
        """Distance of every node from the origin, (n,)."""
        return radius(self.points)

    def nearest(self, points: Tensor, k: int = 10, among: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Distances and codes, (m, k) each, of the nodes nearest to points (m, dim), without gradients.

        `among` are the codes of the nodes that come into question; by default all but a virtual root. A point that is
        not inside the ball has no nearest node, and is refused.
        """
        if points.ndim != 2 or points.shape[1] != self.points.shape[1]:
            raise InputError(
                f"points of shape {tuple(points.shape)} do not fit: give (m, {self.points.shape[1]}), one row a point"
            )
        lost = torch.nonzero(~(gap(points.detach())[..., 0] > 0.0))
        if lost.numel():
            raise InputError(
                f"point {int(lost[0, 0])} of those asked for is not inside the ball ({len(lost):,} such): "
                "a network's output becomes a point by from_normal"
            )
        if among is None:
            among = torch.from_numpy(self.hierarchy.real_nodes().astype(np.int64)).to(self.points.device)
        with torch.no_grad():
            nodes = self(among)
            step = max(1, _NUMBERS_AT_ONCE // max(1, nodes.numel()))
            found = [
                torch.topk(distance(part[:, None], nodes), min(k, len(nodes)), largest=False)
                for part in torch.split(points, step)
            ]
        near = torch.cat([part.values for part in found])
        codes = torch.cat([part.indices for part in found])
        return near, among[codes]

    # ---- other shapes of the same thing ----

    def to_embedding(self) -> Embedding:
        """The points as they are now as a :class:`treeball.Embedding`, to save, evaluate, diagnose, heal or view."""
        made = self.provenance.of_network("torch", self.objective, self.hierarchy.report, self.log, self.dilations)
        return Embedding(_to_numpy(self.points), self.hierarchy, "poincare", made)

    def to_geoopt(self) -> Any:
        """Make `points` a `geoopt.ManifoldParameter`, in place, so that geoopt's optimisers train it; returns it."""
        self.points = to_geoopt(self.points)
        return self.points

    def extra_repr(self) -> str:
        """What `print` shows."""
        return f"{len(self.names):,} nodes, dim={self.dim}, {self.objective}" + (", sparse=True" if self.sparse else "")

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Behind `to`, `float`, `cuda` and the like: rounding to float32 must not put a point on the rim."""
        before = self.points.dtype
        largest_radius(fn(self.points.new_empty(1)).dtype)  # refuses dtypes that carry none while nothing has changed
        super()._apply(fn, recurse)
        self._keep_type()
        if self.points.dtype != before and torch.finfo(self.points.dtype).eps > torch.finfo(before).eps:
            self._hold_within_what_is_carried()
        return self

    def _keep_type(self) -> None:
        """Where torch has put an ordinary parameter in the place of the points, make it one of the ball again."""
        if not on_ball(self.points):
            self.points = BallParameter(self.points.detach(), self.points.requires_grad)

    def _hold_within_what_is_carried(self) -> None:
        points, moved = project(self.points.detach())
        self.points.data = points
        if moved:
            warnings.warn(
                f"{self.points.dtype} carries a radius of {largest_radius(points.dtype):.1f}, and {int(moved):,} "
                "points beyond it were moved there: stay in float64, or contract the points first",
                stacklevel=4,
            )


def _settle_loaded(module: HyperbolicEmbedding, incompatible: Any) -> None:
    """After `load_state_dict`: the points are a parameter of the ball, and inside it as far as their dtype carries."""
    module._keep_type()
    if module.points.dtype == torch.float32:  # what was saved may be float64
        module._hold_within_what_is_carried()
    Embedding(_to_numpy(module.points), module.hierarchy)  # refuses, by name, what is not finite or outside


def _to_numpy(points: Tensor) -> Any:
    return points.detach().double().cpu().numpy()
