"""Tables with a column for each level: ``L1,L2,L3``, ``department,category,subcategory``, ``kingdom,...,species``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ....hierarchy.repairs import RepairKind
from ....words import count
from ..path_tree import PathTree
from ..relation import MISSING, Relation
from .columns import plain
from .pairs import note_columns_not_used

_NUMBERED = re.compile(r"(\D*)(\d{1,2})(\D*)")
_LEVEL_WORDS = ("level", "lvl", "cat", "tier", "hierarch", "taxonom", "node", "ebene", "niveau", "stufe", "depth")
_LEVEL_LETTERS = frozenset(["l", "h", "c", "lv"])
_NAME_ENDINGS = ("name", "title", "label", "description", "desc", "")
_SEQUENCES = tuple(
    tuple(text.split())
    for text in (
        "domain superkingdom kingdom phylum division class subclass order suborder family subfamily genus species",
        "segment family class brick",
        "segment family class commodity",
        "sector department maincategory category subcategory subsubcategory leafcategory",
        "sector department maincategory categoryname subcategoryname",
        "continent country region state province county city",
    )
)
_NOTHING = frozenset(["", "null", "none", "nan", "n/a", "<na>"])


def level_columns(header: Sequence[str]) -> tuple[int, ...] | None:
    """Numbers of the columns that are levels, the uppermost first, or None when the header names none."""
    words = [plain(cell) for cell in header]
    return _numbered(words) or _ranked(words)


def _numbered(words: Sequence[str]) -> tuple[int, ...] | None:
    """Columns that count up from 0 or 1: ``l1 l2 l3``, ``category1name category2name``."""
    families: dict[tuple[str, str], dict[int, int]] = {}
    for place, word in enumerate(words):
        found = _NUMBERED.fullmatch(word)
        if found is not None and (found[1] in _LEVEL_LETTERS or any(one in found[1] for one in _LEVEL_WORDS)):
            families.setdefault((found[1], found[3]), {}).setdefault(int(found[2]), place)
    for ending in _NAME_ENDINGS:
        for (_, after), places in families.items():
            numbers = sorted(places)
            if (
                after == ending
                and len(numbers) > 1
                and numbers[0] in (0, 1)
                and numbers[-1] - numbers[0] < len(numbers)
            ):
                return tuple(places[number] for number in numbers)
    return None


def _ranked(words: Sequence[str]) -> tuple[int, ...] | None:
    """Columns whose words are known to follow each other: three, two that speak of categories, or all there are."""
    bare = [word.removesuffix("title") if word not in ("title", "name") else word for word in words]
    for sequence in _SEQUENCES:
        places = [bare.index(rank) for rank in sequence if rank in bare]
        retail = sum("category" in bare[place] for place in places)
        if len(places) >= 3 or (retail >= 2 and len(words) > 2) or len(places) == len(words) == 2:
            return tuple(places)
    return None


def is_staggered(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row has one cell, and rows further down the tree have it further to the right."""
    filled = [[place for place, cell in enumerate(row) if cell.strip()] for row in rows]
    return (
        len(rows) > 1
        and all(len(places) == 1 for places in filled)
        and filled[0] == [0]
        and all(low[0] <= high[0] + 1 for high, low in pairwise(filled))
        and any(places != [0] for places in filled)
    )


def level_rows(columns: Sequence[Sequence[str | None]]) -> Iterator[tuple[list[str], bool]]:
    """The steps of each row, the uppermost first, and whether it continues the row above; no step of an empty row."""
    above: list[str] = []
    for row in zip(*columns, strict=True):
        cells = ["" if (cell or "").strip().lower() in _NOTHING else str(cell).strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        gap = next((place for place, cell in enumerate(cells) if cell), 0)
        cells[:gap] = above[:gap]
        above = cells or above
        yield cells, gap > 0


def relation_of_levels(columns: Sequence[Sequence[str | None]], ignored: Sequence[str] = ()) -> Relation:
    """Relation of levels, the uppermost first; every node is named by its full path.

    A row that is empty at the left continues the row above, as spreadsheets show merged cells.
    """
    tree = PathTree()
    continued: list[int] = []
    for number, (cells, is_continued) in enumerate(level_rows(columns), start=1):
        if is_continued:
            continued.append(number)
        node = MISSING
        for step in cells:
            node = tree.add(node, step, number, expect_new=False)
    relation = tree.to_relation("columns of levels", full=True)
    if continued:
        relation.notes.append(f"{count(len(continued), 'row')} that are empty at the left continue the row above")
        relation.record_lines(RepairKind.ROWS_CONTINUED, continued)
    note_columns_not_used(relation, ignored)
    return relation
