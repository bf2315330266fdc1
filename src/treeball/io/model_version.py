"""The version of the format of model files: which one this program writes, and which ones it reads."""

from __future__ import annotations

import json

from .._version import __version__
from ..errors import InputError
from ..hierarchy._ids import BRIEF

__all__ = ["FORMAT_VERSION", "REMEDY", "require_known_version"]

FORMAT_VERSION = 3
REMEDY = "restore it or make a model with  treeball fit FILE -o MODEL"


def require_known_version(text: bytes) -> None:
    """Refuse a record of a format version that this program does not read, before anything else of it is judged.

    A later version may compute its hash in another way, so the hash cannot be compared first. A text that is no record
    at all passes: the hash or the record's own checks refuse it.
    """
    try:
        description = json.loads(text.decode())
    except (ValueError, RecursionError):
        return
    if not isinstance(description, dict):
        return
    version = description.get("format")
    if type(version) is int and 1 <= version <= FORMAT_VERSION:
        return
    is_newer = type(version) is int and version > FORMAT_VERSION
    remedy = "update treeball, or make the model again with  treeball fit FILE -o MODEL" if is_newer else REMEDY
    says = f"the format version {BRIEF.repr(version)}" if "format" in description else "no format version"
    raise InputError(
        f"its record has {says}, and treeball {__version__} reads versions 1 to {FORMAT_VERSION}: {remedy}"
    )
