"""Workers that outlast their processes: a new process is told everything again, and stands where the lost one stood.

That is true of whatever depends on its messages alone, as worlds and rollouts do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from openral_benchmark.workers.worker import WorkerHandle
from openral_core.errors import SimulationError


@dataclass
class Losses:
    """How many processes were lost."""

    most: int = 3
    """That may be lost in one collection; more, and it is not chance."""
    now: int = 0
    """In this collection."""
    total: int = 0
    """In the whole run."""

    def add(self, what: str, how: str) -> None:
        """Count one more.

        Args:
            what: it was, in the plural.
            how: it ended.

        Raises:
            SimulationError: it is too many.
        """
        self.now, self.total = self.now + 1, self.total + 1
        if self.now > self.most:
            raise SimulationError(
                f"{self.now} processes of {what} were lost in one collection, the last with {how}; look for memory "
                "that runs out, then go on with --resume"
            )


class RestartingWorker:
    """The handle of a worker, and all that was sent to it since `begin`."""

    def __init__(
        self, start: Callable[[], WorkerHandle], what: str, losses: Losses, timeout_s: float
    ) -> None:
        """Start its process.

        Args:
            start: does that, also when it was lost.
            what: runs in it, in the plural.
            losses: counts those that are lost.
            timeout_s: see `WorkerHandle.receive`.
        """
        self._start, self._what, self._losses, self._timeout_s = start, what, losses, timeout_s
        self._sent: list[Any] = []
        self._answered = 0
        self.handle = start()

    @property
    def next(self) -> Any:
        """The message that is answered next; None: every one is answered."""
        return self._sent[self._answered] if self._answered < len(self._sent) else None

    def begin(self) -> None:
        """Forget what was sent: from here on nothing depends on it any more."""
        self._sent.clear()
        self._answered = 0

    def send(self, message: Any) -> None:
        """Send a message and return at once."""
        self._sent.append(message)
        self.handle.send(message)

    def receive(self) -> Any:
        """Return the next answer; where the process is lost, that of its successor.

        Raises:
            OpenralError: the worker raised it.
            SimulationError: processes are lost again and again.
        """
        while True:
            try:
                answer = self.handle.receive(self._timeout_s)
            except EOFError:
                self._replace()
            else:
                self._answered += 1
                return answer

    def _replace(self) -> None:
        """Start another process and tell it everything again; what was answered before is passed over."""
        self._losses.add(self._what, self.handle.join())
        self.handle = self._start()
        for position, message in enumerate(self._sent):
            self.handle.send(message)
            if position < self._answered:
                try:
                    self.handle.receive(self._timeout_s)
                except EOFError:
                    return  # it died, too; `receive` sees to it


class RestartingWorkers:
    """As many of them as are needed, started together and ended together."""

    def __init__(
        self,
        count: int,
        start: Callable[[int], WorkerHandle],
        what: str,
        timeout_s: float,
        max_losses: int = Losses.most,
    ) -> None:
        """Start their processes; none is left running where one cannot be started.

        Args:
            count: how many.
            start: starts the process of a number, also when it was lost.
            what: runs in them, in the plural.
            timeout_s: see `WorkerHandle.receive`.
            max_losses: that may be lost in one collection.
        """
        self._losses = Losses(max_losses)
        self._workers: list[RestartingWorker] = []
        try:
            for number in range(count):
                self._workers.append(RestartingWorker(partial(start, number), what, self._losses, timeout_s))
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._workers)

    def __iter__(self) -> Iterator[RestartingWorker]:
        return iter(self._workers)

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of numbers."""
        return [worker.handle.pid for worker in self._workers]

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew."""
        return self._losses.total

    def begin(self) -> None:
        """Forget what was sent to any of them, and count losses anew."""
        self._losses.now = 0
        for worker in self._workers:
            worker.begin()

    def close(self) -> None:
        """End all of them; called once."""
        for worker in self._workers:
            worker.handle.close()
        for worker in self._workers:
            worker.handle.join()
