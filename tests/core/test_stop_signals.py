"""The signals that end a node: what they interrupt does not leave the block, and what is a fault does."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from openral_core.process.stop_signals import SIGNALS, StopSignals


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_block_and_what_handled_it_before_is_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopSignals() as signals:
        os.kill(os.getpid(), number)
        pytest.fail("it goes on")
    assert signals.received
    assert signal.getsignal(number) == before


def test_an_interrupt_of_which_a_library_makes_an_exception_is_one() -> None:
    with StopSignals() as signals:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ValueError("no validator can be built") from error
    assert signals.received


def test_a_fault_leaves_the_block() -> None:
    with pytest.raises(ValueError, match="a fault"), StopSignals() as signals:
        raise ValueError("a fault")
    assert not signals.received


class FaultyExecutor:
    """Serves one callback, which raises, after a signal."""

    def spin_until_future_complete(self, future: Any, timeout_sec: float | None = None) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        while not future.done():
            pass
        raise ValueError("a fault")


class FinishedFuture:
    """A future."""

    def __init__(self) -> None:
        self._is_done = False

    def done(self) -> bool:
        return self._is_done

    def set_result(self, result: Any) -> None:
        self._is_done = True


def test_a_fault_at_the_end_of_the_spinning_leaves_the_block() -> None:
    with pytest.raises(ValueError, match="a fault"), StopSignals() as signals:
        signals.spin(FaultyExecutor(), FinishedFuture())
    assert signals.received
