"""All formats, and one try of one of them."""

from __future__ import annotations

from random import Random

from . import nested, ontologies, paths, phylogenies, tables
from .written import Format, verdict

FORMATS: list[Format] = [*tables.FORMATS, *paths.FORMATS, *nested.FORMATS, *ontologies.FORMATS, *phylogenies.FORMATS]


def attempt(format: Format, seed: int, number: int) -> tuple[str, str]:
    """("equal", ""), or ("refused" or "wrong", what was said and the content of the file)."""
    written = format.write(Random(f"{seed} {format.name} {number}"))
    kind, text = verdict(written)
    if kind in ("equal", "doubted"):
        return kind, ""
    shown = "".join(
        f"\n--- {name} ({len(content):,} bytes)\n{content[:1500]!r}" for name, content in written.files.items()
    )
    made = f"seed {seed}, {format.name}, number {number}, settings {dict(written.settings)}"
    return kind, f"{made}\n    {text}{shown or repr(written.object)}"
