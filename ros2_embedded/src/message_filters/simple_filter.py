"""What all filters have: callbacks for the messages that come out of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any


class SimpleFilter:
    """A filter with one output, which may have any number of callbacks."""

    def __init__(self) -> None:
        self.callbacks: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
        self._keys = itertools.count()

    def registerCallback(self, cb: Callable[..., Any], *args: Any) -> int:
        """Have a function called with each output.

        Args:
            cb: called with the message, or with all messages of a set, and then with `args`.
            args: what is passed on to the function.

        Returns:
            The key of the function in `callbacks`.
        """
        connection = next(self._keys)
        self.callbacks[connection] = (cb, args)
        return connection

    def unregisterCallback(self, connection: int) -> None:
        """Do not call a function any more; a key that `callbacks` does not have changes nothing."""
        self.callbacks.pop(connection, None)

    def signalMessage(self, *msg: Any) -> None:
        """Call every callback with an output of this filter."""
        for callback, arguments in list(self.callbacks.values()):
            callback(*msg, *arguments)
