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
    return names[names.find(text)]


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


class Spoken:
    """How nodes are told of: to people as ``label [id]``, in JSON with a property ``labels`` for those that have one.

    Parameters
    ----------
    names
        All names of the model.
    mentioned
        Names of all nodes that will be told of; None stands for no node.
    """

    def __init__(self, names: Names, mentioned: Iterable[Hashable | None]) -> None:
        self._labels = names.labels_by_name(name for name in mentioned if name is not None)

    def shown(self, name: Hashable) -> str:
        """A node as people read it."""
        label = self._labels.get(str(name))
        return str(name) if label is None else f"{label} [{name}]"

    def labels(self, *mentioned: Hashable | None) -> dict[str, dict[str, str]]:
        """The property of a record that has the labels of the nodes it mentions, by their names; {} without any."""
        known = {str(name): self._labels[str(name)] for name in mentioned if str(name) in self._labels}
        return {"labels": known} if known else {}

    def label(self, name: Hashable) -> dict[str, str]:
        """The property of a row about one node that has its label; {} where it has none."""
        return {"label": self._labels[str(name)]} if str(name) in self._labels else {}


def plain(name: Any) -> Any:
    """A name as JSON holds it: numbers stay numbers, other names become text."""
    return name if name is None or isinstance(name, (str, int, float)) else str(name)
