"""Ctrl-C inside a C library's callback, which drops the exception, still ends the command."""

import ctypes
import os
import signal

import pytest
from cudaperf_agent.agent.interrupt import interrupts


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_dropped_interrupt_is_raised_at_the_next_check():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def press(a, b):
        os.kill(os.getpid(), signal.SIGINT)
        return 0

    numbers = (ctypes.c_int * 2)(2, 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts() as check:
            check()
            ctypes.CDLL(None).qsort(numbers, 2, 4, compare(press))
            with pytest.raises(KeyboardInterrupt):
                check()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_background_job_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts() as check:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            check()
    finally:
        signal.signal(signal.SIGINT, before)
