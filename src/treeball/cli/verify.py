"""``treeball verify``: whether a model file still holds what was saved."""

from __future__ import annotations

from pathlib import Path

from .console import print_json, print_table
from .folder_answers import verify_folder


def verify(model: Path, *, json: bool = False) -> int:
    """Check that a model file still holds what was saved: its hash, page checksums, hierarchy, vectors and record.

    Exits with 0 when all is in order, and with 2 and a sentence when the file is damaged, was changed or is no model.
    Loading a model checks the same.

    Parameters
    ----------
    model
        Model file or folder that treeball wrote.
    json
        Print one JSON object.
    """
    from ..io.verify import verify as check
    from ..scale.layout import is_folder

    if is_folder(model):
        return verify_folder(model, json)
    found = check(model)
    if json:
        print_json(found.to_dict())
    else:
        print_table(found.checks(), str(model))
    return 0
