"""What commands that ask a model have in common: where names come from, and how answers are printed."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..errors import InputError
from ..types import Source

if TYPE_CHECKING:
    from ..hierarchy.names import Names

FromSource = Annotated[Source, Parameter(name="--from")]
NodeNames = tuple[str, ...]
FromFile = Annotated[Path | None, Parameter(allow_leading_hyphen=True)]


def questions(names: Names, given: Sequence[str], from_file: Path | None, size: int = 1) -> list[tuple[Hashable, ...]]:
    """The nodes of each question: `size` names from the command line at a time, or from each line of a file.

    Names in a line are separated by a tab. ``-`` reads standard input.
    """
    if from_file is not None and given:
        raise InputError("give names on the command line or --from-file, not both")
    if from_file is None:
        if not given or len(given) % size:
            needed = "a name" if size == 1 else "two names for each question"
            raise InputError(f"this question needs {needed}, or --from-file; {len(given)} were given")
        rows = [tuple(given[first : first + size]) for first in range(0, len(given), size)]
        return [tuple(_known(names, text) for text in row) for row in rows]
    asked = []
    for number, line in enumerate(_lines(from_file), start=1):
        if not line.strip():
            continue
        row = tuple(line.split("\t")) if size > 1 else (line,)
        if len(row) != size:
            raise InputError(
                f"{from_file}, line {number}: {len(row)} columns where {size} names belong, separated by a tab"
            )
        try:
            asked.append(tuple(_known(names, text) for text in row))
        except InputError as error:
            raise InputError(f"{from_file}, line {number}: {error}") from None
    if not asked:
        raise InputError(f"{from_file} names no node: write one question a line")
    return asked


def _known(names: Names, text: str) -> Hashable:
    name = names.from_text(text)
    names.index_of(name)
    return name


def _lines(path: Path) -> Iterable[str]:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode("utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}; give a text file with one question a line") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a directory; give a text file with one question a line") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not a text file in UTF-8; give one question a line") from None


def plain(name: Any) -> Any:
    """A name as JSON holds it: numbers stay numbers, other names become text."""
    return name if name is None or isinstance(name, (str, int, float)) else str(name)
