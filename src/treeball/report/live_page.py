"""The page of a live training: one file, whose script asks only the server it came from."""

from __future__ import annotations

from .templates import asset, render, script, trusted


def make_page(title: str) -> str:
    """The page as text."""
    style, program = trusted(asset("assets/live.css")), trusted(script("assets/live.js"))
    return render("assets/live.html", title=title, style=style, script=program)
