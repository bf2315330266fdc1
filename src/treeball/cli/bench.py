"""``treeball bench``: several methods on one hierarchy, on equal terms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..errors import MissingExtraError
from ..experiments.bench_settings import DIMS, METHODS, SEEDS, CommonSettings, HoldOut
from ..interruption import INTERRUPTED
from ..types import Objective
from ..words import count
from .console import print_json, print_line, print_rows, say, say_what_was_read
from .lists import Listed, items, whole_numbers
from .outputs import stem_of
from .sources import ReadingOptions, read_hierarchy

if TYPE_CHECKING:
    from ..experiments import Bench


def bench(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *more: str,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    methods: Listed = None,
    dims: Listed = None,
    seeds: Listed = None,
    objective: Objective = "parents",
    split: HoldOut = "none",
    share: float | None = None,
    threads: int = 0,
    json: bool = False,
    settings: Annotated[CommonSettings, Parameter(name="*", group="Settings of all methods")] = CommonSettings(),  # noqa: B008
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Compare methods on your own hierarchy: every method in every dimension with every seed, one table.

    Every finished run is kept: after Ctrl-C or a crash the same command goes on where it stopped. Other methods,
    dimensions and seeds are added to the folder; other terms or a changed file are refused.

    Parameters
    ----------
    source
        File with the hierarchy, in any format treeball reads; - for standard input; example:mammals for shipped data.
    more
        Further files that belong to it, such as products below categories.
    output
        Folder for runs, table and picture; by default the name of the source with -bench, in the current directory.
    methods
        Methods, as in --methods auto,poincare; by default auto, poincare, ga-dl-rw and construct.
    dims
        Dimensions, as in --dims 5,10, which is the default.
    seeds
        Seeds of the random numbers, as in --seeds 0,1,2, which is the default.
    objective
        What is trained for and ranked: direct parents, or all ancestors.
    split
        Hold out leaves, edges or closure pairs, drawn by the seed, and rank them too.
    share
        The share to hold out, 0.05 by default.
    threads
        Workers; 0 uses all cores.
    json
        Print one JSON object with all runs and the table.
    """
    from ..experiments import bench as compare_methods

    output = output or Path(f"{stem_of(source)}-bench")
    hierarchy = read_hierarchy(source, more, reading)
    say_what_was_read(hierarchy.report)
    result = compare_methods(
        hierarchy,
        output,
        methods=items(methods) or METHODS,
        dims=whole_numbers("dims", dims) or DIMS,
        seeds=whole_numbers("seeds", seeds) or SEEDS,
        objective=objective,
        split=split,
        share=share,
        threads=threads,
        progress=True,
        **settings.given(),
    )
    _draw(result, output)
    if json:
        print_json(result.to_dict())
    else:
        table = result.table()
        print_rows(table.headings, table.starred(), names=3)
        for note in table.notes:
            print_line(note)
    say(f"all runs are in {output / 'results.csv'}, the table in {output / 'table.md'}")
    if result.missing:
        runs = count(result.missing, "run")
        say(f"stopped, {runs} missing; what is finished is kept in {output}, and the same command goes on from there")
        return INTERRUPTED
    return 0


def _draw(result: Bench, output: Path) -> None:
    """Draw what can be drawn; a picture is no reason to fail after hours of work."""
    if not any(run["map"] is not None for run in result.rows):
        return
    try:
        from ..report.style import save

        files = save(result.figure(), output / "scores")
        say(f"drew {' and '.join(str(file) for file in files)}")
    except MissingExtraError as error:
        say(f"no picture: {error}")
