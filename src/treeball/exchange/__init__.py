"""Vectors to and from other tools: files that export writes and import reads, coordinates, and what float32 loses."""

from __future__ import annotations

__all__: list[str] = []
