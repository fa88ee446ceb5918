"""The thresholds by which a scene's reward skill judges progress."""

from __future__ import annotations

from openral_core.progress_judgement import ProgressThresholds
from openral_core.scene import DeployScene
from openral_rskill.registry import resolve


def progress_thresholds(scene: DeployScene) -> ProgressThresholds:
    """Return the thresholds of the scene's reward skill, or the defaults where it has none.

    Raises:
        OpenralError: the reward skill is not there, or its manifest is wrong.
    """
    reward = resolve(scene.reward_skill).manifest.reward if scene.reward_skill else None
    return ProgressThresholds.from_reward(reward.model_dump()) if reward else ProgressThresholds()
