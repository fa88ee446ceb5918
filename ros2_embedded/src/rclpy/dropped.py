"""Counts what a peer sent and this node could not use."""

from __future__ import annotations

from threading import RLock

from rclpy.logging import RcutilsLogger


class DropCounter:
    """Counts the bad samples of one endpoint and logs the first: no peer must be able to flood the log."""

    def __init__(self, logger: RcutilsLogger, what: str) -> None:
        """`what` names the samples, e.g. `message on /chatter`."""
        self._logger, self._what = logger, what
        self._lock = RLock()  # a signal may interrupt who holds it
        self.count = 0

    def note(self, reason: object) -> None:
        """One more was dropped, for a reason."""
        with self._lock:
            self.count += 1
            is_first = self.count == 1
        if is_first:
            self._logger.error(f"dropped a {self._what}: {reason}; further ones are only counted")
