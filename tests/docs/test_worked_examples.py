"""The scripts of docs/examples.md run, give the answers that the page shows, and are the code that it shows."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "examples.md").read_text(encoding="utf-8")
OUTPUT = re.compile(r'```text title="python docs/examples/(\w+)\.py ([^"]*)"\n(.*?)```', re.DOTALL)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
SHOWN = {name: (arguments, text) for name, arguments, text in OUTPUT.findall(PAGE)}

# What each script needs beside the package, what it must answer for its story to be true, and a file it leaves behind.
STORIES = {
    "shop_catalogue": (
        [],
        [
            "95 nodes, 94 edges read from breadcrumbs, 5 roots",
            "=> MAP 1.0000: 94 of 94 categories are nearest to their parent",
            "=> all four are cookware: True",
            "=> placed 3 nodes, 3 with their parent nearest; 0 other nodes fell ill; old places untouched: True",
            "diagnose says: treeball heal intern.parquet",
            "=> healed, its MAP is 1.0000",
            "removed: Sports > Cycling > E-bikes",
            "=> edited, nothing else moves: True",
        ],
        "shop/catalogue.html",
    ),
    "ontology": (
        [],
        [
            "terms have several parents: hurdy-gurdy",
            "=> MAP above 0.99 for all ancestors: True",
            "=> these are all 6 terms above it, by both parents: True",
            "=> a true pair scores higher than a false one in more than 95 % of cases: True",
            "so it belongs below: woodwind",
            "=> instruments.vec reads back to the same bytes: True",
            "=> instruments.parquet reads back to the same bytes: True",
        ],
        "instruments/instruments.obo",
    ),
    "biology": (
        ["matplotlib"],
        [
            "=> every node is nearest to its parent: True",
            "human and siamang meet in Hominoidea: human - Hominini",
            "=> Hominoidea is below Catarrhini, so the siamang is nearer kin: True",
            "=> and the one with the lower common ancestor in 100%",
            "=> Homo sapiens and Pan paniscus meet in: Hominidae",
        ],
        "primates/primates.png",
    ),
    "search_engineer": (
        ["pydantic"],
        [
            "=> exact search of 1,182 nodes at once: recall@10 is 1.0000",
            "=> hits@1 in float32 is 1.0000",
            "what is found is as near as before: True",
            "=> nearest to beagle.n.01 over HTTP: hound.n.01",
            "=> at the same distances as here: True",
        ],
        "search/features.npy",
    ),
    "researcher": (
        [],
        [
            "156 nodes, 155 edges",
            "=> all three trainings end within the same radius, 12.2: True",
            "=> it is ahead of both published ones by more than two standard errors: True",
            "=> the construction has no ill pair with any seed: True",
            "=> 12 models trained once more; files that differ: 0",
        ],
        "methods/second/ga-dl-rw-0.parquet",
    ),
    "gensim_import": (
        ["gensim"],
        ["<Diagnosis of imported.parquet: ", "=> ill pairs left after healing: 0"],
        "gensim/healed.parquet",
    ),
    "entailment_cones": (
        [],
        [
            "=> above 0.9 by cones, below 0.2 by distances: True",
            "beagle.n.01 is deepest in the cones of ",
            "=> the method cones does not use burn_in: leave it out",
        ],
        "cones/cones.parquet",
    ),
}


def answers(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("=> ")]


def test_the_page_has_every_script() -> None:
    assert set(SHOWN) == set(STORIES)
    linked = set(re.findall(r"\]\(examples/(\w+)\.py\)", PAGE))
    # Those that are not here are shown on the page about torch.
    assert linked == {path.stem for path in (DOCS / "examples").glob("*.py")} - {"joint_learning", "class_prototypes"}


def test_the_page_shows_code_of_the_scripts() -> None:
    scripts = [(DOCS / "examples" / f"{name}.py").read_text(encoding="utf-8") for name in STORIES]
    shown = CODE.findall(PAGE)
    assert len(shown) >= len(STORIES)
    for code in shown:
        assert any(code in script for script in scripts), f"no script has this code:\n{code}"


# One script shows that they run at all; the others take seconds each.
QUICK = "shop_catalogue"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == QUICK else pytest.mark.slow) for name in STORIES]
)
def test_script(name: str, tmp_path: Path) -> None:
    needs, facts, made = STORIES[name]
    missing = [module for module in needs if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"{name}.py needs {', '.join(missing)}")
    arguments, shown = SHOWN[name]
    script = str(DOCS / "examples" / f"{name}.py")
    done = subprocess.run(
        [sys.executable, script, *shlex.split(arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    for fact in facts:
        assert fact in done.stdout
    assert (tmp_path / made).stat().st_size > 0
    assert answers(done.stdout) == answers(shown)
