"""Which column is what: roles by header words, by the user's choice, or by position."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ....errors import InputError
from ....hierarchy.read_report import listed
from ..hints import setting
from ..relation import Direction
from ..settings import ReadSettings


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARENT = _words(
    "parent parentid parentname parents parentnode parentkey parentcode parenttaxid broader broaderid hypernym "
    "hypernyms superclass super supertype supercategory subclassof isa memberof belongsto ancestor above manager "
    "managerid reportsto supervisor"
)
_CHILD = _words(
    "child childid childname childnode narrower narrowerid hyponym hyponyms subclass sub subtype subcategory "
    "descendant below employee employeeid"
)
_ID = _words(
    "id nodeid node key code uuid guid identifier alias taxid taxonid conceptid categoryid termid itemid synset uri "
    "iri slug"
)
_LABEL = _words(
    "name label title displayname nodename term preflabel scientificname categoryname category text productname "
    "producttitle itemname description"
)
_WEIGHT = _words("weight weights w strength branchlength length")
_WEAK = {"source": "target", "from": "to", "subject": "object", "head": "tail", "src": "dst", "fromnodeid": "tonodeid"}

_MEMBER = _words(
    "sku product productid productcode productsku item itemid itemcode article articleid articlenumber asin ean gtin "
    "upc isbn mpn partnumber variantid offerid"
)
_GROUP = _words(
    "categoryid category categorycode categorykey categoryname catid cat productcategory productcategoryid class "
    "classid group groupid department departmentid section sectionid taxonomyid collection collectionid genre genreid "
    "categories categoryids catname cats departments collections productcategories productcategoryname"
)

CATEGORY_WORDS = _words(
    "category categories categoryname catname cat cats productcategory productcategories taxonomy hierarchy"
)
"""Header words of a column of categories, which may be written as paths or not."""
_PATH_OF = ("", "category", "categories", "cat", "product", "productcategory", "item", "taxonomy", "node", "browse")
PATH_WORDS = _words("googleproductcategory producttype categorytree productcategorytree") | {
    full + one + word
    for full in ("", "full", "google")
    for one in _PATH_OF
    for word in ("path", "paths", "breadcrumb", "breadcrumbs", "crumbs")
}
"""Header words of a column of paths."""

CERTAIN_NULL_WORDS = frozenset(["null", "none", "nan", "n/a", "\\n", "<na>", "#n/a", "(null)", "<null>"])
"""Those of NULL_WORDS that no node of an edge list is likely to be called by; "na" and "-" may be names."""

NULL_WORDS = CERTAIN_NULL_WORDS | {"na", "nil", "-", "undefined"}
"""Words, in lower case, that stand for "no parent" in an id/parent table when no node is called so."""

NO_PARENT_NUMBERS = frozenset(["0", "-1", "0.0", "-1.0"])
_PUNCTUATION = re.compile(r"[\s_\-.:#\"']+")


@dataclass(frozen=True, slots=True)
class Roles:
    """Columns by number from 0.

    Attributes
    ----------
    child, parent
        The two sides of a pair; only first and second side when ``direction`` is None.
    weight, label
        Further columns, or None.
    direction
        Known when header words or the user say so.
    weak_direction
        What source/target and the like suggest when the structure cannot tell.
    is_table
        True when the header speaks of ids, so that every node should have a row.
    ids
        True when another column could also be what the parents refer to (see ``alternative``).
    alternative
        Label column that parents may refer to instead of the ids, or None.
    ignored
        Header names of the columns without a role.
    is_membership
        True when the rows are members of groups, such as products of categories, which have their rows elsewhere.
    """

    child: int
    parent: int
    weight: int | None = None
    label: int | None = None
    direction: Direction | None = None
    weak_direction: Direction | None = None
    is_table: bool = False
    alternative: int | None = None
    ignored: tuple[str, ...] = ()
    is_membership: bool = False


def plain(cell: object) -> str:
    """Header cell without case, blanks and punctuation: ``Parent ID`` -> ``parentid``."""
    return _plain_text(str(cell))


@lru_cache(maxsize=1024)
def _plain_text(text: str) -> str:
    return _PUNCTUATION.sub("", text).lower()


def roles_from_header(header: Sequence[str]) -> Roles | None:
    """Roles by the words of the header, or None when these do not tell."""
    words = [plain(cell) for cell in header]
    parent = _first(words, _PARENT)
    if parent is None:
        parent = next((i for i, word in enumerate(words) if word.startswith("parent")), None)
    if parent is None:
        parent = next((i for i, word in enumerate(words) if word.endswith(("parent", "parentid"))), None)
    if parent is None:
        return _weak_roles(header, words)
    bare = words[parent].replace("parent", "")
    others = [i for i in range(len(words)) if i != parent]
    child = next((i for i in others if bare and words[i] == bare and bare != "s"), None)
    ids = _first(words, _ID, others)
    if child is None:
        child = _first(words, _CHILD, others)
    if child is None:
        child = ids
    if child is not None and words[child] in _LABEL and ids is not None:
        child = ids  # the parents may be names, and the ids are another way to find the nodes
    label = _first(words, _LABEL, [i for i in others if i != child])
    if child is None and label is not None:
        child, label = label, None
    if child is None and len(others) == 1:
        child = others[0]
    if child is None:
        return None
    return Roles(
        child,
        parent,
        weight=_first(words, _WEIGHT, [i for i in others if i not in (child, label)]),
        label=label,
        direction="child-parent",
        is_table=words[child] in _ID or label is not None,
        alternative=label if not bare.endswith("id") or bare == "id" else None,
        ignored=_ignored(header, {child, parent, label, _first(words, _WEIGHT, others)}),
    )


def _weak_roles(header: Sequence[str], words: list[str]) -> Roles | None:
    """Roles of a header that names two sides without saying which is above, or only the children's side."""
    weight = _first(words, _WEIGHT)
    for first, second in _WEAK.items():
        if first in words and second in words:
            child, parent = words.index(first), words.index(second)
            ignored = _ignored(header, {child, parent, weight})
            return Roles(child, parent, weight, weak_direction="child-parent", ignored=ignored)
    below = _first(words, _CHILD)
    others = [i for i in range(len(words)) if i not in (below, weight)]
    if below is not None and len(others) == 1:
        return Roles(below, others[0], weight, direction="child-parent")
    return _membership(header, words) if below is None else None


def _membership(header: Sequence[str], words: list[str]) -> Roles | None:
    """Roles of a table of products and the like, each with its category: ``sku,category_id,title,price``."""
    groups = [i for i, word in enumerate(words) if word in _GROUP]
    group = next((i for i in groups if words[i].endswith(("id", "code", "key"))), groups[0] if groups else None)
    others = [i for i, word in enumerate(words) if word not in _GROUP]
    found = (_first(words, known, others) for known in (_MEMBER, _ID, _LABEL))
    member = next((i for i in found if i is not None), None)
    if group is None or member is None:
        return None
    label = _first(words, _LABEL, [i for i in others if i != member])
    ignored = _ignored(header, {member, group, label})
    return Roles(member, group, label=label, direction="child-parent", ignored=ignored, is_membership=True)


@dataclass(frozen=True, slots=True)
class MemberColumns:
    """Roles in a table with a column of paths, and what the header says of the ids."""

    roles: Roles
    are_products: bool
    are_groups: bool


def member_columns(
    header: Sequence[str] | None, width: int, group: int, is_distinct: Callable[[int], bool]
) -> MemberColumns | None:
    """The column of ids beside a column of paths, ``group``: by the header, else the first with distinct values."""
    words = ["" for _ in range(width)] if header is None else [plain(cell) for cell in header]
    others = [place for place in range(width) if place != group]
    product, own = _first(words, _MEMBER, others), _first(words, _GROUP, others)
    member = next((place for place in (product, own, _first(words, _ID, others)) if place is not None), None)
    if member is None:
        member = next((place for place in others if words[place] not in _WEIGHT and is_distinct(place)), None)
    if member is None:
        return None
    label = _first(words, _LABEL, [place for place in others if place != member])
    ignored = _ignored(header or (), {member, group, label})
    roles = Roles(member, group, label=label, direction="child-parent", ignored=ignored, is_membership=True)
    return MemberColumns(roles, member == product, product is None and member == own)


def looks_like_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns: its words have roles, or it is text above a column of numbers."""
    words = [plain(cell) for cell in first]
    if not all(cell.strip() for cell in first[1:]) or len(set(words)) < len(words):
        return False
    roles = roles_from_header(first)
    known = _PARENT | _CHILD | _ID | _LABEL | _WEIGHT | _WEAK.keys() | set(_WEAK.values()) | _MEMBER | _GROUP
    if roles is not None and sum(word in known or "parent" in word for word in words) >= 2:
        # Words such as "item" and "class" may be nodes as well: then they occur again. No node is called category_id.
        in_words = roles.is_membership and not any(word.endswith("id") for word in words)
        below = (cell for row in rest for cell in row) if in_words else ()
        return set(first).isdisjoint(below)
    if not PATH_WORDS.isdisjoint(words) and not (_MEMBER | _ID | _LABEL).isdisjoint(words):
        return set(first).isdisjoint(cell for row in rest for cell in row)
    if not rest:
        return False
    # Text above a column of numbers is a header too, unless its names occur below as well.
    if any(is_number(cell) for cell in first) or not set(first).isdisjoint(cell for row in rest for cell in row):
        return False
    columns = [[cell for cell in cells if cell.strip()] for cells in zip(*rest, strict=False)]
    return any(cells and all(is_number(cell) for cell in cells) for cells in columns)


def roles_from_settings(settings: ReadSettings, header: Sequence[str] | None, width: int, label: str) -> Roles:
    """Roles as the user named them."""
    numbers = [locate(column, header, width, label) for column in settings.columns]
    if len(numbers) == 1:
        raise InputError(
            f"columns={settings.columns[0]} names one column of {label}, which is enough for breadcrumbs only: name "
            f"those of child and parent, for instance {setting('columns', 'id,parent')}"
        )
    if len(set(numbers)) < len(numbers):
        raise InputError(
            f"columns={','.join(settings.columns)} names a column of {label} twice: child and parent must differ"
        )
    name = locate(settings.name_column, header, width, label) if settings.name_column else None
    hinted = roles_from_header(header) if header else None
    used = {*numbers, name}
    return Roles(
        numbers[0],
        numbers[1],
        numbers[2] if len(numbers) == 3 else None,
        name,
        direction="child-parent",
        is_table=name is not None or (hinted is not None and hinted.is_table),
        ignored=_ignored(header or (), used),
    )


def locate(column: str, header: Sequence[str] | None, width: int, label: str) -> int:
    """Number, from 0, of a column given by its header name or its number from 1."""
    if header is not None:
        exact = [i for i, cell in enumerate(header) if str(cell).strip() == column]
        loose = exact or [i for i, cell in enumerate(header) if plain(cell) == plain(column) and plain(column)]
        if loose:
            return loose[0]
    if column.isascii() and column.isdigit() and 1 <= int(column) <= width:
        return int(column) - 1
    known = listed((repr(str(cell)) for cell in header), len(header)) if header else f"the numbers 1 to {width}"
    raise InputError(f"{label} has no column {column!r}: choose from {known}")


def with_name_column(
    roles: Roles, settings: ReadSettings, header: Sequence[str] | None, width: int, label: str
) -> Roles:
    """``roles`` with the label column the user named, when there is one."""
    if settings.keeps_ids:
        roles = replace(roles, alternative=None)
    if not settings.name_column:
        return roles
    name = locate(settings.name_column, header, width, label)
    ignored = tuple(cell for cell in roles.ignored if header is None or cell != header[name])
    return replace(roles, label=name, is_table=True, alternative=None, ignored=ignored)


def with_forced_direction(roles: Roles, settings: ReadSettings) -> Roles:
    """``roles`` with the direction the user forced: it speaks of the columns in the order they stand or were named."""
    if settings.direction in ("auto", "header"):
        return roles
    first, second = (roles.child, roles.parent) if settings.columns else sorted((roles.child, roles.parent))
    child, parent = (first, second) if settings.direction == "child-parent" else (second, first)
    return replace(roles, child=child, parent=parent, direction="child-parent")


def is_number(cell: str) -> bool:
    """Whether ``cell`` reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_weight(cell: str) -> bool:
    """Whether ``cell`` reads as a number, with a decimal point or a decimal comma."""
    return is_number(cell) or (cell.count(",") == 1 and is_number(cell.replace(",", ".")))


def _first(words: Sequence[str], known: frozenset[str], among: Sequence[int] | None = None) -> int | None:
    candidates = range(len(words)) if among is None else among
    return next((i for i in candidates if words[i] in known), None)


def _ignored(header: Sequence[str], used: set[int | None]) -> tuple[str, ...]:
    return tuple(str(cell) for i, cell in enumerate(header) if i not in used and str(cell).strip())
