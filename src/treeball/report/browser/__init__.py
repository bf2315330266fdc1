"""The hyperbolic browser: one self-contained HTML page in which people walk through a model."""

from __future__ import annotations

from .page import make_page, write_page

__all__ = ["make_page", "write_page"]
