"""PPO and GRPO: the losses and the update. Both minimise the clipped surrogate; PPO trains a critic as well."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import huber_loss
from torch.nn.utils import clip_grad_norm_

from openral_core.errors import PolicyError
from openral_training.rl.algorithm import metrics, reductions
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.reductions import weighted_mean
from openral_training.rl.policies.policy import PolicyEvaluation, StochasticPolicy
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo

# Losses: weighted means, which the optimiser minimises


def policy_loss(ratio: Tensor, advantages: Tensor, weights: Tensor, config: Grpo | Ppo) -> Tensor:
    """Return the negative clipped surrogate (Schulman et al. 2017, arXiv:1707.06347, equation 7).

    The lower and the upper bound differ (DAPO, arXiv:2503.14476, equation 10). With `clip_ratio_c` the ratio of actions
    with a negative advantage is bounded as well (dual clip, Ye et al. 2020, arXiv:1912.09729, equation 5).
    """
    clipped_ratio = ratio.clamp(1 - config.clip_ratio_low, 1 + config.clip_ratio_high)
    loss = torch.maximum(-advantages * ratio, -advantages * clipped_ratio)
    if (dual_clip := config.clip_ratio_c) is not None:
        loss = torch.where(advantages < 0, torch.minimum(loss, -advantages * dual_clip), loss)
    return weighted_mean(loss, weights)


def value_loss(values: Tensor, batch: Batch, weights: Tensor, config: Ppo) -> Tensor:
    """Return the Huber loss of values; with `value_clip` the larger of it and the loss of the clipped values.

    Values are clipped to the old values plus or minus `value_clip`, as in Huang et al. 2022,
    "The 37 Implementation Details of PPO", detail 9.
    """
    loss = huber_loss(values, batch.returns, reduction="none", delta=config.huber_delta)
    if config.value_clip is not None:
        clipped_values = batch.values + (values - batch.values).clamp(-config.value_clip, config.value_clip)
        clipped = huber_loss(clipped_values, batch.returns, reduction="none", delta=config.huber_delta)
        loss = torch.maximum(loss, clipped)
    return weighted_mean(loss, weights)


# The update

Evaluate = Callable[[Tensor, Tensor], PolicyEvaluation]
"""Evaluates tokens after observations, as `StochasticPolicy.evaluate` does."""


@torch.no_grad()
def logprobs_of(policy: StochasticPolicy, batch: Batch, minibatch_size: int) -> Tensor:
    """Return log-probabilities (N, C, A) of a batch, evaluated one minibatch at a time to bound memory."""
    parts = minibatches(torch.arange(len(batch)), minibatch_size)
    return torch.cat(
        [policy.evaluate(batch.observations[rows], batch.tokens[rows]).logprobs for rows in parts]
    )


def minibatches(rows: Tensor, size: int) -> tuple[Tensor, ...]:
    """Split rows (N,) into parts of at most `size`, as equal as possible.

    N changes from update to update. A remainder of a few rows would take a whole optimiser step of its own.
    """
    return torch.tensor_split(rows, math.ceil(len(rows) / size))


class Learner:
    """A policy, its optimiser and, where the loss has a KL term, a copy of the initial policy."""

    def __init__(
        self,
        policy: StochasticPolicy,
        config: Grpo | Ppo,
        optim: Optim,
        minibatch_size: int,
        evaluate: Evaluate | None = None,
    ) -> None:
        """Make the optimiser.

        Args:
            policy: is updated in place.
            config: the algorithm.
            optim: learning rates.
            minibatch_size: most decisions of one optimiser step.
            evaluate: evaluates a minibatch; None: `policy.evaluate`.
        """
        self._evaluate = evaluate or policy.evaluate
        self.policy, self._config, self._optim, self._minibatch_size = policy, config, optim, minibatch_size
        parameters = [{"params": list(policy.actor_parameters()), "lr": optim.lr}]
        if optim.value_lr is not None:
            parameters.append({"params": list(policy.critic_parameters()), "lr": optim.value_lr})
        self.optimiser = torch.optim.Adam(parameters)
        self._base: StochasticPolicy | None = None
        if config.kl_beta:
            self._base = copy.deepcopy(policy)
            # A copy may load its checkpoint again, which puts it into the host's memory.
            self._base.network.to(next(policy.network.parameters()).device)

    def update(self, batch: Batch, number: int, seed: int) -> dict[str, float]:
        """Update the policy and return the metrics `train/*`, averaged over the optimiser's steps.

        Args:
            batch: of episodes that this policy ran.
            number: of the update, counted from 0.
            seed: determines the order of decisions, together with the number.

        Raises:
            PolicyError: the gradient is not finite.
        """
        rng = np.random.default_rng([seed, number])
        critic_only = isinstance(self._config, Ppo) and number < self._config.critic_warmup_steps
        base = logprobs_of(self._base, batch, self._minibatch_size) if self._base else None
        epochs: list[list[dict[str, float]]] = []
        for _ in range(self._config.update_epoch):
            shuffled = torch.from_numpy(rng.permutation(len(batch)))
            epochs.append(
                [
                    self._step(
                        batch[rows], None if base is None else base[rows], number, critic_only=critic_only
                    )
                    for rows in minibatches(shuffled, self._minibatch_size)
                ]
            )
            approx_kl = metrics.mean_of(epochs[-1])["train/actor/approx_kl"]
            if self._config.target_kl is not None and approx_kl > self._config.target_kl:
                break
        steps = [step for epoch in epochs for step in epoch]
        return {
            **metrics.mean_of(steps),
            "train/actor/lr": self._optim.lr,
            "train/update_epochs": len(epochs),
            "train/kl_last_epoch": approx_kl,
            # Before the first step the policy is the one that acted, so a ratio other than 1 means that `evaluate` and
            # `sample` disagree.
            "train/actor/ratio_at_step_0": steps[0]["train/actor/ratio"],
            "train/actor/kl_at_step_0": steps[0]["train/actor/approx_kl"],
        }

    def _step(
        self, minibatch: Batch, base: Tensor | None, number: int, *, critic_only: bool
    ) -> dict[str, float]:
        """Take one step of the optimiser in update `number`, and return its metrics."""
        config = self._config
        new = self._evaluate(minibatch.observations, minibatch.tokens)
        loss, found = self._actor_loss(minibatch, new, base)
        if critic_only:
            loss = 0.0 * loss  # DistributedDataParallel needs a gradient of every parameter
        if isinstance(config, Ppo):
            has_steps = new.values.shape[-1] > 1
            value_weights = minibatch.weights if has_steps else minibatch.weights.sum(-1, keepdim=True)
            v_loss = value_loss(new.values, minibatch, value_weights, config)
            loss = loss + v_loss
            found["train/critic/value_loss"] = v_loss.item()
            found |= metrics.critic_metrics(
                new.values, minibatch.values, minibatch.returns, value_weights, config.value_clip
            )
        found["train/loss"] = loss.item()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        grad_norm = float(clip_grad_norm_(parameters, self._optim.clip_grad))
        if not math.isfinite(grad_norm):
            raise PolicyError(
                f"update {number + 1}: the norm of the gradient is {grad_norm}, with train/loss "
                f"{found['train/loss']:.3g}; lower actor.optim.lr and begin anew"
            )
        found["train/actor/grad_norm"] = grad_norm
        self.optimiser.step()
        return found

    def _actor_loss(
        self, minibatch: Batch, new: PolicyEvaluation, base: Tensor | None
    ) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of the actor, and the metrics `train/actor/*`.

        Args:
            minibatch: n decisions.
            new: their evaluation by the current policy.
            base: (n, C, A) log-probabilities under the initial policy; None without `kl_beta`.
        """
        config, level, token_weights = self._config, self._config.logprob_type, minibatch.weights[..., None]
        new_logprobs = reductions.reduce_logprobs(new.logprobs, minibatch.executed, level)
        old_logprobs = reductions.reduce_logprobs(minibatch.logprobs, minibatch.executed, level)
        logratio, advantages = new_logprobs - old_logprobs, minibatch.advantages[..., None]
        weights = reductions.reduce_weights(minibatch.weights, level)
        pg_loss = policy_loss(logratio.exp(), advantages, weights, config)
        entropy = weighted_mean(new.entropy, token_weights)
        loss = pg_loss - config.entropy_bonus * entropy
        found = {"train/actor/policy_loss": pg_loss.item(), "train/entropy_loss": entropy.item()}
        if base is not None:
            kl_to_base = weighted_mean(metrics.approx_kl(base - new.logprobs), token_weights)
            loss = loss + config.kl_beta * kl_to_base
            found["train/actor/kl_to_base"] = kl_to_base.item()
        if isinstance(config, Grpo) and config.scale == "none":
            # Means divide by the weights of the minibatch; Dr. GRPO divides by a constant, here its number of rows.
            loss = loss * (minibatch.weights.sum() / len(minibatch))
        return loss, found | metrics.policy_metrics(logratio, advantages, weights, config)
