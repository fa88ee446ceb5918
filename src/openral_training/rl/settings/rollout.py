"""How experience is collected."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, Positive, Schema


class Sampling(Schema):
    """How a policy explores."""

    temperature: Positive = 1.0
    """Divisor of the logits of the head `bins` and of tokens, factor of the standard deviation of the head `gaussian`;
    greedy actions do not depend on it."""
    correlation: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Correlation of the noise in consecutive control steps, see `policies/noise.py`."""


class Rollout(Schema):
    """How experience is collected."""

    rollout_epoch: Count = 1
    """Episodes that each environment runs for one update."""
    pipeline_stage_num: Count = 1
    """Parts of the environments that take turns: one is simulated while the policy decides for another."""
    sampling_params: Sampling = Sampling()
    """How the policy explores."""
