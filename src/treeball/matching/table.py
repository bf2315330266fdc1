"""The table of an alignment: a row for each node of the first hierarchy, in a file of four kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..io.atomic import atomic_write
from ..io.spreadsheet import escaped
from .anchors import FIRST_COLUMN, SECOND_COLUMN

if TYPE_CHECKING:
    from ._align import Alignment, Answer

__all__ = ["record", "require_ending", "write"]

_DIGITS = 4


def record(answer: Answer, candidates: bool) -> dict[str, Any]:
    """An answer as JSON holds it; names are text."""
    found: dict[str, Any] = {
        FIRST_COLUMN: str(answer.node),
        "label_a": answer.label,
        SECOND_COLUMN: None if answer.counterpart is None else str(answer.counterpart),
        "label_b": answer.counterpart_label,
        "kind": answer.kind,
        "confidence": round(answer.confidence, _DIGITS),
        "why": answer.why,
    }
    if candidates:
        found["candidates"] = [
            {"node": str(one.node), "label": one.label, "confidence": round(one.confidence, _DIGITS), "why": one.why}
            for one in answer.candidates
        ]
    return found


def write(alignment: Alignment, path: Path, candidates: int = 0, *, escape_formulas: bool = False) -> None:
    """Write the answers to a file, whole or not at all."""
    writer = require_ending(path, escape_formulas=escape_formulas)
    rows = [record(answer, candidates > 0) for answer in alignment.answers(candidates)]
    with atomic_write(path) as temporary:
        writer(rows, temporary)


def require_ending(path: Path, *, escape_formulas: bool = False) -> Callable[[list[dict[str, Any]], Path], None]:
    """What writes a file of this ending; InputError where nothing does."""
    writer = _WRITERS.get(path.suffix.lower())
    if writer is _write_delimited:
        return partial(_write_delimited, escape_formulas=escape_formulas)
    if escape_formulas:
        raise InputError(f"no spreadsheet computes {path.name!r}: escape formulas in .csv and .tsv alone")
    if writer is None:
        raise InputError(f"{path.name!r} does not end in one of {', '.join(_WRITERS)}: choose one of these endings")
    return writer


def _write_json(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(rows, file, ensure_ascii=False, indent=1)
        file.write("\n")


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_flat(rows), path, compression="zstd", write_page_checksum=True)


def _write_delimited(rows: list[dict[str, Any]], path: Path, *, escape_formulas: bool = False) -> None:
    import pyarrow as pa
    from pyarrow import csv

    table = _flat(rows)
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            cells = [escaped(text, escape_formulas) for text in table[field.name].to_pylist()]
            table = table.set_column(place, field, pa.array(cells, pa.string()))
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    csv.write_csv(table, path, csv.WriteOptions(delimiter=separator, quoting_style="needed"))


def _flat(rows: Iterable[dict[str, Any]]) -> Any:
    """The rows as an Arrow table, candidates as one text."""
    import pyarrow as pa

    kinds = {"confidence": pa.float64()}
    found = [row | {"candidates": _listed(row["candidates"])} if "candidates" in row else row for row in rows]
    names = list(found[0]) if found else []
    return pa.table({name: pa.array([row[name] for row in found], kinds.get(name, pa.string())) for name in names})


def _listed(candidates: list[dict[str, Any]]) -> str | None:
    shown = (one["node"] if one["label"] is None else f"{one['label']} [{one['node']}]" for one in candidates)
    texts = (f"{name} ({one['confidence']:.2f})" for name, one in zip(shown, candidates, strict=True))
    return "; ".join(texts) or None


_WRITERS: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {
    ".csv": _write_delimited,
    ".tsv": _write_delimited,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
