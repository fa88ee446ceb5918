"""A line that outlasts its process: whoever takes over is told everything again, and stands where the lost one stood.

That is true of whatever depends on its messages alone, as worlds and players do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from openral_core.errors import SimulationError
from openral_training.rl.workers.worker_handle import Line


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


class LastingLine:
    """A line, and all that was sent through it since `begin`."""

    def __init__(self, start: Callable[[], Line], what: str, losses: Losses, patience_s: float) -> None:
        """Start its process.

        Args:
            start: does that, also when it was lost.
            what: runs in it, in the plural.
            losses: counts those that are lost.
            patience_s: see `Line.receive`.
        """
        self._start, self._what, self._losses, self._patience_s = start, what, losses, patience_s
        self._told: list[Any] = []
        self._answered = 0
        self.line = start()

    @property
    def next(self) -> Any:
        """The message that is answered next; None: every one is answered."""
        return self._told[self._answered] if self._answered < len(self._told) else None

    def begin(self) -> None:
        """Forget what was told: from here on nothing depends on it any more."""
        self._told.clear()
        self._answered = 0

    def send(self, message: Any) -> None:
        """See Line."""
        self._told.append(message)
        self.line.send(message)

    def receive(self) -> Any:
        """Return the next answer; where the process is lost, that of its successor.

        Raises:
            OpenralError: what the servant raised.
            SimulationError: processes are lost again and again.
        """
        while True:
            try:
                answer = self.line.receive(self._patience_s)
            except EOFError:
                self._replace()
            else:
                self._answered += 1
                return answer

    def _replace(self) -> None:
        """Start another process and tell it everything again; what was answered before is passed over."""
        self._losses.add(self._what, self.line.end())
        self.line = self._start()
        for position, told in enumerate(self._told):
            self.line.send(told)
            if position < self._answered:
                try:
                    self.line.receive(self._patience_s)
                except EOFError:
                    return  # it died, too; `receive` sees to it


class LastingLines:
    """As many lines as are needed, started together and ended together."""

    def __init__(
        self,
        count: int,
        start: Callable[[int], Line],
        what: str,
        patience_s: float,
        losses: int = Losses.most,
    ) -> None:
        """Start their processes; none is left running where one cannot be started.

        Args:
            count: how many.
            start: starts the process of a number, also when it was lost.
            what: runs in them, in the plural.
            patience_s: see `Line.receive`.
            losses: that may be lost in one collection.
        """
        self._losses = Losses(losses)
        self._lines: list[LastingLine] = []
        try:
            for number in range(count):
                self._lines.append(LastingLine(partial(start, number), what, self._losses, patience_s))
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[LastingLine]:
        return iter(self._lines)

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of numbers."""
        return [member.line.pid for member in self._lines]

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew."""
        return self._losses.total

    def begin(self) -> None:
        """See LastingLine; losses are counted anew."""
        self._losses.now = 0
        for member in self._lines:
            member.begin()

    def close(self) -> None:
        """End all of them; called once."""
        for member in self._lines:
            member.line.hang_up()
        for member in self._lines:
            member.line.end()
