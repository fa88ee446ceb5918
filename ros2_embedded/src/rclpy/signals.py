"""SIGINT and SIGTERM shut the contexts down."""

from __future__ import annotations

import signal
import socket
import threading
import weakref
from collections.abc import Callable
from enum import IntFlag
from types import FrameType
from typing import TYPE_CHECKING, Any

from rclpy.passed_on import pass_on

if TYPE_CHECKING:
    from rclpy.context import Context


class SignalHandlerOptions(IntFlag):
    """Which signals are handled."""

    NO = 0
    SIGINT = 1
    SIGTERM = 2
    ALL = 3


_SIGNALS = {SignalHandlerOptions.SIGINT: signal.SIGINT, SignalHandlerOptions.SIGTERM: signal.SIGTERM}
_previous: dict[int, Any] = {}
_contexts: weakref.WeakSet[Context] = weakref.WeakSet()
_options = SignalHandlerOptions.NO


def _handle(number: int, frame: FrameType | None) -> None:
    """Invalidate all contexts, then do what the former handler did (KeyboardInterrupt for SIGINT)."""
    for context in list(_contexts):
        context._invalidate()
    former: Callable[[int, FrameType | None], Any] | int | None = _previous.get(number)
    if callable(former):
        former(number, frame)


class _Waker:
    """Shuts the contexts down from a thread of its own when a signal comes.

    Python runs its signal handlers between two instructions of the main thread. A signal that comes just
    before the main thread blocks would wait until something else wakes it; the wake-up descriptor does not.
    """

    def __init__(self) -> None:
        """Take the wake-up descriptor, unless somebody else (an event loop) has it."""
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="signals", daemon=True)
        former = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        if former != -1:
            signal.set_wakeup_fd(former)
        self._owns = former == -1
        self._thread.start()

    def _run(self) -> None:
        while True:
            numbers = self._receiver.recv(64)
            if not numbers:
                return
            if any(signal.getsignal(number) is _handle for number in numbers):
                for context in list(_contexts):
                    context._invalidate()

    def close(self) -> None:
        """Give the descriptor back and end the thread."""
        if self._owns:
            signal.set_wakeup_fd(-1)
        self._sender.close()
        self._thread.join()
        self._receiver.close()


_waker: _Waker | None = None


def register_context(context: Context) -> None:
    """A signal shall shut this context down."""
    _contexts.add(context)


def install_signal_handlers(options: SignalHandlerOptions = SignalHandlerOptions.ALL) -> None:
    """Install the handlers; only the main thread can, elsewhere this does nothing."""
    global _options, _waker
    if threading.current_thread() is not threading.main_thread():
        return
    if _waker is None and options:
        _waker = _Waker()
    for option, number in _SIGNALS.items():
        if options & option and number not in _previous:
            _previous[number] = signal.signal(number, _handle)
            _options |= option


def uninstall_signal_handlers() -> None:
    """Put the former handlers back."""
    global _options, _waker
    if threading.current_thread() is not threading.main_thread():
        return
    if _waker is not None:
        _waker.close()
        _waker = None
    while _previous:
        number, former = _previous.popitem()
        signal.signal(number, former if former is not None else signal.SIG_DFL)
    _options = SignalHandlerOptions.NO


def get_current_signal_handlers_options() -> SignalHandlerOptions:
    """The signals handled now."""
    return _options


pass_on(__name__)
