"""How the numbers that a network puts out become a distribution over one token each: bins, or a bell curve.

Outputs have the shape (B, C·A·W): W numbers a token. Noise is standard normal and decides what is drawn.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

_EDGE = 1e-6
"""Quantiles nearer to 0 or 1 are taken for this near."""


class Head(Protocol):
    """A distribution for each of C·A tokens."""

    width: int
    """W"""

    def draw(self, output: Tensor, noise: Tensor) -> Tensor:
        """Return tokens (B, C, A) for noise (B, C, A); the tokens grow with the noise."""
        ...

    def best(self, output: Tensor) -> Tensor:
        """Return the likeliest tokens (B, C, A)."""
        ...

    def judge(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and entropies [nat] (B, C, A)."""
        ...

    def actions(self, tokens: Tensor) -> Tensor:
        """Return actions (B, C, A), within -1..1, that tokens stand for."""
        ...

    def tokens(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the tokens that stand for actions of the same shape."""
        ...


class BinHead:
    """K values from -1 to 1 for each number, each with a probability, as VLA models with action tokens have them."""

    def __init__(self, bins: int, chunk: int, action_dim: int, temperature: float) -> None:
        self.width, self._shape, self._temperature = bins, (-1, chunk, action_dim, bins), temperature

    def draw(self, output: Tensor, noise: Tensor) -> Tensor:
        """See Head: through the inverse of the cumulated distribution, so that near noise gives near actions."""
        below = self._logs(output).exp().cumsum(-1)
        quantile = torch.special.ndtr(noise).clamp(_EDGE, 1 - _EDGE)[..., None]
        # Rounding leaves the last sum a little off 1.
        passed: Tensor = below < quantile * below[..., -1:]
        return passed.sum(-1).float()

    def best(self, output: Tensor) -> Tensor:
        """See Head."""
        return self._logs(output).argmax(-1).float()

    def judge(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """See Head."""
        logs = self._logs(output)
        chosen = logs.gather(-1, tokens.long()[..., None]).squeeze(-1)
        return chosen, -(logs.exp() * logs).sum(-1)

    def actions(self, tokens: Tensor) -> Tensor:
        """See Head."""
        return tokens * (2 / (self.width - 1)) - 1

    def tokens(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """See Head: the nearest bins."""
        return np.rint((np.clip(actions, -1, 1) + 1) / 2 * (self.width - 1)).astype(np.float32)

    def _logs(self, output: Tensor) -> Tensor:
        """Return log-probabilities (B, C, A, K)."""
        return (output.view(self._shape) / self._temperature).log_softmax(-1)


class GaussianHead(nn.Module):
    """A bell curve for each number; its spread is learnt, but does not depend on what is seen."""

    width = 1

    def __init__(self, log_std: float, chunk: int, action_dim: int, temperature: float) -> None:
        super().__init__()
        self._temperature = temperature
        self.log_std = nn.Parameter(torch.full((chunk, action_dim), log_std))

    def draw(self, output: Tensor, noise: Tensor) -> Tensor:
        """See Head."""
        mean, std = self._moments(output)
        return mean + std * noise

    def best(self, output: Tensor) -> Tensor:
        """See Head."""
        return self._moments(output)[0]

    def judge(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """See Head."""
        normal = torch.distributions.Normal(*self._moments(output))
        return normal.log_prob(tokens), normal.entropy()  # type: ignore[no-untyped-call]

    def actions(self, tokens: Tensor) -> Tensor:
        """See Head."""
        return tokens.clamp(-1, 1)

    def tokens(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """See Head."""
        return actions

    def _moments(self, output: Tensor) -> tuple[Tensor, Tensor]:
        mean = output.view(-1, *self.log_std.shape)
        return mean, (self.log_std.exp() * self._temperature).expand_as(mean)
