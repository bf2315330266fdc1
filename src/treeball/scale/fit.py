"""Making a model folder: intake, layout, plan, trunk, branches, borders; every stage is kept, and done once."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .._version import __version__
from ..engine.cpu import flat_tree
from ..errors import InputError
from ..io.memory import bytes_of
from ..methods.construct import ALL_NODES, GOOD_ENOUGH
from ..types import Ints
from ..workers import thread_count
from . import shard
from .anchors import above_cuts
from .border_stage import BorderStage, borders_sentence
from .branch import place_branch, together
from .couples import find_couples
from .engines import Engine, Workers
from .fans import Fans, make_fans
from .intake import take_in
from .layout import FORMAT, MANIFEST, read_json, save_array, write_json
from .lengths import FolderPlan, folder_plans
from .naming import name_nodes, names_between
from .shard import boxes_path, is_done, shard_path
from .source import Edges
from .topology import lay_out
from .trained_branch import totals, train_anchors
from .trunk import Shape, Trunk, cuts_of

__all__ = ["BRANCH_NODES", "ScaleSettings", "fit_folder"]

BRANCH_NODES = 1 << 18
# What the manifest says of the hierarchy.
_LAID = ("nodes", "edges", "rows", "roots", "virtual_root", "other_edges", "height", "repairs")
# Plans that are tried, on so many branches, and nodes of each that are looked at.
_PLANS, _PILOTS, _LOOKED_AT = 8, 4, 4000
# Short edges are good for nodes with several parents, and are taken where at most so many times as many nodes are ill.
_ILL_FOR_SEVERAL = 0.05


@dataclass(frozen=True)
class ScaleSettings:
    """How a model folder is made; bytes depend on `dim`, `seed`, `branch_nodes`, `root`, `objective` and `epochs`.

    The latter are those of each training, which only the objective ancestors has; 0 takes what suits the size.
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
    epochs: int = 0

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
        if self.epochs and self.objective == "parents":
            raise InputError("--epochs goes with --objective ancestors: for parents a model folder is constructed")
        bytes_of(self.memory)

    @property
    def method(self) -> str:
        """What gives nodes their places."""
        return "construct" if self.objective == "parents" else "softmax"

    def key(self, fingerprint: str) -> str:
        """A hash of all that the bytes of a model depend on."""
        parts = [FORMAT, __version__, fingerprint, self.dim, self.seed, self.branch_nodes, self.root]
        trained = [] if self.objective == "parents" else [self.objective, self.epochs]
        text = json.dumps(parts + trained)
        return hashlib.sha256(text.encode()).hexdigest()


def fit_folder(
    sources: tuple[str, ...], folder: Path, settings: ScaleSettings, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Make a model folder, or go on with one; -> its manifest."""
    edges = Edges.of(sources)
    key = settings.key(edges.fingerprint())
    _require_ours(folder)
    kept = read_json(folder / MANIFEST) if (folder / MANIFEST).is_file() else {}
    if kept and kept.get("key") != key:
        raise InputError(
            f"{str(folder)!r} holds a model of other edges or settings: give another folder, or remove that one first"
        )
    if kept:
        broken = [task for task in range(len(kept["cuts"]) - 1) if not is_done(folder, task, key)]
        if not broken and ("borders" in kept or settings.objective == "ancestors"):
            tell(f"{folder} is done already: nothing was computed")
            return kept
    work = folder / "work"
    if not (work / "input.json").is_file() or read_json(work / "input.json").get("key") != key:
        shutil.rmtree(folder, ignore_errors=True)
        (work / "records").mkdir(parents=True)
        (folder / "shards").mkdir()
        write_json(work / "input.json", {"key": key})
    state = _Stages(folder, work, edges, settings, key, tell)
    laid = state.once("layout", state.layout)
    if settings.objective == "ancestors":
        planned = state.once("anchors", lambda: state.anchors(laid["virtual_root"] is not None))
    else:
        state.once("fans", lambda: state.fans(laid["other_edges"] > 0))
        planned = state.once("plan", lambda: state.plan(laid["other_edges"]))
    task_settings = {
        "key": key, "seed": settings.seed, "cuts": planned["cuts"], "plan": planned["plan"],
        "several_parents": laid["other_edges"] > 0, "objective": settings.objective,
        "virtual_root": laid["virtual_root"] is not None,
    }  # fmt: skip
    tasks = list(range(len(planned["cuts"]) - 1))
    threads = thread_count(settings.workers)
    # What was added to the folder later lies in shards of its own.
    more = {name: kept[name] for name in ("added", "removed") if name in kept}
    with Workers(folder, settings.engine, threads, settings.address) as workers:
        records = _place(workers, tasks, task_settings, tell)
        manifest = _manifest(settings, key, edges, laid, planned, records, folder) | more
        # Where nodes were trained, no place is free for those that a stranger is next to.
        if settings.objective == "parents":
            began = time.monotonic()
            counts = BorderStage(folder, manifest, task_settings, records, workers, threads, tell).run()
            if len(tasks) > 1:
                tell(f"{borders_sentence(counts)}; {time.monotonic() - began:.1f} seconds")
            manifest = _manifest(settings, key, edges, laid, planned, records, folder) | {"borders": counts} | more
    write_json(folder / MANIFEST, manifest)
    return manifest


def _place(
    workers: Workers, tasks: list[int], settings: dict[str, Any], tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Records of the branches, which are placed where they have not been."""
    records: dict[int, dict[str, Any]] = {}
    kept = 0
    for record in workers.run(shard.make_shard, tasks, settings):
        records[record["task"]] = record
        kept += bool(record.pop("kept", False))
        if len(records) % max(1, len(tasks) // 20) == 0:
            tell(f"{len(records):,} of {len(tasks):,} branches ({kept:,} were there already)")
    return [records[task] for task in tasks]


class _Stages:
    """The stages before the branches; each writes its files and then a record of itself."""

    def __init__(
        self, folder: Path, work: Path, edges: Edges, settings: ScaleSettings, key: str, tell: Callable[[str], None]
    ) -> None:
        self.folder, self.work, self.edges, self.settings, self.key, self.tell = (
            folder,
            work,
            edges,
            settings,
            key,
            tell,
        )
        self.memory, self.threads = bytes_of(settings.memory), thread_count(0)

    def once(self, name: str, stage: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a stage has found out; it is done where it has not been."""
        path = self.work / f"{name}.json"
        if not path.is_file():
            write_json(path, stage())
        return read_json(path)

    def layout(self) -> dict[str, Any]:
        """Read, repair, lay out and name all nodes."""
        intake = take_in(self.edges, self.work, self.memory, tell=self.tell)
        rows, hashes = int(intake.child.size), intake.hashes
        topology, repairs = lay_out(intake)
        self.tell(f"{topology.n:,} nodes, {rows:,} rows; naming them")
        (self.folder / "topology").mkdir(exist_ok=True)
        for name in ("parent", "height", "size", "other_child", "other_parent"):
            save_array(self.folder / "topology" / f"{name}.npy", getattr(topology, name))
        couples = find_couples(topology.parent, topology.other_child, topology.other_parent, self.work)
        virtual = name_nodes(
            self.edges, hashes, topology, repairs, self.folder, self.settings.root, self.memory, self.threads
        )
        shutil.rmtree(self.work / "spill", ignore_errors=True)
        return {
            "nodes": topology.n, "rows": rows, "roots": topology.roots, "virtual_root": virtual,
            "edges": topology.n - 1 + topology.other_child.size, "other_edges": int(topology.other_child.size),
            "height": int(topology.height[0]), "repairs": repairs.counts, "couples": couples,
        }  # fmt: skip

    def anchors(self, virtual: bool) -> dict[str, Any]:
        """Train the trunk and what stands in for all others; see `anchors`."""
        chosen = self.settings
        cuts = cuts_of(Shape.load(self.folder).parent.size, chosen.branch_nodes)
        found = train_anchors(
            self.folder, cuts, chosen.dim, chosen.branch_nodes, chosen.epochs, chosen.seed, virtual, self.tell
        )
        above = above_cuts(Shape.load(self.folder), cuts)
        write_json(self.work / "trunk_names.json", _names_at(self.work / "names.parquet", above))
        return {"cuts": cuts.tolist(), "tried": 1} | found

    def fans(self, several_parents: bool) -> dict[str, Any]:
        """Fans for all numbers of children that occur."""
        counts = flat_tree.child_counts(Shape.load(self.folder).parent)
        distinct = np.unique(counts)
        distinct = distinct[distinct > 0]
        make_fans(distinct, self.settings.dim, self.work, roomy=several_parents)
        return {"largest_fan": int(distinct.max(initial=0)), "inner": int((counts > 0).sum())}

    def plan(self, other_edges: int) -> dict[str, Any]:
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


def _manifest(
    settings: ScaleSettings, key: str, edges: Edges, laid: dict[str, Any], planned: dict[str, Any],
    records: list[dict[str, Any]], folder: Path,
) -> dict[str, Any]:  # fmt: skip
    save_array(
        folder / "index" / "boxes.npy", np.concatenate([np.load(boxes_path(folder, r["task"])) for r in records])
    )
    return {
        "format": FORMAT, "version": __version__, "key": key, "geometry": "poincare",
        "objective": settings.objective, "method": settings.method, "dim": settings.dim,
        "seed": settings.seed, "branch_nodes": settings.branch_nodes,
        "input": {"files": len(edges.files), "bytes": sum(edges.sizes), "first": edges.files[0]},
        **{name: laid[name] for name in _LAID},
        "plan": planned["plan"], "plans_tried": planned["tried"], "cuts": planned["cuts"], "trunk": planned["trunk"],
        "ill_in_branches": sum(record["ill"] for record in records),
        "moved_between_parents": sum(record.get("moved", 0) for record in records),
        "verified": sum(record["looked_at"] for record in records),
        "largest_radius": max(record["largest_radius"] for record in records),
        **totals(records),
        "shards": [
            {"file": str(shard_path(folder, record["task"]).relative_to(folder)),
             "rows": record["last"] - record["first"], "bytes": record["bytes"], "sha256": record["sha256"],
             "ill": record["ill"]}
            for record in records
        ],
    }  # fmt: skip


def _require_ours(folder: Path) -> None:
    from .layout import is_folder

    if folder.is_file():
        raise InputError(f"{str(folder)!r} is a file: give a folder for the model, such as model/")
    if folder.is_dir() and any(folder.iterdir()) and not is_folder(folder):
        raise InputError(f"{str(folder)!r} has other files in it: give a new folder for the model")
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {str(folder)!r}: there is no folder {str(folder.parent)!r}; create it first")
