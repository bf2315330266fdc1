"""Text that may hold a hierarchy: files of every format, mutated, joined, compressed, read as what they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from hypothesis import strategies as st

import treeball
from tests.io.readers import helpers
from tests.io.readers.test_fuzz import VALID
from treeball.io.readers.settings import Format, ReadSettings

from ..budget import reading
from ..case import Case
from ..dice import Dice
from ..examples import TEXTS, drawn, json_values
from ..mutate import compressed, mutated

SEEDS: dict[str, bytes] = {
    **VALID,
    "workbook": helpers.workbook({"Sheet": [["id", "parent"], ["a", None], ["b", "a"], [3, "a"]], "Other": [["x"]]}),
    "levels": b"level 1,level 2,level 3\nA,,\nA,B,\nA,B,C\nA,D,\n",
    "skos": helpers.rdf(helpers.ANIMALS, "xml", "broader"),
    "banner": b"########\n# a banner\n########\nchild,parent\na,r\nb,r\n",
    "commented xml": helpers.rdf(helpers.ANIMALS, "xml").replace(b"?>", b"?><!-- a --><!-- b -->", 1),
    "outline of tabs": helpers.outline(helpers.ANIMALS, "\t", "- "),
    "escaped yaml": b'"a \\" b":\n  - c\n  - "d: e"\n',
    "yaml records": b"# made\n---\n- {id: a, parent: ~}\n- id: b\n  parent: a\n- {id: c, parent: [a, b], name: 'c'}\n",
    "yaml anchors": b"top: &x\n  mid: &y {leaf: }\nother:\n  again: *y\n  <<: *x\n",
    "yaml blocks": b"? |\n  a long\n  name\n: - >-\n    folded\n    text\n  - !!str 12\n",
    "yaml pairs": b"%YAML 1.2\n---\n- [a, r]\n- [b, r]\n- ['c: d', \"e # f\"]\n...\n",
}
_ALL = list(SEEDS.values())
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "format": tuple(name for name in get_args(Format) if name not in ("auto", "directory")),
    "direction": ("header", "child-parent", "parent-child"),
    "strict": (True,),
    "columns": (("1", "2"), ("2",), ("child", "parent"), ("99", "1")),
    "name_column": ("1", "name", "3"),
    "names": ("id", "label"),
    "separator": ("tab", "comma", ">", "  "),
    "header": ("yes", "no"),
    "quoting": ("on", "off"),
    "trim": (False,),
    "encoding": ("latin-1", "utf-16", "utf-7", "idna"),
    "root": ("a", "\x1b"),
    "reduce": ("never", "always"),
    "relation": ("dag", "closure"),
    "part_of": (True,),
    "tree": ("2", "all", "t"),
    "language": ("de",),
}


def prepare() -> None:
    """Read what is valid: all of it must be read, and the compiled parts are there afterwards."""
    for name, data in SEEDS.items():
        assert treeball.read(data).n_nodes >= 2, name


def make(dice: Dice) -> Case:
    """A mutated file, or one that hypothesis made, with at most two settings other than the defaults."""
    kind = dice.random()
    if kind < 0.1:
        data = json.dumps(drawn(json_values, dice)).encode("utf-8", "surrogatepass")
    elif kind < 0.15:
        data = drawn(_lines, dice).encode("utf-8", "surrogatepass")
    else:
        data = mutated(dice.choice(_ALL), _ALL, dice)
    if dice.random() < 0.05:
        data = compressed(data, dice)
        data = mutated(data, _ALL, dice) if dice.random() < 0.3 else data
    return Case("readers", {"input": data}, options(dice))


def options(dice: Dice) -> dict[str, Any]:
    """Settings of a reading, mostly none."""
    chosen = dice.sample(list(_OPTIONS), dice.choice((0, 0, 0, 1, 1, 2)))
    return {name: dice.choice(_OPTIONS[name]) for name in chosen}


def attempt(case: Case, folder: Path) -> None:
    """Read the file; a hierarchy must be one, and its report must be told without an error."""
    settings = ReadSettings(**reading({**case.options, "columns": tuple(case.options.get("columns", ()))}))
    require_sound(treeball.read(folder / "input", settings))


def require_sound(hierarchy: treeball.Hierarchy) -> None:
    """What everyone may rely on who gets a hierarchy from a reader."""
    assert hierarchy.n_nodes >= 2
    assert hierarchy.report is not None
    assert hierarchy.report.n_edges == hierarchy.n_edges
    assert str(hierarchy.report)
    assert hierarchy.report.summary()


def _lines() -> st.SearchStrategy[str]:
    """Lines of cells, all with the same separator."""
    rows = st.lists(st.lists(TEXTS, min_size=1, max_size=4), min_size=1, max_size=6)
    separators = st.sampled_from(["\t", ",", ";", " > ", "|"])
    return st.builds(lambda some, mark: "\n".join(mark.join(row) for row in some), rows, separators)
