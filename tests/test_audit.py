"""make audit: a database that was not reached is told from one that knows of no vulnerability."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-dev.txt"


@pytest.fixture
def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answering(monkeypatch, answers):
    """Let pip-audit answer with these texts, one a call."""
    waiting = iter(answers)
    answer = lambda *_, **__: subprocess.CompletedProcess([], 0, next(waiting), "connection refused")  # noqa: E731
    monkeypatch.setattr(subprocess, "run", answer)


def said(*dependencies):
    return json.dumps({"dependencies": dependencies, "fixes": []})


FINE = {"name": "numpy", "version": "2.0", "vulns": []}
UNKNOWN = {"name": "numpy", "skip_reason": "Dependency not found on PyPI and could not be audited: numpy (2.0)"}
BAD = {"name": "jinja2", "version": "1.0", "vulns": [{"id": "CVE-1", "fix_versions": ["2.0"]}]}


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        ([said(FINE, UNKNOWN)], 0, "1 requirements audited, 1 unknown to it, 0 vulnerabilities"),
        ([said(UNKNOWN), said(FINE)], 0, "osv: 1 requirements audited"),
        ([said(BAD, FINE)], 1, "jinja2 1.0: CVE-1, fixed in 2.0"),
        (["", said(BAD)], 1, "connection refused"),
        ([said(UNKNOWN), ""], 3, "NOT AUDITED"),
        (["", ""], 3, "NOT AUDITED"),
    ],
)
def test_what_was_not_audited_does_not_pass(audit, monkeypatch, capsys, answers, code, words):
    answering(monkeypatch, answers)
    assert audit.audit("x.txt") == code
    assert words in capsys.readouterr().out


def test_every_locked_requirement_has_a_version_and_a_hash_and_no_address():
    text = LOCK.read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^#.*\n", "", text).strip())
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9._\-]+(\[[a-z,]+\])?==\S+( ; .*?)? \\\n", entry), entry[:80]
        assert "--hash=sha256:" in entry


def test_the_lock_names_what_the_package_needs():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    needed = re.findall(r'"([a-zA-Z0-9_\-]+)(?:\[[a-z]+\])?[>=]=', project)
    locked = set(re.findall(r"(?m)^([a-z0-9._\-]+)(?:\[[a-z,]+\])?==", LOCK.read_text("utf-8")))
    left_out = set(re.findall(r"(?m)^(\w+) ;", (ROOT / "tools" / "lock-overrides.txt").read_text("utf-8")))
    assert left_out == {"torch", "triton", "geoopt"}
    missing = {re.sub(r"[_.]", "-", name.lower()) for name in needed} - locked - left_out - {"hatchling"}
    assert not missing, "make lock"
