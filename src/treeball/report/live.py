"""A training to look at while it runs: a page served on this machine, with the disk, the loss and the ill pairs."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from ..evaluation.illness import KINDS
from ..hierarchy import Hierarchy
from ..web import LocalServer, html_response
from ..words import json_number
from ..workers import Throttle
from .groups import groups_of
from .live_page import make_page
from .plane import Plane

if TYPE_CHECKING:
    from ..methods.observe import Moment

_MOST_NODES = 4_000
_MOST_POINTS = 1_000
_SECONDS = 0.4
_GRID = 10_000  # places are sent as whole numbers, this many to the radius of the disk


class LiveView:
    """Watches a training and serves what it saw last; a page in the browser asks for it.

    Parameters
    ----------
    port
        0 takes a free one.
    title
        Heading of the page.
    seconds
        Least time between two pictures.
    """

    def __init__(self, port: int = 0, *, title: str = "training", seconds: float = _SECONDS) -> None:
        self.throttle = Throttle(seconds)
        self.plane: Plane | None = None
        self.shown: NDArray[np.int64] = np.empty(0, np.int64)
        self.history: list[list[float | None]] = []
        self.rate: float | None = None
        self.version = 0
        self.seen_version = 0
        self.last_asked = -math.inf
        self._tree = b"null"
        self._state = json.dumps({"version": 0, "phase": "waiting"}).encode()
        self._lock = threading.Lock()
        self._page = make_page(title).encode()
        routes = [
            Route("/", self._page_answer),
            Route("/tree.json", self._tree_answer),
            Route("/state.json", self._state_answer),
        ]
        app = Router(routes, redirect_slashes=False)
        self._server = LocalServer(app, port, what="the training", option="--live-port")

    @property
    def address(self) -> str:
        """Where the page is."""
        return self._server.address

    # ---- watching ----

    def pause_every(self, epochs: int) -> int:
        """Any time will do: training pauses a few times a second by itself."""
        return 0

    def see(self, moment: Moment) -> None:
        """Take a picture when it is time for one."""
        if self.throttle.is_due():
            began = time.monotonic()
            self._show(moment, "training")
            self.throttle.worked(began)

    def finish(self, moment: Moment) -> None:
        """Show the last state and say that the training is over."""
        run = moment.run
        trained = 0 < run.epoch < run.settings.epochs
        self._show(moment, "stopped" if trained else "finished")

    def close(self) -> None:
        """Stop serving; if a page is open, not before it has the last state."""
        patience = time.monotonic() + 3.0
        while self.seen_version < self.version and time.monotonic() < patience:
            if time.monotonic() - self.last_asked > 2.0:
                break  # nobody is looking
            time.sleep(0.02)
        self._server.stop()

    def _show(self, moment: Moment, phase: str) -> None:
        run, scores = moment.run, moment.scores
        self.rate = json_number(moment.pairs_per_second) or self.rate
        if self.plane is None:
            self.plane = Plane()
            self.shown = largest_nodes(run.hierarchy, _MOST_NODES)
            self._tree = json.dumps(_tree_record(run.hierarchy, self.shown)).encode()
        embedding = moment.embedding
        places = self.plane.places(embedding.vectors, embedding.space)[self.shown]
        pairs = scores.ranking.ranks.size
        counts = list(scores.illness.counts().values())
        shares = [count / max(pairs, 1) for count in counts]
        self._remember([run.epoch, json_number(run.loss), json_number(scores.map), *shares])
        state = {
            "phase": phase,
            "epoch": run.epoch,
            "epochs": run.settings.epochs,
            "method": run.settings.method,
            "dim": embedding.dim,
            "flat": not embedding.space.is_hyperbolic,
            "nodes": run.hierarchy.n_nodes,
            "loss": json_number(run.loss),
            "map": json_number(scores.map),
            "ill": counts,
            "pairs": pairs,
            "sampled": None if scores.ranking.is_exact else int(scores.ranking.sources.size),
            "radius": moment.max_radius,
            "rate": self.rate,
            "places": np.rint(places * _GRID).astype(np.int64).ravel().tolist(),
            "ill_pairs": self._ill_pairs(moment),
            "history": self.history,
        }
        with self._lock:
            self.version += 1
            self._state = json.dumps({"version": self.version, **state}, allow_nan=False).encode()

    def _ill_pairs(self, moment: Moment) -> list[int]:
        """Ill pairs between shown nodes, flat: node, positive, kind, by their places among the shown."""
        illness = moment.scores.illness
        place = np.full(moment.run.hierarchy.n_nodes, -1, np.int64)
        place[self.shown] = np.arange(self.shown.size)
        node, positive = place[illness.node], place[illness.positive]
        both = (node >= 0) & (positive >= 0)
        flat: list[int] = np.stack([node[both], positive[both], illness.kind[both]], axis=1).ravel().tolist()
        return flat

    def _remember(self, point: list[float | None]) -> None:
        """Append to the curves; when they have too many points, drop every second one."""
        if self.history and self.history[-1][0] == point[0]:
            self.history.pop()
        self.history.append(point)
        if len(self.history) > _MOST_POINTS:
            self.history = self.history[::2] + ([self.history[-1]] if len(self.history) % 2 == 0 else [])

    # ---- serving ----

    async def _page_answer(self, request: Request) -> Response:
        return html_response(self._page)

    async def _tree_answer(self, request: Request) -> Response:
        return Response(self._tree, media_type="application/json")

    async def _state_answer(self, request: Request) -> Response:
        """The state, or only its version when the page has it already."""
        self.last_asked = time.monotonic()
        with self._lock:
            state, version = self._state, self.version
        self.seen_version = version  # what the page has, or is sent now
        if request.query_params.get("have") == str(version):
            state = json.dumps({"version": version}).encode()
        return Response(state, media_type="application/json")


def largest_nodes(hierarchy: Hierarchy, most: int) -> NDArray[np.int64]:
    """The nodes with the largest subtrees, in ascending order; with every node its primary parents up to the root."""
    extent = (hierarchy.interval_out - hierarchy.interval_in).astype(np.int64)
    order = np.lexsort((hierarchy.depth, -extent))
    return np.sort(order[:most])


def _tree_record(hierarchy: Hierarchy, shown: NDArray[np.int64]) -> dict[str, Any]:
    """What does not change while training: edges, names, sizes and colour groups of the shown nodes."""
    place = np.full(hierarchy.n_nodes, -1, np.int64)
    place[shown] = np.arange(shown.size)
    parent = hierarchy.primary_parent[shown].astype(np.int64)
    groups = groups_of(hierarchy, "subtree", np.ones(hierarchy.n_nodes, np.bool_), hierarchy.root)
    extent = (hierarchy.interval_out - hierarchy.interval_in)[shown]
    return {
        "parent": np.where(parent >= 0, place[parent], -1).tolist(),
        "name": hierarchy.names.called(shown),
        "size": np.log2(extent).round(1).tolist(),
        "group": groups.group[shown].tolist(),
        "groups": list(groups.names),
        "kinds": list(KINDS),
    }
