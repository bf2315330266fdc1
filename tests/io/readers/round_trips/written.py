"""What a file says, beside the file: the oracle of the round trips."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import treeball
from treeball.errors import InputError, MissingExtraError
from treeball.hierarchy import Hierarchy
from treeball.io.readers.tables.columns import NO_PARENT_NUMBERS, NULL_WORDS

from .graphs import Edge, Graph

Files = Mapping[str, bytes]
_REMEDY = re.compile(r"\b(header|format|separator|direction)=('[^']*'|\S+) \(on the command line")
_MOST_REMEDIES = 2
"""So many doubts about one file may be settled one after the other."""
SOURCE = "source"
"""Key of the one file of an input, and name that it gets on disk."""


@dataclass(frozen=True)
class Facts:
    """What a reader has to find: nodes, edges child first, labels and weights.

    Attributes
    ----------
    labels
        Node -> label, of those that have one.
    weights
        Edge -> weight, or None when the file has no weights.
    """

    nodes: frozenset[str]
    edges: frozenset[Edge]
    labels: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[Edge, float] | None = None

    @property
    def reversed(self) -> Facts:
        """The same with every edge turned round."""
        weights = None if self.weights is None else {(p, c): weight for (c, p), weight in self.weights.items()}
        return Facts(self.nodes, frozenset((p, c) for c, p in self.edges), self.labels, weights)


@dataclass(frozen=True)
class Written:
    """A hierarchy as written in one format.

    Attributes
    ----------
    files
        Name -> content; a folder where ``whole_folder`` says so, else one file or several that are read together.
    facts
        What it says.
    settings
        How it is to be read; mostly nothing.
    undirected
        True when nothing in the file but its structure tells children from parents: then the reverse is right as well
        if the report calls the direction a guess.
    told
        Text of a note -> facts that are right if the report has this note.
    objects
        A Python object to read instead of files.
    """

    files: Files
    facts: Facts
    settings: Mapping[str, Any] = field(default_factory=dict)
    undirected: bool = False
    told: Mapping[str, Facts] = field(default_factory=dict)
    whole_folder: bool = False
    object: Any = None


@dataclass(frozen=True)
class Format:
    """One format, or one way to write it.

    Attributes
    ----------
    write
        Draws a hierarchy and writes it.
    least_read
        Share of files that must be read: a reader that refuses everything is never wrong.
    """

    name: str
    write: Callable[[Random], Written]
    least_read: float = 0.8


def facts_of(graph: Graph, *, labels: bool = False, weights: Mapping[Edge, float] | None = None) -> Facts:
    """Facts of a hierarchy whose nodes are named as in ``graph``; a label that repeats the name says nothing."""
    shown = {name: label for name, label in graph.labels.items() if label != name} if labels else {}
    return Facts(frozenset(graph.parents), frozenset(graph.edges), shown, weights)


def without_implied(facts: Facts) -> Facts:
    """The facts of which only the edges that generate the others are kept, if the edges are a transitive closure."""
    above: dict[str, set[str]] = {}
    for child, parent in facts.edges:
        above.setdefault(child, set()).add(parent)
    two_steps = {(child, far) for child, parent in facts.edges for far in above.get(parent, ())}
    if not two_steps <= facts.edges:
        return facts
    kept = facts.edges - two_steps
    weights = None if facts.weights is None else {edge: facts.weights[edge] for edge in kept}
    return replace(facts, edges=kept, weights=weights)


def found_facts(hierarchy: Hierarchy) -> Facts:
    """Facts of what was read, without the virtual root."""
    names: Sequence[Any] = hierarchy.names
    real = [int(code) for code in hierarchy.real_nodes()]
    child, parent = hierarchy.real_edges()
    pairs = [(names[int(low)], names[int(high)]) for low, high in zip(child, parent, strict=True)]
    labels = {names[code]: hierarchy.labels[code] for code in real}
    return Facts(
        frozenset(names[code] for code in real),
        frozenset(pairs),
        {name: label for name, label in labels.items() if label is not None},
        _weights(hierarchy),
    )


def _weights(hierarchy: Hierarchy) -> dict[Edge, float] | None:
    if hierarchy.parent_weight is None:
        return None
    child, parent = hierarchy.edges()
    found = {}
    for low, high, weight in zip(child.tolist(), parent.tolist(), hierarchy.parent_weight.tolist(), strict=True):
        if high != hierarchy.virtual_root:
            found[hierarchy.names[low], hierarchy.names[high]] = weight
    return found


def verdict(written: Written) -> tuple[str, str]:
    """("equal", ""), ("doubted", ""), ("refused", sentence) or ("wrong", what differs).

    "doubted" says that the report calls a guess by its name, with a setting under which the file comes back equal.
    """
    with tempfile.TemporaryDirectory() as folder:
        return _verdict(written, _source(written, Path(folder)), written.settings, 0)


def _verdict(written: Written, source: Any, settings: Mapping[str, Any], tried: int) -> tuple[str, str]:
    try:
        hierarchy = treeball.read(source, **settings)
    except MissingExtraError:
        raise
    except InputError as error:
        sentence = str(error)
        return ("refused", sentence) if "\n" not in sentence else ("wrong", f"not one sentence: {sentence!r}")
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    report = hierarchy.report
    assert report is not None
    found, facts = found_facts(hierarchy), written.facts
    if settings.get("reduce") != "never":
        facts = without_implied(facts)
    fault = difference(facts, found)
    if not fault:
        unexpected = set(report.repair_counts) - {"roots joined"}
        if not unexpected:
            return "equal", ""
        return "wrong", f"repairs that were not needed: {dict(report.repair_counts)}\n    report: {report}"
    said = [*report.notes, report.direction_doubt or ""]
    allowed = [facts_told for note, facts_told in written.told.items() if any(note in one for one in said)]
    if written.undirected and report.direction_doubt is not None:
        allowed += [one.reversed for one in (facts, *allowed)]
    if any("read as no parent" in note for note in said):
        allowed += [without_null_roots(one, found) for one in (facts, *allowed)]
    if any(not difference(without_implied(one), found) for one in allowed):
        return "doubted", ""
    for name, value in _REMEDY.findall("\n".join(said)) if tried < _MOST_REMEDIES else ():
        remedy = ast.literal_eval(value) if value.startswith("'") else value
        if settings.get(name) != remedy:
            kind, _ = _verdict(written, source, {**settings, name: remedy}, tried + 1)
            if kind in ("equal", "doubted"):
                return "doubted", ""
    return "wrong", f"{fault}\n    report: {report}"


def without_null_roots(facts: Facts, found: Facts) -> Facts:
    """The facts without roots that are called by a word for null, and that were not found."""
    children = {child for child, _ in facts.edges}
    dropped = {name for name in facts.nodes - found.nodes if name not in children and is_null(name)}
    edges = frozenset(edge for edge in facts.edges if edge[1] not in dropped)
    weights = None if facts.weights is None else {edge: facts.weights[edge] for edge in edges}
    labels = {name: label for name, label in facts.labels.items() if name not in dropped}
    return Facts(facts.nodes - dropped, edges, labels, weights)


def is_null(name: str) -> bool:
    """Whether a table reads a parent of this name as "no parent"."""
    return name.lower() in NULL_WORDS or name in NO_PARENT_NUMBERS


def _source(written: Written, folder: Path) -> Any:
    if written.object is not None:
        return written.object
    if not written.whole_folder and list(written.files) == [SOURCE]:
        return written.files[SOURCE]
    for name, content in written.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if written.whole_folder:
        return next(iter(folder.iterdir())) if len(list(folder.iterdir())) == 1 else folder
    return [folder / name for name in written.files]


def difference(expected: Facts, found: Facts) -> str:
    """What differs, or an empty text."""
    if expected.nodes != found.nodes:
        return f"nodes missing {_few(expected.nodes - found.nodes)}, nodes added {_few(found.nodes - expected.nodes)}"
    if expected.edges != found.edges:
        return f"edges missing {_few(expected.edges - found.edges)}, edges added {_few(found.edges - expected.edges)}"
    if dict(expected.labels) != dict(found.labels):
        lost, added = expected.labels.items() - found.labels.items(), found.labels.items() - expected.labels.items()
        return f"labels {_few(lost)} became {_few(added)}"
    if (expected.weights is None) != (found.weights is None):
        return f"weights {'lost' if found.weights is None else 'added'}"
    if expected.weights is not None and found.weights is not None:
        wrong = [edge for edge, weight in expected.weights.items() if abs(weight - found.weights[edge]) > 1e-12]
        if wrong:
            return f"weights differ: {[(edge, expected.weights[edge], found.weights[edge]) for edge in wrong[:4]]}"
    return ""


def _few(values: Iterable[Any]) -> str:
    listed = sorted(map(repr, values))
    return "[" + ", ".join(listed[:4]) + (f", ... {len(listed)} in all]" if len(listed) > 4 else "]")
