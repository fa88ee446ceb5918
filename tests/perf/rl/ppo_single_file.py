"""PPO in one file, as one writes it to learn it: the yardstick for an update's time.

The update of Huang et al., "The 37 Implementation Details of Proximal Policy Optimization" (ICLR blog track 2022), for
numbers: shuffled minibatches, normalised advantages, both clips, entropy, the norm of the gradient, early stop off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn


class Agent(nn.Module):
    """Two networks of two hidden layers and a spread that does not depend on what is seen."""

    def __init__(self, observation_dim: int, action_dim: int, hidden: int, value_width: int) -> None:
        super().__init__()

        def layers(outputs: int) -> nn.Sequential:
            first, second = nn.Linear(observation_dim, hidden), nn.Linear(hidden, hidden)
            return nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), nn.Linear(hidden, outputs))

        self.actor, self.critic = layers(action_dim), layers(value_width)
        self.log_std = nn.Parameter(torch.zeros(1, action_dim))

    def evaluate(self, observations: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean = self.actor(observations)
        normal = torch.distributions.Normal(mean, self.log_std.exp().expand_as(mean))
        return normal.log_prob(actions).sum(1), normal.entropy().sum(1), self.critic(observations)


@dataclass
class Batch:
    """N steps."""

    observations: Tensor
    actions: Tensor
    logprobs: Tensor
    advantages: Tensor
    returns: Tensor
    values: Tensor


def update(
    agent: Agent,
    optimiser: torch.optim.Optimizer,
    batch: Batch,
    rng: np.random.Generator,
    *,
    passes: int,
    size: int,
    clip: float = 0.2,
    entropy_weight: float = 0.01,
    value_weight: float = 0.5,
    most_norm: float = 0.5,
) -> dict[str, float]:
    clipped_shares = []
    order = np.arange(len(batch.observations))
    for _ in range(passes):
        rng.shuffle(order)
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            logprobs, entropy, values = agent.evaluate(batch.observations[rows], batch.actions[rows])
            log_ratio = logprobs - batch.logprobs[rows]
            ratio = log_ratio.exp()
            with torch.no_grad():
                old_kl = (-log_ratio).mean()
                kl = ((ratio - 1) - log_ratio).mean()
                clipped_shares.append(((ratio - 1.0).abs() > clip).float().mean().item())
            advantages = batch.advantages[rows]
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            policy_loss = torch.max(-advantages * ratio, -advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
            returns, before = batch.returns[rows], batch.values[rows]
            moved = before + (values - before).clamp(-clip, clip)
            value_loss = 0.5 * torch.max((values - returns) ** 2, (moved - returns) ** 2).mean()
            loss = policy_loss - entropy_weight * entropy.mean() + value_weight * value_loss
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), most_norm)
            optimiser.step()
    spread = batch.returns.var()
    explained = float("nan") if spread == 0 else 1 - ((batch.returns - batch.values).var() / spread).item()
    return {
        "value_loss": value_loss.item(),
        "policy_loss": policy_loss.item(),
        "entropy": entropy.mean().item(),
        "old_approx_kl": old_kl.item(),
        "approx_kl": kl.item(),
        "clip_fraction": float(np.mean(clipped_shares)),
        "explained_variance": explained,
    }
