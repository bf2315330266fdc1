"""``treeball compare``: two models, or two versions of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..io.readers.settings import ReadSettings
from ..types import Objective
from ..words import count
from .console import print_json, print_rows, print_table

if TYPE_CHECKING:
    from ..evaluation._compare import Comparison
    from ..hierarchy._diff import Changes

_LISTED = 10


def compare(
    first: str,
    second: str,
    *,
    objective: Objective | None = None,
    threads: int = 0,
    json: bool = False,
    reading: Annotated[ReadSettings, Parameter(name="*", group="Reading")] = ReadSettings(),  # noqa: B008
) -> int:
    """Compare two models (what moved, fell ill, was healed) or two versions of a hierarchy (what is where).

    The second model is laid on the first by the best isometry over the nodes of both, so that a rotated copy has not
    moved at all.

    Parameters
    ----------
    first
        A model file, or a file with a hierarchy in any format treeball reads.
    second
        Another.
    objective
        What makes a pair ill; by default what the first model was trained for.
    threads
        Workers; 0 uses all cores.
    json
        Print one JSON object, which lists everything.
    """
    from ..io.model_file import is_model, load
    from ..io.readers import read

    saved = [Path(source).is_file() and is_model(Path(source)) for source in (first, second)]
    if all(saved):
        from ..evaluation._compare import compare as compare_models

        found = compare_models(load(first), load(second), objective, threads=threads)
        print_json(found.to_dict()) if json else _show(found, first, second)
        return 0
    from ..hierarchy import diff

    before, after = (
        load(source).hierarchy if is_saved else read(source, reading)
        for source, is_saved in zip((first, second), saved, strict=True)
    )
    changes = diff(before, after)
    print_json(changes.to_dict()) if json else _show_changes(changes)
    return 0


def _show(found: Comparison, first: str, second: str) -> None:
    header = ("", first, second)
    labels = {"map": ("MAP", ".4f"), "mean_rank": ("mean rank", ".3f"), "hits_at_1": ("hits@1", ".4f")}
    rows = [(label, *(format(value, form) for value in found.scores[key])) for key, (label, form) in labels.items()]
    print_rows(header, rows)
    print()
    if found.moved is None:
        print("how far nodes moved cannot be said: dimension or kind of space differ")
    else:
        far = found.quantiles()
        print(
            f"{count(len(found.names), 'node')} in both moved by {far['0.5']:.3g} in the median, 9 of 10 by at most "
            f"{far['0.9']:.3g}, the farthest by {far['1']:.3g} (a median edge is {found.edge:.3g} long)"
        )
        movers = [(str(name), f"{apart:.3g}") for name, apart in found.top_movers(_LISTED) if apart > 0]
        if movers:
            print_table(movers, "moved most")
    for title, pairs in (("fell ill", found.fell_ill), ("healed", found.healed)):
        print(f"{title}: {count(len(pairs), 'pair')}" + _some([f"{a} below {b}" for a, b in pairs]))
    if found.changes:
        _show_changes(found.changes)


def _show_changes(changes: Changes) -> None:
    print(f"nodes in both: {changes.common:,}")
    print(f"added: {len(changes.added):,}" + _some(changes.added))
    print(f"removed: {len(changes.removed):,}" + _some(changes.removed))
    print(f"probably renamed: {len(changes.renamed):,}" + _some([f"{old} -> {new}" for old, new in changes.renamed]))
    moved = [f"{node}: {_joined(old)} -> {_joined(new)}" for node, old, new in changes.reparented]
    print(f"hang elsewhere: {len(moved):,}" + _some(moved))


def _some(items: Sequence[Any]) -> str:
    shown = "; ".join(str(item) for item in items[:_LISTED])
    return f"  ({shown}{'; ...' if len(items) > _LISTED else ''})" if items else ""


def _joined(names: Sequence[Any]) -> str:
    return ", ".join(str(name) for name in names) or "no parent"
