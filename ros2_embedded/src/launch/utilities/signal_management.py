"""Signals in the loop of a launch."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

SignalHandler = Callable[[signal.Signals], Any]


class AsyncSafeSignalManager:
    """Calls handlers of signals from a loop, while the manager is entered as a context.

    Args:
        loop: the loop; the manager is entered in the main thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handlers: dict[signal.Signals, SignalHandler] = {}
        self._before: dict[signal.Signals, Any] = {}
        self._entered = False

    def __enter__(self) -> AsyncSafeSignalManager:
        self._entered = True
        for number in self._handlers:
            self._install(number)
        return self

    def __exit__(self, *_: object) -> None:
        self._entered = False
        for number in list(self._before):
            self._restore(number)

    def handle(self, signum: signal.Signals | int, handler: SignalHandler | None) -> SignalHandler | None:
        """Set the handler of a signal, None for none, and return the one before."""
        number = signal.Signals(signum)
        before = self._handlers.pop(number, None)
        if handler is None:
            self._restore(number)
        else:
            self._handlers[number] = handler
            if self._entered:
                self._install(number)
        return before

    def _install(self, number: signal.Signals) -> None:
        if number not in self._before:
            self._before[number] = signal.signal(number, self._on_signal)

    def _restore(self, number: signal.Signals) -> None:
        if number in self._before:
            signal.signal(number, self._before.pop(number))

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        number = signal.Signals(signum)
        handler = self._handlers.get(number)
        if handler is not None:
            self._loop.call_soon_threadsafe(handler, number)
        if callable(self._before.get(number)) and self._before[number] is not signal.default_int_handler:
            self._before[number](signum, frame)
