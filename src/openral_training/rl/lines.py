"""Processes that are spoken to: each carries out one message after the other, wherever it runs.

What runs in a process is a servant: made there of picklable arguments, called with messages, closed at the end. How a
process is started is its launcher's business: `ProcessLauncher` starts them on this machine, `ray_lines` on a cluster.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from openral_core.errors import OpenralError
from openral_training.workers import outlive_interrupts, watch_parent

_spawn = multiprocessing.get_context("spawn")
START_S = 1800.0
"""[s] that a servant may take to be made on a machine with much else to do; a process that dies is noticed at once."""
END_S = 10.0
"""[s] a process may take to end by itself."""


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


class ProcessLauncher:
    """See Launcher: on this machine, whatever the rank."""

    device = "cpu"

    def host(self) -> str:
        """See Launcher."""
        return "127.0.0.1"

    def start(self, component: str, rank: int, servant: Callable[..., Servant], *arguments: object) -> Line:
        """See Launcher."""
        # Only players start processes of their own, which a daemon may not.
        return ProcessLine(pack((servant, arguments)), daemon=component != "rollout")

    def close(self) -> None:
        """See Launcher."""


class ProcessLine:
    """See Line."""

    def __init__(self, packed: bytes, *, daemon: bool) -> None:
        """Start a process.

        Args:
            packed: a servant's maker and arguments.
            daemon: whether multiprocessing may end it with this process; it may not start others then.
        """
        self._pipe, theirs = _spawn.Pipe()
        self._process = _spawn.Process(target=_serve, args=(theirs, packed), daemon=daemon)
        self._process.start()
        theirs.close()
        self._made, self._why = False, ""

    @property
    def pid(self) -> int:
        """See Line."""
        return self._process.pid or 0

    def send(self, message: Any) -> None:
        """See Line."""
        with contextlib.suppress(OSError):  # it died; `receive` says so
            self._pipe.send_bytes(pack(message))

    def heard(self, wait_s: float) -> bool:
        """See Line."""
        if not self._made:
            if not self._pipe.poll(wait_s):
                return False
            try:
                self._made = self._next(wait_s) is None
            except EOFError:
                return True
        return self._pipe.poll(wait_s)

    def receive(self, patience_s: float) -> Any:
        """See Line."""
        if not self._made:
            self._made = self._next(START_S) is None
        return self._next(patience_s)

    def hang_up(self) -> None:
        """See Line."""
        self._pipe.close()

    def end(self) -> str:
        """See Line."""
        self.hang_up()
        self._process.join(END_S)
        self._process.kill()
        self._process.join()
        return self._why or f"exit code {self._process.exitcode}"

    def _next(self, patience_s: float) -> Any:
        try:
            if not self._pipe.poll(patience_s):
                raise EOFError("silence")
            return opened(self._pipe.recv_bytes())
        except EOFError as error:
            self._why = str(error)
            raise
        except OSError as error:
            raise EOFError from error


def pack(message: Any) -> bytes:
    """Return a message as bytes. multiprocessing would share the memory of tensors, and changes of it, instead."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Any:
    """Return what `pack` was given; only for what a process of this very run wrote."""
    return pickle.loads(packed)  # noqa: S301  nobody else has the other end


@dataclass(frozen=True)
class Broken:
    """What a servant answers that failed in a way nobody foresaw: its process is of no use any more."""

    why: str


def opened(packed: bytes) -> Any:
    """Return an answer. Raises as `Line.receive`."""
    answer = unpack(packed)
    if isinstance(answer, OpenralError):
        raise answer
    if isinstance(answer, Broken):
        raise EOFError(answer.why)
    return answer


def answer(servant: Servant, packed: bytes) -> bytes:
    """Let a servant carry out a packed message and return its packed answer, or what went wrong."""
    try:
        return pack(servant(unpack(packed)))
    except OpenralError as error:
        return pack(error)
    except Exception as error:  # noqa: BLE001  the other end says it, if replacing the process does not help
        return pack(Broken(_in_a_line(error)))


def _in_a_line(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {text}"


def _serve(pipe: Any, packed: bytes) -> None:
    """Body of a process: carry out what comes through the pipe until it closes."""
    outlive_interrupts()
    watch_parent()
    make, arguments = unpack(packed)
    try:
        servant: Servant = make(*arguments)
    except OpenralError as error:
        pipe.send_bytes(pack(error))
        return
    with contextlib.suppress(EOFError, OSError):
        pipe.send_bytes(pack(None))  # it is made
        while True:
            pipe.send_bytes(answer(servant, pipe.recv_bytes()))
    servant.close()
