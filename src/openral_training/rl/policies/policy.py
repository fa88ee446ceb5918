"""What reinforcement learning asks of a policy: to act by chance, to say how likely it was, and to act at its best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn


@dataclass(frozen=True)
class Decision:
    """What a policy did about B observations."""

    actions: NDArray[np.float32]
    """(B, C, A) for the simulator, each within -1..1."""
    tokens: NDArray[np.float32]
    """(B, C, A) what was sampled: indices of bins, or numbers before they were cut off."""
    logprobs: NDArray[np.float32]
    """(B, C, A) of each token under the distribution that it was drawn from."""
    values: NDArray[np.float32]
    """(B, V) expected return; V is C for rewards of control steps and 1 for rewards of chunks."""


@dataclass(frozen=True)
class PolicyEvaluation:
    """What a policy thinks of decisions that were taken; carries gradients."""

    logprobs: Tensor
    """(B, C, A)"""
    entropy: Tensor
    """(B, C, A) [nat] of the distribution of each token."""
    values: Tensor
    """(B, V)"""


class StochasticPolicy(Protocol):
    """A policy whose chance is handed to it, so that an episode goes the same way in whatever batch it is run."""

    chunk: int
    """C"""
    action_dim: int
    """A"""
    value_width: int
    """V"""

    @property
    def network(self) -> nn.Module:
        """All that is learnt and saved."""
        ...

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the actor's loss moves."""
        ...

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the critic's loss moves; nothing where there is no critic."""
        ...

    def sample(self, observations: NDArray[Any], noise: NDArray[np.float32]) -> Decision:
        """Act by chance.

        Args:
            observations: (B, D) as an ObservationEncoder gives them: numbers, or pixels.
            noise: (B, C, A) standard normal numbers; the same ones bring the same tokens.
        """
        ...

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Say how likely `tokens` (B, C, A) were after `observations` (B, D), under the distribution of `sample`."""
        ...

    def values(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return (B, V) expected returns."""
        ...

    def greedy(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the likeliest actions (B, C, A)."""
        ...

    def save(self, path: Path) -> None:
        """Write it as the file or folder `path`, as whole or not at all."""
        ...


def to_numpy(tensor: Tensor) -> NDArray[np.float32]:
    """Return a tensor as float32 in the host's memory, without its gradient."""
    found: NDArray[np.float32] = tensor.detach().float().cpu().numpy()
    return found
