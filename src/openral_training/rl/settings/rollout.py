"""How experience is made."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, Positive, Schema


class Sampling(Schema):
    """How a policy explores."""

    temperature: Positive = 1.0
    """Divisor of the logits (factor of the spread) of what is sampled; what is likeliest stays the same."""
    correlation: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Of the chance of one control step with that of the next, see `noise`."""


class Rollout(Schema):
    """How experience is collected."""

    rollout_epoch: Count = 1
    """Episodes that each world runs for one update."""
    pipeline_stage_num: Count = 1
    """Parts of the worlds that take turns: one is simulated while the policy decides for the other."""
    sampling_params: Sampling = Sampling()
    """How the policy explores."""
