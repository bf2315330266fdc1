"""What both word2vec formats have: a first line with the size, and names that end at the first blank."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InputError

__all__ = ["announced_size", "token", "tokens_of"]


def announced_size(data: bytes) -> tuple[int, int] | None:
    """Number of vectors and dimension from the first line, if it is such a line and so many may follow it."""
    end = data.find(b"\n", 0, 100)
    cells = data[: max(end, 0)].split()
    if len(cells) != 2 or not all(cell.isdigit() for cell in cells):
        return None
    count, width = int(cells[0]), int(cells[1])
    return (count, width) if width <= len(data) and count <= len(data) else None


def token(name: str) -> str:
    """A name as these formats can hold it, with underscores for blanks."""
    return "_".join(name.split()) if name.split() != [name] else name


def tokens_of(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """All names as these formats can hold them, and a sentence when some had to change."""
    tokens = [token(name) for name in names]
    changed = sum(one != other for one, other in zip(tokens, names, strict=True))
    if not changed:
        return tokens, []
    seen: dict[str, str] = {}
    for one, name in zip(tokens, names, strict=True):
        other = seen.setdefault(one, name)
        if other != name or not one:
            raise InputError(
                f"word2vec files have no blanks in names, and without them {other!r} and {name!r} are the same: "
                "choose another format, for instance csv"
            )
    return tokens, [f"{changed:,} names hold blanks, which this format cannot: underscores stand for them"]
