"""What is paid beside success."""

from __future__ import annotations

from openral_core.schema import Positive, Schema, Word


class ProgressReward(Schema):
    """Differences of what a reward model sees; only with adv_type gae."""

    model_path: Word
    """Reference of a skill of kind `reward`; it looks through the scene's first camera, once a decision."""
    weight: Positive = 0.5
    """What the whole way is worth; success is worth 1."""
