"""The page of the documentation: blocks made of records, the records beside it, and the proof that they agree."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import InputError
from ..experiments.records import Record, read_json, write_text
from .settings_text import matter
from .store import is_todays
from .tables import Stored, blocks, gather

__all__ = ["check_page", "read_stored", "records_path", "stale_records", "write_page"]

_BLOCK = re.compile(r"<!-- table: ([\w-]+) -->(.*?)<!-- end -->", re.DOTALL)
_PICTURE = re.compile(r"\]\(([\w/-]+\.png)\)")

# What all runs of a line share, and what each has of its own.
_SHARED = (
    *("tree", "terms", "label", "variant", "radius", "settings", "updates", "sample", "code"),
    *("threads", "device", "at_once", "version"),
)
_OWN = ("scores", "seconds", "dilations", "finished")


def records_path(page: Path) -> Path:
    """Where the records behind a page are: in the folder that is called like it."""
    return page.with_suffix("") / "records.json"


def write_page(page: Path, out: Path) -> list[str]:
    """Put what is stored below `out` into a page: its blocks, the records beside it, the pictures that it shows.

    Trees that `out` has no runs of stay as they are.

    Returns
    -------
    list of str
        Names of the blocks that were put in; one that the page has no place for is not.
    """
    require_marks(page)
    new, old = gather(out), read_stored(page)
    stored = Stored({**old.records, **new.records}, {**old.shapes, **new.shapes})
    _write_stored(page, stored)
    stored = read_stored(page)  # what is checked later, to the last digit
    made = blocks(stored)
    inserted = []

    def replacement(match: re.Match[str]) -> str:
        if match[1] not in made:
            return match[0]
        inserted.append(match[1])
        return f"<!-- table: {match[1]} -->\n\n{made[match[1]].strip()}\n\n<!-- end -->"

    text = _BLOCK.sub(replacement, page.read_text("utf-8"))
    write_text(page, text)
    for picture in _PICTURE.findall(text):
        drawn = out / "figures" / Path(picture).name
        if drawn.is_file():
            (page.parent / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(drawn, page.parent / picture)
    return inserted


def check_page(page: Path) -> list[str]:
    """What is not so: a line of a block that its records do not tell, a block that has none. Empty if all is well."""
    require_marks(page)
    made = blocks(read_stored(page))
    wrong = []
    for name, text in _BLOCK.findall(page.read_text("utf-8")):
        if name not in made:
            wrong.append(f"{name}: there is no record behind it")
            continue
        there, wanted = text.strip().splitlines(), made[name].strip().splitlines()
        wrong += [f"{name}: {line!r} is not what the records tell" for line in there if line not in wanted]
        wrong += [f"{name}: {line!r} is missing" for line in wanted if line not in there]
        if not wrong and there != wanted:
            wrong.append(f"{name}: its lines are not in order")
    return wrong


def stale_records(page: Path) -> list[str]:
    """Names of the trees whose records other code than today's has made."""
    stored = read_stored(page)
    return [name for name, records in stored.records.items() if not all(map(is_todays, records))]


def require_marks(page: Path) -> None:
    """InputError when there is no such page, or a mark of its blocks is missing."""
    if not page.is_file():
        raise InputError(f"there is no page {str(page)!r}: name one with marks <!-- table: NAME --> and <!-- end -->")
    text = page.read_text("utf-8")
    opened, closed = len(re.findall(r"<!-- table: ", text)), len(re.findall(r"<!-- end -->", text))
    if opened != closed:
        raise InputError(
            f"{str(page)!r} has {opened} marks <!-- table: ... --> and {closed} marks <!-- end -->: pair them"
        )


# ---- records ----


def read_stored(page: Path) -> Stored:
    """The records behind a page; none if it has no such file."""
    kept = read_json(records_path(page)) or {"trees": {}, "lines": []}
    records: dict[str, list[Record]] = {}
    for line in kept["lines"]:
        for run in line["runs"]:
            shared = {name: line[name] for name in _SHARED}
            shared["settings"] = {**line["settings"], "seed": run["seed"]}
            records.setdefault(line["tree"], []).append({**shared, **{name: run[name] for name in _OWN}})
    return Stored(records, kept["trees"])


def _write_stored(page: Path, stored: Stored) -> None:
    """Write records in brief, one line of the file for each line of a table."""
    lines = [json.dumps(line, ensure_ascii=False) for records in stored.records.values() for line in _grouped(records)]
    trees = json.dumps(stored.shapes, ensure_ascii=False)
    path = records_path(page)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, f'{{"trees": {trees},\n"lines": [\n' + ",\n".join(lines) + "\n]}\n")


def _grouped(records: Sequence[Record]) -> Iterator[Record]:
    groups: dict[str, Record] = {}
    for record in records:
        brief = _brief(record)
        seed = brief["settings"].pop("seed")
        shared = {name: brief[name] for name in _SHARED}
        group = groups.setdefault(json.dumps(shared, sort_keys=True), {**shared, "runs": []})
        group["runs"].append({"seed": seed, **{name: brief[name] for name in _OWN}})
    yield from groups.values()


def _brief(record: Record) -> Record:
    """What of a record a page needs."""
    settings, scores = record["settings"], record["scores"]
    columns = {name: settings[name] for name in ("method", "dim", "seed", "epochs")}
    kept = {name: scores[name] for name in ("map", "mean_rank", "illness", "sampled") if name in scores}
    seconds = {name: round(value, 2) for name, value in record["seconds"].items()}
    return {**record, "settings": columns | matter(settings), "scores": kept, "seconds": seconds}
