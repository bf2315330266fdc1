"""Every example of docs/formats.md is read as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.io.readers.helpers import ANIMALS, edges_of, setting_help
from treeball.hierarchy import Hierarchy
from treeball.io.readers import read

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
FENCE = re.compile(r'```\w+ title="([^"]+)"\n(.*?)```', re.DOTALL)
EXPECTED = re.compile(r"```text\n(\d+ nodes, [^\n]*)\n```")


def _examples() -> dict[str, tuple[dict[str, str], str]]:
    """Title of the first file -> the files up to the next expected line, and that line."""
    text = PAGE.read_text(encoding="utf-8")
    examples, files = {}, {}
    for match in re.finditer(f"{FENCE.pattern}|{EXPECTED.pattern}", text, re.DOTALL):
        title, content, expected = match.groups()
        if title:
            files[title] = content
        else:
            examples[next(iter(files))] = (files, expected)
            files = {}
    return examples


EXAMPLES = _examples()


def test_the_page_has_its_examples() -> None:
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("title", EXAMPLES)
def test_example(title: str, tmp_path: Path) -> None:
    files, expected = EXAMPLES[title]
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    # The extension must not matter.
    path = (tmp_path / title).rename((tmp_path / title).with_name("input")) if "/" not in title else tmp_path / title
    hierarchy = read(path)
    assert hierarchy.report is not None
    assert hierarchy.report.headline() == expected
    assert _animals(hierarchy) == ANIMALS
    assert _animals(read(path.read_bytes()) if "/" not in title else read(path.parent)) == ANIMALS


def _animals(hierarchy: Hierarchy) -> set[tuple[str, str]]:
    """Edges with the plain names, whatever the format made of them: labels of ids, last steps of paths."""
    label = {name: label for name, label in zip(hierarchy.names, hierarchy.labels, strict=True) if label is not None}
    edges = edges_of(hierarchy)
    return {tuple(re.split(r" > |/", label.get(name, name))[-1] for name in edge) for edge in edges}  # type: ignore[misc]


def test_every_setting_is_documented() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, explained in setting_help().items():
        assert f"| `{name}` |" in text
        assert explained in text
