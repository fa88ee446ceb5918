"""Heads: the outputs of a network as one distribution per token, categorical over bins or Gaussian.

Outputs have the shape (B, C·A·W), with W numbers per token. Samples are determined by standard normal noise.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

_MIN_QUANTILE = 1e-6
"""Quantiles are clipped to the interval from this to 1 minus this."""


class Head(Protocol):
    """A distribution for each of C·A tokens."""

    width: int
    """W, numbers per token."""

    def sample(self, output: Tensor, noise: Tensor) -> Tensor:
        """Return tokens (B, C, A) for noise (B, C, A); each token is a monotonic function of its noise."""
        ...

    def mode(self, output: Tensor) -> Tensor:
        """Return the likeliest tokens (B, C, A)."""
        ...

    def evaluate(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and entropies [nat] (B, C, A)."""
        ...

    def actions(self, tokens: Tensor) -> Tensor:
        """Return the actions (B, C, A), within -1..1, of tokens."""
        ...

    def tokens(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the tokens of actions, of the same shape."""
        ...


class BinHead:
    """A categorical distribution over K equally spaced values from -1 to 1 for each number of an action."""

    def __init__(self, bins: int, chunk: int, action_dim: int, temperature: float) -> None:
        self.width, self._shape, self._temperature = bins, (-1, chunk, action_dim, bins), temperature

    def sample(self, output: Tensor, noise: Tensor) -> Tensor:
        """Return tokens by inverse transform sampling, so that correlated noise gives correlated actions."""
        below = self._log_probabilities(output).exp().cumsum(-1)
        quantile = torch.special.ndtr(noise).clamp(_MIN_QUANTILE, 1 - _MIN_QUANTILE)[..., None]
        # The last cumulative sum is 1 only up to rounding.
        passed: Tensor = below < quantile * below[..., -1:]
        return passed.sum(-1).float()

    def mode(self, output: Tensor) -> Tensor:
        """Return the likeliest tokens."""
        return self._log_probabilities(output).argmax(-1).float()

    def evaluate(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of each token and the entropy of its distribution."""
        all_tokens = self._log_probabilities(output)
        chosen = all_tokens.gather(-1, tokens.long()[..., None]).squeeze(-1)
        return chosen, -(all_tokens.exp() * all_tokens).sum(-1)

    def actions(self, tokens: Tensor) -> Tensor:
        """Return the actions of tokens."""
        return tokens * (2 / (self.width - 1)) - 1

    def tokens(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the nearest bins of actions."""
        return np.rint((np.clip(actions, -1, 1) + 1) / 2 * (self.width - 1)).astype(np.float32)

    def _log_probabilities(self, output: Tensor) -> Tensor:
        """Return log-probabilities (B, C, A, K)."""
        return (output.view(self._shape) / self._temperature).log_softmax(-1)


class GaussianHead(nn.Module):
    """A Gaussian for each number of an action; its standard deviation is trained and independent of the observation."""

    width = 1

    def __init__(self, log_std: float, chunk: int, action_dim: int, temperature: float) -> None:
        super().__init__()
        self._temperature = temperature
        self.log_std = nn.Parameter(torch.full((chunk, action_dim), log_std))

    def sample(self, output: Tensor, noise: Tensor) -> Tensor:
        """Return the mean plus the noise times the standard deviation."""
        mean, std = self._mean_and_std(output)
        return mean + std * noise

    def mode(self, output: Tensor) -> Tensor:
        """Return the likeliest tokens."""
        return self._mean_and_std(output)[0]

    def evaluate(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of each token and the entropy of its distribution."""
        # Non-finite numbers are reported by `Learner`, which knows the number of the update.
        normal = torch.distributions.Normal(*self._mean_and_std(output), validate_args=False)
        return normal.log_prob(tokens), normal.entropy()  # type: ignore[no-untyped-call]

    def actions(self, tokens: Tensor) -> Tensor:
        """Return the actions of tokens."""
        return tokens.clamp(-1, 1)

    def tokens(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the actions, which are tokens already."""
        return actions

    def _mean_and_std(self, output: Tensor) -> tuple[Tensor, Tensor]:
        mean = output.view(-1, *self.log_std.shape)
        return mean, (self.log_std.exp() * self._temperature).expand_as(mean)
