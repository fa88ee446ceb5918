"""A policy that lives elsewhere: what is asked of it, what it answers, and the policy that a worker sees."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError, PolicyError
from openral_core.types import Policy, PolicyBatch

Operation = Literal["reset", "predict"]
Reply = tuple[str, Any, float]
"""Why it was refused, or ""; the value; [s] that it took."""
Ask = Callable[[Operation, Any], Reply]
"""Carries an operation to the policy. Raises PolicyLost and PolicyTimedOut."""


def answer(policy: Policy, operation: Operation, data: Any) -> Reply:
    """Let a policy carry out an operation; whatever it raises becomes a refusal."""
    start = time.perf_counter()
    try:
        value, error = getattr(policy, operation)(data), ""
    except Exception as why:  # noqa: BLE001  whatever a model raises, the next batch must find a policy
        value, error = None, reason(why)
    return error, value, time.perf_counter() - start


def reason(error: Exception) -> str:
    """Return an error in words: our own as they are, others with their type."""
    return str(error) if isinstance(error, OpenralError) else f"{type(error).__name__}: {error}"


class PolicyLink:
    """A worker's policy (see `TimedPolicy`): it only asks."""

    def __init__(self, ask: Ask) -> None:
        self.elapsed_s = 0.0
        self._ask = ask

    def reset(self, episodes: Sequence[str]) -> None:
        """See Policy.reset. Raises as `predict`."""
        self._call("reset", list(episodes))

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """See Policy.predict.

        Raises:
            PolicyLost: its process ended.
            PolicyTimedOut: it did not answer in time.
            PolicyError: it refused.
        """
        chunks: NDArray[np.float32] = self._call("predict", batch)
        return chunks

    def close(self) -> None:
        """Leave the policy to the others."""

    def _call(self, operation: Operation, data: Any) -> Any:
        error, value, self.elapsed_s = self._ask(operation, data)
        if error:
            raise PolicyError(error)
        return value
