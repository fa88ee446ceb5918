"""The policy, its optimiser, and how an initial policy is cloned."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, Positive, Schema
from openral_training.rl.settings.initial_model import MiniActorConfig, MlpConfig, TokenConfig


class Optim(Schema):
    """Settings of the optimiser Adam."""

    lr: Positive
    """Learning rate of the actor."""
    value_lr: Positive | None = None
    """Learning rate of the critic; only with adv_type gae."""
    clip_grad: Positive = 1.0
    """Largest norm of a gradient; larger ones are scaled down to it."""


class Actor(Schema):
    """The policy and its optimiser."""

    model: MlpConfig | MiniActorConfig | TokenConfig = MlpConfig()
    """Kind and shape of the policy."""
    optim: Optim
    """Learning rates."""
    global_batch_size: Count = 1024
    """Most decisions of one optimiser step; those of an update are split into minibatches of equal size, up to this
    one."""
    seed: Annotated[int, Field(ge=0)] = 1234
    """Seed of demonstrations, initial weights and all randomness of the run."""


class InitialCloning(Schema):
    """How scripted experts are cloned into the initial policy: the section `base`."""

    demos: Count = 4
    """Demonstrations of each task, one from each of the first states of `env.train.init_ids`."""
    noise: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Standard deviation of the noise on the executed actions of experts; the labels are without noise."""
    steps: Count = 1000
    """Optimiser steps of cloning."""
    batch_size: Count = 256
    """Control steps in the minibatch of each optimiser step."""
    lr: Positive = 1e-3
    """Learning rate of Adam."""
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.02
    """Weight of the entropy; without it a cloned policy is nearly deterministic and explores too little."""
