"""Ctrl-C of the command line: never lost, and never raised where it would leave compiled code half registered."""

from __future__ import annotations

import subprocess
import sys

import pytest

from treeball.interruption import is_interruption

BEGIN = """
import signal, sys, time, types
from treeball.interruption import take_ctrl_c
signal.signal(signal.SIGINT, signal.default_int_handler)
take_ctrl_c()
def wait():
    try:
        for _ in range(200):
            time.sleep(.05)
        print("lost")
    except KeyboardInterrupt:
        print("interrupted")
"""

IN_TENDER_CODE = """
tender = types.ModuleType("MODULE")
exec('''
import signal
def register(steps):
    steps.append("added")
    signal.raise_signal(signal.SIGINT)
    steps.append("owned")
''', tender.__dict__)
steps = []
tender.register(steps)
print(steps)
wait()
"""

# What compiled code calls to hand back an array.
WHILE_A_RESULT_IS_HANDED_BACK = """
import numpy as np
from treeball.engine.cpu.graph import stable_order
codes = np.zeros(10, np.int32)
stable_order(3, codes)
calls = []
def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "_numba_unpickle" and not calls:
        calls.append(1)
        signal.raise_signal(signal.SIGINT)
sys.setprofile(watch)
found = stable_order(3, codes)
sys.setprofile(None)
print(len(calls), found[0])
wait()
"""

IN_A_FINALISER = """
class Object:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
Object()
wait()
"""

IN_A_CALLBACK = """
import ctypes
@ctypes.CFUNCTYPE(None)
def called_back():
    signal.raise_signal(signal.SIGINT)
called_back()
wait()
"""

CLEARED = """
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    pass  # as compiled code does that clears every error it meets
wait()
"""

ANSWERED = """
from treeball.interruption import answered
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    answered()
time.sleep(1.0)
print("goes on")
"""

WHILE_CLEANING = """
try:
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        time.sleep(1.0)
        print("cleaned")
except KeyboardInterrupt:
    print("interrupted")
"""

TWICE = """
try:
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.raise_signal(signal.SIGINT)
        print("cleaned")
except KeyboardInterrupt:
    print("interrupted")
"""

AT_ONCE = """
try:
    signal.raise_signal(signal.SIGINT)
    print("later")
except KeyboardInterrupt:
    print("at once")
"""

OTHER_ERRORS = """
class Object:
    def __del__(self):
        raise ValueError("of a finaliser")
Object()
"""


def said(script: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", BEGIN + script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("module", ["llvmlite.binding.invented", "numba.core.serialize"])
def test_what_must_not_be_left_half_done_is_finished_first(module: str) -> None:
    assert said(IN_TENDER_CODE.replace("MODULE", module))[0] == "['added', 'owned']\ninterrupted\n"


def test_what_compiled_code_hands_back_is_handed_back_first() -> None:
    assert said(WHILE_A_RESULT_IS_HANDED_BACK)[0] == "1 [ 0 10 10 10]\ninterrupted\n"


@pytest.mark.parametrize("script", [IN_A_FINALISER, IN_A_CALLBACK, CLEARED])
def test_it_is_not_swallowed(script: str) -> None:
    assert said(script) == ("interrupted\n", "")


def test_one_that_was_answered_does_not_come_again() -> None:
    assert said(ANSWERED) == ("goes on\n", "")


def test_cleaning_up_is_disturbed_by_a_second_ctrl_c_alone() -> None:
    assert said(WHILE_CLEANING) == ("cleaned\ninterrupted\n", "")
    assert said(TWICE) == ("interrupted\n", "")


def test_elsewhere_it_comes_at_once() -> None:
    assert said(AT_ONCE)[0] == "at once\n"


def test_what_compiled_code_made_of_it_is_still_an_interruption() -> None:
    def wrapped(times: int) -> SystemError:
        error: BaseException = KeyboardInterrupt()
        for _ in range(times):
            wrapper = SystemError("returned a result with an exception set")
            wrapper.__cause__ = error
            error = wrapper
        assert isinstance(error, SystemError)
        return error

    assert is_interruption(wrapped(1))
    assert is_interruption(wrapped(2))
    assert not is_interruption(SystemError("of its own"))


def test_other_errors_of_finalisers_are_reported_as_ever() -> None:
    assert "ValueError: of a finaliser" in said(OTHER_ERRORS)[1]


@pytest.mark.parametrize("handler", ["signal.SIG_IGN", "lambda number, frame: None"])
def test_somebody_elses_handling_stays(handler: str) -> None:
    script = f"handler = {handler}\nsignal.signal(signal.SIGINT, handler)\ntake_ctrl_c()\n"
    assert said(script + "print(signal.getsignal(signal.SIGINT) is handler)")[0] == "True\n"


def test_a_training_can_still_be_asked_to_stop() -> None:
    script = """
from treeball.methods.progress import StopOnInterrupt
with StopOnInterrupt() as stop:
    signal.raise_signal(signal.SIGINT)
    print(stop.requested)
"""
    assert said(script)[0] == "True\n"
