"""Which node of one file another file means: by its id, its label, or the path of labels above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .paths import ID, MARKS, steps_of
from .tables.pairs import without_decimals

_Codes = frozenset[int]
_NONE: _Codes = frozenset()


@dataclass(slots=True)
class Referents:
    """Nodes that other files may refer to.

    Attributes
    ----------
    parents
        Node -> the nodes above it.
    by_name, by_label
        Text -> the nodes that have it as their name, or as their label or last step; as written, and without case.
    """

    parents: Mapping[int, Sequence[int]]
    by_name: dict[bool, dict[str, set[int]]] = field(default_factory=lambda: {False: {}, True: {}})
    by_label: dict[bool, dict[str, set[int]]] = field(default_factory=lambda: {False: {}, True: {}})
    _steps: dict[int, str] = field(default_factory=dict)

    def add(self, code: int, name: str, step: str, labels: Iterable[str]) -> None:
        """Take in a node: its name, the step that it is in a path, and its labels."""
        self._steps[code] = step
        for fold in (False, True):
            self.by_name[fold].setdefault(plain_text(name, fold), set()).add(code)
            for label in (step, *labels):
                self.by_label[fold].setdefault(plain_text(label, fold), set()).add(code)

    def add_name(self, code: int, name: str) -> None:
        """Take in another id of a node."""
        for fold in (False, True):
            self.by_name[fold].setdefault(plain_text(name, fold), set()).add(code)

    def find(self, text: str, separator: str | None = None) -> tuple[_Codes, str]:
        """The nodes that ``text`` may mean, and by what; the surest way that finds any decides.

        What is written as in the other file comes before what differs in case or blanks, an id before a label, a label
        before a path, and a whole path before the end of one.
        """
        for fold in (False, True):
            case = " in another case" if fold else ""
            for how, found in (
                ("another form of its id", self._named(text, fold)),
                ("its label", frozenset(self.by_label[fold].get(plain_text(text, fold), ()))),
                ("its path", self._at(text, fold, separator, whole=True)),
            ):
                if found:
                    return found, how + case
        return self._at(text, True, separator, whole=False), "the end of its path"

    def _named(self, text: str, fold: bool) -> _Codes:
        """Nodes by an id, also one written as 7.0 or in front of a path."""
        known, ahead = self.by_name[fold], ID.match(text)
        for name in (text, without_decimals(text.strip()), ahead.group(1) if ahead else text):
            found = known.get(plain_text(name, fold))
            if found:
                return frozenset(found)
        return _NONE

    def _at(self, text: str, fold: bool, separator: str | None, whole: bool) -> _Codes:
        """Nodes at a path of labels; ``whole`` if it begins at a root."""
        for mark in MARKS if separator is None else (separator, *MARKS):
            if mark.strip() in text:
                steps = [plain_text(step, fold) for step in steps_of(ID.sub("", text), mark)]
                found = (
                    frozenset(
                        code
                        for code in self.by_label[fold].get(steps[-1], ())
                        if len(steps) > 1 and self._hangs_below(code, steps[-2::-1], fold, whole)
                    )
                    if steps
                    else _NONE
                )
                if found:
                    return found
        return _NONE

    def _hangs_below(self, code: int, above: Sequence[str], fold: bool, whole: bool) -> bool:
        """Whether the steps ``above``, the nearest first, lead up from a node, and to a root if ``whole``."""
        here = {code}
        for step in above:
            here = {
                up
                for one in here
                for up in self.parents.get(one, ())
                if plain_text(self._steps.get(up, ""), fold) == step
            }
        return any(not self.parents.get(one) for one in here) if whole else bool(here)


def every_step(text: str) -> set[str]:
    """The text, and its steps by every separator that it may have."""
    return {text, *(step for mark in MARKS if mark.strip() in text for step in steps_of(ID.sub("", text), mark))}


def plain_text(text: str, fold: bool) -> str:
    """Text with single blanks, and without case if ``fold``."""
    bare = " ".join(text.split())
    return bare.casefold() if fold else bare
