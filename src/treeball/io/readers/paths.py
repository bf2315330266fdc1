"""Paths from a top down, as text: what separates steps, which column of a table holds them, what tree they make."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import InputError
from ...hierarchy.read_report import short
from ...hierarchy.repairs import RepairKind
from .hints import setting
from .path_tree import PathTree
from .relation import MISSING, Relation, string_array
from .settings import ReadSettings
from .tables.columns import CATEGORY_WORDS, PATH_WORDS, is_number, plain, roles_from_header
from .tables.dialect import Dialect

ARROWS = (" >> ", " -> ", " => ", "->", "=>", " > ", ">>", ">", " » ", " › ", " → ")
IN_TABLES = (" >> ", " -> ", " => ", " > ", " » ", " › ", " → ")
MARKS = (*IN_TABLES, " :: ", " / ", " | ", "->", "=>", ">>", ">", "::", "/", "|", "\\")
_SLASHES = (" / ", " :: ", " | ")
_CLOSE_SLASHES = ("/", "::", "|")
_PRETTY = {">": " > "}
_SAMPLE = 2000
ID = re.compile(r"^(\d++|\w++://\S++)\s++[-:]\s++")
"""An id in front of a path, as Google and Shopify write them."""


def relation_of_paths(
    texts: Sequence[str], settings: ReadSettings, label: str, mark: str | None, count_repeats: bool = True
) -> Relation:
    """Relation in which every node is named by its full path, or by the id in front of it.

    The line of a pair is the number of its text, from 1.

    Parameters
    ----------
    texts
        The paths; a blank one is none.
    settings
        Where they name a column, a column without paths is refused.
    label
        How messages call the input.
    mark
        What separates steps, or None when nothing does.
    count_repeats
        Whether a path that occurs twice is worth counting: not in a table of products.
    """
    if mark is None and settings.columns:
        raise InputError(
            f"column {settings.columns[0]} of {label} holds no paths such as A > B: name the columns of child "
            f"and parent, for instance {setting('columns', 'id,parent')}, or {setting('separator')}"
        )
    mark = mark or " > "
    _refuse_longer_marks(texts, mark, label)
    # What looks like an id may be the name of a top. Several lines tell, and so does a model whose nodes have ids.
    may_tell = len(texts) > 1 or (settings.keeps_ids and bool(texts))
    with_ids = may_tell and all(ID.match(text) for text in texts) and not _ids_are_tops(texts, mark)
    tree = PathTree()
    complete: set[int] = set()
    ids: dict[int, str] = {}
    for number, text in enumerate(texts, start=1):
        node = MISSING
        for step in steps_of(ID.sub("", text) if with_ids else text, mark):
            node = tree.add(node, step, number, expect_new=False)
        if node in complete and count_repeats:
            tree.repeat(node, number)
        elif node != MISSING:
            complete.add(node)
            found = ID.match(text) if with_ids else None
            if found:
                ids.setdefault(node, found.group(1))
    relation = tree.to_relation("breadcrumbs", _PRETTY.get(mark, mark), full=True)
    if with_ids:
        _name_by_ids(relation, ids)
    relation.notes += [
        f"steps were taken to be separated by {mark!r}, but {rival!r} occurs in many lines as well: "
        f"{setting('separator', repr(rival))} separates by it"
        for rival in ([] if settings.separator_text is not None else _rivals(texts[:_SAMPLE], mark))
    ]
    return relation


def _refuse_longer_marks(texts: Sequence[str], mark: str, label: str) -> None:
    """Refuse ":::" between steps that "::" separates: its third sign may belong to the step before or behind it."""
    if len(mark) < 2 or len(set(mark)) > 1:
        return
    longer = mark + mark[0]
    for number, text in enumerate(texts, start=1):
        if longer in text:
            raise InputError(
                f"{label}, path {number}: {longer!r} in {short(text)!r} leaves open which step the third sign belongs "
                "to; separate the steps by another mark, such as ' > '"
            )


def _rivals(lines: Sequence[str], mark: str) -> list[str]:
    """Other marks that occur in half as many lines as ``mark``, which may be what separates the steps.

    Of marks that differ in blanks alone, the first is enough.
    """
    number = max(1, sum(mark in line for line in lines))
    rest = [line.replace(mark, "\0") for line in lines]
    found = {one.strip(): one for one in reversed(MARKS) if 2 * sum(one in line for line in rest) >= number}
    return list(reversed(found.values()))


def _ids_are_tops(texts: Sequence[str], mark: str) -> bool:
    """Whether what looks like an id belongs to the name of the top: "1 - Food" is so in every line below it."""
    tops: dict[str, set[str]] = {}
    for text in texts:
        found = ID.match(text)
        if found:
            tops.setdefault(found.group(1), set()).update(steps_of(ID.sub("", text), mark)[:1])
    one_each = all(len(top) == 1 for top in tops.values())
    return one_each and len(set.union(*tops.values())) == len(tops) < len(set(texts))


def _name_by_ids(relation: Relation, ids: dict[int, str]) -> None:
    """Name nodes by the ids in front of their paths, which become their labels; one without a line keeps its path."""
    paths = relation.names.to_pylist()
    names = [ids.get(code, path) for code, path in enumerate(paths)]
    if len(set(names)) < len(names):
        relation.notes.append("the ids in front of the paths were left out, since some occur twice")
        relation.record_nodes(RepairKind.PATH_IDS_DROPPED, list(ids.values()), "some ids occur twice")
        return
    relation.names, relation.labels, relation.names_hold_labels = string_array(names), string_array(paths), False


def mark_of(lines: Sequence[str], settings: ReadSettings, columns: bool = False) -> str | None:
    """Separator of the steps: the user's, or the first that occurs in half the lines."""
    given = settings.separator_text
    if given is not None and not (columns and given in "\t,;"):
        return given if any(given in line for line in lines) else None
    if len(lines) > 1 and all(ID.match(line) for line in lines) and any(" > " in line for line in lines):
        return " > "
    addresses = all("://" in line for line in lines)
    for mark in MARKS:
        if 2 * sum(_has_steps(line, mark, addresses) for line in lines) >= len(lines) > 0:
            return mark
    if settings.format == "breadcrumbs":
        return next((mark for mark in MARKS if any(mark in line for line in lines)), None)
    return None


def _has_steps(line: str, mark: str, addresses: bool) -> bool:
    """Whether ``mark`` separates steps in ``line``; unless all lines are addresses, :// belongs to a name."""
    return mark in line and (addresses or mark != "/" or "://" not in line)


def steps_of(line: str, mark: str) -> list[str]:
    """Steps of a path; a separator at either end of the line, as in /usr/lib/, makes no empty step."""
    end = mark.strip()
    start, stop = _without_blanks(line, 0, len(line))
    while end and line.startswith(end, start, stop):
        start, stop = _without_blanks(line, start + len(end), stop)
    while end and line.endswith(end, start, stop):
        start, stop = _without_blanks(line, start, stop - len(end))
    return [step.strip() for step in line[start:stop].split(mark)] if start < stop else []


def _without_blanks(line: str, start: int, stop: int) -> tuple[int, int]:
    """Where ``line[start:stop]`` begins and ends without the blanks around it; nothing is copied."""
    while start < stop and line[start].isspace():
        start += 1
    while start < stop and line[stop - 1].isspace():
        stop -= 1
    return start, stop


def are_paths(paths: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether lines that begin differently are paths all the same, and no pairs: a top is a top on every line."""
    tops, below = {path[0] for path in paths if path}, {step for path in paths for step in path[1:]}
    longest = max(map(len, paths), default=0)
    return (
        mark in IN_TABLES
        and all(len(path) > 1 for path in paths)
        and tops.isdisjoint(below)
        and (longest > 2 or mark == " > ")  # "a -> b" may point either way
    )


def path_column(dialect: Dialect | None, settings: ReadSettings) -> int | None:
    """Number of the only column that holds paths, when the others are no parents; None in any other case."""
    if dialect is None or not dialect.regular or dialect.separator == " " or len(settings.columns) > 1:
        return None
    roles = None if dialect.header is None else roles_from_header(dialect.header)
    if roles is not None and not roles.is_membership and not settings.columns:
        return None
    cells = [[row[i].strip() for row in dialect.rows] for i in range(dialect.width)]
    given = settings.separator_text
    choices = ((given,),) if given not in (None, *"\t,;") else (IN_TABLES, _SLASHES, _CLOSE_SLASHES)
    for marks in choices:
        found = _path_column(dialect, cells, [mark for mark in marks if mark])
        if found is not None:
            return found
    return None


def _path_column(dialect: Dialect, cells: list[list[str]], marks: Sequence[str]) -> int | None:
    shares = [max(sum(mark in cell for cell in column) for mark in marks) / max(len(column), 1) for column in cells]
    best = max(range(dialect.width), key=shares.__getitem__)
    others = [i for i in range(dialect.width) if i != best]
    if shares[best] <= 0.5 or any(shares[i] > 0.05 for i in others):
        return None
    # Elsewhere in the row stands an id, or at least no step of these paths; commas in paths make columns, too.
    steps = {step.strip() for mark in marks for cell in cells[best] if mark in cell for step in cell.split(mark)}
    steps.update(cells[best])
    word = "" if dialect.header is None else plain(dialect.header[best])
    if word.endswith(("id", "code", "key")) or not any(cell for i in others for cell in cells[i]):
        return None
    if any(cells[i] and all(ID.match(f"{cell} ") for cell in cells[i]) for i in others):
        return None  # "1 - Food, Beverages > Tea": an id and the beginning of a path
    spoken = word in CATEGORY_WORDS | PATH_WORDS
    if not spoken and any(not steps.isdisjoint(cell for cell in cells[i] if cell) for i in others):
        return None
    numbers = bool(others) and all(is_number(cell) for i in others for cell in cells[i] if cell)
    if marks[0] in (*_SLASHES, *_CLOSE_SLASHES) and not _slashes_are_steps(dialect, best, cells[best], marks, numbers):
        return None
    identified = len(set(cells[best])) > 1 and (numbers or any(len(set(cells[i])) == len(cells[i]) > 1 for i in others))
    return best if dialect.header is not None or identified else None


def _slashes_are_steps(
    dialect: Dialect, column: int, cells: Sequence[str], marks: Sequence[str], numbers: bool
) -> bool:
    """Whether slashes separate steps, rather than the words of a name such as "Coffee / Tea": tops come again.

    Without blanks around them, the header must also speak of paths or categories; without a header, all other columns
    must be numbers.
    """
    word = "" if dialect.header is None else plain(dialect.header[column])
    spoken = word in CATEGORY_WORDS | PATH_WORDS
    if (dialect.header is None and not numbers) or (marks[0] in _CLOSE_SLASHES and not spoken):
        return False
    mark = max(marks, key=lambda one: sum(one in cell for cell in cells))
    paths = [steps_of(cell, mark) for cell in cells if cell]
    tops = {path[0] for path in paths if path}
    longest = max(map(len, paths), default=0)
    return (word in PATH_WORDS and longest > 1) or (len(tops) < len(paths) and (longest > 2 or spoken))
