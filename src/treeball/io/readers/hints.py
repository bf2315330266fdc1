"""How messages speak of a setting: as a keyword of read(), and as a flag of the commands."""

from __future__ import annotations


def setting(name: str, value: str = "...") -> str:
    """``header=yes (on the command line: --header yes)``; a switch becomes ``--trim`` or ``--no-trim``."""
    flag = name.replace("_", "-")
    if value in ("true", "false"):
        return f"{name}={value.capitalize()} (on the command line: --{'' if value == 'true' else 'no-'}{flag})"
    return f"{name}={value} (on the command line: --{flag} {value})"
