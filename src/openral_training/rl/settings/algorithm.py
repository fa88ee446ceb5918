"""PPO and GRPO: what is compared with what, and how far one update may go."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from openral_core.schema import Count, Finite, Positive, Schema, Unit

Scale = Literal["group", "task", "none"]

LogprobLevel = Literal["token", "action", "chunk"]
"""The level of the probability ratio; see `algorithm/reductions.py`."""
RewardLevel = Literal["action", "chunk"]
"""The level of rewards and advantages."""


class Shared(Schema):
    """What both algorithms have."""

    reward_type: RewardLevel = "action"
    """Level of rewards, see `reductions`."""
    logprob_type: LogprobLevel = "token"
    """Level of probability ratios; not coarser than that of the rewards."""
    update_epoch: Count = 4
    """Times that an update goes through its experience."""
    clip_ratio_low: Unit = 0.2
    """How far below 1 a ratio still counts."""
    clip_ratio_high: Annotated[float, Field(gt=0, le=10)] = 0.28
    """How far above."""
    clip_ratio_c: Annotated[float, Field(gt=1)] | None = None
    """Dual clip: most that a ratio counts for a bad action; absent: no bound."""
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the policy's entropy."""
    kl_beta: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the distance to the base policy."""
    target_kl: Positive | None = 0.02
    """KL to the policy that acted, at the level of `logprob_type`, after which an update ends early; null: never."""


class Grpo(Shared):
    """Group relative policy optimisation: episodes that began alike are compared with each other."""

    adv_type: Literal["grpo"]
    """Which algorithm."""
    group_size: Annotated[int, Field(ge=2)]
    """Episodes of one (task, initial state)."""
    scale: Scale = "group"
    """What advantages are divided by, see `advantages.group_relative`; none: Dr. GRPO, where an episode's loss is not
    divided by its length either, see `batch.grpo_batch`."""
    std_floor: Positive = 0.1
    """Least divisor."""
    informative: Annotated[tuple[Finite, Finite], Field(strict=False)] = (0.0, 1.0)
    """A group is informative if its success rate is strictly between these."""
    informative_share: Unit = 0.0
    """Share of a task's groups that must be informative; more groups of the task are run until they do."""
    max_rounds: Count = 1
    """How often groups are run for one update, the first time included."""


class Ppo(Shared):
    """Proximal policy optimisation: each step is compared with what a critic expected."""

    adv_type: Literal["gae"]
    """Which algorithm."""
    gamma: Unit = 0.99
    """Discount of one step of the level `reward_type`; of a chunk that is cut off, its executed share counts."""
    gae_lambda: Unit = 0.97
    """How far errors of the critic are looked through."""
    value_clip: Positive | None = 0.2
    """Most that a value may move in one update; null: no bound."""
    huber_delta: Positive = 10.0
    """Error of a value above which the loss is linear."""
    critic_warmup_steps: Annotated[int, Field(ge=0)] = 0
    """First updates in which only the critic learns."""
    scale: Literal["task", "all"] = "task"
    """Over which steps advantages are brought to mean 0 and deviation 1."""
