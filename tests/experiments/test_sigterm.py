"""SIGTERM ends an experiment as Ctrl-C does."""

from __future__ import annotations

import os
import signal

import pytest

from treeball.experiments.sigterm import SigtermLikeCtrlC


@pytest.mark.parametrize("before", [signal.default_int_handler, signal.SIG_IGN])
def test_sigterm_is_ctrl_c_for_as_long_as_asked(before):
    earlier = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    signal.signal(signal.SIGINT, before)
    try:
        with pytest.raises(KeyboardInterrupt), SigtermLikeCtrlC():
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGINT) is before
        assert signal.getsignal(signal.SIGTERM) is earlier[1]
    finally:
        signal.signal(signal.SIGINT, earlier[0])
