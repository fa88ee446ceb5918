"""The policy in a process of its own: loaded once, asked by every worker, one batch after the other.

Workers connect to a socket in a folder that only this user can enter, and prove that they are of the same run by the
key that `multiprocessing` gives to all its children.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError, PolicyError
from openral_core.types import Policy, PolicyBatch
from openral_training.benchmark.crew import PolicyGone, PolicySilent
from openral_training.benchmark.source import PolicySource
from openral_training.workers import outlive_interrupts, watch_parent

BACKLOG = 128
"""Workers that may connect at one time."""
Operation = Literal["reset", "predict"]


@dataclass(frozen=True)
class _Request:
    client: Connection
    operation: Operation
    data: Any

    def answer(self, policy: Policy) -> None:
        """Reply with (error, value, seconds)."""
        start = time.perf_counter()
        try:
            value, error = getattr(policy, self.operation)(self.data), ""
        except OpenralError as why:
            value, error = None, str(why)
        except Exception as why:  # noqa: BLE001  whatever a model raises, the next batch must find a policy
            value, error = None, f"{type(why).__name__}: {why}"
        with contextlib.suppress(OSError):  # the worker was ended in the meantime
            self.client.send((error, value, time.perf_counter() - start))


def host(control: Connection, source: PolicySource, address: str) -> None:
    """Body of the process: load the policy, send "" or why it could not be loaded, answer until `control` closes."""
    outlive_interrupts()
    watch_parent()
    try:
        policy = source.load()
    except Exception as error:  # noqa: BLE001  the engine says it
        control.send(str(error) if isinstance(error, OpenralError) else f"{type(error).__name__}: {error}")
        return
    requests: _Requests = queue.Queue()
    with Listener(address, "AF_UNIX", BACKLOG, authkey=current_process().authkey) as listener:
        threading.Thread(target=_accept, args=(listener, requests), daemon=True).start()
        threading.Thread(target=_end_with, args=(control, requests), daemon=True).start()
        control.send("")
        while (request := requests.get()) is not None:
            request.answer(policy)
    policy.close()


_Requests = queue.Queue[_Request | None]
"""None: there will be no more."""


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
            requests.put(_Request(client, *client.recv()))


def _end_with(control: Connection, requests: _Requests) -> None:
    with contextlib.suppress(EOFError, OSError):
        control.recv()
    requests.put(None)


class PolicyLink:
    """A worker's side: a policy that is asked over the socket (see `TimedPolicy`)."""

    def __init__(self, address: str, patience_s: float) -> None:
        """Connect when first asked.

        Args:
            address: of the policy's socket.
            patience_s: [s] after which a policy that does not answer is given up.
        """
        self.address = address
        self.elapsed_s = 0.0
        self._patience_s = patience_s
        self._connection: Connection | None = None

    def reset(self, episodes: Sequence[str]) -> None:
        """See Policy.reset. Raises as `predict`."""
        self._ask("reset", list(episodes))

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """See Policy.predict.

        Raises:
            PolicyGone: its process ended.
            PolicySilent: it did not answer in time.
            PolicyError: it refused.
        """
        chunks: NDArray[np.float32] = self._ask("predict", batch)
        return chunks

    def close(self) -> None:
        """Leave the policy."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, operation: Operation, data: Any) -> Any:
        try:
            if self._connection is None:
                self._connection = Client(self.address, "AF_UNIX", authkey=current_process().authkey)
            self._connection.send((operation, data))
            if not self._connection.poll(self._patience_s):
                self.close()
                raise PolicySilent(f"cut off: the policy was silent for {self._patience_s:g} s")
            error, value, self.elapsed_s = self._connection.recv()
        except (EOFError, OSError) as why:
            self.close()
            raise PolicyGone("the policy's process ended") from why
        if error:
            raise PolicyError(error)
        return value
