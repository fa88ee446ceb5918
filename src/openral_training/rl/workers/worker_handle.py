"""Processes that are spoken to: each carries out one message after the other, wherever it runs.

What runs in a process is a servant: made there of picklable arguments, called with messages, closed at the end. How a
process is started is its launcher's business: `process_lines` starts them on this machine, `ray_lines` on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

START_S = 1800.0
"""[s] that a servant may take to be made on a machine with much else to do; a process that dies is noticed at once."""


class Servant(Protocol):
    """What runs in a process of its own."""

    def __call__(self, message: Any) -> Any:
        """Carry out a message and return the answer. An OpenralError is raised again where the answer is read."""
        ...

    def close(self) -> None:
        """Free what it has; called once, unless the process is killed."""
        ...


class Line(Protocol):
    """The way to one servant; answers come in the order of the messages."""

    @property
    def pid(self) -> int:
        """Id of its process; 0 where it is not known before the first answer."""
        ...

    def send(self, message: Any) -> None:
        """Give it a message, and come back at once. That a process is lost is said by `receive`."""
        ...

    def heard(self, wait_s: float) -> bool:
        """Return whether the next answer is there, or the process is lost, within so many seconds."""
        ...

    def receive(self, patience_s: float) -> Any:
        """Return the next answer.

        Args:
            patience_s: [s] of silence after which a process that has made its servant is given up.

        Raises:
            OpenralError: what the servant raised.
            EOFError: the process is lost, or was silent too long.
        """
        ...

    def hang_up(self) -> None:
        """Say that no message comes any more."""
        ...

    def end(self) -> str:
        """End the process, by force if it takes long, and return how it ended, in words."""
        ...


class Launcher(Protocol):
    """Starts servants; can itself be sent to a process, to start others from there."""

    @property
    def device(self) -> str:
        """Where networks of its processes are: `cpu` or `cuda`."""
        ...

    def host(self) -> str:
        """Return the address of the machine that this is called on, as its other processes see it."""
        ...

    def start(self, component: str, rank: int, servant: Callable[..., Servant], *arguments: object) -> Line:
        """Start a process.

        Args:
            component: `env`, `rollout` or `actor`.
            rank: where, see `settings.cluster`.
            servant: is called with the arguments in the new process.
            arguments: picklable.
        """
        ...

    def close(self) -> None:
        """Free what it holds; called once, after every line has ended."""
        ...
