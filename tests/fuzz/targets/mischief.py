"""No part of treeball: does what the first word of an input says, so that the harness itself can be tested."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

from treeball.errors import InputError

from ..budget import MARGIN, MEMORY
from ..case import Case
from ..dice import Dice

WORDS = (b"fine", b"refuse", b"raise", b"crash", b"sleep", b"eat", b"mumble")


def prepare() -> None:
    """Nothing takes time; but somebody who is killed leaves a folder behind, as a service does."""
    tempfile.mkdtemp(prefix="treeball-fuzz-")


def make(dice: Dice) -> Case:
    """One of the words, and some noise."""
    return Case("mischief", {"input": dice.choice(WORDS) + b" " + dice.randbytes(20)})


def attempt(case: Case, folder: Path) -> None:
    """Do as the file says."""
    match (folder / "input").read_bytes().split()[:1]:
        case [b"refuse"]:
            raise InputError("this is refused in one sentence")
        case [b"mumble"]:
            raise InputError("  ")
        case [b"raise"]:
            raise ZeroDivisionError("an error of somebody else")
        case [b"crash"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        case [b"sleep"]:
            time.sleep(3600)
        case [b"doze"]:
            time.sleep(1)
        case [b"spin"]:
            while True:
                pass
        case [b"eat"]:
            bytearray(b"x") * (MEMORY + 2 * MARGIN)
