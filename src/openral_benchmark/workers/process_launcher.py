"""Workers in processes of this machine, each at the other end of a pipe.

A process that dies is noticed by its pipe, and all of them end with the process that started them. The policy also
listens at a socket, in a folder that only this user can enter; those who connect prove that they are of the same run
by the key that `multiprocessing` gives to all its children.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import Client, Connection, Listener, wait
from typing import Any, cast

from openral_benchmark.workers.worker import (
    END_S,
    Component,
    Peer,
    Worker,
    WorkerHandle,
    answer,
    opened,
    pack,
    unpack,
)
from openral_benchmark.workers.worker_pool import outlive_interrupts, watch_parent
from openral_core.errors import OpenralError
from openral_core.process.collector import uncollected_imports

_spawn = multiprocessing.get_context("spawn")
BACKLOG = 128
"""Workers that may connect to a socket at one time."""
_Requests = queue.Queue[tuple[Connection, bytes] | None]
"""Packed messages and the connections that they came by; None: there will be no more."""


class ProcessLauncher:
    """Starts workers on this machine, whatever their rank."""

    where = "this machine"

    def __init__(
        self,
        threads: Mapping[Component, int] | None = None,
        device: str = "cpu",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            threads: that a component's arithmetic uses, unless the user said how many; absent: as in this process.
            device: where networks of its processes are: `cpu` or `cuda`.
            environment: further variables of its processes, except those that the user has set.
        """
        self.device = device
        self._threads, self._environment = dict(threads or {}), dict(environment or {})
        self._folder, self._sockets = "", 0

    def host(self) -> str:
        """Return the loopback address."""
        return "127.0.0.1"

    def start(
        self, component: Component, rank: int, worker: Callable[..., Worker], *arguments: object
    ) -> WorkerHandle:
        """Start a process."""
        address = self._address() if component == "policy" else ""
        # Only rollouts start processes of their own, which a daemon may not.
        count = self._threads.get(component)
        arithmetic = {} if count is None else {"OMP_NUM_THREADS": str(count)}
        with _variables(arithmetic | self._environment):
            return ProcessHandle(pack((worker, arguments)), address, daemon=component != "rollout")

    def wait(self, handles: Sequence[WorkerHandle], timeout_s: float) -> list[WorkerHandle]:
        """Return the handles whose pipes can be read."""
        pipes = {cast("ProcessHandle", handle).pipe: handle for handle in handles}
        return [pipes[cast("Connection", pipe)] for pipe in wait(list(pipes), timeout_s)]

    def close(self) -> None:
        """Remove the folder of sockets."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _address(self) -> str:
        """Return the address of a new socket."""
        self._folder = self._folder or tempfile.mkdtemp(prefix="openral-")
        self._sockets += 1
        return os.path.join(self._folder, f"policy-{self._sockets}")


class ProcessHandle(WorkerHandle):
    """The handle of a worker in a process of this machine."""

    def __init__(self, packed: bytes, address: str, *, daemon: bool) -> None:
        """Start the process.

        Args:
            packed: what makes the worker, and its arguments.
            address: of the socket at which other workers reach it; empty: there is none.
            daemon: whether multiprocessing may end it with this process; it may not start others then.
        """
        super().__init__()
        self._address = address
        self.pipe, theirs = _spawn.Pipe()
        self._process = _spawn.Process(target=_serve, args=(theirs, packed, address), daemon=daemon)
        self._process.start()
        theirs.close()
        self.pid = self._process.pid or 0

    def close(self) -> None:
        """Close the pipe; the process ends when it has carried out its present message."""
        self.pipe.close()

    def join(self, timeout_s: float = END_S) -> str:
        """Wait for the process, kill it after so many seconds, and return why it broke, or its exit code."""
        self.close()
        self._process.join(timeout_s)
        self._process.kill()
        self._process.join()
        return self._lost or f"exit code {self._process.exitcode}"

    def peer(self) -> Peer:
        """Return the worker's socket."""
        return SocketPeer(self._address)

    def _send(self, packed: bytes) -> None:
        with contextlib.suppress(OSError):  # the process died; `receive` says so
            self.pipe.send_bytes(packed)

    def _readable(self, timeout_s: float) -> bool:
        return self.pipe.poll(timeout_s)

    def _read(self, timeout_s: float) -> bytes:
        try:
            if self.pipe.poll(timeout_s):
                return self.pipe.recv_bytes()
        except OSError as error:
            raise EOFError from error
        raise EOFError("silence")


@dataclass
class SocketPeer:
    """A worker that listens at a socket."""

    address: str
    _connection: Connection | None = None

    def ask(self, message: Any, timeout_s: float) -> Any:
        """Send a message, connecting first where that is needed, and return the answer; raises as `Peer.ask`."""
        try:
            if self._connection is None:
                self._connection = Client(self.address, "AF_UNIX", authkey=current_process().authkey)
            self._connection.send_bytes(pack(message))
            packed = self._connection.recv_bytes() if self._connection.poll(timeout_s) else None
        except (EOFError, OSError) as error:
            self.close()
            raise EOFError("process ended") from error
        if packed is None:
            self.close()  # what comes too late must not answer the next message
            raise TimeoutError
        return opened(packed)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _serve(pipe: Connection, packed: bytes, address: str) -> None:
    """Body of a process: make the worker, and carry out what comes until the pipe closes."""
    outlive_interrupts()
    watch_parent()
    with uncollected_imports():
        make, arguments = unpack(packed)
    try:
        worker: Worker = make(*arguments)
    except OpenralError as error:
        pipe.send_bytes(pack(error))
        return
    requests: _Requests = queue.Queue()
    with contextlib.ExitStack() as open_parts:
        if address:
            key = current_process().authkey
            listener = open_parts.enter_context(Listener(address, "AF_UNIX", BACKLOG, authkey=key))
            threading.Thread(target=_accept, args=(listener, requests), daemon=True).start()
        with contextlib.suppress(OSError):
            pipe.send_bytes(pack(os.getpid()))
        threading.Thread(target=_read, args=(pipe, requests, True), daemon=True).start()
        while (request := requests.get()) is not None:
            connection, message = request
            reply = answer(worker, message)
            with contextlib.suppress(OSError):  # whoever asked has ended in the meantime
                connection.send_bytes(reply)
    worker.close()


def _accept(listener: Listener, requests: _Requests) -> None:
    """Let other workers in, each with a thread of its own that reads while another's message is carried out."""
    while True:
        try:
            client = listener.accept()
        except (EOFError, AuthenticationError, ConnectionError):
            continue  # a worker that was ended while it connected
        except OSError:
            return  # the listener was closed
        threading.Thread(target=_read, args=(client, requests, False), daemon=True).start()


def _read(connection: Connection, requests: _Requests, is_owner: bool) -> None:
    """Queue what comes by a connection until it closes; the process ends with its owner's."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put((connection, connection.recv_bytes()))
    if is_owner:
        requests.put(None)


@contextlib.contextmanager
def _variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """Let a process that starts now have these variables, except those that this process has already."""
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
