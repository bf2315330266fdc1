"""The stages before the branches: layout, fans, the plan of a construction, anchors of a training; each done once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.cpu import flat_tree
from ..errors import InputError
from ..io.memory import bytes_of
from ..methods.construct import ALL_NODES, GOOD_ENOUGH
from ..types import Ints
from ..workers import thread_count
from .anchors import above_cuts
from .branch import place_branch, together
from .couples import find_couples
from .fans import Fans, make_fans
from .intake import take_in
from .layout import read_json, save_array, sha256_of, write_json
from .lengths import FolderPlan, folder_plans
from .naming import name_nodes, names_between
from .settings import Placing, ScaleSettings, is_trained
from .soundness import inside
from .source import Edges
from .topology import IMPLIED, lay_out
from .trained_branch import train_anchors
from .trunk import Shape, Trunk, cuts_of

__all__ = ["Stages"]

_TOPOLOGY = tuple(f"topology/{name}.npy" for name in ("parent", "height", "size", "other_child", "other_parent"))
# What each stage writes and no later one changes.
_FILES = {
    "layout": (*_TOPOLOGY, "index/hash.npy", "index/place.npy", "repairs.parquet", "work/names.parquet",
               "work/others.parquet", "work/couples.npy"),
    "fans": ("work/fans.npy", "work/fan_sizes.json"),
    "plan": ("work/trunk.npy",),
    "anchors": ("work/anchors.npy",),
}  # fmt: skip
# Plans that are tried, on so many branches, and nodes of each that are looked at.
_PLANS, _PILOTS, _LOOKED_AT = 8, 4, 4000
# Short edges are good for nodes with several parents, and are taken where at most so many times as many nodes are ill.
_ILL_FOR_SEVERAL = 0.05


class Stages:
    """The stages before the branches; each writes its files and then a record of itself."""

    def __init__(self, folder: Path, edges: Edges, settings: ScaleSettings, tell: Callable[[str], None]) -> None:
        self.folder, self.work, self.edges = folder, folder / "work", edges
        self.settings, self.tell = settings, tell
        self.memory, self.threads = bytes_of(settings.memory), thread_count(0)
        self._done: dict[str, dict[str, Any]] = {}
        self.laid = self._once("layout", self._layout)

    def planned(self, how: Placing) -> dict[str, Any]:
        """All that the branches have to know to be placed."""
        if is_trained(how):
            return self._once("anchors", self._anchors)
        several = self.laid["other_edges"] > 0
        self._once("fans", lambda: self._fans(several))
        return self._once("plan", lambda: self._plan(self.laid["other_edges"]))

    def _once(self, name: str, stage: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a stage has found out; it is done where it has not been."""
        if name not in self._done:
            kept = self._kept(name)
            if kept is None:
                found = stage()
                kept = found | {"files": {file: sha256_of(self.folder / file) for file in _FILES[name]}}
                write_json(self.work / f"{name}.json", kept)
            self._done[name] = kept
        return self._done[name]

    def _kept(self, name: str) -> dict[str, Any] | None:
        """What an earlier run has found out; None where it is missing, or one of its files is not as it was."""
        try:
            kept = read_json(self.work / f"{name}.json")
            sound = all(sha256_of(inside(self.folder, file)) == digest for file, digest in kept["files"].items())
            return kept if sound else None
        except (InputError, OSError, KeyError, AttributeError, TypeError):
            return None

    def _layout(self) -> dict[str, Any]:
        """Read, repair, lay out and name all nodes."""
        intake = take_in(self.edges, self.work, self.memory, tell=self.tell)
        rows, hashes, columns = int(intake.child.size), intake.hashes, intake.columns
        topology, repairs = lay_out(intake)
        if IMPLIED in repairs.counts:
            self.tell(f"the edges are a transitive closure: {repairs.counts[IMPLIED]:,} that others imply are left out")
        self.tell(f"{topology.n:,} nodes, {rows:,} rows; naming them")
        (self.folder / "topology").mkdir(exist_ok=True)
        for name in ("parent", "height", "size", "other_child", "other_parent"):
            save_array(self.folder / "topology" / f"{name}.npy", getattr(topology, name))
        couples = find_couples(topology.parent, topology.other_child, topology.other_parent, self.work)
        virtual = name_nodes(
            self.edges, columns, hashes, topology, repairs, self.folder, self.settings.root, self.memory, self.threads
        )
        shutil.rmtree(self.work / "spill", ignore_errors=True)
        return {
            "nodes": topology.n, "rows": rows, "roots": topology.roots, "virtual_root": virtual,
            "edges": topology.n - 1 + topology.other_child.size, "other_edges": int(topology.other_child.size),
            "height": int(topology.height[0]), "repairs": repairs.counts, "couples": couples,
            "columns": columns.said,
        }  # fmt: skip

    def _anchors(self) -> dict[str, Any]:
        """Train the trunk and what stands in for all others; see `anchors`."""
        cuts = cuts_of(self.laid["nodes"], self.settings.branch_nodes)
        found = train_anchors(self.folder, cuts, self.settings, self.laid["virtual_root"] is not None, self.tell)
        above = above_cuts(Shape.load(self.folder), cuts)
        write_json(self.work / "trunk_names.json", _names_at(self.work / "names.parquet", above))
        return {"cuts": cuts.tolist(), "tried": 1} | found

    def _fans(self, several_parents: bool) -> dict[str, Any]:
        """Fans for all numbers of children that occur."""
        counts = flat_tree.child_counts(Shape.load(self.folder).parent)
        distinct = np.unique(counts)
        distinct = distinct[distinct > 0]
        make_fans(distinct, self.settings.dim, self.work, roomy=several_parents)
        return {"largest_fan": int(distinct.max(initial=0)), "inner": int((counts > 0).sum())}

    def _plan(self, other_edges: int) -> dict[str, Any]:
        """The numbers that fix the construction: the first candidate under which few of a sample are ill."""
        shape, fans = Shape.load(self.folder), Fans.load(self.work)
        n = shape.parent.size
        cuts = cuts_of(n, self.settings.branch_nodes)
        rng = np.random.default_rng(self.settings.seed)
        tasks = cuts.size - 1
        few = tasks if n <= ALL_NODES else _PILOTS
        pilots = np.sort(rng.choice(tasks, min(few, tasks), replace=False))
        best: tuple[float, FolderPlan] | None = None
        tried = 0
        for plan in folder_plans(int(shape.height[0]), fans.largest_need, other_edges > 0):
            if tried == _PLANS:
                break
            tried += 1
            trunk = Trunk.place(shape, fans, plan, cuts, self.work)
            share, of_all = self._ill(shape, fans, plan, trunk, cuts, pilots)
            edges = f"edges to {plan.longest:.3g}" + (f", {plan.short:.3g} for inner nodes" if plan.short else "")
            self.tell(f"plan {tried}: {edges}, growth {plan.growth:.4g}: {share:.3%} of a sample ill")
            if plan.short and of_all <= _ILL_FOR_SEVERAL * other_edges / n:
                best = share, plan
                break
            if best is None or share < best[0]:
                best = share, plan
            if share <= (GOOD_ENOUGH / 4 if n > _LOOKED_AT else 0.0):
                break
        assert best is not None
        if best[1] != plan:
            trunk = Trunk.place(shape, fans, best[1], cuts, self.work)
        trunk.save(self.work)
        write_json(self.work / "trunk_names.json", _names_at(self.work / "names.parquet", trunk.places))
        return {"plan": asdict(best[1]), "cuts": cuts.tolist(), "ill_share": best[0], "tried": tried,
                "trunk": int(trunk.places.size)}  # fmt: skip

    def _ill(
        self, shape: Shape, fans: Fans, plan: FolderPlan, trunk: Trunk, cuts: Ints, pilots: Ints
    ) -> tuple[float, float]:
        """Share of a sample of the pilots, half of it inner nodes, that is ill among all of them and the trunk.

        And the share of all nodes that this stands for.
        """
        branches = [place_branch(shape, fans, plan, trunk, int(cuts[i]), int(cuts[i + 1]), self.work) for i in pilots]
        rng = np.random.default_rng([self.settings.seed, 1])
        places = np.concatenate([np.arange(one.first, one.last) for one in branches])
        inner = places[shape.height[places] > 0]
        picked = rng.choice(inner, min(_LOOKED_AT, inner.size), replace=False)
        picked = np.union1d(picked, rng.choice(places, min(_LOOKED_AT, places.size), replace=False))
        whole, rows = together(branches, trunk, picked)
        ill = np.isin(rows, whole.ill(rows, self.threads))
        is_inner = shape.height[picked] > 0
        shares = [float(ill[some].mean()) if some.any() else 0.0 for some in (is_inner, ~is_inner)]
        part = inner.size / places.size
        return float(ill.mean()), part * shares[0] + (1.0 - part) * shares[1]


def _names_at(path: Path, places: Ints) -> dict[str, str]:
    """Names of some places, by place."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    found: dict[str, str] = {}
    first = 0
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        low, high = np.searchsorted(places, (first, first + rows))
        if high > low:
            column = names_between(path, first, first + rows)
            found |= {str(place): column[int(place) - first].as_py() for place in places[low:high]}
        first += rows
    return found
