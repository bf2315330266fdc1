"""``treeball view``: a model as a page to walk through, in one HTML file, or as a still picture of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..errors import InputError
from ..types import Layout, Objective
from .console import say
from .serving import serve_until_ctrl_c

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..report.table import Column
    from ..scale.pages import Pages
    from ..scale.upper import Upper


def view(
    model: Path,
    *,
    html: Annotated[Path | None, Parameter(alias="-o")] = None,
    png: Path | None = None,
    open: bool | None = None,
    serve: Annotated[bool, Parameter(negative="")] = False,
    port: int = 0,
    title: str | None = None,
    table: Path | None = None,
    column: str | None = None,
    layout: Layout | None = None,
    objective: Objective | None = None,
    threads: int = 0,
    most: int | None = None,
    below: str | None = None,
) -> int:
    """Walk through a model in the browser: one HTML file that needs no network.

    Parameters
    ----------
    model
        Model file or folder that treeball fit wrote; of a folder the upper levels are shown.
    html
        Page to write; by default the name of the model with the ending .html, in the current directory.
    png
        Still picture to write, for which no browser is needed, but matplotlib; the page is then written only when
        --html, --open or --serve asks for it.
    open
        Open the page in the browser; by default only when neither --html nor --png is given.
    serve
        Serve the page on this machine until Ctrl-C, and write it only when --html is given. Of a folder all nodes can
        be reached then: what the page does not show is on pages that are made when one goes there.
    port
        Port for --serve; 0 takes a free one.
    title
        Heading of the page or picture; by default the name of the model.
    table
        CSV, TSV or Parquet file whose first column names nodes, to colour them by one of its columns.
    column
        Column of the table; by default its second.
    layout
        What the page opens with: the hyperbolic disk, which is the default; or the hierarchy in the plane with every
        edge as long as its weight, rectangular with an axis for the depth, or radial. The page can change between them.
    objective
        Rank a node's parents or all its ancestors; by default what the model was trained for.
    threads
        Workers; 0 uses all cores.
    most
        Of a model folder, show so many nodes, level by level; 5,000 by default.
    below
        Of a model folder, show what is below this node.
    """
    from ..io.atomic import atomic_write, require_writable
    from ..report.table import read_column
    from ..scale.layout import is_folder

    if column is not None and table is None:
        raise InputError(f"--column {column} needs a table to take it from: give --table FILE too")
    wants_browser = open if open is not None else html is None and png is None
    target = html or (Path(f"{model.stem}.html") if not serve and (wants_browser or png is None) else None)
    for output in filter(None, (target, png)):
        require_writable(output, model, *([table] if table else []))
    if png is not None:
        _require_png(png)
    is_whole = not is_folder(model)
    if layout is not None:
        _require_layout(layout, has_page=target is not None or serve, is_whole=is_whole)
    parts = None if is_whole else _parts(model, most, below, title, objective, table, column, threads)
    first = None if parts is None else _first_of(parts)
    embedding = _file(model, most, below) if first is None else first.embedding
    chosen = None if table is None else read_column(table, column, embedding.hierarchy)
    if parts is not None:
        shown, all_ = len(embedding), parts.folder.n_present
        say(f"{shown:,} of {all_:,} nodes; --most shows more, --below NODE what is below a node")
    if chosen is not None:
        say(f"column {chosen.name!r}: {chosen.matched:,} of {len(embedding):,} nodes have a row")
    heading = title or model.stem
    if png is not None:
        _draw(embedding, png, heading, objective, chosen, threads)

    def page() -> str:
        if parts is not None and first is not None:
            return parts.page(first, served=False)
        from ..report.browser import make_page

        return make_page(
            embedding, title=heading, objective=objective, column=chosen, layout=layout or "disk", threads=threads
        )

    if target is not None:
        text = page()
        with atomic_write(target) as temporary:
            temporary.write_text(text, "utf-8", newline="\n")
        say(f"wrote {target} ({len(text) / 1e6:.1f} MB)")
    if serve:
        return _serve(page() if parts is None else parts, port, wants_browser)
    if wants_browser and target is not None:
        _open(target.resolve().as_uri())
    return 0


def _require_layout(layout: Layout, *, has_page: bool, is_whole: bool) -> None:
    """Refuse a layout that nothing would show."""
    if not has_page:
        raise InputError(f"--layout {layout} is for the page, and --png alone writes none: give --html FILE too")
    if layout != "disk" and not is_whole:
        raise InputError(f"--layout {layout} is for model files: a model folder keeps no lengths of edges")


def _file(model: Path, most: int | None, below: str | None) -> Embedding:
    """The model of a file, whole."""
    from ..io.model_file import load

    if most is not None or below is not None:
        raise InputError("--most and --below are for model folders: a model file is shown whole")
    return load(model)


def _first_of(parts: Pages) -> Upper:
    """What the first page of a folder shows."""
    from ..scale.verify import damage_named

    with damage_named(parts.folder.path):
        return parts.first()


def _parts(
    model: Path, most: int | None, below: str | None, title: str | None, objective: Objective | None,
    table: Path | None, column: str | None, threads: int,
) -> Pages:  # fmt: skip
    """The pages of a folder."""
    from ..scale.folder import ModelFolder
    from ..scale.pages import Pages, PageSettings
    from ..scale.upper import MOST_SHOWN

    shows = MOST_SHOWN if most is None else most
    return Pages(ModelFolder(model), PageSettings(shows, below, title, objective, table, column, threads))


def _require_png(path: Path) -> None:
    """Refuse another ending, and a missing library, before the work."""
    from ..report.style import style

    if path.suffix.lower() != ".png":
        raise InputError(f"--png {str(path)!r} does not end in .png: treeball plot -o writes .svg as well")
    with style():
        pass


def _draw(
    embedding: Embedding, path: Path, title: str, objective: Objective | None, column: Column | None, threads: int
) -> None:
    from ..report import figures

    scores = embedding.evaluate(objective, threads=threads)
    figure = figures.disk(
        embedding,
        evaluation=scores,
        title=f"{title}: {figures.caption(embedding, scores)}",
        colouring=column or "subtree",
    )
    figures.save(figure, path)
    say(f"wrote {path}")


def _serve(page: str | Pages, port: int, wants_browser: bool) -> int:
    """Serve the page of a model file, or all those of a folder."""
    if isinstance(page, str):
        from ..report.browser.serve import page_server

        server = page_server(page, port)
    else:
        from ..scale.serve import application
        from ..web import LocalServer

        server = LocalServer(application(page), port)
    with server:
        return serve_until_ctrl_c(server, _open if wants_browser else None)


def _open(address: str) -> None:
    """Open the browser where there is a screen; elsewhere a text browser would take over the terminal."""
    import webbrowser

    has_screen = sys.platform in ("win32", "darwin") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if not has_screen or not webbrowser.open(address):
        say(f"open {address} in a browser")
