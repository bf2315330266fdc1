"""Answers of a model folder to the commands that model files answer too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ..errors import InputError
from ..words import count
from .console import also_below, print_json, print_line, print_rows, print_table, say
from .folder import rows_of, set_of
from .serving import serve_until_ctrl_c

if TYPE_CHECKING:
    from ..hierarchy._update_limits import UpdateLimits
    from ..io.readers.settings import ReadSettings
    from ..scale.folder import ModelFolder
    from ..scale.source import Edges
    from ..scale.update import FolderUpdate
    from ..service.settings import ServeSettings
    from ..types import ExportCoordinates, Objective

P = ParamSpec("P")
T = TypeVar("T")

_SHOWN = 10
_OF_TWO = ("is-ancestor", "common-ancestor", "path")


def names_damage(command: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """A command on a folder: where it fails in a way that was not foreseen, damage is looked for and named."""

    @wraps(command)
    def guarded(path: Path, /, *given: P.args, **options: P.kwargs) -> T:
        from ..scale.verify import damage_named

        with damage_named(path):
            return command(path, *given, **options)

    return guarded


def refuse_options(**given: Any) -> None:
    """Refuse options that a model folder has no use for."""
    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value not in (None, False, (), [])]
    if names:
        raise InputError(f"a model folder does not take {' and '.join(names)}: leave it out, or ask a model file")


def refuse_reading(reading: ReadSettings) -> None:
    """Refuse options of the readers by which edges for a model folder are not read."""
    from ..scale.settings import READING

    refuse_options(**dict.fromkeys(sorted(set(set_of(reading)) - set(READING)), True))


@names_damage
def info_folder(path: Path, json: bool) -> int:
    """The manifest."""
    from ..scale.folder import ModelFolder
    from ..scale.layout import without_files

    manifest = ModelFolder(path).manifest
    if json:
        print_json(without_files(manifest))
    else:
        print_table(rows_of(manifest), str(path))
    return 0


@names_damage
def verify_folder(path: Path, json: bool) -> int:
    """Hashes of all shards."""
    from ..scale.folder import ModelFolder
    from ..scale.verify import verify_folder as check

    found = check(ModelFolder(path))
    if json:
        print_json(found)
    else:
        print_table(
            [("shards", f"{found['shards']:,}, all with their SHA-256"), ("nodes", f"{found['nodes']:,}")], str(path)
        )
    return 0


@names_damage
def evaluate_folder(
    path: Path, objective: Objective | None, sample: int | None, seed: int, threads: int, json: bool
) -> dict[str, Any]:
    """Sampled scores; -> their record."""
    from ..scale.evaluate import evaluate_folder as measure
    from ..scale.folder import ModelFolder

    folder = ModelFolder(path)
    record = measure(folder, objective or folder.objective, sample, seed, threads).to_dict()
    if json:
        print_json(record)
        return record
    sampled = record["sampled"]

    def score(name: str) -> str:
        low, high = sampled["interval_95"][name]
        return f"{record[name]:.4f}" + ("" if sample == 0 else f"  ({low:.4f} to {high:.4f})")

    drawn = f"{sampled['nodes']:,} of {sampled['of']:,} nodes, each ranked among all, 95 % intervals"
    if sample == 0:
        drawn = f"no: all {sampled['nodes']:,} nodes that have parents"
    rows = [
        ("objective", f"{record['objective']} ({record['pairs']:,} pairs)"),
        ("MAP", score("map")),
        ("mean rank", f"{record['mean_rank']:.3f}"),
        ("hits@1", score("hits_at_1")),
        ("ill pairs", f"{record['ill_pairs']:,} of {record['pairs']:,}"),
        ("sampled", drawn),
    ]
    if "map_of_several_parents" in record:
        rows.append(("several parents", f"MAP {record['map_of_several_parents']:.4f} of nodes that have them"))
    print_table(rows, str(path))
    return record


@names_damage
def neighbors_folder(path: Path, nodes: tuple[str, ...], k: int, json: bool) -> int:
    """Nearest nodes, by bounds of blocks."""
    from ..scale.folder import ModelFolder
    from ..scale.nearest import nearest

    folder = ModelFolder(path)
    if not nodes:
        raise InputError("this question needs a name; give the name of a node")
    for name in nodes:
        place = folder.find(name)
        places, distances, _ = nearest(folder, folder.vectors([place])[0], k, (place,))
        found = list(zip(folder.names(places), distances.tolist(), strict=True))
        if json:
            print_json({"node": name, "neighbors": [{"node": other, "distance": far} for other, far in found]})
        else:
            print_table([(other, f"{far:.4f}") for other, far in found] or [("none", "")], f"nearest to {name}")
    return 0


@names_damage
def ask_folder(path: Path, question: str, nodes: tuple[str, ...], source: str, depth: int | None, json: bool) -> int:
    """Relatives of nodes, from the hierarchy; the parent also from geometry."""
    from ..scale.folder import ModelFolder

    size = 2 if question in _OF_TWO else 1
    if not nodes or len(nodes) % size:
        raise InputError(
            f"the question {question} needs {'a name' if size == 1 else 'two names'}; {len(nodes)} were given"
        )
    if source == "geometry" and question not in ("parent", "parents"):
        raise InputError(f"a model folder answers {question} from the hierarchy alone: add --from hierarchy")
    folder = ModelFolder(path)
    if source == "geometry" and folder.objective == "ancestors":
        raise InputError(
            f"among the ancestors of a node, all of which are near, distances of {str(path)!r} do not tell the "
            f"parent: add --from hierarchy"
        )
    doubt = _doubt(folder) if source == "geometry" else ""
    if doubt:
        say(f"{doubt}: --from hierarchy knows them")
    for first in range(0, len(nodes), size):
        names = nodes[first : first + size]
        answer = _answer(folder, question, [folder.find(name) for name in names], source, depth)
        key = question.replace("-", "_")
        if json:
            who = {"node": names[0]} if size == 1 else {"a": names[0], "b": names[1]}
            if question == "subtree":
                answer, deep, others = answer
                who |= {"depths": deep, "other_parents": others}
            print_json({**who, key: answer})
        elif isinstance(answer, bool):
            print_line(f"{names[0]} {'is an ancestor' if answer else 'is no ancestor'} of {names[1]}")
        elif question in ("parent", "common-ancestor"):
            print_rows(None, [(*names, ", ".join(answer) or "none")])
        else:
            if question == "subtree":
                shown, levels, others = answer
                answer = [
                    f"{'  ' * level}{name}{also_below(others[name]) if name in others else ''}"
                    for name, level in zip(shown, levels, strict=True)
                ]
            for line in answer or ["none"]:
                print_line(line)
    return 0


def _doubt(folder: ModelFolder) -> str:
    """Why the node that is nearest may not be the parent; empty unless pairs are known to be ill."""
    ill = folder.manifest.get("scores", {}).get("ill_pairs", 0) or folder.manifest.get("borders", {}).get("left", 0)
    if not ill:
        return ""
    return f"this model has {count(ill, 'ill pair')} among the nodes that were ranked, so the nearest may be no parent"


def _answer(folder: ModelFolder, question: str, places: list[int], source: str, depth: int | None) -> Any:
    from ..embedding._answers import further_parents
    from ..scale.nearest import nearest
    from ..scale.relatives import common_ancestors, path_between, subtree

    place = places[0]
    if source == "geometry":
        if not folder.parents(place):
            return []
        return folder.names(nearest(folder, folder.vectors([place])[0], 1, (place,))[0])
    match question:
        case "parent" | "parents":
            return folder.names(folder.parents(place))
        case "children":
            return folder.names(folder.children(place))
        case "ancestors":
            return folder.names(folder.ancestors(place))
        case "subtree":
            rows = subtree(folder, place, depth)
            others = further_parents(rows, folder.parents)
            places = [*others, *(one for some in others.values() for one in some)]
            called = dict(zip(places, folder.names(places), strict=True))
            further = {called[node]: [called[one] for one in some] for node, some in others.items()}
            return folder.names([one for one, _ in rows]), [level for _, level in rows], further
        case "is-ancestor":
            return place in folder.ancestors(places[1])
        case "common-ancestor":
            return folder.names(common_ancestors(folder, *places))
        case _:
            return folder.names(path_between(folder, *places))


@names_damage
def export_folder(path: Path, output: Path, coordinates: ExportCoordinates | None, root: bool, json: bool) -> int:
    """All vectors in one file."""
    from ..scale.export import export_folder as write
    from ..scale.folder import ModelFolder

    if coordinates == "search":
        raise InputError("a model folder is not exported as search vectors: fit a model file for these")
    written = write(ModelFolder(path), output, coordinates, root=root)
    if json:
        print_json({"path": str(output), "count": written})
    else:
        say(f"wrote {written:,} nodes to {output}")
    return 0


@names_damage
def insert_folder(
    path: Path, edges: str | None, more: tuple[str, ...], threads: int, json: bool, reading: ReadSettings
) -> int:
    """Add leaves to a model folder; those without a free place are told."""
    from ..scale.folder import ModelFolder
    from ..scale.insert import insert_leaves

    refuse_reading(reading)
    if edges is None or more:
        raise InputError("a model folder takes one file of new leaves, with columns child and parent")
    done = insert_leaves(ModelFolder(path), edges, threads=threads, tell=say, reading=reading)
    if json:
        counts = {"without_place": len(done.without_place), "rounds": done.rounds, "rows_left_out": done.left_out}
        print_json({"added": done.added, **counts})
    else:
        say(f"added {done.added:,} leaves to {path}")
    if done.left_out:
        say(f"{count(done.left_out, 'row')} without a child or a parent left out")
    if done.without_place:
        say(f"{len(done.without_place):,} found no free place, such as {done.without_place[0]}")
    return 0


@names_damage
def update_folder(path: Path, edges: Edges, limits: UpdateLimits, dry_run: bool, threads: int, json: bool) -> int:
    """Bring a model folder to the next version of its edges, in place."""
    from ..io.memory import bytes_of
    from ..scale.folder import ModelFolder
    from ..scale.update import update_folder as update

    folder = ModelFolder(path)

    def report(planned: FolderUpdate) -> None:
        if not json:
            print_table(_rows_of_update(planned))
        elif dry_run:
            print_json(planned.to_dict())

    memory = bytes_of("auto") // 4
    done = update(folder, edges, memory, limits=limits, dry_run=dry_run, threads=threads, report=report, tell=say)
    changes = done.changes
    if json and not dry_run:
        print_json(done.to_dict())
    if changes.moved.size:
        say(
            f"warning: {changes.moved.size:,} nodes have other parents now and stay where they are; make a new folder "
            "with  treeball fit  to move them"
        )
    if changes.without_child:
        say(f"warning: {count(changes.without_child, 'row')} without a child left out")
    if changes.other_parents:
        say(f"{changes.other_parents:,} further parents of new nodes were left out")
    if changes.roots:
        some = ", ".join(changes.roots[:3]) + (", ..." if len(changes.roots) > 3 else "")
        say(
            f"warning: {len(changes.roots):,} new roots have no place in a model folder and were left out ({some}); "
            "make a new folder with  treeball fit"
        )
    if done.without_place:
        say(f"{len(done.without_place):,} found no free place, such as {done.without_place[0]}")
    if dry_run and folder.is_trained:
        say("warning: update refuses this folder, which was trained: fit the new version into a new one")
    say("nothing was written: this was a dry run" if dry_run else f"{path} is brought to the new version")
    return 0


def _rows_of_update(done: FolderUpdate) -> list[tuple[str, str]]:
    rows = [("new", f"{done.changes.new:,}")]
    for what, names, number in (
        ("removed", done.removed, done.changes.removed.size),
        ("hung elsewhere", done.moved, done.changes.moved.size),
    ):
        more = ", ..." if number > _SHOWN else ""
        rows.append((what, f"{number:,} ({', '.join(names[:_SHOWN])}{more})" if number else "0"))
    return rows


@names_damage
def serve_folder(path: Path, settings: ServeSettings) -> int:
    """Answer over HTTP, to this machine, until Ctrl-C."""
    from ..scale.serve import FolderService
    from ..web.local import LocalServer

    for field in fields(settings):
        if (
            field.name not in ("port", "max_k")
            and getattr(settings, field.name) != field.default
            and field.name != "cors"
        ):
            raise InputError(
                f"a model folder is served to this machine alone: leave out --{field.name.replace('_', '-')}"
            )
    if settings.cors:
        raise InputError("a model folder is served to this machine alone: leave out --cors")
    service = FolderService(path, settings.max_k)
    with LocalServer(service, settings.port, what="the service") as server:
        return serve_until_ctrl_c(server, reload=service.reload)
