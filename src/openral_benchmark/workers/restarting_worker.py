"""Workers that outlast their processes: where one is lost, a new one is sent the same messages again.

It reaches the state of the lost one if that depends on its messages alone, as that of simulators and rollouts does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from openral_benchmark.workers.worker import WorkerHandle
from openral_core.errors import SimulationError


@dataclass
class ProcessLosses:
    """How many processes were lost."""

    limit: int = 3
    """Most that may be lost in one round."""
    this_round: int = 0
    """Lost since the round began: a collection of episodes, or an update."""
    total: int = 0
    """Lost in the whole run."""

    def add(self, what: str, ending: str) -> None:
        """Count one more.

        Args:
            what: runs in such processes, in the plural.
            ending: how the process ended, in words.

        Raises:
            SimulationError: more than `limit` were lost in this round.
        """
        self.this_round, self.total = self.this_round + 1, self.total + 1
        if self.this_round > self.limit:
            raise SimulationError(
                f"{self.this_round} processes of {what} were lost in one collection, the last with {ending}; look for "
                "memory that runs out, then go on with --resume"
            )


class RestartingWorker:
    """The handle of a worker, and all messages that were sent to it since `begin`."""

    def __init__(
        self, start: Callable[[], WorkerHandle], what: str, losses: ProcessLosses, timeout_s: float
    ) -> None:
        """Start its process.

        Args:
            start: starts it, and each process that replaces it.
            what: runs in it, in the plural.
            losses: counts the processes that are lost.
            timeout_s: see `WorkerHandle.receive`.
        """
        self._start, self._what, self._losses, self._timeout_s = start, what, losses, timeout_s
        self._sent: list[Any] = []
        self._answered = 0
        self.handle = start()

    @property
    def next(self) -> Any:
        """The message whose answer comes next; None: all are answered."""
        return self._sent[self._answered] if self._answered < len(self._sent) else None

    def begin(self) -> None:
        """Forget what was sent; the worker's state must not depend on it any more."""
        self._sent.clear()
        self._answered = 0

    def send(self, message: Any) -> None:
        """Send a message and return at once."""
        self._sent.append(message)
        self.handle.send(message)

    def receive(self) -> Any:
        """Return the next answer; where the process was lost, that of the process that replaced it.

        Raises:
            OpenralError: the worker raised it.
            SimulationError: too many processes were lost.
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
        """Start another process and send it all messages again; answers that were received before are dropped."""
        self._losses.add(self._what, self.handle.join())
        self.handle = self._start()
        for position, message in enumerate(self._sent):
            self.handle.send(message)
            if position < self._answered:
                try:
                    self.handle.receive(self._timeout_s)
                except EOFError:
                    return  # it died, too, and `receive` replaces it


class RestartingWorkers:
    """Several such workers, started together and ended together."""

    def __init__(
        self,
        count: int,
        start: Callable[[int], WorkerHandle],
        what: str,
        timeout_s: float,
        max_losses: int = ProcessLosses.limit,
    ) -> None:
        """Start their processes; none is left running where one cannot be started.

        Args:
            count: how many.
            start: starts the process of a number, and each that replaces it.
            what: runs in them, in the plural.
            timeout_s: see `WorkerHandle.receive`.
            max_losses: processes that may be lost in one round.
        """
        self._losses = ProcessLosses(max_losses)
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
        """How many processes were lost and replaced."""
        return self._losses.total

    def begin(self) -> None:
        """Begin a new round: forget what was sent to any of them, and count losses from 0."""
        self._losses.this_round = 0
        for worker in self._workers:
            worker.begin()

    def close(self) -> None:
        """End all of them; called once."""
        for worker in self._workers:
            worker.handle.close()
        for worker in self._workers:
            worker.handle.join()
