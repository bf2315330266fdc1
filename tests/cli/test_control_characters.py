"""Names and records may hold what a terminal obeys: no command prints it as it is, and JSON stays JSON."""

from __future__ import annotations

import ast
import json
import re
import sys
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest

import treeball
from tests.healthy import healthy
from treeball import Hierarchy
from treeball.cli.main import main, run
from treeball.errors import InputError
from treeball.words import json_line, printable

TITLE, C1, LINES, TAB = "\x1b]0;owned\x07", "\x9b31m", "a\nb\r\u2028c", "tab\tDEL\x7f"
BIDI = "\u202eevil\u2066\u200b\u200d\ufeff\xad\U000e0041\ufe0f"
NAMES = ["root " + TITLE, C1 + "1", BIDI + "2", LINES, TAB, "plain", "é 日本 \u200d"]
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
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
    for kept in ("é 日本", "e\u0301", "C:\\new", "😀", "no\xa0break", "\u2800"):
        assert printable(kept) == kept
    for value in (TITLE, C1, BIDI, LINES, "\udcff", {"é\x7f": [TAB]}):
        assert json.loads(json_line(value)) == value
        json_line(value).encode()
    assert json_line([float("nan"), float("inf"), 1.5]) == "[null, null, 1.5]"


HIDDEN = {
    "zero-width space": ("Dog\u200bfood", r"Dog\u200bfood"),
    "mark of direction": ("abc\u200f", r"abc\u200f"),
    "override of direction": ("\u202egpj.exe", r"\u202egpj.exe"),
    "Arabic letter mark": ("\u061cx", r"\u061cx"),
    "word joiner": ("a\u2060b", r"a\u2060b"),
    "isolate": ("\u2069a", r"\u2069a"),
    "byte order mark": ("\ufeffid", r"\ufeffid"),
    "soft hyphen": ("co\xadop", r"co\xadop"),
    "tags": ("x\U000e0041\U000e007f", r"x\U000e0041\U000e007f"),
    "variation selector": ("a\ufe0f", r"a\ufe0f"),
    "rare variation selector": ("a\U000e01ef", r"a\U000e01ef"),
    "Hangul filler": ("\u3164", r"\u3164"),
    "Persian joiner": ("می\u200cخواهم", r"می\u200cخواهم"),
    "emoji joiner": ("👩\u200d💻", r"👩\u200d💻"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_terminal_hides_is_written_out(name):
    raw, shown = HIDDEN[name]
    assert printable(raw) == shown
    assert printable(printable(raw)) == shown
    assert json_line(raw).isascii() or name in ("Persian joiner", "emoji joiner")
    assert json.loads(json_line({raw: [raw]})) == {raw: [raw]}
    assert not RAW.findall(json_line(raw) + str(InputError(f"no node named {raw!r}, but {raw}")))


def test_all_that_unicode_hides_is_written_out():
    """Format characters (Cf) are all hidden, except marks that a terminal shows, as of Arabic numbers."""
    shown = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13460)}
    hidden = [chr(one) for one in range(0x110000) if unicodedata.category(chr(one)) == "Cf" and one not in shown]
    assert len(hidden) > 130
    assert [ascii(one) for one in hidden if printable(one) == one] == []


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
