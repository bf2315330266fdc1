"""One HTML file that holds a model and the program that shows it, and asks the network for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._version import __version__
from ...errors import InputError
from ...io.atomic import atomic_write
from ...types import Layout, Objective
from ...words import json_number
from ..spread import shows_vectors
from ..table import Column
from ..templates import asset, render, script, trusted
from . import packing
from .companion import SHARE_POWER, companion, sampled_map
from .facts import Facts, measure
from .order import LevelOrder, level_order
from .part import Part
from .places import Places, places_of_vectors
from .to_scale import TO_SCALE_UP_TO_NODES, lay_to_scale

if TYPE_CHECKING:
    from ...embedding import Embedding

# In the order in which one may use what another defines while the page loads.
SCRIPTS = (
    "data.js",
    "geometry.js",
    "tree.js",
    "walk.js",
    "camera.js",
    "flat.js",
    "flat_walk.js",
    "scale_marks.js",
    "view.js",
    "colors.js",
    "scene.js",
    "draw_webgl.js",
    "draw_canvas.js",
    "labels.js",
    "dom.js",
    "search.js",
    "details.js",
    "illness.js",
    "panels.js",
    "layouts.js",
    "part.js",
    "navigation.js",
    "pointer.js",
    "keyboard.js",
    "export.js",
    "main.js",
)


def write_page(
    embedding: Embedding,
    path: Path,
    *,
    title: str | None = None,
    objective: Objective | None = None,
    column: Column | None = None,
    layout: Layout = "disk",
    threads: int = 0,
) -> Path:
    """Write the page of an embedding, whole or not at all; see :func:`make_page`."""
    text = make_page(
        embedding, title=title or path.stem, objective=objective, column=column, layout=layout, threads=threads
    )
    with atomic_write(path) as temporary:
        temporary.write_text(text, "utf-8", newline="\n")
    return path


def make_page(
    embedding: Embedding,
    *,
    title: str,
    objective: Objective | None = None,
    column: Column | None = None,
    layout: Layout = "disk",
    to_scale: bool = True,
    part: Part | None = None,
    threads: int = 0,
) -> str:
    """The page of an embedding as text.

    Parameters
    ----------
    embedding
        Vectors of 2 hyperbolic dimensions are shown as they are; for others the picture is a 2-d companion, and every
        number is still that of the vectors.
    title
        Heading of the page.
    objective
        Which pairs can be ill; by default what the embedding was made for.
    column
        A column to colour nodes by; see :func:`treeball.report.table.read_column`.
    layout
        What the page opens with: the disk, or the hierarchy with its edges to scale, see
        :mod:`treeball.report.browser.to_scale`.
    to_scale
        Whether the page can change to the layouts to scale, which it can up to 200,000 nodes.
    part
        Of which larger model the embedding is a part, whose nodes the page does not show.
    threads
        0 uses all cores.
    """
    if layout != "disk" and len(embedding) > TO_SCALE_UP_TO_NODES:
        raise InputError(
            f"the layout {layout} shows up to {TO_SCALE_UP_TO_NODES:,} nodes and there are {len(embedding):,}: "
            "take the disk, or a part of the hierarchy"
        )
    facts = measure(embedding, objective, threads)
    order, places, quality = _picture(embedding, facts)
    summary = _summary(embedding, facts, title) | {"picture": quality, "layout": layout, "to_scale": None}
    sections = _structure(embedding, order, places, exact=quality is None) | _measurements(facts, order)
    if to_scale and len(embedding) <= TO_SCALE_UP_TO_NODES:
        summary["to_scale"], drawing = _to_scale(embedding, order)
        sections |= drawing
    if column is not None:
        summary["column"] = {"name": column.name, "categories": column.categories, "matched": column.matched}
        sections["column"] = packing.float_planes(packing.for_reading(column.values[order.code]), np.float32)
    if part is not None:
        summary["part"] = part.summary()
        sections |= part.sections(order)
    return _assemble(title, summary, sections)


def refusal_page(title: str, sentence: str) -> str:
    """A page that says why there is no page, with the way back to the first one."""
    style = trusted(asset("browser/assets/refusal.css"))
    return render("browser/assets/refusal.html", title=title, sentence=sentence, style=style)


def _picture(embedding: Embedding, facts: Facts) -> tuple[LevelOrder, Places, dict[str, Any] | None]:
    """Order and places of the nodes, and for a companion how faithful it is."""
    hierarchy = embedding.hierarchy
    if shows_vectors(embedding):
        by_code = places_of_vectors(embedding)
        order = level_order(hierarchy, by_code.angle)
        return order, Places(by_code.angle[order.code], by_code.length[order.code]), None
    order = level_order(hierarchy)
    places = companion(order)
    score, sample = sampled_map(places, order, hierarchy, facts.evaluation.objective)
    return order, places, {"map": json_number(score), "sample": sample, "power": SHARE_POWER}


def _summary(embedding: Embedding, facts: Facts, title: str) -> dict[str, Any]:
    provenance = embedding.provenance
    return {
        **facts.evaluation.to_dict(),
        "title": title,
        "geometry": embedding.geometry,
        "method": provenance.method,
        "version": __version__,
        "virtual_root": embedding.hierarchy.virtual_root is not None,
        "pairs": int(facts.evaluation.ranking.ranks.size),
        "nearest": 0 if facts.nearest is None else facts.nearest.shape[1],
        "listed": int(facts.ill_node.size),
    }


def _structure(embedding: Embedding, order: LevelOrder, places: Places, *, exact: bool) -> dict[str, bytes]:
    hierarchy = embedding.hierarchy
    names = hierarchy.names
    # Angles between the children of a far node may be as small as e^-30: real vectors need all digits.
    angle = packing.float_planes(places.angle, np.float64 if exact else np.float32)
    sections = {
        "children": packing.varints(np.diff(order.first)),
        "names": packing.lines(names.called(order.code)),
        "angle": angle,
        "length": packing.float_planes(places.length, np.float32),
    }
    if names.has_labels:
        sections["ids"] = packing.lines(map(str, names.take(order.code)))
    if not hierarchy.is_tree:
        child, parent = (order.position[codes] for codes in hierarchy.edges())
        extra = order.parent[child] != parent
        sections["other_child"] = packing.varints(child[extra])
        sections["other_parent"] = packing.varints(parent[extra])
    return sections


def _to_scale(embedding: Embedding, order: LevelOrder) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the layouts to scale are made of: lengths as shares of the height, and twice the rows, which are whole."""
    layout = lay_to_scale(embedding.hierarchy, order)
    about = {
        "height": layout.height,
        "rows": layout.rows,
        "has_lengths": layout.has_lengths,
        "is_dated": layout.is_dated,
        "leaves_out": embedding.hierarchy.n_edges - len(order) + 1,
    }
    sections = {
        "edge_length": packing.float_planes(layout.length / (layout.height or 1.0), np.float32),
        "row": packing.signed_varints(np.diff(np.rint(2.0 * layout.row).astype(np.int64), prepend=0)),
    }
    return about, sections


def _measurements(facts: Facts, order: LevelOrder) -> dict[str, bytes]:
    def numbers(values: Any) -> bytes:
        return packing.float_planes(packing.for_reading(values), np.float32)

    own = np.arange(len(order))
    sections = {
        "radius": numbers(facts.radius[order.code]),
        "parent_distance": numbers(facts.parent_distance[order.code]),
        "margin": numbers(facts.margin[order.code]),
    }
    if facts.nearest is not None and facts.nearest_distance is not None:
        near = facts.nearest[order.code]
        # -1 stays "none": a node is never its own neighbour, so a difference of 0 is free to say so.
        delta = np.where(near < 0, 0, order.position[near] - own[:, None])
        sections["near"] = packing.signed_varints(delta)
        sections["near_distance"] = numbers(facts.nearest_distance[order.code])
    if facts.ill_node.size:
        node = order.position[facts.ill_node]
        sections |= {
            "ill_node": packing.varints(node),
            "ill_positive": packing.signed_varints(order.position[facts.ill_positive] - node),
            "ill_offender": packing.signed_varints(order.position[facts.ill_offender] - node),
            "ill_kind": facts.ill_kind.astype(np.uint8).tobytes(),
            "ill_distance": numbers(facts.ill_distance),
            "ill_offender_distance": numbers(facts.ill_offender_distance),
        }
    return sections


def _assemble(title: str, summary: dict[str, Any], sections: dict[str, bytes]) -> str:
    modules = [script(f"browser/assets/{name}") for name in SCRIPTS]
    program = "(() => {\n'use strict';\n" + "\n".join(modules) + "\n})();"
    return render(
        "browser/assets/page.html",
        title=title,
        style=trusted(asset("browser/assets/style.css")),
        script=trusted(program),
        summary=summary,
        sections={name: packing.packed(raw) for name, raw in sections.items()},
    )
