"""One input: the files it consists of, and what it is given to with which options."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DESCRIPTION = "case.json"


@dataclass(frozen=True)
class Case:
    """An input.

    Attributes
    ----------
    target
        Name of what it is tried on.
    files
        Content of each file by its name; what is no file, such as the body of a request, is one of its own.
    options
        What else decides how it is tried; it fits into JSON.
    """

    target: str
    files: dict[str, bytes]
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path, **told: Any) -> Path:
        """Lay it down in a folder, the files as they are, so that any tool can look at them; `told` is kept as well."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        described = {"target": self.target, "options": self.options, "files": list(self.files), **told}
        (folder / _DESCRIPTION).write_text(json.dumps(described, indent=1) + "\n", "utf-8")
        return folder

    @classmethod
    def read(cls, folder: Path) -> Case:
        """The case that was laid down in a folder."""
        described = json.loads((folder / _DESCRIPTION).read_text("utf-8"))
        files = {name: (folder / name).read_bytes() for name in described["files"]}
        return cls(described["target"], files, described["options"])
