"""A WordNet database folder: synsets of nouns or verbs and their hypernyms, as tree, DAG or closure.

Nodes are named lemma.part.sense (``dog.n.01``): the first lemma of the synset in lower case, and the number of that
sense of the lemma in the index file.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ....errors import InputError
from ....hierarchy.repairs import RepairGroup, RepairKind
from ....words import count
from ...memory import EVERY, all_of, require_room, watched
from ..relation import Relation, RelationBuilder
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source

_LICENCE = re.compile(r"^  1 This software and database is being provided")
_KINDS = {"nouns": ("noun", "n"), "verbs": ("verb", "v")}
_HYPERNYM, _INSTANCE = "@", "@i"

# Version 3.0 makes these two verbs each other's hypernym; later copies put the first below suppress.v.04 instead.
_CYCLE_CHILD, _CYCLE_PARENT, _CYCLE_REMEDY = "inhibit.v.04", "restrain.v.01", "suppress.v.04"

_USUAL_PLACES = ("/usr/share/wordnet", "/usr/share/WordNet", "/usr/local/WordNet-3.0/dict", "/opt/wordnet/dict")

Hypernyms = dict[str, list[str]]


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain for data.noun and its like, by their licence."""
    return 1.0 if _LICENCE.match(sample.text) else 0.0


def is_folder(path: Path) -> bool:
    """Whether ``path`` holds a WordNet database."""
    return any((path / f"data.{kind}").is_file() for kind, _ in _KINDS.values())


def installed_folder() -> Path:
    """Folder of the copy of WordNet that is installed, by its own environment variables or in the usual places."""
    home, search = os.environ.get("WNHOME"), os.environ.get("WNSEARCHDIR")
    places = [search, f"{home}/dict" if home else None, *_USUAL_PLACES]
    found = next((Path(place) for place in places if place and is_folder(Path(place))), None)
    if found is None:
        raise InputError(
            "no WordNet is installed: install it (Debian and Ubuntu: apt install wordnet-base), or give the folder "
            "that holds data.noun"
        )
    return found


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the folder that the data file ``source`` lies in."""
    if source.path is None or not is_folder(source.path.parent):
        raise InputError(f"{source.label} is one file of a WordNet database: give the folder that holds data.noun")
    return read_folder(source.path.parent, settings)[0]


def read_folder(path: Path, settings: ReadSettings) -> tuple[Relation, str]:
    """Relation of the folder ``path``, and the hash of the two files it comes from."""
    kind, letter = _KINDS[settings.part]
    data, index = _bytes(path / f"data.{kind}"), _bytes(path / f"index.{kind}")
    digest = hashlib.sha256(data + index).hexdigest()
    names = _names(path, data, index, kind, letter)
    hypernyms = _hypernyms(path, data, names, kind, letter)
    notes, repairs = [], []
    if _CYCLE_PARENT in hypernyms.get(_CYCLE_CHILD, ()) and _CYCLE_CHILD in hypernyms.get(_CYCLE_PARENT, ()):
        above = hypernyms[_CYCLE_CHILD]
        replacement = [_CYCLE_REMEDY] if _CYCLE_REMEDY in hypernyms and _CYCLE_REMEDY not in above else []
        at = above.index(_CYCLE_PARENT)
        above[at : at + 1] = replacement
        notes.append(f"the known cycle was broken: {_CYCLE_CHILD} is below {_CYCLE_REMEDY}, not {_CYCLE_PARENT}")
        repairs.append(RepairGroup.of_nodes(RepairKind.KNOWN_CYCLES, [_CYCLE_CHILD], f"not below {_CYCLE_PARENT}"))
    pairs = {
        "tree": _tree_of_nouns if settings.part == "nouns" else _tree_of_verbs,
        "dag": _dag,
        "closure": _closure,
    }[settings.relation](hypernyms)
    builder = RelationBuilder()
    for child, parent in pairs:
        builder.edge(builder.node(child), builder.node(parent))
    left_out = len(hypernyms) - len(builder.names)
    if left_out:
        notes.append(f"{count(left_out, 'synset')} without hypernym or hyponym left out")
        known = set(builder.names)
        alone = [name for name in hypernyms if name not in known]
        repairs.append(RepairGroup.of_nodes(RepairKind.NODES_LEFT_OUT, alone, "a synset without hypernym or hyponym"))
    label = f"WordNet {settings.part} ({settings.relation})"
    return builder.finish(label, direction="child-parent", notes=notes, repairs=repairs), digest


def _bytes(path: Path) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return all_of(file)
    except OSError as error:
        raise InputError(
            f"{path} cannot be opened: {error.strerror}; a WordNet folder needs data.* and index.* side by side"
        ) from None


def _names(path: Path, data: bytes, index: bytes, kind: str, letter: str) -> dict[bytes, str]:
    """Offset of every synset -> its name."""
    senses: dict[tuple[bytes, bytes], int] = {}
    for number, line in watched(enumerate(index.split(b"\n"), start=1)):
        if not line or line.startswith(b"  "):
            continue
        cells = line.split()
        try:
            # lemma, part, count of synsets, count p of pointer kinds, p kinds, two counts, the offsets by sense
            offsets = cells[6 + int(cells[3]) :]
        except (IndexError, ValueError):
            raise InputError(f"{path / f'index.{kind}'}, line {number}: not a WordNet index line") from None
        for sense, offset in enumerate(offsets, start=1):
            senses[cells[0].lower(), offset] = sense
    names: dict[bytes, str] = {}
    for number, line in watched(enumerate(data.split(b"\n"), start=1)):
        if not line or line.startswith(b"  "):
            continue
        cells = line.split(b" ", 5)
        if len(cells) < 6:
            raise InputError(f"{path / f'data.{kind}'}, line {number}: not a WordNet synset; copy the folder again")
        offset, lemma = cells[0], cells[4].lower()
        if (lemma, offset) not in senses:
            raise InputError(
                f"{path / f'data.{kind}'}, line {number}: sense {lemma.decode(errors='replace')} is not in "
                f"index.{kind}; the two files are of different versions"
            )
        names[offset] = f"{lemma.decode('utf-8', 'replace')}.{letter}.{senses[lemma, offset]:02d}"
    return names


def _hypernyms(path: Path, data: bytes, names: dict[bytes, str], kind: str, letter: str) -> Hypernyms:
    """Name -> hypernyms in the order listed, class hypernyms before instance hypernyms."""
    result: Hypernyms = {}
    for number, line in watched(enumerate(data.split(b"\n"), start=1)):
        if not line or line.startswith(b"  "):
            continue
        cells = line.split(b" | ", 1)[0].split()
        try:
            words = int(cells[3], 16)
            start = 4 + 2 * words
            end = start + 1 + 4 * int(cells[start])
            listed = [cells[at : at + 4] for at in range(start + 1, min(end, len(cells)), 4)]
            if end > len(cells):
                raise ValueError("there are fewer pointers than the line says")
            above = [
                names[offset]
                for wanted in (_HYPERNYM, _INSTANCE)
                for symbol, offset, part, _ in listed
                if symbol.decode() == wanted and part.decode() == letter
            ]
        except (IndexError, ValueError, KeyError):
            raise InputError(
                f"{path / f'data.{kind}'}, line {number}: not a WordNet synset; copy the folder again"
            ) from None
        result[names[cells[0]]] = list(dict.fromkeys(above))
    return result


def _ancestors(hypernyms: Hypernyms) -> dict[str, set[str]]:
    """All proper ancestors of every synset."""
    done: dict[str, set[str]] = {}
    unwatched = 0
    for start in hypernyms:
        pending = [start]
        on_path: set[str] = set()
        while pending:
            name = pending[-1]
            waiting = [up for up in hypernyms[name] if up not in done and up not in on_path]
            if name not in done and waiting:
                on_path.add(name)
                pending.extend(waiting)
                continue
            pending.pop()
            if name not in done:
                ups = hypernyms[name]
                done[name] = set(ups).union(*(done.get(up, set()) for up in ups))
                unwatched += len(done[name])
                if unwatched > EVERY:
                    require_room()
                    unwatched = 0
    return done


def _tree_of_nouns(hypernyms: Hypernyms) -> list[tuple[str, str]]:
    """Of several hypernyms the one with the most ancestors, the first listed on a tie."""
    ancestors = _ancestors(hypernyms)
    return [(name, max(above, key=lambda up: len(ancestors[up]))) for name, above in hypernyms.items() if above]


def _tree_of_verbs(hypernyms: Hypernyms) -> list[tuple[str, str]]:
    """The last listed hypernym."""
    return [(name, above[-1]) for name, above in hypernyms.items() if above]


def _dag(hypernyms: Hypernyms) -> list[tuple[str, str]]:
    return [(name, up) for name, above in hypernyms.items() for up in above]


def _closure(hypernyms: Hypernyms) -> list[tuple[str, str]]:
    return [(name, up) for name, above in _ancestors(hypernyms).items() for up in sorted(above)]
