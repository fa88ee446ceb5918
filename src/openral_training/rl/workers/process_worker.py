"""Lines to processes of this machine: a pipe each."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable
from typing import Any

from openral_benchmark.workers.parent_watch import outlive_interrupts, watch_parent
from openral_core.errors import OpenralError
from openral_training.rl.workers.packing import answer, opened, pack, unpack
from openral_training.rl.workers.worker_handle import START_S, Line, Servant

_spawn = multiprocessing.get_context("spawn")
END_S = 10.0
"""[s] a process may take to end by itself."""


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
