"""The policy in a process of its own, and the link by which workers send it batches, one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.events import PolicyLost, PolicyTimedOut
from openral_benchmark.workers.worker import Peer
from openral_core.errors import OpenralError, PolicyError
from openral_core.types import PolicyBatch

Operation = Literal["reset", "predict"]
Reply = tuple[str, Any, float]
"""The error of an operation, or ""; its value; [s] that it took."""


class PolicyHost:
    """A worker with the policy."""

    def __init__(self, source: PolicySource) -> None:
        """Load the policy.

        Raises:
            PolicyError: it cannot be loaded.
        """
        try:
            self._policy = source.load()
        except Exception as error:  # a family's own code may raise anything; the run must learn why
            raise PolicyError(reason(error)) from error

    def __call__(self, message: tuple[Operation, Any]) -> Reply:
        """Carry out an operation of the policy; whatever it raises becomes the error of the reply."""
        operation, data = message
        start = time.perf_counter()
        try:
            value, error = getattr(self._policy, operation)(data), ""
        except Exception as why:  # noqa: BLE001  a model may raise anything, and the process must answer the next batch
            value, error = None, reason(why)
        return error, value, time.perf_counter() - start

    def close(self) -> None:
        """Free the policy."""
        self._policy.close()


def reason(error: Exception) -> str:
    """Return the text of an error, with its type unless it is an OpenralError."""
    return str(error) if isinstance(error, OpenralError) else f"{type(error).__name__}: {error}"


class PolicyLink:
    """A worker's policy (see `TimedPolicy`), which forwards every call to the policy's process."""

    def __init__(self, host: Peer, patience_s: float) -> None:
        """Keep the arguments; the first call connects.

        Args:
            host: the policy's process.
            patience_s: [s] timeout of a call.
        """
        self.elapsed_s = 0.0
        """[s] that the policy took for the last call."""
        self.inferred_s = self.asked_s = 0.0
        """[s] sums over calls: of the policy's own time, and of the time until the answer."""
        self._host, self._patience_s = host, patience_s

    def reset(self, episodes: Sequence[str]) -> None:
        """Begin episodes, see `Policy.reset`. Raises as `predict`."""
        self._call("reset", list(episodes))

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return chunks of actions, see `Policy.predict`.

        Raises:
            PolicyLost: its process ended.
            PolicyTimedOut: it did not answer in time.
            PolicyError: the policy raised an error.
        """
        chunks: NDArray[np.float32] = self._call("predict", batch)
        return chunks

    def close(self) -> None:
        """Close the connection; the policy stays loaded for other workers."""
        self._host.close()

    def _call(self, operation: Operation, data: Any) -> Any:
        start = time.perf_counter()
        try:
            error, value, self.elapsed_s = self._host.ask((operation, data), self._patience_s)
        except TimeoutError as why:
            raise PolicyTimedOut(f"cut off: the policy was silent for {self._patience_s:g} s") from why
        except EOFError as why:
            raise PolicyLost(f"the policy's {why}") from why
        self.inferred_s += self.elapsed_s
        self.asked_s += time.perf_counter() - start
        if error:
            raise PolicyError(error)
        return value
