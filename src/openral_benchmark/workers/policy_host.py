"""The policy in a process of its own: loaded once, asked by every worker, one batch after the other.

Workers connect to a socket in a folder that only this user can enter, and prove that they are of the same run by the
key that `multiprocessing` gives to all its children.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.parent_watch import outlive_interrupts, watch_parent
from openral_benchmark.workers.policy_link import Operation, Reply, answer, reason
from openral_benchmark.workers.worker_pool import PolicyLost, PolicyTimedOut

BACKLOG = 128
"""Workers that may connect at one time."""
_Requests = queue.Queue[tuple[Connection, Operation, Any] | None]
"""None: there will be no more."""


def host(control: Connection, source: PolicySource, address: str) -> None:
    """Body of the process: load the policy, send "" or why it could not be loaded, answer until `control` closes."""
    outlive_interrupts()
    watch_parent()
    try:
        policy = source.load()
    except Exception as error:  # noqa: BLE001  the engine says it
        control.send(reason(error))
        return
    requests: _Requests = queue.Queue()
    with Listener(address, "AF_UNIX", BACKLOG, authkey=current_process().authkey) as listener:
        threading.Thread(target=_accept, args=(listener, requests), daemon=True).start()
        threading.Thread(target=_end_with, args=(control, requests), daemon=True).start()
        control.send("")
        while (request := requests.get()) is not None:
            client, operation, data = request
            reply = answer(policy, operation, data)
            with contextlib.suppress(OSError):  # the worker was ended in the meantime
                client.send(reply)
    policy.close()


def _accept(listener: Listener, requests: _Requests) -> None:
    """Let workers in, each with a thread of its own that reads while another's batch is inferred."""
    while True:
        try:
            client = listener.accept()
        except (EOFError, AuthenticationError, ConnectionError):
            continue  # a worker that was ended while it connected
        except OSError:
            return  # the listener was closed
        threading.Thread(target=_listen, args=(client, requests), daemon=True).start()


def _listen(client: Connection, requests: _Requests) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put((client, *client.recv()))


def _end_with(control: Connection, requests: _Requests) -> None:
    with contextlib.suppress(EOFError, OSError):
        control.recv()
    requests.put(None)


class SocketAsk:
    """A worker's side: see `policy_link.Ask`."""

    def __init__(self, address: str, patience_s: float) -> None:
        """Connect when first asked.

        Args:
            address: of the policy's socket.
            patience_s: [s] after which a policy that does not answer is given up.
        """
        self.address = address
        self._patience_s = patience_s
        self._connection: Connection | None = None

    def __call__(self, operation: Operation, data: Any) -> Reply:
        """Send an operation and wait for its reply."""
        try:
            if self._connection is None:
                self._connection = Client(self.address, "AF_UNIX", authkey=current_process().authkey)
            self._connection.send((operation, data))
            if not self._connection.poll(self._patience_s):
                self.close()
                raise PolicyTimedOut.for_seconds(self._patience_s)
            reply: Reply = self._connection.recv()
        except (EOFError, OSError) as why:
            self.close()
            raise PolicyLost("the policy's process ended") from why
        return reply

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
