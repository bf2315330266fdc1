"""How a hierarchy is to be read: every choice a user can make, with its help text and its validation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from ...errors import InputError
from ...hierarchy.repairs import RepairKind
from ..memory import bytes_of

Format = Literal[
    "auto",
    "edges",
    "table",
    "levels",
    "parquet",
    "breadcrumbs",
    "outline",
    "json",
    "yaml",
    "newick",
    "nexus",
    "obo",
    "obographs",
    "rdf",
    "owl",
    "wordnet",
    "taxdump",
    "directory",
]
OnDuplicate = Literal["error", "first", "last", "all"]
DirectionChoice = Literal["auto", "header", "child-parent", "parent-child"]

SEPARATOR_WORDS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How to read a hierarchy; the defaults let the content decide.

    Parameters
    ----------
    format
        Format of the input; 'auto' decides by content.
    direction
        Meaning of the first two columns; 'auto' infers it from header and structure, 'header' from the header alone.
    strict
        Refuse input with any fault, and list all faults with their lines; several roots are none.
    columns
        Columns of child, parent and maybe weight, the one of breadcrumbs, or all levels: names or numbers from 1.
    name_column
        Column that holds a label for each id: a header name or a number from 1.
    names
        Name nodes by their ids, with labels to show ('auto') or without ('id'), or by their labels ('label').
    separator
        Separator of columns or path steps: auto, tab, comma, semicolon, pipe, space or text.
    header
        Whether the first line names the columns.
    quoting
        Whether double quotes enclose values or belong to the names.
    trim
        Remove blanks around the names of a delimited text file.
    encoding
        Text encoding; 'auto' is UTF-8, or UTF-16 with a byte order mark.
    root
        Name of the virtual root, which joins several roots.
    reduce
        Remove edges that others imply; 'auto' does so in exact closures and where definitions add parents.
    part
        Which part of a WordNet folder to read.
    relation
        What to take from a WordNet folder: one parent each, all parents, or all ancestors.
    part_of
        Follow part_of besides is_a in an ontology.
    sheet
        Sheet of a workbook: its name, or its number from 1; 'auto' takes the first that holds anything.
    tree
        Which tree of a Newick or NEXUS file: its number from 1, its name, or 'all' for one forest; 'auto' decides.
    language
        Language of the labels of OWL and SKOS, such as en or de-AT; 'auto' prefers English.
    max_memory
        Most memory that reading may take, such as 4GB or 500MB; 'auto' is half of what the machine has.
    """

    format: Format = "auto"
    direction: DirectionChoice = "auto"
    strict: bool = False
    columns: tuple[str, ...] = ()
    name_column: str = ""
    names: Literal["auto", "id", "label"] = "auto"
    separator: str = "auto"
    header: Literal["auto", "yes", "no"] = "auto"
    quoting: Literal["auto", "on", "off"] = "auto"
    trim: bool = True
    encoding: str = "auto"
    root: str = "<root>"
    reduce: Literal["auto", "never", "always"] = "auto"
    part: Literal["nouns", "verbs"] = "nouns"
    relation: Literal["tree", "dag", "closure"] = "tree"
    part_of: bool = False
    sheet: str = "auto"
    tree: str = "auto"
    language: str = "auto"
    max_memory: str = "auto"

    def __post_init__(self) -> None:
        # One text with commas means the same as several texts: a command line gives either.
        columns = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        if len(columns) == 1:
            columns = tuple(str(columns[0]).split(","))
        object.__setattr__(self, "columns", tuple(str(column).strip() for column in columns))
        object.__setattr__(self, "name_column", str(self.name_column))
        object.__setattr__(self, "tree", str(self.tree))
        object.__setattr__(self, "sheet", str(self.sheet))
        object.__setattr__(self, "max_memory", str(self.max_memory))
        hints = get_type_hints(type(self))
        for setting in fields(self):
            value = getattr(self, setting.name)
            choices = get_args(hints[setting.name]) if "Literal" in str(hints[setting.name]) else ()
            if choices and value not in choices:
                raise InputError(f"{setting.name}={value!r} is unknown: choose one of {', '.join(choices)}")
            if not choices and hints[setting.name] in (bool, str) and not isinstance(value, hints[setting.name]):
                raise InputError(f"{setting.name}={value!r} must be of type {hints[setting.name].__name__}")
        if (len(self.columns) > 3 and self.format != "levels") or "" in self.columns:
            raise InputError(
                f"columns={','.join(self.columns)} must name child and parent, and may name weight as a third; or one "
                "column of breadcrumbs; or, with format=levels, a column for each level"
            )
        if len(set(self.columns)) < len(self.columns):
            raise InputError(f"columns={','.join(self.columns)} names a column twice: child and parent must differ")
        if not self.root.strip():
            raise InputError("root='' names no node: give the virtual root a name such as '<root>'")
        bytes_of(self.max_memory)
        if not self.separator:
            raise InputError("separator='' separates nothing: say auto, tab, comma, semicolon, pipe or space")

    @property
    def accepted(self) -> frozenset[RepairKind]:
        """Kinds of repair that are no fault of this input: neither counted nor refused."""
        return frozenset()

    @property
    def refused(self) -> frozenset[RepairKind]:
        """Kinds of repair that are refused even when not strict."""
        return frozenset()

    @property
    def keeps_ids(self) -> bool:
        """Whether nodes of a table keep their ids although its parents are named by labels."""
        return False

    @property
    def separator_text(self) -> str | None:
        """The separator itself, or None when the content decides."""
        if self.separator == "auto":
            return None
        return SEPARATOR_WORDS.get(self.separator, self.separator)


@dataclass(frozen=True, slots=True)
class UpdateReading(ReadSettings):
    """How the next version of a model is read.

    Parameters
    ----------
    on_duplicate
        What to do with ids whose rows differ: "error" refuses them, "first" and "last" take one row, "all" keeps every
        parent and the first label.
    one_parent
        Whether the model is a tree, so that two rows of an id with different parents are a mistake.
    """

    on_duplicate: OnDuplicate = "error"
    one_parent: bool = True
