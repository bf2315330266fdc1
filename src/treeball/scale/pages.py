"""Pages of the parts of a model folder: one in a file, or many that are served and made when somebody goes there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import InputError
from ..report.browser.page import make_page, refusal_page
from ..report.table import read_column
from ..types import Objective
from .folder import ModelFolder
from .upper import MOST_SHOWN, Upper, upper_levels

__all__ = ["PageSettings", "Pages"]

# Pages that are kept: who goes back has them at once.
_KEPT = 64


@dataclass(frozen=True)
class PageSettings:
    """What pages show: so many nodes, first those below a node or the uppermost; the rest is as of `make_page`."""

    most: int = MOST_SHOWN
    below: str | None = None
    title: str | None = None
    objective: Objective | None = None
    table: Path | None = None
    column: str | None = None
    threads: int = 0


class Pages:
    """The pages of a folder."""

    def __init__(self, folder: ModelFolder, settings: PageSettings | None = None) -> None:
        self.folder, self.settings = folder, settings or PageSettings()
        self.title = self.settings.title or folder.path.resolve().name
        self._kept = lru_cache(_KEPT)(self._made)

    def first(self) -> Upper:
        """What the first page shows."""
        return upper_levels(self.folder, self.settings.most, self.settings.below)

    def page(self, shown: Upper, served: bool) -> str:
        """A page that shows some nodes; where it is served it leads to the others."""
        how = self.settings
        column = None if how.table is None else read_column(how.table, how.column, shown.embedding.hierarchy)
        return make_page(
            shown.embedding, title=self.title, objective=how.objective, column=column, to_scale=False,
            part=shown.part(str(self.folder.path), served), threads=how.threads,
        )  # fmt: skip

    def served(self, around: str | None) -> tuple[int, bytes]:
        """Status and page of what is below a node, or around it; of None the first page."""
        try:
            return 200, self._kept(around)
        except InputError as error:
            return 404, refusal_page(self.title, f"{error}.").encode()

    def _made(self, around: str | None) -> bytes:
        shown = self.first() if around is None else upper_levels(self.folder, self.settings.most, around=around)
        return self.page(shown, served=True).encode()
