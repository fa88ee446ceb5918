"""The driver's side of a process in which a client of libfranka runs: lines of text, and shared memory."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from typing import Any

from openral_core.process.wait_or_kill import wait_or_kill
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.shared_block import SharedBlock

END_S = 2.0
"""[s] within which a process must end by itself before it is killed."""


class ClientProcess:
    """Runs `python -m MODULE FILE` with JSON settings as the first line of its input; it ends when its input is closed.

    FILE is the descriptor of the shared memory.
    """

    def __init__(self, module: str, settings: dict[str, Any]) -> None:
        self.block = SharedBlock()
        """State that the process publishes, and targets for it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(self.block.file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[self.block.file],
        )
        self._unread = b""
        self.tell(json.dumps(settings))

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def tell(self, line: str) -> None:
        """Write a line to the process's input, if it still runs."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def answer(self, patience_s: float) -> dict[str, Any]:
        """Return the next answer.

        Raises:
            ArmError: no answer came within `patience_s` [s], or the answer is an error, with libfranka's message.
        """
        line = self._line(time.monotonic() + patience_s)
        if not line:
            state = "did not answer" if self.is_alive else f"has ended ({self._process.returncode})"
            raise ArmError(f"the process of the arm's client {state}")
        said: dict[str, Any] = json.loads(line)
        if "error" in said:
            raise ArmError(said["error"])
        return said

    def _line(self, until_s: float) -> bytes:
        """Return the next line; empty: none came until `until_s` [s, monotonic], or the process has ended.

        Data beyond the first line is kept in this object, as `select` does not see the buffer of a file object.
        """
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        while b"\n" not in self._unread:
            if not select.select([output], [], [], max(0.0, until_s - time.monotonic()))[0]:
                return b""
            more = os.read(output, 65536)
            if not more:
                return b""
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def close(self) -> None:
        """End the process; kill it if it does not end in time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        wait_or_kill(self._process, END_S)
        self._process.stdout.close()
        self.block.close()
