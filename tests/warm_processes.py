"""Processes that run a module as `python -m` does, forked from one that has imported it: a tenth of a second, not one.

Run as a program with the number of a socket, this file forks a process for each request that comes by it; arguments,
environment, working folder and output are those of the request.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import warnings
from functools import cache
from importlib import import_module
from io import TextIOBase
from pathlib import Path
from typing import IO, Any, TextIO, TypeAlias

LONGEST = 1 << 20
"""[bytes] of a request."""


class WarmProcess:
    """A forked process, as `subprocess.Popen` tells of one with pipes of text."""

    def __init__(self, arguments: list[str], answers: socket.socket) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self.stdout: TextIO | None = None
        self.stderr: TextIO | None = None
        self._answers = answers
        self.pid = int(_line(answers))

    def poll(self) -> int | None:
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._answers.settimeout(None if timeout is None else max(timeout, 1e-3))
            try:
                self.returncode = os.waitstatus_to_exitcode(int(_line(self._answers)))
            except TimeoutError:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
            self._answers.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str | None, str | None]:
        """Return the whole output, once the process has ended."""
        pipe, read = self.stdout or self.stderr, [""]
        if pipe and not pipe.closed:
            reader = threading.Thread(target=lambda: read.append(pipe.read()), daemon=True)
            reader.start()
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            pipe.close()
        self.wait(timeout)
        return (read[-1], None) if self.stdout else (None, read[-1] if self.stderr else None)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class WarmStart:
    """Starts processes, each of which runs a module."""

    def __init__(self) -> None:
        """Start the process that forks them; it ends with this one."""
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(theirs.fileno())],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()

    def start(
        self,
        module: str,
        *arguments: str,
        environment: dict[str, str],
        stdout: IO[str] | int | None = None,
        stderr: int | None = None,
    ) -> WarmProcess:
        """Run a module; `stdout` and `stderr` are as of `Popen`, as far as nodes of tests need it."""
        answers, theirs = socket.socketpair()
        pipe = os.pipe() if subprocess.PIPE in (stdout, stderr) else None
        file = pipe[1] if pipe else stdout.fileno() if isinstance(stdout, TextIOBase) else 2
        streams = [1] if stdout is not None else []
        if stderr is not None:
            streams.append(2)
        request = {
            "module": module,
            "arguments": arguments,
            "environment": environment,
            "folder": os.getcwd(),
            "streams": streams,
        }
        socket.send_fds(self._requests, [json.dumps(request).encode()], [file, theirs.fileno()])
        theirs.close()
        process = WarmProcess([module, *arguments], answers)
        if pipe:
            os.close(pipe[1])
            output = os.fdopen(pipe[0], encoding="utf-8", errors="replace")
            if stdout == subprocess.PIPE:
                process.stdout = output
            else:
                process.stderr = output
        return process

    def close(self) -> None:
        self._requests.close()
        self._server.wait()


@cache
def _warm_start() -> WarmStart | None:
    """Return what starts processes; None: on a real ROS 2, or without /proc, which tells threads."""
    import rclpy

    embedded = (Path(rclpy.__file__).parents[1] / "ros2_embedded").is_dir()
    if not embedded or not Path("/proc/self/task").is_dir():
        return None
    started = WarmStart()
    atexit.register(started.close)
    return started


Process: TypeAlias = "subprocess.Popen[str] | WarmProcess"


def run_module(
    module: str,
    *arguments: str,
    environment: dict[str, str],
    stdout: IO[str] | int | None = None,
    stderr: int | None = None,
    cold: bool = False,
) -> Process:
    """Start `python -m module`; see `WarmStart.start`.

    Args:
        module: its name.
        *arguments: of the command line.
        environment: all variables.
        stdout: as of `Popen`.
        stderr: as of `Popen`.
        cold: whether it imports what it needs, as processes of users do.
    """
    warm = None if cold else _warm_start()
    if warm:
        return warm.start(module, *arguments, environment=environment, stdout=stdout, stderr=stderr)
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, env=environment, stdout=stdout, stderr=stderr, text=True)


def _line(answers: socket.socket) -> str:
    """Return the next line of the server's answers, byte by byte."""
    told = b""
    while not told.endswith(b"\n"):
        byte = answers.recv(1)
        if not byte:
            raise RuntimeError("the process that starts others has ended")
        told += byte
    return told.decode()


class _Forked(Exception):
    """This is a new process, which is to carry out the request."""


class _Server:
    """Forks until the socket of the requests is closed."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._answers: dict[int, socket.socket] = {}
        self._ended, wake = socket.socketpair()
        for end in (self._ended, wake):
            end.setblocking(False)
        self._wake = wake
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C ends pytest, and that ends this

    def serve(self) -> dict[str, Any] | None:
        """Return the request that this new process is to carry out; None: there are no more."""
        with selectors.DefaultSelector() as ready:
            for source in (self._requests, self._ended):
                ready.register(source, selectors.EVENT_READ)
            while True:
                sources = [key.fileobj for key, _ in ready.select()]
                if self._ended in sources:
                    self._ended.recv(4096)
                    self._reap()
                if self._requests in sources:
                    message, files, _, _ = socket.recv_fds(self._requests, LONGEST, 2)
                    if not message:
                        return None
                    request: dict[str, Any] = json.loads(message)
                    _import(request["module"])
                    if (pid := os.fork()) == 0:
                        os.close(files[1])
                        self._become(files[0], request["streams"])
                        return request
                    os.close(files[0])
                    self._answers[pid] = socket.socket(fileno=files[1])
                    self._answers[pid].sendall(f"{pid}\n".encode())

    def _reap(self) -> None:
        while self._answers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._answers.pop(pid) as answers, contextlib.suppress(OSError):  # nobody waits for it
                answers.sendall(f"{status}\n".encode())

    def _become(self, output: int, streams: list[int]) -> None:
        """Make a new process like one that was just started."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for other in (self._requests, self._ended, self._wake, *self._answers.values()):
            other.close()
        for number in streams:
            os.dup2(output, number)
        os.close(output)


def _import(module: str) -> None:
    """Import a module before the processes that run it are forked."""
    if module in sys.modules:
        return
    gc.disable()
    import_module(module)
    gc.freeze()
    gc.enable()
    if len(os.listdir("/proc/self/task")) != 1:
        raise SystemExit(f"{module} has started a thread, which a forked process would lack")


def main() -> None:
    sys.path[0] = ""  # as of `python -m`
    request = _Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is None:
        return
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [request["module"], *request["arguments"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that it was imported before
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
