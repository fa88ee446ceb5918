"""One process that a launch started."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ros2_embedded.packages import RUNNER

from .guard import Guard
from .guardian import TAG_VARIABLE, find_members, send_signal

_READ_SIZE = 65536
_LARGEST_BUFFER = 1 << 17
"""[B] that a pseudo terminal or a pipe holds at most, if the program did not enlarge the pipe."""
_KILL_PASSES = 3


@dataclass(frozen=True)
class ChildSpec:
    """What to run."""

    cmd: Sequence[str]
    """The program and its arguments."""
    cwd: str | None
    """The working directory; None for the launch's own."""
    env: Mapping[str, str]
    """The whole environment."""
    emulate_tty: bool = False
    """Whether stdout and stderr are pseudo terminals, which makes most programs colour and flush their
    lines."""


class ChildProcess:
    """A running process: its output and exit arrive as callbacks in the loop.

    Args:
        spec: what to run.
        loop: the loop that runs the callbacks; construct the object in its thread.
        guard: who takes over when the launch is gone.
        on_output: called with 'stdout' or 'stderr' and the bytes.
        on_exit: called once with the exit code (minus the signal's number), after the output that had been
            written by then.

    Raises:
        OSError: when the program cannot be started.
    """

    def __init__(
        self,
        spec: ChildSpec,
        loop: asyncio.AbstractEventLoop,
        guard: Guard,
        on_output: Callable[[str, bytes], None],
        on_exit: Callable[[int], None],
    ) -> None:
        self._loop = loop
        self._guard = guard
        self._on_output = on_output
        self._on_exit = on_exit
        self._tag = guard.new_tag()
        self._readers: dict[int, str] = {}
        self.exited = asyncio.Event()
        guard.start()
        self._popen = self._start(spec)
        self.pid = self._popen.pid
        assert self._popen.stdin is not None  # it is a pipe
        self._stdin, self._unwritten = self._popen.stdin, bytearray()
        os.set_blocking(self._stdin.fileno(), False)
        guard.add(self.pid)
        # A thread per process waits for it: this works on every platform, beside other users of SIGCHLD, and
        # off the main thread.
        threading.Thread(target=self._wait, name=f"wait-{self.pid}", daemon=True).start()

    def _start(self, spec: ChildSpec) -> subprocess.Popen[bytes]:
        ends = {stream: pty.openpty() if spec.emulate_tty else os.pipe() for stream in ("stdout", "stderr")}
        # What runs an entry point lets SIGINT through once it can answer it; until then it waits, not lost.
        held = {signal.SIGINT} if tuple(spec.cmd[: len(RUNNER)]) == RUNNER else set()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
        try:
            popen = subprocess.Popen(
                list(spec.cmd),
                cwd=spec.cwd,
                env={**spec.env, TAG_VARIABLE: self._tag},
                stdin=subprocess.PIPE,
                stdout=ends["stdout"][1],
                stderr=ends["stderr"][1],
                start_new_session=True,
            )
        except OSError:
            for read_end, _ in ends.values():
                os.close(read_end)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            for _, write_end in ends.values():
                os.close(write_end)
        for stream, (read_end, _) in ends.items():
            os.set_blocking(read_end, False)
            self._readers[read_end] = stream
            self._loop.add_reader(read_end, self._read, read_end)
        return popen

    def send_signal(self, number: signal.Signals) -> None:
        """Signal the process and its group, as a terminal would; SIGKILL goes to every process it started, in
        any session."""
        if number == signal.SIGKILL:
            # More than once, as a member may start another process between the search and the signal.
            for _ in range(_KILL_PASSES):
                send_signal(self.members(), number)
        elif not self.exited.is_set():
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                return  # it has just ended; the exit is on its way
        else:
            send_signal(self.members(), number)

    def members(self) -> set[int]:
        """Return the ids of the process and of all it started that still live."""
        return find_members({self.pid}, self._tag)

    def write(self, data: bytes) -> None:
        """Write to the process's stdin as it reads it; what it has not read when it ends is lost."""
        if not self.exited.is_set():
            self._unwritten += data
            self._write_some()

    def _write_some(self) -> None:
        """Write what the pipe takes, and the rest when it takes more."""
        descriptor = self._stdin.fileno()
        try:
            while self._unwritten:
                del self._unwritten[: os.write(descriptor, self._unwritten)]
        except BlockingIOError:
            self._loop.add_writer(descriptor, self._write_some)
            return
        except BrokenPipeError:  # it closed its stdin
            self._unwritten.clear()
        self._loop.remove_writer(descriptor)

    def close(self) -> None:
        """Stop reading; forget the session if nothing lives in it."""
        for descriptor in list(self._readers):
            self._drop(descriptor)
        self._stop_writing()
        self._stdin.close()
        if not self.members():
            self._guard.remove(self.pid)

    def _stop_writing(self) -> None:
        if not self._stdin.closed:
            self._loop.remove_writer(self._stdin.fileno())
        self._unwritten.clear()

    def _wait(self) -> None:
        code = self._popen.wait()
        try:
            self._loop.call_soon_threadsafe(self._finish, code)
        except RuntimeError:
            return  # the loop is closed: nobody waits for the exit any more

    def _finish(self, code: int) -> None:
        for descriptor in list(self._readers):
            # No more than was there: a process that it left behind may write faster than this reads.
            left = max(_waiting(descriptor), _LARGEST_BUFFER)
            while left > 0 and descriptor in self._readers and (count := self._read(descriptor)):
                left -= count
        self.exited.set()
        self._stop_writing()
        self._on_exit(code)

    def _read(self, descriptor: int) -> int:
        """Pass on what there is, or a part of it; return how many bytes that were."""
        try:
            data = os.read(descriptor, _READ_SIZE)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""  # a pseudo terminal reports the end of its other side as an input/output error
        if data:
            self._on_output(self._readers[descriptor], data)
        else:
            self._drop(descriptor)
        return len(data)

    def _drop(self, descriptor: int) -> None:
        del self._readers[descriptor]
        self._loop.remove_reader(descriptor)
        os.close(descriptor)


def _waiting(descriptor: int) -> int:
    """How many bytes wait to be read."""
    count = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
    return int.from_bytes(count, sys.byteorder)
