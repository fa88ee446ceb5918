"""Hyper-parameters of PPO and GRPO."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from openral_core.schema import Count, Finite, Positive, Schema, Unit

Scale = Literal["group", "task", "none"]

LogprobLevel = Literal["token", "action", "chunk"]
"""The level of the probability ratio; see `algorithm/reductions.py`."""
RewardLevel = Literal["action", "chunk"]
"""The level of rewards and advantages."""


class PolicyGradient(Schema):
    """Hyper-parameters of both algorithms."""

    reward_type: RewardLevel = "action"
    """Level of rewards and advantages, see `reductions`."""
    logprob_type: LogprobLevel = "token"
    """Level of probability ratios; not coarser than that of the rewards."""
    update_epoch: Count = 4
    """Passes over the decisions in each update."""
    clip_ratio_low: Unit = 0.2
    """The lower bound of probability ratios is 1 minus this."""
    clip_ratio_high: Annotated[float, Field(gt=0, le=10)] = 0.28
    """The upper bound of probability ratios is 1 plus this."""
    clip_ratio_c: Annotated[float, Field(gt=1)] | None = None
    """Dual clip: upper bound of the ratio where the advantage is negative; absent: none."""
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the policy's entropy."""
    kl_beta: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the KL divergence from the initial policy."""
    target_kl: Positive | None = 0.02
    """KL from the acting policy, at the level of `logprob_type`, after which no further epoch begins; null: none."""


class Grpo(PolicyGradient):
    """Group relative policy optimisation: the baseline of an episode is the mean return of its group."""

    adv_type: Literal["grpo"]
    """Names the algorithm."""
    group_size: Annotated[int, Field(ge=2)]
    """Episodes of each group, which share task and initial state."""
    scale: Scale = "group"
    """Standard deviation that advantages are divided by, see `advantages.group_relative`; none: Dr. GRPO, whose loss is
    not divided by the episode's length either, see `batch.grpo_batch`."""
    std_floor: Positive = 0.1
    """Least divisor of advantages."""
    informative: Annotated[tuple[Finite, Finite], Field(strict=False)] = (0.0, 1.0)
    """A group is informative if its success rate is strictly between these."""
    informative_share: Unit = 0.0
    """Share of a task's groups in one round that must be informative; further rounds follow until then."""
    max_rounds: Count = 1
    """Most rounds of groups for one update, the first one included."""


class Ppo(PolicyGradient):
    """Proximal policy optimisation: the baseline of a step is the value of a critic."""

    adv_type: Literal["gae"]
    """Names the algorithm."""
    gamma: Unit = 0.99
    """Discount of one step of the level `reward_type`; for a chunk that ends early, see
    `reductions.reduce_discount`."""
    gae_lambda: Unit = 0.97
    """Lambda of GAE, see `advantages.gae`."""
    value_clip: Positive | None = 0.2
    """Values are clipped to the old value plus or minus this; null: they are not."""
    huber_delta: Positive = 10.0
    """Error of a value above which the loss is linear."""
    critic_warmup_steps: Annotated[int, Field(ge=0)] = 0
    """Number of first updates in which only the critic is trained."""
    scale: Literal["task", "all"] = "task"
    """Steps over which advantages are normalised to mean 0 and standard deviation 1: those of a task, or all."""
