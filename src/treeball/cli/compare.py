"""``treeball compare``: two models, or two versions of a hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..types import Objective
from ..words import count
from .console import print_json, print_line, print_rows, print_table
from .sources import ReadingOptions, read_hierarchies, refuse_repairs_of_models

if TYPE_CHECKING:
    from ..evaluation._compare import Comparison
    from ..hierarchy import Hierarchy
    from ..hierarchy._diff import Changes
    from ..hierarchy.names import Names

_LISTED = 10


def compare(
    first: str,
    second: str,
    *,
    objective: Objective | None = None,
    threads: int = 0,
    json: bool = False,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
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
    from ..addresses import local_path
    from ..io.model_file import is_model, load
    from ..io.readers import read

    first, second = local_path(first), local_path(second)
    for source in (first, second):
        if (Path(source) / "manifest.json").is_file():
            load(source)  # which refuses a model folder as one
    saved = [Path(source).is_file() and is_model(Path(source)) for source in (first, second)]
    if all(saved):
        refuse_repairs_of_models(reading)
        from ..evaluation._compare import compare as compare_models

        models = load(first), load(second)
        found = compare_models(*models, objective, threads=threads)
        print_json(found.to_dict()) if json else _show(found, first, second, _shown(*(one.names for one in models)))
        return 0
    from ..hierarchy import diff

    def hierarchy_of(source: str, is_saved: bool) -> Hierarchy:
        return load(source).hierarchy if is_saved else read(source, reading)

    opening = [partial(hierarchy_of, *one) for one in zip((first, second), saved, strict=True)]
    before, after = read_hierarchies(opening, reading, (first, second))
    changes = diff(before, after)
    print_json(changes.to_dict()) if json else _show_changes(changes, _shown(before.names, after.names))
    return 0


def _shown(before: Names, after: Names) -> Callable[[Hashable], str]:
    """How people read a node of either version: with its label of the second, if it is there."""

    def shown(name: Hashable) -> str:
        for names in (after, before):
            codes = names.look_up(name)
            if codes and str(names[codes[0]]) == str(name):  # an id that is gone may be a synonym of another node
                return names.shown(codes[0])
        return str(name)

    return shown


def _show(found: Comparison, first: str, second: str, shown: Callable[[Hashable], str]) -> None:
    header = ("", first, second)
    labels = {
        "map": ("MAP", ".4f"),
        "mean_rank": ("mean rank", ".3f"),
        "hits_at_1": ("hits@1", ".4f"),
        "spearman": ("Spearman", ".4f"),
        "average_distortion": ("average distortion", ".4f"),
        "worst_distortion": ("worst distortion", ".4f"),
    }
    rows = [(label, *(format(value, form) for value in found.scores[key])) for key, (label, form) in labels.items()]
    print_rows(header, rows)
    print_line()
    if found.moved is None:
        print_line(
            "how far nodes moved cannot be said: dimension or kind of space differ, or nodes lie farther out than "
            "plain coordinates keep places"
        )
    else:
        far = found.quantiles()
        print_line(
            f"{count(len(found.names), 'node')} in both moved by {far['0.5']:.3g} in the median, 9 of 10 by at most "
            f"{far['0.9']:.3g}, the farthest by {far['1']:.3g} (a median edge is {found.edge:.3g} long)"
        )
        movers = [(shown(name), f"{apart:.3g}") for name, apart in found.top_movers(_LISTED) if apart > 0]
        if movers:
            print_table(movers, "moved most")
    for title, pairs in (("fell ill", found.fell_ill), ("healed", found.healed)):
        print_line(
            f"{title}: {count(len(pairs), 'pair')}" + _some(pairs, lambda pair: " below ".join(map(shown, pair)))
        )
    if found.changes:
        _show_changes(found.changes, shown)


def _show_changes(changes: Changes, shown: Callable[[Hashable], str]) -> None:
    print_line(f"nodes in both: {changes.common:,}")
    print_line(f"added: {len(changes.added):,}" + _some(changes.added, shown))
    print_line(f"removed: {len(changes.removed):,}" + _some(changes.removed, shown))
    renamed = _some(changes.renamed, lambda pair: f"{pair[0]} -> {pair[1]}")
    print_line(f"probably renamed: {len(changes.renamed):,}" + renamed)
    if changes.relabelled:
        relabelled = _some(changes.relabelled, lambda one: f"{one[0]}: {one[1] or 'none'} -> {one[2] or 'none'}")
        print_line(f"have another label: {len(changes.relabelled):,}" + relabelled)

    def moved(one: tuple[Hashable, Sequence[Hashable], Sequence[Hashable]]) -> str:
        node, old, new = one
        return f"{shown(node)}: {' -> '.join(', '.join(map(shown, some)) or 'no parent' for some in (old, new))}"

    print_line(f"hang elsewhere: {len(changes.reparented):,}" + _some(changes.reparented, moved))


def _some(items: Sequence[Any], shown: Callable[[Any], str]) -> str:
    """The first few items in brackets; nothing of none."""
    listed = "; ".join(shown(item) for item in items[:_LISTED])
    return f"  ({listed}{'; ...' if len(items) > _LISTED else ''})" if items else ""
