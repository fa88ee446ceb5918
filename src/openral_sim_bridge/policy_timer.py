"""Timing of a policy's inference, for the rows of a rollout."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.types import Policy, PolicyBatch


class TimedPolicy(Policy, Protocol):
    """A policy that reports the duration of its inference."""

    @property
    def elapsed_s(self) -> float:
        """[s] duration of the last `predict`, without the time that it waited for other processes."""
        ...


class Stopwatch:
    """Times a policy of this process."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.elapsed_s = 0.0

    def reset(self, episodes: Sequence[str]) -> None:
        """Discard the policy's memory of these episodes; called before the first `predict` of each goal or episode."""
        self._policy.reset(episodes)

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract."""
        start = time.perf_counter()
        chunks = self._policy.predict(batch)
        self.elapsed_s = time.perf_counter() - start
        return chunks

    def close(self) -> None:
        """Free the policy's resources; call it once."""
        self._policy.close()
