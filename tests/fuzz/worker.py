"""The process that tries inputs, one at a time, as it is told by lines of JSON; it answers each with another.

``{"prepare": target}`` makes a target ready. ``{"target": ..., "seed": ..., "number": ...}`` makes an input, lays it
down in the folder of the worker and tries it; ``{"folder": ...}`` tries one that lies elsewhere. Before it tries
anything it forbids itself much more memory than an input may take, so that the machine is safe.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import IO, Any

from .budget import MARGIN, MEMORY, SECONDS
from .case import Case
from .dice import Dice
from .targets import find

_STATUS = Path("/proc/self/status")
_PEAK = Path("/proc/self/clear_refs")


def main() -> None:
    """Answer until nobody asks any more."""
    folder = Path(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what an input prints is nobody's answer
    faulthandler.enable()
    for line in sys.stdin:
        asked = json.loads(line)
        if "prepare" in asked:
            find(asked["prepare"]).prepare()
            gc.collect()
            _limit_memory()
            answer: dict[str, Any] = {}
        else:
            answer = _tried(asked, folder)
        _answer(answers, answer)
    # Nobody asks any more without having ended this process: who did is gone, and tidies nothing up.
    shutil.rmtree(folder.parent, ignore_errors=True)


def _answer(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _tried(asked: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What came of one input: whether it was read or refused, or what was found; and the memory it took."""
    if "folder" in asked:
        case = Case.read(Path(asked["folder"]))
    else:
        try:
            case = find(asked["target"]).make(Dice(asked["seed"], asked["target"], asked["number"]))
        except Exception as error:  # a mistake of the fuzzing itself, not of the input before
            Case(asked["target"], {}).write(folder)
            return {"found": "no input", "where": _where(error), "said": traceback.format_exc()}
    case.write(folder)
    before = _memory()
    faulthandler.dump_traceback_later(0.95 * SECONDS)  # so that a hang tells where it hangs
    try:
        answer = _outcome(case, folder)
    finally:
        faulthandler.cancel_dump_traceback_later()
    taken = _memory("VmHWM") - before
    if taken > MEMORY + MARGIN:
        return {"found": "memory", "where": _spoken(taken), "said": f"{case.target} took {_spoken(taken)}"}
    return answer


def _outcome(case: Case, folder: Path) -> dict[str, Any]:
    from treeball.errors import TreeballError

    try:
        find(case.target).attempt(case, folder)
    except TreeballError as error:
        sentence = str(error)
        if not sentence.strip() or ("\n" in sentence and type(error).__name__ != "FaultsError"):
            return {"found": "no sentence", "where": repr(sentence[:80]), "said": repr(sentence)}
        return {"outcome": "refused"}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return {"found": "traceback", "where": _where(error), "said": "".join(traceback.format_exception(error))}
    return {"outcome": "read"}


def _where(error: BaseException) -> str:
    """The kind of error and the innermost line of treeball's own, by which findings are told apart."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "treeball" in Path(frame.filename).parts]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside treeball"
    return f"{type(error).__name__} at {place}"


def _limit_memory() -> None:
    """Forbid what no input may take by far; again after each target that is made ready, which takes some itself."""
    import resource

    size = _memory("VmSize", reset=False) if _STATUS.exists() else 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (size + 4 * (MEMORY + MARGIN), resource.RLIM_INFINITY))


def _memory(kind: str = "VmRSS", reset: bool = True) -> int:
    """Bytes that this process holds now, or the most it held since it was last asked for what it holds."""
    if not _STATUS.exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if kind == "VmRSS" and reset:
        _PEAK.write_text("5")
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(kind + ":"))
    return int(line.split()[1]) * 1024


def _spoken(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


if __name__ == "__main__":
    main()
