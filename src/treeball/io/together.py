"""Writing several files that only make sense together, such as an array and the names of its rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .atomic import atomic_write, cannot_write, sync_folder

__all__ = ["write_together"]


@contextmanager
def write_together(*targets: Path) -> Iterator[list[Path]]:
    """Give a temporary path for each of the `targets`; on success they are renamed to them, else nothing has changed.

    No file system renames several files at once. So the old ones go before the first new one comes: at no moment are
    old and new side by side, as if they belonged together. Whatever ends the process in between leaves less than all
    files, which their readers refuse, and the same command writes them all.
    """
    with ExitStack() as locked:
        places = [Path(os.path.realpath(target)) for target in targets]
        with _old_aside(places) as go, ExitStack() as stack:
            temporaries = [stack.enter_context(atomic_write(target)) for target in targets]
            yield temporaries
            for temporary, place in zip(temporaries, places, strict=True):
                _sync(temporary, place)  # the old ones go only when there is room for all new ones
            if len(targets) > 1:
                locked.enter_context(_alone(places[0].parent))
                go.move()


class _Aside:
    """Moves files to a name beside their own, and back."""

    def __init__(self, places: list[Path]) -> None:
        self.places = places
        self.moved: dict[Path, Path | None] = {}

    def move(self) -> None:
        for place in self.places:
            aside = place.with_name(f".{place.name}.old.tmp")
            try:
                os.replace(place, aside)
                self.moved[place] = aside
            except FileNotFoundError:
                self.moved[place] = None
            except OSError as error:
                raise cannot_write(place, error) from error
        self._sync()  # after a loss of power, too, no old one lies beside a new one

    def _sync(self) -> None:
        for folder, place in {place.parent: place for place in self.places}.items():
            try:
                sync_folder(folder)
            except OSError as error:
                raise cannot_write(place, error) from error

    def restore(self) -> None:
        for place, aside in self.moved.items():
            if aside is None:
                place.unlink(missing_ok=True)
            else:
                os.replace(aside, place)

    def forget(self) -> None:
        for aside in self.moved.values():
            if aside is not None:
                aside.unlink(missing_ok=True)


@contextmanager
def _old_aside(places: list[Path]) -> Iterator[_Aside]:
    """What moves old files away; they come back when anything fails after that."""
    aside = _Aside(places)
    try:
        yield aside
    except BaseException:
        aside.restore()
        raise
    aside.forget()


def _sync(temporary: Path, place: Path) -> None:
    try:
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
    except OSError as error:
        raise cannot_write(place, error) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let others that write together in the same folder wait, where folders can be locked: not on Windows."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
