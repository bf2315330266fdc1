"""NCBI taxonomy dumps: nodes.dmp (taxon and parent), with the scientific names of names.dmp beside it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from ....errors import InputError
from ....hierarchy.repairs import RepairKind
from ...memory import require_room
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source, open_source
from ..tables.columns import Roles
from ..tables.pairs import relation_of_columns

_FOUND_BY = ["synonym", "equivalent name", "common name", "genbank common name", "blast name", "acronym"]
_MOST_FIELDS = 100  # with the bars between them; there are 36 or fewer in dumps of today
_COPIES = 3  # of the text, while its columns are chosen and ordered
_ROW = re.compile(r"^\d+\t\|\t\d+\t\|\t")


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain by the separator that only these dumps have."""
    return 1.0 if sample.lines and _ROW.match(sample.lines[0]) else 0.0


def is_folder(path: Path) -> bool:
    """Whether ``path`` holds a taxonomy dump."""
    return (path / "nodes.dmp").is_file()


def read_folder(path: Path, settings: ReadSettings) -> tuple[Relation, str]:
    """Relation of the dump in ``path`` and the hash of its files."""
    source = open_source(path / "nodes.dmp")
    names = _bytes(path / "names.dmp")
    digest = source.sha256 if names is None else hashlib.sha256(source.data + names).hexdigest()
    return read(source, settings), digest


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of nodes.dmp; taxa are named by names.dmp when it lies beside it."""
    nodes = _columns(source.data, source.label, (0, 2))
    relation = relation_of_columns(
        nodes[0],
        nodes[1],
        roles=Roles(0, 1, direction="child-parent", is_table=True),
        line_of=lambda row: row + 1,
        label=source.label,
    )
    relation.format = "an NCBI taxonomy dump"
    relation.columns_given = False
    beside = source.path.parent / "names.dmp" if source.path is not None else None
    names = None if beside is None or settings.names == "id" else _bytes(beside)
    if names is not None:
        taxon, name, kind = _columns(names, str(beside), (0, 2, 6))
        scientific = pc.equal(kind, "scientific name")
        relation.synonyms = _synonyms(relation.names, taxon, name, pc.is_in(kind, value_set=pa.array(_FOUND_BY)))
        taxon, name = taxon.filter(scientific), name.filter(scientific)
        place = pc.index_in(relation.names, value_set=taxon.combine_chunks())
        relation.labels = name.combine_chunks().take(place)
    elif settings.names != "id":
        relation.notes.append("names.dmp was not found beside nodes.dmp, so taxa are named by their number")
        relation.record_lines(RepairKind.NAMES_NOT_FOUND, [None], "names.dmp is not beside nodes.dmp")
    return relation


def _synonyms(nodes: pa.Array, taxon: pa.ChunkedArray, name: pa.ChunkedArray, wanted: pa.ChunkedArray) -> pa.Array:
    """Other names of each of the nodes, as lists, of the rows that are wanted."""
    code = pc.index_in(taxon.filter(wanted), value_set=nodes)
    known = pc.is_valid(code)
    names, codes = name.filter(wanted).filter(known), np.asarray(code.filter(known))
    order = np.argsort(codes, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(nodes)))])
    return pa.ListArray.from_arrays(ends.astype(np.int32), names.combine_chunks().take(order))


def _bytes(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    return open_source(path).data


def _columns(data: bytes, label: str, wanted: tuple[int, ...]) -> list[pa.ChunkedArray]:
    """Columns of a dump; with the tab as separator every second column is the bar between two fields."""
    first = data.split(b"\n", 1)[0]
    width = first.count(b"\t") + 1
    if width > _MOST_FIELDS:
        raise InputError(f"{label} is no taxonomy dump: its first line has {width:,} fields; download it again")
    require_room(_COPIES * len(data))
    names = [f"f{i}" for i in range(width)]
    try:
        table = pacsv.read_csv(
            pa.BufferReader(data),
            read_options=pacsv.ReadOptions(use_threads=False, block_size=1 << 22, column_names=names),
            parse_options=pacsv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pacsv.ConvertOptions(
                include_columns=[f"f{i}" for i in wanted],
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError, KeyError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{label} is not a complete taxonomy dump ({reason}); download it again") from None
    return [table.column(f"f{i}") for i in wanted]
