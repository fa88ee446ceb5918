"""A server's process: its start, its state, and its end with all processes that it started."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from openral_core.errors import SidecarError
from openral_core.files.atomic import write_atomically
from openral_core.files.bounded_log import earlier_log, log_text
from openral_sidecar.environment.code_links import bundle_for
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.errors import SidecarDown, SidecarTimeout
from openral_sidecar.paths import log_folder, run_folder
from openral_sidecar.server_announcement import ServerIdentity, announcements, forget

LOOK_S = 0.05
"""[s] between two checks of a process that is waited for."""
GRACE_S = 5.0
"""[s] within which a server must end by itself before it is killed."""
KEEP_S = 7 * 24 * 3600.0
"""[s] age below which logs are kept, and tokens, as they may belong to a server that is still loading."""
LAST_LINES = 3
"""Number of lines of a log that an error shows."""
_FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


def new_token_file(spec: SidecarSpec) -> Path:
    """Write a random token to a new file that only this user can read, and return its path."""
    path = run_folder() / f"{spec.name}-{secrets.token_hex(4)}.token"
    write_atomically(path, secrets.token_urlsafe(32), private=True)
    return path


def old_logs(active: Collection[ServerIdentity], age_s: float = KEEP_S) -> list[Path]:
    """Return the logs of servers that do not run.

    Args:
        active: the servers that run.
        age_s: [s] that have passed at least since the last line.
    """
    logs = [Path(other.log) for other in active if other.log]  # one that was started by hand has none
    used = {path for log in logs for path in (log, earlier_log(log))}
    latest = time.time() - age_s
    return [path for path in sorted(log_folder().iterdir()) if path not in used and changed_s(path) <= latest]


def changed_s(path: Path) -> float:
    """Return when a file was written last [s, wall clock]; infinite: another process has deleted it meanwhile."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def new_log(spec: SidecarSpec) -> Path:
    """Return the path for the log of a new server, and delete the old logs, as servers may be restarted for years."""
    for path in old_logs(list(announcements())):
        path.unlink(missing_ok=True)
    return log_folder() / f"{spec.name}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}.log"


def last_lines(log: Path) -> str:
    """Return the last lines of a log joined into one; empty: there is no log."""
    lines = [line.strip() for line in log_text(log).splitlines() if line.strip()]
    return " / ".join(lines[-LAST_LINES:])


class ServerProcess:
    """A running server, with a token and a log of its own.

    With `tied` it ends with this process, and on Linux also with the thread that starts it, which therefore must live
    as long as the server is needed.

    Args:
        spec: of the sidecar.
        python: path of the interpreter.
        arguments: arguments of the server's family.
        host: address to listen on.
        port: TCP port; 0: any free one.
        shared: whether other clients may use the server.
        tied: whether the server ends with this process.

    Raises:
        SidecarError: the interpreter cannot be run, or the log cannot be written.
    """

    def __init__(
        self,
        spec: SidecarSpec,
        python: Path,
        arguments: Sequence[str],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        shared: bool = True,
        tied: bool = True,
    ) -> None:
        self.log = new_log(spec)
        self.token_file = new_token_file(spec)
        command = [
            str(python),
            "-m",
            "openral_sidecar.bootstrap",
            *(["--with-parent"] if tied else []),
        ]
        command += [spec.module, *arguments, "--host", host, "--port", str(port)]
        command += ["--token-file", str(self.token_file), "--spec", f"{spec.name}@{spec.digest}"]
        command += ["--log-file", str(self.log), *([] if shared else ["--private"])]
        try:
            with self.log.open("ab") as output:
                self._process = subprocess.Popen(
                    command,
                    env=_environment(spec),
                    start_new_session=True,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.PIPE if tied else subprocess.DEVNULL,
                )
        except OSError as error:
            self.token_file.unlink(missing_ok=True)
            where = error.filename or python
            is_ours = str(where) == str(python)
            fix = f"`openral sidecar build {spec.name}` makes it" if is_ours else "fix that, then try again"
            raise SidecarError(f"{where}: {error.strerror}; {fix}") from error
        self.pid = self._process.pid

    def wait_ready(
        self, name: str, timeout_s: float, on_wait: Callable[[], None] = lambda: None
    ) -> ServerIdentity:
        """Wait until the server has loaded its model and opened its port, and return its identity file's content.

        Args:
            name: of the server in messages.
            timeout_s: [s] to wait at most.
            on_wait: called every LOOK_S while waiting; may raise to give up.

        Raises:
            SidecarDown: the server ended; the message has the last lines of its log.
            SidecarTimeout: the server is not ready in time.
        """
        until = time.monotonic() + timeout_s
        while (found := self.announcement()) is None:
            on_wait()
            if (exit_reason := self.exit_reason()) is not None:
                raise SidecarDown(f"{name} did not start: {exit_reason}")
            if time.monotonic() > until:
                raise SidecarTimeout(f"{name} was not ready within {timeout_s:g} s; see {self.log}")
            time.sleep(LOOK_S)
        return found

    def announcement(self) -> ServerIdentity | None:
        """Return the content of the server's identity file; None: there is none yet."""
        return next((found for found in announcements() if found.pid == self.pid), None)

    def exit_reason(self) -> str | None:
        """Return how the server ended, with the last lines of its log; None: it runs."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"pid {self.pid} {how}; its log {self.log} ends: {last_lines(self.log) or '(nothing)'}"

    def end(self, *, at_once: bool = False) -> None:
        """End the server and all processes that it started.

        Args:
            at_once: kill it without SIGTERM first, to which a hanging server would not react.
        """
        if not at_once:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        end_group(self.pid)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        forget(self.pid)
        self.token_file.unlink(missing_ok=True)


def end_group(leader: int) -> None:
    """Kill the remaining processes of a server's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: a group of zombies on macOS
        os.killpg(leader, signal.SIGKILL)


def _environment(spec: SidecarSpec) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return {
        **ours,
        "OMP_NUM_THREADS": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        **spec.environment,
        "PYTHONPATH": str(bundle_for(spec.module)),
    }
