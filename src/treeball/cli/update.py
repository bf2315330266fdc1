"""``treeball update``: a model of this week, from that of last week and a whole export."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..hierarchy._update_limits import UpdateLimits
from ..io.readers.settings import OnDuplicate
from ..words import count
from .console import print_json, print_line, print_table, say, say_what_was_read
from .folder_answers import refuse_options, refuse_reading, update_folder
from .outputs import changing
from .sources import ReadingOptions, read_hierarchy

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..hierarchy._next_version import NextVersion
    from ..methods._insert import Insertion

_SHOWN = 10


def update(
    model: Path,
    export: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *more: str,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    dry_run: bool = False,
    limits: Annotated[UpdateLimits, Parameter(name="*")] = UpdateLimits(),  # noqa: B008
    on_duplicate: OnDuplicate = "error",
    force: bool = False,
    make_room: bool = True,
    heal: bool = False,
    json: bool = False,
    threads: int = 0,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Bring a model to the next version of its hierarchy; the vectors of what has not changed stay byte for byte.

    Nodes are compared by their names, ids where there are ids: what is new gets a place, what hangs elsewhere goes
    there with all below it, what is missing is removed, and labels become those of the new version; a node to which the
    new version gives no label keeps its label. Removing or moving many nodes at once needs an option.

    Parameters
    ----------
    model
        Model file that treeball fit wrote, or a model folder, which is changed in place: new nodes get places, removed
        ones are marked, and those that hang elsewhere are told and stay.
    export
        The whole new version, in any format that treeball fit reads; - for standard input. For a model folder Parquet
        or CSV files, such as 'edges/*.parquet'.
    more
        Further files that belong to it, such as products below categories.
    output
        Model to write, which may be the model itself; by default its name with the ending .updated.parquet.
    dry_run
        Say what would be done, and do nothing.
    on_duplicate
        What to do with ids that several rows of a table give different parents or labels: refuse them (error), take
        the first or the last row, or keep all parents.
    force
        Set no limit to the nodes that are removed or moved.
    make_room
        Where a node is full and its new children have no place, move as few old nodes as will do, and say which. With
        --no-make-room none moves, and those without a place are named.
    heal
        Heal the model if a node that got a place is ill, or another because of it. A model made for the objective
        ancestors is refused.
    json
        Print what was done as one JSON object.
    threads
        Workers; 0 uses all cores.
    """
    from ..scale.layout import is_folder

    limits = limits.forced() if force else limits
    if is_folder(model):
        refuse_options(
            output=output,
            heal=heal,
            no_make_room=not make_room,
            on_duplicate=on_duplicate if on_duplicate != "error" else None,
        )
        refuse_reading(reading)
        from ..scale.source import Edges

        return update_folder(model, Edges.of((export, *more), reading), limits, dry_run, threads, json)
    from ..hierarchy._next_version import next_version
    from ..io.model_file import load
    from ..io.readers.duplicates import settings_for_update
    from ..methods._insert import apply_edit
    from ..methods._update import Update, require_within

    output = output or model.with_name(model.stem + ".updated.parquet")
    with nullcontext() if dry_run else changing(model, output, export, *more):
        embedding = load(model)
        before = embedding.hierarchy
        after = read_hierarchy(export, more, reading, settings_for_update(before, reading, on_duplicate))
        say_what_was_read(after.report)
        changes = next_version(before, after, allow_new_roots=limits.allow_new_roots)
        if not json:
            _print_changes(changes, embedding)
        elif dry_run:
            print_json({"changes": changes.to_dict()})
        require_within(changes, before, limits)
        if dry_run:
            say("nothing was written: this was a dry run")
            return 0
        if not changes:
            embedding.save(output)
            if json:
                print_json({"changes": changes.to_dict()})
            say(f"nothing has changed; saved {output} as the model was")
            return 0
        insertion = apply_edit(
            embedding, changes.edit, make_room=make_room, heal_ill=heal, threads=threads, progress=True
        )
        made = Update(changes, insertion)
        made.embedding.save(output)
        if json:
            print_json({**made.to_dict(), "scores": made.embedding.provenance.scores})
        else:
            _print_result(made.insertion)
        say(f"saved {output}")
        return 0


def _print_changes(changes: NextVersion, embedding: Embedding) -> None:
    before, after = embedding.names, changes.edit.hierarchy.names
    rows = [("nodes", f"{len(before):,} before, {len(after):,} after, {changes.kept:,} of them in both")]
    for what, names, known in (
        ("new", changes.added, after),
        ("removed", changes.removed, before),
        ("hung elsewhere", changes.moved, after),
    ):
        rows.append((what, _listed(known.shown_as(names[:_SHOWN]), len(names))))
    rows += [
        (what, _listed([f"{old} -> {new}" for old, new in pairs[:_SHOWN]], len(pairs)))
        for what, pairs in (
            ("renamed", changes.renamed),
            ("other label", [(f"{node}: {old}", new) for node, old, new in changes.relabelled]),
        )
    ]
    if changes.labels_kept:
        some = after.shown_as(changes.labels_kept[:_SHOWN])
        rows.append(("label kept, as the new one is empty", _listed(some, len(changes.labels_kept))))
    if changes.other_synonyms:
        some = after.shown_as(changes.other_synonyms[:_SHOWN])
        rows.append(("other synonyms", _listed(some, len(changes.other_synonyms))))
    print_table(rows)


def _listed(shown: list[str], number: int) -> str:
    """A number, and the first of what it counts."""
    if not number:
        return "0"
    return f"{number:,} ({', '.join(shown)}{', ...' if number > len(shown) else ''})"


def _print_result(insertion: Insertion) -> None:
    known, scores = insertion.embedding.names, insertion.embedding.evaluate(insertion.embedding.objective)
    placed = len(insertion.placed)
    rows = [("placed", f"{placed:,}")]
    if placed:
        share = insertion.parent_nearest / placed
        rows.append(("parent is nearest", f"{insertion.parent_nearest:,} ({share:.2%})"))
    rows += [("MAP", f"{scores.map:.4f}"), ("mean rank", f"{scores.mean_rank:.3f}")]
    rows.append(("ill pairs", f"{len(scores.illness):,}"))
    print_table(rows)
    for what, names in (
        ("found no free place", insertion.without_place),
        ("placed, but not nearest to the parent", insertion.ill),
        ("fell ill because of those placed", insertion.fell_ill),
        ("moved to make room", insertion.moved_for_room),
        ("moved to heal", insertion.healed_by_moving),
    ):
        if names:
            print_line(f"{count(len(names), 'node')} {what}: {_listed(known.shown_as(names[:_SHOWN]), len(names))}")
    if scores.certificate is not None:
        print_line(scores.certificate.sentence())
