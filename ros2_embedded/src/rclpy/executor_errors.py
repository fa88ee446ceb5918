"""What ends a wait of an executor without work."""

from __future__ import annotations


class TimeoutException(Exception):
    """Nothing became ready in time."""


class ShutdownException(Exception):
    """The executor was shut down."""


class ExternalShutdownException(Exception):
    """The context was shut down, by a signal for example."""

    def __init__(self, *args: object) -> None:
        """Use the usual text."""
        super().__init__(*args)


class ConditionReachedException(Exception):
    """The future that `spin_until_future_complete` waits for is done."""
