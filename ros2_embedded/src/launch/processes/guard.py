"""The launch's end of the pipe to its guardian."""

from __future__ import annotations

import secrets
import subprocess
import sys

from . import guardian


class Guard:
    """Starts the guardian with the first process and keeps it informed.

    Args:
        grace: seconds [s] the guardian gives what is left after each of SIGINT, SIGTERM and SIGKILL.

    The pipe closes with the process that holds this object. A program that hosts a `LaunchService` and forks
    without executing another program (multiprocessing's 'fork') hands the open pipe on to its copy, and the
    guardian then waits for that one, too.
    """

    def __init__(self, grace: float = 1.0) -> None:
        self._grace = grace
        self._token = secrets.token_hex(8)
        self._count = 0
        self._process: subprocess.Popen[str] | None = None

    def new_tag(self) -> str:
        """Return the tag of the next process."""
        self._count += 1
        return f"{self._token}/{self._count}/"

    def start(self) -> None:
        """Start the guardian if it does not run; before the first process, so that there is no moment without
        it."""
        if self._process is None:
            # An empty environment and a session of its own keep it out of its own search and of the search of
            # an outer launch.
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-E", guardian.__file__, self._token, str(self._grace)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env={},
                text=True,
            )

    def add(self, pid: int) -> None:
        """Tell the guardian of a new session leader."""
        self._tell(pid)

    def remove(self, pid: int) -> None:
        """Tell the guardian that a session is empty, so that its number may be used again by others."""
        self._tell(-pid)

    def close(self) -> None:
        """Have all that is left stopped and wait until that is done; at most three times the grace."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _tell(self, number: int) -> None:
        if self._process is None:
            return
        try:
            self._write(number)
        except BrokenPipeError:
            # Somebody killed the guardian. A new one knows older processes by their tags.
            self._process.wait()
            self._process = None
            self.start()
            self._write(number)

    def _write(self, number: int) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(f"{number}\n")
            self._process.stdin.flush()
