"""Errors a user may meet. Each message is one sentence that names what is wrong, where, and the remedy."""

from __future__ import annotations

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


class MissingExtraError(InputError):
    """An optional library is needed for what was asked."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        # The library by its own name can be installed everywhere, however treeball itself got here.
        super().__init__(
            f"{purpose} needs the library {library!r} (extra {extra!r}): install it with  pip install {library}"
        )


class NumericalError(TreeballError):
    """The arithmetic left the range of float64."""
