"""A scripted reward model without a network, for tests of faults and of the node.

Manifests of kind reward with `model_family: fake` load it; their `policy_extras` holds the fields of
`FakeRewardScript`.
"""

from __future__ import annotations

import threading
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openral_core.errors import PolicyError
from openral_reward_monitor.models.reward_model import RewardScores
from openral_rskill.registry import RSkillPackage

FULL_SCALE = 255.0


class FakeRewardScript(BaseModel):
    """What a `FakeRewardModel` answers."""

    model_config = ConfigDict(extra="forbid")

    behaviour: Literal["brightness", "one", "nan", "hang", "raise"] = "brightness"
    """brightness: the mean pixel / 255, so that a test writes the curve into its frames; one: always 1."""
    good_calls: int = Field(default=0, ge=0)
    """Number of calls answered by brightness, at once, before the behaviour begins."""
    delay_s: float = Field(default=0.0, ge=0)
    """[s] wall time that every later call takes."""


class FakeRewardModel:
    """Scores frames by a deterministic rule."""

    def __init__(self, script: FakeRewardScript | None = None) -> None:
        self.script = script or FakeRewardScript()
        self.calls: list[tuple[int, str]] = []
        """Number of frames and instruction of each call so far."""
        self.released = threading.Event()
        """A call that hangs returns when this is set."""

    def score(self, frames: NDArray[np.uint8], instruction: str) -> RewardScores:
        """Return the mean brightness of each frame as progress and success, or behave as scripted."""
        self.calls.append((len(frames), instruction))
        curve = (frames.reshape(len(frames), -1).mean(axis=1) / FULL_SCALE).astype(np.float32)
        good = len(self.calls) <= self.script.good_calls
        behaviour = "brightness" if good else self.script.behaviour
        if not good:
            self.released.wait(self.script.delay_s)
        if behaviour == "raise":
            raise PolicyError(f"the fake reward model was told to fail at call {len(self.calls)}")
        if behaviour == "hang":
            self.released.wait()
        if behaviour == "one":
            curve = np.ones_like(curve)
        if behaviour == "nan":
            curve[-1] = np.nan
        return RewardScores(progress=curve, success=curve.copy())

    def close(self) -> None:
        """Do nothing; a call that hangs is not ended."""


def load(package: RSkillPackage, device: str = "cpu") -> FakeRewardModel:
    """Build the fake model that a manifest describes; `device` is ignored.

    Raises:
        PolicyError: `policy_extras` is no `FakeRewardScript`.
    """
    try:
        return FakeRewardModel(FakeRewardScript.model_validate(dict(package.manifest.policy_extras)))
    except ValidationError as error:
        raise PolicyError(
            f"{package.manifest.name}: policy_extras of a fake reward model: {error}"
        ) from error
