"""A program under test with everything that it starts: found by a tag in the environment, whoever the parent is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import psutil
from domain_coordinator import domain_id

BIN = Path(sys.executable).parent
TAG = "OPENRAL_TEST_TAG"
PR_SET_PDEATHSIG = 1
"""<sys/prctl.h>"""
PATIENCE_S = 90.0
"""[s] how long a wait may take on a busy machine before it counts as failed."""
_held = contextlib.ExitStack()


def next_domain() -> int:
    """A ROS domain that no other test has, in this process or another."""
    return _held.enter_context(domain_id())


def wait_for(
    condition: Callable[[], object], what: str | Callable[[], str], timeout_s: float = PATIENCE_S
) -> None:
    """Wait until a condition holds, or fail with `what`, text or a function that makes it."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout_s:.0f} s in vain for {what() if callable(what) else what}")
        time.sleep(0.05)


def end_with_the_tests() -> None:
    """Have the kernel kill this process when the one that starts it is gone; what it started sees to itself."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Stack:
    """One command and its descendants on a ROS domain of their own. Use it as a context manager."""

    def __init__(self, folder: Path, *command: str, domain: int | None = None) -> None:
        """Start it.

        Args:
            folder: working directory; gets `output.txt`.
            command: `openral` or `ros2`, and its words.
            domain: of another stack, to be beside it; None: one of its own.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._held = contextlib.ExitStack()
        self.domain = self._held.enter_context(domain_id()) if domain is None else domain
        self._tag = uuid4().hex
        self._output = folder / "output.txt"
        self._environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_LOG_DIR": str(folder / "ros_log"),
            "XDG_STATE_HOME": str(
                folder / "state"
            ),  # a real arm that was stopped is stopped in the next deployment
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
            TAG: self._tag,
        }
        with self._output.open("w") as output:
            self._process = subprocess.Popen(
                [str(BIN / command[0]), *command[1:]],
                cwd=folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=end_with_the_tests,
            )

    def __enter__(self) -> Stack:
        return self

    def __exit__(self, *error: object) -> None:
        """Kill what the test has not ended."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        self._held.close()

    @property
    def environment(self) -> dict[str, str]:
        """Of the command; what runs with it counts as its own."""
        return dict(self._environment)

    @property
    def running(self) -> bool:
        """Whether the command itself still runs."""
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """What it has printed so far, and every line of every node if it keeps them elsewhere."""
        logs = [self._output, *sorted(self.folder.glob("*/launch.log"))]
        return "".join(path.read_text(errors="replace") for path in logs)

    @property
    def errors(self) -> list[str]:
        """Lines of nodes that say ERROR or FATAL, and tracebacks; each counts once, wherever it is shown."""
        marks = ("[ERROR]", "[FATAL]", "Traceback")
        lines = [line.strip() for line in self.output.splitlines() if any(mark in line for mark in marks)]
        return list(dict.fromkeys(lines))

    def said(self, words: str) -> int:
        """How many different lines of the output hold `words`."""
        return len({line.strip() for line in self.output.splitlines() if words in line})

    def processes(self) -> list[psutil.Process]:
        """All living processes that carry the tag."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(TAG) == self._tag
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False

    def node(self, executable: str) -> psutil.Process:
        """The process of one node: sim_bridge, policy_node, reward_monitor or reasoner."""
        found: list[psutil.Process] = []

        def look() -> bool:
            found[:] = [p for p in self.processes() if self._runs(p, executable)]
            return bool(found)

        wait_for(look, lambda: f"the process of {executable}; output:\n{self.output}")
        [process] = found
        return process

    def _runs(self, process: psutil.Process, executable: str) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            words = process.cmdline()
            return "--ros-args" in words and any(
                executable in word for word in words[: words.index("--ros-args")]
            )
        return False

    def until_says(self, words: str, times: int = 1) -> None:
        """Wait until the output holds `words` so many times."""

        def said() -> bool:
            return self.output.count(words) >= times or not self.running

        wait_for(said, lambda: f"{words!r}; output:\n{self.output}")
        assert self.output.count(words) >= times, f"it ended without saying {words!r}:\n{self.output}"

    def beside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another command on the same domain, to its end."""
        return subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def interrupt(self) -> None:
        """What a terminal does at Ctrl-C: SIGINT to the whole foreground group."""
        os.killpg(self._process.pid, signal.SIGINT)

    def terminate(self) -> None:
        """What systemd and docker do: SIGTERM to the command alone."""
        os.kill(self._process.pid, signal.SIGTERM)

    def wait(self) -> int:
        """Wait for the command's own end and return its exit code; nothing that it started may be left."""
        wait_for(lambda: not self.running, lambda: f"the end; output:\n{self.output}", 2 * PATIENCE_S)
        wait_for(lambda: not self.processes(), lambda: f"the end of what was left: {self._living()}", 5.0)
        return self._process.returncode

    def _living(self) -> str:
        lines: Iterator[str] = (" ".join(process.cmdline()) for process in self.processes())
        return "; ".join(lines)
