"""A deployment as a child process, which is ended in any case."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from openral_core.errors import InstallationError
from openral_core.files.bounded_log import earlier_log, move_when_long
from openral_core.files.share import share_directory
from openral_core.process.announcements import GOES_ON_WITHOUT, MISSION_ENDED, STARTED_AGAIN
from openral_core.process.with_parent import end_with_parent

LAUNCH_LOG = "launch.log"
"""Every line of every node, in the folder of a run; of a long run the newest ones, see `files.bounded_log`."""
GRACE_S = (15.0, 5.0)
"""[s] time for the launch to end after SIGINT, and after SIGTERM."""
POLL_S = 0.1
"""[s] time between two readings of the output."""
MAX_LINE = 64 * 1024
"""Characters after which a line without an end is told in pieces."""
_TROUBLE = re.compile(
    rf"\[(WARN|ERROR|FATAL)\]|Traceback|^(\[[^\]]+\] )?error:|required: shutting down(?!.*{MISSION_ENDED})"
    rf"|{STARTED_AGAIN}|{GOES_ON_WITHOUT}"
)


def ros2_command() -> str:
    """Return the `ros2` program: the one beside this interpreter, else the one on PATH.

    Raises:
        InstallationError: there is none.
    """
    beside = Path(sys.executable).with_name("ros2")
    found = str(beside) if beside.is_file() else shutil.which("ros2")
    if found is None:
        raise InstallationError(
            "`ros2` was not found; `pip install ros2-embedded`, or source your ROS 2 setup file"
        )
    return found


def is_trouble(line: str) -> bool:
    """Return whether a line of the launch's output is shown by default, and not only on request."""
    return bool(_TROUBLE.search(line))


class LaunchedDeployment:
    """`ros2 launch` of one of openral's launch files; its output goes to a file and to a listener."""

    def __init__(
        self, file: str, arguments: Mapping[str, str], log_path: Path, on_line: Callable[[str], None]
    ) -> None:
        """Start it.

        Args:
            file: name of the launch file.
            arguments: of the launch file.
            log_path: gets every line of output; text beyond the bound of `files.bounded_log` is moved or dropped.
            on_line: is told every line, from a thread.

        Raises:
            InstallationError: there is no `ros2`.
        """
        words = [f"{name}:={value}" for name, value in arguments.items()]
        # A file and not a pipe: should we be killed, the launch can still say what it does while it ends.
        with log_path.open("ab") as log, contextlib.ExitStack() as opened:
            # Read by a descriptor of before, so that a folder that is removed meanwhile is no fault of the thread.
            reading = opened.enter_context(log_path.open("rb"))
            self._process = subprocess.Popen(
                [
                    ros2_command(),
                    "launch",
                    str(share_directory() / "launch" / file),
                    *words,
                ],
                env={
                    "OVERRIDE_LAUNCH_PROCESS_OUTPUT": "screen",
                    **os.environ,
                },  # no second log, without a bound
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches the launch once, from us
                preexec_fn=end_with_parent(),
            )
            opened.pop_all()
        self._reader = threading.Thread(
            target=self._tell_lines, args=(reading, log_path, on_line), daemon=True
        )
        self._reader.start()

    def poll(self) -> int | None:
        """Return the launch's exit code, or None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit code; None: it still runs after `timeout_s` [s]."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout_s)
        return None

    def close(self) -> int:
        """End the launch and its child processes, by SIGINT first; return its exit code."""
        for number, grace_s in zip((signal.SIGINT, signal.SIGTERM), GRACE_S, strict=True):
            if self._process.poll() is None:
                self._process.send_signal(number)
                self.wait(grace_s)
        if self._process.poll() is None:
            self._process.kill()
        code = self._process.wait()
        # A launcher that was killed leaves what shares its process group; ours are in groups of their own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(5.0)
        return code

    def _tell_lines(self, reading: BinaryIO, log_path: Path, on_line: Callable[[str], None]) -> None:
        """Follow the log until the launch has ended and all lines are passed on; bound the log's size."""
        unfinished, decoder = "", getincrementaldecoder("utf-8")("replace")
        with reading as log:
            while True:
                ended = self._process.poll() is not None
                *lines, unfinished = (unfinished + decoder.decode(_read_and_bound(log, log_path))).split("\n")
                for line in lines:
                    on_line(line)
                while len(unfinished) > MAX_LINE:
                    on_line(unfinished[:MAX_LINE])
                    unfinished = unfinished[MAX_LINE:]
                if ended:
                    break
                time.sleep(POLL_S)
        if unfinished := unfinished + decoder.decode(b"", final=True):
            on_line(unfinished)


def _read_and_bound(log: BinaryIO, path: Path) -> bytes:
    """Return what was added to a log since the last call, and move the log's text if it is too long."""
    new = log.read()
    with contextlib.suppress(OSError):  # such as a full disk, where the log cannot grow either
        if move_when_long(path):
            with earlier_log(path).open("rb") as moved:
                moved.seek(log.tell())
                new += moved.read()
            log.seek(0)
    return new


@contextlib.contextmanager
def running(
    file: str, arguments: Mapping[str, str], log_path: Path, on_line: Callable[[str], None]
) -> Iterator[LaunchedDeployment]:
    """Run a deployment within a `with` block, at whose exit it is ended in any case."""
    deployment = LaunchedDeployment(file, arguments, log_path, on_line)
    try:
        yield deployment
    finally:
        deployment.close()
