"""The service does what its OpenAPI description says, whatever is sent: schemathesis makes requests from it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import treeball

pytest.importorskip("schemathesis")
pytest.importorskip("pydantic")

from .test_serve import serving


@pytest.mark.slow
@pytest.mark.parametrize("names", ["text", "integers"])
def test_schemathesis_finds_nothing(names, tmp_path):
    if names == "text":
        embedding = treeball.fit("example:mammals", method="sarkar", dim=3)
    else:
        embedding = treeball.fit([(i, i // 3) for i in range(1, 60)], method="sarkar", dim=3)
    model = embedding.save(tmp_path / "model.parquet")
    # Few nodes at a time, so that lists that are too long are still short enough to be read.
    with serving(model, "--max-nodes", "20", "--max-k", "50") as (port, _, _):
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{port}/openapi.json"]
        command += ["--checks", "all", "--mode", "all", "--max-examples", "30", "--seed", "1", "--no-color"]
        command += ["--generation-deterministic", "--suppress-health-check", "all"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "Tested: 31" in done.stdout  # all but the description itself
    (cases,) = re.findall(r"(\d+) generated", done.stdout)
    assert int(cases) > 500
