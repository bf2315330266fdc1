"""How the house is built: the counts that CONTRIBUTING promises, and that a broken layer does not pass the linter."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def architecture() -> Any:
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "tools" / "architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def counts(architecture: Any) -> Any:
    return architecture.measure(ROOT, verbose=False)


@pytest.mark.parametrize(
    ("what", "most"),
    [
        ("loose modules beside the rooms", 12),
        ("the same without the conveniences of Embedding", 0),
        ("files that compare names of geometries or methods", 2),
        ("functions that assemble a run's record", 1),
    ],
)
def test_a_promise_is_kept(counts: dict[str, int], what: str, most: int) -> None:
    assert counts[what] <= most, "python tools/architecture.py -v tells which"


def test_a_knot_is_found_through_a_lazy_door_but_not_through_types(architecture: Any, tmp_path: Path) -> None:
    package = tmp_path / "src" / "treeball"
    (package / "room").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "room" / "__init__.py").write_text("DOOR = {'name': '_home'}\n")
    (package / "room" / "_home.py").write_text("def name():\n    from .. import other\n")
    (package / "other.py").write_text("from .room import name\n")
    knots = "largest knot, lazy imports counted"
    assert architecture.measure(tmp_path, verbose=False)[knots] == 2
    (package / "other.py").write_text("if TYPE_CHECKING:\n    from .room import name\n")
    assert architecture.measure(tmp_path, verbose=False)[knots] == 0


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Ask import-linter about the package in a folder, not about the one that is installed."""
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-c", script, "--no-cache"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_an_import_against_the_layers_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    kept = lint_imports(tmp_path)
    assert kept.returncode == 0, kept.stdout + kept.stderr
    with (tmp_path / "src" / "treeball" / "geometry" / "poincare.py").open("a", encoding="utf-8") as file:
        file.write("\nfrom treeball.methods import settings\n")
    broken = lint_imports(tmp_path)
    assert broken.returncode == 1
    assert "treeball.geometry is not allowed to import treeball.methods" in broken.stdout
    assert "treeball.geometry.poincare -> treeball.methods" in broken.stdout
