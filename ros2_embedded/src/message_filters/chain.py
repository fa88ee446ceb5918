"""Several filters in a row that are used as one."""

from __future__ import annotations

from typing import Any

from message_filters.simple_filter import SimpleFilter


class Chain(SimpleFilter):
    """Passes its messages through the filters that are added; what the last one puts out is its output.

    Without filters it passes on each message as it is.
    """

    def __init__(self, message_filter: SimpleFilter | None = None) -> None:
        """Make a chain.

        Args:
            message_filter: the filter whose messages go into the chain, or None where `add` or `connectInput`
                is called later.
        """
        super().__init__()
        self.incoming_connection: int | None = None
        self._filters: list[Any] = []
        self._output: int | None = None
        if message_filter is not None:
            self.connectInput(message_filter)

    def connectInput(self, message_filter: SimpleFilter) -> None:
        """Pass the messages of a filter through the chain.

        Raises:
            RuntimeError: another one was connected before.
        """
        if self.incoming_connection is not None:
            raise RuntimeError("the chain takes the messages of another filter already")
        self.incoming_connection = message_filter.registerCallback(self.add)

    def add(self, msg: Any) -> None:
        """Pass a message through the chain."""
        if self._filters:
            self._filters[0].add(msg)
        else:
            self.signalMessage(msg)

    def addFilter(self, message_filter: Any) -> int:
        """Put a filter at the end of the chain.

        Args:
            message_filter: a filter with the method `add`.

        Returns:
            Its place, for `getFilter`.
        """
        if self._filters:
            last = self._filters[-1]
            last.unregisterCallback(self._output)
            last.registerCallback(message_filter.add)
        self._output = message_filter.registerCallback(self.signalMessage)
        self._filters.append(message_filter)
        return len(self._filters) - 1

    def getFilter(self, index: int) -> Any:
        """The filter at a place, from 0.

        Raises:
            KeyError: there is none.
        """
        if not 0 <= index < len(self._filters):
            raise KeyError(index)
        return self._filters[index]
