"""read(): anything that holds a hierarchy -> Hierarchy."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from ...addresses import local_path
from ...errors import InputError, TreeballError
from ...hierarchy import Hierarchy
from ...hierarchy.read_report import short
from ..memory import memory_budget, require_room
from .foreign import refuse_foreign
from .formats import directory, taxdump, wordnet
from .hints import setting
from .recognition import TEXT_FORMATS, doubt, recognised
from .relation import Relation
from .repair import to_hierarchy
from .sample import Sample
from .settings import ReadSettings
from .source import Source, open_source
from .tables.dialect import refuse_width

_EXAMPLES = {"mammals": "mammals.tsv"}

_FOLDER_FORMATS: dict[str, tuple[Any, str]] = {
    "wordnet": (wordnet, "data.noun or data.verb"),
    "taxdump": (taxdump, "nodes.dmp"),
}
"""Format -> module with is_folder() and read_folder(), and the file that tells such a folder."""
_ONLY_FOR = {
    "part_of": ("obo", "obographs", "rdf", "owl"),
    "language": ("rdf", "owl"),
    "tree": ("newick_tree", "nexus"),
}
"""Setting -> modules of `formats` that have a use for it."""
_CONTAINER = "columnar"
"""Module for Parquet and Arrow, which say by their first bytes what they are."""


def read(source: Any, settings: ReadSettings | None = None, **overrides: Any) -> Hierarchy:
    """Read a hierarchy from a file, a folder or a Python object.

    Parameters
    ----------
    source
        A path, ``"-"`` for standard input, ``"example:mammals"``, ``"wordnet:nouns"`` or ``"wordnet:verbs"`` for an
        installed WordNet, bytes, an open file, or an object: a networkx graph, a pandas, polars or Arrow table, a
        mapping, an iterable of pairs or of paths such as ``"A > B"``, a Hierarchy. A list of files is read as one
        hierarchy.
    settings
        How to read it; the default lets the content decide.
    **overrides
        Single settings by name, for instance ``direction="parent-child"`` or ``strict=True``.

    Returns
    -------
    hierarchy
        Its ``report`` says what was understood and repaired: ``print(hierarchy.report)``. ``hierarchy.report.repairs``
        lists every repair with its file, line and node.

    Raises
    ------
    InputError
        One sentence that names the input, the line and the remedy. With ``strict`` a FaultsError lists all faults.
    """
    chosen = _settings(settings, overrides)
    if isinstance(source, Hierarchy):
        return source
    if isinstance(source, str):
        _require_path(source)
        source = local_path(source)
    with memory_budget(chosen.max_memory, _label(source)):
        return _read(source, chosen)


def _read(source: Any, chosen: ReadSettings) -> Hierarchy:
    if isinstance(source, str) and source.startswith("example:"):
        return _read_example(source, chosen)
    if isinstance(source, str) and source.startswith("wordnet:"):
        return _read_installed_wordnet(source, chosen)
    if isinstance(source, (bytes, bytearray, memoryview)) or hasattr(source, "read"):
        return _read_source(source, chosen)
    if isinstance(source, (str, os.PathLike)):
        return _read_path(source, chosen)
    from .objects.objects import read_object

    if _are_files(source):
        return _read_path(source[0], chosen) if len(source) == 1 else _read_several(source, chosen)
    relation = read_object(source, chosen)
    return to_hierarchy(relation, f"the {type(source).__name__}", chosen)


def _label(source: Any) -> str:
    """What messages call ``source`` before it is opened."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else str(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "bytes"
    return str(getattr(source, "name", "")) or f"the {type(source).__name__}"


def _are_files(source: Any) -> bool:
    """Whether ``source`` is a list of files: path objects, or texts that all name a file that is there."""
    if not isinstance(source, (list, tuple)) or not source:
        return False
    if all(isinstance(one, os.PathLike) for one in source):
        return True
    try:
        return all(isinstance(one, str) and os.path.isfile(one) for one in source)
    except ValueError:
        return False


def _settings(settings: ReadSettings | None, overrides: dict[str, Any]) -> ReadSettings:
    try:
        return replace(settings or ReadSettings(), **overrides)
    except TypeError:
        known = ReadSettings.__dataclass_fields__
        unknown = next((name for name in overrides if name not in known), "?")
        raise InputError(f"there is no setting {unknown!r} for reading: choose from {', '.join(known)}") from None


def _require_path(source: str) -> None:
    if not source.strip():
        raise InputError("the path is empty: give a path, '-' for standard input or 'example:mammals'")
    if "\n" in source or "\r" in source:
        raise InputError(
            f"a text of several lines ({short(source)}) is no path: give the path of a file, or the content as bytes, "
            "text.encode()"
        )


def _read_example(source: str, settings: ReadSettings) -> Hierarchy:
    name = source.removeprefix("example:")
    if name not in _EXAMPLES:
        raise InputError(f"there is no example {name!r}: choose from {', '.join(_EXAMPLES)}")
    data = (resources.files("treeball") / "data" / _EXAMPLES[name]).read_bytes()
    return _parse(replace(open_source(data), label=source), settings)


def _read_installed_wordnet(source: str, settings: ReadSettings) -> Hierarchy:
    part = source.removeprefix("wordnet:") or settings.part
    settings = replace(settings, part=part)  # type: ignore[arg-type]  # checked by the settings themselves
    relation, digest = wordnet.read_folder(wordnet.installed_folder(), settings)
    return to_hierarchy(relation, source, settings, digest)


def _read_path(given: str | os.PathLike[str], settings: ReadSettings) -> Hierarchy:
    path = Path(given)
    try:
        is_folder = given != "-" and path.is_dir()
    except (OSError, ValueError):
        is_folder = False  # opening it will say what is wrong
    if not is_folder:
        if settings.format == "directory":
            raise InputError(f"{given} is not a directory: {setting('format', 'directory')} needs one")
        return _read_source(given, settings)
    if settings.format == "directory":
        return to_hierarchy(directory.read_folder(path, settings), str(given), settings)
    for format, (reader, _) in _FOLDER_FORMATS.items():
        if settings.format in ("auto", format) and reader.is_folder(path):
            relation, digest = reader.read_folder(path, settings)
            return to_hierarchy(relation, str(given), settings, digest)
    if settings.format in _FOLDER_FORMATS:
        needed = _FOLDER_FORMATS[settings.format][1]
        raise InputError(f"{given} holds no {needed}: give the folder of the {settings.format} files")
    return _read_source(given, settings)  # says that a file belongs here


def _read_source(given: Any, settings: ReadSettings) -> Hierarchy:
    return _parse(open_source(given, settings.encoding, settings.sheet), settings)


def _read_several(given: Sequence[str | os.PathLike[str]], settings: ReadSettings) -> Hierarchy:
    """One hierarchy of several files."""
    from .several import Part, joined

    sources = [open_source(one, settings.encoding, settings.sheet) for one in given]
    parts = [Part(Path(source.label).name, source.label, _relation(source, settings)) for source in sources]
    digest = hashlib.sha256("".join(source.sha256 for source in sources).encode()).hexdigest()
    return to_hierarchy(joined(parts, settings), " + ".join(source.label for source in sources), settings, digest)


def _parse(source: Source, settings: ReadSettings) -> Hierarchy:
    relation = _relation(source, settings)
    relation.members = None  # only other files could refer to them, and they hold columns
    return to_hierarchy(relation, source.label, settings, source.sha256)


def _relation(source: Source, settings: ReadSettings) -> Relation:
    """What ``source`` holds, in the format that its content tells."""
    format = _format_of(source, settings)
    _refuse_unused(source, format, settings)
    try:
        with _without_collection():
            relation: Relation = import_module(f"{__package__}.formats.{format}").read(source, settings)
    except (TreeballError, MemoryError):
        raise
    except (Exception, RecursionError) as error:
        # The last net under parsers of other people's formats: a user gets a sentence, a developer the cause.
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(
            f"{source.label} cannot be read as {_spoken(format)} ({type(error).__name__}: {reason}); "
            f"check the file, or name its format with {setting('format')}"
        ) from error
    require_room()
    if settings.format == "auto" and not source.is_container:
        relation.notes.extend(doubt(Sample.of(source), settings, format))
    relation.notes.extend(source.notes)
    relation.repairs[:0] = source.repairs
    return relation


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the search for cycles among objects: readers make millions, none in a cycle, and it would look at all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _refuse_unused(source: Source, format: str, settings: ReadSettings) -> None:
    """Refuse a setting that this format has no use for: it would be dropped without a word."""
    for name, formats in _ONLY_FOR.items():
        value = getattr(settings, name)
        if value not in (False, "auto") and format not in formats:
            kinds = ", ".join(_spoken(one) for one in formats)
            raise InputError(
                f"{name}={value} is for {kinds}, but {source.label} is read as {_spoken(format)}: leave it out"
            )


def _format_of(source: Source, settings: ReadSettings) -> str:
    """Module that reads ``source``: as asked for, else the one that the content tells."""
    if source.is_container:
        if settings.format not in ("auto", "parquet", "levels"):
            raise InputError(f"{source.label} is Parquet or Arrow, not {settings.format}: leave the format out")
        return _CONTAINER
    if settings.format == "parquet":
        return _CONTAINER
    sample = Sample.of(source)
    if settings.format in ("auto", "newick"):
        refuse_foreign(sample, source.label)
    if settings.format != "auto":
        return TEXT_FORMATS[settings.format]
    if len(settings.columns) == 1:
        return TEXT_FORMATS["breadcrumbs"]
    row = recognised(sample, settings)
    if row is None:
        refuse_width(sample, source.label)
        raise InputError(
            f"{source.label} has one column: each line needs a child and its parent, separated by tab or comma (or "
            f"indentation, or paths such as A > B); name the format with {setting('format')} if it is another"
        )
    return row.module


def _spoken(module: str) -> str:
    """What a sentence calls the format of a module: "edge_list" is an edge list."""
    return module.replace("_", " ")
