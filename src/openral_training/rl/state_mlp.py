"""A policy on a vector of numbers: two small networks, one that acts and one that expects.

Two heads: `bins` cuts each number of an action into K values and gives each a probability, as VLA models with action
tokens do; `gaussian` gives each a mean and a spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_core.schema import Count, Schema
from openral_training.rl.policy import Decision, Judgement

_NORMAL_CLIP = 1e-6
"""Quantiles nearer to 0 or 1 are taken for this near."""


class MlpConfig(Schema):
    """Shape of the networks."""

    head: Literal["bins", "gaussian"] = "bins"
    """How an action is drawn, see the module."""
    bins: Annotated[int, Field(ge=2)] = 33
    """K values from -1 to 1, both included, of the head `bins`."""
    initial_log_std: float = -0.5
    """Natural logarithm of the spread with which the head `gaussian` begins."""
    chunk: Count = 4
    """C"""
    hidden: Count = 256
    """Width of both hidden layers."""


class MlpShape(MlpConfig):
    """Shape of the networks, with what the world decides."""

    observation_dim: Count
    """D"""
    action_dim: Count
    """A"""
    value_width: Count
    """V"""


class MlpNetwork(nn.Module):
    """The tensors of a `StateMlp`."""

    mean: Tensor
    std: Tensor

    def __init__(self, shape: MlpShape) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(shape.observation_dim))
        self.register_buffer("std", torch.ones(shape.observation_dim))
        tokens = shape.chunk * shape.action_dim
        outputs = tokens * (shape.bins if shape.head == "bins" else 1)
        self.actor = _layers(shape.observation_dim, shape.hidden, outputs, 0.01)
        self.critic = _layers(shape.observation_dim, shape.hidden, shape.value_width, 1.0)
        self.log_std = nn.Parameter(torch.full((tokens,), shape.initial_log_std))

    def normalised(self, observations: Tensor) -> Tensor:
        """Return observations (B, D) in units of the demonstrations' spread, outliers cut off."""
        return ((observations - self.mean) / self.std).clamp(-5, 5)


def _layers(inputs: int, hidden: int, outputs: int, gain: float) -> nn.Sequential:
    """Return a network of two hidden layers, orthogonal as is usual for PPO (Andrychowicz et al., arXiv:2006.05990)."""
    layers = [nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)]
    for layer, scale in zip(layers, (math.sqrt(2), math.sqrt(2), gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


class StateMlp:
    """See `policy.StochasticPolicy`."""

    def __init__(self, shape: MlpShape, temperature: float = 1.0) -> None:
        """Make fresh networks from torch's generator.

        Args:
            shape: of them.
            temperature: > 0; spreads what is sampled (and what is judged) without touching what is likeliest.
        """
        self.shape = shape
        self.chunk, self.action_dim, self.value_width = shape.chunk, shape.action_dim, shape.value_width
        self.network = MlpNetwork(shape)
        self.temperature = temperature

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """See StochasticPolicy."""
        yield from self.network.actor.parameters()
        if self.shape.head == "gaussian":
            yield self.network.log_std

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """See StochasticPolicy."""
        yield from self.network.critic.parameters()

    @torch.no_grad()
    def sample(self, observations: NDArray[np.float32], noise: NDArray[np.float32]) -> Decision:
        """See StochasticPolicy."""
        seen = self.network.normalised(torch.from_numpy(observations))
        output = self.network.actor(seen)
        tokens = self._draw(output, torch.from_numpy(noise))
        logprobs, _ = self._judge(output, tokens)
        values = self.network.critic(seen)
        return Decision(self._actions(tokens), tokens.numpy(), logprobs.numpy(), values.numpy())

    def evaluate(self, observations: Tensor, tokens: Tensor) -> Judgement:
        """See StochasticPolicy."""
        seen = self.network.normalised(observations)
        return Judgement(*self._judge(self.network.actor(seen), tokens), self.network.critic(seen))

    @torch.no_grad()
    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """See StochasticPolicy."""
        found: NDArray[np.float32] = self.network.critic(
            self.network.normalised(torch.from_numpy(observations))
        ).numpy()
        return found

    @torch.no_grad()
    def greedy(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """See StochasticPolicy."""
        output = self.network.actor(self.network.normalised(torch.from_numpy(observations)))
        if self.shape.head == "bins":
            return self._actions(self._bin_logs(output).argmax(-1).float())
        return self._actions(self._gaussian(output)[0])

    def tokens_of(self, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the tokens (..., C, A) that stand for actions (..., C, A), for cloning."""
        if self.shape.head == "gaussian":
            return actions
        return np.rint((np.clip(actions, -1, 1) + 1) / 2 * (self.shape.bins - 1)).astype(np.float32)

    def _judge(self, output: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and entropies (B, C, A) of tokens under the actor's output."""
        if self.shape.head == "bins":
            logs = self._bin_logs(output)
            chosen = logs.gather(-1, tokens.long()[..., None]).squeeze(-1)
            return chosen, -(logs.exp() * logs).sum(-1)
        normal = torch.distributions.Normal(*self._gaussian(output))
        return normal.log_prob(tokens), normal.entropy()  # type: ignore[no-untyped-call]

    def _draw(self, output: Tensor, noise: Tensor) -> Tensor:
        """Turn normal numbers into tokens: by the inverse of the cumulated distribution, so that near gives near."""
        if self.shape.head == "gaussian":
            mean, std = self._gaussian(output)
            return mean + std * noise
        below = self._bin_logs(output).exp().cumsum(-1)
        quantile = torch.special.ndtr(noise).clamp(_NORMAL_CLIP, 1 - _NORMAL_CLIP)[..., None]
        # Rounding leaves the last sum a little off 1.
        return (below < quantile * below[..., -1:]).sum(-1).float()

    def _actions(self, tokens: Tensor) -> NDArray[np.float32]:
        if self.shape.head == "bins":
            tokens = tokens * (2 / (self.shape.bins - 1)) - 1
        actions: NDArray[np.float32] = tokens.clamp(-1, 1).numpy()
        return actions

    def _bin_logs(self, output: Tensor) -> Tensor:
        """Return log-probabilities (B, C, A, K)."""
        logits = output.view(-1, self.chunk, self.action_dim, self.shape.bins) / self.temperature
        return logits.log_softmax(-1)

    def _gaussian(self, output: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation (B, C, A)."""
        mean = output.view(-1, self.chunk, self.action_dim)
        std = self.network.log_std.exp().view(self.chunk, self.action_dim) * self.temperature
        return mean, std.expand_as(mean)

    def save(self, path: Path) -> None:
        """Write the networks and their shape as one safetensors file, as whole or not at all."""
        partial = path.with_suffix(".partial")
        path.parent.mkdir(parents=True, exist_ok=True)
        tensors = {name: value.contiguous() for name, value in self.network.state_dict().items()}
        save_file(tensors, partial, {"shape": self.shape.model_dump_json()})
        partial.replace(path)


def load_state_mlp(path: Path, temperature: float = 1.0) -> StateMlp:
    """Return the policy that `StateMlp.save` wrote.

    Raises:
        PolicyError: there is none, or it is something else.
    """
    try:
        with safe_open(path, "pt") as file:
            shape = MlpShape.model_validate_json(file.metadata()["shape"])
        policy = StateMlp(shape, temperature)
        policy.network.load_state_dict(load_file(path))
    except (OSError, SafetensorError, TypeError, KeyError, ValueError, RuntimeError) as error:
        raise PolicyError(
            f"{path}: not a state policy ({error}); `openral train rl` writes such files"
        ) from error
    return policy
