"""One update of a policy: a few passes over its experience, read top to bottom."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from openral_training.rl.algorithm.experience import Experience
from openral_training.rl.algorithm.losses import Clip, actor_loss, critic_loss, kl_estimate, weighted_mean
from openral_training.rl.algorithm.metrics import actor_metrics, critic_metrics, mean_of
from openral_training.rl.algorithm.reductions import reduce_logprobs, reduce_weights
from openral_training.rl.policies.policy import Judgement, StochasticPolicy
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo

Evaluate = Callable[[Tensor, Tensor], Judgement]
"""See `StochasticPolicy.evaluate`."""


class Learner:
    """A policy, its optimiser, and the policy that it began with."""

    def __init__(
        self,
        policy: StochasticPolicy,
        config: Grpo | Ppo,
        optim: Optim,
        batch_size: int,
        evaluate: Evaluate | None = None,
    ) -> None:
        """Begin.

        Args:
            policy: is changed in place.
            config: the algorithm.
            optim: learning rates.
            batch_size: decisions of one optimiser step.
            evaluate: how the policy judges a minibatch; absent: by itself, see `team` for the other way.
        """
        self._evaluate = evaluate or policy.evaluate
        self.policy, self._config, self._optim, self._batch_size = policy, config, optim, batch_size
        groups = [{"params": list(policy.actor_parameters()), "lr": optim.lr}]
        if optim.value_lr is not None:
            groups.append({"params": list(policy.critic_parameters()), "lr": optim.value_lr})
        self.optimiser = torch.optim.Adam(groups)
        self._base = copy.deepcopy(policy) if config.kl_beta else None

    def update(self, experience: Experience, number: int, seed: int) -> dict[str, float]:
        """Learn from an experience and return `train/*`, means over the optimiser's steps.

        Args:
            experience: of the policy as it is now.
            number: of the update, counted from 0.
            seed: with the number it fixes the order of decisions.
        """
        rng = np.random.default_rng([seed, number])
        base = self._base_logprobs(experience)
        critic_only = isinstance(self._config, Ppo) and number < self._config.critic_warmup_steps
        rows: list[dict[str, float]] = []
        passes = 0
        while passes < self._config.update_epoch:
            first, passes = len(rows), passes + 1
            order = torch.from_numpy(rng.permutation(len(experience)))
            for chosen in torch.split(order, self._batch_size):
                rows.append(self._step(experience, chosen, base, critic_only=critic_only))
            kl = mean_of(rows[first:])["train/actor/approx_kl"]
            if self._config.target_kl is not None and kl > self._config.target_kl:
                break
        return {
            **mean_of(rows),
            "train/actor/lr": self._optim.lr,
            "train/update_epochs": passes,
            "train/kl_last_epoch": kl,
        }

    def _base_logprobs(self, experience: Experience) -> Tensor | None:
        if self._base is None:
            return None
        with torch.no_grad():
            return self._base.evaluate(experience.observations, experience.tokens).logprobs

    def _step(
        self, experience: Experience, rows: Tensor, base: Tensor | None, *, critic_only: bool
    ) -> dict[str, float]:
        """Take one step of the optimiser on some decisions."""
        config, level = self._config, self._config.logprob_type
        judged = self._evaluate(experience.observations[rows], experience.tokens[rows])
        executed = experience.executed[rows]
        fine = experience.weights[rows]
        weights = reduce_weights(fine, level)
        logprobs = reduce_logprobs(judged.logprobs, executed, level)
        behaviour = reduce_logprobs(experience.logprobs[rows], executed, level)
        advantages = experience.advantages[rows][..., None]
        clip = Clip(config.clip_ratio_low, config.clip_ratio_high, config.clip_ratio_c)
        policy_loss = actor_loss(logprobs, behaviour, advantages, weights, clip)
        entropy = weighted_mean(judged.entropy, fine[..., None])
        loss = policy_loss - config.entropy_bonus * entropy
        found = {"train/actor/policy_loss": policy_loss.item(), "train/entropy_loss": entropy.item()}
        if base is not None:
            distance = weighted_mean(kl_estimate(judged.logprobs, base[rows]), fine[..., None])
            loss = loss + config.kl_beta * distance
            found["train/actor/kl_to_base"] = distance.item()
        if critic_only:
            loss = 0.0 * loss
        if isinstance(config, Ppo):
            value_loss, metrics = self._critic(config, experience, rows, judged, fine)
            loss = loss + value_loss
            found |= metrics
        found["train/loss"] = loss.item()
        found["train/actor/grad_norm"] = self._descend(loss)
        return found | actor_metrics(logprobs, behaviour, advantages, weights, clip)

    def _critic(
        self, config: Ppo, experience: Experience, rows: Tensor, judged: Judgement, fine: Tensor
    ) -> tuple[Tensor, dict[str, float]]:
        """Return the critic's loss and `train/critic/*`."""
        old, returns = experience.values[rows], experience.returns[rows]
        weights = fine if judged.values.shape[-1] > 1 else fine.sum(-1, keepdim=True)
        loss = critic_loss(
            judged.values, old, returns, weights, clip=config.value_clip, huber_delta=config.huber_delta
        )
        metrics = critic_metrics(judged.values, old, returns, weights, config.value_clip)
        return loss, {"train/critic/value_loss": loss.item(), **metrics}

    def _descend(self, loss: Tensor) -> float:
        """Take a step and return the norm of the gradient before it was cut off."""
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        norm = torch.nn.utils.clip_grad_norm_(parameters, self._optim.clip_grad)
        self.optimiser.step()
        return float(norm)
