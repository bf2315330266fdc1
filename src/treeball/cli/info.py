"""``treeball info``: what a hierarchy or a model holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..addresses import local_path
from ..errors import InputError
from ..words import count
from .console import print_json, print_table, recorded_score_rows
from .folder_answers import info_folder
from .sources import ReadingOptions, read_hierarchy, refuse_repairs_of_models

if TYPE_CHECKING:
    from ..embedding import Dilations, Embedding
    from ..hierarchy import Hierarchy


# Inner nodes whose local capacity is looked at, and how many of those that lack it are listed.
_CAPACITY_NODES, _CAPACITY_LISTED = 20_000, 10


def info(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *more: str,
    json: bool = False,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Describe a hierarchy (size, shape, repairs) or a model (what made it, scores, limits).

    Parameters
    ----------
    source
        A model file or folder, or a file with a hierarchy in any format treeball reads.
    more
        Further files that belong to the hierarchy, such as products below categories.
    json
        Print one JSON object.
    """
    from ..io.model_file import is_model, load
    from ..scale.layout import is_folder

    source, more = local_path(source), tuple(map(local_path, more))
    if not more and is_folder(source):
        return info_folder(Path(source), json)
    models = [one for one in (source, *more) if Path(one).is_file() and is_model(Path(one))]
    if models and more:
        raise InputError(f"{models[0]!r} is a model: describe it alone, without other files")
    if models:
        refuse_repairs_of_models(reading)
        embedding = load(source)
        record: dict[str, Any] = {"model": embedding.provenance.to_dict(), "hierarchy": _shape(embedding.hierarchy)}
        rows = _model_rows(embedding)
    else:
        hierarchy = read_hierarchy(source, more, reading)
        report = hierarchy.report
        record = {"reading": None if report is None else report.to_dict(), "hierarchy": _shape(hierarchy)}
        rows = [] if report is None else [("read", line) for line in report.summary().splitlines()]
        rows += _shape_rows(hierarchy)
    if json:
        print_json(record)
    else:
        print_table(rows, " + ".join((source, *more)))
    return 0


def _shape(hierarchy: Hierarchy) -> dict[str, Any]:
    import dataclasses

    return dataclasses.asdict(hierarchy.statistics())


def _shape_rows(hierarchy: Hierarchy) -> list[tuple[str, str]]:
    shape = hierarchy.statistics()
    kind = "tree" if hierarchy.is_tree else f"DAG ({shape.multi_parent:,} nodes with several parents)"
    return [
        ("kind", kind),
        ("nodes", f"{shape.nodes:,} ({shape.inner:,} inner, {shape.leaves:,} leaves)"),
        ("edges", f"{shape.edges:,}"),
        ("largest degree", f"{shape.max_degree:,}"),
        ("deviation of degree", f"{shape.std_degree:.2f} ({shape.std_degree_inner:.2f} over inner nodes)"),
        ("depth", f"{shape.depth} edges"),
    ]


def _model_rows(embedding: Embedding) -> list[tuple[str, str]]:
    from ..embedding._precise import loss_of_rounding
    from ..evaluation import Certificate

    made = embedding.provenance
    source = made.input or {}
    rows = [
        ("geometry", f"{embedding.geometry}, dimension {embedding.dim}"),
        ("method", made.method or "unknown"),
        (
            "objective",
            f"distances (ranks are of {embedding.objective})" if embedding.keeps_distances else embedding.objective,
        ),
        ("settings", ", ".join(f"{name}={value}" for name, value in made.settings.items()) or "unknown"),
        ("trained", f"{made.epochs_done} epochs" if made.settings else "unknown"),
        ("version", f"treeball {made.version}"),
        ("input", f"{source.get('source', 'unknown')}  sha256 {source.get('sha256') or 'unknown'}"),
        ("largest radius", f"{embedding.radii().max():.2f}"),
    ]
    if embedding.precise is not None:
        lost = loss_of_rounding(embedding.precise, embedding.vectors, embedding.space)
        rows.insert(1, ("precision", _precision_text(lost)))
    if made.clamped.at_radius is not None:
        rows.append(("clamped", f"{made.clamped.times:,} times at radius {made.clamped.at_radius:g}"))
    if made.dilations is not None:
        rows.append(("dilations", _dilations_text(made.dilations)))
    scores = made.scores
    rows += recorded_score_rows(scores)
    certificate = Certificate.of_scores(scores)
    if certificate is not None:
        rows.append(("certificate", certificate.sentence()))
    rows += [(f"epoch {entry.epoch}", entry.text) for entry in made.log]
    return rows + _capacity_rows(embedding) + _shape_rows(embedding.hierarchy)


def _dilations_text(dilations: Dilations) -> str:
    done = ", ".join(
        f"epoch {epoch:,} by {factor:.3g}" for epoch, factor in zip(dilations.epochs, dilations.factors, strict=True)
    )
    skipped = f"; {dilations.skipped:,} skipped at the largest radius" if dilations.skipped else ""
    return (done or "none") + skipped


def _precision_text(lost: dict[str, Any]) -> str:
    text = f"{lost['terms']} terms a coordinate, good to radius {lost['carries_radius']:.1f}; the plain vectors are "
    held, at = lost["vectors_held"], lost["vectors_held_at_radius"]
    return text + (f"rounded, {count(held, 'node')} held at radius {at:g}" if held else "rounded")


def _capacity_rows(embedding: Embedding) -> list[tuple[str, str]]:
    """The verdict on local capacity; nodes beyond the lower bound unless no pair is capacity-ill."""
    from ..geometry.capacity import radius_needed_lower
    from ..methods.sufficiency import sufficiency
    from ..workers import available_cores

    # The bounds are looked at in plain vectors, which rounding has moved where there are several terms. Where lengths
    # are drawn to scale, how near a child is says nothing of room.
    if not embedding.space.is_hyperbolic or embedding.precise is not None or embedding.keeps_distances:
        return []
    found = sufficiency(embedding.ball(), embedding.hierarchy, sample=_CAPACITY_NODES, threads=available_cores())
    scores = embedding.provenance.scores or {}
    ill = scores["illness"]["capacity"] if scores.get("illness") else None
    rows = [("local capacity", found.verdict(ill, not scores.get("sampled")))]
    if ill == 0:
        return rows
    order = sorted(range(found.nodes.size), key=lambda i: -int(found.children[i]))
    for i in [i for i in order if found.lacking[i]][:_CAPACITY_LISTED]:
        name = embedding.names.shown(int(found.nodes[i]))
        needed = radius_needed_lower(found.children[i], embedding.dim)
        text = f"{name}: {found.children[i]:,} children within {found.radius[i]:.2f}, enough are {needed:.2f}"
        rows.append(("  beyond the bound", text))
    return rows
