"""The page of a live training: one file, whose script asks only the server it came from."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib.resources import files


def make_page(title: str) -> str:
    """The page as text."""
    assets = files(__package__) / "assets"
    style, script = ((assets / name).read_text("utf-8") for name in ("live.css", "live.js"))
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "title": html.escape(title), "style": style, "script": script}
    template = (assets / "live.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _digest(text: str) -> str:
    """What the page's policy knows its own script and style by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
