"""The walk of docs/phylogenies.md, from a Newick file to a picture, gives what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from treeball.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def walk() -> list[tuple[str, list[str]]]:
    """Commands in order, each with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in FENCE.findall((DOCS / "phylogenies.md").read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("$ treeball "):
                found.append((line.removeprefix("$ treeball "), []))
            else:
                found[-1][1].append(line)
    return found


def numbers(line: str) -> list[float]:
    return [float(one.replace(",", "")) for one in NUMBER.findall(line)]


def test_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(DOCS / "examples" / "primates.nwk", "primates.nwk")
    commands = walk()
    assert [command.split()[0] for command, _ in commands] == [
        "fit",
        "evaluate",
        "distance",
        "distance",
        "neighbors",
        "view",
    ]
    for command, shown in commands:
        capsys.readouterr()
        assert run(shlex.split(command)) == 0
        said = "".join(capsys.readouterr()).splitlines()
        by_words = {NUMBER.sub("#", " ".join(line.split())): line for line in said}
        for line in shown:
            words = NUMBER.sub("#", " ".join(line.split()))
            assert words in by_words, f"{command} does not say: {line}"
            # The descent is not the same to the last digits on every machine.
            assert numbers(line) == pytest.approx(numbers(by_words[words]), rel=0.02, abs=0.01)
