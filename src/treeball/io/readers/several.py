"""Several files as one hierarchy: categories in one, say, and the products that hang below them in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...errors import InputError
from ...hierarchy.read_report import listed, short
from ...hierarchy.repairs import RepairKind
from ...types import Codes
from ...words import count
from .direction import decide
from .references import Referents, every_step, plain_text
from .relation import MISSING, Relation, lines_at, string_array
from .settings import ReadSettings
from .tables.columns import CERTAIN_NULL_WORDS
from .tables.pairs import drop_names, mark_roots

_OF_THE_TEXT = (
    RepairKind.ENCODINGS_CHOSEN,
    RepairKind.LATIN_1_LINES,
    RepairKind.SHEETS_CHOSEN,
    RepairKind.COMMENT_LINES,
    RepairKind.QUOTES_READ,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One file, read."""

    label: str
    path: str
    relation: Relation
    is_products: bool = False


@dataclass(frozen=True, eq=False)
class _Placed:
    """A file with its pairs, child before parent, by the names of all files."""

    part: Part
    codes: Codes
    child: Codes
    parent: Codes
    is_member: bool = False

    @cached_property
    def hangs_below_others(self) -> bool:
        """Whether none of its parents has a row in the file itself."""
        linked = self.parent >= 0
        return bool(linked.any()) and not np.isin(self.parent[linked], self.child[self.child >= 0]).any()


def joined(parts: Sequence[Part], settings: ReadSettings) -> Relation:
    """One relation of all files; nodes with the same name are the same node."""
    parts, other_ids = _with_members(parts)
    encoded = pa.chunked_array([_names(part.relation) for part in parts]).dictionary_encode()
    recode = [chunk.indices.to_numpy(zero_copy_only=False).astype(np.int32) for chunk in encoded.chunks]
    placed = _with_roles([_place(part, codes, settings) for part, codes in zip(parts, recode, strict=True)])
    names = encoded.chunk(0).dictionary
    _refuse_shared_ids(placed, names)
    child, parent = (np.concatenate([getattr(one, side) for one in placed]) for side in ("child", "parent"))
    label_of = _labels(parts)
    weights = [part.relation.weights for part in parts if part.relation.weights is not None]
    members = [one.is_member for one in placed]
    relation = Relation(
        f"{len(parts)} files ({'; '.join(f'{part.label}: {part.relation.format}' for part in parts)})",
        names,
        child,
        parent,
        weights=np.concatenate(weights) if len(weights) == len(parts) else None,
        names_hold_labels=all(part.relation.names_hold_labels for part in parts),
        direction="child-parent",
        is_table=any(part.relation.is_table for part in parts) or (any(members) and not all(members)),
        words_mark_roots=any(part.relation.words_mark_roots for part in parts),
        line_of=_JoinedLines([part.relation for part in parts]),
        files=_files(parts),
        repairs=[replace(group, file=part.path) for part in parts for group in part.relation.repairs],
        notes=[f"{part.label}: {note}" for part in parts for note in part.relation.notes],
    )
    synonyms = _synonyms(parts)
    _resolve(relation, placed, other_ids, synonyms, settings)
    if relation.is_table:
        mark_roots(relation)
    shown = label_of if relation.names_hold_labels else _labels([p for p in parts if not p.relation.names_hold_labels])
    if shown:
        relation.labels = [shown.get(name) for name in relation.names.to_pylist()]
    if synonyms:
        relation.synonyms = [synonyms.get(name, []) for name in relation.names.to_pylist()]
    if weights and relation.weights is None:
        relation.notes.append("the weights are not used, since not every file has them")
        lacking = [f"{part.label} has no weights" for part in parts if part.relation.weights is None]
        relation.record_lines(RepairKind.WEIGHTS_NOT_USED, [None] * len(lacking), lacking)
    return relation


def _with_members(parts: Sequence[Part]) -> tuple[list[Part], dict[str, str]]:
    """The files to join, and the path of each id that a file gives for a path.

    A table with a column of paths holds products, which hang below the categories of another file, or the categories
    themselves with their ids. Without any other file of categories, its paths are what is read.
    """
    members = {part.path: part.relation.members() for part in parts if part.relation.members is not None}
    known = {path: found for path, found in members.items() if found is not None}
    made = {path: found.relation() for path, found in known.items()}
    plain = [part for part in parts if part.path not in made]
    referred = {name for part in plain for name in _parents_without_rows(part.relation)}
    groups = {
        path for path, found in known.items() if found.are_groups or not referred.isdisjoint(_children(made[path]))
    }
    if not plain and not groups:
        products = {path for path, found in known.items() if found.are_products}
        groups = made.keys() - products
        if not products or not groups:
            return list(parts), {}
    joining: list[Part] = []
    other_ids: dict[str, str] = {}
    for part in parts:
        others = [other.relation for other in parts if other is not part and (other in plain or other.path in groups)]
        if part.path in groups or part.path not in made or not _share_steps(made[part.path], others):
            joining.append(part)
        else:
            rows = made[part.path]
            rows.repairs[:0] = [group for group in part.relation.repairs if group.kind in _OF_THE_TEXT]
            joining.append(replace(part, relation=rows, is_products=True))
    for path in groups:
        names = _names(made[path]).to_pylist()
        for own, above in zip(made[path].child.tolist(), made[path].parent.tolist(), strict=True):
            if own >= 0 and above >= 0:
                other_ids.setdefault(names[own], names[above])
    return joining, other_ids


def _share_steps(products: Relation, others: Sequence[Relation]) -> bool:
    """Whether any step of the paths of products is a name, a label or a step in the other files."""
    known: set[str] = set()
    for relation in others:
        for values in (_names(relation).to_pylist(), _texts(relation.labels), _texts(relation.steps)):
            known.update(plain_text(text, True) for text in values if text)
    paths = _names(products).take(pa.array(np.unique(products.parent[products.parent >= 0]))).to_pylist()
    return any(plain_text(step, True) in known for path in paths for step in every_step(path))


def _children(relation: Relation) -> set[str]:
    """Names that have a row of their own."""
    return set(_names(relation).take(pa.array(np.unique(relation.child[relation.child >= 0]))).to_pylist())


def _parents_without_rows(relation: Relation) -> set[str]:
    """Names of parents that have no row in the file itself."""
    above = np.setdiff1d(relation.parent[relation.parent >= 0], relation.child)
    return set(_names(relation).take(pa.array(above)).to_pylist())


def _resolve(
    relation: Relation,
    placed: Sequence[_Placed],
    other_ids: dict[str, str],
    synonyms: dict[str, list[str]],
    settings: ReadSettings,
) -> None:
    """Let each parent without a row be the node of another file that it means, and list what was resolved."""
    known, referable = _known(relation, placed)
    relation.declared = known
    rows = np.flatnonzero((relation.parent >= 0) & ~known[np.maximum(relation.parent, 0)])
    if not rows.size:
        return
    names = relation.names.to_pylist()
    referents = _referents(placed, names, referable)
    code_of = {names[code]: code for code in np.flatnonzero(referable).tolist()}
    separator = settings.separator_text
    for node, others in synonyms.items():
        code = code_of.get(node)
        if code is not None:
            for other in others:
                referents.add_name(code, other)
    for other, path in other_ids.items():
        nodes, _ = referents.find(path, separator)
        if len(nodes) == 1:
            referents.add_name(next(iter(nodes)), other)
            synonyms.setdefault(names[next(iter(nodes))], []).append(other)
    codes, first = np.unique(relation.parent[rows], return_index=True)
    stands_for = np.arange(len(names), dtype=np.int32)
    ways: Counter[str] = Counter()
    told: list[tuple[int, str]] = []
    unsure: list[str] = []
    for code, row in zip(codes.tolist(), rows[first].tolist(), strict=True):
        nodes, how = referents.find(names[code], separator)
        if len(nodes) == 1:
            stands_for[code] = next(iter(nodes))
            ways[how] += 1
            told.append((row, f"{short(names[code])} is {short(names[stands_for[code]])}, by {how}"))
        elif nodes:
            unsure.append(short(names[code]))
    _tell(relation, sorted(told), ways, unsure)
    relation.parent = np.where(
        relation.parent >= 0, stands_for[np.maximum(relation.parent, 0)], np.int32(MISSING)
    ).astype(np.int32)
    gone = stands_for != np.arange(len(names))
    relation.declared = known[~gone]
    relation.names, (relation.child, relation.parent) = drop_names(
        relation.names, [relation.child, relation.parent], gone
    )


def _tell(relation: Relation, told: Sequence[tuple[int, str]], ways: Counter[str], unsure: Sequence[str]) -> None:
    """Note and list the parents that are nodes of other files, and note those that may be several."""
    pairs = np.array([row for row, _ in told], np.int64)
    relation.record(RepairKind.PARENTS_RESOLVED, [text for _, text in told], pairs, relation.parent[pairs])
    for way, number in sorted(ways.items()):
        instead = "" if "id" in way.split() else " instead of id"
        relation.notes.append(f"{count(number, 'parent')} given by {way.removeprefix('its ')}{instead}")
    if unsure:
        relation.notes.append(
            f"{count(len(unsure), 'parent')} may be any of several nodes ({listed(unsure, len(unsure), 3)}): give "
            "the id or the whole path"
        )


def _known(relation: Relation, placed: Sequence[_Placed]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which nodes (n,) need no row of their own, and which of them products may refer to.

    A node needs none if it has one, or if it stands in a file that has no row for each node, such as edges or paths.
    """
    known, referable = np.zeros(len(relation.names), bool), np.zeros(len(relation.names), bool)
    for one in placed:
        codes = one.child if one.part.relation.is_table or one.is_member else np.append(one.child, one.parent)
        codes = codes[codes >= 0]
        known[codes] = True
        if not one.is_member:
            referable[codes] = True
    words = pc.is_in(pc.utf8_lower(relation.names), value_set=pa.array(sorted(CERTAIN_NULL_WORDS)))
    rows = np.zeros(len(relation.names), bool)
    rows[relation.child[relation.child >= 0]] = True
    known &= rows | ~words.to_numpy(zero_copy_only=False)
    return known, known & (referable if referable.any() else True)


def _referents(placed: Sequence[_Placed], names: Sequence[str], referable: NDArray[np.bool_]) -> Referents:
    """Names, labels and paths of the nodes that may be referred to."""
    parents: dict[int, list[int]] = {}
    described: dict[int, tuple[str, set[str]]] = {}
    for one in placed:
        if one.is_member and not all(other.is_member for other in placed):
            continue
        for low, high in zip(one.child.tolist(), one.parent.tolist(), strict=True):
            if low >= 0 and high >= 0 and low != high:
                parents.setdefault(low, []).append(high)
        relation = one.part.relation
        labels, steps = _texts(relation.labels), _texts(relation.steps)
        for own, code in enumerate(one.codes.tolist()):
            label = labels[own] if labels else None
            step = (steps[own] if steps else None) or label or names[code]
            _, others = described.setdefault(code, (step, set()))
            others.update(text for text in (label, step) if text)
    referents = Referents(parents)
    for code in np.flatnonzero(referable).tolist():
        step, others = described.get(code, (names[code], set()))
        referents.add(code, names[code], step, others)
    return referents


def _texts(values: Any) -> list[str | None]:
    """Labels or steps as texts."""
    found = [] if values is None else values if isinstance(values, list) else values.to_pylist()
    return [None if one is None else str(one) for one in found]


class _JoinedLines:
    """Lines of pairs that are numbered through all files."""

    def __init__(self, relations: Sequence[Relation]) -> None:
        self._relations = relations
        self._starts = np.cumsum([0, *(relation.child.size for relation in relations)])

    def __call__(self, pair: int) -> int | None:
        """Line of one pair in its file."""
        return int(self.many(np.array([pair]))[0]) or None

    def many(self, pairs: NDArray[Any]) -> NDArray[np.int64]:
        """Lines (k,) of pairs (k,), 0 where unknown."""
        found = np.zeros(pairs.size, np.int64)
        part = np.searchsorted(self._starts, pairs, side="right") - 1
        for place, relation in enumerate(self._relations):
            lines = lines_at(relation.line_of, pairs[part == place] - self._starts[place])
            if lines is not None:
                found[part == place] = lines
        return found


def _files(parts: Sequence[Part]) -> tuple[tuple[int, str], ...]:
    """The first pair of each file, and its path."""
    starts = np.cumsum([0, *(part.relation.child.size for part in parts)]).tolist()
    return tuple(zip(starts, (part.path for part in parts), strict=False))


def _names(relation: Relation) -> pa.Array:
    names = relation.names
    if isinstance(names, list):
        return string_array([str(name) for name in names])
    return pc.cast(names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names, pa.string())


def _place(part: Part, codes: Codes, settings: ReadSettings) -> _Placed:
    def among_all(own: Codes) -> Codes:
        return np.where(own >= 0, codes[np.maximum(own, 0)], np.int32(MISSING)).astype(np.int32)

    relation = part.relation
    child, parent = relation.child, relation.parent
    if decide(relation, settings).direction == "parent-child":
        child, parent = parent, child
    return _Placed(part, codes, among_all(child), among_all(parent))


def _with_roles(placed: Sequence[_Placed]) -> list[_Placed]:
    """The files, each with whether its rows are members, such as products, that hang below nodes of other files."""
    some_tree = not all(one.hangs_below_others for one in placed)
    found = []
    for one in placed:
        others = [other for other in placed if other is not one]
        is_group = any(np.isin(one.child[one.child >= 0], other.parent).any() for other in others)
        is_below = some_tree or any(np.isin(one.parent[one.parent >= 0], other.child).any() for other in others)
        hangs = one.hangs_below_others and is_below and not is_group
        found.append(replace(one, is_member=one.part.is_products or hangs))
    return found


def _refuse_shared_ids(placed: Sequence[_Placed], names: pa.Array) -> None:
    """Refuse products that have the ids of categories: as one node they would hang below themselves or each other."""
    members = [one for one in placed if one.hangs_below_others]
    for member in members:
        for other in placed:
            if other in members:
                continue
            shared = np.intersect1d(member.child[member.child >= 0], other.child[other.child >= 0])
            if shared.size:
                name = short(names[int(shared[0])].as_py())
                raise InputError(
                    f"{member.part.label} and {other.part.label} both have rows of the id {name} "
                    f"({count(int(shared.size), 'id')} in all): give the rows of one file ids of their own, with a "
                    "prefix for instance"
                )


def _labels(parts: Sequence[Part]) -> dict[str, str]:
    """Label of each name: that of the first file which has one."""
    found: dict[str, str] = {}
    for part in parts:
        labels: Any = part.relation.labels
        if labels is not None:
            texts = labels if isinstance(labels, list) else labels.to_pylist()
            for name, text in zip(_names(part.relation).to_pylist(), texts, strict=True):
                if text:
                    found.setdefault(name, text)
    return found


def _synonyms(parts: Sequence[Part]) -> dict[str, list[str]]:
    """What else each name is found by, in any of the files."""
    found: dict[str, list[str]] = {}
    for part in parts:
        lists: Any = part.relation.synonyms
        if lists is not None:
            lists = lists if isinstance(lists, list) else lists.to_pylist()
            for name, others in zip(_names(part.relation).to_pylist(), lists, strict=True):
                found.setdefault(name, []).extend(others or [])
    return found
