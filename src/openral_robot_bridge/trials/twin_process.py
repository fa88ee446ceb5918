"""A twin in a process of its own, commanded by lines of text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.process.wait_or_kill import wait_or_kill
from openral_core.process.with_parent import end_with_parent

END_S = 5.0
"""[s] within which a twin that has closed its output must end."""


class CommandedTwin:
    """Process of `openral robot twin`, to be used as a context manager; it ends with this process, even if killed."""

    def __init__(self, scene: Path, address: str, cameras_port: int, patience_ms: float, log: Path) -> None:
        """Start the twin, and return when it is ready.

        Args:
            scene: file of the scene.
            address: of this machine on which the twin listens.
            cameras_port: HTTP port of its cameras' images; 0: none are rendered.
            patience_ms: [ms] wall time that the twin's cycle waits for its command.
            log: file of its standard error.

        Raises:
            SimulationError: the twin did not start.
        """
        words = [
            "--address",
            address,
            "--cameras-port",
            f"{cameras_port}",
            "--patience-ms",
            f"{patience_ms:g}",
        ]
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [str(Path(sys.executable).with_name("openral")), "robot", "twin", str(scene), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                bufsize=1,
                preexec_fn=end_with_parent(),
            )
        self._log = log
        self._line()

    def __enter__(self) -> CommandedTwin:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.communicate()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def tell(self, line: str) -> str:
        """Send a command, and return the line of its answer.

        Raises:
            SimulationError: the twin has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
        except OSError as error:
            raise self._ended() from error
        return self._line()

    def reset(self, init_id: int) -> None:
        """Set the twin's world to an initial state.

        Raises:
            SimulationError: the twin refuses, with its reason, or has ended.
        """
        answer = self.tell(f"state {init_id}")
        if answer != f"state {init_id}":
            raise SimulationError(f"the twin's world was not reset: {answer}")

    @property
    def is_done(self) -> bool:
        """Whether the scene's first task was done since the last reset, by the judge of the twin's simulator."""
        return self.tell("judge").startswith("done")

    @property
    def world(self) -> NDArray[np.float64]:
        """(nq,) qpos of the twin's model."""
        return np.array(json.loads(self.tell("world")))

    @property
    def cycles(self) -> tuple[int, int]:
        """Number of 1 ms cycles since the start, and of those in motions without a command."""
        numbers = dict(word.split("=") for word in self.tell("status").split() if "=" in word)
        return int(numbers["cycles"]), int(numbers["missed"])

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        return line.strip()

    def _ended(self) -> SimulationError:
        """Return the error for a twin that has ended, with the last line of its log."""
        wait_or_kill(self._process, END_S)
        last = self._log.read_text(errors="replace").strip().rpartition("\n")[2].removeprefix("error: ")
        return SimulationError(f"the twin has ended{f': {last}' if last else ''} ({self._log})")
