"""A `mini` skill that learns: its own head as the mean of a bell curve, and a critic on what its trunks see.

The trunks stay as they are (see `mini_features`), so an observation here is what the head acts on. What comes
out is an ordinary skill again: the same form, other numbers in the head.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_core.schema import Count, Finite, Schema, Word
from openral_policy_nodes.families.mini.policy import load_mini
from openral_rskill.registry import RSkillPackage
from openral_training.rl.policies.heads import GaussianHead
from openral_training.rl.policies.mini_skill import write_mini_skill
from openral_training.rl.policies.policy import Decision, PolicyEvaluation, to_numpy


class MiniActorConfig(Schema):
    """A skill of the family `mini` to begin with."""

    model_type: Literal["mini"] = "mini"
    """Which policy."""
    model_path: Word
    """Reference of the skill."""
    chunk: Count = 8
    """C, actions of each of the skill's chunks that are executed before it looks again."""
    initial_log_std: Finite = -1.6
    """Natural logarithm of the spread with which it begins to explore; of commands, which go from -1 to 1."""
    hidden: Count = 256
    """Width of the critic's hidden layers."""


class MiniActorNetwork(nn.Module):
    """What of a `MiniActor` is learnt."""

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
        """Take a skill's head; the critic is fresh, from torch's generator.

        Args:
            package: the skill; it stays as it is.
            config: how it explores.
            tasks: that it learns.
            value_width: V
            temperature: > 0; see `state_mlp.StateMlp`.

        Raises:
            PolicyError: there is no such checkpoint, or the skill's chunks are shorter than what is to be executed.
        """
        skill = load_mini(package.weights_path().parent)
        if skill.config.scaled:
            raise PolicyError(
                f"{package.manifest.name}: its actions are not commands within -1..1, and RL explores those; "
                "begin with a skill of commands"
            )
        if config.chunk > skill.config.chunk_size:
            raise PolicyError(
                f"actor.model.chunk is {config.chunk}, the skill gives {skill.config.chunk_size} actions at once; "
                "take fewer"
            )
        self.chunk, self.action_dim, self.value_width = config.chunk, skill.config.action_dim, value_width
        self._package, self._tasks, self._skill = package, tuple(tasks), skill
        spread = GaussianHead(config.initial_log_std, self.chunk, self.action_dim, temperature)
        self.network = MiniActorNetwork(
            copy.deepcopy(skill.head), spread, skill.width, config.hidden, value_width
        )

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the actor's loss moves."""
        yield from self.network.head.parameters()
        yield from self.network.spread.parameters()

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the critic's loss moves."""
        yield from self.network.critic.parameters()

    @torch.no_grad()
    def sample(self, observations: NDArray[np.float32], noise: NDArray[np.float32]) -> Decision:
        """Act by chance."""
        seen = self._see(observations)
        mean = self._mean(seen)
        tokens = self.network.spread.draw(mean, self._see(noise))
        logprobs, _ = self.network.spread.evaluate(mean, tokens)
        made = self.network.spread.actions(tokens), tokens, logprobs, self.network.critic(seen)
        return Decision(*(to_numpy(tensor) for tensor in made))

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Return how likely tokens were, their entropy, and values."""
        evaluation = self.network.spread.evaluate(self._mean(observations), tokens)
        return PolicyEvaluation(*evaluation, self.network.critic(observations))

    @torch.no_grad()
    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return (B, V) expected returns."""
        return to_numpy(self.network.critic(self._see(observations)))

    @torch.no_grad()
    def greedy(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the likeliest actions (B, C, A)."""
        return to_numpy(self._mean(self._see(observations)))

    def save(self, path: Path) -> None:
        """Write the skill as it is now into a folder.

        Its files hold fewer digits than a policy learns with. The policy takes them back, so what is judged from here
        on is what was written.
        """
        self._skill.head.load_state_dict(self.network.head.state_dict())
        write_mini_skill(path, self._package, self._skill, self._tasks, self.chunk)
        self.network.head.load_state_dict(load_mini(path).head.state_dict())

    def _mean(self, features: Tensor) -> Tensor:
        """Return (B, C, A) within -1..1: the first C actions of the skill's chunk."""
        chunk: Tensor = torch.tanh(self.network.head(features))
        return chunk.view(len(features), -1, self.action_dim)[:, : self.chunk].contiguous()

    def _see(self, numbers: NDArray[np.float32]) -> Tensor:
        return torch.from_numpy(numbers).to(self.network.spread.log_std.device)
