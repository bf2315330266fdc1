"""The files that a command reads a hierarchy from, and the list of repairs that it writes for `--repairs`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar  # noqa: F401  # Literal: see below

from cyclopts import Parameter

from ..addresses import as_path
from ..errors import FaultsError, InputError

# The types of all fields are looked up in this module, also those of the fields that ReadSettings declares.
from ..io.readers.settings import DirectionChoice, Format, ReadSettings  # noqa: F401

if TYPE_CHECKING:
    from ..hierarchy import Hierarchy
    from ..hierarchy.names import Names
    from ..hierarchy.repairs import Repair
    from ..io.readers.edges import NewEdges

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class ReadingOptions(ReadSettings):
    """Options of every command that reads a hierarchy: those of the reader, and one for its repairs."""

    repairs: Annotated[
        Path | None, Parameter(help="CSV file to write, with every repair: kind, file, line, node, what was done.")
    ] = None


def read_hierarchy(
    source: str, more: Sequence[str], reading: ReadingOptions, settings: ReadSettings | None = None
) -> Hierarchy:
    """Read ``source``, or all files if there are ``more``, and show progress; ``settings`` stand in for ``reading``."""
    from ..io.readers import read
    from ..methods.progress import WorkProgress

    with WorkProgress() as work:
        work.begin(f"reading {source}" if not more else f"reading {source} and {len(more)} more")
        chosen = settings or reading
        return with_repairs(lambda: read(together(source, more), chosen), _repairs_of, reading, (source, *more))


def read_hierarchies(
    opening: Sequence[Callable[[], Hierarchy]], reading: ReadingOptions, inputs: Sequence[str]
) -> list[Hierarchy]:
    """Read several hierarchies, each by itself; their repairs are one list."""
    return with_repairs(
        lambda: [read() for read in opening],
        lambda found: chain.from_iterable(map(_repairs_of, found)),
        reading,
        inputs,
    )


def read_new_edges(source: str, more: Sequence[str], reading: ReadingOptions, known: Names) -> NewEdges:
    """Edges to add to a model whose nodes are ``known``, of one file or several."""
    from ..io.readers.edges import read_edges

    return with_repairs(
        lambda: read_edges(together(source, more), reading, known), _repairs_of, reading, (source, *more)
    )


def refuse_repairs_of_models(reading: ReadingOptions) -> None:
    """Refuse `--repairs` where models are read, which need none."""
    if reading.repairs is not None:
        raise InputError("--repairs lists the repairs of a hierarchy, and a model needs none: leave it out")


def with_repairs(
    read: Callable[[], _Result],
    repairs_of: Callable[[_Result], Iterable[Repair]],
    reading: ReadingOptions,
    inputs: Sequence[str],
) -> _Result:
    """What ``read`` returns. The repairs go to the file that ``reading`` names, also those of a refused input."""
    if reading.repairs is None:
        return read()
    from ..io.atomic import require_writable
    from ..io.repair_list import write_repairs

    require_writable(reading.repairs, *inputs)
    try:
        found = read()
    except FaultsError as error:
        write_repairs(error.repairs, reading.repairs)
        raise
    write_repairs(repairs_of(found), reading.repairs)
    return found


def _repairs_of(found: Hierarchy | NewEdges) -> Iterable[Repair]:
    return () if found.report is None else found.report.repairs


def together(source: str, more: Sequence[str]) -> str | list[Path]:
    """What to read: the source itself, or a list of files where there are more."""
    return [as_path(one) for one in (source, *more)] if more else source
