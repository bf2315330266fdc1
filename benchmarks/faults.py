"""What is on the disk after a command was killed, the disk was full or could not be written, or two wrote at once?

    python benchmarks/faults.py [--kills 200] [--writers 42] [--commands fit heal ...] [--seed 0]

Every command that writes files runs with an earlier result in its place, and is disturbed:

- kills: SIGKILL at a random moment, half of them while a file is being written;
- steps: SIGKILL before and after every call that syncs, renames or removes a file;
- errors: each of these calls fails with ENOSPC, in turn;
- full disk: a tmpfs that has a page more each time, and large ones an eighth, from none to enough; or, where nothing
  can be mounted, a limit on the size of files, which fails the same writes with EFBIG;
- read-only: the folder cannot be written, by a read-only mount, or, where nothing can be mounted, by its permissions;
- two writers: the same output at the same time, each with its own content.

Afterwards the output must be what it was (old) or what the undisturbed command writes (new), byte for byte, or the same
command must bring it there, with --resume where it has that (resumable). Anything else is LOST, and exit code 1. A
command that fails must say why in one sentence. Commands run in children of this process, which has imported what they
need, and compiled it; Linux only.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from disturbed import COMMANDS, OUTCOMES, Command, Sabotage, Workshop, wait

PAGE = os.sysconf("SC_PAGE_SIZE")
STEPS = ("fsync", "replace", "rename", "unlink")  # of the module os; what libraries do in C, full disks disturb


def kills(shop: Workshop, command: Command, times: int) -> None:
    """SIGKILL at a random moment; every other time only once a file is being written."""
    for number in range(times):
        folder = shop.fresh(command)
        before = set(folder.iterdir())
        child = shop.start(command.arguments, folder)
        if number % 2:
            _until(lambda folder=folder, before=before: set(folder.iterdir()) - before, child)  # type: ignore[misc]
            time.sleep(shop.rng.choice((0.0, 0.001, 0.01, 0.1)) * shop.rng.random())
        else:
            time.sleep(1.1 * shop.seconds[command.name] * shop.rng.random())
        os.kill(child, signal.SIGKILL)
        shop.judge("kills", command, folder, wait(child))


def _until(is_so: Callable[[], Any], child: int) -> None:
    """Wait for something to happen, or for the end of the child."""
    while not is_so() and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(0.0005)


def steps(shop: Workshop, command: Command) -> None:
    """SIGKILL before and after every call that syncs, renames or removes; each of them fails once."""

    def die(call: Callable[[], Any], *, first: bool) -> None:
        if not first:
            call()
        os.kill(os.getpid(), signal.SIGKILL)

    def fail(call: Callable[[], Any]) -> None:
        raise OSError(28, os.strerror(28))

    disturbances: tuple[tuple[str, Callable[[Callable[[], Any]], None]], ...] = (
        ("steps", lambda call: die(call, first=True)),
        ("steps", lambda call: die(call, first=False)),
        ("errors", fail),
    )
    for fault, disturb in disturbances:
        number, reached = 0, True
        while reached:
            number += 1
            folder = shop.fresh(command)
            mark = shop.folder / "reached"
            mark.unlink(missing_ok=True)
            code = wait(shop.start(command.arguments, folder, _at_call(number, disturb, mark)))
            reached = mark.exists()
            if reached:
                shop.judge(fault, command, folder, code)


def _at_call(number: int, disturb: Callable[[Callable[[], Any]], None], mark: Path) -> Sabotage:
    """Disturb the call of this number among all those in STEPS; `mark` tells that there was one."""
    plain = {name: getattr(os, name) for name in STEPS}
    seen = 0

    def wrapped(name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == number:
                mark.touch()
                return disturb(lambda: plain[name](*given, **named))
            return plain[name](*given, **named)

        return call

    def sabotage() -> None:
        for name in STEPS:
            setattr(os, name, wrapped(name))

    return sabotage


def full_disk(shop: Workshop, command: Command, can_mount: bool) -> None:
    """A disk with one page more each time, until the command succeeds; without mounts, a limit on the size of files."""
    pages, code = (0 if can_mount else 1), 1  # what a command says is in a file, too, and needs room there
    while code:
        if can_mount:
            with mounted(shop.folder / "disk", size=1 << 30) as disk:
                folder = shop.fresh(command, disk / "now")
                used = shutil.disk_usage(disk).used
                subprocess.run(["mount", "-o", f"remount,size={used + pages * PAGE}", str(disk)], check=True)
                code = wait(shop.start(command.arguments, folder))
                shop.judge("full disk", command, folder, code, again=_empty(shop))
        else:
            folder = shop.fresh(command)
            code = wait(shop.start(command.arguments, folder, _small_files(pages * PAGE)))
            shop.judge("full disk", command, folder, code)
        pages += max(1, pages // 8)  # a database needs hundreds
        if pages > 100_000:
            raise SystemExit(f"{command.name} does not succeed with {pages} pages")


def _small_files(size: int) -> Sabotage:
    def sabotage() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return sabotage


def read_only(shop: Workshop, command: Command, can_mount: bool) -> None:
    """A folder that cannot be written."""
    if can_mount:
        with mounted(shop.folder / "disk", size=1 << 30) as disk:
            folder = shop.fresh(command, disk / "now")
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            shop.judge("read-only", command, folder, wait(shop.start(command.arguments, folder)))
    elif os.geteuid():  # root writes wherever it likes
        folder = shop.fresh(command)
        folder.chmod(0o555)
        code = wait(shop.start(command.arguments, folder))
        folder.chmod(0o755)
        shop.judge("read-only", command, folder, code)


def two_writers(shop: Workshop, command: Command, times: int) -> None:
    """Two at once, the second with what made the old result; every third time the first is killed meanwhile."""
    for number in range(times):
        folder = shop.fresh(command)
        first = shop.start(command.arguments, folder)
        time.sleep(0.2 * shop.rng.random() * shop.seconds[command.name])
        second = shop.start_rival(command, folder)
        if number % 3 == 2:
            time.sleep(shop.rng.random() * shop.seconds[command.name])
            os.kill(first, signal.SIGKILL)
        codes = wait(first), wait(second)
        shop.judge("two writers", command, folder, max(codes), either=True)


@contextmanager
def mounted(place: Path, size: int) -> Iterator[Path]:
    """A file system of its own, in memory."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)], check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def may_mount(folder: Path) -> bool:
    """Whether this process may mount anything."""
    try:
        with mounted(folder / "disk", size=PAGE):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def _empty(shop: Workshop) -> Path:
    shutil.rmtree(shop.folder / "again", ignore_errors=True)
    return shop.folder / "again"


def table(shop: Workshop) -> None:
    """Print what was counted."""
    rows = sorted({(fault, name) for fault, name, _ in shop.counts})
    print(f"{'fault':14}{'command':16}" + "".join(f"{outcome:>11}" for outcome in OUTCOMES))
    for fault, name in rows:
        print(f"{fault:14}{name:16}" + "".join(f"{shop.counts[fault, name, outcome]:>11}" for outcome in OUTCOMES))
    for outcome in OUTCOMES:
        print(f"{outcome}: {sum(number for (*_, one), number in shop.counts.items() if one == outcome):,}")
    told = ", ".join(f"{number} after {fault}" for fault, number in sorted(shop.left.items()) if number)
    print(f"temporary files left behind: {told or 'none'}")
    for one in shop.lost:
        print(f"LOST {one}")


def main() -> int:
    """Disturb all commands in all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="over all commands")
    parser.add_argument("--writers", type=int, default=42, help="pairs, over all commands")
    parser.add_argument("--commands", nargs="+", choices=[one.name for one in COMMANDS])
    parser.add_argument("--no-mounts", action="store_true", help="do as if nothing could be mounted")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = [one for one in COMMANDS if options.commands is None or one.name in options.commands]
    with tempfile.TemporaryDirectory() as name:
        shop = Workshop(Path(name), random.Random(options.seed))
        can_mount = not options.no_mounts and may_mount(shop.folder)
        how = "by mounts" if can_mount else "by limits and permissions, as nothing can be mounted"
        print(f"{len(chosen)} commands, seed {options.seed}; full and read-only disks {how}", flush=True)
        shop.prepare(chosen)
        for number, command in enumerate(chosen):
            print(f"{command.name}: {shop.seconds[command.name]:.1f} s undisturbed", flush=True)
            kills(shop, command, _share(options.kills, len(chosen), number))
            steps(shop, command)
            full_disk(shop, command, can_mount)
            read_only(shop, command, can_mount)
            two_writers(shop, command, _share(options.writers, len(chosen), number))
        table(shop)
    return 1 if shop.lost else 0


def _share(total: int, parts: int, number: int) -> int:
    return total // parts + (number < total % parts)


if __name__ == "__main__":
    raise SystemExit(main())
