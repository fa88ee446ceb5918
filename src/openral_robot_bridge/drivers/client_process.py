"""The driver's side of a process in which a client of libfranka runs: lines in and out, and shared memory."""

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
"""[s] that a process has to end by itself."""


class ClientProcess:
    """`python -m MODULE FILE` with settings on its input. It ends with its input."""

    def __init__(self, module: str, settings: dict[str, Any]) -> None:
        self.block = SharedBlock()
        """What it publishes, and what it is told."""
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
        """Write a line; a process that is gone gets nothing."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def answer(self, patience_s: float) -> dict[str, Any]:
        """Return the next answer.

        Raises:
            ArmError: none came within `patience_s`, or it says what went wrong; in libfranka's words.
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
        """Return the next line; empty: none came until then [s, monotonic], or the process has ended.

        Two lines may come at once: what is read beyond the first is kept here and not in a file's own buffer, which
        `select` does not see.
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
        """End the process; killed where it does not end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        wait_or_kill(self._process, END_S)
        self._process.stdout.close()
        self.block.close()
