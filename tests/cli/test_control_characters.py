"""Names and records may hold what a terminal obeys: no command prints it as it is, and JSON stays JSON."""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import treeball
from tests.healthy import healthy
from treeball import Hierarchy
from treeball.cli.main import main, run
from treeball.words import json_line, printable

TITLE, C1, BIDI, LINES, TAB = "\x1b]0;owned\x07", "\x9b31m", "\u202eevil\u2066", "a\nb\r\u2028c", "tab\tDEL\x7f"
NAMES = ["root " + TITLE, C1 + "1", BIDI + "2", LINES, TAB, "plain", "é 日本 \u200d"]
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
NODE, OTHER = NAMES[3], NAMES[1]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = [None, "label " + TITLE, None, "label " + LINES, None, None, BIDI]
    hierarchy = Hierarchy.from_codes(NAMES, [1, 2, 3, 4, 5, 6, 6], [0, 0, 1, 1, 2, 2, 1], labels=labels)
    embedding = healthy(hierarchy, "parents", "poincare")
    made = embedding.provenance.with_log(f"a decision {TITLE}{LINES}").with_scores(embedding.evaluate())
    embedding.with_provenance(made).save("model.parquet")
    vectors = np.array(embedding.vectors)
    vectors[[1, 5]] = vectors[[5, 1]]  # so that something is ill
    treeball.Embedding(vectors, hierarchy, "poincare", made.without_scores()).save(f"ill{BIDI}{TITLE}.parquet")
    Path("new.csv").write_text(f'child,parent\n"new {TITLE}","{OTHER}"\n')
    return "model.parquet"


ILL = f"ill{BIDI}{TITLE}.parquet"
COMMANDS = [
    ["info", "MODEL"], ["info", ILL], ["verify", ILL], ["evaluate", ILL], ["diagnose", "MODEL"], ["diagnose", ILL],
    ["neighbors", "MODEL", NODE], ["neighbors", "MODEL", NODE, OTHER], ["distance", "MODEL", NODE, OTHER],
    ["similarity", "MODEL", NODE, OTHER], ["search", "MODEL", "label"],
    *(["ask", "MODEL", question, NODE] for question in ("parent", "parents", "children", "ancestors", "subtree")),
    ["ask", "MODEL", "children", NAMES[0], OTHER], ["ask", "MODEL", "subtree", NAMES[0]],
    *(["ask", "MODEL", question, NODE, OTHER] for question in ("is-ancestor", "common-ancestor", "path")),
    ["suggest-parent", "MODEL", "--near", NODE], ["compare", "MODEL", ILL], ["align", "MODEL", ILL],
    ["insert", "MODEL", "new.csv", "-o", "out.parquet"], ["insert", "MODEL", "--remove", NODE, "-o", "out.parquet"],
    ["update", "MODEL", ILL, "-o", "out.parquet"], ["heal", ILL, "-o", "out.parquet"],
]  # fmt: skip
REMARKS = [
    ["export", "MODEL", "-o", f"out{TITLE}.csv"], ["split", "MODEL", "-o", "folder"], ["fit", "new.csv", "-o", ILL],
    ["neighbors", "MODEL", f"nobody {TITLE}{LINES}"], ["info", f"missing {TITLE}"], ["evaluate", "MODEL", f"--x{C1}"],
    ["plot", ILL, "-o", f"figure{BIDI}.svg"], [f"{TITLE}"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS + REMARKS, ids=lambda some: ascii(" ".join(some[:3])))
@pytest.mark.parametrize("terminal", [False, True])
def test_no_command_prints_them(model, capsys, monkeypatch, arguments, terminal):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    run([model if one == "MODEL" else one for one in arguments])
    told = capsys.readouterr()
    assert told.out + told.err
    assert RAW.findall(told.out + told.err) == []


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda some: ascii(" ".join(some[:3])))
def test_json_is_valid_and_holds_the_names_as_they_are(model, capsys, arguments):
    assert run([*(model if one == "MODEL" else one for one in arguments), "--json"]) == 0
    told = capsys.readouterr().out
    assert RAW.findall(told) == []
    records = [json.loads(line) for line in told.splitlines()]
    assert records
    if arguments[0] == "neighbors":
        assert {one["node"] for one in records[0]["neighbors"]} < set(NAMES)


def test_what_is_written_out():
    assert printable("a\x1b[1mb\nc\td\x9be\u202ef\u2028\udcff") == r"a\x1b[1mb\nc\td\x9be\u202ef\u2028\udcff"
    for kept in ("é 日本", "\u200d\u200c\u200f", "C:\\new", "😀"):
        assert printable(kept) == kept
    for value in (TITLE, C1, BIDI, LINES, "\udcff", {"é\x7f": [TAB]}):
        assert json.loads(json_line(value)) == value
        json_line(value).encode()
    assert json_line([float("nan"), float("inf"), 1.5]) == "[null, null, 1.5]"


def test_warnings_of_other_libraries_are_written_out(monkeypatch):
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert warnings.formatwarning(UserWarning(f"no glyph for {TITLE}"), UserWarning, "file.py", 1) == (
        "warning: no glyph for \\x1b]0;owned\\x07\n"
    )


def test_commands_print_through_one_module():
    """A `print` elsewhere would print names as they are."""
    for path in Path(treeball.__file__).parent.joinpath("cli").glob("*.py"):
        if path.name != "console.py":
            calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
            assert not [one for one in calls if isinstance(one, ast.Name) and one.id in ("print", "Console")], path.name
