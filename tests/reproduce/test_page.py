"""The page of the documentation: put together from records, and checked against them to the last figure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from treeball.errors import InputError
from treeball.experiments.records import write_json
from treeball.reproduce import page, tables

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reproduction.md"


@pytest.fixture
def out(tmp_path, record_of):
    """A folder of runs, and a page with a place for them and one for others."""
    folder = tmp_path / "out"
    (folder / "runs").mkdir(parents=True)
    (folder / "figures").mkdir()
    for seed in (0, 1):
        for method, map_ in (("poincare", 0.61), ("ga-dl", 0.9123456789)):
            record = record_of(method, seed, map=map_ + seed / 1000, mean_rank=1.7)
            write_json(folder / "runs" / f"yelp-{method}-{seed}.json", record)
    (folder / "figures" / "figure-3.png").write_bytes(b"new")
    return folder


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "docs" / "page.md"
    path.parent.mkdir()
    path.write_text(
        "A\n<!-- table: yelp -->\nold\n<!-- end -->\nB\n<!-- table: verbs -->\nkept\n<!-- end -->\n"
        "![Figure 3](images/figure-3.png)\n<!-- table: gains -->\n<!-- end -->\n"
    )
    return path


def test_blocks_records_and_pictures_are_put_into_a_page(out, document):
    for _ in range(2):  # a second time it replaces what the first put in
        assert page.write_page(document, out) == ["yelp", "gains"]
        text = document.read_text()
        assert text.startswith("A\n<!-- table: yelp -->\n\n**Yelp categories.**")
        assert "\nB\n<!-- table: verbs -->\nkept\n<!-- end -->\n" in text
        assert "0.913 ± 0.001 ▼" in text
        assert (document.parent / "images" / "figure-3.png").read_bytes() == b"new"
    made = tables.blocks(tables.gather(out))["yelp"]
    assert tables.blocks(page.read_stored(document))["yelp"] == made
    assert page.check_page(document) == ["verbs: there is no record behind it"]
    assert page.stale_records(document) == []


def test_what_one_folder_lacks_stays_as_it_was(out, document, tmp_path, record_of):
    page.write_page(document, out)
    other = tmp_path / "other"
    (other / "runs").mkdir(parents=True)
    write_json(other / "runs" / "verbs-poincare.json", record_of("poincare", 0, tree="verbs"))
    page.write_page(document, other)
    assert page.check_page(document) == []
    assert "0.913 ± 0.001 ▼" in document.read_text()


def test_a_page_without_pairs_of_marks_is_refused(out, document):
    document.write_text("<!-- table: yelp -->\nno end\n")
    with pytest.raises(InputError, match=r"1 marks.*0 marks"):
        page.write_page(document, out)
    with pytest.raises(InputError, match="there is no page"):
        page.write_page(document.with_name("none.md"), out)


def test_every_changed_figure_is_found(out, document):
    page.write_page(document, out)
    right = document.read_text()
    block = right[: right.index("<!-- end -->")]
    figures = list(re.finditer(r"\d", block[block.index("| 2 |") :]))
    start = block.index("| 2 |")
    assert len(figures) > 100
    for match in figures[::7]:
        place = start + match.start()
        document.write_text(right[:place] + str((int(right[place]) + 1) % 10) + right[place + 1 :])
        wrong = page.check_page(document)
        assert any("is not what the records tell" in line for line in wrong), right[place - 20 : place + 5]


# ---- the page itself ----


def test_the_figures_of_the_documentation_are_those_of_its_records():
    assert page.check_page(PAGE) == []


def test_the_script_says_what_is_wrong(out, document):
    def check(path):
        script = ROOT / "tools" / "check_reproduction.py"
        return subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=False)

    page.write_page(document, out)
    document.write_text(document.read_text().replace("kept", "").replace("verbs", "gains"))
    page.write_page(document, out)
    good = check(document)
    assert (good.returncode, good.stderr) == (0, "")
    assert "4 runs" in good.stdout
    document.write_text(document.read_text().replace("0.913", "0.993"))
    bad = check(document)
    assert bad.returncode == 1
    assert "0.993" in bad.stderr
