"""Errors a user may meet. Each message is one sentence that names what is wrong, where, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .words import printable


class TreeballError(Exception):
    """Base of every error treeball raises on purpose; the command line prints it without a traceback.

    Its text is one line, whatever the names and the foreign messages that it quotes hold.
    """

    exit_code = 1

    def __str__(self) -> str:
        return printable(" ".join(line.strip() for line in super().__str__().splitlines()))


class InputError(TreeballError):
    """A file, an option or a name given by the user cannot be used as it is."""

    exit_code = 2


class FaultsError(InputError):
    """Input that needs repairs, where they are refused.

    The text has a line for the whole and one for each of the first faults.

    Parameters
    ----------
    sentence
        What is wrong and what to do.
    listed
        The first faults, each with its file and line.
    repairs
        All of them: a :class:`treeball.hierarchy.Repairs`.
    """

    def __init__(self, sentence: str, listed: Sequence[str] = (), repairs: Sequence[Any] = ()) -> None:
        super().__init__(sentence)
        self.listed, self.repairs = tuple(printable(line) for line in listed), repairs

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *(f"  {line}" for line in self.listed)))


class MissingExtraError(InputError):
    """An optional library is needed for what was asked."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        # The library by its own name can be installed everywhere, however treeball itself got here.
        super().__init__(
            f"{purpose} needs the library {library!r} (extra {extra!r}): install it with  pip install {library}"
        )


class NumericalError(TreeballError):
    """The arithmetic left the range of float64."""
