"""Workers: objects that live in a process of their own and carry out one message after the other.

A worker is made in its process from picklable arguments, called with messages, and closed at the end. A launcher starts
it: `process_launcher` on this machine, `ray_launcher` on a cluster. Messages and answers travel as pickled bytes.
"""

from __future__ import annotations

import pickle
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from openral_core.errors import OpenralError

START_S = 1800.0
"""[s] that a worker may take to be made on a machine with much else to do; a process that dies is noticed at once."""
END_S = 10.0
"""[s] that a process may take to end by itself."""

Component = Literal["policy", "episodes", "env", "rollout", "actor"]
"""What a worker does: the policy and the episodes of a benchmark; worlds, rollouts and learners of a training run.

A worker `policy` can also be asked by other workers, see `WorkerHandle.peer`.
"""


class Worker(Protocol):
    """What runs in a process of its own."""

    def __call__(self, message: Any) -> Any:
        """Carry out a message and return the answer. An OpenralError is raised again where the answer is read."""
        ...

    def close(self) -> None:
        """Free what it holds; called once, unless the process is killed."""
        ...


class Peer(Protocol):
    """One worker as another worker sees it; it can be sent to a process as part of a message."""

    def ask(self, message: Any, timeout_s: float) -> Any:
        """Return the answer to a message.

        Raises:
            TimeoutError: there was none in time.
            EOFError: the process has ended; the text says what ended, in words that follow a name.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class WorkerHandle(ABC):
    """The other side of a worker. Answers come in the order of the messages."""

    def __init__(self) -> None:
        """Expect the worker's word that it has been made."""
        self.started = False
        """Whether that word has come."""
        self.pid = 0
        """Process id; 0 where it is not known before that."""
        self._pending = 1
        self._lost: str | None = None
        """How the process was lost, in words; None: it was not, as far as is known."""

    @property
    def pending(self) -> bool:
        """Whether an answer is still to come."""
        return self._pending > 0

    def wait_until_started(self) -> None:
        """Wait until the worker has been made, however long that takes. Raises as `receive`."""
        while not self._readable(START_S):
            pass
        self._start(START_S)

    def send(self, message: Any) -> None:
        """Send a message and return at once. That a process was lost is said by `receive`."""
        self._pending += 1
        self._send(pack(message))

    def poll(self, timeout_s: float) -> bool:
        """Return whether the next answer is there, or the process is lost, within so many seconds."""
        if not self.started and self._lost is None:
            if not self._readable(timeout_s):
                return False
            try:
                self._start(timeout_s)
            except EOFError:
                return True
        return self._lost is not None or self._readable(timeout_s)

    def receive(self, timeout_s: float) -> Any:
        """Return the next answer.

        Args:
            timeout_s: [s] of silence after which a process that has made its worker is given up.

        Raises:
            OpenralError: the worker raised it.
            EOFError: the process is lost, or was silent too long.
        """
        if not self.started:
            self._start(START_S)
        return self._next(timeout_s)

    @abstractmethod
    def close(self) -> None:
        """Tell the process that no message comes any more."""

    @abstractmethod
    def join(self, timeout_s: float = END_S) -> str:
        """Wait until the process has ended, kill it after so many seconds, and return how it ended, in words."""

    @abstractmethod
    def peer(self) -> Peer:
        """Return the worker as other workers may reach it; only for the component `policy`."""

    @abstractmethod
    def _send(self, packed: bytes) -> None: ...

    @abstractmethod
    def _readable(self, timeout_s: float) -> bool: ...

    @abstractmethod
    def _read(self, timeout_s: float) -> bytes:
        """Return the next answer, packed. Raises EOFError, with how the process was lost."""

    def _start(self, timeout_s: float) -> None:
        self.pid = self._next(timeout_s)
        self.started = True

    def _next(self, timeout_s: float) -> Any:
        if self._lost is not None:
            raise EOFError(self._lost)
        try:
            packed = self._read(timeout_s)
            self._pending -= 1
            return opened(packed)
        except EOFError as error:
            self._lost, self._pending = str(error), 0
            raise


class Launcher(Protocol):
    """Starts workers. It can be sent to a process, to start others from there."""

    @property
    def device(self) -> str:
        """Where networks of its processes are: `cpu` or `cuda`."""
        ...

    @property
    def where(self) -> str:
        """On what its processes run, in words."""
        ...

    def host(self) -> str:
        """Return the address of the machine that this is called on, as its other processes see it."""
        ...

    def start(
        self, component: Component, rank: int, worker: Callable[..., Worker], *arguments: object
    ) -> WorkerHandle:
        """Start a process.

        Args:
            component: what the worker does.
            rank: its number among them; of a training run: its place, see `settings.cluster`.
            worker: is called with the arguments in the new process.
            arguments: picklable.
        """
        ...

    def wait(self, handles: Sequence[WorkerHandle], timeout_s: float) -> list[WorkerHandle]:
        """Return those of its handles that `poll` has news of, waiting at most so long for the first of them."""
        ...

    def close(self) -> None:
        """Free what it holds; called once, after every process has ended."""
        ...


@dataclass(frozen=True)
class Broken:
    """The answer of a worker that raised an error other than OpenralError; its process must be replaced."""

    why: str


def pack(message: Any) -> bytes:
    """Return a message as bytes. Without this multiprocessing would send tensors as shared memory."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Any:
    """Return the message of `pack`; only for bytes from a process of the same run."""
    return pickle.loads(packed)  # noqa: S301  the other end of the pipe is a process of this run


def opened(packed: bytes) -> Any:
    """Return an answer. Raises as `WorkerHandle.receive`."""
    found = unpack(packed)
    if isinstance(found, OpenralError):
        raise found
    if isinstance(found, Broken):
        raise EOFError(found.why)
    return found


def answer(worker: Worker, packed: bytes) -> bytes:
    """Let a worker carry out a packed message and return its packed answer, or what went wrong."""
    try:
        return pack(worker(unpack(packed)))
    except OpenralError as error:
        return pack(error)
    except Exception as error:  # noqa: BLE001  it is reported where the answer is read
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split())[:200]
        return pack(Broken(f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {text}"))
