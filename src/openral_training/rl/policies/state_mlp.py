"""A policy on a state vector: an actor and a critic, two small networks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_core.schema import Count
from openral_rskill.weights_writing import replaced_weights
from openral_training.rl.policies.heads import BinHead, GaussianHead, Head
from openral_training.rl.policies.policy import Decision, PolicyEvaluation, to_numpy
from openral_training.rl.settings.initial_model import MlpConfig

_OUTLIER = 5.0
"""Absolute value, in standard deviations, at which normalised observations are clipped."""


class MlpShape(MlpConfig):
    """Shape of the networks, with the dimensions that depend on the environment."""

    observation_dim: Count
    """D, the length of an observation."""
    action_dim: Count
    """A, the length of an action."""
    value_width: Count
    """V, the number of the critic's values."""


class MlpNetwork(nn.Module):
    """The tensors of a `StateMlp`."""

    mean: Tensor
    std: Tensor

    def __init__(self, shape: MlpShape, head: Head) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(shape.observation_dim))
        self.register_buffer("std", torch.ones(shape.observation_dim))
        outputs = shape.chunk * shape.action_dim * head.width
        self.actor = _layers(shape.observation_dim, shape.hidden, outputs, 0.01)
        self.critic = _layers(shape.observation_dim, shape.hidden, shape.value_width, 1.0)
        self.head = head if isinstance(head, nn.Module) else nn.Identity()

    def normalised(self, observations: Tensor) -> Tensor:
        """Return observations (B, D) minus the demonstrations' mean, divided by their standard deviation, clipped."""
        return ((observations - self.mean) / self.std).clamp(-_OUTLIER, _OUTLIER)


def _layers(inputs: int, hidden: int, outputs: int, gain: float) -> nn.Sequential:
    """Return a network of two hidden layers with orthogonal initialisation (Andrychowicz et al., arXiv:2006.05990)."""
    layers = [nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)]
    for layer, scale in zip(layers, (math.sqrt(2), math.sqrt(2), gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


class StateMlp:
    """A StochasticPolicy that acts on the state."""

    def __init__(self, shape: MlpShape, temperature: float = 1.0) -> None:
        """Initialise the networks from torch's generator.

        Args:
            shape: of the networks.
            temperature: > 0, of the distributions in `sample` and `evaluate`; `greedy` does not depend on it.
        """
        self.shape = shape
        self.chunk, self.action_dim, self.value_width = shape.chunk, shape.action_dim, shape.value_width
        self.head: Head = (
            BinHead(shape.bins, shape.chunk, shape.action_dim, temperature)
            if shape.bins is not None
            else GaussianHead(shape.initial_log_std or 0.0, shape.chunk, shape.action_dim, temperature)
        )
        self.network = MlpNetwork(shape, self.head)

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the actor."""
        yield from self.network.actor.parameters()
        yield from self.network.head.parameters()

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the critic."""
        yield from self.network.critic.parameters()

    @torch.no_grad()
    def sample(self, observations: NDArray[np.float32], noise: NDArray[np.float32]) -> Decision:
        """Sample actions; see `StochasticPolicy.sample`."""
        inputs = self._normalised(observations)
        output: Tensor = self.network.actor(inputs)
        tokens = self.head.sample(output, torch.from_numpy(noise).to(output.device))
        logprobs, _ = self.head.evaluate(output, tokens)
        decision = self.head.actions(tokens), tokens, logprobs, self.network.critic(inputs)
        return Decision(*(to_numpy(tensor) for tensor in decision))

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Return log-probabilities of tokens, entropies, and values."""
        inputs = self.network.normalised(observations)
        return PolicyEvaluation(
            *self.head.evaluate(self.network.actor(inputs), tokens), self.network.critic(inputs)
        )

    @torch.no_grad()
    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the critic's values (B, V)."""
        return to_numpy(self.network.critic(self._normalised(observations)))

    @torch.no_grad()
    def greedy(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the likeliest actions (B, C, A)."""
        tokens = self.head.mode(self.network.actor(self._normalised(observations)))
        return to_numpy(self.head.actions(tokens))

    def save(self, path: Path) -> None:
        """Write the networks and their shape as one safetensors file, which is replaced atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        tensors = {name: value.contiguous() for name, value in self.network.state_dict().items()}
        with replaced_weights(path) as partial:
            save_file(tensors, partial, {"shape": self.shape.model_dump_json()})

    def _normalised(self, observations: NDArray[np.float32]) -> Tensor:
        return self.network.normalised(torch.from_numpy(observations).to(self.network.mean.device))


def load_state_mlp(path: Path, temperature: float = 1.0) -> StateMlp:
    """Return the policy that `StateMlp.save` wrote.

    Args:
        path: of the file.
        temperature: see StateMlp.

    Raises:
        PolicyError: there is no such file, or it is not of this form.
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
