"""Rewards in addition to that of success."""

from __future__ import annotations

from openral_core.schema import Positive, Schema, Word


class ProgressReward(Schema):
    """Differences of a reward model's progress, see `shaping`; only with adv_type gae."""

    model_path: Word
    """Reference of a skill of kind `reward`; it gets one image of the scene's first camera per decision."""
    weight: Positive = 0.5
    """Reward for progress from 0 to 1; the reward for success is 1."""
