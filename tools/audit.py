"""Ask the databases of known vulnerabilities about pinned requirements: python tools/audit.py requirements-dev.txt

Exit code 0: all that a database knows was looked up, and nothing is known against it; 1: something is; 3: no database
could be reached, so that nothing was audited. pip-audit takes a database that does not answer for one that knows no
such package, and passes; here that counts as not audited.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")
NOT_AUDITED = 3


def ask(service: str, requirements: str) -> list[dict[str, Any]]:
    """What a database says of each requirement; an empty list where it says nothing."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", requirements, "--no-deps", "--disable-pip"]
    command += ["--vulnerability-service", service, "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        print(f"{service}: no answer ({(done.stderr.strip().splitlines() or ['it said nothing'])[-1][:200]})")
        return []
    return answer


def audit(requirements: str) -> int:
    """Audit by the first database that knows any of the requirements."""
    for service in SERVICES:
        answer = ask(service, requirements)
        known = [one for one in answer if "skip_reason" not in one]
        if not known:
            print(f"{service}: knows none of {len(answer)} requirements, so it was not reached")
            continue
        found = [(one, vulnerability) for one in known for vulnerability in one.get("vulns", [])]
        for one, vulnerability in found:
            fixed = ", ".join(vulnerability.get("fix_versions", [])) or "no version yet"
            print(f"{one['name']} {one['version']}: {vulnerability['id']}, fixed in {fixed}")
        unknown = len(answer) - len(known)
        print(f"{service}: {len(known)} requirements audited, {unknown} unknown to it, {len(found)} vulnerabilities")
        return 1 if found else 0
    print("NOT AUDITED: no database of vulnerabilities could be reached from here")
    return NOT_AUDITED


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(audit(sys.argv[1]))
