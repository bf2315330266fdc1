"""How much memory reading may take: a budget that is checked while reading, so that no small file fills the machine.

Counted is what the process has grown by since reading began. Steps that run outside of Python, and cannot be watched
while they run, say before what they are about to take; where nobody can say, the system is asked to refuse more.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from ..errors import InputError
from .readers.hints import setting

__all__ = [
    "EVERY",
    "all_of",
    "bytes_of",
    "held",
    "json_size",
    "memory_budget",
    "require_room",
    "require_room_after",
    "room_left",
    "text_size",
    "watched",
]

_T = TypeVar("_T")
EVERY = 8_192
"""So many nodes, lines or statements are taken in between two looks at the memory."""
_SHARE = 0.5
_UNKNOWN = 8 << 30  # taken for the memory of a machine that does not tell
_SMALLEST = 1 << 24
_PIECE = 1 << 22
_FOR_THREADS = 1 << 28  # threads that start reserve room that they do not use
_BYTES_PER_JSON_VALUE = 100
_SIZE = re.compile(r"(\d++(?:\.\d++)?)\s*+([kmgt]?)(i?)b?", re.IGNORECASE)
_CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True, slots=True)
class _Budget:
    label: str
    limit: int
    before: int
    can_be_set: bool


_current: ContextVar[_Budget | None] = ContextVar("memory budget", default=None)
_one_limit = Lock()


def bytes_of(text: str) -> int:
    """``"4GB"``, ``"500 MB"``, ``"2GiB"`` or a number of bytes as such; ``"auto"`` is half of what the machine has."""
    if text == "auto":
        return int(_SHARE * _memory_of_machine())
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"max_memory={text!r} is no size: say for instance 4GB, 500MB, or auto for half of the memory")
    number, unit, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " "))
    if size < _SMALLEST:
        raise InputError(f"max_memory={text!r} is too little to read anything: say at least 16MiB, or auto")
    return size


@contextmanager
def memory_budget(limit: str, label: str, *, can_be_set: bool = True) -> Iterator[None]:
    """Hold what is read inside to ``limit``; ``label`` is what is read. Inside of another budget that one goes on.

    ``can_be_set`` says whether there is a setting for the limit, which the refusal then names.
    """
    if _current.get() is not None:
        yield
        return
    budget = _Budget(label, bytes_of(limit), _resident(), can_be_set)
    token = _current.set(budget)
    try:
        yield
    except MemoryError:
        raise _refusal(budget) from None
    finally:
        _current.reset(token)


def require_room(more: int = 0) -> None:
    """Raise InputError when what reading holds, and ``more`` bytes that it is about to take, exceed the budget."""
    budget = _current.get()
    if budget is not None and _resident() - budget.before + more > budget.limit:
        raise _refusal(budget)


def room_left() -> int:
    """Bytes that reading may still take: the rest of the budget, or without one half of the machine's memory."""
    budget = _current.get()
    return bytes_of("auto") if budget is None else max(budget.limit - (_resident() - budget.before), 0)


def require_room_after(before: int, after: int) -> None:
    """Look at the memory when the number of things taken in has passed a multiple of EVERY: a look takes time."""
    if before // EVERY != after // EVERY:
        require_room()


@contextmanager
def held() -> Iterator[None]:
    """Let the system refuse memory beyond the budget, for compiled code that unpacks what nobody can measure before.

    The limit is one of the whole process, so one such step is done at a time, and it ends with the step. It is a
    coarse one: what was reserved before and not used may be taken besides, with Arrow a gigabyte. Systems that have
    no such limit go on without.
    """
    budget = _current.get()
    reserved = _reserved()
    if budget is None or reserved is None:
        yield
        return
    import resource

    with _one_limit:
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = reserved + _FOR_THREADS + room_left()
        limits = [limit for limit in (soft, hard, wanted) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def all_of(stream: Any) -> bytes:
    """All bytes of a stream, which may be without end, piece by piece within the budget."""
    whole = io.BytesIO()
    while piece := stream.read(_PIECE):
        whole.write(piece)
        require_room()
    return whole.getvalue()


def watched(items: Iterable[_T], every: int = EVERY) -> Iterator[_T]:
    """``items``, with a look at the memory at ``every`` so many of them."""
    for number, item in enumerate(items):
        if not number % every:
            require_room()
        yield item


def text_size(data: bytes) -> int:
    """Bytes that UTF-8 takes as text of Python: one rare character makes all of them wide."""
    if data.isascii():
        return len(data)
    return len(data) * (4 if any(data.find(lead) >= 0 for lead in range(0xF0, 0xF5)) else 2)


def json_size(text: str | bytes) -> int:
    """Bytes that JSON takes when it is parsed, by the marks that its values stand behind."""
    marks = [text.count(mark) for mark in ",:[{"] if isinstance(text, str) else [text.count(mark) for mark in b",:[{"]
    return len(text) + _BYTES_PER_JSON_VALUE * sum(marks)


def _refusal(budget: _Budget) -> InputError:
    size = budget.limit
    shown = f"{size / 1e9:,.1f} GB" if size >= 10**9 else f"{size / 1e6:,.0f} MB"
    if not budget.can_be_set:
        return InputError(
            f"reading {budget.label} takes more than {shown} of memory, half of what there is: it is damaged, or needs "
            "a larger machine"
        )
    double = f"{max(2 * size // 10**6, 1):.0f}MB" if size < 10**9 else f"{-(-2 * size // 10**9):.0f}GB"
    return InputError(
        f"reading {budget.label} takes more than {shown} of memory; if the file is as it should be, allow more with "
        f"{setting('max_memory', double)}"
    )


def _resident() -> int:
    """Memory that the process has; where the system does not tell, the most it ever had."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            return int(file.read().split()[1]) * _page_size()
    except (OSError, ValueError, IndexError):
        return _largest()


def _reserved() -> int | None:
    """Memory that the process may write to, used or not, where the system counts it and can limit it."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            return int(file.read().split()[5]) * _page_size()
    except (OSError, ValueError, IndexError):
        return None


def _largest() -> int:
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if os.uname().sysname == "Darwin" else peak * 1024


@cache
def _page_size() -> int:
    return os.sysconf("SC_PAGE_SIZE")


@cache
def _memory_of_machine() -> int:
    """Memory of the machine, or less where a container may use less."""
    sizes = []
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        sizes.append(os.sysconf("SC_PHYS_PAGES") * _page_size())
    for group in _CONTROL_GROUPS:
        try:
            sizes.append(int(Path(group).read_text()))
        except (OSError, ValueError):
            continue  # there is none, or it says "max"
    return min(sizes, default=_UNKNOWN)
