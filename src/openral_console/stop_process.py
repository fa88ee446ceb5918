"""The process that serves the stop: started by the console, started again when it dies, ended with the console."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from openral_console.listen_options import ListenOptions
from openral_console.sessions import Sessions
from openral_core.process.announcements import STARTED_AGAIN
from openral_core.process.wait_or_kill import wait_or_kill

PAUSE_S = 1.0
"""[s] before the process is started again."""
END_S = 3.0
"""[s] that the process has to end by itself."""


class StopProcess:
    """Keeps one process alive."""

    def __init__(
        self,
        listening: socket.socket,
        sessions: Sessions,
        options: ListenOptions,
        actions_file: Path,
        say: Callable[[str], object],
        namespace: str,
    ) -> None:
        """Start it.

        Args:
            listening: socket that it serves; it stays open here, so that the process can be started again.
            sessions: with the key that signs the names of operators who may stop.
            options: certificate and key, if any.
            actions_file: for the operators' actions.
            say: takes a line for the log when the process died.
            namespace: of the deployment that it stops.
        """
        self._socket, self._say = listening, say
        self._settings = json.dumps(
            {
                "key": sessions.key.hex(),
                "socket": listening.fileno(),
                "actions": str(actions_file),
                "namespace": namespace,
                "certificate": str(options.certificate) if options.certificate else None,
                "private_key": str(options.key) if options.key else None,
            }
        )
        self._closing = threading.Event()
        self._process = self._start()
        self._thread = threading.Thread(target=self._watch, name="stop process", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """Id of the process that serves now."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it."""
        self._closing.set()
        assert self._process.stdin is not None
        self._process.stdin.close()
        wait_or_kill(self._process, END_S)
        self._thread.join(END_S)

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "openral_console.ros.stop_server"],
            stdin=subprocess.PIPE,
            pass_fds=[self._socket.fileno()],
            text=True,
            start_new_session=True,  # Ctrl-C ends the console, which then ends this
        )
        assert process.stdin is not None
        process.stdin.write(self._settings + "\n")
        process.stdin.flush()
        return process

    def _watch(self) -> None:
        while not self._closing.is_set():
            code = self._process.wait()
            if self._closing.wait(PAUSE_S):
                return
            try:
                self._process = self._start()
            except OSError as error:  # no memory or no process left; there may be some in a moment
                why = error.strerror or error
                self._say(
                    f"the process behind Stop ended with {code} and cannot be started: {why}; it is tried again"
                )
            else:
                self._say(f"the process behind Stop ended with {code}; {STARTED_AGAIN}")
