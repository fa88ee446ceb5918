"""A `mini` skill as a policy: its head is the mean of a Gaussian, and a critic is added on the features of its trunks.

The trunks are frozen (see `mini_features`), so an observation is the input of the head. The result is an ordinary skill
that differs in the weights of the head.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_policy_nodes.families.mini.network import likeliest, proposed
from openral_policy_nodes.families.mini.policy import load_mini
from openral_rskill.registry import RSkillPackage
from openral_training.rl.policies.heads import GaussianHead
from openral_training.rl.policies.mini_export import write_mini_skill
from openral_training.rl.policies.policy import Decision, PolicyEvaluation, to_numpy
from openral_training.rl.settings.initial_model import MiniActorConfig


class MiniActorNetwork(nn.Module):
    """The parameters of a `MiniActor` that are trained."""

    def __init__(
        self, head: nn.Module, spread: GaussianHead, features: int, hidden: int, values: int
    ) -> None:
        super().__init__()
        self.head, self.spread = head, spread
        self.critic = nn.Sequential(
            nn.LayerNorm(features),
            nn.Linear(features, hidden),
            nn.Tanh(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, values),
        )


class MiniActor:
    """A StochasticPolicy that acts on the observations (B, F) of `MiniFeatures`."""

    def __init__(
        self,
        package: RSkillPackage,
        config: MiniActorConfig,
        *,
        tasks: Sequence[str],
        value_width: int,
        temperature: float,
    ) -> None:
        """Copy a skill's head; the critic is initialised from torch's generator.

        Args:
            package: the skill; its files are not changed.
            config: chunk, initial standard deviation, critic.
            tasks: of the run.
            value_width: V, the number of the critic's values.
            temperature: > 0; see `state_mlp.StateMlp`.

        Raises:
            PolicyError: there is no such checkpoint, the skill's actions are not within -1..1, or its chunks are
                shorter than `config.chunk`.
        """
        skill = load_mini(package.weights_path().parent)
        if skill.config.scaled:
            raise PolicyError(
                f"actor.model.model_path: {package.manifest.name} has actions that are not within -1..1, which "
                "exploration needs; take a skill whose actions are"
            )
        if config.chunk > skill.config.chunk_size:
            raise PolicyError(
                f"actor.model.chunk: is {config.chunk}, and {package.manifest.name} predicts "
                f"{skill.config.chunk_size} actions at once; set it to at most so many"
            )
        self.chunk, self.action_dim, self.value_width = config.chunk, skill.config.action_dim, value_width
        self._package, self._tasks, self._skill = package, tuple(tasks), skill
        spread = GaussianHead(config.initial_log_std, self.chunk, self.action_dim, temperature)
        self.network = MiniActorNetwork(
            copy.deepcopy(skill.head), spread, skill.width, config.hidden, value_width
        )

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the actor."""
        yield from self.network.head.parameters()
        yield from self.network.spread.parameters()

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the critic."""
        yield from self.network.critic.parameters()

    @torch.no_grad()
    def sample(self, observations: NDArray[np.float32], noise: NDArray[np.float32]) -> Decision:
        """Sample actions; see `StochasticPolicy.sample`."""
        features = self._tensor(observations)
        mean = self._mean(features)
        tokens = self.network.spread.sample(mean, self._tensor(noise))
        logprobs, _ = self.network.spread.evaluate(mean, tokens)
        decision = self.network.spread.actions(tokens), tokens, logprobs, self.network.critic(features)
        return Decision(*(to_numpy(tensor) for tensor in decision))

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Return log-probabilities of tokens, entropies, and values."""
        evaluation = self.network.spread.evaluate(self._mean(observations), tokens)
        return PolicyEvaluation(*evaluation, self.network.critic(observations))

    @torch.no_grad()
    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the critic's values (B, V)."""
        return to_numpy(self.network.critic(self._tensor(observations)))

    @torch.no_grad()
    def greedy(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the likeliest actions (B, C, A)."""
        return to_numpy(self._mean(self._tensor(observations)))

    def save(self, path: Path) -> None:
        """Write the current skill into a folder.

        The file stores weights with a lower precision than the memory. The policy loads the file afterwards, so that
        later evaluations are those of the written skill.
        """
        self._skill.head.load_state_dict(self.network.head.state_dict())
        write_mini_skill(path, self._package, self._skill, self._tasks, self.chunk)
        self.network.head.load_state_dict(load_mini(path).head.state_dict())

    def _mean(self, features: Tensor) -> Tensor:
        """Return (B, C, A) within -1..1: the first C actions of the skill's chunk."""
        chunk = likeliest(*proposed(self.network.head(features), self._skill.config))
        return chunk[:, : self.chunk].contiguous()

    def _tensor(self, numbers: NDArray[np.float32]) -> Tensor:
        return torch.from_numpy(numbers).to(self.network.spread.log_std.device)
