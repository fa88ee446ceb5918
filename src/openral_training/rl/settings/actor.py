"""Who learns, from what, and how fast."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, Positive, Schema
from openral_training.rl.policies.mini_actor import MiniActorConfig
from openral_training.rl.policies.state_mlp import MlpConfig
from openral_training.rl.policies.token_model import TokenConfig


class Optim(Schema):
    """Adam."""

    lr: Positive
    """Learning rate of the actor."""
    value_lr: Positive | None = None
    """Learning rate of the critic; only with adv_type gae."""
    clip_grad: Positive = 1.0
    """Most that the norm of a gradient may be."""


class Actor(Schema):
    """What learns, and how fast."""

    model: MlpConfig | MiniActorConfig | TokenConfig = MlpConfig()
    """Which policy."""
    optim: Optim
    """Learning rates."""
    global_batch_size: Count = 1024
    """Decisions of one optimiser step."""
    seed: Annotated[int, Field(ge=0)] = 1234
    """Fixes demonstrations, first weights and all chance of the run."""


class Base(Schema):
    """The policy to begin with: scripted experts, cloned."""

    demos: Count = 4
    """Demonstrations a task, of the first initial states of `env.train.init_ids`."""
    noise: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Standard deviation of what disturbs the experts' hand while they show; labels stay undisturbed."""
    steps: Count = 1000
    """Optimiser steps of cloning."""
    batch_size: Count = 256
    """Decisions of one of them."""
    lr: Positive = 1e-3
    """Learning rate of Adam."""
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.02
    """Weight of the entropy: without it a cloned policy is sure of everything and explores nothing."""
