"""What commands do with a model folder: settings to make one, and sentences about one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import InputError
from ..words import count
from .console import print_json, print_table, say

if TYPE_CHECKING:
    from ..io.readers.settings import ReadSettings
    from ..methods.fit_settings import FitSettings

_TAKEN = {"dim", "seed", "threads", "method", "objective"}


@dataclass(frozen=True, kw_only=True)
class FolderSettings:
    """How a model folder is made.

    Parameters
    ----------
    engine
        Who places the branches: local processes, the default, or ray.
    address
        Address of a running Ray cluster; without one Ray is started on this machine.
    workers
        Branches placed at the same time; by default one a core, or as many as --threads says.
    memory
        What reading may take, such as 8GB; by default half of the machine's. More is spilled to disk.
    branch_nodes
        Nodes of a branch, which is one task and one shard; 262144 by default.
    """

    engine: Literal["local", "ray"] | None = None
    address: str | None = None
    workers: int | None = None
    memory: str | None = None
    branch_nodes: int | None = None

    def given(self) -> dict[str, Any]:
        """What was set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def require_none(self) -> None:
        """Refuse settings that a model file has no use for."""
        if self.given():
            names = " and ".join(f"--{name.replace('_', '-')}" for name in self.given())
            raise InputError(f"{names} is for model folders: give files as 'edges/*.parquet', or --engine local")


def scale_settings(folder: FolderSettings, settings: FitSettings, reading: ReadSettings) -> Any:
    """Settings of `treeball.scale` made of those of the command; what it has no use for is refused."""
    from ..scale.settings import READING, FolderMethod, ScaleSettings, is_trained

    trained = settings.objective == "ancestors" or is_trained(settings.method)
    taken = _TAKEN | {"epochs"} if trained else _TAKEN
    given = {name: value for name, value in vars_of(settings).items() if name not in taken}
    if "epochs" in given:
        raise InputError(
            "--epochs goes with --method softmax or --objective ancestors: by auto a training has as many as suit it"
        )
    if given:
        how = "whose training fixes it" if trained else "which is constructed"
        raise InputError(f"{' and '.join(sorted(given))} has no use in a model folder, {how}: leave it out")
    if settings.objective == "distances":
        raise InputError(
            "a model folder is made for the objective parents or ancestors: leave out --objective distances"
        )
    if settings.method not in (None, *get_args(FolderMethod)):
        raise InputError(
            f"a model folder is made by construct or by softmax: leave out --method {settings.method}, or fit a "
            "smaller file"
        )
    if settings.epochs == 0:
        raise InputError("--epochs is 0: give at least 1")
    if settings.dim == "auto":
        raise InputError("a model folder needs a number for --dim: 10 is the default")
    changed = [f"--{name.replace('_', '-')}" for name in set_of(reading) if name not in ("root", *READING)]
    if changed:
        raise InputError(
            f"{' and '.join(changed)} has no use in a model folder: leave it out; edges are read from two columns, "
            "which --columns and --direction name, within --memory"
        )
    names = ("dim", "seed", "objective", "method", "epochs")
    chosen: dict[str, Any] = {name: value for name in names if (value := getattr(settings, name)) is not None}
    workers = {} if settings.threads is None else {"workers": settings.threads}
    return ScaleSettings(**chosen, **(workers | folder.given()), root=reading.root, reading=reading)


def set_of(reading: ReadSettings) -> list[str]:
    """Names of the options of the readers that were set."""
    plain = type(reading)()
    return [field.name for field in fields(reading) if getattr(reading, field.name) != getattr(plain, field.name)]


def vars_of(settings: FitSettings) -> dict[str, Any]:
    """The settings of a fit that were given."""
    return {field.name: value for field in fields(settings) if (value := getattr(settings, field.name)) is not None}


def fit_folder(
    sources: tuple[str, ...], output: Path | None, folder: FolderSettings, settings: FitSettings, reading: ReadSettings,
    json: bool,
) -> int:  # fmt: skip
    """Make a model folder."""
    from ..scale.fit import fit_folder as make
    from ..scale.layout import without_files

    chosen = scale_settings(folder, settings, reading)
    if output is None:
        raise InputError("give the model folder a name with -o, such as -o model")
    manifest = make(sources, output, chosen, say)
    repairs = f"{_repairs_of(manifest)}; see repairs.parquet" if manifest["repairs"] else "no repairs"
    say(f"{count(manifest['nodes'], 'node')}, {count(manifest['edges'], 'edge')}; {repairs}")
    if json:
        print_json(without_files(manifest))
    else:
        print_table(rows_of(manifest), str(output))
    say(f"saved {output}")
    return 0


def _repairs_of(manifest: dict[str, Any]) -> str:
    """What was repaired, in words."""
    from ..hierarchy.read_report import repair_words

    return ", ".join(repair_words(kind, number) for kind, number in manifest["repairs"].items())


def borders_row(counts: dict[str, Any] | None) -> str:
    """What is known of pairs across the borders of branches."""
    if counts is None:
        return "not checked: run the same  treeball fit  again"
    if not counts["nodes"]:
        return "none: there is one branch"
    return (
        f"{counts['ill']:,} pairs ill of {counts['nodes']:,} nodes, {counts['healed']:,} healed, "
        f"{counts['left']:,} left ({counts['left_nearest']:,} with the nearest parent)"
    )


def rows_of(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """A manifest in few rows."""
    plan = manifest["plan"]
    rows = [
        ("nodes", f"{manifest['nodes']:,}"),
        ("edges", f"{manifest['edges']:,} ({manifest['other_edges']:,} to further parents)"),
        (
            "roots",
            f"{manifest['roots']:,}" + (f" under {manifest['virtual_root']}" if manifest["virtual_root"] else ""),
        ),
        ("height", f"{manifest['height']} edges"),
        ("repairs", _repairs_of(manifest) or "none"),
        ("method", f"{manifest['method']}, dimension {manifest['dim']}, seed {manifest['seed']}"),
        ("objective", manifest["objective"]),
        ("plan", _plan_of(manifest, plan)),
        ("shards", f"{len(manifest['shards']):,}, {sum(one['bytes'] for one in manifest['shards']):,} bytes"),
        ("verified", f"{manifest['ill_in_branches']:,} ill of {manifest['verified']:,} nodes ranked in their branches"),
        ("largest radius", f"{manifest['largest_radius']:.2f}"),
    ]
    if "map_in_branches" not in manifest:
        rows.insert(-1, ("borders", borders_row(manifest.get("borders"))))
    else:
        now, before = manifest["map_in_branches"], manifest["map_before_training"]
        rows.append(("in branches", f"MAP {now:.4f} of these nodes, {before:.4f} before the training"))
        if manifest["trainings_not_kept"]:
            rows.append(
                ("not kept", f"{count(manifest['trainings_not_kept'], 'training')} that ended worse than it began")
            )
    if "removed" in manifest:
        rows.append(("removed", f"{manifest['removed']['nodes']:,} of all these nodes"))
    if manifest.get("added"):
        rows.append(("added", f"{sum(one['rows'] for one in manifest['added']):,} nodes"))
    return rows


def _plan_of(manifest: dict[str, Any], plan: dict[str, Any]) -> str:
    """How the nodes got their places, in a line."""
    if "stand_ins" not in plan:
        return f"edges to {plan['longest']:.3g}, growth {plan['growth']:.4g}, radius {plan['budget']:g}"
    return (
        f"{manifest['trunk']:,} nodes of the trunk and {plan['stand_ins']:,} stand-ins in {plan['epochs_of_trunk']:,} "
        f"epochs, then branches in {plan['epochs']:,}, from sharpness {plan['sharpness']:.3g}"
    )
