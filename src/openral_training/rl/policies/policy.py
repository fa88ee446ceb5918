"""The interface of policies: sample actions, evaluate their log-probabilities, and act greedily."""

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
    """Sampled actions for B observations."""

    actions: NDArray[np.float32]
    """(B, C, A) for the simulator, each within -1..1."""
    tokens: NDArray[np.float32]
    """(B, C, A) the samples: indices of bins, or numbers before they are clipped to -1..1."""
    logprobs: NDArray[np.float32]
    """(B, C, A) of each token under the distribution that it was drawn from."""
    values: NDArray[np.float32]
    """(B, V) of the critic; V is C for rewards of control steps and 1 for rewards of chunks."""


@dataclass(frozen=True)
class PolicyEvaluation:
    """A policy's distributions and critic, evaluated at given decisions; its tensors have gradients."""

    logprobs: Tensor
    """(B, C, A)"""
    entropy: Tensor
    """(B, C, A) [nat] of the distribution of each token."""
    values: Tensor
    """(B, V)"""


class StochasticPolicy(Protocol):
    """A policy whose noise is an argument, so that an episode does not depend on the batch in which it is run."""

    chunk: int
    """C, control steps of one decision."""
    action_dim: int
    """A, the length of an action."""
    value_width: int
    """V, the number of the critic's values."""

    @property
    def network(self) -> nn.Module:
        """All parameters that are trained and saved."""
        ...

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the actor."""
        ...

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the critic."""
        ...

    def sample(self, observations: NDArray[Any], noise: NDArray[np.float32]) -> Decision:
        """Sample actions.

        Args:
            observations: (B, D) as an ObservationEncoder returns them: numbers, or pixels.
            noise: (B, C, A) standard normal numbers, which determine the tokens.
        """
        ...

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Evaluate `tokens` (B, C, A) after `observations` (B, D) under the distribution of `sample`."""
        ...

    def values(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the critic's values (B, V)."""
        ...

    def greedy(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the likeliest actions (B, C, A)."""
        ...

    def save(self, path: Path) -> None:
        """Write the policy to `path`, which is a file or a folder, depending on the kind of policy."""
        ...


def to_numpy(tensor: Tensor) -> NDArray[np.float32]:
    """Return a tensor as a float32 array in the host's memory, detached from the graph."""
    array: NDArray[np.float32] = tensor.detach().float().cpu().numpy()
    return array
